//! When passes are made: after changes of Deployments and of what they have deployed, after the times
//! that passes ask for, and again after failures.
//!
//! One pass at a time over a Deployment, so many Deployments at a time as there are workers, and at most
//! half of them of one namespace: a team that deploys a thousand, or templates that take long, do not keep
//! others waiting. It keeps nothing but the times: whoever leads next begins with all Deployments there are.

mod meter;
mod queue;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures::{FutureExt as _, Stream, StreamExt as _};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::deployer::{Deployer, Seen};
use crate::follow::Followers;
use crate::pass::Next;

pub use self::meter::Meter;
use self::meter::Unmeasured;
use self::queue::{Queue, Taken};

/// A Deployment that was created, changed or deleted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Changed {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Makes passes over Deployments.
pub struct Controller {
    deployer: Deployer,
    workers: usize,
    meter: Arc<dyn Meter>,
}

/// What a pass came to.
struct Done {
    key: Changed,
    began: Instant,
    next: Next,
    /// The Deployment as the pass left it behind.
    seen: Option<Seen>,
}

/// Who has deployed what is followed.
struct Deployed {
    followers: Followers,
    keys: BTreeMap<String, Changed>,
    uids: BTreeMap<Changed, String>,
}

impl Deployed {
    /// Notes where a Deployment has objects; nowhere, if it is gone.
    fn note(&mut self, key: &Changed, seen: Option<Seen>) {
        let now = seen.as_ref().map(|seen| seen.uid.clone());
        if let Some(uid) = self.uids.remove(key).filter(|before| Some(before) != now.as_ref()) {
            self.keys.remove(&uid);
            self.followers.follow(&uid, Default::default());
        }
        if let Some(Seen { uid, collections, .. }) = seen {
            self.followers.follow(&uid, collections);
            self.keys.insert(uid.clone(), key.clone());
            self.uids.insert(key.clone(), uid);
        }
    }

    /// Waits until an object was changed, and answers whose.
    async fn next(&mut self) -> Vec<Changed> {
        let uids = self.followers.next().await;
        uids.iter().filter_map(|uid| self.keys.get(uid).cloned()).collect()
    }
}

impl Controller {
    /// One that makes so many passes at a time, at least one.
    pub fn new(deployer: Deployer, workers: usize) -> Self {
        Self { deployer, workers: workers.max(1), meter: Arc::new(Unmeasured) }
    }

    /// The same, measured.
    #[must_use]
    pub fn measured_by(self, meter: Arc<dyn Meter>) -> Self {
        Self { meter, ..self }
    }

    /// Makes passes until there are no more changes to hear of. Dropping the future ends all passes
    /// where they are, which does no harm.
    pub async fn run(self, changes: impl Stream<Item = Changed>) {
        let mut changes = pin!(changes);
        let mut queue = Queue::new(self.workers.div_ceil(2));
        let mut passes = JoinSet::new();
        let followers = Followers::new(self.deployer.0.cluster.clone());
        let (keys, uids) = (BTreeMap::new(), BTreeMap::new());
        let mut deployed = Deployed { followers, keys, uids };
        loop {
            while passes.len() < self.workers
                && let Some(Taken { key, known, waited }) = queue.take(Instant::now())
            {
                self.meter.began(waited);
                let (deployer, began) = (self.deployer.clone(), Instant::now());
                passes.spawn(async move {
                    let pass = deployer.pass(&key.namespace, &key.name, known.as_deref());
                    // A Deployment that breaks us must not be the end of the others.
                    let (next, seen) = match AssertUnwindSafe(pass).catch_unwind().await {
                        Ok(done) => done,
                        Err(_) => (Next::Retry, None),
                    };
                    Done { key, began, next, seen }
                });
            }
            self.meter.waiting(queue.depth());
            let due = queue.due().filter(|_| passes.len() < self.workers);
            let wait = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = changes.next() => match changed {
                    Some(key) => queue.changed(&key, Instant::now()),
                    None => return,
                },
                Some(done) = passes.join_next() => match done {
                    Ok(Done { key, began, next, seen }) => {
                        self.meter.ended(began.elapsed(), next.is_failure());
                        let version = seen.as_ref().map(|seen| seen.version.clone());
                        queue.done(&key, next, version, Instant::now());
                        if seen.is_some() || next == Next::Idle {
                            deployed.note(&key, seen);
                        }
                    }
                    Err(error) => tracing::error!(%error, "a pass ended by itself"),
                },
                keys = deployed.next() => {
                    for key in keys {
                        queue.woken(&key, Instant::now());
                    }
                }
                () = wait => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::{future, stream};

    use super::*;
    use crate::twin::{Fault, Fuse, World, spec};
    use crate::types::Phase;

    fn changed(name: &str) -> Changed {
        Changed { namespace: "demo".to_owned(), name: name.to_owned() }
    }

    const ONE: &str = "resources: [{name: NAME, type: ConfigMap, properties: {apiVersion: v1}}]";

    #[tokio::test(start_paused = true)]
    async fn all_that_is_heard_of_is_carried_out() {
        let world = World::new();
        let names: Vec<_> = (0..20).map(|at| format!("app{at}")).collect();
        for name in &names {
            world.records.create(name, spec(&ONE.replace("NAME", name)));
        }
        let deployer = world.deployer(&Fuse::new(Fault::Never, 0));
        let heard = stream::iter(names.iter().map(|name| changed(name)).collect::<Vec<_>>());
        let controller = Controller::new(deployer, 3);
        let run = controller.run(heard.chain(stream::pending()));
        let deployed = async {
            while !names.iter().all(|name| world.status(name).phase == Phase::Deployed) {
                tokio::task::yield_now().await;
            }
        };
        future::select(pin!(run), pin!(deployed)).await;
        assert_eq!(world.cluster.log().len(), 20);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pass_that_breaks_is_tried_again_and_harms_no_other() {
        let world = World::new();
        world.records.create("one", spec(&ONE.replace("NAME", "one")));
        world.records.create("two", spec(&ONE.replace("NAME", "two")));
        let deployer = world.deployer(&Fuse::new(Fault::Panic, 0));
        let heard = stream::iter([changed("one"), changed("two")]);
        let run = Controller::new(deployer, 1).run(heard.chain(stream::pending()));
        let deployed = async {
            while !["one", "two"].iter().all(|name| world.status(name).phase == Phase::Deployed) {
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        };
        future::select(pin!(run), pin!(deployed)).await;
        assert_eq!(world.cluster.log().len(), 2);
    }
}
