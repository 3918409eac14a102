//! The Registries of a namespace, as the requester of a Deployment may use them.
//!
//! What a Registry refers to, a Secret or a ConfigMap, is read as the requester, after a review of
//! whether that is allowed. Errors name objects and never what is in them.

use std::collections::BTreeMap;

use apiserver::options::Wanted;
use apiserver::status::Error;
use apiserver::store::Store;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use deployer::types::Requester;
use deployer::{Access, Cluster, Target, Verb};
use expander::{Credential, Finding, Place, Registries, Registry, within};
use serde_json::Value;

use crate::registry::registries::{self, Reference, Spec};

/// The type of Secrets that may be sent to a registry. Whoever writes a Registry cannot have any
/// other sent there by those who may read it.
const CREDENTIAL: &str = "dm.formwork.dev/registry-credential";

/// Registries, and who uses them.
pub(super) struct Known<'a> {
    all: Vec<Spec>,
    cluster: &'a dyn Cluster,
    namespace: &'a str,
    requester: &'a Requester,
}

impl<'a> Known<'a> {
    /// Those of a namespace. None, if it has none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) async fn of(
        store: &Store,
        cluster: &'a dyn Cluster,
        namespace: &'a str,
        requester: &'a Requester,
    ) -> Result<Option<Self>, Error> {
        let view = store.view(Wanted::Newest).await?;
        let definition = registries::resource().definition;
        let all = view.list(&definition, namespace)?;
        let all = all.map(|object| Spec::of(&object?).map_err(Error::internal));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        Ok((!all.is_empty()).then_some(Self { all, cluster, namespace, requester }))
    }

    async fn ready(&self, spec: &Spec) -> Result<Registry, String> {
        let place = match (&spec.config_map_ref, spec.kind.as_str()) {
            (Some(reference), _) => self.files(reference).await?,
            (None, "http") => {
                let (plain, credential) = (spec.is_plain(), self.credential(spec).await?);
                Place::Http { plain, credential }
            }
            (None, _) => Place::GitHub(self.credential(spec).await?),
        };
        Ok(Registry {
            prefix: spec.prefix().to_owned(),
            versioned: spec.is_versioned(),
            collections: spec.has_collections(),
            place,
        })
    }

    async fn files(&self, reference: &Reference) -> Result<Place, String> {
        let object = self.read("ConfigMap", "configmaps", &reference.name).await?;
        let text =
            |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
        let files: BTreeMap<_, _> =
            object["data"].as_object().into_iter().flatten().filter_map(text).collect();
        Ok(Place::Files { shown: format!("configmaps/{}", reference.name), files })
    }

    async fn credential(&self, spec: &Spec) -> Result<Option<Credential>, String> {
        let Some(reference) = &spec.credential_ref else { return Ok(None) };
        let object = self.read("Secret", "secrets", &reference.name).await?;
        let name = &reference.name;
        if object["type"] != CREDENTIAL {
            return Err(format!("Secret {name} of its registry is not of type {CREDENTIAL}"));
        }
        let value = |key: &str| {
            let bytes = STANDARD.decode(object["data"][key].as_str()?).ok()?;
            Some(String::from_utf8(bytes).ok()?.trim_end().to_owned())
        };
        let credential = match reference.key.as_deref() {
            Some(key) => value(key).and_then(|token| Credential::token(&token)),
            None => match (value("token"), value("username"), value("password")) {
                (Some(token), _, _) => Credential::token(&token),
                (None, Some(user), Some(password)) => Credential::basic(&user, &password),
                _ => None,
            },
        };
        let missing = || format!("Secret {name} of its registry holds no credential");
        credential.map(Some).ok_or_else(missing)
    }

    /// An object of the namespace, read as the requester.
    async fn read(&self, kind: &str, resource: &str, name: &str) -> Result<Value, String> {
        let target = Target {
            api_version: "v1".to_owned(),
            kind: kind.to_owned(),
            resource: resource.to_owned(),
            namespace: self.namespace.to_owned(),
            object_name: name.to_owned(),
        };
        let unread = |why: &dyn std::fmt::Display| format!("{kind} {name} of its registry: {why}");
        let access = Access { verb: Verb::Get, target: target.clone() };
        let review = self.cluster.review(self.requester, &access).await;
        if let Err(why) = review.map_err(|error| unread(&error))? {
            let user = &self.requester.username;
            let why = if why.is_empty() { why } else { format!(": {why}") };
            return Err(unread(&format_args!("user {user:?} may not get it{why}")));
        }
        let found = self.cluster.get(self.requester, &target).await;
        found.map_err(|error| unread(&error))?.ok_or_else(|| unread(&"it is not there"))
    }
}

impl Registries for Known<'_> {
    fn of<'a>(&'a self, name: &'a str) -> Finding<'a> {
        Box::pin(async move {
            let fits = self.all.iter().filter(|spec| within(name, spec.prefix()).is_some());
            match fits.max_by_key(|spec| spec.prefix().len()) {
                Some(spec) => self.ready(spec).await.map(Some),
                None => Ok(None),
            }
        })
    }
}

#[cfg(test)]
mod tests;
