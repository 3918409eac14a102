//! Carrying out Deployments: the deployer, with our store, our engine, and a cluster if there is one.

mod absent;
mod admission;
mod expand;
mod fetched;
mod lease;
mod metrics;
mod records;

use std::sync::Arc;

use apiserver::environment::{Environment as _, System};
use apiserver::metrics::Metrics;
use apiserver::resource::Resource;
use apiserver::store::Store;
use deployer::{Changed, Cluster, Controller, Deployer, Kube};
use futures::StreamExt as _;
use kube::Client;
use kube::runtime::events::{Recorder, Reporter};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use self::absent::Absent;
pub(crate) use self::lease::Lease;
use self::metrics::Measured;
use self::records::Stored;
use crate::registry::{deployments, manifests};

pub(crate) use self::admission::{Expands, Journal};
pub(crate) use self::expand::Expansions;

/// What carries out Deployments, and who may.
pub(crate) struct Deployments {
    store: Store,
    resource: Arc<Resource>,
    deployer: Deployer,
    lease: Option<Lease>,
    workers: usize,
    measured: Measured,
}

/// Deployments being carried out.
pub(crate) struct Running {
    stop: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Running {
    /// Ends what is under way, which goes on where another begins, and lets another replica begin.
    pub(crate) async fn stop(self) {
        self.stop.notify_one();
        if let Err(error) = self.task.await {
            tracing::error!(%error, "carrying out deployments ended by itself");
        }
    }
}

/// The cluster that is deployed to.
pub(crate) struct To {
    /// The way to it.
    pub(crate) client: Client,
    /// How many Deployments are worked on at a time.
    pub(crate) workers: usize,
    /// By which one of several replicas finds out that it is the one that deploys.
    pub(crate) lease: Option<Lease>,
}

impl To {
    /// The cluster, or what stands for it where there is none.
    pub(crate) fn cluster(to: Option<&Self>) -> Arc<dyn Cluster> {
        match to {
            Some(to) => Arc::new(Kube::new(to.client.clone())),
            None => Arc::new(Absent),
        }
    }
}

impl Deployments {
    /// What carries out the Deployments of `store`. Without a cluster they are stored and say that there
    /// is none.
    pub(crate) fn new(
        store: &Store,
        expansions: Expansions,
        to: Option<To>,
        metrics: &Metrics,
    ) -> Self {
        let (deployments, manifests) =
            (Arc::new(deployments::resource()), Arc::new(manifests::resource()));
        let events =
            to.as_ref().map(|to| Recorder::new(to.client.clone(), Reporter::from("formwork")));
        let records =
            Stored::new(store.clone(), deployments.clone(), manifests, Arc::new(System), events);
        let cluster = expansions.cluster();
        let (records, expand) = (Arc::new(records), Arc::new(expansions));
        let deployer = Deployer::new(records, cluster, expand, || System.now());
        let workers = to.as_ref().map_or(1, |to| to.workers);
        let lease = to.and_then(|to| to.lease);
        let (store, measured) = (store.clone(), Measured::shown_by(metrics));
        Self { store, resource: deployments, deployer, lease, workers, measured }
    }

    /// What can say what would be done.
    pub(crate) fn deployer(&self) -> &Deployer {
        &self.deployer
    }

    /// Begins to carry them out, whenever this replica is the one that does.
    pub(crate) fn start(self) -> Running {
        let stop = Arc::new(Notify::new());
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            tokio::select! {
                () = stopped.notified() => {}
                () = self.run() => {}
            }
            if let Some(lease) = &self.lease {
                lease.release().await;
            }
        });
        Running { stop, task }
    }

    /// Carries them out for as long as this replica is the one that does.
    async fn run(&self) {
        let Some(lease) = &self.lease else { return self.lead().await };
        loop {
            lease.acquire().await;
            tracing::info!("this replica carries out deployments");
            tokio::select! {
                () = lease.hold() => tracing::warn!("another replica carries out deployments"),
                () = self.lead() => return,
            }
            self.measured.leads(false);
        }
    }

    async fn lead(&self) {
        self.measured.leads(true);
        let follower = match self.store.follow(&self.resource.definition) {
            Ok(follower) => follower,
            Err(error) => return tracing::error!(%error, "deployments cannot be followed"),
        };
        let changes =
            follower.into_stream().map(|key| Changed { namespace: key.namespace, name: key.name });
        let controller = Controller::new(self.deployer.clone(), self.workers);
        controller.measured_by(Arc::new(self.measured.clone())).run(changes).await;
    }
}
