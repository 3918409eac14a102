//! How much there is to carry out, how long it takes, and whether this replica does it: under the names
//! that the queues and leader elections of Kubernetes's own controllers have, so that their dashboards and
//! alerts read this one too.

use std::time::Duration;

use apiserver::metrics::Metrics;
use deployer::Meter;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Name {
    name: &'static str,
}

type Times = Family<Name, Histogram, fn() -> Histogram>;

/// The queue of Deployments, and the Lease.
#[derive(Clone)]
pub(super) struct Measured {
    depth: Family<Name, Gauge>,
    waited: Times,
    worked: Times,
    retries: Family<Name, Counter>,
    leading: Family<Name, Gauge>,
}

const QUEUE: Name = Name { name: "deployments" };
const LEASE: Name = Name { name: "formwork" };

/// The buckets of client-go's queues.
fn times() -> Histogram {
    Histogram::new(exponential_buckets(1e-8, 10.0, 12))
}

impl Measured {
    /// Nothing so far, which `metrics` shows.
    pub(super) fn shown_by(metrics: &Metrics) -> Self {
        let new = Self {
            depth: Family::default(),
            waited: Family::new_with_constructor(times),
            worked: Family::new_with_constructor(times),
            retries: Family::default(),
            leading: Family::default(),
        };
        let Self { depth, waited, worked, retries, leading } = new.clone();
        metrics.register("workqueue_depth", "Deployments that wait for a worker", depth);
        let name = "workqueue_queue_duration_seconds";
        metrics.register(name, "How long Deployments waited for a worker", waited);
        let name = "workqueue_work_duration_seconds";
        metrics.register(name, "How long passes over Deployments took", worked);
        metrics.register(
            "workqueue_retries",
            "Passes that are made again since they failed",
            retries,
        );
        let name = "leader_election_master_status";
        metrics.register(name, "Whether this replica carries out Deployments", leading);
        // Nobody's alert is about a series that is not there.
        new.waiting(0);
        new.leads(false);
        new
    }

    /// Whether this replica carries out Deployments.
    pub(super) fn leads(&self, does: bool) {
        self.leading.get_or_create(&LEASE).set(does.into());
    }
}

impl Meter for Measured {
    fn waiting(&self, count: usize) {
        self.depth.get_or_create(&QUEUE).set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    fn began(&self, waited: Duration) {
        self.waited.get_or_create(&QUEUE).observe(waited.as_secs_f64());
    }

    fn ended(&self, worked: Duration, failed: bool) {
        self.worked.get_or_create(&QUEUE).observe(worked.as_secs_f64());
        if failed {
            self.retries.get_or_create(&QUEUE).inc();
        }
    }
}
