//! RFC 6902, as Kubernetes applies it: indices may be negative, a missing value passes a test for
//! null, and the whole document can be tested and replaced but not added, removed, moved or copied.

use std::borrow::Cow;

use schema::json::{Scanner, compact};
use schema::{Limits, Schema};

use super::{MAX_COPIED, MAX_DEPTH, MAX_OPERATIONS, PatchError, Patched};
use crate::document::Node;

/// Applies a JSON patch to a document.
///
/// # Errors
/// See [`PatchError`]; nothing is half applied.
pub fn json_patch(document: &str, patch: &str) -> Result<Patched, PatchError> {
    let normalized =
        schema::normalize(&patch_schema(), patch, Limits::default()).map_err(PatchError::Decode)?;
    let operations = operations(&normalized.text);
    if operations.len() > MAX_OPERATIONS {
        return Err(PatchError::TooManyOperations(operations.len()));
    }
    let document = compact(document, MAX_DEPTH).map_err(PatchError::Document)?;
    let mut patching = Patching { root: Node::text(&document), copied: 0, depth: depth(&document) };
    for (index, operation) in operations.into_iter().enumerate() {
        patching.apply(operation).map_err(|reason| PatchError::Operation { index, reason })?;
    }
    let mut text = String::with_capacity(document.len() + patch.len());
    patching.root.write(&mut text);
    let strays = normalized.strays.iter().map(|stray| format!("json patch {stray}")).collect();
    Ok(Patched { text, strays })
}

/// The type that Kubernetes decodes a patch into; its name appears in messages.
fn patch_schema() -> Schema {
    let operation = Schema::object("handlers.jsonPatchOp", "")
        .optional("op", Schema::string(""))
        .optional("path", Schema::string("").pointer())
        .optional("from", Schema::string("").pointer())
        .optional("value", Schema::opaque("").nullable());
    Schema::list(operation)
}

#[derive(Default)]
struct Operation<'a> {
    op: Cow<'a, str>,
    path: Option<Cow<'a, str>>,
    from: Option<Cow<'a, str>>,
    value: Option<&'a str>,
}

/// Takes a normalised patch apart.
fn operations(normalized: &str) -> Vec<Operation<'_>> {
    const CHECKED: &str = "the patch was decoded before";
    let mut operations = Vec::new();
    let mut scanner = Scanner::new(normalized, usize::MAX);
    if normalized == "null" {
        return operations;
    }
    scanner.open_array().expect(CHECKED);
    while scanner.item(operations.is_empty()).expect(CHECKED) {
        let mut operation = Operation::default();
        scanner.open_object().expect(CHECKED);
        let mut first = true;
        while let Some(name) = scanner.member(first).expect(CHECKED) {
            first = false;
            if name == "value" {
                operation.value = Some(scanner.skip().expect(CHECKED));
                continue;
            }
            scanner.peek().expect(CHECKED);
            let text = scanner.string().expect(CHECKED);
            match &*name {
                "op" => operation.op = text,
                "path" => operation.path = Some(text),
                _ => operation.from = Some(text),
            }
        }
        operations.push(operation);
    }
    operations
}

fn depth(text: &str) -> usize {
    let mut scanner = Scanner::new(text, usize::MAX);
    scanner.skip().expect("the text was checked before");
    scanner.deepest()
}

struct Patching<'a> {
    root: Node<'a>,
    /// Bytes added by copy operations so far.
    copied: usize,
    /// The document is nested no deeper than this.
    depth: usize,
}

