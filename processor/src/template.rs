//! The envelope of a Template: typed fields, and objects as spans of the body.
//!
//! This is the only place that reads a body. It accepts what OpenShift's decoder accepts (`null`
//! for an absent field, any order, unknown fields) and reports what strict decoding would refuse
//! as [`Stray`]s; deciding what to do with those is the caller's. It checks JSON types, not values:
//! see [`validate`](crate::validate) and [`Values::resolve`](crate::Values::resolve).

mod constraints;
mod envelope;

pub use constraints::Constraints;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use crate::json::{Outline, Outlines};
use crate::{Dialect, Json, ParseError};

/// A Template read from a body, borrowing from it.
#[derive(Clone)]
pub struct Template<'t> {
    dialect: Dialect,
    api_version: Cow<'t, str>,
    kind: Cow<'t, str>,
    metadata: Option<Json<'t>>,
    message: Cow<'t, str>,
    objects: Option<Vec<Json<'t>>>,
    outlines: Outlines,
    parameters: Vec<Parameter<'t>>,
    labels: Option<BTreeMap<Cow<'t, str>, Cow<'t, str>>>,
    strays: Vec<Stray>,
    warnings: Vec<String>,
}

/// One parameter of a Template. An empty string and an absent field are the same, as in Go.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Parameter<'t> {
    /// What references call it.
    pub name: Cow<'t, str>,
    /// A name for people.
    pub display_name: Cow<'t, str>,
    /// A sentence for people.
    pub description: Cow<'t, str>,
    /// The value, unless the caller gives another.
    pub value: Cow<'t, str>,
    /// Name of the generator that makes a value where there is none; only `expression` exists.
    pub generate: Cow<'t, str>,
    /// Input of the generator.
    pub from: Cow<'t, str>,
    /// Whether an empty value is refused.
    pub required: bool,
    /// What values are allowed; OpenShift's parameters have no constraints.
    pub constraints: Constraints<'t>,
}

/// Without the value, which may be a secret.
impl fmt::Debug for Parameter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameter")
            .field("name", &self.name)
            .field("value", &"<redacted>")
            .field("generate", &self.generate)
            .field("required", &self.required)
            .finish_non_exhaustive()
    }
}

/// A field that the API does not have, or that is given twice. Strict decoding refuses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Where it stands, such as `parameters[0].foo`.
    pub path: String,
    /// What is odd about it.
    pub reason: Oddity,
}

/// Why a field is a [`Stray`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    /// No such field: it is dropped.
    Unknown,
    /// The field appears again: its last value is used.
    Duplicate,
}

/// The words of Kubernetes' strict decoder.
impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            Oddity::Unknown => "unknown",
            Oddity::Duplicate => "duplicate",
        };
        write!(f, "{reason} field \"{}\"", self.path)
    }
}

/// Without message and objects, which may hold secrets.
impl fmt::Debug for Template<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template")
            .field("dialect", &self.dialect)
            .field("metadata", &self.metadata)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

impl<'t> Template<'t> {
    /// Reads a JSON body.
    ///
    /// `apiVersion` and `kind` may say anything (an embedded Template's are ignored everywhere);
    /// callers that care ask [`api_version`](Self::api_version) and [`kind`](Self::kind).
    ///
    /// # Errors
    /// When the body is not JSON, nests deeper than [`MAX_DEPTH`](crate::MAX_DEPTH) levels, or
    /// has a field of the wrong JSON type.
    pub fn parse(body: &'t str, dialect: Dialect) -> Result<Self, ParseError> {
        envelope::read(body, dialect)
    }

    /// The language of its references.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// `apiVersion` as the body says it; empty when absent.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// `kind` as the body says it; empty when absent.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// `metadata` as the body says it: a map, its fields unchecked.
    pub fn metadata(&self) -> Option<Json<'t>> {
        self.metadata
    }

    /// The unsubstituted message; empty when absent. The proposal has none.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The parameters in order.
    pub fn parameters(&self) -> &[Parameter<'t>] {
        &self.parameters
    }

    /// The unprocessed objects; none when the field is absent or `null`.
    pub fn objects(&self) -> Option<&[Json<'t>]> {
        self.objects.as_deref()
    }

    /// What is known of an object besides its text.
    pub(crate) fn outline(&self, index: usize) -> Option<Outline<'_>> {
        self.outlines.get(index)
    }

    /// The unsubstituted labels; none (absent or `null`) is not the same as empty, which gives
    /// every object an empty `metadata.labels`.
    pub fn labels(&self) -> Option<&BTreeMap<Cow<'t, str>, Cow<'t, str>>> {
        self.labels.as_ref()
    }

    /// Unknown and duplicate fields of the envelope, at most a hundred. Objects are opaque here
    /// as they are upstream: nothing inside them is reported.
    pub fn strays(&self) -> &[Stray] {
        &self.strays
    }

    /// Where the body was understood though it is not what the API says: a parameter's `value`
    /// given as a number or bool. Strict decoding refuses these too.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
