//! `Table`: what kubectl prints. The columns of a resource, and objects as rows of them.

mod age;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::meta::ObjectMeta;
use crate::object::{Object, Stored};
use crate::resource::{Cell, Column, Resource};
use crate::status::Error;

const NAME: Column = Column {
    name: "Name",
    kind: "string",
    format: "name",
    description: "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
    priority: 0,
};

const AGE: Column = Column {
    name: "Age",
    kind: "date",
    format: "",
    description: "How long ago the object was created.",
    priority: 0,
};

/// What a row carries of its object (`includeObject`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata, as a `PartialObjectMetadata`.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

impl IncludeObject {
    /// Reads the query parameter.
    ///
    /// # Errors
    /// 400 for an unknown value.
    pub fn parse(text: Option<&str>) -> Result<Self, Error> {
        match text {
            None | Some("" | "Metadata") => Ok(Self::Metadata),
            Some("None") => Ok(Self::None),
            Some("Object") => Ok(Self::Object),
            Some(other) => Err(Error::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {}: must be 'Metadata', 'Object', 'None', or empty",
                crate::field::quote(other)
            ))),
        }
    }
}

/// The columns of a resource: its name, its own, its age.
pub fn columns(resource: &Resource) -> Vec<Column> {
    let mut columns = vec![NAME];
    columns.extend_from_slice(resource.columns());
    columns.push(AGE);
    columns
}

/// Makes rows of objects.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// Whose objects they are.
    pub resource: &'a Resource,
    /// `meta.k8s.io/v1` or `meta.k8s.io/v1beta1`.
    pub api_version: &'a str,
    /// What of the object goes along.
    pub include: IncludeObject,
    /// The time by which ages are told.
    pub now: Timestamp,
}

#[derive(Serialize)]
struct Row<'a> {
    cells: Vec<Cell>,
    object: Option<&'a RawValue>,
}

impl Rows<'_> {
    /// Appends the row of one object as JSON.
    ///
    /// # Errors
    /// 500, when the stored object is not readable.
    pub fn write(&self, stored: &Stored<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let object = stored.to_object()?;
        let carried = self.carried(stored)?;
        let row = Row { cells: self.cells(&object), object: carried.as_deref() };
        serde_json::to_writer(out, &row).map_err(Error::internal)
    }

    fn cells(&self, object: &Object) -> Vec<Cell> {
        let ObjectMeta { name, creation_timestamp, .. } = &object.meta;
        let mut cells = vec![Cell::from(name.as_str())];
        cells.extend(self.resource.cells(object));
        cells.push(age::age(*creation_timestamp, self.now).into());
        cells
    }

    fn carried(&self, stored: &Stored<'_>) -> Result<Option<Box<RawValue>>, Error> {
        let mut text = Vec::new();
        match self.include {
            IncludeObject::None => return Ok(None),
            IncludeObject::Metadata => write_partial(stored, self.api_version, &mut text)?,
            IncludeObject::Object => stored.write(self.resource.head(), &mut text),
        }
        let text = String::from_utf8(text).map_err(Error::internal)?;
        RawValue::from_string(text).map(Some).map_err(Error::internal)
    }
}

/// Appends an object's metadata as a `PartialObjectMetadata`.
///
/// # Errors
/// 500, when the stored metadata is not readable.
pub fn write_partial(
    stored: &Stored<'_>,
    api_version: &str,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    out.extend_from_slice(b"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"");
    out.extend_from_slice(api_version.as_bytes());
    out.extend_from_slice(b"\",\"metadata\":");
    stored.write_metadata(out)?;
    out.push(b'}');
    Ok(())
}
