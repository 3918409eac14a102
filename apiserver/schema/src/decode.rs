//! Strict decoding: one pass over the body's text, normalised text out, no tree in between.
//!
//! Normalisation is what a round trip through Go's structs does: unknown fields are dropped, empty
//! optional ones left out, required ones filled in, fields written in the order of the schema and
//! map keys sorted. Opaque values keep their text (numbers, key order, duplicate keys), only white
//! space goes. Of a duplicate the last one counts; Go would merge two structs, which nobody relies
//! on.

mod containers;
mod members;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;
mod trace;

use std::fmt::Write;

use self::members::Members;
use self::trace::{Step, Strays};
use crate::decoded::{Decoded, Member, Normalized, Stray};
use crate::definition::{Form, Object, Scalars, Schema, Width};
use crate::error::{DecodeError, SyntaxError, TypeError};
use crate::scan::{Raw, Scanner, ValueKind, write_string};
use crate::time::normalize_time;

/// What Go prints for the type into which a body is first read.
const TYPE_META: &str = r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

/// Bounds of what is accepted. The size of the text is the caller's to bound, before it has it all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Open arrays and objects at any one place.
    pub depth: usize,
}

impl Default for Limits {
    /// 512 levels: far beyond any real object, and what the readers of stored text go down to.
    fn default() -> Self {
        Self { depth: 512 }
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

/// Decodes a value of any schema and gives it back as normalised text; for bodies that are not
/// stored objects, as `DeleteOptions`.
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
    fn into_decoded(mut self, object: &Object, written: &Members) -> Decoded {
        let (mut api_version, mut kind, mut metadata) = (None, None, "{}".to_owned());
        let mut pieces = Vec::with_capacity(object.fields.len());
        let mut members = Vec::with_capacity(object.fields.len());
        // Where the next one will begin once they stand together.
        let mut end = 0;
        for (field, slot) in object.fields.iter().zip(&written.slots) {
            let Some(piece) = slot.member.clone() else { continue };
            let value = &self.out[piece.start + field.name.len() + "\"\":".len()..piece.end];
            match &*field.name {
                "apiVersion" => api_version = Some(plain_string(value)),
                "kind" => kind = Some(plain_string(value)),
                "metadata" => value.clone_into(&mut metadata),
                _ => {
                    let name = end + 1..end + 1 + field.name.len();
                    let value = name.end + 2..name.end + 2 + value.len();
                    end = value.end + 1;
                    members.push(Member { name, value });
                    pieces.push(piece);
                }
            }
        }
        self.arrange(0, pieces);
        Decoded {
            api_version,
            kind,
            metadata,
            fields: self.out,
            members,
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
                let raw = self.scan.raw_string()?;
                Ok(if format.as_deref() == Some("date-time") {
                    self.time(&raw.decode())
                } else {
                    self.raw_string(raw)
                })
            }
            (Form::String { scalars, .. }, ValueKind::Number | ValueKind::Bool)
                if *scalars != Scalars::Refused =>
            {
                self.coerce(kind, *scalars)
            }
            (Form::Integer(width), ValueKind::Number) => self.integer(*width, schema),
            (Form::IntOrString, ValueKind::Number) => self.integer(Width::Int32, schema),
            (Form::IntOrString, ValueKind::String) => {
                let raw = self.scan.raw_string()?;
                self.raw_string(raw);
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

    fn raw_string(&mut self, raw: Raw<'_>) -> Found {
        if raw.escaped {
            return self.string(&raw.decode());
        }
        // Without escapes there is one way to write a string: this one.
        self.out.push_str(raw.text);
        if raw.text.len() == "\"\"".len() { Found::Zero } else { Found::Full }
    }

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

    fn coerce(&mut self, kind: ValueKind, scalars: Scalars) -> Result<Found, SyntaxError> {
        let text = self.scan.skip()?;
        if scalars == Scalars::Reported {
            let error = self.type_message(kind.word(), "string");
            self.strays.add(Stray::Coerced { path: self.place(), text: text.to_owned(), error });
        }
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
}

fn plain_string(json: &str) -> String {
    let string = Scanner::new(json, 0).string();
    string.expect("the decoder has written a JSON string").into_owned()
}
