//! `deploymentpreviews`: what a Deployment would do is answered, and nothing is stored or done.

use apiserver::object::{Fields, Object};
use apiserver::resource::{Context, Create, Resource, Serves};
use apiserver::status::{Error, Reason, Subject};
use deployer::types::{Spec, Status};
use deployer::{Deployer, FETCHED_ANEW, PreviewError};
use futures::future::BoxFuture;

use super::{deployments, kinds};

struct Previews(Option<Deployer>);

/// The resource. What would be done, `deployer` says.
pub fn resource(deployer: Option<&Deployer>) -> Resource {
    let previews = Previews(deployer.cloned());
    Resource::new(kinds::preview(), Serves::Created(Box::new(previews)))
}

const KIND: Subject<'_> = Subject { group: kinds::DEPLOYMENT_MANAGER.0, kind: "DeploymentPreview" };

impl Create for Previews {
    fn create<'a>(
        &'a self,
        cx: &'a Context<'a>,
        object: Object,
    ) -> BoxFuture<'a, Result<(Object, Vec<String>), Error>> {
        Box::pin(async move {
            let name = &object.meta.name;
            let text = object.fields.get("spec").unwrap_or("{}");
            let spec: Spec = serde_json::from_str(text).map_err(Error::internal)?;
            let errors = deployments::validate(name, &spec);
            if !errors.is_empty() {
                return Err(Error::invalid(KIND, name, &errors));
            }
            let spec = Spec { requester: deployments::requester(cx.user), ..spec };
            let Some(deployer) = &self.0 else { return Err(Error::unavailable("no deployer")) };
            let previewed = deployer.preview(cx.namespace, name, spec).await;
            let Status { conditions, preview, .. } =
                previewed.map_err(|error| refused(&error, name))?;
            let anew = conditions.iter().filter(|it| it.reason == FETCHED_ANEW);
            let warnings = anew.map(|it| it.message.replace(char::is_control, " ")).collect();
            let status = Status { conditions, preview, ..Status::default() };
            let status = serde_json::to_string(&status).map_err(Error::internal)?;
            let fields = Fields::new(format!("\"spec\":{text},\"status\":{status}"));
            Ok((Object { fields, ..object }, warnings))
        })
    }
}

fn refused(error: &PreviewError, name: &str) -> Error {
    match error {
        PreviewError::Forbidden(why) => Error::forbidden(KIND, name, why),
        PreviewError::Cluster(error) => Error::new(Reason::ServiceUnavailable, error.to_string()),
        PreviewError::Records(error) => Error::unavailable(error),
    }
}
