//! Expanding what a Deployment wants, with the engine that every expansion runs on.

use apiserver::environment::{Environment as _, System};
use apiserver::field;
use apiserver::store::Store;
use deployer::types::{Deployment, Input};
use deployer::{Expand, Refusal, Resolved};
use futures::future::BoxFuture;

use super::fetched;
use crate::engine::{Done, Engine, Refused};
use crate::sent::{self, Defaults};

/// The engine, as the deployer knows one.
#[derive(Clone)]
pub(super) struct Expansions {
    engine: Engine,
    store: Store,
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
    /// One for the Deployments of a store.
    pub(super) fn new(engine: &Engine, store: &Store) -> Self {
        Self { engine: engine.clone(), store: store.clone() }
    }

    /// What a Deployment comes to, with the files that were fetched for it before.
    ///
    /// # Errors
    /// Why it comes to nothing.
    pub(super) async fn expanded(&self, deployment: &Deployment) -> Result<Done, Unexpanded> {
        let Deployment { name, namespace, spec, .. } = deployment;
        let defaults = Defaults { name, namespace, now: System.now() };
        let (input, files) = sent::of_deployment(spec, &defaults).map_err(Unexpanded::Malformed)?;
        let unavailable =
            |error: apiserver::status::Error| Unexpanded::Unavailable(error.message().to_owned());
        let before = fetched::before(&self.store, deployment).await.map_err(unavailable)?;
        self.engine.expand_with(input, &before).await.map_err(|why| match why {
            Refused::Failure(failure) => {
                Unexpanded::Wrong(files.to_field_errors(&failure.problems))
            }
            Refused::Request(error) => unavailable(error),
        })
    }
}

impl Expand for Expansions {
    fn expand<'a>(
        &'a self,
        deployment: &'a Deployment,
    ) -> BoxFuture<'a, Result<Resolved, Refusal>> {
        Box::pin(async move {
            let done = self.expanded(deployment).await.map_err(|why| match why {
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
            Ok(Resolved { input, expanded: done.expanded, digest: done.digest })
        })
    }
}
