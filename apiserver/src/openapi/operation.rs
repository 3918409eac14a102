//! The operations of an API, before either version of OpenAPI writes them down. There is one for every
//! verb that discovery lists; what is answered under several codes is told for the usual one.

use schema::Schema;

use super::parameter::Parameter;

/// What bodies may be, and what answers can be.
pub(super) const MEDIA: &[&str] = &["application/json", "application/yaml"];

/// Operations, and the schemas that they refer to.
#[derive(Default)]
pub(super) struct Api {
    pub(super) operations: Vec<Operation>,
    pub(super) schemas: Vec<Schema>,
}

/// A method of a path.
pub(super) struct Operation {
    pub(super) path: String,
    /// The method in lower case.
    pub(super) method: &'static str,
    pub(super) id: String,
    pub(super) tag: String,
    pub(super) description: String,
    /// The verb as upstream names it here, and the kind that it is about.
    pub(super) about: Option<(&'static str, Kind)>,
    /// Parameters in the query besides `pretty`.
    pub(super) parameters: &'static [Parameter],
    pub(super) body: Option<Body>,
    pub(super) success: Success,
    pub(super) answer: Content,
    pub(super) produces: &'static [&'static str],
}

/// The usual outcome.
#[derive(Clone, Copy)]
pub(super) enum Success {
    Ok,
    Created,
}

/// A group, version and kind.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
}

/// The body of a request.
pub(super) struct Body {
    pub(super) content: Content,
    pub(super) media: &'static [&'static str],
    pub(super) required: bool,
}

/// What stands in a body.
#[derive(Clone)]
pub(super) enum Content {
    /// A kind with a definition of this name.
    Defined(String),
    /// Any JSON object.
    Object,
}

impl Success {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Ok => "200",
            Self::Created => "201",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Created => "Created",
        }
    }
}

impl Api {
    /// Moves everything out of `other`.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.operations.append(&mut other.operations);
        self.schemas.append(&mut other.schemas);
    }

    /// A reference to a schema, which is remembered.
    pub(super) fn content(&mut self, schema: &Schema) -> Content {
        let Some(name) = schema.definition() else { return Content::Object };
        let name = name.to_owned();
        if !self.schemas.iter().any(|known| known.definition() == Some(&name)) {
            self.schemas.push(schema.clone());
        }
        Content::Defined(name)
    }
}

/// What the operations of an API version share.
pub(super) struct Place {
    /// In names: `ShopExampleV1`.
    pub(super) prefix: String,
    /// `shopExample_v1`.
    pub(super) tag: String,
}

impl Place {
    pub(super) fn new(group: &str, version: &str) -> Self {
        let group = camel(group);
        let tag = format!("{}_{version}", lower_first(&group));
        Self { prefix: format!("{group}{}", camel(version)), tag }
    }
}

/// `shop.example` as `ShopExample`.
pub(super) fn camel(name: &str) -> String {
    let capital = |part: &str| {
        let (first, rest) = part.split_at(part.chars().next().map_or(0, char::len_utf8));
        first.to_uppercase() + rest
    };
    name.trim_end_matches(".k8s.io").split(['.', '-']).map(capital).collect()
}

pub(super) fn lower_first(name: &str) -> String {
    let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
    first.to_lowercase() + rest
}
