//! A processed template on standard output: as a List, object by object, as names, or described.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anyhow::{Context, bail};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::body::Body;
use crate::{describe, json_text};

/// What `-o` may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Indented JSON; the default.
    Json,
    /// YAML.
    Yaml,
    /// `kind.group/name`, one object a line.
    Name,
    /// The template for people.
    Describe,
}

/// Whether the objects come together or one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapping {
    /// In a `v1` List.
    List,
    /// Each by itself (`--raw`).
    Single,
}

impl Format {
    /// Reads the value of `-o`.
    ///
    /// # Errors
    /// When it is none of the formats.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "" | "json" => Format::Json,
            "yaml" => Format::Yaml,
            "name" => Format::Name,
            "describe" => Format::Describe,
            _ => bail!(
                "unable to match a printer suitable for the output format {text:?}, \
                 allowed formats are: json,yaml,name,describe"
            ),
        })
    }
}

/// Prints a processed template.
pub(crate) fn print(processed: &Body, format: Format, wrapping: Wrapping) -> anyhow::Result<()> {
    let text = match (format, wrapping) {
        (Format::Describe, _) => describe::template(&processed.to_json(), processed.dialect())?,
        (Format::Name, _) => names(&processed.objects()?.unwrap_or_default())?,
        (Format::Json, Wrapping::List) => json_text::indent(&list(processed)?),
        (Format::Yaml, Wrapping::List) => yaml::from_json(&list(processed)?)?,
        (format, Wrapping::Single) => singles(&processed.objects()?.unwrap_or_default(), format)?,
    };
    to_stdout(&text)
}

/// Writes `text` to standard output, all of it or an error.
pub(crate) fn to_stdout(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

fn list(processed: &Body) -> anyhow::Result<String> {
    let items = match processed.objects()? {
        Some(objects) => {
            let objects: Vec<&str> = objects.iter().map(|object| object.get()).collect();
            format!("[{}]", objects.join(","))
        }
        None => "null".to_owned(),
    };
    Ok(format!(r#"{{"kind":"List","apiVersion":"v1","metadata":{{}},"items":{items}}}"#))
}

fn singles(objects: &[Box<RawValue>], format: Format) -> anyhow::Result<String> {
    let mut out = String::new();
    for (index, object) in objects.iter().enumerate() {
        if format == Format::Yaml {
            if index > 0 {
                out.push_str("---\n");
            }
            out.push_str(&yaml::from_json(object.get())?);
        } else {
            out.push_str(&json_text::indent(object.get()));
        }
    }
    Ok(out)
}

fn names(objects: &[Box<RawValue>]) -> anyhow::Result<String> {
    let mut out = String::new();
    for object in objects {
        let object = tree(object.get())?;
        match object.get("items").and_then(Value::as_array) {
            Some(items) => items.iter().try_for_each(|item| name(item, &mut out))?,
            None => name(&object, &mut out)?,
        }
    }
    Ok(out)
}

fn name(object: &Value, out: &mut String) -> anyhow::Result<()> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let name = text(&object["metadata"]["name"]).unwrap_or_else(|| "<unknown>".to_owned());
    let Some(kind) = text(&object["kind"]) else {
        bail!("missing kind for resource with name {name}");
    };
    let kind = kind.to_lowercase();
    let api_version = text(&object["apiVersion"]).unwrap_or_default();
    match api_version.split_once('/') {
        Some((group, _)) => writeln!(out, "{kind}.{group}/{name}")?,
        None => writeln!(out, "{kind}/{name}")?,
    }
    Ok(())
}

/// JSON text as a tree, at most 128 levels high; only names are found by one.
fn tree(json: &str) -> anyhow::Result<Value> {
    serde_json::from_str(json).context("reading the processed objects (try -o json)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processed(objects: &str) -> Body {
        Body::read(&format!(r#"{{"apiVersion":"v1","kind":"Template","objects":{objects}}}"#))
            .unwrap()
    }

    fn names_of(objects: &str) -> anyhow::Result<String> {
        names(&processed(objects).objects().unwrap().unwrap())
    }

    #[test]
    fn a_list_is_of_version_v1_and_keeps_the_text_of_objects() {
        assert_eq!(
            list(&processed(r#"[{"b":1.0,"a":2},{}]"#)).unwrap(),
            r#"{"kind":"List","apiVersion":"v1","metadata":{},"items":[{"b":1.0,"a":2},{}]}"#
        );
        assert!(list(&processed("null")).unwrap().ends_with(r#""items":null}"#));
    }

    #[test]
    fn a_name_is_kind_group_and_name() {
        let objects = r#"[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}},
            {"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"b"}},
            {"kind":"List","items":[{"kind":"Secret"}]}]"#;
        assert_eq!(names_of(objects).unwrap(), "pod/a\ndeployment.apps/b\nsecret/<unknown>\n");
        assert!(names_of(r#"[{"kind":""}]"#).is_err());
    }

    #[test]
    fn depth_and_digits_are_no_matter_in_yaml() {
        let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
        let objects = processed(&format!(r#"[{{"a":{deep}}},{{"big":18446744073709551615}}]"#));
        let text = singles(&objects.objects().unwrap().unwrap(), Format::Yaml).unwrap();
        assert!(text.ends_with("- 1\n---\nbig: 18446744073709551615\n"), "{text}");
    }

    #[test]
    fn single_yaml_objects_are_separate_documents() {
        let objects = processed(r#"[{"a":1},{"b":"yes"}]"#).objects().unwrap().unwrap();
        assert_eq!(singles(&objects, Format::Yaml).unwrap(), "a: 1\n---\nb: \"yes\"\n");
        assert_eq!(
            singles(&objects, Format::Json).unwrap(),
            "{\n    \"a\": 1\n}\n{\n    \"b\": \"yes\"\n}\n"
        );
    }

    #[test]
    fn an_unknown_format_is_refused() {
        assert_eq!(Format::parse("YAML").unwrap(), Format::Yaml);
        assert!(Format::parse("wide").unwrap_err().to_string().contains("allowed formats are"));
    }
}
