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

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StepLabels {
    operation: &'static str,
    rejected: &'static str,
    r#type: &'static str,
}

/// The histograms `apiserver_admission_*_admission_duration_seconds`: of single plugins, and of all
/// of them.
#[derive(Clone)]
pub(crate) struct AdmissionTimes {
    plugins: Histograms<Labels>,
    steps: Histograms<StepLabels>,
}

impl AdmissionTimes {
    pub(super) fn new() -> Self {
        let buckets = || Histogram::new([0.005, 0.025, 0.1, 0.5, 1.0, 2.5]);
        Self {
            plugins: Family::new_with_constructor(buckets),
            steps: Family::new_with_constructor(buckets),
        }
    }

    pub(super) fn register(&self, metrics: &Metrics) {
        metrics.register(
            "apiserver_admission_controller_admission_duration_seconds",
            "Time of one admission plugin for one object",
            self.plugins.clone(),
        );
        metrics.register(
            "apiserver_admission_step_admission_duration_seconds",
            "Time of all admission plugins for one object",
            self.steps.clone(),
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
        self.plugins.get_or_create(&labels).observe(took.as_secs_f64());
    }

    pub(crate) fn observe_all(&self, operation: &'static str, rejected: bool, took: Duration) {
        let rejected = if rejected { "true" } else { "false" };
        let labels = StepLabels { operation, rejected, r#type: "admit" };
        self.steps.get_or_create(&labels).observe(took.as_secs_f64());
    }
}
