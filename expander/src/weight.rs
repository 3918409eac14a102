//! How big a value is, roughly: what moves work off the server's threads, and what the cache counts.

use expansion::{Outcome, Rendered, Value};

/// What a value costs beside its text.
const NODE: usize = 32;

/// About how many bytes of memory a value takes.
pub(crate) fn of(value: &Value) -> usize {
    NODE + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::List(list) => list.iter().map(of).sum(),
        Value::Map(map) => map.iter().map(|(key, value)| NODE + key.len() + of(value)).sum(),
    }
}

/// The same for what a template gave.
pub(crate) fn of_outcome(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Rendered(Rendered::Text { text, properties, .. }) => {
            text.len() + properties.as_ref().map_or(0, of)
        }
        Outcome::Rendered(Rendered::Data { value, properties }) => {
            of(value) + properties.as_ref().map_or(0, of)
        }
        Outcome::Failed(fault) => fault.message.len(),
    }
}
