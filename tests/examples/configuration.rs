//! The examples that are configurations of Deployment Manager: which files belong to one run.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::example::{self, Want};

/// One run of an example: a configuration, an environment for it, and what they should give.
#[derive(Debug)]
pub(crate) struct Run {
    /// The example, and the variant if there are several.
    pub name: String,
    pub folder: PathBuf,
    /// The configuration's name in the folder.
    pub configuration: String,
    /// Each `KEY=VALUE`.
    pub env: Vec<String>,
    pub want: Want,
}

/// Every run of every example.
pub(crate) fn runs() -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for folder in example::folders()? {
        let names = example::names(&folder)?;
        for name in names.iter().filter(|name| example::is(name, "config")) {
            runs.push(run(folder.clone(), &names, name).with_context(|| name.clone())?);
        }
        let wanted = names.iter().filter(|name| example::is(name, "want")).count();
        let here = runs.iter().filter(|run| run.folder == folder).count();
        ensure!(here == 0 || here == wanted, "{}: {here} runs", folder.display());
    }
    Ok(runs)
}

fn run(folder: PathBuf, names: &[String], configuration: &str) -> Result<Run> {
    let (stem, _) = configuration.rsplit_once('.').context("a suffix")?;
    let variant = stem.strip_prefix("config").context("config at the beginning")?;
    let read = |name: &String| fs::read_to_string(folder.join(name));
    let find = |wanted: String| names.iter().find(|name| **name == wanted);

    let (objects, error) = (format!("want{variant}.yaml"), format!("want{variant}.error"));
    let want = match (find(objects), find(error)) {
        (Some(name), None) => Want::Objects(read(name)?),
        (None, Some(name)) => Want::Refusal(read(name)?),
        _ => anyhow::bail!("needs one want{variant}.yaml or want{variant}.error"),
    };
    let env = find(format!("env{variant}")).map(read).transpose()?.unwrap_or_default();
    let example = folder.file_name().unwrap_or_default().to_string_lossy();
    Ok(Run {
        name: format!("{example}{variant}"),
        configuration: configuration.to_owned(),
        env: env.lines().map(str::to_owned).collect(),
        want,
        folder,
    })
}
