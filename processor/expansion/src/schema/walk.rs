//! The way of a schema through a value: which part of the one says something about which part of the other, and how many
//! steps such a way may take.

use super::branch::Branches;
use super::pointer;
use crate::value::{Map, Value};

/// How deep schemas may be applied within each other.
pub(super) const MAX_DEPTH: usize = 200;
/// How many steps one validation may take.
const MAX_STEPS: u64 = 1_000_000;

/// Why the way was not gone to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Schemas within schemas, without end or nearly so.
    Depth,
    /// Too many steps for one validation.
    Steps,
    /// All steps of the expansion are used up.
    Work,
}

/// What a walk may take.
pub(super) struct Budget<'w> {
    steps: u64,
    work: &'w mut u64,
}

impl<'w> Budget<'w> {
    /// A budget for one validation.
    pub(super) fn new(work: &'w mut u64) -> Self {
        Self { steps: MAX_STEPS, work }
    }

    /// Takes steps.
    pub(super) fn take(&mut self, steps: usize) -> Result<(), Stop> {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        self.steps = self.steps.checked_sub(steps).ok_or(Stop::Steps)?;
        *self.work = self.work.checked_sub(steps).ok_or(Stop::Work)?;
        Ok(())
    }
}

/// A part of a value that a schema is applied to.
pub(super) enum Part {
    /// The value itself.
    Itself,
    /// The member or item at a position.
    At(usize),
    /// The name of the member at a position.
    Name(usize),
}

/// One of the schemas that a keyword holds.
pub(super) struct Held<'s> {
    /// The schema that has the keyword.
    pub(super) schema: &'s Map,
    pub(super) keyword: &'static str,
    /// What the keyword holds.
    pub(super) held: &'s Value,
    /// Which one of it; `None` when the keyword holds only one.
    pub(super) place: Option<usize>,
}

impl<'s> Held<'s> {
    /// The schema itself.
    pub(super) fn subschema(&self) -> &'s Value {
        self.place.map_or(self.held, |at| pointer::child(self.held, at).expect("it is held"))
    }

    /// The parts of `value` that it is applied to; with no `branches` to match patterns, all that it may be applied to.
    pub(super) fn parts(&self, value: &Value, branches: Option<&Branches>) -> Vec<Part> {
        let own_name =
            || self.place.and_then(|at| Some(self.held.as_map()?.get_index(at)?.0.as_str()));
        match (self.keyword, value) {
            ("properties", Value::Map(map)) => {
                let at = own_name().and_then(|name| map.get_index_of(name));
                at.map(Part::At).into_iter().collect()
            }
            ("patternProperties", Value::Map(map)) => {
                let pattern = own_name().unwrap_or_default();
                let matches =
                    |name: &str| branches.is_none_or(|branches| branches.matches(pattern, name));
                positions(map, |name| matches(name)).map(Part::At).collect()
            }
            ("additionalProperties" | "unevaluatedProperties", Value::Map(map)) => {
                positions(map, |name| self.is_additional(name, branches)).map(Part::At).collect()
            }
            ("propertyNames", Value::Map(map)) => (0..map.len()).map(Part::Name).collect(),
            ("dependencies" | "dependentSchemas", Value::Map(map)) => {
                let there = own_name().is_some_and(|name| map.contains_key(name));
                there.then_some(Part::Itself).into_iter().collect()
            }
            ("items" | "prefixItems", Value::List(list)) => match self.place {
                Some(at) => (at < list.len()).then_some(Part::At(at)).into_iter().collect(),
                None => (self.before_items()..list.len()).map(Part::At).collect(),
            },
            ("additionalItems", Value::List(list)) => {
                let tuple = self.schema.get("items").and_then(Value::as_list);
                tuple.map_or(Vec::new(), |tuple| (tuple.len()..list.len()).map(Part::At).collect())
            }
            ("contains" | "unevaluatedItems", Value::List(list)) => {
                (0..list.len()).map(Part::At).collect()
            }
            ("allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else", _) => vec![Part::Itself],
            _ => Vec::new(),
        }
    }

    /// How many items `prefixItems` has taken.
    fn before_items(&self) -> usize {
        self.schema.get("prefixItems").and_then(Value::as_list).map_or(0, <[Value]>::len)
    }

    fn is_additional(&self, name: &str, branches: Option<&Branches>) -> bool {
        let named = self.schema.get("properties").is_some_and(|named| named.get(name).is_some());
        let matched = || {
            let patterns = self.schema.get("patternProperties").and_then(Value::as_map);
            let mut patterns = patterns.into_iter().flat_map(Map::keys);
            branches.is_some_and(|branches| patterns.any(|p| branches.matches(p, name)))
        };
        !named && !matched()
    }
}

fn positions(map: &Map, mut wanted: impl FnMut(&str) -> bool) -> impl Iterator<Item = usize> {
    map.keys().enumerate().filter(move |(_, name)| wanted(name)).map(|(at, _)| at)
}

pub(super) fn name(value: &Value, at: usize) -> Option<&str> {
    value.as_map()?.get_index(at).map(|(name, _)| name.as_str())
}

/// How large a value is, with all that is in it.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / 64,
        Value::List(list) => 1 + list.iter().map(size).sum::<usize>(),
        Value::Map(map) => {
            1 + map.iter().map(|(name, value)| name.len() / 64 + size(value)).sum::<usize>()
        }
        _ => 1,
    }
}
