//! Properties of a type, from the command line.

use std::path::Path;

use anyhow::{Context, bail};
use expansion::{Map, Value};

use crate::expand::collect;

/// The properties in `file`, a map of YAML, and over them those of `given`, written `k1=v1,k2=v2`.
///
/// # Errors
/// When one of them is not of its form.
pub(super) fn read(given: Option<&str>, file: Option<&Path>) -> anyhow::Result<Map> {
    let mut properties = match file {
        Some(path) => from_file(path).with_context(|| path.display().to_string())?,
        None => Map::new(),
    };
    for pair in given.into_iter().flat_map(|given| given.split(',')) {
        match pair.split('=').collect::<Vec<_>>()[..] {
            [key, value] => properties.insert(key.to_owned(), scalar(value)),
            _ => bail!("--properties must be in the form \"p1=v1,p2=v2,...\": {pair}"),
        };
    }
    Ok(properties)
}

/// An integer where the original took one, else text.
fn scalar(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| Value::from(text), |number| Value::Number(number.into()))
}

fn from_file(path: &Path) -> anyhow::Result<Map> {
    match yaml::safe_load(&collect::read(path)?)?.value {
        Value::Map(properties) => Ok(properties),
        Value::Null => Ok(Map::new()),
        _ => bail!("properties are a map"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(given: Option<&str>, file: Option<&Path>) -> String {
        Value::Map(read(given, file).unwrap()).to_json()
    }

    #[test]
    fn what_parses_as_an_integer_is_one_and_all_else_is_text() {
        assert_eq!(
            json(Some("a=1,b=x,c=1.5,d=-3,e=+4,f=true,g=,h=007"), None),
            r#"{"a":1,"b":"x","c":"1.5","d":-3,"e":4,"f":"true","g":"","h":7}"#
        );
        assert_eq!(json(None, None), "{}");
    }

    #[test]
    fn what_is_no_pair_is_refused_in_the_words_of_the_original() {
        for given in ["a", "a=b=c", "a=1,,b=2"] {
            let error = read(Some(given), None).unwrap_err().to_string();
            assert!(
                error.starts_with("--properties must be in the form \"p1=v1,p2=v2,...\": "),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_has_any_values_and_the_command_line_counts_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.yaml");
        std::fs::write(&path, "a: [1, {b: yes}]\nc: 1.5\nd: x\n").unwrap();
        assert_eq!(json(Some("d=2"), Some(&path)), r#"{"a":[1,{"b":true}],"c":1.5,"d":2}"#);
        std::fs::write(&path, "- a\n").unwrap();
        let error = format!("{:#}", read(None, Some(&path)).unwrap_err());
        assert!(error.ends_with("p.yaml: properties are a map"), "{error}");
    }
}
