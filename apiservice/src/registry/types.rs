//! `types`: what the Deployments of a namespace are made of, templates and kinds of objects, each once.

use std::collections::{BTreeMap, BTreeSet};

use apiserver::meta::ObjectMeta;
use apiserver::object::Object;
use apiserver::resource::{Cell, Column, Compute, Context, Resource, Serves};
use apiserver::status::Error;
use apiserver::store::View;
use expansion::imports::{self, File};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::kinds;
use super::layouts::{Layout, Layouts, object};

struct Types(Layouts);

/// The resource.
pub fn resource() -> Resource {
    let serves = Serves::Computed(Box::new(Types(Layouts::new())));
    Resource::new(kinds::type_definition(), serves).selectable_by(&["type", "template"])
}

const COLUMNS: [Column; 2] = [
    Column::text("Type", "The type, as configurations and templates write it."),
    Column::text("Instances", "How many resources are of it."),
];

/// A type, as far as it is known.
#[derive(Debug, Default, Serialize)]
struct Type {
    #[serde(rename = "type")]
    kind: String,
    template: bool,
    instances: u64,
    deployments: BTreeSet<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<String>,
}

impl Compute for Types {
    fn list(&self, _: &Context<'_>, view: &View, namespace: &str) -> Result<Vec<Object>, Error> {
        let mut all: BTreeMap<(String, String), Type> = BTreeMap::new();
        for layout in self.0.current(view, namespace)? {
            let own = of_layout(&layout);
            for (kind, own) in own {
                let key = (layout.namespace().to_owned(), kind);
                let it = all.entry(key).or_default();
                it.instances += own.instances;
                it.template |= own.template;
                it.deployments.insert(layout.deployment.clone());
                it.schema = it.schema.take().or(own.schema);
            }
        }
        let each = all.into_iter().map(|((namespace, kind), it)| {
            let meta = ObjectMeta { name: segment(&kind), namespace, ..ObjectMeta::default() };
            object(meta, &Type { kind, ..it })
        });
        each.collect()
    }

    fn columns(&self) -> &'static [Column] {
        &COLUMNS
    }

    fn cells(&self, object: &Object) -> Vec<Cell> {
        ["type", "instances"].map(|field| object.fields.scalar(field).into()).into()
    }
}

/// What is read of the configuration of a Manifest.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Input {
    imports: Vec<Sent>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Sent {
    name: String,
    path: String,
    content: String,
}

/// What is read of the resources that are no templates.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Expanded {
    resources: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    #[serde(rename = "type")]
    kind: String,
}

/// The types of one layout.
fn of_layout(layout: &Layout) -> BTreeMap<String, Type> {
    let expanded: Expanded =
        serde_json::from_str(layout.member("expandedConfig")).unwrap_or_default();
    let primitive: BTreeSet<_> = expanded.resources.into_iter().map(|it| it.kind).collect();
    let mut types: BTreeMap<String, Type> = BTreeMap::new();
    for node in layout.nodes() {
        types.entry(node.kind.into_owned()).or_default().instances += 1;
    }
    let templates = types.iter_mut().filter(|(kind, _)| !primitive.contains(*kind));
    let mut templates: Vec<_> = templates.collect();
    if templates.is_empty() {
        return types;
    }
    let imports = imports(layout);
    for (kind, it) in &mut templates {
        it.template = true;
        let schema = imports.get(&format!("{kind}.schema"));
        it.schema = schema.map(|schema| schema.content.to_string());
    }
    types
}

/// The files of a Manifest, under all names that its configuration knows them by.
fn imports(layout: &Layout) -> expansion::Imports {
    let input: Input = serde_json::from_str(layout.member("inputConfig")).unwrap_or_default();
    let file = |Sent { name, path, content }| File { name, path, content: content.into() };
    let files: Vec<_> = input.imports.into_iter().map(file).collect();
    imports::named(&files).unwrap_or_default()
}

/// How much of a type is shown in a name.
const SHOWN: usize = 180;

/// A type as the name of an object: one segment of a path. What is changed for that has a hash at its
/// end, so that types stay apart.
fn segment(kind: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-:@+~".contains(c) { c } else { '-' };
    let name: String = kind.chars().map(plain).take(SHOWN).collect();
    if name == kind && !matches!(kind, "" | "." | "..") {
        return name;
    }
    let hash = Sha256::digest(kind);
    let short = hash.iter().take(4).map(|byte| format!("{byte:02x}"));
    format!("{name}-{}", short.collect::<String>())
}

#[cfg(test)]
mod tests;
