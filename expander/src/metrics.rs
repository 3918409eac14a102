//! Metrics of the expander, named `formwork_expander_…`.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Metric, Registry};

use expansion::{Language, Outcome};

use crate::error::PoolError;
use crate::walls::{Layer, Walls};

/// Takes metrics. A server whose registry hides behind a lock implements it for a wrapper.
pub trait Register {
    /// Adds a metric.
    fn register(&mut self, name: &str, help: &str, metric: impl Metric);
}

impl Register for Registry {
    fn register(&mut self, name: &str, help: &str, metric: impl Metric) {
        Registry::register(self, name, help, metric);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    language: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByLanguage {
    language: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByLayer {
    layer: &'static str,
}

/// What a pool counts.
pub(crate) struct Metrics {
    calls: Family<Labels, Counter>,
    durations: Family<ByLanguage, Histogram, fn() -> Histogram>,
    walls: Family<ByLayer, Gauge>,
    pub(crate) in_flight: Gauge,
    pub(crate) waiting: Gauge,
    pub(crate) retries: Counter,
    pub(crate) compiled: Counter,
    pub(crate) restarts: Counter,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let buckets: fn() -> Histogram = || Histogram::new(exponential_buckets(0.0005, 2.0, 16));
        Self {
            calls: Family::default(),
            durations: Family::new_with_constructor(buckets),
            walls: Family::default(),
            in_flight: Gauge::default(),
            waiting: Gauge::default(),
            retries: Counter::default(),
            compiled: Counter::default(),
            restarts: Counter::default(),
        }
    }

    pub(crate) fn register(&self, registry: &mut impl Register) {
        let name = "formwork_expander_calls";
        registry.register(name, "Templates by language and outcome", self.calls.clone());
        let name = "formwork_expander_call_duration_seconds";
        let help = "Time from the request for a child until its result";
        registry.register(name, help, self.durations.clone());
        let name = "formwork_expander_calls_in_flight";
        registry.register(name, "Children at work", self.in_flight.clone());
        let name = "formwork_expander_queue_length";
        registry.register(name, "Calls that wait for a child", self.waiting.clone());
        let name = "formwork_expander_retries";
        registry.register(name, "Calls that were begun anew", self.retries.clone());
        let name = "formwork_expander_compilations";
        let help = "Python sources that were compiled for later calls";
        registry.register(name, help, self.compiled.clone());
        let name = "formwork_expander_worker_restarts";
        registry.register(name, "Workers that died", self.restarts.clone());
        let name = "formwork_expander_wall";
        let help = "Layers of the sandbox: 1 holds, 0 does not; for landlock its ABI";
        registry.register(name, help, self.walls.clone());
    }

    pub(crate) fn ended(
        &self,
        language: Language,
        result: &Result<Outcome, PoolError>,
        duration: Duration,
    ) {
        let language = match language {
            Language::Jinja => "jinja",
            Language::Python => "python",
        };
        let labels = Labels { language, outcome: outcome(result) };
        self.calls.get_or_create(&labels).inc();
        self.durations.get_or_create(&ByLanguage { language }).observe(duration.as_secs_f64());
    }

    pub(crate) fn walls(&self, walls: &Walls) {
        for layer in Layer::ALL {
            let value = match layer {
                Layer::Landlock => i64::from(walls.landlock_abi),
                _ => i64::from(walls.holds(layer)),
            };
            self.walls.get_or_create(&ByLayer { layer: layer.name() }).set(value);
        }
    }
}

/// The label: a fixed set, whatever a template calls its error.
fn outcome(result: &Result<Outcome, PoolError>) -> &'static str {
    match result {
        Ok(Outcome::Rendered(_)) => "rendered",
        Ok(Outcome::Failed(fault)) => match fault.kind.as_str() {
            "TimeLimit" | "MemoryLimit" | "OutputLimit" => "limit",
            "Forbidden" => "forbidden",
            _ => "failed",
        },
        Err(PoolError::Busy { .. }) => "busy",
        Err(PoolError::Walls(_)) => "walls",
        Err(PoolError::Unavailable(_)) => "unavailable",
        Err(PoolError::Timeout) => "timeout",
    }
}
