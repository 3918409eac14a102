//! What is said to whoever writes a Deployment: whether what it wants can be expanded, and that its status
//! is not theirs to write.
//!
//! Only what is certainly wrong is refused. Where no answer can be had now, because templates wait or
//! a file cannot be fetched, the Deployment is taken and its status will say.

use std::time::Duration;

use apiserver::admission::{Attributes, Operation, Plugin};
use apiserver::object::Object;
use apiserver::status::Error;
use futures::future::BoxFuture;
use tokio::time::timeout;

use super::expand::{Expansions, Unexpanded};
use super::records::deployment;
use crate::registry::deployments::requester;

/// How long a writer waits for the answer.
const TIME: Duration = Duration::from_secs(10);

/// Keeps clients from the status. It is the journal: what stands there is applied and deleted as the
/// requester, so that whoever could write it could do so, too, whatever they may do themselves.
pub(crate) struct Journal;

impl Plugin for Journal {
    fn name(&self) -> &'static str {
        "DeploymentJournal"
    }

    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Update
    }

    fn admit<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Result<(), Error>> {
        let is_journal =
            attributes.definition.kind == "Deployment" && attributes.subresource == "status";
        let refused = || attributes.forbidden("only the server writes the status of a Deployment");
        let verdict = if is_journal { Err(refused()) } else { Ok(()) };
        Box::pin(std::future::ready(verdict))
    }
}

/// Expands what is written.
pub(crate) struct Expands(pub(crate) Expansions);

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
        let old = attributes.old.and_then(|old| deployment(old).ok());
        let Ok(mut deployment) = deployment(object) else { return Ok(()) };
        if deployment.spec.roll_back_to.is_some() {
            return Ok(());
        }
        attributes.cx.namespace.clone_into(&mut deployment.namespace);
        // What the client says of the requester is not believed, here as in what is stored; nor which
        // Deployment it is and what was done, which say which files were fetched for it.
        deployment.spec.requester = requester::requester(attributes.cx.user);
        (deployment.uid, deployment.status) =
            old.map(|old| (old.uid, old.status)).unwrap_or_default();
        match timeout(TIME, self.0.expanded(&deployment)).await {
            Ok(Err(Unexpanded::Wrong(errors))) => {
                Err(Error::invalid(attributes.definition.subject(), &deployment.name, &errors))
            }
            // What is wrong with its fields is for the strategy to say.
            Ok(Ok(_) | Err(Unexpanded::Malformed(_) | Unexpanded::Unavailable(_))) | Err(_) => {
                Ok(())
            }
        }
    }
}
