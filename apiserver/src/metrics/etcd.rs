//! Requests to etcd, as kube-apiserver counts its own.

use std::sync::Arc;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use storage::etcd::{Observer, Request};

use super::{Histograms, Metrics};

/// What a request to etcd is counted under.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    operation: &'static str,
    /// The resource with its group; empty for what concerns the store as such.
    r#type: String,
}

/// The metrics of requests to etcd.
struct EtcdRequests {
    requests: Family<Labels, Counter>,
    errors: Family<Labels, Counter>,
    durations: Histograms<Labels>,
}

impl Metrics {
    /// Whom a store in etcd tells of its requests.
    pub fn etcd_requests(&self) -> Arc<dyn Observer> {
        let this = EtcdRequests {
            requests: Family::default(),
            errors: Family::default(),
            durations: Family::new_with_constructor(durations),
        };
        self.register("etcd_requests", "Requests to etcd", this.requests.clone());
        self.register("etcd_request_errors", "Requests to etcd that failed", this.errors.clone());
        self.register(
            "etcd_request_duration_seconds",
            "Time until etcd answered, or was no longer waited for",
            this.durations.clone(),
        );
        Arc::new(this)
    }
}

fn durations() -> Histogram {
    Histogram::new([
        0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0,
        10.0, 15.0, 20.0, 30.0, 45.0, 60.0,
    ])
}

impl Observer for EtcdRequests {
    fn observe(&self, request: Request<'_>) {
        let labels = Labels { operation: request.operation, r#type: resource(request.key) };
        self.requests.get_or_create(&labels).inc();
        if request.failed {
            self.errors.get_or_create(&labels).inc();
        }
        self.durations.get_or_create(&labels).observe(request.took.as_secs_f64());
    }
}

/// The resource that a key is of. Keys are made for resources that are served, so there are few.
fn resource(key: &str) -> String {
    let mut segments = key.split('/').skip(1);
    match (segments.next(), segments.next()) {
        (Some(group), Some(resource)) if !resource.is_empty() => format!("{resource}.{group}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::BodyExt as _;

    use super::*;
    use crate::version::Version;

    #[test]
    fn a_key_tells_its_resource() {
        assert_eq!(resource("/example.dev/things/demo/a"), "things.example.dev");
        assert_eq!(resource("/example.dev/things/"), "things.example.dev");
        assert_eq!([resource("/"), resource(""), resource("/compaction")], [""; 3]);
    }

    #[tokio::test]
    async fn requests_and_errors_are_counted() {
        let metrics = Metrics::new(&Version::new("v1"));
        let observer = metrics.etcd_requests();
        for failed in [false, true] {
            let (key, took) = ("/example.dev/things/demo/a", Duration::from_millis(7));
            observer.observe(Request { operation: "create", key, took, failed });
        }
        let body = metrics.answer((0, 0), "").into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        let labels = "{operation=\"create\",type=\"things.example.dev\"}";
        for line in [
            format!("etcd_requests_total{labels} 2"),
            format!("etcd_request_errors_total{labels} 1"),
            format!("etcd_request_duration_seconds_count{labels} 2"),
        ] {
            assert!(text.contains(&line), "{line} is not in {text}");
        }
    }
}
