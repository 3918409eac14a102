//! The operations of an API, before either version of OpenAPI writes them down. There is one for every
//! verb that discovery lists; what is answered under several codes is told for the usual one.

use schema::{Schema, meta};

use super::parameter::{self, Parameter};
use crate::resource::{Action, ApiGroup, ApiVersion, Definition, Resource, Serves, Subresource};

/// What bodies may be, and what answers can be.
pub(super) const MEDIA: &[&str] = &["application/json", "application/yaml"];
const WATCHABLE: &[&str] =
    &["application/json", "application/yaml", "application/json;stream=watch"];
/// What a PATCH may be. kubectl sends a strategic merge patch only where it is listed.
const PATCHES: &[&str] = &["application/json-patch+json", "application/merge-patch+json"];

/// Operations, and the schemas that they refer to.
#[derive(Default)]
pub(super) struct Api {
    pub(super) operations: Vec<Operation>,
    pub(super) schemas: Vec<Schema>,
}

/// A method of a path.
pub(super) struct Operation {
    pub(super) path: String,
    /// The method in lower case.
    pub(super) method: &'static str,
    pub(super) id: String,
    pub(super) tag: String,
    pub(super) description: String,
    /// The verb as upstream names it here, and the kind that it is about.
    pub(super) about: Option<(&'static str, Kind)>,
    /// Parameters in the query besides `pretty`.
    pub(super) parameters: &'static [Parameter],
    pub(super) body: Option<Body>,
    pub(super) success: Success,
    pub(super) answer: Content,
    pub(super) produces: &'static [&'static str],
}

/// The usual outcome.
#[derive(Clone, Copy)]
pub(super) enum Success {
    Ok,
    Created,
}

/// A group, version and kind.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
}

/// The body of a request.
pub(super) struct Body {
    pub(super) content: Content,
    pub(super) media: &'static [&'static str],
    pub(super) required: bool,
}

/// What stands in a body.
#[derive(Clone)]
pub(super) enum Content {
    /// A kind with a definition of this name.
    Defined(String),
    /// Any JSON object.
    Object,
}

impl Success {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Ok => "200",
            Self::Created => "201",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Created => "Created",
        }
    }
}

impl Api {
    /// What `/apis/G` answers.
    pub(super) fn of_group(group: &ApiGroup) -> Self {
        let schema = meta::api_group();
        let operation = Operation {
            id: format!("get{}APIGroup", camel(group.name)),
            tag: lower_first(&camel(group.name)),
            ..discovery(format!("/apis/{}/", group.name), "Reads the group's versions.", &schema)
        };
        Self { operations: vec![operation], schemas: vec![schema] }
    }

    /// What `/apis/G/V` and everything below it answer.
    pub(super) fn of_version(group: &ApiGroup, version: &ApiVersion) -> Self {
        let schema = meta::api_resource_list();
        let place = Place::new(group.name, version.name);
        let path = format!("/apis/{}/{}/", group.name, version.name);
        let operation = Operation {
            id: format!("get{}APIResources", place.prefix),
            tag: place.tag.clone(),
            ..discovery(path, "Reads the version's resources.", &schema)
        };
        let mut api = Self { operations: vec![operation], schemas: vec![schema] };
        for resource in &version.resources {
            api.resource(&place, resource);
        }
        api
    }

