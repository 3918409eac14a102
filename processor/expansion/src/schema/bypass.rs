//! Which errors a reference causes: `$(ref.NAME.PATH)` stands for a value that is not known yet, so it satisfies any
//! schema.
//!
//! Deployment Manager dropped every error whose value had a reference anywhere in it. Here an error is dropped when it
//! would go away with another value in place of the reference: a list that is too short stays too short. That something
//! is lacking beside a reference is dropped as well, since configurations were written that count on it.

use std::collections::BTreeSet;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

use super::pointer;
use crate::references::references;
use crate::value::Value;

/// The references in a value.
pub(super) struct Bypass<'v> {
    root: &'v Value,
    /// Addresses of values that hold a reference, in their text or further down.
    holding: BTreeSet<usize>,
}

impl<'v> Bypass<'v> {
    /// Looks for references.
    pub(super) fn new(root: &'v Value) -> Self {
        let mut holding = BTreeSet::new();
        find(root, &mut holding);
        Self { root, holding }
    }

    /// Whether an error is a reference's.
    pub(super) fn covers(&self, error: &ValidationError<'_>) -> bool {
        if self.holding.is_empty() {
            return false;
        }
        let value = pointer::locate(self.root, error.instance_path()).value;
        if !self.holding.contains(&std::ptr::from_ref(value).addr()) {
            return false;
        }
        match error.kind() {
            // A name of a member is no value.
            Kind::PropertyNames { .. } => false,
            _ if value.as_str().is_some() => true,
            Kind::Required { .. }
            | Kind::Enum { .. }
            | Kind::Constant { .. }
            | Kind::Not { .. }
            | Kind::UniqueItems
            | Kind::Contains
            | Kind::OneOfMultipleValid { .. } => true,
            // A branch whose every error is a reference's may hold.
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                context.iter().any(|branch| branch.iter().all(|error| self.covers(error)))
            }
            _ => false,
        }
    }
}

fn find(value: &Value, holding: &mut BTreeSet<usize>) -> bool {
    let holds = match value {
        Value::String(text) => references(text).is_ok_and(|found| !found.is_empty()),
        // Not `any`, which would stop at the first.
        Value::List(list) => list.iter().filter(|item| find(item, holding)).count() > 0,
        Value::Map(map) => map.values().filter(|member| find(member, holding)).count() > 0,
        _ => false,
    };
    if holds {
        holding.insert(std::ptr::from_ref(value).addr());
    }
    holds
}
