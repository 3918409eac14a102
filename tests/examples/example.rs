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

/// Every run of every example.
pub(crate) fn runs() -> Result<Vec<Run>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut runs = Vec::new();
    for entry in fs::read_dir(root)? {
        let folder = entry?.path();
        if folder.is_dir() {
            runs.extend(runs_of(&folder).with_context(|| folder.display().to_string())?);
        }
    }
    runs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(runs)
}

/// One run for each `want` file. No file of values may be left over: it would show nothing.
fn runs_of(folder: &Path) -> Result<Vec<Run>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().into_string().ok().context("a name in UTF-8")?);
    }
    let template =
        names.iter().find(|name| name.starts_with("template.")).context("no template")?;
    let example = folder.file_name().unwrap_or_default().to_string_lossy();

    let mut runs = Vec::new();
    for name in names.iter().filter(|name| name.starts_with("want.")) {
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
