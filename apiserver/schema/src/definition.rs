//! What a schema is and how one is written down.
//!
//! A schema is a value: building one copies little, and a definition used in many places is shared. The vocabulary is that of the
//! Kubernetes API conventions and of Go's structs, since both the wire format and the ownership of fields follow from them.

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
        /// OpenAPI `format`; `date-time` is checked and normalised to UTC seconds, others are only published.
        format: Option<Text>,
        /// OpenAPI `enum`; published, not enforced by the decoder.
        values: Vec<Text>,
        /// A number or boolean is read as its text, with [`Stray::Coerced`](crate::Stray::Coerced).
        lenient: bool,
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
    /// JSON that is none of this server's business: kept as it came, compared and owned as one value.
    Opaque {
        /// Anything but an object is a type error.
        object_only: bool,
    },
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

/// When a field is written, and whether OpenAPI lists it as required. Nobody is refused for leaving a field out: Go's decoder does not
/// notice, so that is validation's task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// `omitempty`: left out when absent, null or zero.
    Optional,
    /// As `Optional`, but an empty list or map is kept, because it says something else than an absent one.
    OptionalOrEmpty,
    /// No `omitempty`: always written, with the zero value when absent. Required in OpenAPI.
    Required,
    /// As `Required`, for a list that storage turns into `null` when it is empty; see [`Decoded::stored_fields`](crate::Decoded::stored_fields).
    Always(Emptiness),
    /// A struct held by value: always written, at least as `{}`, though `omitempty` stands beside it and OpenAPI does not require it.
    ByValue,
}

/// What is left of an empty list that is always written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emptiness {
    /// `null`, as after a round trip through protobuf.
    Null,
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
    /// In the singular, `Template`.
    pub kind: Text,
}

// === building ===

impl Schema {
    fn new(description: impl Into<Text>, form: Form) -> Self {
        let description = description.into();
        Self {
            description,
            definition: None,
            form,
            default: None,
            nullable: false,
            pointer: false,
            extensions: Vec::new(),
        }
    }

    /// A string.
    pub fn string(description: impl Into<Text>) -> Self {
        Self::new(description, Form::String { format: None, values: Vec::new(), lenient: false })
    }

    /// A signed 32-bit integer.
    pub fn int32(description: impl Into<Text>) -> Self {
        Self::new(description, Form::Integer(Width::Int32))
    }

    /// A signed 64-bit integer.
    pub fn int64(description: impl Into<Text>) -> Self {
        Self::new(description, Form::Integer(Width::Int64))
    }

    /// Any number.
    pub fn number(description: impl Into<Text>) -> Self {
        Self::new(description, Form::Number)
    }

    /// A boolean.
    pub fn boolean(description: impl Into<Text>) -> Self {
        Self::new(description, Form::Boolean)
    }

    /// An integer or a string, as `targetPort`.
    pub fn int_or_string(description: impl Into<Text>) -> Self {
        Self::new(description, Form::IntOrString)
    }

    /// A struct. `definition` is its name in OpenAPI; the last two segments name its Go type in messages (`v1.Parameter`).
    pub fn object(definition: impl Into<Text>, description: impl Into<Text>) -> Self {
        let object = Object {
            name: definition.into(),
            description: description.into(),
            fields: Vec::new(),
            atomic: false,
            kinds: Vec::new(),
        };
        Self::new("", Form::Object(Arc::new(object)))
    }

    /// A map with data for keys. Say what it is for with [`Schema::described`].
    pub fn map(values: Schema) -> Self {
        Self::new("", Form::Map(Box::new(values)))
    }

    /// A list, atomic unless [`Schema::set`] or [`Schema::map_by`] says otherwise.
    pub fn list(items: Schema) -> Self {
        Self::new("", Form::List(List { items: Box::new(items), kind: ListType::Unset }))
    }

