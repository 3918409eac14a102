//! The operations of one resource: its verbs, on each of its paths.

use schema::{Schema, meta};

use super::operation::{Api, Body, Content, Kind, MEDIA, Operation, Place, Success, camel};
use super::parameter::{self, Parameter};
use crate::resource::{Action, Definition, Resource, Serves, Subresource};

const WATCHABLE: &[&str] =
    &["application/json", "application/yaml", "application/json;stream=watch"];
/// What a PATCH may be. kubectl sends a strategic merge patch only where it is listed.
const PATCHES: &[&str] = &["application/json-patch+json", "application/merge-patch+json"];

/// Adds the operations of a resource and its subresources.
pub(super) fn describe(api: &mut Api, place: &Place, resource: &Resource) {
    let definition = &resource.definition;
    let described = Described {
        place,
        definition,
        paths: Paths::of(definition),
        kind: api.content(&definition.schema),
    };
    match &resource.serves {
        Serves::Created(_) => described.created(api),
        Serves::Computed(_) => described.computed(api),
        Serves::Stored(strategy) | Serves::Kept(strategy) => {
            let written = resource.allows("create");
            described.collection(api, written);
            let deleted = if strategy.returns_deleted() {
                described.kind.clone()
            } else {
                api.content(&meta::status())
            };
            described.object(api, written, deleted);
        }
    }
    for subresource in &resource.subresources {
        described.subresource(api, subresource);
    }
}

/// Where a resource is.
struct Paths {
    collection: String,
    object: String,
    /// The collection of all namespaces.
    everywhere: Option<String>,
    /// What the operations are named for: `NamespacedCart`.
    name: String,
}

impl Paths {
    fn of(definition: &Definition) -> Self {
        let Definition { group, version, plural, singular, kind, .. } = definition;
        let root = format!("/apis/{group}/{version}");
        // Several resources may answer the same kind.
        let name =
            if kind.to_lowercase() == *singular { (*kind).to_owned() } else { camel(singular) };
        if definition.is_namespaced() {
            let collection = format!("{root}/namespaces/{{namespace}}/{plural}");
            Self {
                object: format!("{collection}/{{name}}"),
                collection,
                everywhere: Some(format!("{root}/{plural}")),
                name: format!("Namespaced{name}"),
            }
        } else {
            let collection = format!("{root}/{plural}");
            Self { object: format!("{collection}/{{name}}"), collection, everywhere: None, name }
        }
    }
}

/// A resource, and what all of its operations need.
struct Described<'a> {
    place: &'a Place,
    definition: &'a Definition,
    paths: Paths,
    kind: Content,
}

