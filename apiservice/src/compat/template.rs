//! A Template: a configuration as Deployment Manager's clients send it, in JSON or YAML.

use std::time::Duration;

use apiserver::status::Error;
use apiserver::yaml;
use axum::body::{self, Body, Bytes, HttpBody as _};
use expander::Registries;
use expander::manager::or_empty;
use expansion::imports::{self, File};
use expansion::{Imports, Input, Options, Text, Value};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::answer::Fault;
use crate::engine::{Done, Engine, Refused};

/// How long a body may take to come.
const READING: Duration = Duration::from_secs(30);

/// The whole body, unless it is too long or too slow.
pub(super) async fn whole(body: Body, limit: usize) -> Result<Bytes, Fault> {
    let too_large = || Fault::from(Error::too_large(limit));
    // Who announces too much need not send it.
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    match tokio::time::timeout(READING, body::to_bytes(body, limit)).await {
        Ok(read) => read.map_err(|_| too_large()),
        Err(_) => Err(Error::timeout("Timeout: the body did not come in time").into()),
    }
}

/// What a body says, in JSON or YAML.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    let what = "the body is an object";
    if let Ok(read) = from_json(body, what) {
        return Ok(read);
    }
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    let loaded = yaml::safe_load::<Value>(text).map_err(|error| error.to_string())?;
    from_json(loaded.value.to_json().as_bytes(), what)
}

fn from_json<T: DeserializeOwned>(text: &[u8], what: &str) -> Result<T, String> {
    // What is derived would take a list of members, too.
    if !text.trim_ascii_start().starts_with(b"{") {
        return Err(what.to_owned());
    }
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

/// A configuration as Deployment Manager's clients send it.
#[derive(Debug, Deserialize)]
pub(super) struct Template {
    #[serde(default, deserialize_with = "or_empty")]
    pub(super) name: String,
    #[serde(default, deserialize_with = "or_empty")]
    pub(super) content: String,
    #[serde(default, deserialize_with = "or_empty")]
    pub(super) imports: Vec<ImportFile>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ImportFile {
    #[serde(default, deserialize_with = "or_empty")]
    pub(super) name: String,
    #[serde(default, deserialize_with = "or_empty")]
    pub(super) path: String,
    #[serde(default, deserialize_with = "or_empty")]
    pub(super) content: String,
}

/// Why there is no result.
pub(super) enum Failed {
    /// The template is at fault; what Deployment Manager said of it.
    Template(String),
    /// Something else is.
    Request(Error),
}

impl Template {
    /// Reads it as JSON.
    pub(super) fn from_json(text: &[u8]) -> Result<Self, String> {
        from_json(text, "a template is an object with name, content and imports")
    }

    /// Expands it, with templates of these registries. The deployment is called like the template, and so is the project.
    pub(super) async fn expand(
        &self,
        engine: &Engine,
        registries: Option<&dyn Registries>,
    ) -> Result<Done, Failed> {
        let files: Vec<_> = self.imports.iter().map(ImportFile::to_file).collect();
        let imports = imports::named(&files).map_err(|errors| {
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            Failed::Template(errors.join("\n"))
        })?;
        let env = ["deployment", "project"].map(|key| (key.to_owned(), self.name.as_str().into()));
        let input = Input {
            configuration: self.content.clone(),
            imports,
            env: env.into_iter().collect(),
            options: Options::default(),
        };
        let expanded = engine.expand(input, &Imports::new(), registries).await;
        expanded.map_err(|refused| match refused {
            Refused::Failure(failure) => Failed::Template(failure.deployment_manager()),
            Refused::Request(error) => Failed::Request(error),
        })
    }

    /// What the manager said of a template that cannot be expanded.
    pub(super) fn unexpandable(&self, why: &str) -> Fault {
        let Self { name, content, .. } = self;
        Fault::bad(format!(
            "cannot expand template named {name} (template expansion: expandybird response:\n\
             error expanding template: error expanding template {name}: {why}\n):\n{content}"
        ))
    }
}

impl ImportFile {
    fn to_file(&self) -> File {
        let (name, path) = (self.name.clone(), self.path.clone());
        File { name, path, content: Text::from(self.content.as_str()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_json_or_yaml_and_null_is_nothing() {
        for body in [r#"{"name":"n","content":"c","imports":null}"#, "name: n\ncontent: c\n"] {
            let template: Template = read(body.as_bytes()).unwrap();
            assert_eq!((&*template.name, &*template.content), ("n", "c"));
            assert!(template.imports.is_empty());
        }
        for body in ["{{{", "[]", r#"{"content":7}"#, ""] {
            assert!(read::<Template>(body.as_bytes()).is_err(), "{body}");
        }
    }
}
