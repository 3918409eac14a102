//! Strict decoding: one pass over the body's text, normalised text out, no tree in between.
//!
//! Normalisation is what a round trip through Go's structs does: unknown fields are dropped, empty optional ones left out, required
//! ones filled in, fields written in the order of the schema and map keys sorted. Opaque values keep their text (numbers, key order,
//! duplicate keys), only white space goes. Of a duplicate the last one counts; Go would merge two structs, which nobody relies on.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;

use crate::decoded::{Decoded, Normalized, Stray};
use crate::definition::{Field, Form, List, Object, Presence, Schema, Width};
use crate::error::{DecodeError, SyntaxError, TypeError};
use crate::scan::{Scanner, ValueKind, write_string};
use crate::time::normalize_time;

/// Upstream reports no more than this many strict errors of one body.
const MAX_STRAYS: usize = 100;

/// What Go prints for the type into which a body is first read.
const TYPE_META: &str = r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

/// Bounds of what is accepted. The size of the text is the caller's to bound, before it has it all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Open arrays and objects at any one place.
    pub depth: usize,
}

impl Default for Limits {
    /// 1,000 levels: far beyond any real object, and below what any later reader could overflow on.
    fn default() -> Self {
        Self { depth: 1_000 }
    }
}

/// Decodes an object of a kind. `null` counts as an empty object, as in Go.
///
/// # Errors
/// Bad JSON before all else, then the first value of a wrong type.
///
/// # Panics
/// If the schema is not a struct.
pub fn decode(schema: &Schema, text: &str, limits: Limits) -> Result<Decoded, DecodeError> {
    let object = schema.as_object().expect("only a struct can be a kind");
    let mut decoder = Decoder::new(text, limits);
    decoder.out.reserve(text.len() + 64);
    let members = match decoder.scan.peek()? {
        ValueKind::Object => decoder.members(object)?,
        ValueKind::Null => {
            decoder.scan.null()?;
            decoder.absent_members(object)
        }
        other => {
            decoder.scan.skip()?;
            decoder.scan.end()?;
            return Err(DecodeError::TypeMeta(format!(
                "json: cannot unmarshal {} into Go value of type {TYPE_META}",
                other.word()
            )));
        }
    };
    decoder.scan.end()?;
    match decoder.error {
        Some(error) => Err(error),
        None => Ok(decoder.into_decoded(object, &members)),
    }
}

/// Decodes a value of any schema and gives it back as normalised text; for bodies that are not stored objects, as `DeleteOptions`.
///
/// # Errors
/// As [`decode`].
pub fn normalize(schema: &Schema, text: &str, limits: Limits) -> Result<Normalized, DecodeError> {
    let mut decoder = Decoder::new(text, limits);
    let found = decoder.value(schema)?;
    if found == Found::Null {
        decoder.zero(schema);
    }
    decoder.scan.end()?;
    match decoder.error {
        Some(error) => Err(error),
        None => Ok(Normalized { text: decoder.out, strays: decoder.strays.list }),
    }
}

/// What was found at a place; decides whether an optional field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// `null`, or something of a wrong type: nothing was written.
    Null,
    /// The zero value of a scalar.
    Zero,
    /// An empty list or map.
    Empty,
    /// Anything else.
    Full,
}

/// Where the members of a struct stand in the output.
struct Members {
    slots: Vec<Slot>,
    /// Whether they stand in the order of the schema with nothing between them but commas.
    in_order: bool,
}

/// A field of the struct that is being read.
#[derive(Clone, Default)]
struct Slot {
    /// The client gave it, even if it was empty and therefore not written.
    given: bool,
    member: Option<Range<usize>>,
}

/// A step of the path to the value that is being read.
enum Step<'a> {
    Field(&'a str),
    Key(Cow<'a, str>),
    Index(usize),
}

#[derive(Default)]
struct Strays {
    list: Vec<Stray>,
    seen: HashSet<Stray>,
}

impl Strays {
    fn add(&mut self, stray: Stray) {
        if self.list.len() < MAX_STRAYS && self.seen.insert(stray.clone()) {
            self.list.push(stray);
        }
    }
}

struct Decoder<'a> {
    scan: Scanner<'a>,
    out: String,
    path: Vec<Step<'a>>,
    /// The struct whose field is being read, for messages.
    owner: Option<&'a Object>,
    error: Option<DecodeError>,
    strays: Strays,
    /// Offsets in `out`, ascending, of empty lists that storage turns into null.
    empty_lists: Vec<usize>,
}

