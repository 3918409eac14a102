//! `deployments`: configurations that are deployed.
//!
//! What users may say is checked here, and for whom everything is done is written down; doing it is
//! the business of [`crate::deployments`].

pub(crate) mod requester;

use apiserver::field;
use apiserver::names;
use apiserver::object::Object;
use apiserver::resource::{Cell, Column, Context, Resource, Serves, Strategy};
use deployer::types::{FINALIZER, Spec, State, Status};
use jiff::Timestamp;
use serde_json::json;

use super::kinds;
use crate::sent::{self, Defaults};

pub(super) use self::requester::requester;

struct Deployments;

/// The resource.
pub fn resource() -> Resource {
    Resource::new(kinds::deployment(), Serves::Stored(Box::new(Deployments))).with_status()
}

const COLUMNS: [Column; 5] = [
    Column::text("Phase", "How far it is."),
    Column::text("Ready", "How many of its resources are ready."),
    Column::text("Manifest", "The Manifest that is or was last applied."),
    Column { priority: 1, ..Column::text("Requester", "For whom everything is done.") },
    Column { priority: 1, ..Column::text("Message", "Why it is not ready.") },
];

impl Strategy for Deployments {
    fn prepare_for_create(&self, cx: &Context<'_>, object: &mut Object) {
        hold(object);
        requester::stamp(object, cx.user);
    }

    fn validate(&self, object: &Object) -> Vec<field::Error> {
        match spec(object) {
            Ok(spec) => validate(&object.meta.name, &spec),
            Err(error) => vec![field::Error::invalid("spec", "", error.to_string())],
        }
    }

    fn prepare_for_update(&self, cx: &Context<'_>, object: &mut Object, old: &Object) {
        // `kubectl replace` takes away what its file does not have. From what is being deleted it may be
        // taken, by whoever will not wait any longer.
        if !old.meta.is_deleting() {
            hold(object);
        }
        let is_tied = requester::goes_with_others(object, old)
            && !old.meta.is_deleting()
            && !requester::acts_for_others(cx.user);
        if requester::same_but_for_it(object, old) && !is_tied {
            requester::keep(object, old);
        } else {
            requester::stamp(object, cx.user);
        }
    }

    /// Who changes what is being deleted becomes the one for whom that is done, so nobody may who could
    /// think that something is deployed by it.
    fn validate_update(&self, object: &Object, old: &Object) -> Vec<field::Error> {
        let mut errors = self.validate(object);
        if old.meta.is_deleting() && !is_about_the_end(object, old) {
            let why = "only deletePolicy and timeoutSeconds may change while this is being deleted";
            errors.push(field::Error::forbidden("spec", why));
        }
        errors
    }

    fn validate_status(&self, object: &Object, _: &Object) -> Vec<field::Error> {
        let text = object.fields.get("status").unwrap_or("{}");
        let wrong = serde_json::from_str::<Status>(text).err();
        wrong
            .map(|error| field::Error::invalid("status", "", error.to_string()))
            .into_iter()
            .collect()
    }

    /// Whoever deletes what is being deleted takes that over: it may be waiting for somebody who may
    /// delete all of it.
    fn prepare_for_delete(&self, cx: &Context<'_>, object: &mut Object) {
        if !requester::acts_for_others(cx.user) {
            requester::stamp(object, cx.user);
        }
    }

    /// The collector would have to take the owner from each Manifest, and nobody may write those.
    fn waits_for_collector(&self) -> bool {
        false
    }

    fn returns_deleted(&self) -> bool {
        true
    }

    fn columns(&self) -> &'static [Column] {
        &COLUMNS
    }

    fn cells(&self, object: &Object) -> Vec<Cell> {
        let status: Status = object
            .fields
            .get("status")
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        let ready = |state: State| status.resources.iter().filter(|it| it.state == state).count();
        let total = status.resources.len() - ready(State::Obsolete);
        let waits = status.condition("Ready").map_or("", |ready| &ready.message);
        let first = waits.lines().next().unwrap_or_default();
        let username = spec(object).map(|spec| spec.requester.username).unwrap_or_default();
        vec![
            json!(status.phase),
            json!(format!("{}/{total}", ready(State::Ready))),
            json!(status.manifest.as_deref().unwrap_or_default()),
            json!(username),
            json!(first),
        ]
    }
}

/// Sees to it that what is deployed goes before the Deployment.
fn hold(object: &mut Object) {
    if !object.meta.finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
        object.meta.finalizers.push(FINALIZER.to_owned());
    }
}

/// The spec of an object that its schema has proven.
fn spec(object: &Object) -> Result<Spec, serde_json::Error> {
    serde_json::from_str(object.fields.get("spec").unwrap_or("{}"))
}

/// Whether two objects want the same, but for how it ends and for whom.
fn is_about_the_end(object: &Object, old: &Object) -> bool {
    let rest = |object: &Object| {
        let Spec { delete_policy, timeout_seconds, requester, .. } = Spec::default();
        spec(object).ok().map(|spec| Spec { delete_policy, timeout_seconds, requester, ..spec })
    };
    rest(object) == rest(old)
}

/// Everything that is wrong with what is wanted.
pub(super) fn validate(name: &str, spec: &Spec) -> Vec<field::Error> {
    let mut errors = Vec::new();
    match (&spec.configuration, &spec.template, &spec.roll_back_to) {
        (Some(_), Some(_), _) => {
            let why = "may not be given together with spec.configuration";
            errors.push(field::Error::forbidden("spec.template", why));
        }
        (None, None, None) => {
            errors.push(field::Error::required("spec.configuration", "or spec.template"));
        }
        (Some(_), None, _) | (None, Some(_), _) => {
            let defaults = Defaults { name, namespace: "", now: Timestamp::UNIX_EPOCH };
            errors.extend(sent::of_deployment(spec, &defaults).err().unwrap_or_default());
        }
        (None, None, Some(_)) => {}
    }
    if spec.template.as_ref().is_some_and(|template| template.kind.is_empty()) {
        errors.push(field::Error::required("spec.template.type", ""));
    }
    let mut named = |path: String, text: &str, rule: fn(&str) -> Vec<String>| {
        let wrong = rule(text).into_iter();
        errors
            .extend(wrong.map(|why| field::Error::invalid(path.clone(), field::quote(text), why)));
    };
    if let Some(namespace) = &spec.target_namespace {
        named("spec.targetNamespace".to_owned(), namespace, names::dns1123_label);
    }
    if let Some(manifest) = &spec.roll_back_to {
        named("spec.rollBackTo".to_owned(), manifest, names::dns1123_subdomain);
    }
    for (at, other) in spec.depends_on.iter().enumerate() {
        named(format!("spec.dependsOn[{at}]"), other, names::dns1123_subdomain);
    }
    for (at, other) in spec.depends_on.iter().enumerate() {
        let path = format!("spec.dependsOn[{at}]");
        if other == name {
            errors.push(field::Error::invalid(path, field::quote(other), "is this object itself"));
        } else if spec.depends_on[..at].contains(other) {
            let problem = field::Problem::Duplicate(field::quote(other));
            errors.push(field::Error { field: path, problem, detail: String::new() });
        }
    }
    if spec.timeout_seconds == Some(0) {
        errors.push(field::Error::invalid("spec.timeoutSeconds", "0", "must be greater than 0"));
    }
    errors
}

#[cfg(test)]
mod tests;
