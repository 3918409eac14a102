//! The account of what counters and watches saw, and whether it fits.

use ::tests::client::{Client, Request};
use anyhow::{Result, ensure};

use super::counters::{Counted, Counters, listed, version};
use super::follow::{Follower, Told};
use super::history::History;

/// Stops the counters, and holds them and each of the watches against a watch that begins only now and is told
/// everything by `client`.
///
/// # Errors
/// With the first thing that does not fit.
pub(super) async fn settle(
    counters: Counters,
    followers: Vec<(&str, Follower)>,
    collection: &str,
    client: &Client,
) -> Result<Counted> {
    let (before, since) = (counters.before.clone(), counters.since);
    let counted = counters.stop().await?;
    let (state, _) = listed(&client.send(&Request::get(collection)).await?)?;
    // Counters are not deleted, so that the last event is one of those that the list shows.
    let last = state.values().map(|version| version.revision).max().unwrap_or(since);
    let told = Follower::start(client.clone(), collection, since).until(last).await?.told;
    // What nobody answered may be done yet, and is not waited for.
    let told: Vec<Told> = told.into_iter().filter(|told| told.revision <= last).collect();
    for (name, follower) in followers {
        let mut followed = follower.until(last).await?;
        followed.told.retain(|told| told.revision <= last);
        for (one, other) in followed.told.iter().zip(&told) {
            ensure!(one == other, "the watch by the {name} was told {one:?}, not {other:?}");
        }
        ensure!(followed.told.len() == told.len(), "the watch by the {name} missed something");
        println!("the watch by the {name} was resumed {} times", followed.resumed);
    }
    let events = told.iter().map(|told| Ok((name_of(told), version(&told.object)?)));
    let history = History {
        before,
        operations: counted.operations.clone(),
        events: events.collect::<Result<_>>()?,
    };
    history.check()?;
    println!(
        "{} operations, {} acknowledged writes, {} events, failures: {:#?}",
        counted.operations.len(),
        counted.written(),
        told.len(),
        counted.reasons()
    );
    counted.failures_are_errors()?;
    Ok(counted)
}

fn name_of(told: &Told) -> String {
    told.object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}
