//! Whether what a Deployment wants can be expanded is said to whoever writes it, and not only in its
//! status.
//!
//! Only what is certainly wrong is refused. Where no answer can be had now, because templates wait or
//! a file cannot be fetched, the Deployment is taken and its status will say.

use std::time::Duration;

use apiserver::admission::{Attributes, Operation, Plugin};
use apiserver::environment::{Environment as _, System};
use apiserver::object::Object;
use apiserver::status::Error;
use deployer::types::Spec;
use futures::future::BoxFuture;
use tokio::time::timeout;

use crate::engine::{Engine, Refused};
use crate::sent::{self, Defaults};

/// How long a writer waits for the answer.
const TIME: Duration = Duration::from_secs(10);

/// Expands what is written.
pub(crate) struct Expands(pub(crate) Engine);

impl Plugin for Expands {
    fn name(&self) -> &'static str {
        "DeploymentExpansion"
    }

    fn handles(&self, operation: Operation) -> bool {
        operation != Operation::Delete
    }

    fn admit<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let of_deployments = attributes.definition.kind == "Deployment";
            let Some(object) = attributes.object.filter(|_| of_deployments) else { return Ok(()) };
            if !attributes.subresource.is_empty() || object.meta.is_deleting() {
                return Ok(());
            }
            let wanted = |object: &Object| object.fields.get("spec").map(str::to_owned);
            if attributes.old.is_some_and(|old| wanted(old) == wanted(object)) {
                return Ok(());
            }
            self.check(attributes, object).await
        })
    }
}

impl Expands {
    async fn check(&self, attributes: &Attributes<'_>, object: &Object) -> Result<(), Error> {
        let spec = object.fields.get("spec").unwrap_or("{}");
        // What is wrong with its fields is for the strategy to say.
        let Ok(spec) = serde_json::from_str::<Spec>(spec) else { return Ok(()) };
        if spec.roll_back_to.is_some() {
            return Ok(());
        }
        let name = &object.meta.name;
        let defaults = Defaults { name, namespace: attributes.cx.namespace, now: System.now() };
        let Ok((input, files)) = sent::of_deployment(&spec, &defaults) else { return Ok(()) };
        match timeout(TIME, self.0.expand(input)).await {
            Ok(Err(Refused::Failure(failure))) => {
                let errors = files.to_field_errors(&failure.problems);
                Err(Error::invalid(attributes.definition.subject(), name, &errors))
            }
            Ok(Ok(_) | Err(Refused::Request(_))) | Err(_) => Ok(()),
        }
    }
}
