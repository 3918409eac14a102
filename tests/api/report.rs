//! The outcome of a replay as a table, and the differences that nothing explains, grouped by their look.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::compare::Difference;
use crate::replay::Outcome;
use crate::rules::Verdict;

/// Numbers of a scenario, or of all.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub equal: usize,
    pub allowed: usize,
    pub unexplained: usize,
    pub left_out: usize,
    rules: BTreeMap<&'static str, usize>,
}

impl Tally {
    pub(crate) fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            match &outcome.verdict {
                Verdict::Equal => tally.equal += 1,
                Verdict::Allowed(rules) => {
                    tally.allowed += 1;
                    for rule in rules {
                        *tally.rules.entry(rule).or_default() += 1;
                    }
                }
                Verdict::Unexplained(_) => tally.unexplained += 1,
                Verdict::LeftOut(_) => tally.left_out += 1,
            }
        }
        tally
    }

    /// Whether the rule explained anything.
    pub(crate) fn uses(&self, rule: &str) -> bool {
        self.rules.contains_key(rule)
    }

    pub(crate) fn compared(&self) -> usize {
        self.equal + self.allowed + self.unexplained
    }
}

/// One line for each scenario and one for all.
pub(crate) fn table(scenarios: &[(&str, Vec<Outcome>)]) -> String {
    let mut text = format!(
        "{:<16} {:>8} {:>6} {:>8} {:>11} {:>9}\n",
        "scenario", "compared", "equal", "allowed", "unexplained", "left out"
    );
    let total = Tally::of(scenarios.iter().flat_map(|(_, outcomes)| outcomes));
    let rows = scenarios.iter().map(|(name, outcomes)| (*name, Tally::of(outcomes)));
    for (name, tally) in rows.chain([("all", total)]) {
        let rules: Vec<_> =
            tally.rules.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
        let _ = writeln!(
            text,
            "{name:<16} {:>8} {:>6} {:>8} {:>11} {:>9}  {}",
            tally.compared(),
            tally.equal,
            tally.allowed,
            tally.unexplained,
            tally.left_out,
            rules.join(", ")
        );
    }
    text
}

/// Every unexplained exchange, those with the same look together, the most frequent look first.
pub(crate) fn unexplained(scenarios: &[(&str, Vec<Outcome>)]) -> String {
    let mut groups: BTreeMap<String, Vec<(&Outcome, &[Difference])>> = BTreeMap::new();
    for outcome in scenarios.iter().flat_map(|(_, outcomes)| outcomes) {
        if let Verdict::Unexplained(differences) = &outcome.verdict {
            groups.entry(look(differences)).or_default().push((outcome, differences));
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));

    let mut text = String::new();
    for (look, members) in groups {
        let _ = writeln!(text, "== {} × {look}", members.len());
        for (outcome, differences) in members {
            let _ = writeln!(text, "{} {}", outcome.id, shortened(&outcome.summary, 240));
            for difference in differences.iter().take(6) {
                let (want, got) = (difference.want.as_ref(), difference.got.as_ref());
                let from = common(want, got);
                let _ = writeln!(
                    text,
                    "    {}\n      recorded: {}\n      ours:     {}",
                    difference.path,
                    shown_from(want, from),
                    shown_from(got, from)
                );
            }
            if differences.len() > 6 {
                let _ = writeln!(text, "    … {} more", differences.len() - 6);
            }
        }
        text.push('\n');
    }
    text
}

/// Headers that differ, the most frequent difference first.
pub(crate) fn headers(scenarios: &[(&str, Vec<Outcome>)]) -> String {
    let mut counts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for outcome in scenarios.iter().flat_map(|(_, outcomes)| outcomes) {
        for header in &outcome.headers {
            counts.entry(header).or_default().push(&outcome.id);
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
    let mut text = String::new();
    for (header, ids) in counts {
        let _ = writeln!(text, "{:>5} × {header} ({})", ids.len(), shortened(&ids.join(" "), 100));
    }
    text
}

/// Where an exchange differs, without positions, and how its status does.
fn look(differences: &[Difference]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for difference in differences {
        let mut part: String =
            difference.path.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        if difference.path == "status" {
            let _ = write!(
                part,
                " {}→{}",
                shown(difference.want.as_ref()),
                shown(difference.got.as_ref())
            );
        }
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.truncate(4);
    parts.join(", ")
}

fn shown(value: Option<&Value>) -> String {
    shown_from(value, 0)
}

/// From the line of a long text on where the two part.
fn shown_from(value: Option<&Value>, from: usize) -> String {
    let Some(value) = value else { return "(absent)".to_owned() };
    match value.as_str() {
        Some(text) if from > 0 => {
            let rest: String = text.lines().skip(from).collect::<Vec<_>>().join("\n");
            format!("(from line {}) {}", from + 1, shortened(&rest, 700))
        }
        _ => shortened(&value.to_string(), 700),
    }
}

/// How many lines two texts have in common at their beginning, but for their placeholders.
fn common(want: Option<&Value>, got: Option<&Value>) -> usize {
    let (Some(want), Some(got)) = (want.and_then(Value::as_str), got.and_then(Value::as_str))
    else {
        return 0;
    };
    want.lines().zip(got.lines()).take_while(|(a, b)| a == b || a.contains('<')).count()
}

fn shortened(text: &str, limit: usize) -> String {
    let mut short: String = text.chars().take(limit).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(verdict: Verdict) -> Outcome {
        Outcome { id: "x-1".to_owned(), summary: "GET /x".to_owned(), verdict, headers: Vec::new() }
    }

    fn difference(path: &str) -> Difference {
        Difference { path: path.to_owned(), want: Some(Value::from(1)), got: None }
    }

    #[test]
    fn a_tally_counts_each_verdict_once() {
        let outcomes = [
            outcome(Verdict::Equal),
            outcome(Verdict::Allowed(["a", "b"].into())),
            outcome(Verdict::Unexplained(vec![difference("body")])),
            outcome(Verdict::LeftOut("apply")),
        ];
        let tally = Tally::of(&outcomes);
        assert_eq!((tally.compared(), tally.equal, tally.left_out), (3, 1, 1));
        assert_eq!(tally.rules, [("a", 1), ("b", 1)].into());
    }

    #[test]
    fn differences_of_one_look_are_grouped() {
        let scenarios = [(
            "x",
            vec![
                outcome(Verdict::Unexplained(vec![difference("body.items[0].a")])),
                outcome(Verdict::Unexplained(vec![difference("body.items[1].a")])),
            ],
        )];
        assert!(unexplained(&scenarios).starts_with("== 2 × body.items[].a\n"));
    }
}
