//! The folders of `examples/`: which files belong to one run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// One run of an example: a template, values for it, and what they should give.
#[derive(Debug)]
pub(crate) struct Run {
    /// The example, and the variant if there are several.
    pub name: String,
    pub template: PathBuf,
    /// None: the template's own values.
    pub params: Option<PathBuf>,
    pub want: Want,
}

/// The text of a `want` file.
#[derive(Debug)]
pub(crate) enum Want {
    /// A List of objects, in YAML.
    Objects(String),
    /// What is said in refusal.
    Refusal(String),
}

/// The folders of all examples.
pub(crate) fn folders() -> Result<Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut folders = Vec::new();
    for entry in fs::read_dir(root)? {
        let folder = entry?.path();
        if folder.is_dir() {
            folders.push(folder);
        }
    }
    folders.sort();
    Ok(folders)
}

/// The names of what lies in a folder.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().into_string().ok().context("a name in UTF-8")?);
    }
    names.sort();
    Ok(names)
}

/// Whether a name's first part is `part`: `want.nothing.error` is a `want`.
pub(crate) fn is(name: &str, part: &str) -> bool {
    name.split('.').next() == Some(part)
}

/// Every run of every example that is a template.
pub(crate) fn runs() -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for folder in folders()? {
        runs.extend(runs_of(&folder).with_context(|| folder.display().to_string())?);
    }
    Ok(runs)
}

/// One run for each `want` file. No file of values may be left over: it would show nothing.
fn runs_of(folder: &Path) -> Result<Vec<Run>> {
    let names = names(folder)?;
    let Some(template) = names.iter().find(|name| is(name, "template")) else {
        ensure!(names.iter().any(|name| is(name, "config")), "no template and no configuration");
        return Ok(Vec::new());
    };
    let example = folder.file_name().unwrap_or_default().to_string_lossy();

    let mut runs = Vec::new();
    for name in names.iter().filter(|name| is(name, "want")) {
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let variant = stem.strip_prefix("want").unwrap_or_default();
        let text = fs::read_to_string(folder.join(name))?;
        let params = format!("params{variant}");
        ensure!(variant.is_empty() || names.contains(&params), "{name} has no {params}");
        runs.push(Run {
            name: format!("{example}{variant}"),
            template: folder.join(template),
            params: names.contains(&params).then(|| folder.join(params)),
            want: if extension == "error" { Want::Refusal(text) } else { Want::Objects(text) },
        });
    }
    let given = names.iter().filter(|name| name.starts_with("params")).count();
    let taken = runs.iter().filter(|run| run.params.is_some()).count();
    ensure!(
        !runs.is_empty() && given == taken,
        "{given} files of values, {taken} results for them"
    );
    Ok(runs)
}