    /// Moves everything out of `other`.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.operations.append(&mut other.operations);
        self.schemas.append(&mut other.schemas);
    }

    fn resource(&mut self, place: &Place, resource: &Resource) {
        let definition = &resource.definition;
        let paths = Paths::of(definition);
        let kind = self.content(&definition.schema);
        match &resource.serves {
            Serves::Created(_) => {
                let operation = Made {
                    place,
                    definition,
                    method: "post",
                    action: "post",
                    verb: "create",
                    name: paths.name(),
                };
                self.add(operation.at(&paths.collection), |operation| Operation {
                    description: format!("Answers a {}; nothing is stored.", definition.kind),
                    parameters: parameter::WRITE,
                    body: Some(body(&kind, true)),
                    success: Success::Created,
                    answer: kind.clone(),
                    ..operation
                });
            }
            Serves::Stored(strategy) => {
                self.collection(place, definition, &paths, &kind);
                let deleted = if strategy.returns_deleted() {
                    kind.clone()
                } else {
                    self.content(&meta::status())
                };
                self.object(place, definition, &paths, &kind, &deleted);
            }
        }
        for subresource in &resource.subresources {
            self.subresource(place, definition, &paths, &kind, subresource);
        }
    }

    fn collection(
        &mut self,
        place: &Place,
        definition: &Definition,
        paths: &Paths,
        kind: &Content,
    ) {
        let list = self.content(&Schema::list_of(&definition.schema));
        let status = self.content(&meta::status());
        let options = self.content(&meta::delete_options());
        let name = definition.kind;
        let made =
            |method, action, verb, name| Made { place, definition, method, action, verb, name };
        self.add(made("get", "list", "list", paths.name()).at(&paths.collection), |operation| {
            Operation {
                description: format!("Lists or watches objects of kind {name}."),
                parameters: parameter::LIST,
                answer: list.clone(),
                produces: WATCHABLE,
                ..operation
            }
        });
        self.add(made("post", "post", "create", paths.name()).at(&paths.collection), |operation| {
            Operation {
                description: format!("Creates a {name}."),
                parameters: parameter::WRITE,
                body: Some(body(kind, true)),
                success: Success::Created,
                answer: kind.clone(),
                ..operation
            }
        });
        let all = format!("Collection{}", paths.name());
        self.add(
            made("delete", "deletecollection", "delete", all).at(&paths.collection),
            |operation| Operation {
                description: format!("Deletes objects of kind {name}."),
                parameters: parameter::DELETE_COLLECTION,
                body: Some(body(&options, false)),
                answer: status,
                ..operation
            },
        );
        if let Some(everywhere) = &paths.everywhere {
            let all = format!("{name}ForAllNamespaces");
            self.add(made("get", "list", "list", all).at(everywhere), |operation| Operation {
                description: format!("Lists or watches objects of kind {name} in all namespaces."),
                parameters: parameter::LIST,
                answer: list,
                produces: WATCHABLE,
                ..operation
            });
        }
    }

    fn object(
        &mut self,
        place: &Place,
        definition: &Definition,
        paths: &Paths,
        kind: &Content,
        deleted: &Content,
    ) {
        let options = self.content(&meta::delete_options());
        let patch = self.content(&meta::patch());
        let name = definition.kind;
        let made = |method, verb| {
            Made { place, definition, method, action: method, verb, name: paths.name() }
                .at(&paths.object)
        };
        self.add(made("get", "read"), |operation| Operation {
            description: format!("Reads a {name}."),
            answer: kind.clone(),
            ..operation
        });
        self.add(made("put", "replace"), |operation| Operation {
            description: format!("Replaces a {name}."),
            parameters: parameter::WRITE,
            body: Some(body(kind, true)),
            answer: kind.clone(),
            ..operation
        });
        self.add(made("delete", "delete"), |operation| Operation {
            description: format!("Deletes a {name}."),
            parameters: parameter::DELETE,
            body: Some(body(&options, false)),
            answer: deleted.clone(),
            ..operation
        });
        self.add(made("patch", "patch"), |operation| Operation {
            description: format!("Changes parts of a {name}."),
            parameters: parameter::WRITE,
            body: Some(Body { content: patch, media: PATCHES, required: true }),
            answer: kind.clone(),
            ..operation
        });
    }

    fn subresource(
        &mut self,
        place: &Place,
        parent: &Definition,
        paths: &Paths,
        kind: &Content,
        subresource: &Subresource,
    ) {
        let definition = &subresource.definition;
        let own = self.content(&definition.schema);
        let path = format!("{}/{}", paths.object, subresource.name);
        let name = format!("{}{}", paths.name(), camel(subresource.name));
        let made = |method, action, verb| {
            Made { place, definition, method, action, verb, name: name.clone() }.at(&path)
        };
        match &subresource.action {
            Action::Post(_) => self.add(made("post", "post", "create"), |operation| Operation {
                description: format!(
                    "Answers a {} to a {}; nothing is stored.",
                    parent.kind, definition.kind
                ),
                parameters: parameter::WRITE,
                body: Some(body(&own, true)),
                success: Success::Created,
                answer: kind.clone(),
                ..operation
            }),
            Action::Get(_) => self.add(made("get", "get", "read"), |operation| Operation {
                description: format!("Reads {} of a {}.", subresource.name, parent.kind),
                answer: own,
                ..operation
            }),
        }
    }

    fn add(&mut self, operation: Operation, complete: impl FnOnce(Operation) -> Operation) {
        self.operations.push(complete(operation));
    }

    /// A reference to a schema, which is remembered.
    fn content(&mut self, schema: &Schema) -> Content {
        let Some(name) = schema.definition() else { return Content::Object };
        let name = name.to_owned();
        if !self.schemas.iter().any(|known| known.definition() == Some(&name)) {
            self.schemas.push(schema.clone());
        }
        Content::Defined(name)
    }
}

