//! What watches send, by resource.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

use super::{Histograms, Metrics};

/// A resource, as watches are counted by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct ResourceLabels {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) resource: &'static str,
}

/// The metrics `apiserver_watch_*`.
pub(super) struct Watches {
    events: Family<ResourceLabels, Counter>,
    sizes: Histograms<ResourceLabels>,
    lists: Histograms<ResourceLabels>,
}

impl Watches {
    pub(super) fn new() -> Self {
        let sizes = || Histogram::new(exponential_buckets(1024.0, 2.0, 8));
        let lists = || {
            Histogram::new([
                0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
            ])
        };
        Self {
            events: Family::default(),
            sizes: Family::new_with_constructor(sizes),
            lists: Family::new_with_constructor(lists),
        }
    }

    pub(super) fn register(&self, metrics: &Metrics) {
        let name = "apiserver_watch_events";
        metrics.register(name, "Events sent to watchers", self.events.clone());
        let name = "apiserver_watch_events_sizes";
        metrics.register(name, "Bytes of an event sent to a watcher", self.sizes.clone());
        let name = "apiserver_watch_list_duration_seconds";
        metrics.register(name, "Time until a watcher has the present state", self.lists.clone());
    }

    pub(super) fn of(&self, resource: &ResourceLabels) -> Sent {
        Sent {
            events: self.events.get_or_create_owned(resource),
            sizes: self.sizes.get_or_create_owned(resource),
            lists: self.lists.get_or_create_owned(resource),
        }
    }
}

/// What the watches of one resource send.
#[derive(Clone)]
pub(crate) struct Sent {
    events: Counter,
    sizes: Histogram,
    lists: Histogram,
}

impl Sent {
    /// An event of so many bytes.
    pub(crate) fn event(&self, bytes: usize) {
        self.events.inc();
        // Sizes beyond 2^53 bytes do not occur.
        #[expect(clippy::cast_precision_loss, reason = "a histogram takes floats")]
        self.sizes.observe(bytes as f64);
    }

    /// The present state, complete after so long.
    pub(crate) fn list(&self, took: Duration) {
        self.lists.observe(took.as_secs_f64());
    }
}
