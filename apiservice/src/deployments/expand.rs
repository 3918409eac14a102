//! Expanding what a Deployment wants, with the engine that every expansion runs on.

use std::sync::Arc;

use apiserver::environment::{Environment as _, System};
use apiserver::field;
use apiserver::store::Store;
use deployer::types::{Deployment, Input};
use deployer::{Cluster, Expand, Refusal, Resolved};
use expander::Registries;
use expansion::Imports;
use futures::future::BoxFuture;

use super::fetched::{self, Before};
use crate::engine::{Done, Engine, Refused};
use crate::sent::{self, Defaults};
use crate::sources::Sources;

/// The engine, as the deployer knows one.
#[derive(Clone)]
pub(crate) struct Expansions {
    engine: Engine,
    store: Store,
    sources: Sources,
}

/// Why there is no result.
pub(super) enum Unexpanded {
    /// Fields of the spec are wrong before anything is read.
    Malformed(Vec<field::Error>),
    /// What they say is wrong.
    Wrong(Vec<field::Error>),
    /// Another try may succeed.
    Unavailable(String),
}

impl Expansions {
    /// One for the Deployments of a store, which are deployed to the cluster of `sources`.
    pub(crate) fn new(engine: &Engine, store: &Store, sources: &Sources) -> Self {
        Self { engine: engine.clone(), store: store.clone(), sources: sources.clone() }
    }

    /// The cluster.
    pub(super) fn cluster(&self) -> Arc<dyn Cluster> {
        self.sources.cluster()
    }

    /// What a Deployment comes to, with the files that were fetched for it before, if its requester
    /// may read them, and if not, why; and with the Registries of its namespace as its requester may
    /// use them.
    ///
    /// # Errors
    /// Why it comes to nothing.
    pub(super) async fn expanded(
        &self,
        deployment: &Deployment,
    ) -> Result<(Done, Option<String>), Unexpanded> {
        let Deployment { name, namespace, spec, .. } = deployment;
        let defaults = Defaults { name, namespace, now: System.now() };
        let (input, files) = sent::of_deployment(spec, &defaults).map_err(Unexpanded::Malformed)?;
        let unavailable =
            |error: apiserver::status::Error| Unexpanded::Unavailable(error.message().to_owned());
        let before = fetched::before(&self.store, &*self.cluster(), deployment).await;
        let (before, anew) = match before.map_err(unavailable)? {
            Before::Kept(files) => (files, None),
            Before::Forbidden(why) => (Imports::new(), Some(why)),
        };
        let known = self.sources.of(namespace, &spec.requester).await.map_err(unavailable)?;
        let registries = known.as_ref().map(|known| known as &dyn Registries);
        let done = self.engine.expand(input, &before, registries).await;
        let done = done.map_err(|why| match why {
            Refused::Failure(failure) => {
                Unexpanded::Wrong(files.to_field_errors(&failure.problems))
            }
            Refused::Request(error) => unavailable(error),
        })?;
        Ok((done, anew))
    }
}

impl Expand for Expansions {
    fn expand<'a>(
        &'a self,
        deployment: &'a Deployment,
    ) -> BoxFuture<'a, Result<Resolved, Refusal>> {
        Box::pin(async move {
            let (done, anew) = self.expanded(deployment).await.map_err(|why| match why {
                Unexpanded::Malformed(errors) | Unexpanded::Wrong(errors) => Refusal {
                    problems: errors.iter().map(ToString::to_string).collect(),
                    passes: false,
                },
                Unexpanded::Unavailable(why) => Refusal { problems: vec![why], passes: true },
            })?;
            let Deployment { name, spec, .. } = deployment;
            let sent = spec.imports.iter().cloned();
            let input = Input {
                name: name.clone(),
                content: sent::configuration(spec, name),
                imports: sent.chain(fetched::files(&done.fetched)).collect(),
                refresh: spec.refresh.clone(),
            };
            Ok(Resolved { input, expanded: done.expanded, digest: done.digest, anew })
        })
    }
}