/// What the operations of an API version share.
struct Place {
    /// In names: `ShopExampleV1`.
    prefix: String,
    /// `shopExample_v1`.
    tag: String,
}

impl Place {
    fn new(group: &str, version: &str) -> Self {
        let camel_group = camel(group);
        let tag = format!("{}_{version}", lower_first(&camel_group));
        Self { prefix: format!("{camel_group}{}", camel(version)), tag }
    }
}

/// Where a resource is.
struct Paths {
    collection: String,
    object: String,
    /// The collection of all namespaces.
    everywhere: Option<String>,
    /// What its operations are named for.
    subject: String,
    scope: &'static str,
}

impl Paths {
    fn of(definition: &Definition) -> Self {
        let Definition { group, version, plural, singular, kind, .. } = definition;
        let root = format!("/apis/{group}/{version}");
        let namespaced = definition.is_namespaced();
        let collection = if namespaced {
            format!("{root}/namespaces/{{namespace}}/{plural}")
        } else {
            format!("{root}/{plural}")
        };
        // Several resources may answer the same kind.
        let subject =
            if kind.to_lowercase() == *singular { (*kind).to_owned() } else { camel(singular) };
        Self {
            object: format!("{collection}/{{name}}"),
            everywhere: namespaced.then(|| format!("{root}/{plural}")),
            collection,
            subject,
            scope: if namespaced { "Namespaced" } else { "" },
        }
    }

    fn name(&self) -> String {
        format!("{}{}", self.scope, self.subject)
    }
}

/// The beginning of an operation.
struct Made<'a> {
    place: &'a Place,
    definition: &'a Definition,
    method: &'static str,
    action: &'static str,
    verb: &'static str,
    name: String,
}

impl Made<'_> {
    fn at(self, path: &str) -> Operation {
        let Definition { group, version, kind, .. } = *self.definition;
        Operation {
            path: path.to_owned(),
            method: self.method,
            id: format!("{}{}{}", self.verb, self.place.prefix, self.name),
            tag: self.place.tag.clone(),
            description: String::new(),
            about: Some((self.action, Kind { group, version, kind })),
            parameters: &[],
            body: None,
            success: Success::Ok,
            answer: Content::Object,
            produces: MEDIA,
        }
    }
}

fn discovery(path: String, description: &str, schema: &Schema) -> Operation {
    Operation {
        path,
        method: "get",
        id: String::new(),
        tag: String::new(),
        description: description.to_owned(),
        about: None,
        parameters: &[],
        body: None,
        success: Success::Ok,
        answer: schema
            .definition()
            .map_or(Content::Object, |name| Content::Defined(name.to_owned())),
        produces: MEDIA,
    }
}

fn body(content: &Content, required: bool) -> Body {
    Body { content: content.clone(), media: MEDIA, required }
}

/// `shop.example` as `ShopExample`.
fn camel(name: &str) -> String {
    let capital = |part: &str| {
        let (first, rest) = part.split_at(part.chars().next().map_or(0, char::len_utf8));
        first.to_uppercase() + rest
    };
    name.trim_end_matches(".k8s.io").split(['.', '-']).map(capital).collect()
}

fn lower_first(name: &str) -> String {
    let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
    first.to_lowercase() + rest
}