impl<'a> Patching<'a> {
    fn apply(&mut self, operation: Operation<'a>) -> Result<(), String> {
        let path = Pointer::parse(operation.path.as_deref().ok_or("it has no path")?)?;
        let from = || Pointer::parse(operation.from.as_deref().ok_or("it has no from")?);
        let value = || operation.value.ok_or("it has no value");
        match &*operation.op {
            "add" => {
                let value = value()?;
                self.deepen(&path, depth(value))?;
                self.add(&path, Node::text(value))
            }
            "remove" => self.remove(&path).map(drop),
            "replace" => {
                let value = value()?;
                self.deepen(&path, depth(value))?;
                *self.find(&path)?.ok_or_else(|| path.missing())? = Node::text(value);
                Ok(())
            }
            "move" => {
                let from = from()?;
                let value = self.remove(&from)?;
                self.deepen(&path, self.depth.saturating_sub(from.0.len()))?;
                self.add(&path, value)
            }
            "copy" => {
                let from = from()?;
                let value = self.find(&from)?.ok_or_else(|| from.missing())?.clone();
                self.copied += value.size();
                if self.copied > MAX_COPIED {
                    return Err(format!("copying adds more than {MAX_COPIED} bytes"));
                }
                self.deepen(&path, self.depth.saturating_sub(from.0.len()))?;
                self.add(&path, value)
            }
            "test" => {
                let mut wanted = Node::text(value()?);
                let level = path.0.len();
                let is_same = match self.find(&path)? {
                    Some(found) => found.same(&mut wanted, level),
                    None => wanted.is_null(),
                };
                if is_same {
                    Ok(())
                } else {
                    Err(format!(
                        "the value at {:?} is not the one tested for",
                        operation.path.unwrap_or_default()
                    ))
                }
            }
            other => Err(format!("unknown operation {other:?}")),
        }
    }

    /// Accounts for a value nested `depth` deep that is put at `path`.
    fn deepen(&mut self, path: &Pointer, depth: usize) -> Result<(), String> {
        self.depth = self.depth.max(path.0.len() + depth);
        if self.depth > MAX_DEPTH { Err("exceeded max depth".to_owned()) } else { Ok(()) }
    }

    /// The value at a path; `None` if only its last step leads nowhere.
    fn find(&mut self, path: &Pointer) -> Result<Option<&mut Node<'a>>, String> {
        let Some((last, _)) = path.0.split_last() else { return Ok(Some(&mut self.root)) };
        match self.container(path)? {
            Node::Object(members) => Ok(members.get_mut(last.as_str())),
            Node::Array(items) => {
                Ok(index(last, items.len()).and_then(|index| items.get_mut(index)))
            }
            Node::Text(_) => Err(path.missing()),
        }
    }

    /// The container that holds the value at a path, opened.
    fn container(&mut self, path: &Pointer) -> Result<&mut Node<'a>, String> {
        let (_, steps) = path.0.split_last().ok_or("it cannot be done to the whole document")?;
        let mut node = &mut self.root;
        node.open(0);
        for (level, step) in steps.iter().enumerate() {
            let next = match node {
                Node::Object(members) => members.get_mut(step.as_str()),
                Node::Array(items) => {
                    index(step, items.len()).and_then(|index| items.get_mut(index))
                }
                Node::Text(_) => None,
            };
            node = next.ok_or_else(|| path.missing())?;
            node.open(level + 1);
        }
        Ok(node)
    }

    fn add(&mut self, path: &Pointer, value: Node<'a>) -> Result<(), String> {
        let container = self.container(path)?;
        let last = path.0.last().ok_or("it cannot be done to the whole document")?;
        match container {
            Node::Object(members) => {
                members.insert(Cow::Owned(last.clone()), value);
            }
            Node::Array(items) if last == "-" => items.push(value),
            Node::Array(items) => {
                // Counted in the list as it will be, so that -1 is the new end.
                let at = index(last, items.len() + 1).ok_or_else(|| path.missing())?;
                items.insert(at, value);
            }
            Node::Text(_) => return Err(path.missing()),
        }
        Ok(())
    }

    fn remove(&mut self, path: &Pointer) -> Result<Node<'a>, String> {
        let container = self.container(path)?;
        let last = path.0.last().ok_or("it cannot be done to the whole document")?;
        match container {
            Node::Object(members) => members.remove(last.as_str()).ok_or_else(|| path.missing()),
            Node::Array(items) => {
                index(last, items.len()).map(|at| items.remove(at)).ok_or_else(|| path.missing())
            }
            Node::Text(_) => Err(path.missing()),
        }
    }
}

