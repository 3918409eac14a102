//! A registry as the original's files and answers have it, and as an object of the Kubernetes API.

use anyhow::{Context, anyhow};
use expander::manager::Registry;
use expansion::Value as Tree;
use serde_json::Value;

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
    let original = Some(&tree).filter(|tree| tree.as_map().is_some());
    let original = original.ok_or_else(|| anyhow!("registry file: is no registry"))?;
    let original: Registry = serde_json::from_str(&original.to_json()).context("registry file")?;
    let spec = original.spec().into();
    Ok((original.name, spec))
}

/// An object of ours, as the original has it.
pub(super) fn shown(object: &Value) -> Registry {
    Registry::of(object["metadata"]["name"].as_str().unwrap_or_default(), &object["spec"])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
        assert_eq!(serde_json::to_string(&shown(&ours)).unwrap(), json);
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