    /// Any JSON value, kept as it came and owned as a whole.
    pub fn opaque(description: impl Into<Text>) -> Self {
        Self::new(description, Form::Opaque { object_only: false })
    }

    /// Any JSON object, kept as it came and owned as a whole. What upstream calls `RawExtension` takes other values too: see
    /// [`meta::raw_extension`](crate::meta::raw_extension).
    pub fn opaque_object(description: impl Into<Text>) -> Self {
        Self::new(description, Form::Opaque { object_only: true })
    }

    /// Says what the value is for at this place. A definition keeps its own description.
    #[must_use]
    pub fn described(mut self, description: impl Into<Text>) -> Self {
        self.description = description.into();
        self
    }

    /// Publishes this type, as described so far, under a name of its own to which its uses refer. A struct has a name already.
    #[must_use]
    pub fn named(mut self, definition: impl Into<Text>) -> Self {
        self.definition = Some((definition.into(), std::mem::take(&mut self.description)));
        self
    }

    /// The value of an absent field. A field with a default keeps a zero that was given.
    #[must_use]
    pub fn default_value(mut self, default: impl Into<Value>) -> Self {
        self.default = Some(default.into());
        self
    }

    /// Keeps an explicit null.
    #[must_use]
    pub fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// A Go pointer: absent and zero are two values, so that a zero is written.
    #[must_use]
    pub fn pointer(mut self) -> Self {
        self.pointer = true;
        self
    }

    /// Publishes one more `x-` property at this place; it has no effect of its own.
    #[must_use]
    pub fn extension(mut self, name: impl Into<Text>, value: impl Into<Value>) -> Self {
        self.extensions.push((name.into(), value.into()));
        self
    }

    /// Sets the `format` of a string.
    ///
    /// # Panics
    /// If this is not a string: schemas are made at start, and a wrong one must not serve.
    #[must_use]
    pub fn format(mut self, name: impl Into<Text>) -> Self {
        let Form::String { format, .. } = &mut self.form else {
            panic!("format belongs to a string")
        };
        *format = Some(name.into());
        self
    }

    /// Lists the values that a string may have. Published; checking them is validation's task.
    ///
    /// # Panics
    /// If this is not a string.
    #[must_use]
    pub fn one_of(mut self, allowed: impl IntoIterator<Item = &'static str>) -> Self {
        let Form::String { values, .. } = &mut self.form else {
            panic!("an enumeration is of strings")
        };
        *values = allowed.into_iter().map(Text::from).collect();
        self
    }

