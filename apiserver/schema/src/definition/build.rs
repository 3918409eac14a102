//! Writing a schema down.
//!
//! The methods panic when they are used on the wrong form. Schemas are made at start, from code: a
//! wrong one must not serve.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Field, Form, GroupVersionKind, List, ListType, Object, Presence, Scalars, Schema, Text, Width,
};

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
        Self::new(
            description,
            Form::String { format: None, values: Vec::new(), scalars: Scalars::Refused },
        )
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

    /// A struct. `definition` is its name in OpenAPI; the last two segments name its Go type in
    /// messages (`v1.Parameter`).
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

    /// Any JSON object, kept as it came and owned as a whole. What upstream calls `RawExtension`
    /// takes other values too: see [`meta::raw_extension`](crate::meta::raw_extension).
    pub fn opaque_object(description: impl Into<Text>) -> Self {
        Self::new(description, Form::Opaque { object_only: true })
    }

    /// Says what the value is for at this place. A definition keeps its own description.
    #[must_use]
    pub fn described(mut self, description: impl Into<Text>) -> Self {
        self.description = description.into();
        self
    }

    /// Publishes this type, as described so far, under a name of its own to which its uses refer. A
    /// struct has a name already.
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

    /// Reads a number or a boolean as its text and reports that as
    /// [`Stray::Coerced`](crate::Stray::Coerced).
    ///
    /// # Panics
    /// If this is not a string: schemas are made at start, and a wrong one must not serve.
    #[must_use]
    pub fn lenient(self) -> Self {
        self.with_scalars(Scalars::Reported)
    }

    /// Reads a number or a boolean as its text: the field is text that may look like any scalar.
    ///
    /// # Panics
    /// If this is not a string.
    #[must_use]
    pub fn or_scalar(self) -> Self {
        self.with_scalars(Scalars::Taken)
    }

    fn with_scalars(mut self, what: Scalars) -> Self {
        let Form::String { scalars, .. } = &mut self.form else {
            panic!("only a string can stand for other scalars")
        };
        *scalars = what;
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

    /// Adds a list that is always written, as `null` once it is stored empty, and that OpenAPI
    /// requires.
    #[must_use]
    pub fn always(self, name: impl Into<Text>, schema: Schema) -> Self {
        self.field(name, schema, Presence::Always)
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

    /// The list of a kind: `KIND` + `List` with `metadata` and `items`, its definition beside the
    /// kind's own.
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
