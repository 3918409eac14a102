//! The recorded exchanges are answered as recorded, but for what DESIGN.md decided.

use ::tests::corpus;
use anyhow::Result;
use futures::future::try_join_all;

use crate::recording::{self, Record};
use crate::replay::{Outcome, replay};
use crate::report::{self, Tally};
use crate::rules::RULES;

pub(crate) const SCENARIOS: &[&str] = &[
    "discovery",
    "methods",
    "create",
    "get",
    "list",
    "table",
    "watch",
    "update",
    "patch",
    "delete",
    "process-basic",
    "process-params",
    "process-objects",
];

/// How much has to be equal without any rule, in per cent.
const EQUAL_AT_LEAST: usize = 85;

/// Name of the variable that says where to write the whole report.
const REPORT: &str = "FORMWORK_REPLAY_REPORT";

/// Name of the variable that narrows a run to some scenarios, separated by commas.
const ONLY: &str = "FORMWORK_REPLAY_ONLY";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorded_exchanges_are_answered_as_recorded_or_differ_by_a_rule() -> Result<()> {
    let Some(path) = corpus::find("openshift/transcripts/api.ndjson.gz") else { return Ok(()) };
    let only = std::env::var(ONLY).unwrap_or_default();
    let scenarios: Vec<&str> = SCENARIOS
        .iter()
        .copied()
        .filter(|name| only.is_empty() || only.split(',').any(|chosen| chosen == *name))
        .collect();
    let records = recording::read(&corpus::lines(&path)?, &scenarios)?;
    let outcomes = try_join_all(scenarios.iter().map(|name| scenario(name, &records))).await?;

    let table = report::table(&outcomes);
    let unexplained = report::unexplained(&outcomes);
    println!("{table}");
    for rule in RULES {
        println!("{:<22} {}", rule.id, rule.because);
    }
    if let Some(path) = std::env::var_os(REPORT) {
        let headers = report::headers(&outcomes);
        std::fs::write(path, format!("{table}\n{unexplained}\nheaders\n{headers}"))?;
    }
    let total = Tally::of(outcomes.iter().flat_map(|(_, outcomes)| outcomes));
    assert_eq!(total.unexplained, 0, "no rule explains these:\n{unexplained}");
    let unused: Vec<_> = RULES.iter().map(|rule| rule.id).filter(|id| !total.uses(id)).collect();
    assert!(!only.is_empty() || unused.is_empty(), "nothing differs by {unused:?} any more");
    assert!(
        total.equal * 100 >= total.compared() * EQUAL_AT_LEAST,
        "{} of {} are equal",
        total.equal,
        total.compared()
    );
    Ok(())
}

async fn scenario<'a>(name: &'a str, records: &[Record]) -> Result<(&'a str, Vec<Outcome>)> {
    let records: Vec<&Record> = records.iter().filter(|record| record.group == name).collect();
    Ok((name, replay(&records).await?))
}
