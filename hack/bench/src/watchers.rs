//! The fan-out: many watches of one collection, and how long an object takes to reach all of them.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use memchr::memchr_iter;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::client::{Connection, Order, Target};
use crate::load::Outcome;
use crate::process::Process;

/// Streams of one connection. Servers commonly grant 100 at least.
pub const PER_CONNECTION: usize = 100;
const DELIVERED_WITHIN: Duration = Duration::from_secs(30);

/// Opens `watchers` watches of `collection`, creates `events` objects one after the other, and waits each time until
/// every watcher has it. A latency of the outcome is the time from sending an object to one watcher having it.
pub async fn fan_out(
    server: Process,
    target: &Target,
    connection: &mut Connection,
    collection: &str,
    watchers: usize,
    events: usize,
    create: &dyn Fn(usize) -> Order,
) -> Result<Outcome> {
    let mut arrivals = open(target, connection, collection, watchers).await?;

    let mut outcome = Outcome::default();
    let (started, cpu) = (Instant::now(), server.cpu()?);
    for number in 0..events {
        let order = create(number);
        let sent = Instant::now();
        connection.ask(&order).await?;
        for delivered in 0..watchers {
            let arrived = timeout(DELIVERED_WITHIN, arrivals.recv())
                .await
                .with_context(|| {
                    format!("event {number} reached {delivered} of {watchers} watchers")
                })?
                .context("a watcher lives")??;
            outcome.latencies.push(arrived - sent);
        }
    }
    outcome.elapsed = started.elapsed();
    outcome.cpu = server.cpu()?.saturating_sub(cpu);
    Ok(outcome)
}

/// The moments at which events arrive, whichever watcher they arrive at.
async fn open(
    target: &Target,
    connection: &mut Connection,
    collection: &str,
    watchers: usize,
) -> Result<UnboundedReceiver<Result<Instant>>> {
    let list: Value = serde_json::from_slice(
        &connection.ask(&Order::get(format!("{collection}?limit=1"))).await?,
    )?;
    let version =
        list["metadata"]["resourceVersion"].as_str().context("a list has a resourceVersion")?;
    let watch = Order::get(format!("{collection}?watch=true&resourceVersion={version}"));

    let (arrival, arrivals) = unbounded_channel();
    let mut opened = 0;
    while opened < watchers {
        let mut streams = target.connect_multiplexed().await?;
        for _ in 0..PER_CONNECTION.min(watchers - opened) {
            let body = streams.open(&watch).await?;
            tokio::spawn(report(body, arrival.clone()));
            opened += 1;
        }
    }
    Ok(arrivals)
}

/// One line is one event.
async fn report(mut body: Incoming, arrival: UnboundedSender<Result<Instant>>) {
    while let Some(frame) = body.frame().await {
        let now = Instant::now();
        let outcome = match frame {
            Ok(frame) => frame.into_data().map_or(0, |data| memchr_iter(b'\n', &data).count()),
            Err(error) => {
                // Nobody listens any more when the measurement is over.
                let _ = arrival.send(Err(error.into()));
                return;
            }
        };
        for _ in 0..outcome {
            if arrival.send(Ok(now)).is_err() {
                return;
            }
        }
    }
}
