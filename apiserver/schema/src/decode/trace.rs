//! Where the decoder is, and what it has to say about it: type errors in the words of Go's decoder,
//! and strays.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;

use super::Decoder;
use crate::decoded::Stray;
use crate::definition::Schema;
use crate::error::{DecodeError, TypeError};

/// Upstream reports no more than this many strict errors of one body.
const MAX_STRAYS: usize = 100;

/// A step of the path to the value that is being read.
pub(super) enum Step<'a> {
    Field(&'a str),
    Key(Cow<'a, str>),
    Index(usize),
}

#[derive(Default)]
pub(super) struct Strays {
    pub(super) list: Vec<Stray>,
    seen: HashSet<Stray>,
}

impl Strays {
    pub(super) fn add(&mut self, stray: Stray) {
        if self.list.len() < MAX_STRAYS && self.seen.insert(stray.clone()) {
            self.list.push(stray);
        }
    }
}

impl Decoder<'_> {
    pub(super) fn mismatch(&mut self, found: &str, schema: &Schema) {
        if let ([Step::Field(name @ ("apiVersion" | "kind"))], true) =
            (self.path.as_slice(), self.owner.is_some())
        {
            let message = format!(
                "json: cannot unmarshal {found} into Go struct field .{name} of type string"
            );
            // Go reads these two before anything else.
            if !matches!(self.error, Some(DecodeError::TypeMeta(_))) {
                self.error = Some(DecodeError::TypeMeta(message));
            }
            return;
        }
        if self.error.is_some() {
            return;
        }
        let message = match schema.definition() {
            // A type with a decoder of its own does not know in which field it is.
            Some(_) if schema.as_object().is_none() => format!(
                "json: cannot unmarshal {found} into Go value of type {}",
                schema.bare_go_type()
            ),
            _ => self.type_message(found, &schema.go_type()),
        };
        self.error = Some(DecodeError::Type(TypeError { path: self.place(), message }));
    }

    pub(super) fn type_message(&self, found: &str, go_type: &str) -> String {
        let Some(owner) = self.owner else {
            return format!("json: cannot unmarshal {found} into Go value of type {go_type}");
        };
        let fields = self.path.iter().filter_map(|step| match step {
            Step::Field(name) => Some(*name),
            Step::Key(_) | Step::Index(_) => None,
        });
        let fields = fields.collect::<Vec<_>>().join(".");
        format!(
            "json: cannot unmarshal {found} into Go struct field {}.{fields} of type {go_type}",
            owner.short_name()
        )
    }

    /// The path to the value that is being read, as in `parameters[0].value`.
    pub(super) fn place(&self) -> String {
        let mut place = String::new();
        for step in &self.path {
            let name = match step {
                Step::Field(name) => name,
                Step::Key(key) => key.as_ref(),
                Step::Index(index) => {
                    // Writing to a String cannot fail.
                    let _ = write!(place, "[{index}]");
                    continue;
                }
            };
            if !place.is_empty() {
                place.push('.');
            }
            place.push_str(name);
        }
        place
    }
}
