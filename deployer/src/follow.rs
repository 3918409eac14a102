//! Hearing of changes of what is deployed, so that nobody has to ask for them.
//!
//! Objects are followed as their requesters see them, by their label, all of a kind in a namespace by
//! one request: the deployer has no rights of its own to read anything. Who may not list them is not
//! followed; such objects are only looked at from time to time. What is heard means "look again" and
//! nothing else, so it does no harm to hear too much.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::cluster::{Cluster, ClusterError, Collection};

/// How many collections are followed at most; each takes a connection's stream and little more.
const MOST: usize = 1000;
/// How long to wait before a collection is followed again that could not be.
const WAIT: Duration = Duration::from_secs(5);
/// How long to wait where following is not allowed: somebody may allow it.
const FORBIDDEN: Duration = Duration::from_secs(600);

/// What was heard.
pub(crate) enum Heard {
    /// An object was changed that belongs to the Deployment of this uid.
    Of(String),
    /// Whatever is in this collection may have been changed.
    Anything(Collection),
}

/// What is followed, and for whom.
pub(crate) struct Followers {
    cluster: Arc<dyn Cluster>,
    tell: UnboundedSender<Heard>,
    heard: UnboundedReceiver<Heard>,
    followed: BTreeMap<Collection, Followed>,
    /// Which collections each Deployment has objects in, by its uid.
    of: BTreeMap<String, BTreeSet<Collection>>,
}

struct Followed {
    deployments: BTreeSet<String>,
    task: JoinHandle<()>,
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Followers {
    /// Follows nothing yet.
    pub(crate) fn new(cluster: Arc<dyn Cluster>) -> Self {
        let (tell, heard) = unbounded_channel();
        let (followed, of) = (BTreeMap::new(), BTreeMap::new());
        Self { cluster, tell, heard, followed, of }
    }

    /// Says where a Deployment has objects now; nowhere, if it is gone.
    pub(crate) fn follow(&mut self, uid: &str, collections: BTreeSet<Collection>) {
        let before = self.of.remove(uid).unwrap_or_default();
        for gone in before.difference(&collections) {
            if let Some(followed) = self.followed.get_mut(gone) {
                followed.deployments.remove(uid);
                if followed.deployments.is_empty() {
                    self.followed.remove(gone);
                }
            }
        }
        for new in collections.difference(&before) {
            if self.followed.len() >= MOST && !self.followed.contains_key(new) {
                continue;
            }
            let (cluster, tell) = (&self.cluster, &self.tell);
            let followed = self.followed.entry(new.clone()).or_insert_with(|| Followed {
                deployments: BTreeSet::new(),
                task: tokio::spawn(listen(cluster.clone(), new.clone(), tell.clone())),
            });
            followed.deployments.insert(uid.to_owned());
        }
        if !collections.is_empty() {
            self.of.insert(uid.to_owned(), collections);
        }
    }

    /// Waits until something is heard, and answers the uids of the Deployments that it is about.
    pub(crate) async fn next(&mut self) -> Vec<String> {
        match self.heard.recv().await {
            Some(Heard::Of(uid)) => vec![uid],
            Some(Heard::Anything(collection)) => {
                let followed = self.followed.get(&collection);
                followed.into_iter().flat_map(|it| it.deployments.iter().cloned()).collect()
            }
            None => std::future::pending().await,
        }
    }
}

/// Tells of the changes of a collection, for as long as it is wanted.
async fn listen(cluster: Arc<dyn Cluster>, collection: Collection, tell: UnboundedSender<Heard>) {
    loop {
        let mut changes = cluster.follow(&collection);
        let mut again = WAIT;
        while let Some(change) = changes.next().await {
            let told = match change {
                Ok(Some(uid)) => tell.send(Heard::Of(uid)),
                // What happened before is not known.
                Ok(None) => tell.send(Heard::Anything(collection.clone())),
                Err(error) => {
                    tracing::debug!(%error, resource = %collection.resource, namespace = %collection.namespace, "objects are not followed");
                    if matches!(error, ClusterError::Forbidden(_)) {
                        again = FORBIDDEN;
                    }
                    break;
                }
            };
            if told.is_err() {
                return;
            }
        }
        sleep(again).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::World;
    use crate::types::Requester;

    fn collection(resource: &str) -> Collection {
        Collection {
            user: Requester::default(),
            api_version: "v1".to_owned(),
            resource: resource.to_owned(),
            namespace: "demo".to_owned(),
        }
    }

    fn followers() -> Followers {
        Followers::new(World::new().cluster)
    }

    #[tokio::test]
    async fn what_several_have_is_followed_once_and_until_the_last_is_gone() {
        let mut followers = followers();
        let both = BTreeSet::from([collection("a"), collection("b")]);
        followers.follow("1", both);
        followers.follow("2", BTreeSet::from([collection("a")]));
        assert_eq!(followers.followed.len(), 2);
        followers.follow("1", BTreeSet::from([collection("a")]));
        assert_eq!(followers.followed.keys().collect::<Vec<_>>(), [&collection("a")]);
        followers.follow("1", BTreeSet::new());
        assert_eq!(followers.followed.len(), 1);
        followers.follow("2", BTreeSet::new());
        assert!(followers.followed.is_empty() && followers.of.is_empty());
    }

    #[tokio::test]
    async fn a_gap_is_about_everybody_who_has_objects_there() {
        let mut followers = followers();
        followers.follow("1", BTreeSet::from([collection("a")]));
        followers.follow("2", BTreeSet::from([collection("a"), collection("b")]));
        followers.tell.send(Heard::Anything(collection("a"))).unwrap();
        assert_eq!(followers.next().await, ["1", "2"]);
        followers.tell.send(Heard::Of("7".to_owned())).unwrap();
        assert_eq!(followers.next().await, ["7"]);
    }
}
