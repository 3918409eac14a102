//! A tree for tests, which shows itself as JSON text.

use std::fmt;

use schema::json::write_string;

use super::node::Rules;
use super::{Scalar, Tree};

/// A value as JSON text has it, members in their order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Written {
    Scalar(String),
    List(Vec<Written>),
    Map(Vec<(String, Written)>),
}

impl Tree for Written {
    type Members = Vec<(String, Self)>;

    fn scalar(scalar: Scalar<'_>) -> Self {
        Self::Scalar(scalar.json(Rules::Python))
    }

    fn list(items: Vec<Self>) -> Self {
        Self::List(items)
    }

    fn map(members: Self::Members) -> Self {
        Self::Map(members)
    }

    fn insert(map: &mut Self::Members, key: String, value: Self) -> Option<&str> {
        let Some(place) = map.iter().position(|(known, _)| *known == key) else {
            map.push((key, value));
            return None;
        };
        map[place].1 = value;
        Some(&map[place].0)
    }

    fn into_list(self) -> Result<Vec<Self>, Self> {
        if let Self::List(items) = self { Ok(items) } else { Err(self) }
    }

    fn into_map(self) -> Option<Self::Members> {
        if let Self::Map(members) = self { Some(members) } else { None }
    }

    fn json_length(&self) -> usize {
        self.to_string().len()
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(json) => f.write_str(json),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::to_string).collect();
                write!(f, "[{}]", items.join(","))
            }
            Self::Map(members) => {
                let member = |(key, value): &(String, Self)| {
                    let mut member = String::new();
                    write_string(&mut member, key);
                    format!("{member}:{value}")
                };
                let members: Vec<String> = members.iter().map(member).collect();
                write!(f, "{{{}}}", members.join(","))
            }
        }
    }
}
