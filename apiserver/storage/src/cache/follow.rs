//! The task that keeps a cache up with its backend.

use std::sync::Arc;

use futures::StreamExt;
use tokio::time::{Duration, sleep};

use super::Shared;
use crate::{Backend, Batch, Error, Prefix, Result, Snapshot};

/// Pauses between attempts to reach a failing backend: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// Follows the backend until it is closed.
///
/// A watch that breaks is resumed where it broke. Only when the backend cannot say what happened since is the state
/// read anew, and every watcher told that it missed something.
pub(super) async fn follow(shared: Arc<Shared>, backend: Arc<dyn Backend>) {
    let mut pause = PAUSES.0;
    loop {
        let before = shared.revision();
        let error = match feed(&shared, &*backend).await {
            missed @ (Error::Compacted { .. } | Error::Future { .. }) => {
                match relist(&shared, &*backend, &missed).await {
                    Ok(()) => continue,
                    Err(error) => error,
                }
            }
            error => error,
        };
        if matches!(error, Error::Closed) {
            return shared.hub.end(&error);
        }
        if shared.revision() > before {
            pause = PAUSES.0;
        }
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            ?pause,
            "the cache lost its backend"
        );
        sleep(pause).await;
        pause = PAUSES.1.min(pause * 2);
    }
}

/// Takes in everything after what the cache has, until the watch breaks.
async fn feed(shared: &Shared, backend: &dyn Backend) -> Error {
    let mut stream = match backend.watch(shared.revision()).await {
        Ok(stream) => stream,
        Err(error) => return error,
    };
    loop {
        match stream.next().await.unwrap_or(Err(Error::Closed)) {
            Ok(batch) => publish(shared, batch),
            Err(error) => return error,
        }
    }
}

fn publish(shared: &Shared, batch: Batch) {
    let revision = batch.revision;
    let touched = shared.hub.publish(batch);
    // First the revision, then the watchers: one that finds its channel empty may report it as progress.
    shared.reached.send_replace(revision);
    touched.iter().for_each(|channel| channel.wake());
}

async fn relist(shared: &Shared, backend: &dyn Backend, missed: &Error) -> Result<()> {
    let all = Prefix::all();
    let now = Snapshot::of(all.clone(), backend.list(&all, None).await?);
    let (requested, oldest) = (shared.revision(), now.revision());
    tracing::error!(%requested, %oldest, reason = %missed, "the cache missed events and begins anew");
    shared.hub.reset(now, &Error::Compacted { requested, oldest });
    shared.reached.send_replace(oldest);
    Ok(())
}
