//! Parameters of the query, as OpenAPI describes them.

/// A parameter in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// `string`, `integer` or `boolean`.
    pub kind: &'static str,
    /// What it does, in a sentence.
    pub description: &'static str,
}

impl Parameter {
    /// One whose value is text.
    pub const fn text(name: &'static str, description: &'static str) -> Self {
        Self { name, kind: "string", description }
    }
}
