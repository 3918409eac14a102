//! Results compared with `want` files, where `<NAME:EXPRESSION>` stands for a generated value.
//!
//! The expression is a generator's, which reads the same as a regular expression. A NAME stands for one value in the
//! whole file.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, bail, ensure};
use regex::Regex;
use serde_json::Value;

use crate::example::{Run, Want};
use crate::run::{self, Outcome};

/// Whether the outcome is the wanted one; the error says where it is not.
pub(crate) fn check(run: &Run, outcome: &Outcome) -> Result<()> {
    match (&run.want, outcome) {
        (Want::Objects(want), Outcome::Objects(got)) => equal(&run::yaml(want)?, got),
        (Want::Refusal(want), Outcome::Said(said)) => {
            ensure!(want == said, "wanted\n{want}but it said\n{said}");
            Ok(())
        }
        (Want::Refusal(want), Outcome::Refused(reasons)) => refused(want, reasons),
        (Want::Objects(_), Outcome::Said(said)) => bail!("refused: {said}"),
        (Want::Objects(_), Outcome::Refused(reasons)) => bail!("refused: {}", reasons.join("\n")),
        (Want::Refusal(_), Outcome::Objects(_)) => bail!("it was not refused"),
    }
}

/// Whether two values are the same but for generated ones; the error says where they are not.
pub(crate) fn equal(want: &Value, got: &Value) -> Result<()> {
    Generated::default().compare("", want, got)
}

/// The command's words: all in one line, or below each other.
fn refused(want: &str, reasons: &[String]) -> Result<()> {
    let told: Vec<&str> = match want.split_once("\n* ") {
        Some((_, list)) => list.trim_end().split("\n* ").collect(),
        None => {
            want.trim_end().split_once(" is invalid: ").map(|(_, one)| one).into_iter().collect()
        }
    };
    ensure!(told == reasons, "wanted {told:#?}, but the reasons are {reasons:#?}");
    Ok(())
}

/// The generated values that were met so far, by name.
#[derive(Default)]
struct Generated(BTreeMap<String, String>);

impl Generated {
    fn compare(&mut self, path: &str, want: &Value, got: &Value) -> Result<()> {
        match (want, got) {
            (Value::Object(want), Value::Object(got)) => {
                let keys = |map: &serde_json::Map<String, Value>| {
                    map.keys().cloned().collect::<std::collections::BTreeSet<_>>()
                };
                let (wanted, found) = (keys(want), keys(got));
                ensure!(wanted == found, "{path}: wanted {wanted:?}, got {found:?}");
                want.iter().try_for_each(|(key, want)| {
                    self.compare(&format!("{path}.{key}"), want, &got[key])
                })
            }
            (Value::Array(want), Value::Array(got)) => {
                ensure!(want.len() == got.len(), "{path}: {} items, not {}", got.len(), want.len());
                want.iter().zip(got).enumerate().try_for_each(|(index, (want, got))| {
                    self.compare(&format!("{path}[{index}]"), want, got)
                })
            }
            (Value::String(want), Value::String(got)) if want != got => {
                self.text(want, got).map_err(|error| anyhow!("{path}: {error}"))
            }
            _ => {
                ensure!(want == got, "{path}: wanted {want}, got {got}");
                Ok(())
            }
        }
    }

    fn text(&mut self, want: &str, got: &str) -> Result<()> {
        let placeholder = Regex::new("<([A-Za-z0-9_]+):([^<>]+)>")?;
        let (mut pattern, mut names, mut end) = (String::from("^"), Vec::new(), 0);
        for found in placeholder.captures_iter(want) {
            let (whole, name, expression) = (found.get_match(), &found[1], &found[2]);
            pattern.push_str(&regex::escape(&want[end..whole.start()]));
            pattern.push_str(&format!("({expression})"));
            names.push(name.to_owned());
            end = whole.end();
        }
        pattern.push_str(&regex::escape(&want[end..]));
        pattern.push('$');
        let Some(found) = Regex::new(&pattern)?.captures(got) else {
            bail!("wanted {want:?}, got {got:?}");
        };
        for (index, name) in names.into_iter().enumerate() {
            let value = found[index + 1].to_owned();
            let known = self.0.entry(name.clone()).or_insert_with(|| value.clone());
            ensure!(*known == value, "{name} is {value:?} here and {known:?} elsewhere");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compare(want: &Value, got: &Value) -> String {
        match Generated::default().compare("", want, got) {
            Ok(()) => "equal".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_difference_is_found_where_it_is() {
        assert_eq!(compare(&json!({"a": [1, "x"]}), &json!({"a": [1, "x"]})), "equal");
        assert_eq!(compare(&json!({"a": [1]}), &json!({"a": ["1"]})), ".a[0]: wanted 1, got \"1\"");
        assert_eq!(
            compare(&json!({"a": 1}), &json!({"a": 1, "b": 2})),
            ": wanted {\"a\"}, got {\"a\", \"b\"}"
        );
        assert_eq!(compare(&json!([1]), &json!([])), ": 0 items, not 1");
    }

    #[test]
    fn a_generated_value_fits_its_expression_and_is_the_same_everywhere() {
        let want = json!(["<P:[a-z]{3}>", "u:<P:[a-z]{3}>@h"]);
        assert_eq!(compare(&want, &json!(["abc", "u:abc@h"])), "equal");
        assert_eq!(
            compare(&want, &json!(["abc", "u:abd@h"])),
            "[1]: P is \"abd\" here and \"abc\" elsewhere"
        );
        assert_eq!(
            compare(&want, &json!(["abcd", "u:abcd@h"])),
            "[0]: wanted \"<P:[a-z]{3}>\", got \"abcd\""
        );
    }

    #[test]
    fn a_refusal_has_one_reason_or_several() {
        let reasons =
            |reasons: &[&str]| reasons.iter().map(ToString::to_string).collect::<Vec<_>>();
        let one = "The Template \"t\" is invalid: a: b\n";
        assert!(refused(one, &reasons(&["a: b"])).is_ok());
        assert!(refused(one, &reasons(&["a: c"])).is_err());
        let two = "The Template \"t\" is invalid: \n* a: b\n* c: d\n";
        assert!(refused(two, &reasons(&["a: b", "c: d"])).is_ok());
        assert!(refused(two, &reasons(&["a: b"])).is_err());
    }
}
