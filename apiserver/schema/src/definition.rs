//! What a schema is and how one is written down.
//!
//! A schema is a value: building one copies little, and a definition used in many places is shared.
//! The vocabulary is that of the Kubernetes API conventions and of Go's structs, since both the
//! wire format and the ownership of fields follow from them.

mod build;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

/// Text of a schema: usually a literal.
pub type Text = Cow<'static, str>;

/// The type of a value, with what OpenAPI says about it and how it is normalised.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    pub(crate) description: Text,
    /// Name and description of the definition of a type that is no struct.
    pub(crate) definition: Option<(Text, Text)>,
    pub(crate) form: Form,
    pub(crate) default: Option<Value>,
    pub(crate) nullable: bool,
    pub(crate) pointer: bool,
    pub(crate) extensions: Vec<(Text, Value)>,
}

/// The alternatives of a type.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A string.
    String {
        /// OpenAPI `format`; `date-time` is checked and normalised to UTC seconds, others are only
        /// published.
        format: Option<Text>,
        /// OpenAPI `enum`; published, not enforced by the decoder.
        values: Vec<Text>,
        /// What becomes of a number or boolean that stands for it.
        scalars: Scalars,
    },
    /// A whole number.
    Integer(Width),
    /// Any number; its text is kept.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A 32-bit integer or a string.
    IntOrString,
    /// A struct: known fields only.
    Object(Arc<Object>),
    /// An object whose keys are data, owned key by key.
    Map(Box<Schema>),
    /// A list.
    List(List),
    /// JSON that is none of this server's business: kept as it came, compared and owned as one
    /// value.
    Opaque {
        /// Anything but an object is a type error.
        object_only: bool,
    },
}

/// What a string does with a number or boolean in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalars {
    /// It is a type error.
    Refused,
    /// It is read as its text, with [`Stray::Coerced`](crate::Stray::Coerced).
    Reported,
    /// It is read as its text, and that is all right.
    Taken,
}

/// The size of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// `int32`
    Int32,
    /// `int64`
    Int64,
}

/// A struct with its fields in the order in which they are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    pub(crate) name: Text,
    pub(crate) description: Text,
    pub(crate) fields: Vec<Field>,
    pub(crate) atomic: bool,
    pub(crate) kinds: Vec<GroupVersionKind>,
}

/// A field of an [`Object`].
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The JSON name. Matching is case-sensitive.
    pub name: Text,
    /// The type.
    pub schema: Schema,
    /// When the field is written.
    pub presence: Presence,
}

/// When a field is written, and whether OpenAPI lists it as required. Nobody is refused for leaving
/// a field out: Go's decoder does not notice, so that is validation's task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// `omitempty`: left out when absent, null or zero.
    Optional,
    /// As `Optional`, but an empty list or map is kept, because it says something else than an
    /// absent one.
    OptionalOrEmpty,
    /// No `omitempty`: always written, with the zero value when absent. Required in OpenAPI.
    Required,
    /// As `Required`, for a list that storage turns into `null` when it is empty; see
    /// [`Decoded::stored_fields`](crate::Decoded::stored_fields).
    Always,
    /// A struct held by value: always written, at least as `{}`, though `omitempty` stands beside
    /// it and OpenAPI does not require it.
    ByValue,
}

/// A list and how its items are told apart.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    /// The type of every item.
    pub items: Box<Schema>,
    /// `x-kubernetes-list-type`.
    pub kind: ListType,
}

/// `x-kubernetes-list-type`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListType {
    /// Not stated, which means atomic.
    Unset,
    /// Owned as one value.
    Atomic,
    /// Scalars, each owned by its value.
    Set,
    /// Structs, each owned by these of its fields.
    Map(Vec<Text>),
}

/// A kind as `x-kubernetes-group-version-kind` names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupVersionKind {
    /// Empty for the core group.
    pub group: Text,
    /// For example `v1`.
    pub version: Text,
    /// In the singular, `Deployment`.
    pub kind: Text,
}

impl Schema {
    /// The alternatives of the type.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// The value of an absent field.
    pub fn default_json(&self) -> Option<&Value> {
        self.default.as_ref()
    }

    /// The struct that this is, if it is one.
    pub fn as_object(&self) -> Option<&Object> {
        match &self.form {
            Form::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The name under which OpenAPI publishes this type, if it has one of its own.
    pub fn definition(&self) -> Option<&str> {
        match &self.form {
            Form::Object(object) => Some(&object.name),
            _ => self.definition.as_ref().map(|(name, _)| &**name),
        }
    }

    /// What the definition says about the type, as opposed to what this place says about the value.
    pub(crate) fn definition_description(&self) -> &str {
        match &self.form {
            Form::Object(object) => &object.description,
            _ => self.definition.as_ref().map_or("", |(_, description)| description),
        }
    }

    /// The name of the type in Go's messages: `string`, `[]v1.Parameter`, `map[string]string`.
    pub fn go_type(&self) -> String {
        match self.definition() {
            Some(name) => go_name(name),
            None => self.bare_go_type(),
        }
    }

    /// As [`Schema::go_type`], without the name that a scalar has in OpenAPI.
    pub(crate) fn bare_go_type(&self) -> String {
        match &self.form {
            Form::String { .. } => "string".into(),
            Form::Integer(Width::Int32) => "int32".into(),
            Form::Integer(Width::Int64) => "int64".into(),
            Form::Number => "float64".into(),
            Form::Boolean => "bool".into(),
            Form::IntOrString => "intstr.IntOrString".into(),
            Form::Object(object) => go_name(&object.name),
            Form::Map(values) => format!("map[string]{}", values.go_type()),
            Form::List(list) => format!("[]{}", list.items.go_type()),
            Form::Opaque { object_only: true } => "map[string]interface {}".into(),
            Form::Opaque { object_only: false } => "interface {}".into(),
        }
    }
}

impl Object {
    /// The definition name, `io.k8s.api.core.v1.ObjectReference`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The last segment of the definition name.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    /// The fields in the order in which they are written.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Whether the struct is owned as one value.
    pub fn is_atomic(&self) -> bool {
        self.atomic
    }

    /// The kinds that this struct is published for.
    pub fn kinds(&self) -> &[GroupVersionKind] {
        &self.kinds
    }

    /// The field of that name and its position.
    pub fn find(&self, name: &str) -> Option<(usize, &Field)> {
        // Structs are small: comparing lengths and bytes in a row beats hashing the name.
        self.fields.iter().enumerate().find(|(_, field)| field.name == name)
    }
}

fn go_name(definition: &str) -> String {
    let mut segments = definition.rsplit('.');
    let name = segments.next().unwrap_or(definition);
    match segments.next() {
        Some(package) => format!("{package}.{name}"),
        None => name.to_owned(),
    }
}
