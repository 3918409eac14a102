//! What is served: groups, versions, resources and their verbs, in the three forms that clients ask
//! for. `/apis` lists the groups, `/apis/G` the versions, `/apis/G/V` the resources; the aggregated form
//! tells all in one document.
//!
//! Wrong verbs here stall other controllers: the garbage collector watches whatever can be watched,
//! and the namespace controller deletes whatever can be deleted. So everything follows from the same
//! [`ApiGroup`]s that requests are routed by. There is no core group: `/api` is known, and empty.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::codec::negotiate::{self, Wish};
use crate::codec::{Offer, Transform, Warnings, answer};
use crate::document::Document;
use crate::request::RequestInfo;
use crate::resource::{ApiGroup, ApiVersion, Definition, Resource, Scope, Subresource};
use crate::response::Response;
use crate::status::Error;

/// The discovery documents of a server.
pub struct Discovery {
    /// The plain documents by path, as JSON text.
    documents: BTreeMap<String, Vec<u8>>,
    /// All of `/apis` at once.
    aggregated: Document,
    /// All of `/api` at once: nothing.
    aggregated_core: Document,
}

impl Discovery {
    /// The documents about `groups`.
    pub fn new(groups: &[ApiGroup]) -> Self {
        let mut documents = BTreeMap::new();
        let mut add = |path: String, document: Vec<u8>| {
            documents.insert(path, document);
        };
        add("/api".to_owned(), json(&ApiVersions::default()));
        add("/apis".to_owned(), json(&ApiGroupList::new(groups)));
        for group in groups {
            let described = ApiGroupDocument::new(group);
            add(format!("/apis/{}", group.name), json(&Headed::new("APIGroup", described)));
            for version in &group.versions {
                let resources = ApiResourceList::new(group, version);
                add(format!("/apis/{}/{}", group.name, version.name), json(&resources));
            }
        }
        let aggregated = Document::new(&GroupDiscoveryList::new(groups));
        let aggregated_core = Document::new(&GroupDiscoveryList::new(&[]));
        Self { documents, aggregated, aggregated_core }
    }

    /// Answers a request for a discovery document. `None` when the path belongs to no group.
    pub fn answer(
        &self,
        method: &Method,
        info: &RequestInfo,
        headers: &HeaderMap,
    ) -> Option<Response> {
        let wish = Wish::new(headers, info.query.get("pretty"));
        let path = info.path.strip_suffix('/').unwrap_or(&info.path);
        let answered = match self.documents.get(path) {
            Some(_) if !matches!(*method, Method::GET | Method::HEAD) => {
                Err(Error::method_not_allowed())
            }
            Some(document) => self.document(path, document, headers, wish),
            // A version that a known group does not have.
            None => {
                let (group, version) = path.rsplit_once('/')?;
                let known = group != "/apis" && self.documents.contains_key(group);
                (known && !version.is_empty()).then_some(())?;
                Err(Error::no_route())
            }
        };
        Some(answered.unwrap_or_else(|error| answer::failure(&error, wish)))
    }

    fn document(
        &self,
        path: &str,
        document: &[u8],
        headers: &HeaderMap,
        wish: Wish<'_>,
    ) -> Result<Response, Error> {
        let aggregated = match path {
            "/apis" => Some(&self.aggregated),
            "/api" => Some(&self.aggregated_core),
            _ => None,
        };
        let offer = if aggregated.is_some() { Offer::Groups } else { Offer::Plain };
        let accepted = negotiate::negotiate(wish, offer)?;
        match aggregated.filter(|_| accepted.transform == Transform::AggregatedDiscovery) {
            Some(aggregated) => {
                let mut response = aggregated.answer(headers, accepted.content_type());
                let public = HeaderValue::from_static("public");
                response.headers_mut().insert(CACHE_CONTROL, public);
                Ok(response)
            }
            None => {
                let document = document.to_vec();
                answer::answer(StatusCode::OK, accepted, document, &Warnings::default())
            }
        }
    }
}

fn json(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(document).expect("names and lists are always JSON")
}

/// `base64(sha256(G/V/Kind)[..8])`: it changes when objects are stored in another version.
fn storage_version_hash(definition: &Definition) -> String {
    let Definition { group, version, kind, .. } = definition;
    STANDARD.encode(&Sha256::digest(format!("{group}/{version}/{kind}"))[..8])
}

/// The resources of a version, in the order of their names.
fn sorted(version: &ApiVersion) -> Vec<&Resource> {
    let mut resources: Vec<&Resource> = version.resources.iter().map(AsRef::as_ref).collect();
    resources.sort_by_key(|resource| resource.definition.plural);
    resources
}

fn sorted_subresources(resource: &Resource) -> Vec<&Subresource> {
    let mut subresources: Vec<&Subresource> = resource.subresources.iter().collect();
    subresources.sort_by_key(|subresource| subresource.name);
    subresources
}

// === The plain documents ===

#[derive(Serialize)]
struct Headed<T> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    #[serde(flatten)]
    document: T,
}