impl<'a> Decoder<'a> {
    fn new(text: &'a str, limits: Limits) -> Self {
        Self {
            scan: Scanner::new(text, limits.depth),
            out: String::new(),
            path: Vec::new(),
            owner: None,
            error: None,
            strays: Strays::default(),
            empty_lists: Vec::new(),
        }
    }

    /// Takes the parts of a kind out of its written members.
    fn into_decoded(mut self, object: &Object, members: &Members) -> Decoded {
        let (mut api_version, mut kind, mut metadata) = (None, None, "{}".to_owned());
        let mut others = Vec::with_capacity(object.fields.len());
        for (field, slot) in object.fields.iter().zip(&members.slots) {
            let Some(member) = slot.member.clone() else { continue };
            let value = &self.out[member.start + field.name.len() + "\"\":".len()..member.end];
            match &*field.name {
                "apiVersion" => api_version = Some(plain_string(value)),
                "kind" => kind = Some(plain_string(value)),
                "metadata" => value.clone_into(&mut metadata),
                _ => others.push(member),
            }
        }
        self.arrange(0, others);
        Decoded {
            api_version,
            kind,
            metadata,
            fields: self.out,
            strays: self.strays.list,
            empty_lists: self.empty_lists,
        }
    }

    /// Reads whatever comes next as `schema` says and writes it, unless it is null.
    fn value(&mut self, schema: &'a Schema) -> Result<Found, SyntaxError> {
        let kind = self.scan.peek()?;
        match (&schema.form, kind) {
            (_, ValueKind::Null) => {
                self.scan.null()?;
                Ok(Found::Null)
            }
            (Form::String { format, .. }, ValueKind::String) => {
                let text = self.scan.string()?;
                Ok(if format.as_deref() == Some("date-time") {
                    self.time(&text)
                } else {
                    self.string(&text)
                })
            }
            (Form::String { lenient: true, .. }, ValueKind::Number | ValueKind::Bool) => {
                self.coerce(kind)
            }
            (Form::Integer(width), ValueKind::Number) => self.integer(*width, schema),
            (Form::IntOrString, ValueKind::Number) => self.integer(Width::Int32, schema),
            (Form::IntOrString, ValueKind::String) => {
                let text = self.scan.string()?;
                self.string(&text);
                Ok(Found::Full)
            }
            (Form::Number, ValueKind::Number) => {
                let text = self.scan.number()?;
                self.out.push_str(text);
                Ok(if text.bytes().all(|byte| matches!(byte, b'0' | b'-' | b'.')) {
                    Found::Zero
                } else {
                    Found::Full
                })
            }
            (Form::Boolean, ValueKind::Bool) => {
                let value = self.scan.boolean()?;
                self.out.push_str(if value { "true" } else { "false" });
                Ok(if value { Found::Full } else { Found::Zero })
            }
            (Form::Object(object), ValueKind::Object) => self.object(object),
            (Form::Map(values), ValueKind::Object) => self.map(values),
            (Form::List(list), ValueKind::Array) => self.list(list),
            (Form::Opaque { object_only }, kind) if !object_only || kind == ValueKind::Object => {
                self.scan.copy(&mut self.out)?;
                Ok(Found::Full)
            }
            _ => {
                self.scan.skip()?;
                self.mismatch(kind.word(), schema);
                Ok(Found::Null)
            }
        }
    }

    // === scalars ===

    fn string(&mut self, text: &str) -> Found {
        write_string(&mut self.out, text);
        if text.is_empty() { Found::Zero } else { Found::Full }
    }

    fn time(&mut self, text: &str) -> Found {
        match normalize_time(text) {
            Ok(time) => self.string(&time),
            Err(message) => {
                let path = self.place();
                self.error.get_or_insert(DecodeError::Type(TypeError { path, message }));
                Found::Null
            }
        }
    }

    fn coerce(&mut self, kind: ValueKind) -> Result<Found, SyntaxError> {
        let text = self.scan.skip()?;
        let error = self.type_message(kind.word(), "string");
        self.strays.add(Stray::Coerced { path: self.place(), text: text.to_owned(), error });
        Ok(self.string(text))
    }

