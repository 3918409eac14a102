//! Holds cases to what the original made of them, and counts.

use std::fmt;

use anyhow::{Context, Result, anyhow};
use expansion::{Expanded, Map, Value};

use crate::case::{Case, Wanted};
use crate::differences;
use crate::drive::{Drive, Ran};

/// How the cases of a collection came out.
#[derive(Debug, Default)]
pub(crate) struct Report {
    collection: String,
    /// The same configuration and layout.
    equal: usize,
    /// Refused, as the original did.
    refused: usize,
    /// Refused in the same words.
    same_words: usize,
    /// Different, and listed.
    listed: usize,
    /// What is wrong.
    wrong: Vec<String>,
}

/// Runs all cases of a collection.
pub(crate) async fn all(collection: &str, cases: Vec<Case>, drive: &Drive) -> Result<Report> {
    let mut report = Report { collection: collection.to_owned(), ..Report::default() };
    for Case { name, input, wanted } in cases {
        match (input, &wanted) {
            (Ok(input), _) => {
                let ran = drive.run(input).await.with_context(|| name.clone())?;
                report.judge(&name, &ran, &wanted).context(name)?;
            }
            // The files were looked for by the test, not by what it tests.
            (Err(said), Wanted::Refusal(text)) if said == text.trim() => {
                report.refused += 1;
            }
            (Err(said), _) => report.wrong.push(format!("{name}: {said}")),
        }
    }
    Ok(report)
}

impl Report {
    /// Counts one case.
    fn judge(&mut self, name: &str, ran: &Ran, wanted: &Wanted) -> Result<()> {
        let difference = match (ran, wanted) {
            (Ok(expanded), Wanted::Result(text)) => differing(expanded, text)?,
            (Ok(expanded), Wanted::Refusal(text)) => {
                Some(format!("was refused with\n{text}\nis\n{}", shown(&document(expanded))))
            }
            (Err(failure), Wanted::Result(_)) => Some(format!("is refused:\n{failure}")),
            (Err(_), Wanted::Refusal(_)) => None,
        };
        match (difference, differences::listed(&self.collection, name)) {
            (Some(_), true) => self.listed += 1,
            (Some(difference), false) => self.wrong.push(format!("{name}: {difference}")),
            (None, true) => self.wrong.push(format!("{name}: does not differ, but is listed")),
            (None, false) => match (ran, wanted) {
                (Err(failure), Wanted::Refusal(text)) => {
                    self.refused += 1;
                    self.same_words +=
                        usize::from(words(&failure.deployment_manager()) == words(text));
                }
                _ => self.equal += 1,
            },
        }
        Ok(())
    }

    /// Prints a table, and fails unless everything is as it was or listed.
    pub(crate) fn check(reports: &[Self]) {
        println!(
            "{:<20}{:>7}{:>9}{:>13}{:>8}{:>7}",
            "", "equal", "refused", "(same words)", "listed", "wrong"
        );
        reports.iter().for_each(|report| println!("{report}"));
        let wrong: Vec<_> =
            reports.iter().flat_map(|report| report.wrong.iter().cloned()).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { collection, equal, refused, same_words, listed, wrong } = self;
        let wrong = wrong.len();
        write!(f, "{collection:<20}{equal:>7}{refused:>9}{same_words:>13}{listed:>8}{wrong:>7}")
    }
}

/// Violations came in whatever order a dictionary of Python 2 had, and some texts as `u'…'`.
fn words(text: &str) -> Vec<String> {
    let text = text.trim().trim_start_matches("ExpansionError: ").replace("u'", "'");
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// All that a user sees of an outcome.
pub(crate) fn bytes(ran: &Ran) -> String {
    match ran {
        Ok(expanded) => {
            let warnings = expanded.warnings.iter().map(|warning| format!("\n{warning}"));
            document(expanded).to_json() + &warnings.collect::<String>()
        }
        Err(failure) => format!("{failure}\n{}", failure.deployment_manager()),
    }
}

/// What differs between a result and the original's YAML.
fn differing(expanded: &Expanded, text: &str) -> Result<Option<String>> {
    let loaded = yaml::safe_load::<Value>(text).map_err(|error| anyhow!("{error}"))?;
    let wanted = match loaded.value {
        Value::Null => document(&Expanded::default()),
        value => value,
    };
    let is = document(expanded);
    Ok((is != wanted).then(|| first_difference(&wanted, &is, "")))
}

/// `config` and `layout` as the original wrote them.
fn document(expanded: &Expanded) -> Value {
    let map = |members: Vec<(&str, Value)>| {
        Value::Map(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map>())
    };
    let resources = |list: &[Value]| ("resources", Value::List(list.to_vec()));
    let mut layout = vec![resources(&expanded.layout)];
    if !expanded.outputs.is_empty() {
        let output = |output: &expansion::Output| {
            map(vec![("name", output.name.as_str().into()), ("value", output.value.clone())])
        };
        layout.push(("outputs", Value::List(expanded.outputs.iter().map(output).collect())));
    }
    map(vec![("config", map(vec![resources(&expanded.resources)])), ("layout", map(layout))])
}

/// The first place where two values differ.
fn first_difference(wanted: &Value, is: &Value, path: &str) -> String {
    match (wanted, is) {
        (Value::Map(a), Value::Map(b)) => {
            for (key, value) in a {
                let path = format!("{path}.{key}");
                match b.get(key) {
                    None => return format!("{path} is missing, was {}", shown(value)),
                    Some(other) if other != value => return first_difference(value, other, &path),
                    Some(_) => {}
                }
            }
            let new = b.iter().find(|(key, _)| !a.contains_key(*key));
            new.map(|(key, value)| format!("{path}.{key} is new: {}", shown(value)))
                .unwrap_or_default()
        }
        (Value::List(a), Value::List(b)) if a.len() == b.len() => {
            let differing = a.iter().zip(b).enumerate().find(|(_, (a, b))| a != b);
            differing
                .map(|(at, (a, b))| first_difference(a, b, &format!("{path}[{at}]")))
                .unwrap_or_default()
        }
        _ => format!("{path} was {}, is {}", shown(wanted), shown(is)),
    }
}

fn shown(value: &Value) -> String {
    value.to_json().chars().take(300).collect()
}
