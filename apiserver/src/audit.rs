//! The audit log: who asked for what, when, and what became of it, as `audit.k8s.io/v1` events.
//!
//! Events are written where they happen, as by kube-apiserver in its mode `blocking`: that of an
//! answer is in the file before the answer leaves, and none waits in memory. One that cannot be
//! written is counted and reported, and the request goes on. Without a policy nothing here runs.

mod event;
mod log;
mod policy;
mod record;
mod secrets;
mod source;

use std::sync::Arc;

use http::HeaderValue;
use http::request::Parts;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use crate::authn::{Peer, User};
use crate::authz::Attributes;
use crate::environment::Environment;
use crate::metrics::Metrics;
use crate::request::RequestInfo;

use self::event::Event;

pub use self::log::{Log, Rotation};
pub use self::policy::{Level, Policy, PolicyError, Stage};
pub(crate) use self::record::Record;
pub(crate) use self::secrets::Secrets;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LevelLabel {
    level: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PluginLabel {
    plugin: &'static str,
}

/// What is logged, and where.
pub struct Audit {
    policy: Policy,
    log: Log,
    environment: Arc<dyn Environment>,
    events: Counter,
    errors: Family<PluginLabel, Counter>,
    levels: Family<LevelLabel, Counter>,
}

/// A request before anything is known of its sender.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) info: &'a RequestInfo,
    pub(crate) id: &'a HeaderValue,
    pub(crate) peer: &'a Peer,
}

impl Audit {
    /// Writes what `policy` wants into `log`. The time comes from `environment`.
    pub fn new(
        policy: Policy,
        log: Log,
        environment: Arc<dyn Environment>,
        metrics: &Metrics,
    ) -> Self {
        let (events, errors, levels) = (Counter::default(), Family::default(), Family::default());
        // The encoder appends `_total` to counters, so their names end before it.
        let name = "apiserver_audit_event";
        metrics.register(name, "Audit events handed to the log", events.clone());
        let name = "apiserver_audit_error";
        metrics.register(name, "Audit events that could not be written", Family::clone(&errors));
        let name = "apiserver_audit_level";
        metrics.register(
            name,
            "Requests by the level they were audited at",
            Family::clone(&levels),
        );
        Self { policy, log, environment, events, errors, levels }
    }

    /// Begins the record of a request whose sender is known; none if the policy wants none.
    pub(crate) fn begin(self: &Arc<Self>, asked: Asked<'_>, user: &User) -> Option<Arc<Record>> {
        let treatment = self.policy.treatment(&Attributes::of(user, asked.info));
        let label = LevelLabel { level: treatment.level.as_str() };
        self.levels.get_or_create(&label).inc();
        if treatment.level == Level::None {
            return None;
        }
        let event = Event::new(treatment.level, asked, user, self.environment.now());
        Some(Arc::new(Record::new(self.clone(), treatment, event)))
    }

    /// Makes sure that everything that was written outlives the machine.
    pub(crate) fn flush(&self) {
        if let Err(error) = self.log.flush() {
            tracing::error!(%error, "cannot flush the audit log");
        }
    }

    fn write(&self, event: &mut Event) {
        let now = self.environment.now();
        let line = event.line(now);
        self.events.inc();
        if let Err(error) = self.log.write(&line, now) {
            self.errors.get_or_create(&PluginLabel { plugin: "log" }).inc();
            tracing::error!(%error, audit_id = event.id(), "an audit event is lost");
        }
    }
}

#[cfg(test)]
mod tests;
