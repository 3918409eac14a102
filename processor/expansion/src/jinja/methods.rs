//! Methods of Python's strings, lists and dictionaries.
//!
//! Those of Python 2 that templates of its time use are known by its names too. Nothing changes a list or a dictionary:
//! values here cannot be changed, and whoever calls `append` is told so.

mod strings;

use minijinja::value::{Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use minijinja_contrib::pycompat;

pub(super) use strings::{center, lines, replace};

/// Calls a method that the engine does not know.
pub(super) fn call(
    state: &mut State,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    let own = match value.kind() {
        ValueKind::String => strings::call(value.as_str().unwrap_or_default(), method, args),
        ValueKind::Map => of_map(state, value, method, args),
        ValueKind::Seq if method == "index" => position(value, args),
        _ => Err(unknown()),
    };
    match own {
        Err(error) if error.kind() == ErrorKind::UnknownMethod => {
            pycompat::unknown_method_callback(state, value, method, args)
        }
        known => known,
    }
}

fn of_map(state: &mut State, map: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    match method {
        "iteritems" | "viewitems" => pycompat::unknown_method_callback(state, map, "items", args),
        "iterkeys" | "viewkeys" => pycompat::unknown_method_callback(state, map, "keys", args),
        "itervalues" | "viewvalues" => {
            pycompat::unknown_method_callback(state, map, "values", args)
        }
        "has_key" => {
            let (key,): (&Value,) = from_args(args)?;
            Ok(map.as_object().and_then(|map| map.get_value(key)).is_some().into())
        }
        "copy" => {
            let () = from_args(args)?;
            Ok(map.clone())
        }
        _ => Err(unknown()),
    }
}

fn position(list: &Value, args: &[Value]) -> Result<Value, Error> {
    let (wanted,): (&Value,) = from_args(args)?;
    let at = list.try_iter()?.position(|item| item == *wanted);
    at.map(Value::from).ok_or_else(|| failed(format!("{wanted:?} is not in list")))
}

fn unknown() -> Error {
    Error::from(ErrorKind::UnknownMethod)
}

fn failed(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, what.into())
}
