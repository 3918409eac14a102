//! Where an answer differs from the recorded one.
//!
//! A comparison knows no rule and forgives nothing; it only lists differences by their place.

use serde_json::{Map, Number, Value};

use crate::binding::{Bindings, Revision};
use crate::recording::Answered;

/// An answer of ours, taken apart for comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub status: u16,
    pub media: String,
    pub warnings: Vec<String>,
    pub headers: Vec<(String, String)>,
    /// The body after its content encoding.
    pub text: String,
    /// The body as JSON, when it is.
    pub body: Option<Value>,
    /// The events of a watch.
    pub events: Vec<Value>,
    /// Bytes on the wire.
    pub length: usize,
}

/// One place where the two differ. `None` is an absent value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    pub path: String,
    pub want: Option<Value>,
    pub got: Option<Value>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Every difference between `want` and `got`; placeholders are bound on the way.
pub(crate) fn compare(want: &Answered, got: &Answer, bindings: &mut Bindings) -> Vec<Difference> {
    let mut found = Findings { bindings, differences: Vec::new(), bookmark: false };
    found.scalar("status", &Value::from(want.status), &Value::from(got.status));
    let media = want.content_type.clone().unwrap_or_default();
    found.scalar("contentType", &Value::from(media), &Value::from(got.media.clone()));
    found.scalar(
        "warnings",
        &Value::from(want.warnings.clone()),
        &Value::from(got.warnings.clone()),
    );
    if let Some(events) = &want.events {
        found.events(events, &got.events);
    } else if let Some(body) = &want.body {
        found.root("body", body, got.body.as_ref());
        found.layout(want.pretty, &got.text);
    } else if let Some(text) = &want.text {
        found.text(want, text, got);
    } else if let Some(digest) = &want.body_filtered {
        found.digest(digest, got);
    } else if want.binary.is_some() {
        // Only its length and beginning are recorded; whoever sends that media type sends a binary body.
    } else if !got.text.is_empty() {
        found.add("body", None, Some(Value::from(got.text.clone())));
    }
    found.differences
}

/// JSON equality, numbers numerically.
pub(crate) fn equal(want: &Value, got: &Value) -> bool {
    match (want, got) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, want)| b.get(key).is_some_and(|got| equal(want, got)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(want, got)| equal(want, got))
        }
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        _ => want == got,
    }
}

struct Findings<'a> {
    bindings: &'a mut Bindings,
    differences: Vec<Difference>,
    /// Whether what is compared now is a bookmark, in whatever form: its revision is that of no object.
    bookmark: bool,
}

