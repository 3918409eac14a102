//! How many objects are stored, counted when somebody asks.

use std::fmt::{self, Error};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

/// A resource, in whichever version it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct StoredResource {
    /// The API group.
    pub group: String,
    /// The resource.
    pub resource: String,
}

/// Counts the objects of every stored resource.
pub(super) type Count = dyn Fn() -> Vec<(StoredResource, u64)> + Send + Sync;

/// The metric `apiserver_resource_objects`.
pub(super) struct Objects(pub(super) Box<Count>);

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Objects")
    }
}

impl Collector for Objects {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut family = encoder.encode_descriptor(
            "apiserver_resource_objects",
            "Objects stored",
            None,
            MetricType::Gauge,
        )?;
        for (resource, count) in (self.0)() {
            ConstGauge::new(count).encode(family.encode_family(&resource)?)?;
        }
        Ok(())
    }
}
