//! What a template sees: the keys of its resource, `imports` and `env`.

use std::sync::Arc;

use minijinja::Value as Jinja;
use minijinja::value::{Enumerator, Object, ObjectExt as _};

use crate::call::{Call, Imports};
use crate::value::{Map, Value};

/// The variables of a call. `imports` and `env` win over keys of the resource with those names.
pub(super) fn root(call: &Call) -> Jinja {
    let resource = call.resource.iter().map(|(key, value)| (Jinja::from(key), value_of(value)));
    let imports = Jinja::from_object(Files(Arc::clone(&call.imports)));
    let around = [(Jinja::from("imports"), imports), (Jinja::from("env"), map_of(&call.env))];
    Jinja::from_pairs(resource.chain(around))
}

fn map_of(map: &Map) -> Jinja {
    Jinja::from_pairs(map.iter().map(|(key, value)| (key, value_of(value))))
}

/// One of our values as one of the engine's, in the same order.
pub(super) fn value_of(value: &Value) -> Jinja {
    match value {
        Value::Null => Jinja::from(()),
        Value::Bool(value) => Jinja::from(*value),
        Value::Number(number) => number
            .as_i64()
            .map(Jinja::from)
            .or_else(|| number.as_u64().map(Jinja::from))
            .or_else(|| number.as_f64().map(Jinja::from))
            .expect("a number is one of the three"),
        Value::String(text) => Jinja::from(text),
        Value::List(list) => Jinja::from(list.iter().map(value_of).collect::<Vec<_>>()),
        Value::Map(map) => map_of(map),
    }
}

/// `imports`: texts by name, none of which is copied before it is asked for.
#[derive(Debug)]
struct Files(Arc<Imports>);

impl Object for Files {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jinja> {
        self.0.get(key).map(|import| Jinja::from(&import.content))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_enumerator(|files| Box::new(files.0.keys().map(Jinja::from)))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.0.len())
    }
}
