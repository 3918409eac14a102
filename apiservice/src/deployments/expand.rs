//! Expanding what a Deployment wants, with the engine that every expansion runs on.

use apiserver::environment::{Environment as _, System};
use apiserver::field;
use deployer::types::{Deployment, Input};
use deployer::{Expand, Refusal, Resolved};
use futures::future::BoxFuture;

use crate::engine::{Engine, Refused};
use crate::sent::{self, Defaults};

/// The engine, as the deployer knows one.
pub(super) struct Expansions(Engine);

impl Expansions {
    pub(super) fn new(engine: Engine) -> Self {
        Self(engine)
    }
}

impl Expand for Expansions {
    fn expand<'a>(
        &'a self,
        deployment: &'a Deployment,
    ) -> BoxFuture<'a, Result<Resolved, Refusal>> {
        Box::pin(async move {
            let Deployment { name, namespace, spec, .. } = deployment;
            let defaults = Defaults { name, namespace, now: System.now() };
            let refused = |errors: &[field::Error]| Refusal {
                problems: errors.iter().map(ToString::to_string).collect(),
                passes: false,
            };
            let (input, files) =
                sent::of_deployment(spec, &defaults).map_err(|errors| refused(&errors))?;
            let done = self.0.expand(input).await.map_err(|why| match why {
                Refused::Failure(failure) => refused(&files.to_field_errors(&failure.problems)),
                Refused::Request(error) => {
                    Refusal { problems: vec![error.message().to_owned()], passes: true }
                }
            })?;
            let input = Input {
                name: name.clone(),
                content: sent::configuration(spec, name),
                imports: spec.imports.clone(),
            };
            Ok(Resolved { input, expanded: done.expanded, digest: done.digest })
        })
    }
}