/// The position that an index names in a list of this length; a negative one counts from the end.
fn index(step: &str, length: usize) -> Option<usize> {
    let number: i64 = step.parse().ok()?;
    let position = if number < 0 { i64::try_from(length).ok()? + number } else { number };
    usize::try_from(position).ok().filter(|&position| position < length)
}

/// RFC 6901, decoded.
struct Pointer(Vec<String>);

impl Pointer {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let steps = text
            .strip_prefix('/')
            .ok_or_else(|| format!("{text:?} does not begin with a slash"))?;
        // ~1 first: "~01" stands for "~1".
        Ok(Self(steps.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect()))
    }

    fn missing(&self) -> String {
        format!("there is nothing at {:?}", format!("/{}", self.0.join("/")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::PatchError;
    use super::json_patch;

    fn patched(document: &str, patch: &str) -> Result<String, String> {
        json_patch(document, patch).map(|patched| patched.text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_touched_keeps_its_text() {
        let document = r#"{"b":[{"z":1.0,"a":1e3,"n":18446744073709551616}],"a":"\u00e9"}"#;
        assert_eq!(
            patched(document, r#"[{"op":"add","path":"/b/-","value":{"y":0.10,"x":null}}]"#)
                .unwrap(),
            r#"{"a":"\u00e9","b":[{"z":1.0,"a":1e3,"n":18446744073709551616},{"y":0.10,"x":null}]}"#
        );
        assert_eq!(patched(document, "[]").unwrap(), document);
        assert_eq!(patched(document, "null").unwrap(), document);
    }

    #[test]
    fn every_operation_does_what_the_rfc_says() {
        for (document, operation, result) in [
            (r#"{"a":1}"#, r#"{"op":"add","path":"/b","value":[]}"#, r#"{"a":1,"b":[]}"#),
            (r#"{"a":[1,2]}"#, r#"{"op":"add","path":"/a/1","value":9}"#, r#"{"a":[1,9,2]}"#),
            (r#"{"a":[1,2]}"#, r#"{"op":"add","path":"/a/2","value":9}"#, r#"{"a":[1,2,9]}"#),
            (r#"{"a":[1,2]}"#, r#"{"op":"add","path":"/a/-1","value":9}"#, r#"{"a":[1,2,9]}"#),
            (r#"{"a":[1,2]}"#, r#"{"op":"remove","path":"/a/-1"}"#, r#"{"a":[1]}"#),
            (
                r#"{"a":[1,2]}"#,
                r#"{"op":"replace","path":"/a/0","value":null}"#,
                r#"{"a":[null,2]}"#,
            ),
            (r#"{"a":null}"#, r#"{"op":"replace","path":"/a","value":1}"#, r#"{"a":1}"#),
            (
                r#"{"a":{"x/y":{"~":1}}}"#,
                r#"{"op":"remove","path":"/a/x~1y/~0"}"#,
                r#"{"a":{"x/y":{}}}"#,
            ),
            (r#"{"a":{"b":1}}"#, r#"{"op":"move","from":"/a/b","path":"/c"}"#, r#"{"a":{},"c":1}"#),
            (
                r#"{"a":{"b":1}}"#,
                r#"{"op":"copy","from":"/a","path":"/c"}"#,
                r#"{"a":{"b":1},"c":{"b":1}}"#,
            ),
            (
                r#"{"a":{"b":1.0,"c":"x"}}"#,
                r#"{"op":"test","path":"/a","value":{"c":"\u0078","b":1}}"#,
                r#"{"a":{"b":1.0,"c":"x"}}"#,
            ),
            (r#"{"a":1}"#, r#"{"op":"test","path":"/b","value":null}"#, r#"{"a":1}"#),
            (r#"{"a":1}"#, r#"{"op":"replace","path":"","value":{"b":2}}"#, r#"{"b":2}"#),
            (r#"{"":1}"#, r#"{"op":"replace","path":"/","value":2}"#, r#"{"":2}"#),
        ] {
            let patched = patched(document, &format!("[{operation}]")).unwrap();
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(value(&patched), value(result), "{document} {operation}");
        }
    }

    #[test]
    fn what_cannot_be_done_is_an_error() {
        for operation in [
            r#"{"op":"test","path":"/a","value":2}"#,
            r#"{"op":"test","path":"/l","value":[1,2,4]}"#,
            r#"{"op":"test","path":"/a"}"#,
            r#"{"op":"remove","path":"/nope"}"#,
            r#"{"op":"remove","path":""}"#,
            r#"{"op":"replace","path":"/nope/x","value":1}"#,
            r#"{"op":"replace","path":"/nope","value":1}"#,
            r#"{"op":"add","path":"/l/9","value":1}"#,
            r#"{"op":"add","path":"/l/-5","value":1}"#,
            r#"{"op":"add","path":"/a/b","value":1}"#,
            r#"{"op":"frob","path":"/a"}"#,
            r#"{"op":"ADD","path":"/a","value":1}"#,
            r#"{"op":"add","value":1}"#,
            r#"{"op":"add","path":"/a"}"#,
            r#"{"op":"add","path":"message","value":1}"#,
            r#"{"op":"move","path":"/l/x","from":"/l"}"#,
            r#"{"op":"copy","path":"/x","from":"/nope"}"#,
            r#"{"op":"copy","path":"/x"}"#,
        ] {
            let error =
                json_patch(r#"{"a":1,"l":[1,2,3]}"#, &format!("[{operation}]")).unwrap_err();
            assert!(
                matches!(error, PatchError::Operation { index: 0, .. }),
                "{operation}: {error}"
            );
        }
    }

    #[test]
    fn a_malformed_patch_is_explained_as_upstream_does() {
        for (patch, message) in [
            (
                r#"{"op":"add"}"#,
                "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
            ),
            (
                "nonsense",
                "error decoding patch: invalid character 'o' in literal null (expecting 'u')",
            ),
            ("", "error decoding patch: unexpected end of JSON input"),
            ("- {op: add}", "error decoding patch: invalid character ' ' in numeric literal"),
            (
                r#"[{"op":5}]"#,
                "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
            ),
        ] {
            assert_eq!(patched("{}", patch).unwrap_err(), message);
        }
        let patch = r#"[{"op":"add","path":"/message","value":"q","extra":1}]"#;
        assert_eq!(
            json_patch("{}", patch).unwrap().strays,
            [r#"json patch unknown field "[0].extra""#]
        );
    }

    #[test]
    fn operations_copies_and_depth_are_bounded() {
        let many = |operation: &str, count| format!("[{}]", vec![operation; count].join(","));
        assert_eq!(
            json_patch("{}", &many(r#"{"op":"add","path":"/a","value":1}"#, 10_000)).unwrap().text,
            r#"{"a":1}"#
        );
        assert_eq!(
            json_patch("{}", &many(r#"{"op":"add","path":"/a","value":1}"#, 10_001)).unwrap_err(),
            PatchError::TooManyOperations(10_001)
        );
        let doubling = many(r#"{"op":"copy","from":"/a","path":"/a/-"}"#, 30);
        assert!(
            patched(r#"{"a":["0123456789"]}"#, &doubling)
                .unwrap_err()
                .ends_with("copying adds more than 3145728 bytes")
        );
        let nesting = many(
            r#"{"op":"move","from":"/a","path":"/b/a"},{"op":"move","from":"/b","path":"/a"},{"op":"add","path":"/b","value":{}}"#,
            1000,
        );
        assert!(
            patched(r#"{"a":{},"b":{}}"#, &nesting).unwrap_err().ends_with("exceeded max depth")
        );
        let deep = format!("{}1{}", r#"{"a":"#.repeat(900), "}".repeat(900));
        let path = "/a".repeat(900);
        assert!(
            patched(&deep, &format!(r#"[{{"op":"replace","path":"{path}","value":2}}]"#))
                .unwrap()
                .contains(":2}")
        );
    }
}
