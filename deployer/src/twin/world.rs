//! All of it together, with a clock that goes when somebody waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;

use super::{Fault, Faulty, Fuse, TwinCluster, TwinExpand, TwinRecords};
use crate::deployer::Deployer;
use crate::pass::Next;
use crate::types::{Deployment, Phase, Requester, Spec, Status};

/// A user.
pub(crate) const ALICE: &str = "alice";
/// Another.
pub(crate) const BOB: &str = "bob";

/// A world.
pub(crate) struct World {
    pub(crate) cluster: Arc<TwinCluster>,
    pub(crate) records: Arc<TwinRecords>,
    seconds: Arc<AtomicI64>,
}

/// A user as the server stamps it.
pub(crate) fn requester(name: &str) -> Requester {
    let groups = vec!["system:authenticated".to_owned()];
    Requester { username: name.to_owned(), groups, ..Requester::default() }
}

/// What Alice wants.
pub(crate) fn spec(configuration: &str) -> Spec {
    Spec {
        configuration: Some(configuration.to_owned()),
        requester: requester(ALICE),
        ..Spec::default()
    }
}

impl World {
    /// One in which controllers work at once.
    pub(crate) fn new() -> Self {
        Self {
            cluster: Arc::new(TwinCluster::new()),
            records: Arc::default(),
            seconds: Arc::new(AtomicI64::new(1_000_000)),
        }
    }

    /// One in which controllers work when time passes.
    pub(crate) fn slow() -> Self {
        let world = Self::new();
        world.cluster.slow();
        world
    }

    /// A process.
    pub(crate) fn deployer(&self, fuse: &Arc<Fuse>) -> Deployer {
        let (seconds, fuse) = (self.seconds.clone(), fuse.clone());
        Deployer::new(
            Arc::new(Faulty { inner: self.records.clone(), fuse: fuse.clone() }),
            Arc::new(Faulty { inner: self.cluster.clone(), fuse }),
            Arc::new(TwinExpand),
            move || Timestamp::from_second(seconds.load(Ordering::SeqCst)).unwrap(),
        )
    }

    /// Time passes, and controllers work.
    pub(crate) fn wait(&self, time: Duration) {
        let seconds = i64::try_from(time.as_secs().max(1)).unwrap();
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
        self.cluster.tick();
    }

    /// One pass.
    pub(crate) async fn pass(&self, name: &str) -> Next {
        let fuse = Fuse::new(Fault::Never, 0);
        self.deployer(&fuse).pass("demo", name, None).await.0
    }

    /// Passes until there is nothing more to do, or the same went wrong five times in a row.
    pub(crate) async fn settle(&self, name: &str) -> Next {
        self.settle_as(&Fuse::new(Fault::Never, 0), name).await.expect("nobody dies")
    }

    /// The same in a process that may die; none if it did.
    pub(crate) async fn settle_as(&self, fuse: &Arc<Fuse>, name: &str) -> Option<Next> {
        let deployer = self.deployer(fuse);
        let mut failures = 0;
        for _ in 0..500 {
            let next = tokio::select! {
                biased;
                () = fuse.died() => return None,
                (next, _) = deployer.pass("demo", name, None) => next,
            };
            failures = if next.is_failure() { failures + 1 } else { 0 };
            let rests = || {
                let found = self.records.find(name);
                found.is_some_and(|found| found.status.phase == Phase::Deployed)
            };
            match next {
                Next::Idle | Next::Unchanged => return Some(next),
                Next::Retry | Next::RetryAfter(_) if failures >= 5 => return Some(next),
                Next::After(_) if rests() => return Some(next),
                Next::Again => {}
                Next::Retry => self.wait(Duration::from_secs(1)),
                Next::After(time) | Next::RetryAfter(time) => self.wait(time),
            }
        }
        panic!("{name} does not come to rest: {:#?}", self.status(name));
    }

    /// Creates a Deployment, and has it deployed.
    pub(crate) async fn deploy(&self, name: &str, spec: Spec) -> Status {
        self.records.create(name, spec);
        self.settle(name).await;
        self.status(name)
    }

    /// Changes a Deployment, and has that carried out.
    pub(crate) async fn update(&self, name: &str, change: impl FnOnce(&mut Spec)) -> Status {
        self.records.change(name, change);
        self.settle(name).await;
        self.status(name)
    }

    /// Changes the configuration of a Deployment, and has that carried out.
    pub(crate) async fn configure(&self, name: &str, configuration: &str) -> Status {
        self.update(name, |spec| spec.configuration = Some(configuration.to_owned())).await
    }

    /// A Deployment.
    pub(crate) fn find(&self, name: &str) -> Deployment {
        self.records.find(name).unwrap_or_else(|| panic!("there is no {name}"))
    }

    /// The status of one.
    pub(crate) fn status(&self, name: &str) -> Status {
        self.find(name).status
    }
}
