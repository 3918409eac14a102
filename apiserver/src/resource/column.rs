//! What a resource shows of its objects in a `Table`.

use serde::Serialize;

/// A column, as meta/v1 `TableColumnDefinition`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Column {
    /// The header.
    pub name: &'static str,
    /// An OpenAPI type: `string`, `integer`, `date`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// An OpenAPI format; `name` marks the object's name.
    pub format: &'static str,
    /// What the column shows.
    pub description: &'static str,
    /// 0 is always shown; more only with `-o wide`.
    pub priority: i32,
}

impl Column {
    /// A column of text that is always shown.
    pub const fn text(name: &'static str, description: &'static str) -> Self {
        Self { name, kind: "string", format: "", description, priority: 0 }
    }
}

/// One value in a row.
pub type Cell = serde_json::Value;
