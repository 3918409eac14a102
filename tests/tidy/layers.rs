//! Which crate may depend on which of ours. A new line here is an architecture decision.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use crate::source;

/// (crate, what it may depend on). Whatever is not listed may depend on nothing of ours.
const LAYERS: &[(&str, &[&str])] = &[
    ("processor", &[]),
    ("schema", &[]),
    ("merge", &["schema"]),
    ("yaml", &["schema"]),
    ("expansion", &["yaml"]),
    ("protocol", &["expansion"]),
    ("formwork-expander", &["expansion", "protocol"]),
    ("expander", &["expansion", "protocol", "yaml"]),
    ("deployer", &["expansion", "yaml"]),
    ("storage", &[]),
    ("apiserver", &["schema", "merge", "yaml", "storage"]),
    ("apiservice", &["apiserver", "processor", "expansion", "expander", "deployer"]),
    ("cli", &["processor", "yaml", "expansion", "expander"]),
    ("tests", &["apiserver", "apiservice", "processor", "yaml", "expansion", "expander"]),
    ("fuzz", &["expansion", "protocol"]),
    ("bench", &["processor", "tests", "expansion", "expander"]),
];

/// Crates that a few alone may name: one whose reason to exist they are, or those that talk to a cluster.
const RESERVED: &[(&str, &[&str])] = &[
    ("redb", &["storage"]),
    ("etcd-client", &["storage"]),
    ("tonic", &["storage"]),
    ("granit-parser", &["yaml"]),
    ("minijinja", &["expansion"]),
    ("jsonschema", &["expansion"]),
    ("pyo3", &["formwork-expander"]),
    ("landlock", &["formwork-expander"]),
    ("seccompiler", &["formwork-expander"]),
    ("kube", &["apiserver", "apiservice", "deployer", "cli"]),
    ("k8s-openapi", &["apiserver", "apiservice", "deployer", "cli"]),
];

/// A manifest: the package's name and everything it depends on, for whatever purpose.
fn dependencies(manifest: &str) -> (String, BTreeSet<String>) {
    let (mut name, mut section, mut found) = (String::new(), String::new(), BTreeSet::new());
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']').to_owned();
            if let Some((_, dependency)) = section.rsplit_once("dependencies.") {
                found.insert(dependency.to_owned());
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = key.trim().split('.').next().unwrap_or_default().to_owned();
        if section == "package" && key == "name" {
            name = value.trim().trim_matches('"').to_owned();
        } else if section.ends_with("dependencies") && section != "workspace.dependencies" {
            found.insert(key);
        }
    }
    (name, found)
}

fn violations(manifests: &[(String, BTreeSet<String>)]) -> Vec<String> {
    let allowed: BTreeMap<_, _> = LAYERS.iter().copied().collect();
    let ours: BTreeSet<_> = manifests.iter().map(|(name, _)| name.as_str()).collect();
    let mut found = Vec::new();
    for (name, dependencies) in manifests {
        let may = allowed.get(name.as_str()).copied();
        if may.is_none() {
            found.push(format!("{name} stands in no layer"));
        }
        for dependency in dependencies {
            let dependency = dependency.as_str();
            if ours.contains(dependency) && !may.unwrap_or_default().contains(&dependency) {
                found.push(format!("{name} must not depend on {dependency}"));
            }
            if let Some((_, owners)) = RESERVED.iter().find(|(krate, _)| *krate == dependency)
                && !owners.contains(&name.as_str())
            {
                let owners = owners.join(", ");
                found.push(format!("only {owners} may depend on {dependency}, not {name}"));
            }
        }
    }
    found
}

#[test]
fn every_crate_depends_only_on_what_its_layer_allows() -> Result<()> {
    let manifests: Vec<_> = source::files(".", "toml")?
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"))
        .map(|file| dependencies(&file.text))
        .collect();
    assert!(manifests.len() >= LAYERS.len() - 1, "{manifests:?}");
    assert_eq!(violations(&manifests), Vec::<String>::new());
    Ok(())
}

#[test]
fn a_dependency_upwards_is_found() {
    let manifests = [
        dependencies(
            "[package]\nname = \"processor\"\n[dependencies]\napiserver.workspace = true\n",
        ),
        dependencies("[package]\nname = \"apiserver\"\n[dev-dependencies]\nredb = \"4\"\n"),
        dependencies("[package]\nname = \"new\"\n[dependencies.serde]\nversion = \"1\"\n"),
    ];
    assert_eq!(
        violations(&manifests),
        [
            "processor must not depend on apiserver",
            "only storage may depend on redb, not apiserver",
            "new stands in no layer"
        ]
    );
}
