//! Admission: what the cluster has to say about a write that its sender may make.
//!
//! Plugins are asked in their order once a body is decoded and before anything is written, on a dry
//! run too. A retry of an update asks them again, about the newer object. Nothing here changes an
//! object: a plugin that does would be asked at the same place.

mod namespace_lifecycle;
mod namespaces;

use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;

use crate::metrics::{AdmissionTimes, Metrics};
use crate::object::Object;
use crate::resource::{Context, Definition};
use crate::status::Error;

pub use self::namespace_lifecycle::NamespaceLifecycle;
pub use self::namespaces::Namespaces;

/// What is about to happen to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// It is created, or answered without being stored.
    Create,
    /// It is replaced or patched.
    Update,
    /// It is deleted or marked for deletion.
    Delete,
}

impl Operation {
    /// The word of `AdmissionReview`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// A write, as plugins see it.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// What is about to happen.
    pub operation: Operation,
    /// The resource.
    pub definition: &'a Definition,
    /// The subresource; empty for the object itself.
    pub subresource: &'a str,
    /// Who asks, in which namespace, for which name, and whether it is a dry run.
    pub cx: &'a Context<'a>,
    /// The object that is about to be; none on a deletion.
    pub object: Option<&'a Object>,
    /// The object that is; none on a creation.
    pub old: Option<&'a Object>,
}

impl Attributes<'_> {
    /// The name to speak of: a name that is to be generated is not known yet.
    pub fn name(&self) -> &str {
        let meta = self.object.map(|object| &object.meta);
        let own = meta.map_or("", |meta| &meta.name);
        let base = meta.map_or("", |meta| &meta.generate_name);
        let names = [self.cx.name, own, base, "Unknown"];
        names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
    }

    /// The 403 of a plugin.
    pub fn forbidden(&self, why: &str) -> Error {
        Error::forbidden(self.definition.resource(), self.name(), why)
    }
}

/// One rule of admission.
pub trait Plugin: Send + Sync + 'static {
    /// Its name, in metrics, e.g. `NamespaceLifecycle`.
    fn name(&self) -> &'static str;

    /// Whether it has a say in this operation.
    fn handles(&self, operation: Operation) -> bool;

    /// Lets the write pass.
    ///
    /// # Errors
    /// Why it may not be, for the client.
    fn admit<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Result<(), Error>>;
}

/// The plugins of a server, in their order. Without any, everything passes.
#[derive(Clone, Default)]
pub struct Admission {
    plugins: Arc<[Box<dyn Plugin>]>,
    times: Option<AdmissionTimes>,
}

impl Admission {
    /// Asks `plugins`, in this order.
    pub fn new(plugins: Vec<Box<dyn Plugin>>) -> Self {
        Self { plugins: plugins.into(), times: None }
    }

    /// The same, with every plugin's time measured.
    #[must_use]
    pub fn observed_by(mut self, metrics: &Metrics) -> Self {
        self.times = Some(metrics.admission());
        self
    }

    /// Asks every plugin that handles the operation; the first that refuses decides.
    ///
    /// # Errors
    /// Those of the plugins.
    pub(crate) async fn admit(&self, attributes: &Attributes<'_>) -> Result<(), Error> {
        let Some(times) = &self.times else { return self.ask(attributes).await };
        let started = Instant::now();
        let verdict = self.ask(attributes).await;
        let operation = attributes.operation.as_str();
        times.observe_all(operation, verdict.is_err(), started.elapsed());
        verdict
    }

    async fn ask(&self, attributes: &Attributes<'_>) -> Result<(), Error> {
        let operation = attributes.operation;
        for plugin in self.plugins.iter().filter(|plugin| plugin.handles(operation)) {
            let started = Instant::now();
            let verdict = plugin.admit(attributes).await;
            if let Some(times) = &self.times {
                let operation = operation.as_str();
                times.observe(plugin.name(), operation, verdict.is_err(), started.elapsed());
            }
            verdict?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
