//! Functions that every template may call.

use minijinja::value::{Kwargs, Rest, Value, ValueKind, merge_maps};
use minijinja::{Environment, Error, ErrorKind};
use minijinja_contrib::globals as contrib;

/// Puts them into the environment.
pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_function("cycler", |items: Rest<Value>| contrib::cycler(items.0));
    environment.add_function("joiner", contrib::joiner);
    environment.add_function("dict", dict);
    // It prints the engine's state, which no template needs.
    environment.remove_global("debug");
}

/// Python's `dict`: a map or pairs, and members by name.
fn dict(of: Option<Value>, named: Kwargs) -> Result<Value, Error> {
    let members: Vec<(String, Value)> = named
        .args()
        .map(|name| Ok((name.to_owned(), named.get(name)?)))
        .collect::<Result<_, Error>>()?;
    let members = Value::from_pairs(members);
    let first = match of {
        None => return Ok(members),
        Some(map) if map.kind() == ValueKind::Map => map,
        Some(pairs) => {
            Value::from_pairs(pairs.try_iter()?.map(pair).collect::<Result<Vec<_>, Error>>()?)
        }
    };
    Ok(merge_maps([first, members]))
}

fn pair(pair: Value) -> Result<(Value, Value), Error> {
    if pair.len() != Some(2) {
        return Err(Error::new(ErrorKind::InvalidOperation, "dict() wants pairs"));
    }
    Ok((pair.get_item_by_index(0)?, pair.get_item_by_index(1)?))
}
