//! Methods of Python's strings, lists and dictionaries.

use minijinja::value::{Value, ValueKind, from_args};
use minijinja::{Error, State};
use minijinja_contrib::pycompat;

/// Calls a method that the engine does not know. Those of Python 2 go by their later names.
pub(super) fn call(
    state: &mut State,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let known =
        |state: &mut State, name| pycompat::unknown_method_callback(state, value, name, args);
    match (value.kind(), method) {
        (ValueKind::Map, "iteritems") => known(state, "items"),
        (ValueKind::Map, "iterkeys") => known(state, "keys"),
        (ValueKind::Map, "itervalues") => known(state, "values"),
        (ValueKind::Map, "has_key") => {
            let (key,): (&Value,) = from_args(args)?;
            Ok(value.as_object().and_then(|map| map.get_value(key)).is_some().into())
        }
        _ => known(state, method),
    }
}
