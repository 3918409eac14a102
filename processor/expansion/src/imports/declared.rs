//! The `imports` of a configuration or a schema, as they stand there. What they lead to is found by whoever collects files.

use crate::configuration;
use crate::value::Value;

/// The key that they stand under.
const IMPORTS: &str = "imports";

/// One entry of `imports`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Where the file is; may be a pattern.
    pub path: String,
    /// What it is called; the path if absent.
    pub name: Option<String>,
    /// The line where it begins, from 1.
    pub line: u32,
}

/// The entries, each read or with what is wrong with it as `LINE: what`. None when `text` is no mapping or cannot be
/// read: that is the expansion's to say.
pub fn declared(text: &str) -> Vec<Result<Declared, String>> {
    let Ok(document) = configuration::read(text) else { return Vec::new() };
    let lines = document.lines(IMPORTS);
    match document.value.get(IMPORTS) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::List(entries)) => {
            let entry = |(index, entry)| import(index, entry, lines.get(index).copied());
            entries.iter().enumerate().map(entry).collect()
        }
        Some(_) => {
            let line = text.lines().position(|line| line.starts_with(IMPORTS)).unwrap_or_default();
            vec![Err(format!("{}: imports: must be a list", line + 1))]
        }
    }
}

fn import(index: usize, entry: &Value, line: Option<u32>) -> Result<Declared, String> {
    // A list that stands there by an alias has no lines.
    let line = line.unwrap_or(1);
    let wrong = |what: &str| format!("{line}: imports[{index}]: {what}");
    let given = |key: &str| match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(value)) if !value.is_empty() => Ok(Some(value.clone())),
        Some(_) => Err(wrong(&format!("{key} must be text"))),
    };
    let (path, name) = match entry {
        Value::String(path) if !path.is_empty() => (path.clone(), None),
        Value::Map(_) => (given("path")?.ok_or_else(|| wrong("path is missing"))?, given("name")?),
        _ => return Err(wrong("must be a path, or a map with a path")),
    };
    Ok(Declared { path, name, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &[(&str, Option<&str>, u32)]) {
        let got: Vec<_> = declared(text).into_iter().map(Result::unwrap).collect();
        let got: Vec<_> =
            got.iter().map(|one| (&*one.path, one.name.as_deref(), one.line)).collect();
        assert_eq!(got, want);
    }

    fn wrong(text: &str) -> String {
        declared(text).pop().unwrap().unwrap_err()
    }

    #[test]
    fn an_import_is_a_map_with_a_path_or_just_the_path() {
        check(
            "# vm.py\nimports:\n- path: vm.py\n- path: b.sh\n  name: start\n- lib/c.jinja\n",
            &[("vm.py", None, 3), ("b.sh", Some("start"), 4), ("lib/c.jinja", None, 6)],
        );
        check("imports: [{path: a.py}]", &[("a.py", None, 1)]);
    }

    #[test]
    fn nothing_is_imported_where_nothing_is_named() {
        for text in ["", "a: 1", "imports:", "- imports", "imports: [", "text"] {
            check(text, &[]);
        }
    }

    #[test]
    fn what_is_no_import_is_said_with_its_place() {
        assert_eq!(wrong("a: 1\nimports: x"), "2: imports: must be a list");
        assert_eq!(wrong("imports: [1]"), "1: imports[0]: must be a path, or a map with a path");
        assert_eq!(wrong("imports: [{name: x}]"), "1: imports[0]: path is missing");
        assert_eq!(wrong("imports: [{path: [x]}]"), "1: imports[0]: path must be text");
    }
}
