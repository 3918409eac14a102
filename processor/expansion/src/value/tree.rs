//! Values as the reader of YAML makes them.

use serde_json::Number;
use yaml::{Scalar, Tree};

use super::{Map, Value, size};

impl Tree for Value {
    type Members = Map;

    fn scalar(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Int(value) => Value::Number(value.into()),
            Scalar::Uint(value) => Value::Number(value.into()),
            Scalar::Float(value) => {
                Value::Number(Number::from_f64(value).expect("floats that are read are finite"))
            }
            Scalar::Text(text) => Value::String(text.into_owned()),
        }
    }

    fn list(items: Vec<Self>) -> Self {
        Value::List(items)
    }

    fn map(members: Map) -> Self {
        Value::Map(members)
    }

    fn insert(map: &mut Map, key: String, value: Self) -> Option<&str> {
        let (index, known) = map.insert_full(key, value);
        known.and_then(|_| map.get_index(index)).map(|(key, _)| key.as_str())
    }

    fn into_list(self) -> Result<Vec<Self>, Self> {
        if let Value::List(items) = self { Ok(items) } else { Err(self) }
    }

    fn into_map(self) -> Option<Map> {
        if let Value::Map(members) = self { Some(members) } else { None }
    }

    fn json_length(&self) -> usize {
        size::json_length(self)
    }
}

#[cfg(test)]
mod tests;
