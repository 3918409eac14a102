//! A configuration with its template, in the form in which each side takes it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bench::client::Order;
use expansion::{Import, Imports, Input, Map};
use serde_json::json;

/// The deployment for which results are compared; baseline.py knows no other.
pub(crate) const DEPLOYMENT: &str = "bench";
const PROJECT: &str = "bench";
const EXPANSIONS: &str = "/apis/dm.formwork.dev/v1alpha1/namespaces/default/expansions";
/// Stands for the deployment in the text of a request.
const MARK: &str = "the-deployment-goes-here";

pub(crate) struct Case {
    pub(crate) template: &'static str,
    configuration: String,
    source: String,
    python: PathBuf,
    baseline: PathBuf,
    /// The body of a request before the deployment, and behind it.
    body: (String, String),
}

impl Case {
    /// Reads a template, and the configuration that is named after it.
    pub(crate) fn read(folder: &Path, template: &'static str, python: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
        };
        let source = read(template)?;
        let configuration = read(&format!("{template}.yaml"))?;
        let body = json!({
            "apiVersion": "dm.formwork.dev/v1alpha1",
            "kind": "Expansion",
            "spec": {
                "configuration": configuration,
                "imports": [{ "name": template, "content": source }],
                "env": { "deployment": MARK, "project": PROJECT },
            },
        })
        .to_string();
        let (before, after) = body.split_once(MARK).context("the mark stands in the text")?;
        Ok(Self {
            template,
            configuration,
            source,
            python: python.to_owned(),
            baseline: folder.join("baseline.py"),
            body: (before.to_owned(), after.to_owned()),
        })
    }

    /// Bytes of the template.
    pub(crate) fn size(&self) -> usize {
        self.source.len()
    }

    /// What Deployment Manager would start: isolated, with everything on the command line.
    pub(crate) fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.python);
        command.arg("-I").arg(&self.baseline).arg(&self.configuration);
        command.arg(self.template).arg(&self.source);
        command
    }

    pub(crate) fn input(&self, deployment: &str) -> Input {
        let import = Import { path: String::new(), content: self.source.as_str().into() };
        let env = [("deployment", deployment), ("project", PROJECT)];
        Input {
            configuration: self.configuration.clone(),
            imports: Imports::from([(self.template.to_owned(), import)]),
            env: env
                .map(|(key, value)| (key.to_owned(), value.into()))
                .into_iter()
                .collect::<Map>(),
            ..Input::default()
        }
    }

    pub(crate) fn order(&self, deployment: &str) -> Order {
        let (before, after) = &self.body;
        Order::post(EXPANSIONS, [before, deployment, after].concat().into())
    }
}