impl Findings<'_> {
    fn add(&mut self, path: &str, want: Option<Value>, got: Option<Value>) {
        self.differences.push(Difference { path: path.to_owned(), want, got });
    }

    fn scalar(&mut self, path: &str, want: &Value, got: &Value) {
        if want != got {
            self.add(path, Some(want.clone()), Some(got.clone()));
        }
    }

    fn root(&mut self, path: &str, want: &Value, got: Option<&Value>) {
        let Some(got) = got else { return self.add(path, Some(want.clone()), None) };
        let revision = if is_collection(want) { Revision::Collection } else { self.usual() };
        self.value(path, want, got, revision);
    }

    fn events(&mut self, want: &[Value], got: &[Value]) {
        for (i, want) in want.iter().enumerate() {
            let Some(got) = got.get(i) else {
                self.add(&format!("events[{i}]"), Some(want.clone()), None);
                continue;
            };
            self.scalar(&format!("events[{i}].type"), &want["type"], &got["type"]);
            self.bookmark = want["type"] == "BOOKMARK";
            self.root(&format!("events[{i}].object"), &want["object"], got.get("object"));
            self.bookmark = false;
        }
        for (i, got) in got.iter().enumerate().skip(want.len()) {
            self.add(&format!("events[{i}]"), None, Some(got.clone()));
        }
    }

    fn text(&mut self, want: &Answered, text: &str, got: &Answer) {
        if want.content_type.as_deref() == Some("application/json")
            && let Ok(body) = serde_json::from_str::<Value>(text)
        {
            self.root("body", &body, got.body.as_ref());
            self.layout(text.starts_with("{\n"), &got.text);
        } else if !self.bindings.fits(text, &got.text, Revision::Collection) {
            self.add("text", Some(Value::from(text)), Some(Value::from(got.text.clone())));
        }
    }

    /// Indented or not.
    fn layout(&mut self, want: bool, text: &str) {
        let got = text.starts_with("{\n");
        if want != got && !text.is_empty() {
            self.add("pretty", Some(Value::from(want)), Some(Value::from(got)));
        }
    }

    /// A recorded digest: some fields of the body, and what was noted of the transfer.
    fn digest(&mut self, digest: &Value, got: &Answer) {
        let body = got.body.clone().unwrap_or_default();
        for (key, want) in digest.as_object().into_iter().flatten() {
            let got = match key.as_str() {
                "contentEncoding" => Value::from(got.header("content-encoding")),
                "compressedSmaller" => Value::from(got.length < got.text.len()),
                "status" if want.is_number() => Value::from(got.status),
                "keys" => body.as_object().map_or(Value::Null, |object| {
                    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
                    keys.sort_unstable();
                    Value::from(keys)
                }),
                "objects" if want.is_number() => {
                    Value::from(body["objects"].as_array().map_or(0, Vec::len))
                }
                _ => body[key].clone(),
            };
            let mut want = want.clone();
            if let (true, Some(keys)) = (key == "keys", want.as_array_mut()) {
                keys.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            }
            self.value(&format!("body.{key}"), &want, &got, Revision::Object);
        }
    }

    fn usual(&self) -> Revision {
        if self.bookmark { Revision::Collection } else { Revision::Object }
    }

    fn value(&mut self, path: &str, want: &Value, got: &Value, revision: Revision) {
        match (want, got) {
            (Value::Object(want), Value::Object(got)) => {
                self.object(path, want, got, revision);
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (i, (want, got)) in a.iter().zip(b).enumerate() {
                    self.value(&format!("{path}[{i}]"), want, got, self.usual());
                }
            }
            (Value::String(text), Value::String(other)) => {
                if !self.bindings.fits(text, other, revision) {
                    self.add(path, Some(want.clone()), Some(got.clone()));
                }
            }
            (Value::Number(a), Value::Number(b)) if same_number(a, b) => {}
            _ if want == got => {}
            _ => self.add(path, Some(want.clone()), Some(got.clone())),
        }
    }

    fn object(
        &mut self,
        path: &str,
        want: &Map<String, Value>,
        got: &Map<String, Value>,
        revision: Revision,
    ) {
        for (key, value) in want {
            let path = format!("{path}.{key}");
            // Only the metadata at the top speaks for the collection.
            let of_top = ["metadata", "resourceVersion", "continue"].contains(&key.as_str());
            let inner = if of_top { revision } else { self.usual() };
            match got.get(key) {
                Some(got) if key == "managedFields" => {
                    self.value(&path, &by_manager(value), &by_manager(got), inner);
                }
                Some(got) => self.value(&path, value, got, inner),
                None => self.add(&path, Some(value.clone()), None),
            }
        }
        for (key, value) in got {
            if !want.contains_key(key) {
                self.add(&format!("{path}.{key}"), None, Some(value.clone()));
            }
        }
    }
}

/// Entries are kept in the order of their seconds, then by name: a replay need not meet the same seconds.
fn by_manager(entries: &Value) -> Value {
    let mut entries = entries.clone();
    if let Some(entries) = entries.as_array_mut() {
        entries.sort_by_key(|entry| (entry["manager"].to_string(), entry["operation"].to_string()));
    }
    entries
}

fn is_collection(body: &Value) -> bool {
    let kind = body["kind"].as_str().unwrap_or_default();
    kind == "Table" || kind.ends_with("List")
}

fn same_number(a: &Number, b: &Number) -> bool {
    a == b || !(both_integers(a, b)) && a.as_f64() == b.as_f64()
}

