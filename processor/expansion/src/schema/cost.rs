//! What validating would take, counted before it is done.
//!
//! Schemas may refer to themselves and branch at every level, so that a page of schema can keep a validator busy for years.
//! The count is an upper bound: it goes down every branch, as often as the `jsonschema` crate does.

use super::branch::Branches;
use super::pointer;
use super::prepare::within;
use super::walk::{Budget, Held, MAX_DEPTH, Part, Stop, name, size};
use crate::value::{Map, Value};

/// Counts the steps of validating `value` by `schema`, at most.
pub(super) fn measure(
    branches: &Branches,
    schema: &Value,
    value: &Value,
    budget: &mut Budget<'_>,
) -> Result<(), Stop> {
    Measure { branches, budget, passes: 1, path: 0 }.apply(schema, value, 0)
}

struct Measure<'s, 'b, 'w> {
    branches: &'s Branches,
    budget: &'b mut Budget<'w>,
    /// How often a validator goes here: once to see whether a branch holds, and again to say why not.
    passes: usize,
    /// How long the path to the value is, in bytes: every error carries it.
    path: usize,
}

impl<'s> Measure<'s, '_, '_> {
    fn apply(&mut self, schema: &'s Value, value: &Value, depth: usize) -> Result<(), Stop> {
        if depth > MAX_DEPTH {
            return Err(Stop::Depth);
        }
        let Value::Map(schema) = schema else { return self.budget.take(self.passes) };
        let steps = 1 + breadth(schema, value) + weight(value) + self.path / 64;
        self.budget.take(steps.saturating_mul(self.passes))?;
        if let Some(target) = self.branches.target(schema) {
            self.apply(target, value, depth + 1)?;
            if self.branches.version().reference_stands_alone() {
                return Ok(());
            }
        }
        for (keyword, holds) in self.branches.version().applicators() {
            let Some(held) = schema.get(keyword) else { continue };
            let repeated = match keyword {
                "anyOf" | "oneOf" | "not" | "if" | "contains" => 2,
                "unevaluatedProperties" | "unevaluatedItems" => 4,
                _ => 0,
            };
            self.passes += repeated;
            for place in within(held, holds) {
                let held = Held { schema, keyword, held, place: place.first().copied() };
                self.parts(&held, value, depth)?;
            }
            self.passes -= repeated;
        }
        Ok(())
    }

    fn parts(&mut self, held: &Held<'s>, value: &Value, depth: usize) -> Result<(), Stop> {
        let parts = held.parts(value, None);
        self.budget.take(parts.len())?;
        for part in parts {
            let path = self.path;
            match part {
                Part::Itself => self.apply(held.subschema(), value, depth + 1)?,
                Part::At(at) => {
                    self.path += name(value, at).map_or(8, str::len);
                    let child = pointer::child(value, at).expect("it was found there");
                    self.apply(held.subschema(), child, depth + 1)?;
                }
                Part::Name(at) => {
                    let name = Value::from(name(value, at).unwrap_or_default());
                    self.apply(held.subschema(), &name, depth + 1)?;
                }
            }
            self.path = path;
        }
        Ok(())
    }
}

/// What the keywords of one schema take at one value, but for the schemas within.
fn breadth(schema: &Map, value: &Value) -> usize {
    let of = |(keyword, held): (&String, &Value)| match (keyword.as_str(), held) {
        // Every error of `not` carries a copy.
        ("not", held) => 1 + size(held),
        ("enum", Value::List(options)) => options.len().saturating_mul(size(value)),
        ("const", _) => size(value),
        ("uniqueItems", _) => size(value).saturating_mul(4),
        ("pattern", _) => value.as_str().map_or(0, |text| text.len() / 4),
        ("patternProperties", Value::Map(patterns)) => {
            let names =
                value.as_map().map_or(0, |map| map.keys().map(|name| 2 + name.len() / 4).sum());
            patterns.len().saturating_mul(names)
        }
        (_, Value::List(list)) => list.len(),
        (_, Value::Map(map)) => map.len(),
        _ => 1,
    };
    schema.iter().map(of).fold(0, usize::saturating_add)
}

/// How wide a value is.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / 64,
        Value::List(list) => list.len(),
        Value::Map(map) => map.keys().map(|name| 1 + name.len() / 64).sum(),
        _ => 0,
    }
}
