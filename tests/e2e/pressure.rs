//! More than usual: groups, watches, bytes, and requests at once, most of it through kube-apiserver.

mod bodies;
mod crowd;
mod groups;
mod slow;
mod watches;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use anyhow::Result;
use serde_json::json;
use tests::cluster::{Cluster, Routing};
use tests::installation::{Serving, Store};
use tokio::sync::MutexGuard;

use crate::door::Door;

/// An installation of its own on etcd with few places for requests, for one test after another.
struct Pressed {
    door: Door,
    /// Last, so that the next is served when this is gone.
    _turn: MutexGuard<'static, ()>,
}

impl Pressed {
    async fn take() -> Result<Self> {
        static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        // Whoever waits holds the installation, so that it does not end before their turn.
        let serving = Self::shared()?;
        Ok(Self { door: Door::of(serving)?, _turn: TURN.lock().await })
    }

    fn shared() -> Result<Arc<Serving>> {
        static SHARED: Mutex<Weak<Serving>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(serving) = shared.upgrade() {
            return Ok(serving);
        }
        let cluster = Arc::new(Cluster::start(Routing::Off)?);
        let flags = ["--max-requests-inflight=2", "--max-mutating-requests-inflight=2"];
        let serving = Arc::new(Serving::start_with(cluster, Store::Etcd, &flags)?);
        *shared = Arc::downgrade(&serving);
        Ok(serving)
    }
}

/// A template of this name, padded until it has so many bytes; as short as it can be if those are too few.
fn template(name: &str, size: usize) -> String {
    let of = |message: &str| {
        json!({
            "apiVersion": "template.openshift.io/v1",
            "kind": "Template",
            "metadata": { "name": name },
            "message": message,
            "objects": [],
        })
        .to_string()
    };
    of(&"m".repeat(size.saturating_sub(of("").len())))
}