impl Described<'_> {
    fn created(&self, api: &mut Api) {
        let kind = self.definition.kind;
        api.operations.push(Operation {
            description: format!("Answers a {kind}; nothing is stored."),
            ..self.post(&self.kind)
        });
    }

    fn computed(&self, api: &mut Api) {
        self.lists(api, "Lists", parameter::LIST_COMPUTED, MEDIA);
        let Paths { name, object, .. } = &self.paths;
        let what = format!("a {}", self.definition.kind);
        api.operations.push(self.read(&what, name, object));
    }

    /// Of a resource that is stored; `written` says whether by clients.
    fn collection(&self, api: &mut Api, written: bool) {
        self.lists(api, "Lists or watches", parameter::LIST, WATCHABLE);
        let status = api.content(&meta::status());
        let options = api.content(&meta::delete_options());
        let (kind, paths) = (self.definition.kind, &self.paths);
        if written {
            let description = format!("Creates a {kind}.");
            api.operations.push(Operation { description, ..self.post(&self.kind) });
        }
        let name = format!("Collection{}", paths.name);
        api.operations.push(Operation {
            description: format!("Deletes objects of kind {kind}."),
            parameters: parameter::DELETE_COLLECTION,
            body: Some(Body { content: options, media: MEDIA, required: false }),
            answer: status,
            ..self.operation("delete", "deletecollection", "delete", &name, &paths.collection)
        });
    }

    /// The GETs of the collection, and of the one of all namespaces.
    fn lists(
        &self,
        api: &mut Api,
        does: &str,
        parameters: &'static [Parameter],
        produces: &'static [&'static str],
    ) {
        let answer = api.content(&Schema::list_of(&self.definition.schema));
        let (kind, paths) = (self.definition.kind, &self.paths);
        let everywhere = paths
            .everywhere
            .iter()
            .map(|path| (path, format!("{kind}ForAllNamespaces"), " in all namespaces"));
        let places = std::iter::once((&paths.collection, paths.name.clone(), "")).chain(everywhere);
        let operations = places.map(|(path, name, of)| Operation {
            description: format!("{does} objects of kind {kind}{of}."),
            parameters,
            answer: answer.clone(),
            produces,
            ..self.operation("get", "list", "list", &name, path)
        });
        api.operations.extend(operations);
    }

    fn object(&self, api: &mut Api, written: bool, deleted: Content) {
        let options = api.content(&meta::delete_options());
        let Paths { name, object, .. } = &self.paths;
        let what = format!("a {}", self.definition.kind);
        api.operations.push(self.read(&what, name, object));
        if written {
            let changes = self.changes(api, &what, name, object);
            api.operations.extend(changes);
        }
        api.operations.push(Operation {
            description: format!("Deletes {what}."),
            parameters: parameter::DELETE,
            body: Some(Body { content: options, media: MEDIA, required: false }),
            answer: deleted,
            ..self.operation("delete", "delete", "delete", name, object)
        });
    }

    /// What reads an object, or its status.
    fn read(&self, what: &str, name: &str, path: &str) -> Operation {
        Operation {
            description: format!("Reads {what}."),
            ..self.operation("get", "get", "read", name, path)
        }
    }

    /// What writes an object, or its status.
    fn changes(&self, api: &mut Api, what: &str, name: &str, path: &str) -> Vec<Operation> {
        let patch = api.content(&meta::patch());
        let operation = |method, verb| self.operation(method, method, verb, name, path);
        let body = |content, media| Some(Body { content, media, required: true });
        vec![
            Operation {
                description: format!("Replaces {what}."),
                parameters: parameter::WRITE,
                body: body(self.kind.clone(), MEDIA),
                ..operation("put", "replace")
            },
            Operation {
                description: format!("Changes parts of {what}."),
                parameters: parameter::WRITE,
                body: body(patch, PATCHES),
                ..operation("patch", "patch")
            },
        ]
    }

    fn subresource(&self, api: &mut Api, subresource: &Subresource) {
        let (parent, own) = (self.definition, &subresource.definition);
        let content = api.content(&own.schema);
        let described = Described {
            place: self.place,
            definition: own,
            paths: Paths {
                collection: format!("{}/{}", self.paths.object, subresource.name),
                object: String::new(),
                everywhere: None,
                name: format!("{}{}", self.paths.name, camel(subresource.name)),
            },
            kind: content.clone(),
        };
        let Paths { name, collection: path, .. } = &described.paths;
        let what = format!("the {} of a {}", subresource.name, parent.kind);
        let operations = match &subresource.action {
            Action::Post(_) => vec![Operation {
                description: format!(
                    "Answers a {} to a {}; nothing is stored.",
                    parent.kind, own.kind
                ),
                answer: self.kind.clone(),
                ..described.post(&content)
            }],
            Action::Get(get) => {
                let parameters = get.parameters();
                vec![Operation { parameters, ..described.read(&what, name, path) }]
            }
            Action::Status => {
                let mut operations = described.changes(api, &what, name, path);
                operations.push(described.read(&what, name, path));
                operations
            }
        };
        api.operations.extend(operations);
    }

    /// A POST to the collection.
    fn post(&self, body: &Content) -> Operation {
        let Paths { name, collection, .. } = &self.paths;
        Operation {
            parameters: parameter::WRITE,
            body: Some(Body { content: body.clone(), media: MEDIA, required: true }),
            success: Success::Created,
            ..self.operation("post", "post", "create", name, collection)
        }
    }

    fn operation(
        &self,
        method: &'static str,
        action: &'static str,
        verb: &str,
        name: &str,
        path: &str,
    ) -> Operation {
        let Definition { group, version, kind, .. } = *self.definition;
        Operation {
            path: path.to_owned(),
            method,
            id: format!("{verb}{}{name}", self.place.prefix),
            tag: self.place.tag.clone(),
            description: String::new(),
            about: Some((action, Kind { group, version, kind })),
            parameters: &[],
            body: None,
            success: Success::Ok,
            answer: self.kind.clone(),
            produces: MEDIA,
        }
    }
}
