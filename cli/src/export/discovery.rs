//! Which kinds the server has, and what kubectl's users call them.
//!
//! kube-rs's own discovery drops short names, so only its types are used here.
//! Of a resource served in several versions the group's preferred one is kept.

use anyhow::Context;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroupList, APIResource, APIResourceList};
use kube::core::discovery::v2::{
    ACCEPT_AGGREGATED_DISCOVERY_V2, APIGroupDiscovery, APIGroupDiscoveryList, APIResourceDiscovery,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::client::{Client, Refused, Warnings};

/// Kinds that record what happens and are never part of an application, by group and plural.
const RECORDS: [(&str, &str); 7] = [
    ("", "events"),
    ("events.k8s.io", "events"),
    ("coordination.k8s.io", "leases"),
    ("metrics.k8s.io", "pods"),
    // A template in a template: the outer parameters would be put into it.
    ("template.openshift.io", "templates"),
    ("formwork.dev", "templates"),
    ("template.openshift.io", "templateinstances"),
];

/// A kind as the server serves it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Resource {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) plural: String,
    pub(super) singular: String,
    pub(super) short_names: Vec<String>,
    pub(super) is_namespaced: bool,
    pub(super) verbs: Vec<String>,
}

impl Resource {
    /// `apiVersion` of its objects.
    pub(super) fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Its URL path in `namespace`.
    pub(super) fn path(&self, namespace: &str) -> String {
        let root = if self.group.is_empty() { "api" } else { "apis" };
        format!("/{root}/{}/namespaces/{namespace}/{}", self.api_version(), self.plural)
    }

    /// Whether it has a verb.
    pub(super) fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|one| one == verb)
    }

    /// Whether `name` means it: plural, singular, kind or short name, with or without the group
    /// (`deployments.apps`) and the version (`deployments.v1.apps`).
    pub(super) fn is_called(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let (name, qualifier) = name.split_once('.').unwrap_or((&name, ""));
        let is_name = name == self.plural
            || name == self.singular
            || name == self.kind.to_lowercase()
            || self.short_names.iter().any(|short| short == name);
        is_name
            && (qualifier.is_empty()
                || qualifier == self.group
                || qualifier.strip_prefix(&self.version).and_then(|rest| rest.strip_prefix('.'))
                    == Some(&self.group))
    }

    /// Whether `export all` takes it: it can be created by a template in a namespace.
    pub(super) fn is_template_material(&self) -> bool {
        let is_record =
            RECORDS.iter().any(|(group, plural)| *group == self.group && *plural == self.plural);
        self.is_namespaced && self.can("list") && self.can("create") && !is_record
    }
}

/// All resources of the server, the core group's first, subresources left out.
///
/// # Errors
/// When the server does not answer. A group that does not answer is left out with a warning.
pub(super) async fn resources(client: &Client) -> anyhow::Result<Vec<Resource>> {
    let core = aggregated(client, "/api").await?;
    let groups = aggregated(client, "/apis").await?;
    let Some(groups) = groups else {
        return one_by_one(client).await;
    };
    Ok(core.iter().flatten().chain(&groups).flat_map(of_group).collect())
}

/// The groups below `root`. Nothing if the server answers in the form from before 1.26, one
/// request for each group.
async fn aggregated(client: &Client, root: &str) -> anyhow::Result<Option<Vec<APIGroupDiscovery>>> {
    let text = match client.get_as(root, ACCEPT_AGGREGATED_DISCOVERY_V2, Warnings::Print).await {
        Ok(text) => text,
        // Formwork by itself has no core group.
        Err(Refused::Status(status)) if status.code == 404 => return Ok(None),
        Err(refused) => return Err(refused.into()),
    };
    let answer: Value = parse(root, &text)?;
    if answer["kind"] == "APIGroupDiscoveryList" {
        let list: APIGroupDiscoveryList = parse(root, &text)?;
        Ok(Some(list.items))
    } else {
        Ok(None)
    }
}

fn parse<T: DeserializeOwned>(path: &str, text: &str) -> anyhow::Result<T> {
    serde_json::from_str(text).with_context(|| format!("answer of {path}"))
}

fn of_group(group: &APIGroupDiscovery) -> Vec<Resource> {
    let metadata = group.metadata.clone().unwrap_or_default();
    let name = metadata.name.unwrap_or_default();
    let mut resources: Vec<Resource> = Vec::new();
    for version in &group.versions {
        let version_name = version.version.clone().unwrap_or_default();
        for resource in &version.resources {
            let resource = of_resource(&name, &version_name, resource);
            if !resources.iter().any(|other| other.plural == resource.plural) {
                resources.push(resource);
            }
        }
    }
    resources
}