    fn integer(&mut self, width: Width, schema: &Schema) -> Result<Found, SyntaxError> {
        let text = self.scan.number()?;
        let value = match width {
            Width::Int32 => text.parse::<i32>().map(i64::from),
            Width::Int64 => text.parse::<i64>(),
        };
        let Ok(value) = value else {
            self.mismatch(&format!("number {text}"), schema);
            return Ok(Found::Null);
        };
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{value}");
        Ok(if value == 0 { Found::Zero } else { Found::Full })
    }

    // === containers ===

    fn object(&mut self, object: &'a Object) -> Result<Found, SyntaxError> {
        self.out.push('{');
        let start = self.out.len();
        let members = self.members(object)?;
        if !members.in_order {
            self.arrange(start, members.slots.into_iter().filter_map(|slot| slot.member));
        }
        self.out.push('}');
        Ok(Found::Full)
    }

    /// Reads an object and writes its members, as far as possible where they belong.
    fn members(&mut self, object: &'a Object) -> Result<Members, SyntaxError> {
        let outer = self.owner.replace(object);
        let mut members =
            Members { slots: vec![Slot::default(); object.fields.len()], in_order: true };
        let start = self.out.len();
        // Every field before this one is dealt with, unless it comes later after all.
        let mut next = 0;
        self.scan.open_object()?;
        let mut first = true;
        while let Some(key) = self.scan.member(first)? {
            first = false;
            let Some((index, field)) = object.find(&key) else {
                self.scan.skip()?;
                self.path.push(Step::Key(key));
                self.strays.add(Stray::Unknown(self.place()));
                self.path.pop();
                continue;
            };
            self.path.push(Step::Field(&field.name));
            if std::mem::replace(&mut members.slots[index].given, true) {
                self.strays.add(Stray::Duplicate(self.place()));
            }
            if index < next {
                members.in_order = false;
            } else {
                for skipped in next..index {
                    members.slots[skipped].member =
                        self.absent_member(start, &object.fields[skipped]);
                }
                next = index + 1;
            }
            members.slots[index].member = self.member(start, field)?;
            self.path.pop();
        }
        for (slot, field) in members.slots[next..].iter_mut().zip(&object.fields[next..]) {
            slot.member = self.absent_member(start, field);
        }
        self.owner = outer;
        Ok(members)
    }

    /// Reads the value of a field and writes the member, if anything is to be written. `start` is where the struct's members begin.
    fn member(
        &mut self,
        start: usize,
        field: &'a Field,
    ) -> Result<Option<Range<usize>>, SyntaxError> {
        let before = self.out.len();
        let begin = self.begin_member(start, &field.name);
        let value = self.out.len();
        let found = self.value(&field.schema)?;
        let schema = &field.schema;
        let keeps_zero = schema.pointer || schema.default.is_some();
        let written = match (found, field.presence) {
            (Found::Full, _) => true,
            (Found::Null, _) if schema.nullable => {
                self.out.push_str("null");
                true
            }
            (Found::Null, _) => {
                self.out.truncate(before);
                return Ok(self.absent_member(start, field));
            }
            (Found::Zero, Presence::Optional | Presence::OptionalOrEmpty)
            | (Found::Empty, Presence::Optional) => keeps_zero,
            (Found::Empty, Presence::Always(_)) => {
                self.empty_lists.push(value);
                true
            }
            (Found::Zero | Found::Empty, _) => true,
        };
        if !written {
            self.out.truncate(before);
        }
        Ok(written.then_some(begin..self.out.len()))
    }

    /// Writes the member that an absent field has, if it has one.
    fn absent_member(&mut self, start: usize, field: &Field) -> Option<Range<usize>> {
        let optional = matches!(field.presence, Presence::Optional | Presence::OptionalOrEmpty);
        if optional && field.schema.default.is_none() {
            return None;
        }
        let begin = self.begin_member(start, &field.name);
        self.zero(&field.schema);
        Some(begin..self.out.len())
    }

    /// The members of a struct of which the client gave none.
    fn absent_members(&mut self, object: &Object) -> Members {
        let start = self.out.len();
        let slot = |field| Slot { given: false, member: self.absent_member(start, field) };
        Members { slots: object.fields.iter().map(slot).collect(), in_order: true }
    }

    fn begin_member(&mut self, start: usize, name: &str) -> usize {
        if self.out.len() > start {
            self.out.push(',');
        }
        let begin = self.out.len();
        write_string(&mut self.out, name);
        self.out.push(':');
        begin
    }

