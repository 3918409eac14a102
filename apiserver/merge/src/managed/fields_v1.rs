//! `FieldsV1`, the JSON form of a [`FieldSet`].

use std::fmt;

use schema::json::{Scanner, ValueKind, write_escaped, write_string};

use super::element::PathElement;
use super::set::FieldSet;

/// Nesting of a set; no schema comes near.
const MAX_DEPTH: usize = 500;

impl FieldSet {
    /// Reads a set. Its order does not matter, elements of unknown kinds are skipped, and what
    /// follows the object is ignored.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn from_fields_v1(text: &str) -> Result<Self, String> {
        let mut scanner = Scanner::new(text, MAX_DEPTH);
        read(&mut scanner).map(|node| node.below)
    }

    /// The set as `FieldsV1`, byte for byte as the reference writes it.
    pub fn to_fields_v1(&self) -> String {
        let mut out = String::with_capacity(256);
        write(self, false, &mut out);
        out
    }
}

impl fmt::Display for FieldSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.to_fields_v1())
    }
}

#[derive(Default)]
struct Node {
    /// `.` was there.
    is_member: bool,
    /// Any entry but `.` survived.
    has_entries: bool,
    below: FieldSet,
}

fn read(scanner: &mut Scanner<'_>) -> Result<Node, String> {
    let mut node = Node::default();
    match scanner.peek().map_err(|error| error.to_string())? {
        ValueKind::Null => {
            scanner.null().map_err(|error| error.to_string())?;
            return Ok(node);
        }
        ValueKind::Object => scanner.open_object().map_err(|error| error.to_string())?,
        other => return Err(format!("expected an object, got {}", other.word())),
    }
    let mut first = true;
    while let Some(key) = scanner.member(first).map_err(|error| error.to_string())? {
        first = false;
        let element = if key == "." {
            node.is_member = true;
            None
        } else {
            PathElement::parse(&key)?
        };
        let Some(element) = element else {
            scanner.skip().map_err(|error| error.to_string())?;
            continue;
        };
        node.has_entries = true;
        let child = read(scanner)?;
        if child.is_member || !child.has_entries {
            node.below.insert_member(element.clone());
        }
        if child.has_entries {
            node.below.set_child(element, child.below);
        }
    }
    Ok(node)
}

/// Writes a node. Members and children come in one order, so both lists are walked together.
fn write(set: &FieldSet, is_member: bool, out: &mut String) {
    out.push('{');
    let start = out.len();
    if is_member {
        out.push_str("\".\":{}");
    }
    let mut members = set.members.iter().peekable();
    let mut children = set.children.iter().peekable();
    let mut text = String::new();
    loop {
        let (member, child) = match (members.peek(), children.peek()) {
            (None, None) => break,
            (Some(member), Some((element, _))) if *member < element => (members.next(), None),
            (Some(member), Some((element, _))) if *member == element => {
                (members.next(), children.next())
            }
            (Some(_), None) => (members.next(), None),
            (_, Some(_)) => (None, children.next()),
        };
        let Some(element) = member.or_else(|| child.map(|(element, _)| element)) else { break };
        if out.len() > start {
            out.push(',');
        }
        if let PathElement::Field(name) = element {
            out.push_str("\"f:");
            write_escaped(out, name);
            out.push_str("\":");
        } else {
            text.clear();
            element.write(&mut text);
            write_string(out, &text);
            out.push(':');
        }
        match child {
            Some((_, child)) => write(child, member.is_some(), out),
            None => out.push_str("{}"),
        }
    }
    out.push('}');
}
