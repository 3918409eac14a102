//! `export`: objects of a namespace, as a template that makes them anew elsewhere.
//!
//! What the server or a controller put into an object is left out, and so are objects that exist
//! only because another one does ([`rules`] has both tables). No parameters are made up: which
//! values should be parameters, the author knows better.

mod clean;
mod discovery;
mod rules;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{anyhow, bail};
use processor::Dialect;
use serde_json::{Value, json};

use crate::args::{Connection, Export, ExportDialect, ExportFormat};
use crate::client::{Client, JSON, Refused, Warnings, percent_encoded};
use crate::{json_text, output};
use discovery::Resource;

/// Objects asked for at a time, as kubectl does.
const CHUNK: usize = 500;

/// Kinds that others refer to, in the order in which they should come before them.
const FIRST: [&str; 8] = [
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "Secret",
    "ConfigMap",
    "PersistentVolumeClaim",
    "Service",
    "Deployment",
];

/// Runs the command.
///
/// # Errors
/// When a kind does not exist or cannot be listed, or nothing is there to export.
pub(crate) async fn run(args: Export, connection: &Connection) -> anyhow::Result<()> {
    let client = Client::new(connection).await?;
    let served = discovery::resources(&client).await?;
    let is_all = args.kinds == ["all"];
    let wanted: Vec<&Resource> = if is_all {
        served.iter().filter(|resource| resource.is_template_material()).collect()
    } else {
        named(&args.kinds, &served)?
    };

    let mut exported = Exported::default();
    for resource in wanted {
        let selector = args.selector.as_deref();
        // Whoever asks for everything did not ask for the deprecated kinds in it.
        let warnings = if is_all { Warnings::Drop } else { Warnings::Print };
        match list(&client, resource, selector, warnings).await {
            Ok(objects) => exported.take(resource, objects),
            // Of all kinds, some are forbidden or broken for most users.
            Err(Refused::Status(status)) if is_all => {
                eprintln!("Warning: no {} are exported: {}", resource.plural, status.message);
            }
            Err(refused) => return Err(refused.into()),
        }
    }
    exported.leave_out_claims_of_sets();
    exported.tell();
    if exported.objects.is_empty() {
        bail!("nothing to export in namespace {:?}", client.namespace());
    }
    let dialect = match args.dialect {
        ExportDialect::Openshift => Dialect::OpenShift,
        ExportDialect::Proposal => Dialect::Proposal,
    };
    let template = template(&args.name, dialect, exported.objects);
    if let Some(warning) = surprise(&template, dialect) {
        eprintln!("Warning: {warning}");
    }
    output::to_stdout(&match args.output {
        ExportFormat::Json => json_text::indent(&template.to_string()),
        ExportFormat::Yaml => yaml::from_json(&template.to_string())?,
    })
}

/// The resources that `names` mean, each once.
fn named<'r>(names: &[String], served: &'r [Resource]) -> anyhow::Result<Vec<&'r Resource>> {
    let mut seen = BTreeSet::new();
    let mut resources = Vec::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        let resource = served
            .iter()
            .find(|resource| resource.is_called(name))
            .ok_or_else(|| anyhow!("the server doesn't have a resource type {name:?}"))?;
        if !resource.is_namespaced {
            bail!("{} are not in a namespace; a namespace's objects are exported", resource.plural);
        }
        if !resource.can("list") {
            bail!("{} cannot be listed", resource.plural);
        }
        if seen.insert((&resource.group, &resource.plural)) {
            resources.push(resource);
        }
    }
    Ok(resources)
}

