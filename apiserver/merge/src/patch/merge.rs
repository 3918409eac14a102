//! RFC 7386, with the one thing that Kubernetes does beyond it: where a value is taken over from
//! the patch as a whole, members that are null are dropped from the objects inside it, even inside
//! lists.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schema::json::{Scanner, ValueKind, compact};
use schema::{DecodeError, Stray, SyntaxError, TypeError};

use super::{MAX_DEPTH, PatchError, Patched};
use crate::document::Node;

/// Applies a merge patch to a document.
///
/// # Errors
/// See [`PatchError`]; only [`PatchError::Operation`] cannot happen.
pub fn merge_patch(document: &str, patch: &str) -> Result<Patched, PatchError> {
    let mut reader =
        Reader { scanner: Scanner::new(patch, MAX_DEPTH), path: String::new(), strays: Vec::new() };
    let changes = reader.root().map_err(PatchError::Decode)?.ok_or(PatchError::Null)?;
    let document = compact(document, MAX_DEPTH).map_err(PatchError::Document)?;
    let mut root = Node::text(&document);
    merge(&mut root, changes, 0);
    let mut text = String::with_capacity(document.len() + patch.len());
    root.write(&mut text);
    Ok(Patched { text, strays: reader.strays.iter().map(ToString::to_string).collect() })
}

fn merge<'a>(target: &mut Node<'a>, changes: BTreeMap<Cow<'a, str>, Node<'a>>, level: usize) {
    if !target.is_object() {
        *target = Node::empty_object();
    }
    target.open(level);
    let Node::Object(members) = target else { return };
    for (key, change) in changes {
        match change {
            change if change.is_null() => {
                members.remove(&key);
            }
            Node::Object(changes) if members.get(&key).is_some_and(Node::is_object) => {
                if let Some(member) = members.get_mut(&key) {
                    merge(member, changes, level + 1);
                }
            }
            value => {
                members.insert(key, without_nulls(value));
            }
        }
    }
}

/// Drops null members from all objects in a value; null items of lists stay.
fn without_nulls(value: Node<'_>) -> Node<'_> {
    match value {
        Node::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !value.is_null());
            Node::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Node::Array(items) => Node::Array(items.into_iter().map(without_nulls).collect()),
        text @ Node::Text(_) => text,
    }
}

/// Reads a patch and notes keys that are there twice.
struct Reader<'a> {
    scanner: Scanner<'a>,
    path: String,
    strays: Vec<Stray>,
}

impl<'a> Reader<'a> {
    /// The members of the patch, `None` if it is null.
    fn root(&mut self) -> Result<Option<BTreeMap<Cow<'a, str>, Node<'a>>>, DecodeError> {
        let kind = self.scanner.peek()?;
        let node = self.value()?;
        self.scanner.end()?;
        match node {
            Node::Object(members) => Ok(Some(members)),
            node if node.is_null() => Ok(None),
            _ => {
                let message = format!(
                    "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                    kind.word()
                );
                Err(DecodeError::Type(TypeError { path: String::new(), message }))
            }
        }
    }

    fn value(&mut self) -> Result<Node<'a>, SyntaxError> {
        match self.scanner.peek()? {
            ValueKind::Object => self.object().map(Node::Object),
            ValueKind::Array => self.array(),
            _ => self.scanner.take().map(Node::Text),
        }
    }

    fn object(&mut self) -> Result<BTreeMap<Cow<'a, str>, Node<'a>>, SyntaxError> {
        let mut members = BTreeMap::new();
        let outer = self.path.len();
        self.scanner.open_object()?;
        let mut first = true;
        while let Some(key) = self.scanner.member(first)? {
            first = false;
            if outer > 0 {
                self.path.push('.');
            }
            self.path.push_str(&key);
            let value = self.value()?;
            if members.insert(key, value).is_some() {
                self.duplicate();
            }
            self.path.truncate(outer);
        }
        Ok(members)
    }

    fn array(&mut self) -> Result<Node<'a>, SyntaxError> {
        let mut items = Vec::new();
        let outer = self.path.len();
        self.scanner.open_array()?;
        while self.scanner.item(items.is_empty())? {
            self.path.push_str(&format!("[{}]", items.len()));
            let value = self.value()?;
            items.push(value);
            self.path.truncate(outer);
        }
        Ok(Node::Array(items))
    }

    fn duplicate(&mut self) {
        let stray = Stray::Duplicate(self.path.clone());
        // As many as upstream reports.
        if self.strays.len() < 100 && !self.strays.contains(&stray) {
            self.strays.push(stray);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::merge_patch;

    fn patched(document: &str, patch: &str) -> String {
        merge_patch(document, patch).unwrap().text
    }

    fn error(patch: &str) -> String {
        merge_patch("{}", patch).unwrap_err().to_string()
    }

    #[test]
    fn the_examples_of_the_rfc_hold() {
        for (document, patch, result) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"a":1,"e":null}"#),
            ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            assert_eq!(patched(document, patch), result, "{document} {patch}");
        }
    }

    #[test]
    fn what_is_not_touched_keeps_its_text() {
        assert_eq!(
            patched(
                r#"{"objects":[{"z":1.0,"a":1e3}],"message":"m"}"#,
                r#"{"message":"n","x":1.50}"#
            ),
            r#"{"message":"n","objects":[{"z":1.0,"a":1e3}],"x":1.50}"#
        );
    }

    #[test]
    fn nulls_inside_a_value_taken_as_a_whole_are_dropped_but_not_from_lists() {
        assert_eq!(
            patched("{}", r#"{"a":[null,{"x":null,"y":[{"z":null}]}]}"#),
            r#"{"a":[null,{"y":[{}]}]}"#
        );
    }

    #[test]
    fn a_malformed_patch_is_explained_as_upstream_does() {
        assert_eq!(
            error("[]"),
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"
        );
        assert_eq!(
            error(r#""x""#),
            "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"
        );
        assert_eq!(error("null"), "Invalid JSON Patch");
        assert_eq!(error("{"), "error decoding patch: unexpected end of JSON input");
        assert_eq!(
            error("message: y\n"),
            "error decoding patch: invalid character 'm' looking for beginning of value"
        );
    }

    #[test]
    fn duplicate_keys_are_noted_and_the_last_counts() {
        let patched =
            merge_patch("{}", r#"{"message":"a","message":"b","o":[{"k":1,"k":2}]}"#).unwrap();
        assert_eq!(patched.text, r#"{"message":"b","o":[{"k":2}]}"#);
        assert_eq!(patched.strays, [r#"duplicate field "message""#, r#"duplicate field "o[0].k""#]);
    }

    #[test]
    fn a_deep_patch_is_refused_and_a_legal_one_is_linear() {
        let deep = |levels: usize, inner: &str| {
            format!("{}{inner}{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
        };
        assert_eq!(error(&deep(1001, "1")), "error decoding patch: exceeded max depth");
        assert_eq!(patched(&deep(1000, "1"), &deep(1000, "2")), deep(1000, "2"));
    }
}
