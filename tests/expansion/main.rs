//! Deployment Manager's own cases, against what its programs made of them.
//!
//! Three collections: cases that were thought out to probe it (`cases`), the tests of its last fix (`vectors`), and whole
//! folders of configurations (`results`). What differs must stand in `differences`, and what stands there must differ.

mod case;
mod collect;
mod differences;
mod drive;
mod judge;

use std::path::Path;

use anyhow::{Context, Result};
use expansion::Options;
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

/// That results may be kept and given out again rests on this.
#[tokio::test]
async fn everything_comes_out_the_same_in_other_processes() -> Result<()> {
    let Some(root) = corpus::find("dm") else { return Ok(()) };
    let mut cases = probing(&root)?;
    cases.extend(of_the_fix(&root)?);
    for (folder, sources, validate) in RESULTS {
        cases.extend(results_of(
            &root.join("results").join(folder),
            &root.join(sources),
            validate,
        )?);
    }
    let (one, other) = (Drive::start()?, Drive::start()?);
    for Case { name, input, .. } in cases {
        let Ok(input) = input else { continue };
        let first = judge::bytes(&one.run(input.clone()).await?);
        assert_eq!(first, judge::bytes(&other.run(input).await?), "{name}");
    }
    Ok(())
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
