//! Under which names a configuration knows the files that came with it.
//!
//! A file is known by the name that it was given, or else by its path as written; and where nothing else is called that,
//! by the last part of the path as well, as Deployment Manager's client named all files. A part that two files end with
//! names neither. Whoever collects files asks here, so that the server and the client agree.

mod declared;

use std::collections::BTreeMap;

pub use self::declared::{Declared, declared};

use crate::call::{Import, Imports, Text};

/// A file as it was sent or found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The name that it was given; empty when it was not given one.
    pub name: String,
    /// Where it comes from, as written; may be empty when there is a name.
    pub path: String,
    /// The text.
    pub content: Text,
}

/// Why a file cannot be imported. The number is its place among the files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misnamed {
    /// It has neither a name nor a path.
    #[error("a file needs a name or a path")]
    Nameless(usize),
    /// Another file before it is called the same.
    #[error("two files are called {1:?}")]
    Twice(usize, String),
}

impl File {
    /// The name that was given, or else the path.
    pub fn known_as(&self) -> &str {
        if self.name.is_empty() { &self.path } else { &self.name }
    }

    /// The path, or what stands for it.
    fn origin(&self) -> &str {
        if self.path.is_empty() { &self.name } else { &self.path }
    }
}

/// The files by all names that they are known under.
///
/// A template's schema is known under the template's name and `.schema`, whatever that name is.
///
/// # Errors
/// Every file without a name, and every name that is taken.
pub fn named(files: &[File]) -> Result<Imports, Vec<Misnamed>> {
    let (mut imports, mut errors) = (Imports::new(), Vec::new());
    for (place, file) in files.iter().enumerate() {
        let name = file.known_as();
        if name.is_empty() {
            errors.push(Misnamed::Nameless(place));
        } else if imports.insert(name.to_owned(), import(file)).is_some() {
            errors.push(Misnamed::Twice(place, name.to_owned()));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let others = other_names(files);
    // What is given goes before what is derived.
    for (name, file) in others {
        imports.entry(name).or_insert_with(|| import(file));
    }
    Ok(imports)
}

/// The imports that `name` may mean, where it is the last part of more than one path and so means none.
pub fn candidates<'a>(imports: &'a Imports, name: &str) -> Vec<&'a str> {
    let ends = |known: &&str| last_part(known) == Some(name);
    imports.keys().map(String::as_str).filter(ends).collect()
}

fn import(file: &File) -> Import {
    Import { path: file.path.clone(), content: file.content.clone() }
}

/// Names beside those that were given: last parts of paths, and schemas beside templates.
fn other_names(files: &[File]) -> BTreeMap<String, &File> {
    let by_origin: BTreeMap<&str, &File> = files.iter().map(|file| (file.origin(), file)).collect();
    let mut parts: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in files {
        if let Some(part) = last_part(file.known_as())
            && !part.ends_with(SCHEMA)
        {
            parts.entry(part).or_default().push(file);
        }
    }
    let shortened = parts.into_iter().filter_map(|(part, files)| match files.as_slice() {
        [only] => Some((part, *only)),
        _ => None,
    });
    let mut others = BTreeMap::new();
    for (name, file) in files.iter().map(|file| (file.known_as(), file)).chain(shortened) {
        others.entry(name.to_owned()).or_insert(file);
        if let Some(schema) = by_origin.get(format!("{}{SCHEMA}", file.origin()).as_str()) {
            others.entry(format!("{name}{SCHEMA}")).or_insert(schema);
        }
    }
    others
}

/// What a schema's name ends with.
const SCHEMA: &str = ".schema";

/// The part of a path behind its folders. It needs a suffix: `lib/Pod` must not make templates of all Pods. A URL is
/// known by all of it.
fn last_part(path: &str) -> Option<&str> {
    let (_, part) = path.rsplit_once('/')?;
    (part.contains('.') && !path.contains("://")).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, path: &str) -> File {
        File { name: name.into(), path: path.into(), content: format!("{name}|{path}").into() }
    }

    fn check(files: &[(&str, &str)], want: &[(&str, &str)]) {
        let files: Vec<_> = files.iter().map(|(name, path)| file(name, path)).collect();
        let imports = named(&files).unwrap();
        let got: Vec<_> =
            imports.iter().map(|(name, import)| (&**name, &*import.content)).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn a_file_is_known_by_its_path_as_written_and_by_the_last_part_of_it() {
        check(&[("", "t.jinja")], &[("t.jinja", "|t.jinja")]);
        check(
            &[("", "../lib/t.jinja")],
            &[("../lib/t.jinja", "|../lib/t.jinja"), ("t.jinja", "|../lib/t.jinja")],
        );
        check(&[("a/t.py", "")], &[("a/t.py", "a/t.py|"), ("t.py", "a/t.py|")]);
    }

    #[test]
    fn a_name_that_was_given_wins() {
        check(&[("x.py", "lib/t.py")], &[("x.py", "x.py|lib/t.py")]);
        check(
            &[("", "lib/t.py"), ("t.py", "other.py")],
            &[("lib/t.py", "|lib/t.py"), ("t.py", "t.py|other.py")],
        );
    }

    #[test]
    fn the_last_part_of_two_paths_names_neither() {
        let files = [file("", "a/t.py"), file("", "b/t.py")];
        let imports = named(&files).unwrap();
        assert_eq!(imports.keys().collect::<Vec<_>>(), ["a/t.py", "b/t.py"]);
        assert_eq!(candidates(&imports, "t.py"), ["a/t.py", "b/t.py"]);
        assert!(candidates(&imports, "u.py").is_empty());
    }

    #[test]
    fn a_schema_goes_by_all_names_of_its_template() {
        check(
            &[("", "lib/t.py"), ("", "lib/t.py.schema")],
            &[
                ("lib/t.py", "|lib/t.py"),
                ("lib/t.py.schema", "|lib/t.py.schema"),
                ("t.py", "|lib/t.py"),
                ("t.py.schema", "|lib/t.py.schema"),
            ],
        );
        check(
            &[("x", "lib/t.py"), ("", "lib/t.py.schema")],
            &[
                ("lib/t.py.schema", "|lib/t.py.schema"),
                ("x", "x|lib/t.py"),
                ("x.schema", "|lib/t.py.schema"),
            ],
        );
        // The schema of another folder's template is not this one's.
        check(
            &[("", "a/t.py"), ("", "b/t.py.schema")],
            &[("a/t.py", "|a/t.py"), ("b/t.py.schema", "|b/t.py.schema"), ("t.py", "|a/t.py")],
        );
    }

    #[test]
    fn what_could_be_a_primitive_or_is_a_url_has_no_second_name() {
        check(&[("", "lib/Pod")], &[("lib/Pod", "|lib/Pod")]);
        check(&[("", "https://h/t.py")], &[("https://h/t.py", "|https://h/t.py")]);
    }

    #[test]
    fn every_file_without_a_name_of_its_own_is_told() {
        let files = [file("", ""), file("a", ""), file("", "a"), file("a", "b")];
        let errors = named(&files).unwrap_err();
        assert_eq!(
            errors,
            [Misnamed::Nameless(0), Misnamed::Twice(2, "a".into()), Misnamed::Twice(3, "a".into())]
        );
    }
}
