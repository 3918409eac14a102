//! Deployment Manager's own cases, against what its programs made of them.
//!
//! Three collections: cases that were thought out to probe it (`cases`), the tests of its last fix (`vectors`), and whole
//! folders of configurations (`results`). What differs must stand in `differences`, and what stands there must differ.

mod case;
mod collect;
mod differences;
mod drive;
mod judge;
mod offered;
mod registries;
mod web;

use std::path::Path;

use anyhow::{Context, Result};
use expansion::{Input, Options};
use tests::corpus;

use crate::case::{Case, Wanted};
use crate::drive::Drive;
use crate::judge::Report;

#[tokio::test]
async fn the_probing_cases_come_out_as_they_did() -> Result<()> {
    let Some(root) = corpus::find("dm") else { return Ok(()) };
    let cases = probing(&root)?;
    assert_eq!(cases.len(), 117);
    Report::check(&[judge::all("cases", cases, &Drive::start()?).await?]);
    Ok(())
}

#[tokio::test]
async fn the_tests_of_the_last_fix_come_out_as_they_did() -> Result<()> {
    let Some(root) = corpus::find("dm") else { return Ok(()) };
    let cases = of_the_fix(&root)?;
    assert_eq!(cases.len(), 44);
    Report::check(&[judge::all("vectors", cases, &Drive::start()?).await?]);
    Ok(())
}

#[tokio::test]
async fn whole_folders_of_configurations_come_out_as_they_did() -> Result<()> {
    let Some(root) = corpus::find("dm") else { return Ok(()) };
    let (mut reports, drive) = (Vec::new(), Drive::start()?);
    for (folder, sources, validate) in RESULTS {
        let cases = results_of(&root.join("results").join(folder), &root.join(sources), validate)?;
        reports.push(judge::all(folder, cases, &drive).await?);
    }
    Report::check(&reports);
    Ok(())
}

/// That results may be kept and given out again rests on this. The examples are there without a corpus.
#[tokio::test]
async fn everything_comes_out_the_same_in_fresh_processes() -> Result<()> {
    let mut cases = examples()?;
    assert!(cases.len() >= 5, "{cases:?}");
    if let Some(root) = corpus::find("dm") {
        cases.extend(probing(&root)?);
        cases.extend(of_the_fix(&root)?);
        for (folder, sources, validate) in RESULTS {
            let results = root.join("results").join(folder);
            cases.extend(results_of(&results, &root.join(sources), validate)?);
        }
    }
    let mut inputs: Vec<(String, Input)> = Vec::new();
    inputs.extend(cases.into_iter().filter_map(|case| Some((case.name, case.input.ok()?))));
    let first = all_bytes(&inputs).await?;
    // The other way round, so that what a process did before is something else.
    inputs.reverse();
    let mut again = all_bytes(&inputs).await?;
    again.reverse();
    for (first, again) in first.iter().zip(&again) {
        assert_eq!(first, again);
    }
    println!("{} configurations, twice", first.len());
    Ok(())
}

/// What comes of each input, with its name, in workers that are started for it and end with it.
async fn all_bytes(inputs: &[(String, Input)]) -> Result<Vec<(String, String)>> {
    let (drive, mut came) = (Drive::start()?, Vec::new());
    for (name, input) in inputs {
        let ran = drive.run(input.clone()).await.with_context(|| name.clone())?;
        came.push((name.clone(), judge::bytes(&ran)));
    }
    Ok(came)
}

/// The configurations among our own examples, also those that want to be refused.
fn examples() -> Result<Vec<Case>> {
    let folder = corpus::repository().join("examples");
    let mut cases = Vec::new();
    for example in std::fs::read_dir(&folder)? {
        let example = example?.path();
        for file in
            example.is_dir().then(|| std::fs::read_dir(&example)).into_iter().flatten().flatten()
        {
            let file = file?.path();
            let name = file.strip_prefix(&folder)?.to_str().context("a name in UTF-8")?.to_owned();
            let last = name.rsplit('/').next().unwrap_or_default();
            if last.starts_with("config.") && last.ends_with(".yaml") {
                let input = collect::input(&folder, &name, Options::default())?;
                cases.push(Case { name, input, wanted: Wanted::Result(String::new()) });
            }
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

fn probing(root: &Path) -> Result<Vec<Case>> {
    case::of_json(&root.join("cases/cases.json"), |case| case["id"].as_str().map(str::to_owned))
}

fn of_the_fix(root: &Path) -> Result<Vec<Case>> {
    case::of_json(&root.join("vectors/pr167.json"), |case| {
        let name = case["test"].as_str()?.rsplit('.').next()?.to_owned();
        (case["kind"] == "Expand").then_some(name)
    })
}

/// Folders of results, where their configurations lie, and whether schemas were held to. The templates of the official
/// registry do not satisfy each other's schemas.
const RESULTS: [(&str, &str, bool); 4] = [
    ("fixtures", "fixtures/intended/templates", true),
    ("dm-examples", "fixtures/examples", false),
    ("registry-examples", "registry", false),
    ("samples-plain", "samples", true),
];

/// The configurations of a folder of results. `a__b.yaml.pr167.out` is what became of `a/b.yaml`, and with `.err` what
/// was said against it.
fn results_of(results: &Path, sources: &Path, validate_schemas: bool) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(results)? {
        let entry = entry?.path();
        let file = entry.file_name().and_then(|name| name.to_str()).context("a name in UTF-8")?;
        let (name, result) = file.split_once(".pr167.").context("a result")?;
        let text = std::fs::read_to_string(&entry)?;
        let wanted = if result == "out" { Wanted::Result(text) } else { Wanted::Refusal(text) };
        let name = name.replace("__", "/");
        let options = Options { validate_schemas, ..Options::default() };
        let input = collect::input(sources, &name, options)?;
        cases.push(Case { name, input, wanted });
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}
