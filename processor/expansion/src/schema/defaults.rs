//! Defaults: what a schema puts where nothing was given.
//!
//! Deployment Manager did it with a validator whose `properties` set what was missing and whose `required` did nothing, and
//! so do we: defaults come from every schema that is applied to a map, from branches as well.

use super::branch::Branches;
use super::pointer;
use super::prepare::within;
use super::walk::{Budget, Held, MAX_DEPTH, Part, Stop, size};
use crate::value::{Map, Value};

/// Sets the defaults of `schema` in `value`, wherever a `properties` keyword is reached. `value` is changed even when the
/// branch that brings a default turns out not to hold, as it was in Deployment Manager; of `anyOf`, branches count up to the
/// first that holds, and of `then` and `else` the one that applies.
pub(super) fn fill(
    branches: &Branches,
    value: &mut Value,
    budget: &mut Budget<'_>,
) -> Result<(), Stop> {
    Fill { branches, budget }.apply(branches.root(), value, 0)
}

struct Fill<'s, 'b, 'w> {
    branches: &'s Branches,
    budget: &'b mut Budget<'w>,
}

impl<'s> Fill<'s, '_, '_> {
    fn apply(&mut self, schema: &'s Value, value: &mut Value, depth: usize) -> Result<(), Stop> {
        let Value::Map(schema) = schema else { return Ok(()) };
        if depth > MAX_DEPTH {
            return Err(Stop::Depth);
        }
        self.budget.take(1 + schema.len())?;
        if let Some(target) = self.branches.target(schema) {
            self.apply(target, value, depth + 1)?;
            if self.branches.version().reference_stands_alone() {
                return Ok(());
            }
        }
        for (keyword, holds) in self.branches.version().applicators() {
            let Some(held) = schema.get(keyword) else { continue };
            match keyword {
                "properties" => self.set_defaults(held, value)?,
                "anyOf" => {
                    self.any_of(held, value, depth)?;
                    continue;
                }
                "if" => continue,
                "then" | "else" if !self.applies(keyword, schema, value)? => continue,
                _ => {}
            }
            for place in within(held, holds) {
                let schema_at = Held { schema, keyword, held, place: place.first().copied() };
                self.parts(&schema_at, value, depth)?;
            }
        }
        Ok(())
    }

    fn parts(&mut self, held: &Held<'s>, value: &mut Value, depth: usize) -> Result<(), Stop> {
        let parts = held.parts(value, Some(self.branches));
        self.budget.take(parts.len())?;
        for part in parts {
            match part {
                Part::Itself => self.apply(held.subschema(), value, depth + 1)?,
                Part::At(at) => {
                    let child = pointer::child_mut(value, at).expect("it was found there");
                    self.apply(held.subschema(), child, depth + 1)?;
                }
                Part::Name(_) => {}
            }
        }
        Ok(())
    }

    /// Sets what is missing among the `properties`. A default that stands beside a `$ref` comes before the one it leads to.
    fn set_defaults(&mut self, properties: &'s Value, value: &mut Value) -> Result<(), Stop> {
        let (Value::Map(properties), Value::Map(members)) = (properties, value) else {
            return Ok(());
        };
        self.budget.take(properties.len())?;
        for (name, schema) in properties {
            if members.contains_key(name) {
                continue;
            }
            if let Some(default) = self.default(schema)? {
                self.budget.take(8 * size(default))?;
                members.insert(name.clone(), default.clone());
            }
        }
        Ok(())
    }

    fn default(&mut self, mut schema: &'s Value) -> Result<Option<&'s Value>, Stop> {
        for _ in 0..MAX_DEPTH {
            let Value::Map(map) = schema else { return Ok(None) };
            match (map.get("default"), self.branches.target(map)) {
                (Some(default), _) => return Ok(Some(default)),
                (None, None) => return Ok(None),
                (None, Some(target)) => schema = target,
            }
            self.budget.take(1)?;
        }
        Err(Stop::Depth)
    }

    fn any_of(&mut self, held: &'s Value, value: &mut Value, depth: usize) -> Result<(), Stop> {
        let Value::List(schemas) = held else { return Ok(()) };
        for (at, schema) in schemas.iter().enumerate() {
            self.apply(schema, value, depth + 1)?;
            // Which branch holds matters only if a later one could still bring something.
            let later = &schemas[at + 1..];
            self.budget.take(later.iter().map(size).sum())?;
            let matters = later.iter().any(brings_defaults);
            if !matters || self.branches.holds_without_required(schema, value, self.budget)? {
                break;
            }
        }
        Ok(())
    }

    fn applies(&mut self, keyword: &str, schema: &'s Map, value: &Value) -> Result<bool, Stop> {
        let Some(condition) = schema.get("if") else { return Ok(false) };
        if !schema.get(keyword).is_some_and(brings_defaults) {
            return Ok(false);
        }
        Ok(self.branches.holds(condition, value, self.budget)? == (keyword == "then"))
    }
}

/// Whether a schema may bring defaults: it has some, or refers to others.
fn brings_defaults(schema: &Value) -> bool {
    match schema {
        Value::Map(map) => {
            map.contains_key("default")
                || map.contains_key("$ref")
                || map.values().any(brings_defaults)
        }
        Value::List(list) => list.iter().any(brings_defaults),
        _ => false,
    }
}
