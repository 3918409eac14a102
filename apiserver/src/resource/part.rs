//! The two parts of an object that has a status: what is wanted, which users write at the object's
//! own path, and how it is, which a controller writes at `/status`.
//!
//! Each path leaves the other part as it is, and `metadata.generation` counts the changes of the
//! first, as with a custom resource that has the status subresource. What a status means is its
//! strategy's to say; how a write is made is the store's.

use merge::managed::{FieldSet, PathElement};
use schema::{Presence, Schema};

use super::{Action, Definition, Resource, Subresource};
use crate::meta::ObjectMeta;
use crate::object::{Fields, Object};

/// The field, and the name of the subresource.
const STATUS: &str = "status";

/// What a write is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The object as its own path shows it; where the kind has a status, all but that.
    Main,
    /// The status, and nothing else.
    Status,
}

impl Part {
    /// The subresource that writes it; empty for the object itself.
    pub fn subresource(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => STATUS,
        }
    }
}

/// The fields that a write of either part does not touch: upstream's reset fields.
pub(super) struct ResetFields {
    main: FieldSet,
    status: FieldSet,
}

impl ResetFields {
    fn of(schema: &Schema) -> Self {
        let set = |chosen: &dyn Fn(&str) -> bool| {
            let fields = schema.as_object().into_iter().flat_map(|object| object.fields());
            let names = fields.map(|field| &*field.name).filter(|name| chosen(name));
            let paths: Vec<_> = names.map(|name| [PathElement::field(name)]).collect();
            FieldSet::from_paths(paths.iter().map(<[_; 1]>::as_slice))
        };
        Self { main: set(&|name| name == STATUS), status: set(&|name| name != STATUS) }
    }
}

impl Resource {
    /// The same with a status that has a path of its own, `/status`, and with
    /// `metadata.generation`. [`Strategy::validate_status`](super::Strategy::validate_status) says
    /// what may stand there.
    ///
    /// # Panics
    /// If clients may not write the resource, or the last field of its schema is not an optional
    /// `status`: resources are made at start, and a wrong one must not serve.
    #[must_use]
    pub fn with_status(mut self) -> Self {
        assert!(self.allows("update"), "no client may write a {}", self.definition.kind);
        let schema = &self.definition.schema;
        let last = schema.as_object().and_then(|object| object.fields().last());
        assert!(
            last.is_some_and(|it| it.name == STATUS && it.presence == Presence::Optional),
            "the schema of {} does not end with an optional status",
            self.definition.kind
        );
        self.reset_fields = Some(ResetFields::of(schema));
        // No secrets of its own: those of the resource count for what stands below it.
        let definition = Definition { secrets: &[], ..self.definition.clone() };
        self.with(Subresource { name: STATUS, definition, action: Action::Status })
    }

    /// The fields that a write of `part` does not change, whatever is sent.
    pub(crate) fn reset_fields(&self, part: Part) -> Option<&FieldSet> {
        self.reset_fields.as_ref().map(|reset| match part {
            Part::Main => &reset.main,
            Part::Status => &reset.status,
        })
    }

    fn has_status(&self) -> bool {
        self.reset_fields.is_some()
    }

    /// Drops the status of an object that is to be created, and begins to count.
    pub(crate) fn begin_status(&self, object: &mut Object) {
        if self.has_status() {
            object.fields = joined(&object.fields, &Fields::default());
            object.meta.generation = 1;
        }
    }

    /// Puts back what a write of `part` does not change.
    pub(crate) fn restore(&self, part: Part, object: &mut Object, old: &Object) {
        match part {
            Part::Main if self.has_status() => object.fields = joined(&object.fields, &old.fields),
            Part::Main => {}
            Part::Status => {
                object.fields = joined(&old.fields, &object.fields);
                // The record of managers is new: it tells who has written the status.
                let managed_fields = object.meta.managed_fields.take();
                object.meta = ObjectMeta { managed_fields, ..old.meta.clone() };
            }
        }
    }

    /// Counts a change of what is wanted: of anything but metadata and status.
    pub(crate) fn count_change(&self, object: &mut Object, old: &Object) {
        if self.has_status() && !same_desired(&object.fields, &old.fields) {
            object.meta.generation = old.meta.generation + 1;
        }
    }
}

fn is_desired((name, _): &(&str, &str)) -> bool {
    *name != STATUS
}

/// The fields of one object, with the status of the other at the end, where the schema has it.
fn joined(desired: &Fields, status: &Fields) -> Fields {
    let mut text = String::with_capacity(desired.as_str().len() + status.as_str().len());
    let status = status.iter().filter(|member| !is_desired(member));
    for (name, value) in desired.iter().filter(is_desired).chain(status) {
        let comma = if text.is_empty() { "" } else { "," };
        // A name in a schema holds nothing that JSON escapes.
        text.extend([comma, "\"", name, "\":", value]);
    }
    Fields::new(text)
}

/// Whether two objects want the same, however it is written.
fn same_desired(left: &Fields, right: &Fields) -> bool {
    let desired = |fields: &Fields| fields.iter().filter(is_desired).count();
    let in_right = |(name, value): (&str, &str)| {
        right.get(name).is_some_and(|other| merge::same(value, other))
    };
    left == right
        || (desired(left) == desired(right) && left.iter().filter(is_desired).all(in_right))
}

#[cfg(test)]
mod tests;