fn both_integers(a: &Number, b: &Number) -> bool {
    !a.is_f64() && !b.is_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn want(body: &Value) -> Answered {
        serde_json::from_value(json!({
            "status": 200, "contentType": "application/json", "body": body
        }))
        .unwrap()
    }

    fn got(body: Value) -> Answer {
        Answer {
            status: 200,
            media: "application/json".to_owned(),
            text: body.to_string(),
            body: Some(body),
            ..Answer::default()
        }
    }

    fn paths(a: &Value, b: Value) -> Vec<String> {
        let mut bindings = Bindings::default();
        compare(&want(a), &got(b), &mut bindings).into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn equal_answers_have_no_difference() {
        assert!(paths(&json!({"a": [1, "x"]}), json!({"a": [1, "x"]})).is_empty());
    }

    #[test]
    fn numbers_are_compared_by_value_and_integers_exactly() {
        assert!(paths(&json!(1000.0), json!(1000)).is_empty());
        assert!(
            paths(&json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_993_u64)).is_empty()
        );
        assert_eq!(
            paths(&json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)),
            ["body"]
        );
    }

    #[test]
    fn each_difference_is_named_by_its_place() {
        assert_eq!(
            paths(&json!({"a": 1, "b": {"c": [1, 2]}}), json!({"b": {"c": [1, 3]}, "d": null})),
            ["body.a", "body.b.c[1]", "body.d"]
        );
        assert_eq!(paths(&json!({"a": [1]}), json!({"a": [1, 2]})), ["body.a"]);
        assert_eq!(paths(&json!({"items": null}), json!({"items": []})), ["body.items"]);
    }

    #[test]
    fn status_media_type_warnings_and_layout_count() {
        let mut answer = got(json!({}));
        answer.status = 201;
        answer.media = "text/plain".to_owned();
        answer.warnings = vec!["299 - \"x\"".to_owned()];
        answer.text = "{\n}".to_owned();
        let found = compare(&want(&json!({})), &answer, &mut Bindings::default());
        let paths: Vec<_> = found.iter().map(|found| found.path.as_str()).collect();
        assert_eq!(paths, ["status", "contentType", "warnings", "pretty"]);
    }

    #[test]
    fn the_revision_of_a_list_is_compared_as_a_lower_bound_and_that_of_its_items_exactly() {
        let list = |list: &str, item: &str| {
            json!({"kind": "XList", "metadata": {"resourceVersion": list},
                   "items": [{"metadata": {"resourceVersion": item}}]})
        };
        let mut bindings = Bindings::default();
        assert!(bindings.fits("<rv:1>", "5", Revision::Object));
        let check = |got_list: &str, got_item: &str| {
            compare(
                &want(&list("<rv:2>", "<rv:1>")),
                &got(list(got_list, got_item)),
                &mut bindings.clone(),
            )
            .len()
        };
        assert_eq!(check("5", "5"), 0);
        assert_eq!(check("9", "5"), 0);
        assert_eq!(check("4", "5"), 1);
        assert_eq!(check("9", "6"), 1);
    }

    #[test]
    fn managers_are_compared_by_name_and_not_by_the_second_they_wrote_in() {
        let managers = |names: [&str; 2]| {
            let entries = names.map(|name| json!({"manager": name, "operation": "Update"}));
            json!({"metadata": {"managedFields": entries}})
        };
        assert!(paths(&managers(["a", "b"]), managers(["b", "a"])).is_empty());
        assert_eq!(
            paths(&managers(["a", "b"]), managers(["a", "c"])),
            ["body.metadata.managedFields[1].manager"]
        );
    }

    #[test]
    fn missing_and_surplus_events_are_differences() {
        let recorded: Answered = serde_json::from_value(json!({
            "status": 200, "contentType": "application/json",
            "events": [{"type": "ADDED", "object": {"a": 1}}]
        }))
        .unwrap();
        let mut answer = got(json!(null));
        let count = |answer: &Answer| compare(&recorded, answer, &mut Bindings::default()).len();
        assert_eq!(count(&answer), 1);
        answer.events = vec![json!({"type": "ADDED", "object": {"a": 1}})];
        assert_eq!(count(&answer), 0);
        answer.events.push(json!({"type": "DELETED", "object": {"a": 1}}));
        assert_eq!(count(&answer), 1);
    }
}