fn of_resource(group: &str, version: &str, resource: &APIResourceDiscovery) -> Resource {
    let kind = resource.response_kind.as_ref().and_then(|kind| kind.kind.clone());
    Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.unwrap_or_default(),
        plural: resource.resource.clone().unwrap_or_default(),
        singular: resource.singular_resource.clone().unwrap_or_default(),
        short_names: resource.short_names.clone(),
        is_namespaced: resource.scope.as_deref() == Some("Namespaced"),
        verbs: resource.verbs.clone(),
    }
}

/// Discovery by one request for each group, in its preferred version.
async fn one_by_one(client: &Client) -> anyhow::Result<Vec<Resource>> {
    let mut resources = match client.get("/api/v1").await {
        Ok(text) => of_list(&parse("/api/v1", &text)?),
        Err(Refused::Status(status)) if status.code == 404 => Vec::new(),
        Err(refused) => return Err(refused.into()),
    };
    let groups: APIGroupList = parse("/apis", &client.get("/apis").await?)?;
    for group in groups.groups {
        let version = group.preferred_version.or_else(|| group.versions.into_iter().next());
        let Some(version) = version.map(|version| version.group_version) else {
            continue;
        };
        let path = format!("/apis/{version}");
        match client.get(&path).await {
            Ok(text) => resources.extend(of_list(&parse(&path, &text)?)),
            Err(Refused::Status(status)) => {
                eprintln!("Warning: couldn't get resource list for {version}: {}", status.message);
            }
            Err(refused) => return Err(refused.into()),
        }
    }
    Ok(resources)
}

fn of_list(list: &APIResourceList) -> Vec<Resource> {
    let (group, version) = list.group_version.split_once('/').unwrap_or(("", &list.group_version));
    let is_main = |resource: &&APIResource| !resource.name.contains('/');
    let resources = list.resources.iter().filter(is_main);
    resources
        .map(|resource| Resource {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: resource.kind.clone(),
            plural: resource.name.clone(),
            singular: resource.singular_name.clone(),
            short_names: resource.short_names.clone().unwrap_or_default(),
            is_namespaced: resource.namespaced,
            verbs: resource.verbs.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployments() -> Resource {
        Resource {
            group: "apps".into(),
            version: "v1".into(),
            kind: "Deployment".into(),
            plural: "deployments".into(),
            singular: "deployment".into(),
            short_names: vec!["deploy".into()],
            is_namespaced: true,
            verbs: vec!["list".into(), "create".into()],
        }
    }

    #[test]
    fn a_resource_has_the_names_that_kubectl_knows() {
        for name in [
            "deployments",
            "deployment",
            "Deployment",
            "deploy",
            "DEPLOY",
            "deployments.apps",
            "deploy.apps",
            "deployments.v1.apps",
        ] {
            assert!(deployments().is_called(name), "{name}");
        }
        for name in
            ["dep", "deployments.extensions", "deployments.v1", "deployments.v1beta1.apps", ""]
        {
            assert!(!deployments().is_called(name), "{name}");
        }
    }

    #[test]
    fn paths_have_the_group_unless_it_is_the_core_one() {
        assert_eq!(deployments().path("ns"), "/apis/apps/v1/namespaces/ns/deployments");
        let pods = Resource { group: String::new(), plural: "pods".into(), ..deployments() };
        assert_eq!(pods.path("ns"), "/api/v1/namespaces/ns/pods");
    }

    #[test]
    fn records_and_what_cannot_be_created_are_no_template_material() {
        assert!(deployments().is_template_material());
        let events = Resource { group: String::new(), plural: "events".into(), ..deployments() };
        assert!(!events.is_template_material());
        let readonly = Resource { verbs: vec!["list".into()], ..deployments() };
        assert!(!readonly.is_template_material());
        let cluster = Resource { is_namespaced: false, ..deployments() };
        assert!(!cluster.is_template_material());
    }

    #[test]
    fn the_first_version_of_a_group_is_preferred() {
        let group: APIGroupDiscovery = serde_json::from_str(
            r#"{"metadata":{"name":"g"},"versions":[
            {"version":"v2","resources":[{"resource":"as","responseKind":{"kind":"A"},"scope":"Namespaced","verbs":["list"]}]},
            {"version":"v1","resources":[{"resource":"as","responseKind":{"kind":"A"}},{"resource":"bs","responseKind":{"kind":"B"}}]}]}"#,
        )
        .unwrap();
        let found: Vec<_> =
            of_group(&group).iter().map(|r| format!("{}/{}", r.api_version(), r.plural)).collect();
        assert_eq!(found, ["g/v2/as", "g/v1/bs"]);
    }
}
