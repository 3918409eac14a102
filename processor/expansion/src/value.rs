//! The values of configurations: what JSON can say, with maps that keep their order.

mod repr;
mod size;
mod text;
mod tree;

use indexmap::IndexMap;
use serde_json::Number;

/// A map in the order in which its members were written; templates iterate in it.
pub type Map = IndexMap<String, Value>;

/// A value. Dates are text, and integers are 64 bits wide, with a sign or without.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` and `false`.
    Bool(bool),
    /// Integers and floats; a float is always finite.
    Number(Number),
    /// Text.
    String(String),
    /// A list.
    List(Vec<Value>),
    /// A map; its keys are strings.
    Map(Map),
}

impl Value {
    /// Reads JSON text; repeated keys keep the last value, nesting ends at 128 levels.
    ///
    /// # Errors
    /// When it is not JSON.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// JSON text without white space.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("keys are strings and floats are finite")
    }

    /// How much of a budget it takes: the bytes of its JSON text, or what its parts take in memory if that is more.
    pub fn size(&self) -> usize {
        size::of_value(self)
    }

    /// What the value of a JSON text will take of a budget, before it is made: a bound for whoever reads a stranger's.
    /// White space counts, and what is no JSON counts as anything.
    pub fn size_of_json(json: &[u8]) -> usize {
        size::of_json(json)
    }

    /// As Python prints a literal of it: `{'a': [1, True, None]}`. Deployment Manager's messages quote values so.
    pub fn repr(&self) -> String {
        repr::repr(self)
    }

    /// The member of that name, when this is a map and has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?.get(key)
    }

    /// The map, when it is one.
    pub fn as_map(&self) -> Option<&Map> {
        if let Value::Map(map) = self { Some(map) } else { None }
    }

    /// The list, when it is one.
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Value::List(list) = self { Some(list) } else { None }
    }

    /// The text, when it is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = self { Some(text) } else { None }
    }

    /// Whether Python takes it for false: null, false, zero, and whatever is empty.
    pub fn is_falsy(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(value) => !value,
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::String(text) => text.is_empty(),
            Value::List(list) => list.is_empty(),
            Value::Map(map) => map.is_empty(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_keep_their_order_and_the_last_of_repeated_keys() {
        let value = Value::from_json(r#"{"b": 1, "a": [2.5, null, true], "b": "x"}"#).unwrap();
        assert_eq!(value.to_json(), r#"{"b":"x","a":[2.5,null,true]}"#);
    }

    #[test]
    fn values_print_as_python_prints_them() {
        let text = r#"{"a": [1, 1.0, 1e16, 1e-5, true, null], "it's": "a\"b\n\u00e9", "e": {}}"#;
        let value = Value::from_json(text).unwrap();
        let want = r#"{'a': [1, 1.0, 1e+16, 1e-05, True, None], "it's": 'a"b\né', 'e': {}}"#;
        assert_eq!(value.repr(), want);
    }

    #[test]
    fn integers_of_64_bits_are_exact() {
        for text in ["18446744073709551615", "-9223372036854775808"] {
            assert_eq!(Value::from_json(text).unwrap().to_json(), text);
        }
    }
}