    /// Reads a number or a boolean as its text and reports that as [`Stray::Coerced`](crate::Stray::Coerced).
    ///
    /// # Panics
    /// If this is not a string.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        let Form::String { lenient, .. } = &mut self.form else {
            panic!("only a string can be lenient")
        };
        *lenient = true;
        self
    }

    /// Says explicitly that a list, or a struct, is owned as one value.
    ///
    /// # Panics
    /// If this is neither.
    #[must_use]
    pub fn atomic(mut self) -> Self {
        match &mut self.form {
            Form::List(list) => list.kind = ListType::Atomic,
            Form::Object(object) => Arc::make_mut(object).atomic = true,
            _ => panic!("only a list or a struct can be atomic"),
        }
        self
    }

    /// Makes a list a set: its items are scalars, each owned by itself.
    ///
    /// # Panics
    /// If this is not a list.
    #[must_use]
    pub fn set(self) -> Self {
        self.list_type(ListType::Set)
    }

    /// Makes a list a map of structs, told apart by these fields.
    ///
    /// # Panics
    /// If this is not a list.
    #[must_use]
    pub fn map_by(self, keys: &[&'static str]) -> Self {
        self.list_type(ListType::Map(keys.iter().map(|&key| Text::from(key)).collect()))
    }

    fn list_type(mut self, kind: ListType) -> Self {
        let Form::List(list) = &mut self.form else { panic!("only a list has a list type") };
        list.kind = kind;
        self
    }

    /// Adds a field that is left out when empty.
    #[must_use]
    pub fn optional(self, name: impl Into<Text>, schema: Schema) -> Self {
        self.field(name, schema, Presence::Optional)
    }

    /// Adds a field that is left out when absent; an empty list or map stays.
    #[must_use]
    pub fn optional_or_empty(self, name: impl Into<Text>, schema: Schema) -> Self {
        self.field(name, schema, Presence::OptionalOrEmpty)
    }

    /// Adds a field that is always written and that OpenAPI requires.
    #[must_use]
    pub fn required(self, name: impl Into<Text>, schema: Schema) -> Self {
        self.field(name, schema, Presence::Required)
    }

    /// Adds a list that is always written, as `null` once it is stored empty, and that OpenAPI requires.
    #[must_use]
    pub fn always(self, name: impl Into<Text>, schema: Schema) -> Self {
        self.field(name, schema, Presence::Always(Emptiness::Null))
    }

    /// Adds a struct that is always written though nobody has to give it, as `status`.
    #[must_use]
    pub fn by_value(self, name: impl Into<Text>, schema: Schema) -> Self {
        self.field(name, schema, Presence::ByValue)
    }

    fn field(self, name: impl Into<Text>, schema: Schema, presence: Presence) -> Self {
        let field = Field { name: name.into(), schema, presence };
        self.edit(|object| {
            assert!(
                object.find(&field.name).is_none(),
                "field {} of {} is there twice",
                field.name,
                object.name
            );
            object.fields.push(field);
        })
    }

    /// Makes a struct a kind: adds `kind`, `apiVersion` and `metadata` in front.
    #[must_use]
    pub fn kind(
        self,
        group: impl Into<Text>,
        version: impl Into<Text>,
        kind: impl Into<Text>,
    ) -> Self {
        let metadata = crate::meta::object_meta()
            .described("Name, labels and all else that every object has.");
        let front = crate::meta::type_meta_fields().into_iter().chain([Field {
            name: "metadata".into(),
            schema: metadata,
            presence: Presence::ByValue,
        }]);
        self.edit(|object| {
            object.fields.splice(0..0, front);
        })
        .also(group, version, kind)
    }

    /// Publishes the definition for one more group, version and kind.
    #[must_use]
    pub fn also(
        self,
        group: impl Into<Text>,
        version: impl Into<Text>,
        kind: impl Into<Text>,
    ) -> Self {
        let gvk =
            GroupVersionKind { group: group.into(), version: version.into(), kind: kind.into() };
        self.edit(|object| {
            object.kinds.push(gvk);
            object.kinds.sort();
        })
    }

    fn edit(mut self, change: impl FnOnce(&mut Object)) -> Self {
        let Form::Object(object) = &mut self.form else { panic!("only a struct has fields") };
        change(Arc::make_mut(object));
        self
    }

    /// The list of a kind: `KIND` + `List` with `metadata` and `items`, its definition beside the kind's own.
    ///
    /// # Panics
    /// If this is not a struct.
    pub fn list_of(item: &Schema) -> Self {
        let object = item.as_object().expect("a list of kinds needs a kind");
        let mut list = Self::object(
            format!("{}List", object.name),
            format!("{}List is a list of {0}.", object.short_name()),
        );
        for gvk in &object.kinds {
            list = list.also(gvk.group.clone(), gvk.version.clone(), format!("{}List", gvk.kind));
        }
        let metadata = crate::meta::list_meta()
            .described("What every list has: its version and where it goes on.");
        let items = Schema::list(item.clone()).described("The objects of the list.");
        for field in crate::meta::type_meta_fields() {
            list = list.field(field.name, field.schema, field.presence);
        }
        list.by_value("metadata", metadata).required("items", items)
    }
}

// === reading ===

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
    /// The definition name, `com.github.openshift.api.template.v1.Parameter`.
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