/// All objects of a kind in the namespace.
async fn list(
    client: &Client,
    resource: &Resource,
    selector: Option<&str>,
    warnings: Warnings,
) -> Result<Vec<Value>, Refused> {
    let base = resource.path(client.namespace());
    let mut objects = Vec::new();
    let mut token = String::new();
    loop {
        let mut query = format!("?limit={CHUNK}");
        for (key, value) in [("labelSelector", selector.unwrap_or_default()), ("continue", &token)]
        {
            if !value.is_empty() {
                query.push_str(&format!("&{key}={}", percent_encoded(value)));
            }
        }
        let text = client.get_as(&format!("{base}{query}"), JSON, warnings).await?;
        let mut page: Value = serde_json::from_str(&text)
            .map_err(|error| Refused::Other(anyhow!("list of {}: {error}", resource.plural)))?;
        if let Value::Array(items) = page["items"].take() {
            objects.extend(items);
        }
        token = page["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
        if token.is_empty() {
            return Ok(objects);
        }
    }
}

/// What goes into the template, and what is told about the rest.
#[derive(Debug, Default)]
struct Exported {
    objects: Vec<Value>,
    /// Of objects seen: one may be served by several groups.
    uids: BTreeSet<String>,
    /// How many objects were left out for a reason.
    skipped: BTreeMap<&'static str, usize>,
    secrets: usize,
}

impl Exported {
    fn take(&mut self, resource: &Resource, objects: Vec<Value>) {
        for mut object in objects {
            let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
            if !uid.is_empty() && !self.uids.insert(uid.to_owned()) {
                continue;
            }
            // Items of a list do not say what they are.
            object["apiVersion"] = resource.api_version().into();
            object["kind"] = resource.kind.clone().into();
            if let Some(reason) = clean::reason_to_skip(&resource.group, &object) {
                *self.skipped.entry(reason).or_default() += 1;
                continue;
            }
            clean::clean(&resource.group, &mut object);
            self.secrets += usize::from(resource.group.is_empty() && resource.kind == "Secret");
            self.objects.push(object);
        }
    }

    /// A StatefulSet that is exported makes its claims anew. Nothing in a claim says whose it is
    /// but its name: `TEMPLATE-SET-ORDINAL`.
    fn leave_out_claims_of_sets(&mut self) {
        let sets = self.objects.iter().filter(|object| object["kind"] == "StatefulSet");
        let starts: Vec<String> = sets
            .flat_map(|set| {
                let claims = set["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten();
                let name = |object: &Value| object["metadata"]["name"].as_str().map(str::to_owned);
                claims.filter_map(move |claim| Some(format!("{}-{}-", name(claim)?, name(set)?)))
            })
            .collect();
        let is_of_set = |claim: &Value| {
            let name = claim["metadata"]["name"].as_str().unwrap_or_default();
            let ordinals = starts.iter().filter_map(|start| name.strip_prefix(start.as_str()));
            claim["kind"] == "PersistentVolumeClaim"
                && ordinals.into_iter().any(|rest| rest.parse::<u32>().is_ok())
        };
        let before = self.objects.len();
        self.objects.retain(|object| !is_of_set(object));
        let left_out = before - self.objects.len();
        if left_out > 0 {
            *self.skipped.entry(rules::CONTROLLED).or_default() += left_out;
        }
    }

    fn tell(&self) {
        for (reason, count) in &self.skipped {
            eprintln!("left out {count}: {reason}");
        }
        if self.secrets > 0 {
            eprintln!(
                "Warning: the template holds the values of Secrets in clear: {}",
                self.secrets
            );
        }
    }
}

fn template(name: &str, dialect: Dialect, mut objects: Vec<Value>) -> Value {
    let rank = |object: &Value| {
        let kind = object["kind"].as_str().unwrap_or_default();
        FIRST.iter().position(|first| *first == kind).unwrap_or(FIRST.len())
    };
    objects.sort_by_cached_key(|object| {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        (rank(object), object["kind"].to_string(), name.to_owned())
    });
    json!({
        "apiVersion": dialect.api_version(),
        "kind": "Template",
        "metadata": {"name": name},
        "objects": objects,
    })
}

/// Whether processing would give something else than what was exported, because an object holds
/// text that means something in a template.
fn surprise(template: &Value, dialect: Dialect) -> Option<String> {
    let text = template.to_string();
    let template = processor::Template::parse(&text, dialect).ok()?;
    let overrides = processor::Overrides::new();
    let values =
        processor::Values::resolve(&template, &overrides, &mut crate::random::SystemRandom).ok()?;
    match processor::process(&template, &values) {
        Ok(_) => None,
        Err(errors) => {
            Some(format!("the template needs work before it can be processed: {errors}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, kind: &str, plural: &str) -> Resource {
        Resource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            is_namespaced: true,
            verbs: vec!["list".to_owned(), "create".to_owned()],
            ..Resource::default()
        }
    }

    #[test]
    fn an_object_served_twice_is_exported_once() {
        let mut exported = Exported::default();
        let object = json!({"metadata": {"name": "a", "uid": "1"}});
        exported.take(&resource("", "ConfigMap", "configmaps"), vec![object.clone()]);
        exported.take(&resource("other", "ConfigMap", "configmaps"), vec![object]);
        assert_eq!(
            exported.objects,
            [json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})]
        );
    }

    #[test]
    fn what_others_refer_to_comes_first() {
        let object = |kind: &str, name: &str| json!({"kind": kind, "metadata": {"name": name}});
        let objects = vec![
            object("Job", "j"),
            object("Secret", "b"),
            object("Secret", "a"),
            object("ServiceAccount", "s"),
        ];
        let template = template("t", Dialect::OpenShift, objects);
        let names: Vec<_> = template["objects"]
            .as_array()
            .unwrap()
            .iter()
            .map(|o| o["metadata"]["name"].clone())
            .collect();
        assert_eq!(names, ["s", "a", "b", "j"]);
        assert_eq!(template["apiVersion"], "template.openshift.io/v1");
    }

    #[test]
    fn claims_of_an_exported_stateful_set_are_left_out() {
        let object = |kind: &str, name: &str| json!({"kind": kind, "metadata": {"name": name}});
        let mut set = object("StatefulSet", "db");
        set["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}}]);
        let claims = ["data-db-0", "data-db-11", "data-db-x", "data-other-0", "data"];
        let claims = claims.map(|name| object("PersistentVolumeClaim", name));
        let mut exported = Exported::default();
        exported.objects.extend(claims);
        exported.leave_out_claims_of_sets();
        assert_eq!(exported.objects.len(), 5);
        exported.objects.push(set);
        exported.leave_out_claims_of_sets();
        let left: Vec<_> = exported.objects.iter().map(|o| o["metadata"]["name"].clone()).collect();
        assert_eq!(left, ["data-db-x", "data-other-0", "data", "db"]);
    }

    #[test]
    fn text_that_the_dialect_would_take_for_a_reference_is_warned_of() {
        let script = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"},
            "data": {"script": "echo ${HOME} $(date)"}});
        let surprise = |dialect| surprise(&template("t", dialect, vec![script.clone()]), dialect);
        assert_eq!(surprise(Dialect::OpenShift), None);
        assert!(surprise(Dialect::Proposal).unwrap().contains("date"));
    }

    #[test]
    fn kinds_are_found_once_and_must_be_namespaced() {
        let mut served =
            vec![resource("apps", "Deployment", "deployments"), resource("", "Node", "nodes")];
        served[1].is_namespaced = false;
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(named(&names(&["deployments", "Deployment.apps"]), &served).unwrap().len(), 1);
        assert!(named(&names(&["nodes"]), &served).is_err());
        assert_eq!(
            named(&names(&["foos"]), &served).unwrap_err().to_string(),
            "the server doesn't have a resource type \"foos\""
        );
    }
}
