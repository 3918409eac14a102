//! Looking at a deployment until what was asked for is done.
//!
//! A watch tells every change. Where it ends or there is none, the deployment is got anew after a moment, and a server
//! that was there and is not now may come back.

use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use futures::{StreamExt, pin_mut};
use kube::core::WatchEvent;
use serde_json::Value;

use super::deployment::{Deployment, Verdict};
use super::kubernetes::Api;
use super::progress::Progress;
use crate::client::Refused;

/// How long to wait before asking anew.
const PAUSE: Duration = Duration::from_secs(1);

/// Waits until what `generation` of a deployment asks for is done, and gives back the deployment.
///
/// # Errors
/// When it failed, was deleted, or takes longer than `patience`.
pub(super) async fn until_done(
    api: &Api,
    name: &str,
    generation: i64,
    patience: Duration,
) -> anyhow::Result<Deployment> {
    let mut progress = Progress::new();
    let look = |seen: Option<Deployment>| {
        let Some(deployment) = seen else {
            return ControlFlow::Break(Err(anyhow!("{name} was deleted")));
        };
        progress.show(&deployment);
        match deployment.verdict(generation) {
            Verdict::GoingOn => ControlFlow::Continue(format!("{name} is not ready")),
            Verdict::Done => ControlFlow::Break(Ok(deployment)),
            Verdict::Failed(reasons) => ControlFlow::Break(Err(anyhow!(reasons.join("\n")))),
        }
    };
    follow(api, name, patience, look).await?
}

/// Waits until the deployment of that uid, of which `generation` was deleted, is gone.
///
/// # Errors
/// When it cannot be deleted, or takes longer than `patience`.
pub(super) async fn until_gone(
    api: &Api,
    name: &str,
    (uid, generation): (&str, i64),
    patience: Duration,
) -> anyhow::Result<()> {
    let mut progress = Progress::new();
    let look = |seen: Option<Deployment>| {
        // Another one of that name is not waited for.
        let Some(deployment) = seen.filter(|one| one.metadata.uid == uid) else {
            return ControlFlow::Break(Ok(()));
        };
        progress.show(&deployment);
        match deployment.verdict(generation) {
            Verdict::Failed(reasons) => ControlFlow::Break(Err(anyhow!(reasons.join("\n")))),
            Verdict::GoingOn | Verdict::Done => {
                ControlFlow::Continue(format!("{name} is not gone"))
            }
        }
    };
    follow(api, name, patience, look).await?
}

/// Shows a deployment to `look` whenever it has changed, until that has seen enough. `None` is a deployment that is not
/// there. What `look` goes on with is what is said when `patience` ends.
async fn follow<T>(
    api: &Api,
    name: &str,
    patience: Duration,
    mut look: impl FnMut(Option<Deployment>) -> ControlFlow<T, String>,
) -> anyhow::Result<T> {
    let mut last = format!("nothing is known of {name}");
    let looking = async {
        let mut seen = false;
        loop {
            match api.find(name).await {
                Ok(found) => {
                    seen = true;
                    let version = version(found.as_ref());
                    match look(found.as_ref().map(Deployment::of).transpose()?) {
                        ControlFlow::Break(end) => return Ok(end),
                        ControlFlow::Continue(so_far) => last = so_far,
                    }
                    if let Some(end) = watched(api, name, &version, &mut look).await? {
                        return Ok(end);
                    }
                }
                Err(refused) if seen && may_pass(&refused) => {}
                Err(refused) => return Err(refused.into()),
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    match tokio::time::timeout(patience, looking).await {
        Ok(end) => end,
        Err(_) => bail!("{last} after {} s; the server goes on with it", patience.as_secs()),
    }
}

/// Shows what a watch tells, until `look` has seen enough or the watch ends.
async fn watched<T>(
    api: &Api,
    name: &str,
    version: &str,
    look: &mut impl FnMut(Option<Deployment>) -> ControlFlow<T, String>,
) -> anyhow::Result<Option<T>> {
    // Who may get it may not be allowed to watch it; then it is got again and again.
    let Ok(events) = api.watch(name, version).await else { return Ok(None) };
    pin_mut!(events);
    while let Some(Ok(event)) = events.next().await {
        let seen = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                Some(Deployment::of(&object).context("an event of the watch")?)
            }
            WatchEvent::Deleted(_) => None,
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(_) => break,
        };
        if let ControlFlow::Break(end) = look(seen) {
            return Ok(Some(end));
        }
    }
    Ok(None)
}

fn version(found: Option<&Value>) -> String {
    let version = found.and_then(|object| object["metadata"]["resourceVersion"].as_str());
    version.unwrap_or_default().to_owned()
}

/// Whether the next request may be answered.
fn may_pass(refused: &Refused) -> bool {
    match refused {
        Refused::Status(status) => status.code == 429 || status.code >= 500,
        Refused::Other(_) => true,
    }
}
