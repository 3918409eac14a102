//! The recorded exchanges, as the files hold them.
//!
//! Bodies of requests stay text: a recorded `1.0` is sent as `1.0`, and keys in their order.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// One line of a file.
#[derive(Debug, Deserialize)]
pub(crate) struct Record {
    pub id: String,
    pub group: String,
    #[serde(rename = "type")]
    pub kind: Kind,
    #[serde(default)]
    pub note: String,
    #[serde(default)]
    pub user: String,
    pub request: Option<Asked>,
    pub response: Option<Answered>,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Exchanges to perform while a watch is open.
    #[serde(default)]
    pub during: Vec<String>,
    #[serde(default, rename = "closedBy")]
    pub closed_by: String,
    /// Placeholder of a generated value → generator expression.
    #[serde(default)]
    pub generated: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Env,
    Exchange,
    Watch,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asked {
    pub method: String,
    pub path: String,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    body: Option<Box<RawValue>>,
    body_text: Option<String>,
    body_base64: Option<String>,
    body_repeat: Option<Repeat>,
    body_nested: Option<Nested>,
    #[serde(rename = "bodyRepeatJSON")]
    body_repeat_json: Option<RepeatJson>,
    pub body_from: Option<From>,
}

#[derive(Debug, Deserialize)]
struct Repeat {
    prefix: String,
    unit: String,
    count: usize,
    suffix: String,
}

#[derive(Debug, Deserialize)]
struct Nested {
    prefix: String,
    open: String,
    close: String,
    depth: usize,
    suffix: String,
}

#[derive(Debug, Deserialize)]
struct RepeatJson {
    item: Value,
    count: usize,
}

/// The body is an earlier answer, patched.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct From {
    pub exchange: String,
    pub json_patch: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answered {
    pub status: u16,
    #[serde(default)]
    pub content_type: Option<String>,
    #[serde(default)]
    pub warnings: Vec<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub pretty: bool,
    pub body: Option<Value>,
    pub text: Option<String>,
    pub body_filtered: Option<Value>,
    pub binary: Option<Value>,
    pub events: Option<Vec<Value>>,
    #[serde(default)]
    pub continue_decoded: BTreeMap<String, Value>,
}

impl Record {
    pub(crate) fn request(&self) -> Result<&Asked> {
        self.request.as_ref().with_context(|| format!("{} has a request", self.id))
    }

    pub(crate) fn response(&self) -> Result<&Answered> {
        self.response.as_ref().with_context(|| format!("{} has a response", self.id))
    }
}

impl Asked {
    /// The media type of the body, as sent.
    pub(crate) fn media(&self) -> &str {
        self.headers.get("Content-Type").map_or("", String::as_str)
    }

    /// The body as text that may hold placeholders; `None` when it is made from an earlier answer.
    pub(crate) fn text(&self) -> Result<Option<Vec<u8>>> {
        if self.body_from.is_some() {
            return Ok(None);
        }
        if let Some(text) = &self.body_text {
            return Ok(Some(text.clone().into_bytes()));
        }
        if let Some(encoded) = &self.body_base64 {
            return Ok(Some(BASE64_STANDARD.decode(encoded)?));
        }
        if let Some(repeat) = &self.body_repeat {
            let Repeat { prefix, unit, count, suffix } = repeat;
            return Ok(Some(format!("{prefix}{}{suffix}", unit.repeat(*count)).into_bytes()));
        }
        if let Some(nested) = &self.body_nested {
            let Nested { prefix, open, close, depth, suffix } = nested;
            let (open, close) = (open.repeat(*depth), close.repeat(*depth));
            return Ok(Some(format!("{prefix}{open}{close}{suffix}").into_bytes()));
        }
        if let Some(repeat) = &self.body_repeat_json {
            let items = vec![&repeat.item; repeat.count];
            return Ok(Some(serde_json::to_vec(&items)?));
        }
        Ok(Some(self.body.as_ref().map_or_else(Vec::new, |raw| compact(raw.get()).into_bytes())))
    }

    /// The body beside `bodyFrom`, which is for reading only: what to send when the answer it names never came.
    pub(crate) fn shown(&self) -> String {
        self.body.as_ref().map_or_else(String::new, |raw| compact(raw.get()))
    }
}

/// Every record of the scenarios, in file order.
pub(crate) fn read(lines: &[String], scenarios: &[&str]) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    for line in lines {
        let record: Record = serde_json::from_str(line)
            .with_context(|| line.chars().take(80).collect::<String>())?;
        if scenarios.contains(&record.group.as_str()) {
            records.push(record);
        }
    }
    if records.is_empty() {
        bail!("no record of {scenarios:?}");
    }
    Ok(records)
}

/// JSON text without the white space between its tokens; numbers and the order of keys stay as written.
fn compact(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let (mut quoted, mut escaped) = (false, false);
    for c in json.chars() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            quoted = c == '"';
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacting_keeps_strings_numbers_and_order() {
        assert_eq!(compact(r#"{"b": 1.0, "a": "x \" {y }"}"#), r#"{"b":1.0,"a":"x \" {y }"}"#);
        assert_eq!(compact(r#"["\\", 1e3 ]"#), r#"["\\",1e3]"#);
    }

    #[test]
    fn a_body_is_read_in_each_of_its_forms() {
        let asked = |body: &str| -> Asked {
            serde_json::from_str(&format!(r#"{{"method":"POST","path":"/",{body}}}"#)).unwrap()
        };
        let text = |body: &str| String::from_utf8(asked(body).text().unwrap().unwrap()).unwrap();
        assert_eq!(text(r#""body":{"z": 1.0,"a":2}"#), r#"{"z":1.0,"a":2}"#);
        assert_eq!(text(r#""bodyText":"a: b\n""#), "a: b\n");
        assert_eq!(
            text(r#""bodyRepeat":{"prefix":"<","unit":"xy","count":2,"suffix":">"}"#),
            "<xyxy>"
        );
        assert_eq!(
            text(r#""bodyNested":{"prefix":"p","open":"[","close":"]","depth":3,"suffix":"s"}"#),
            "p[[[]]]s"
        );
        assert_eq!(text(r#""bodyRepeatJSON":{"item":{"a":1},"count":2}"#), r#"[{"a":1},{"a":1}]"#);
        assert_eq!(text(r#""bodyBase64":"aGk=""#), "hi");
        assert!(
            asked(r#""body":1,"bodyFrom":{"exchange":"x-1","jsonPatch":[]}"#)
                .text()
                .unwrap()
                .is_none()
        );
    }
}
