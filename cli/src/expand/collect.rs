//! The files of a configuration: what its `imports` name, the schemas beside them, and what those import in turn.
//!
//! A path is relative to the file that names it. Nothing is read that no file names, but for `X.schema` beside `X`;
//! what is named may lie anywhere, since whoever runs this command may read it anyway.

use std::collections::BTreeMap;
use std::fs::File as Opened;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use expansion::imports::{self, Declared, File};
use expansion::{Imports, Limits};

/// What stands behind a template's path in that of its schema.
const SCHEMA: &str = ".schema";

/// The files of a configuration by every name that leads to them.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// What the expansion takes.
    pub(crate) imports: Imports,
    /// What the server takes, which finds further names by itself.
    pub(crate) files: Vec<File>,
    /// Where the files lie, by their paths as written.
    pub(crate) places: BTreeMap<String, PathBuf>,
}

/// Collects what `text`, the configuration called `shown`, imports. Its paths are relative to `folder`.
///
/// # Errors
/// When a file is missing or cannot be read, or two different ones have one name. A text that cannot be read is left to
/// the expansion, which says more about it.
pub(crate) fn collect(text: &str, shown: &Path, folder: &Path) -> anyhow::Result<Collected> {
    let mut collector = Collector::default();
    collector.all_of(text, &Importer { shown: shown.display().to_string(), folder, prefix: "" })?;
    collector.collected()
}

/// Collects the files at `paths`, with their schemas and what those import. A file is known by its path as written, or
/// from `folder` where it lies in that.
///
/// # Errors
/// As [`collect`].
pub(crate) fn named(paths: &[String], folder: &Path) -> anyhow::Result<Collected> {
    let mut collector = Collector::default();
    for given in paths {
        let path = Path::new(given).strip_prefix(folder).ok().and_then(Path::to_str);
        let path = path.unwrap_or(given);
        collector.file(path, path, Path::new(given))?;
    }
    collector.collected()
}

/// Files that were found elsewhere.
///
/// # Errors
/// When two of them have one name.
pub(crate) fn of(files: Vec<File>) -> anyhow::Result<Collected> {
    Collector { files, places: BTreeMap::new() }.collected()
}

/// A file that names others.
struct Importer<'a> {
    /// What it is called in errors.
    shown: String,
    /// The folder that its paths are relative to.
    folder: &'a Path,
    /// That folder as it is written, seen from the configuration: empty, or with a slash at its end.
    prefix: &'a str,
}

#[derive(Default)]
struct Collector {
    files: Vec<File>,
    places: BTreeMap<String, PathBuf>,
}

impl Collector {
    fn collected(self) -> anyhow::Result<Collected> {
        let Collector { files, places } = self;
        let imports = imports::named(&files).map_err(|errors| anyhow!("{}", errors[0]))?;
        Ok(Collected { imports, files, places })
    }

    /// Everything that `text` imports, and what follows from it.
    fn all_of(&mut self, text: &str, importer: &Importer) -> anyhow::Result<()> {
        for import in imports::declared(text) {
            let import = import.map_err(|wrong| anyhow!("{}:{wrong}", importer.shown))?;
            let place = || format!("{}:{}", importer.shown, import.line);
            self.declared(&import, importer).with_context(place)?;
        }
        Ok(())
    }

    fn declared(&mut self, import: &Declared, importer: &Importer) -> anyhow::Result<()> {
        let path = &import.path;
        if path.contains("://") {
            // The expansion asks for it by this name.
            return Ok(());
        }
        if !is_pattern(path) || importer.folder.join(path).exists() {
            let name = import.name.as_deref().unwrap_or(path);
            return self.file(name, &joined(importer.prefix, path), &importer.folder.join(path));
        }
        if import.name.is_some() {
            bail!("{path} may be several files, which cannot all have the name that is given");
        }
        let found = matching(importer.folder, path)?;
        if found.is_empty() {
            bail!("no file matches {path}");
        }
        for path in found {
            let place = importer.folder.join(&path);
            self.file(&path, &joined(importer.prefix, &path), &place)?;
        }
        Ok(())
    }

    /// One file, its schema, and what that imports.
    fn file(&mut self, name: &str, path: &str, place: &Path) -> anyhow::Result<()> {
        let content = read(place).with_context(|| path.to_owned())?;
        if !self.add(name, path, &content, place)? {
            return Ok(());
        }
        let schema = PathBuf::from(format!("{}{SCHEMA}", place.display()));
        if path.ends_with(SCHEMA) || !schema.is_file() {
            return Ok(());
        }
        let path = format!("{path}{SCHEMA}");
        let content = read(&schema).with_context(|| path.clone())?;
        self.add(&format!("{name}{SCHEMA}"), &path, &content, &schema)?;
        let folder = schema.parent().unwrap_or_else(|| Path::new(""));
        let prefix = &path[..path.rfind('/').map_or(0, |slash| slash + 1)];
        self.all_of(&content, &Importer { shown: schema.display().to_string(), folder, prefix })
    }

    /// Whether the file is new; the same one may be named several times.
    fn add(&mut self, name: &str, path: &str, text: &str, place: &Path) -> anyhow::Result<bool> {
        if let Some(known) = self.files.iter().find(|file| file.name == name) {
            if *known.content == *text {
                return Ok(false);
            }
            let first = &known.path;
            bail!("{path} and {first} are different files that are both imported as {name}");
        }
        self.files.push(File {
            name: name.to_owned(),
            path: path.to_owned(),
            content: text.into(),
        });
        self.places.insert(path.to_owned(), place.to_owned());
        Ok(true)
    }
}

/// Whether a path may stand for several files.
fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The files that match `pattern`, as paths from `folder`, in order.
fn matching(folder: &Path, pattern: &str) -> anyhow::Result<Vec<String>> {
    let options = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let folder = folder.to_str().context("a folder whose name is not UTF-8")?;
    let from = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let whole = format!("{}{pattern}", glob::Pattern::escape(&from));
    let mut found = Vec::new();
    for path in glob::glob_with(&whole, options).context("no pattern of files")? {
        let path = path?;
        if path.is_file() {
            let path = path.to_str().context("a file whose name is not UTF-8")?;
            found.push(path.strip_prefix(&from).unwrap_or(path).to_owned());
        }
    }
    Ok(found)
}

/// `path` behind `prefix`, without steps back and forth: `lib/../a` is `a`.
fn joined(prefix: &str, path: &str) -> String {
    if prefix.is_empty() || path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for (at, part) in prefix.split('/').chain(path.split('/')).enumerate() {
        match part {
            "" if at > 0 => {}
            "." => {}
            ".." if parts.last().is_some_and(|&last| last != ".." && !last.is_empty()) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The text of a file, which may be as long as all files together may be.
///
/// # Errors
/// When there is none, or it is no text of that length.
pub(crate) fn read(path: &Path) -> anyhow::Result<String> {
    let file = match Opened::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!("there is no such file"),
        Err(error) => return Err(error).context("cannot be read"),
    };
    // Not asked of the file's metadata: a pipe has no length.
    let limit = Limits::default().input;
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes).context("cannot be read")?;
    if bytes.len() > limit {
        bail!("has more than the {limit} bytes that are allowed");
    }
    String::from_utf8(bytes).ok().context("is no text in UTF-8")
}

#[cfg(test)]
mod tests;
