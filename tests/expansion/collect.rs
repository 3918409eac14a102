//! The files of a configuration in a folder, as the program collected them that made the results: what `imports` names,
//! relative to whoever names it, and beside each its schema with what that imports.

use std::path::{Path, PathBuf};

use anyhow::Result;
use expansion::imports::{File, named};
use expansion::{Import, Imports, Input, Map, Options};
use serde_json::Value as Json;

/// What expands the configuration `name` of `folder`; an error is a file that is not there.
pub(crate) fn input(folder: &Path, name: &str, options: Options) -> Result<Result<Input, String>> {
    let path = folder.join(name);
    let configuration = std::fs::read_to_string(&path)?;
    let mut files = Vec::new();
    if let Err(missing) = collect(&configuration, path.parent().unwrap_or(folder), &mut files) {
        return Ok(Err(missing));
    }
    let imports = named(&files).map_err(|errors| anyhow::anyhow!("{name}: {}", errors[0]))?;
    let env = [("deployment", "my-deployment"), ("project", "my-project")];
    let env: Map = env.map(|(key, value)| (key.to_owned(), value.into())).into_iter().collect();
    Ok(Ok(Input { configuration, imports, env, options }))
}

fn collect(text: &str, folder: &Path, files: &mut Vec<File>) -> Result<(), String> {
    // A text that is no YAML imports nothing; the expansion says what is wrong with it.
    let Ok(Json::Object(map)) = serde_saphyr::from_str::<Json>(text) else { return Ok(()) };
    for import in map.get("imports").and_then(Json::as_array).into_iter().flatten() {
        let Some(path) = import.as_str().or_else(|| import["path"].as_str()) else { continue };
        add(import["name"].as_str().unwrap_or(path), &folder.join(path), files)?;
    }
    Ok(())
}

fn add(name: &str, path: &Path, files: &mut Vec<File>) -> Result<(), String> {
    let missing = |_| format!("Could not find import: {name:?}");
    let content = std::fs::read_to_string(path).map_err(missing)?;
    if files.iter().any(|file| file.name == name) {
        return Ok(());
    }
    let file = |name: &str, content: &str| File {
        name: name.to_owned(),
        path: String::new(),
        content: content.into(),
    };
    files.push(file(name, &content));
    let schema = PathBuf::from(format!("{}.schema", path.display()));
    let Ok(content) = std::fs::read_to_string(&schema) else { return Ok(()) };
    let name = format!("{name}.schema");
    if !files.iter().any(|file| file.name == name) {
        files.push(file(&name, &content));
        collect(&content, schema.parent().unwrap_or(path), files)?;
    }
    Ok(())
}

/// A template of a registry that lies in a folder: `github.com/OWNER/REPO/COLLECTION/NAME:VERSION`.
pub(crate) fn registered(registry: &Path, name: &str) -> Option<Imports> {
    let rest = name.strip_prefix("github.com/kubernetes/application-dm-templates/")?;
    let (path, version) = rest.split_once(':')?;
    let stem = path.rsplit('/').next()?;
    let folder = registry.join(path).join(version);
    let (suffix, content) = ["jinja", "py"].iter().find_map(|suffix| {
        let text = std::fs::read_to_string(folder.join(format!("{stem}.{suffix}"))).ok()?;
        Some((suffix, text))
    })?;
    let path = format!("{path}/{version}/{stem}.{suffix}");
    let schema = std::fs::read_to_string(folder.join(format!("{stem}.{suffix}.schema"))).ok();
    let mut imports = Imports::new();
    if let Some(schema) = schema {
        let path = format!("{path}.schema");
        imports.insert(format!("{name}.schema"), Import { path, content: schema.into() });
    }
    imports.insert(name.to_owned(), Import { path, content: content.into() });
    Some(imports)
}
