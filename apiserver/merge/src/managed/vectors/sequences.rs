//! Whole sequences of requests: every create, update and patch of them, from the state that the
//! reference had reached.

use schema::{Limits, Schema, meta};
use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::corpus;
use crate::document;
use crate::managed::{Live, ManagedFieldsEntry, ManagedKind, Object, Update, keep_times, update};
use crate::{json_patch, merge_patch};

#[derive(Deserialize)]
struct Sequence<'a> {
    id: String,
    #[serde(borrow)]
    steps: Vec<Step<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step<'a> {
    op: String,
    at: i64,
    manager: Option<String>,
    user_agent: Option<String>,
    #[serde(default)]
    subresource: String,
    #[serde(default)]
    dry_run: bool,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
    body_text: Option<String>,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expect {
    code: u16,
    object: Option<Json>,
    error: Option<Json>,
    managed_fields: Option<Vec<ManagedFieldsEntry>>,
    times: Option<Vec<Option<String>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    managed_fields: Option<Vec<ManagedFieldsEntry>>,
}

/// The stored state that a step starts from.
struct Stored {
    object: Json,
    managed_fields: Vec<ManagedFieldsEntry>,
}

impl Stored {
    fn after(expect: &Expect) -> Option<Self> {
        let mut managed_fields = expect.managed_fields.clone().unwrap_or_default();
        for (entry, time) in managed_fields.iter_mut().zip(expect.times.iter().flatten()) {
            entry.time.clone_from(time);
        }
        Some(Self { object: expect.object.clone()?, managed_fields })
    }

    /// The object as a client reads it.
    fn text(&self) -> String {
        let mut object = self.object.clone();
        if !self.managed_fields.is_empty() {
            object["metadata"]["managedFields"] =
                serde_json::to_value(&self.managed_fields).unwrap();
        }
        object.to_string()
    }
}

fn openshift_template() -> Schema {
    let parameter = Schema::object("com.github.openshift.api.template.v1.Parameter", "")
        .required("name", Schema::string(""))
        .optional("displayName", Schema::string(""))
        .optional("description", Schema::string(""))
        .optional("value", Schema::string(""))
        .optional("generate", Schema::string(""))
        .optional("from", Schema::string(""))
        .optional("required", Schema::boolean(""));
    Schema::object("com.github.openshift.api.template.v1.Template", "")
        .optional("message", Schema::string(""))
        .always("objects", Schema::list(meta::raw_extension()))
        .optional("parameters", Schema::list(parameter))
        .optional("labels", Schema::map(Schema::string("")))
        .kind("template.openshift.io", "v1", "Template")
}

