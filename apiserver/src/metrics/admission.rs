//! How long admission plugins take to decide.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;

use super::{Histograms, Metrics};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    name: &'static str,
    operation: &'static str,
    rejected: &'static str,
    r#type: &'static str,
}

/// The histogram `apiserver_admission_controller_admission_duration_seconds`.
#[derive(Clone)]
pub(crate) struct AdmissionTimes(Histograms<Labels>);

impl AdmissionTimes {
    pub(super) fn new() -> Self {
        let buckets = || Histogram::new([0.005, 0.025, 0.1, 0.5, 1.0, 2.5]);
        Self(Family::new_with_constructor(buckets))
    }

    pub(super) fn register(&self, metrics: &Metrics) {
        metrics.register(
            "apiserver_admission_controller_admission_duration_seconds",
            "Time of one admission plugin for one object",
            self.0.clone(),
        );
    }

    pub(crate) fn observe(
        &self,
        name: &'static str,
        operation: &'static str,
        rejected: bool,
        took: Duration,
    ) {
        let rejected = if rejected { "true" } else { "false" };
        let labels = Labels { name, operation, rejected, r#type: "admit" };
        self.0.get_or_create(&labels).observe(took.as_secs_f64());
    }
}
