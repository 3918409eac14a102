//! Two replicas behind one Service, on one etcd, in a control plane with aggregator routing; the tests of replicas take
//! turns with it.

use std::sync::{Arc, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use ::tests::client::{Client, Request, Target};
use ::tests::cluster::{Cluster, Component, Routing};
use ::tests::installation::{Installation, Store};
use ::tests::replica::Replica;
use anyhow::{Context, Result, ensure};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::block_in_place;

/// How long something may take that a replica or the aggregator does by itself.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Long enough for the aggregator to hear that an endpoint is gone.
const DELAY: &str = "--shutdown-delay-duration=1s";

pub(super) struct Pair {
    // First, so that they end before what they are in.
    pub(super) replicas: [Replica; 2],
    pub(super) installation: Installation,
}

/// A way to ask.
#[derive(Clone)]
pub(super) struct Route {
    pub(super) name: &'static str,
    pub(super) client: Client,
}

impl Pair {
    /// The one that the tests share, for one of them at a time, with both replicas running and admitted.
    ///
    /// # Errors
    /// When it does not start, or does not come back from what another test did to it.
    pub(super) async fn turn() -> Result<OwnedMutexGuard<Self>> {
        static SHARED: std::sync::Mutex<Weak<Mutex<Pair>>> = std::sync::Mutex::new(Weak::new());
        let shared = block_in_place(|| {
            let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(pair) = shared.upgrade() {
                return Ok::<_, anyhow::Error>(pair);
            }
            let pair = Arc::new(Mutex::new(Self::start()?));
            *shared = Arc::downgrade(&pair);
            Ok(pair)
        })?;
        let mut pair = shared.lock_owned().await;
        block_in_place(|| pair.heal())?;
        Ok(pair)
    }

    /// Both replicas start at the same moment, and find no store, no authority and no APIService.
    fn start() -> Result<Self> {
        let cluster = Arc::new(Cluster::start(Routing::On)?);
        let installation = Installation::new(cluster, Store::Etcd)?;
        let replicas = start_at_once(&installation, &[DELAY])?;
        Ok(Self { replicas, installation })
    }

    fn heal(&mut self) -> Result<()> {
        let cluster = self.installation.cluster();
        // What is paused would not be found missing, and what runs does not mind.
        for component in [Component::Etcd, Component::Apiserver] {
            let _ = cluster.resume(component);
        }
        cluster.up()?;
        for replica in &mut self.replicas {
            replica.resume()?;
            if !replica.running()?.is_running()? {
                replica.start()?;
            }
            self.installation.admit(replica)?;
        }
        self.installation.await_available()
    }

    pub(super) fn cluster(&self) -> &Cluster {
        self.installation.cluster()
    }

    /// An administrator who asks kube-apiserver.
    fn aggregated(&self) -> Result<Client> {
        let authority = self.cluster().apiserver()?;
        let authority = authority.strip_prefix("https://").context("a URL with a scheme")?;
        Ok(Target::from_kubeconfig(&self.cluster().kubeconfig("admin"), authority)?.administrator())
    }

    /// An administrator who asks a replica.
    pub(super) fn ask(&self, replica: &Replica) -> Result<Client> {
        let kubeconfig = self.installation.direct_kubeconfig(replica)?;
        let authority = replica.address().to_string();
        Ok(Target::from_kubeconfig(&kubeconfig, &authority)?.administrator())
    }

    /// One way through kube-apiserver, and one to each of the replicas.
    pub(super) fn routes(&self) -> Result<[Route; 3]> {
        let [first, second] = &self.replicas;
        Ok([
            Route { name: "aggregator", client: self.aggregated()? },
            Route { name: "first", client: self.ask(first)? },
            Route { name: "second", client: self.ask(second)? },
        ])
    }

    /// The path of templates in a namespace that nobody else uses.
    pub(super) fn collection(&self) -> Result<String> {
        let namespace = block_in_place(|| self.cluster().namespace())?.namespace;
        Ok(format!("/apis/template.openshift.io/v1/namespaces/{namespace}/templates"))
    }
}

/// Two replicas with these flags that start at the same moment. Nobody is told of them.
pub(super) fn start_at_once(installation: &Installation, flags: &[&str]) -> Result<[Replica; 2]> {
    let mut replicas = [installation.replica(flags)?, installation.replica(flags)?];
    thread::scope(|scope| {
        let starts = replicas.each_mut().map(|replica| scope.spawn(|| replica.start()));
        starts.into_iter().try_for_each(|start| start.join().expect("starting does not panic"))
    })?;
    Ok(replicas)
}

/// Asks `path` until it is answered with `status`, and returns the body.
pub(super) async fn until(client: &Client, path: &str, status: u16) -> Result<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let last = match client.send(&Request::get(path)).await {
            Ok(answer) if answer.status == status => return Ok(answer.text()),
            Ok(answer) => format!("{} {}", answer.status, answer.text()),
            Err(error) => format!("{error:#}"),
        };
        ensure!(Instant::now() < deadline, "{path} is not answered {status} but {last}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