impl<T> Headed<T> {
    fn new(kind: &'static str, document: T) -> Self {
        Self { kind, api_version: "v1", document }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiVersions {
    kind: &'static str,
    versions: [&'static str; 0],
    #[serde(rename = "serverAddressByClientCIDRs")]
    server_address_by_client_cidrs: [&'static str; 0],
}

impl Default for ApiVersions {
    fn default() -> Self {
        Self { kind: "APIVersions", versions: [], server_address_by_client_cidrs: [] }
    }
}

#[derive(Serialize)]
struct ApiGroupList<'a> {
    groups: Vec<ApiGroupDocument<'a>>,
}

impl<'a> ApiGroupList<'a> {
    fn new(groups: &'a [ApiGroup]) -> Headed<Self> {
        let groups = groups.iter().map(ApiGroupDocument::new).collect();
        Headed::new("APIGroupList", Self { groups })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiGroupDocument<'a> {
    name: &'a str,
    versions: Vec<GroupVersion<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preferred_version: Option<GroupVersion<'a>>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupVersion<'a> {
    group_version: String,
    version: &'a str,
}

impl<'a> ApiGroupDocument<'a> {
    fn new(group: &'a ApiGroup) -> Self {
        let versions: Vec<GroupVersion<'a>> = group
            .versions
            .iter()
            .map(|version| GroupVersion {
                group_version: format!("{}/{}", group.name, version.name),
                version: version.name,
            })
            .collect();
        let preferred_version = versions.first().cloned();
        Self { name: group.name, versions, preferred_version }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiResourceList<'a> {
    group_version: String,
    resources: Vec<ApiResource<'a>>,
}

/// A resource or a subresource. Group and version stand there only if they are not those of the list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiResource<'a> {
    name: String,
    singular_name: &'a str,
    namespaced: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'a str,
    kind: &'a str,
    verbs: &'a [&'a str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'a [&'a str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_version_hash: Option<String>,
}

impl<'a> ApiResourceList<'a> {
    fn new(group: &'a ApiGroup, version: &'a ApiVersion) -> Headed<Self> {
        let mut resources = Vec::new();
        for resource in sorted(version) {
            resources.push(ApiResource::of_resource(resource));
            for subresource in sorted_subresources(resource) {
                resources.push(ApiResource::of_subresource(resource, subresource));
            }
        }
        let group_version = format!("{}/{}", group.name, version.name);
        Headed::new("APIResourceList", Self { group_version, resources })
    }
}

impl<'a> ApiResource<'a> {
    fn of_resource(resource: &'a Resource) -> Self {
        let definition = &resource.definition;
        let stored = resource.strategy().is_some();
        Self {
            name: definition.plural.to_owned(),
            singular_name: definition.singular,
            namespaced: definition.is_namespaced(),
            group: "",
            version: "",
            kind: definition.kind,
            verbs: resource.verbs(),
            short_names: definition.short_names,
            categories: definition.categories,
            storage_version_hash: stored.then(|| storage_version_hash(definition)),
        }
    }

    fn of_subresource(resource: &'a Resource, subresource: &'a Subresource) -> Self {
        let (parent, own) = (&resource.definition, &subresource.definition);
        let elsewhere = (own.group, own.version) != (parent.group, parent.version);
        Self {
            name: format!("{}/{}", parent.plural, subresource.name),
            singular_name: "",
            namespaced: parent.is_namespaced(),
            group: if elsewhere { own.group } else { "" },
            version: if elsewhere { own.version } else { "" },
            kind: own.kind,
            verbs: subresource.verbs(),
            short_names: &[],
            categories: &[],
            storage_version_hash: None,
        }
    }
}

// === The aggregated document, apidiscovery.k8s.io/v2 ===

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupDiscoveryList<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: Empty,
    items: Vec<GroupDiscovery<'a>>,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct GroupDiscovery<'a> {
    metadata: Named<'a>,
    versions: Vec<VersionDiscovery<'a>>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct VersionDiscovery<'a> {
    version: &'a str,
    resources: Vec<ResourceDiscovery<'a>>,
    freshness: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceDiscovery<'a> {
    resource: &'a str,
    /// Never absent: some clients dereference it unseen.
    response_kind: ResponseKind<'a>,
    scope: &'static str,
    singular_resource: &'a str,
    verbs: &'a [&'a str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'a [&'a str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'a [&'a str],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subresources: Vec<SubresourceDiscovery<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SubresourceDiscovery<'a> {
    subresource: &'a str,
    response_kind: ResponseKind<'a>,
    verbs: &'a [&'a str],
}

#[derive(Serialize)]
struct ResponseKind<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
}

impl<'a> ResponseKind<'a> {
    fn new(definition: &'a Definition) -> Self {
        Self { group: definition.group, version: definition.version, kind: definition.kind }
    }
}

impl<'a> GroupDiscoveryList<'a> {
    fn new(groups: &'a [ApiGroup]) -> Self {
        let items = groups
            .iter()
            .map(|group| GroupDiscovery {
                metadata: Named { name: group.name },
                versions: group.versions.iter().map(VersionDiscovery::new).collect(),
            })
            .collect();
        Self {
            kind: "APIGroupDiscoveryList",
            api_version: "apidiscovery.k8s.io/v2",
            metadata: Empty {},
            items,
        }
    }
}

impl<'a> VersionDiscovery<'a> {
    fn new(version: &'a ApiVersion) -> Self {
        let resources = sorted(version).into_iter().map(ResourceDiscovery::new).collect();
        Self { version: version.name, resources, freshness: "Current" }
    }
}

impl<'a> ResourceDiscovery<'a> {
    fn new(resource: &'a Resource) -> Self {
        let definition = &resource.definition;
        let subresources = sorted_subresources(resource)
            .into_iter()
            .map(|subresource| SubresourceDiscovery {
                subresource: subresource.name,
                response_kind: ResponseKind::new(&subresource.definition),
                verbs: subresource.verbs(),
            })
            .collect();
        Self {
            resource: definition.plural,
            response_kind: ResponseKind::new(definition),
            scope: match definition.scope {
                Scope::Namespaced => "Namespaced",
                Scope::Cluster => "Cluster",
            },
            singular_resource: definition.singular,
            verbs: resource.verbs(),
            short_names: definition.short_names,
            categories: definition.categories,
            subresources,
        }
    }
}

#[cfg(test)]
mod tests;