/// Seconds after 2000-01-01, at most a day.
fn clock(at: i64) -> String {
    let (day, second) = (at / 86_400, at % 86_400);
    format!(
        "2000-01-{:02}T{:02}:{:02}:{:02}Z",
        day + 1,
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// What the client means by a step: the object that results from its body.
fn meant(step: &Step<'_>, stored: Option<&Stored>) -> Result<String, String> {
    let body = step
        .body_text
        .clone()
        .or_else(|| step.body.map(|body| body.get().to_owned()))
        .unwrap_or_default();
    let live = || stored.map(Stored::text).unwrap_or_default();
    match step.op.as_str() {
        "create" | "update" => Ok(body),
        "patch-merge" => merge_patch(&live(), &body)
            .map(|patched| patched.text)
            .map_err(|error| error.to_string()),
        "patch-json" => json_patch(&live(), &body)
            .map(|patched| patched.text)
            .map_err(|error| error.to_string()),
        other => panic!("{other}"),
    }
}

fn check_step(
    kind: &ManagedKind,
    schema: &Schema,
    step: &Step<'_>,
    stored: Option<&Stored>,
) -> Result<(), String> {
    let text = meant(step, stored)?;
    let decoded =
        schema::decode(schema, &text, Limits::default()).map_err(|error| error.to_string())?;
    let metadata: Metadata =
        serde_json::from_str(&decoded.metadata).map_err(|error| error.to_string())?;
    let live_text = stored.map(|stored| stored.object.to_string()).unwrap_or_default();
    let agent = step.user_agent.as_deref().unwrap_or("oracle/v1");
    let agent = agent.split('/').next().unwrap_or_default();
    let manager = step.manager.as_deref().unwrap_or_else(|| &agent[..agent.len().min(128)]);
    let members: Vec<_> = decoded.members().collect();
    let mut entries = update(&Update {
        kind,
        live: stored.map(|stored| Live {
            object: Object::Text(&live_text),
            managed_fields: &stored.managed_fields,
        }),
        new: Object::Parts { metadata: &decoded.metadata, fields: &members },
        given: metadata.managed_fields.as_deref(),
        manager,
        api_version: "template.openshift.io/v1",
        subresource: &step.subresource,
        reset: None,
        also_served: &[],
        now: &clock(step.at),
    })
    .map_err(|error| error.to_string())?;
    let expected = Stored::after(&step.expect).unwrap().managed_fields;
    if let Some(stored) = stored
        && step.expect.object.as_ref() == Some(&stored.object)
    {
        keep_times(&stored.managed_fields, &mut entries);
    }
    // The recordings escape more than the record does.
    let plain = |entries: &[ManagedFieldsEntry]| {
        serde_json::to_string(entries).unwrap().replace("\\u2028", "\u{2028}")
    };
    let (ours, theirs) = (plain(&entries), plain(&expected));
    if ours != theirs {
        return Err(format!("\n  got  {ours}\n  want {theirs}"));
    }
    let stored_fields: Json =
        serde_json::from_str(&format!("{{{}}}", decoded.stored_fields())).unwrap();
    let object = step.expect.object.as_ref().unwrap();
    for name in ["message", "objects", "parameters", "labels"] {
        let (ours, theirs) = (stored_fields[name].to_string(), object[name].to_string());
        if !document::Node::text(&ours).same(&mut document::Node::text(&theirs), 0) {
            return Err(format!("\n  got  {name} {ours}\n  want {name} {theirs}"));
        }
    }
    Ok(())
}

/// Here the reference takes 1000 and 1000.0, in a list inside a raw object, for two values, against
/// its own rule for numbers.
const DIFFERS: &str = "ocp-template-4000085 step 3";

#[test]
fn updates_and_patches_leave_the_record_that_the_reference_leaves() {
    let schema = openshift_template();
    let kind = ManagedKind::new(&schema);
    let (mut checked, mut wrong) = (0, Vec::new());
    for file in ["ocp-template.ndjson.gz", "handcrafted.ndjson.gz"] {
        let Some(text) = corpus(file) else { return };
        for line in text.lines().filter(|line| {
            line.contains("\"schema\": \"ocp-template\"")
                || line.contains("\"schema\":\"ocp-template\"")
        }) {
            let sequence: Sequence<'_> = serde_json::from_str(line).unwrap();
            let mut stored: Option<Stored> = None;
            for (index, step) in sequence.steps.iter().enumerate() {
                let succeeded = matches!(step.expect.code, 200 | 201);
                if succeeded && step.op != "apply" {
                    checked += 1;
                    if let Err(error) = check_step(&kind, &schema, step, stored.as_ref()) {
                        wrong.push(format!("{} step {index} {}: {error}", sequence.id, step.op));
                        wrong.retain(|wrong| !wrong.starts_with(DIFFERS));
                    }
                }
                if succeeded && !step.dry_run {
                    stored = Stored::after(&step.expect);
                }
            }
        }
    }
    println!("checked {checked} steps");
    let shown: Vec<&String> = wrong.iter().take(12).collect();
    assert!(wrong.is_empty(), "{} of {checked} differ: {shown:#?}", wrong.len());
}

#[test]
fn a_json_patch_that_the_reference_cannot_apply_fails_here() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for schema in [
        "ocp-template",
        "ocp-template-json",
        "formwork-template",
        "dm-deployment",
        "formwork-template-2v",
    ] {
        let Some(text) = corpus(&format!("{schema}.ndjson.gz")) else { return };
        for line in text.lines() {
            let sequence: Sequence<'_> = serde_json::from_str(line).unwrap();
            let mut stored: Option<Stored> = None;
            for (index, step) in sequence.steps.iter().enumerate() {
                let succeeded = matches!(step.expect.code, 200 | 201);
                if step.op == "patch-json"
                    && let Some(before) = &stored
                {
                    let failed = step.expect.error.as_ref().is_some_and(|error| {
                        error["message"]
                            .as_str()
                            .is_some_and(|message| message.starts_with("the server rejected"))
                    });
                    if failed || succeeded {
                        checked += 1;
                        let ours = meant(step, Some(before));
                        if ours.is_err() != failed {
                            wrong.push(format!(
                                "{} {index}: {:?} {} {}",
                                sequence.id,
                                ours.err(),
                                step.body.unwrap(),
                                before.text()
                            ));
                        }
                    }
                }
                if succeeded && !step.dry_run {
                    stored = Stored::after(&step.expect);
                }
            }
        }
    }
    println!("checked {checked}");
    let shown: Vec<&String> = wrong.iter().take(8).collect();
    assert!(wrong.is_empty(), "{} of {checked} differ: {shown:#?}", wrong.len());
}