    fn map(&mut self, values: &'a Schema) -> Result<Found, SyntaxError> {
        self.out.push('{');
        let start = self.out.len();
        let mut entries: Vec<(Cow<'a, str>, Range<usize>)> = Vec::new();
        let mut sorted = true;
        self.scan.open_object()?;
        while let Some(key) = self.scan.member(entries.is_empty())? {
            let begin = self.begin_member(start, &key);
            self.path.push(Step::Key(key));
            if self.value(values)? == Found::Null {
                self.zero(values);
            }
            let Some(Step::Key(key)) = self.path.pop() else {
                unreachable!("pushed three lines above")
            };
            sorted &= entries.last().is_none_or(|(last, _)| *last < key);
            entries.push((key, begin..self.out.len()));
        }
        let found = if entries.is_empty() { Found::Empty } else { Found::Full };
        if !sorted {
            self.sort_entries(start, entries);
        }
        self.out.push('}');
        Ok(found)
    }

    /// Puts map entries into the order of their keys; of equal keys the last stays.
    fn sort_entries(&mut self, start: usize, mut entries: Vec<(Cow<'a, str>, Range<usize>)>) {
        // The sort is stable, so that among equal keys the text's order remains.
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        let mut repeated: Vec<(usize, Cow<'a, str>)> = Vec::new();
        let mut kept: Vec<(Cow<'a, str>, Range<usize>)> = Vec::with_capacity(entries.len());
        for (key, member) in entries {
            match kept.last_mut() {
                Some((last, place)) if *last == key => {
                    repeated.push((member.start, key));
                    *place = member;
                }
                _ => kept.push((key, member)),
            }
        }
        repeated.sort_unstable();
        for (_, key) in repeated {
            self.path.push(Step::Key(key));
            self.strays.add(Stray::Duplicate(self.place()));
            self.path.pop();
        }
        self.arrange(start, kept.into_iter().map(|(_, member)| member));
    }

    fn list(&mut self, list: &'a List) -> Result<Found, SyntaxError> {
        self.out.push('[');
        self.scan.open_array()?;
        let mut count = 0;
        while self.scan.item(count == 0)? {
            if count > 0 {
                self.out.push(',');
            }
            self.path.push(Step::Index(count));
            if self.value(&list.items)? == Found::Null {
                self.zero(&list.items);
            }
            self.path.pop();
            count += 1;
        }
        self.out.push(']');
        Ok(if count == 0 { Found::Empty } else { Found::Full })
    }

    /// Writes what stands for a value that is not there: its default, or Go's zero value.
    fn zero(&mut self, schema: &Schema) {
        if let Some(default) = &schema.default {
            // Writing to a String cannot fail.
            let _ = write!(self.out, "{default}");
            return;
        }
        if schema.pointer || schema.nullable {
            self.out.push_str("null");
            return;
        }
        match &schema.form {
            Form::String { format, .. } if format.as_deref() == Some("date-time") => {
                self.out.push_str("null");
            }
            Form::String { .. } => self.out.push_str("\"\""),
            Form::Integer(_) | Form::Number | Form::IntOrString => self.out.push('0'),
            Form::Boolean => self.out.push_str("false"),
            Form::Map(_) | Form::List(_) | Form::Opaque { .. } => self.out.push_str("null"),
            Form::Object(object) => {
                self.out.push('{');
                self.absent_members(object);
                self.out.push('}');
            }
        }
    }

    /// Rewrites the output from `start` so that it consists of the given pieces of it, in that order and joined by commas.
    fn arrange(&mut self, start: usize, pieces: impl IntoIterator<Item = Range<usize>>) {
        let old = self.out.split_off(start);
        let known = self.empty_lists.partition_point(|&at| at < start);
        let old_lists = self.empty_lists.split_off(known);
        self.out.reserve(old.len());
        for piece in pieces {
            if self.out.len() > start {
                self.out.push(',');
            }
            let moved_to = self.out.len();
            self.out.push_str(&old[piece.start - start..piece.end - start]);
            let inside = old_lists.partition_point(|&at| at < piece.start)
                ..old_lists.partition_point(|&at| at < piece.end);
            self.empty_lists.extend(old_lists[inside].iter().map(|at| at - piece.start + moved_to));
        }
    }

    // === messages ===

    fn mismatch(&mut self, found: &str, schema: &Schema) {
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

    fn type_message(&self, found: &str, go_type: &str) -> String {
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
    fn place(&self) -> String {
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

fn plain_string(json: &str) -> String {
    serde_json::from_str(json).expect("the decoder has written a JSON string")
}

#[cfg(test)]
mod tests;
