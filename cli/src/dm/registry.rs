//! A registry as the original's files and answers have it, and as an object of the Kubernetes API.

use anyhow::{Context, anyhow};
use expansion::Value as Tree;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

/// A registry of the original.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Shape {
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(rename = "type", deserialize_with = "or_empty")]
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    url: String,
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    format: String,
    #[serde(deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    credentialname: String,
}

/// To the original, null is nothing.
fn or_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The name and the spec of the registry that a file describes: as the original has it, or an object of ours.
///
/// # Errors
/// When it describes none.
pub(super) fn read(text: &str) -> anyhow::Result<(String, Value)> {
    let tree = yaml::safe_load::<Tree>(text).context("registry file")?.value;
    if tree.get("spec").is_some() {
        let object: Value = serde_json::from_str(&tree.to_json())?;
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        return Ok((name.to_owned(), object["spec"].clone()));
    }
    let shape = Some(&tree).filter(|tree| tree.as_map().is_some());
    let shape = shape.ok_or_else(|| anyhow!("registry file: is no registry"))?;
    let shape: Shape = serde_json::from_str(&shape.to_json()).context("registry file")?;
    let spec = shape.spec();
    Ok((shape.name, spec))
}

/// The JSON that the original has for an object of ours.
pub(super) fn shown(object: &Value) -> Value {
    let spec = &object["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let format = spec["format"].as_array().into_iter().flatten();
    let format: Vec<_> = format.filter_map(Value::as_str).collect();
    let shape = Shape {
        name: text(&object["metadata"]["name"]),
        kind: text(&spec["type"]),
        url: text(&spec["url"]),
        format: format.join(";"),
        credentialname: text(&spec["credentialRef"]["name"]),
    };
    json!(shape)
}

impl Shape {
    fn spec(&self) -> Value {
        let mut spec = Map::new();
        for (member, text) in [("type", &self.kind), ("url", &self.url)] {
            spec.insert(member.to_owned(), json!(text));
        }
        let format: Vec<_> = self.format.split(';').filter(|part| !part.is_empty()).collect();
        if !format.is_empty() {
            spec.insert("format".to_owned(), json!(format));
        }
        if !self.credentialname.is_empty() {
            spec.insert("credentialRef".to_owned(), json!({"name": self.credentialname}));
        }
        Value::Object(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_originals_or_an_object_of_ours() {
        let spec = json!({"type": "github", "url": "github.com/a/b", "format": ["versioned", "collection"], "credentialRef": {"name": "c"}});
        let json = r#"{"name":"r","type":"github","url":"github.com/a/b","format":"versioned;collection","credentialname":"c"}"#;
        let yaml = "name: r\ntype: github\nurl: github.com/a/b\nformat: versioned;collection\ncredentialname: c\n";
        let ours = json!({"kind": "Registry", "metadata": {"name": "r"}, "spec": spec});
        for text in [json, yaml, &ours.to_string()] {
            assert_eq!(read(text).unwrap(), ("r".to_owned(), spec.clone()), "{text}");
        }
        assert_eq!(
            shown(&ours).to_string(),
            serde_json::from_str::<Value>(json).unwrap().to_string()
        );
        let plain = json!({"type": "github", "url": "github.com/a/b"});
        let short = "{name: r, type: github, url: github.com/a/b, format: null}";
        assert_eq!(read(short).unwrap(), ("r".to_owned(), plain));
    }

    #[test]
    fn what_describes_no_registry_is_refused() {
        for text in ["", "- name: r", "name: [r]", "name: {", "text"] {
            let error = format!("{:#}", read(text).unwrap_err());
            assert!(error.starts_with("registry file: "), "{text}: {error}");
        }
    }
}
