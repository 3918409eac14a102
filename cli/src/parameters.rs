//! Values for parameters: from the command line and from files, and which of them counts.
//!
//! The rules are those of `oc process`: a key twice on the command line is a mistake; the command
//! line beats files, and an earlier file a later one, each with a warning. Nothing here knows the
//! template; whether a name is a parameter of it is found out by whoever applies the values.

mod file;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Values by parameter name.
pub(crate) type Values = BTreeMap<String, String>;

/// What the user gave.
pub(crate) struct Given {
    /// The values, or the first thing that is wrong with them. It is held back because `oc`
    /// speaks of a missing template first.
    pub(crate) values: Result<Values, String>,
    /// Keys given twice on the command line.
    pub(crate) repeated: BTreeSet<String>,
    /// Files' values that do not count.
    pub(crate) warnings: Vec<String>,
}

/// Combines `KEY=VALUE` assignments and the files named by `files`.
pub(crate) fn combine(assignments: &[String], files: &[String]) -> Given {
    let mut warnings = Vec::new();
    match assigned(assignments) {
        Ok((mut values, repeated)) => {
            let added = add_files(&mut values, files, &mut warnings);
            Given { values: added.map(|()| values), repeated, warnings }
        }
        Err(error) => Given { values: Err(error), repeated: BTreeSet::new(), warnings },
    }
}

/// One warning for every value that looks like a list of assignments, which `-p` once took.
pub(crate) fn comma_warnings(assignments: &[String]) -> Vec<String> {
    assignments
        .iter()
        .filter(|assignment| assignment.lines().any(looks_like_list))
        .map(|assignment| {
            format!(
                "warning: --param no longer accepts comma-separated lists of values. {assignment:?} \
                 will be treated as a single key-value pair."
            )
        })
        .collect()
}

/// `=`, later a comma, later another `=`.
fn looks_like_list(line: &str) -> bool {
    line.split_once('=')
        .and_then(|(_, rest)| rest.split_once(','))
        .is_some_and(|(_, rest)| rest.contains('='))
}

/// The values of the command line, and the keys that stand there twice.
fn assigned(assignments: &[String]) -> Result<(Values, BTreeSet<String>), String> {
    let (mut values, mut repeated) = (Values::new(), BTreeSet::new());
    for assignment in assignments {
        let (key, value) = match assignment.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (assignment.as_str(), None),
        };
        let faults = name_faults(key);
        let Some(value) = value.filter(|_| faults.is_empty()) else {
            let faults = faults.join(" ");
            return Err(format!("invalid parameter assignment in {assignment:?}, [{faults}]"));
        };
        if values.contains_key(key) {
            repeated.insert(key.to_owned());
        } else {
            values.insert(key.to_owned(), value.to_owned());
        }
    }
    Ok((values, repeated))
}

fn add_files(
    values: &mut Values,
    files: &[String],
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    for name in files {
        for (key, value) in file::read(name)? {
            match values.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                Entry::Occupied(entry) => warnings.push(format!(
                    "warning: Template parameter {:?} already defined, ignoring value from file {name:?}",
                    entry.key()
                )),
            }
        }
    }
    Ok(())
}

/// What Kubernetes has against `name` as the name of an environment variable, the form that `oc`
/// wants of parameter names.
fn name_faults(name: &str) -> Vec<String> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let mut faults = Vec::new();
    let starts_well =
        name.bytes().next().is_some_and(|byte| is_word(byte) && !byte.is_ascii_digit());
    if !starts_well || !name.bytes().all(is_word) {
        faults.push(
            "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', \
             or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or \
             'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"
                .to_owned(),
        );
    }
    match name {
        "." | ".." => faults.push(format!("must not be '{name}'")),
        _ if name.starts_with("..") => faults.push("must not start with '..'".to_owned()),
        _ => {}
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    fn values(assignments: &[&str]) -> Result<Vec<(String, String)>, String> {
        combine(&strings(assignments), &[]).values.map(|values| values.into_iter().collect())
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn only_the_first_equals_sign_splits() {
        assert_eq!(
            values(&["A=1=2", "B=", "C=x,y"]).unwrap(),
            [pair("A", "1=2"), pair("B", ""), pair("C", "x,y")]
        );
    }

    #[test]
    fn a_key_must_be_the_name_of_an_environment_variable() {
        for bad in ["1A=x", "=x", "A B=x", "é=x", "A"] {
            let error = values(&[bad]).unwrap_err();
            assert!(
                error.starts_with(&format!("invalid parameter assignment in {bad:?}, [")),
                "{error}"
            );
        }
        assert_eq!(values(&["A"]).unwrap_err(), "invalid parameter assignment in \"A\", []");
        assert!(values(&["..=1"]).unwrap_err().ends_with("[must not be '..']"));
        assert!(values(&["..a=1"]).unwrap_err().ends_with("[must not start with '..']"));
        assert!(values(&["-._a9=1"]).is_ok());
    }

    #[test]
    fn a_key_given_twice_is_told_once_and_in_order() {
        let given = combine(&strings(&["B=1", "A=1", "B=2", "A=3", "A=4"]), &[]);
        assert_eq!(given.repeated.into_iter().collect::<Vec<_>>(), ["A", "B"]);
    }

    #[test]
    fn the_command_line_beats_files_and_earlier_files_later_ones() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let (one, two) = (file("one", "A=file\nB=one\nB=last of one"), file("two", "B=two\nC=two"));
        let given = combine(&strings(&["A=line"]), &[one.clone(), two.clone()]);
        assert_eq!(
            given.values.unwrap().into_iter().collect::<Vec<_>>(),
            [pair("A", "line"), pair("B", "last of one"), pair("C", "two")]
        );
        assert_eq!(
            given.warnings,
            [
                format!(
                    "warning: Template parameter \"A\" already defined, ignoring value from file {one:?}"
                ),
                format!(
                    "warning: Template parameter \"B\" already defined, ignoring value from file {two:?}"
                ),
            ]
        );
    }

    #[test]
    fn lists_of_assignments_are_warned_of() {
        let warned = comma_warnings(&strings(&["A=1,B=2", "A=1,2", "A=,=", "A,B=1", "A=1\n,B=2"]));
        assert_eq!(warned.len(), 2);
        assert_eq!(
            warned[0],
            "warning: --param no longer accepts comma-separated lists of values. \"A=1,B=2\" will be treated as a single key-value pair."
        );
    }
}
