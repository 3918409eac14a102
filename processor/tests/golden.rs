//! Whole templates with what they become, byte for byte.
//!
//! `golden/NAME/` holds `template.json`, optionally `params` (lines `NAME=value`), and either
//! `want.json`, the processed template, or `want.error`, the errors one a line. The template's
//! `apiVersion` says which dialect it is in. With `UPDATE_GOLDEN` set the files are written instead
//! of compared.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::disallowed_methods, reason = "tests read files")]

mod support;

use std::fs;
use std::path::Path;

use processor::{Dialect, Errors, Overrides, Template, Values, process, validate};
use support::Seeded;

#[test]
fn golden_templates_come_out_as_written() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"));
    let mut cases: Vec<_> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 21);
    let differing: Vec<_> = cases.iter().filter(|case| !holds(case)).collect();
    assert!(differing.is_empty(), "{differing:?}");
}

fn holds(case: &Path) -> bool {
    let body = fs::read_to_string(case.join("template.json")).unwrap();
    let params = fs::read_to_string(case.join("params")).unwrap_or_default();
    let overrides = params.lines().filter_map(|line| line.split_once('=')).collect();
    let (text, name, other) = match processed(&body, &overrides) {
        Ok(text) => (text + "\n", "want.json", "want.error"),
        Err(errors) => {
            (errors.iter().map(|error| format!("{error}\n")).collect(), "want.error", "want.json")
        }
    };
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(case.join(name), &text).unwrap();
        let _ = fs::remove_file(case.join(other));
    }
    let want = fs::read_to_string(case.join(name)).unwrap_or_default();
    if text != want {
        println!("=== {}\n{text}", case.display());
    }
    text == want && !case.join(other).exists()
}

fn processed(body: &str, overrides: &Overrides) -> Result<String, Errors> {
    let template = Template::parse(body, Dialect::OpenShift).unwrap();
    let template = if template.api_version() == Dialect::Proposal.api_version() {
        Template::parse(body, Dialect::Proposal).unwrap()
    } else {
        let errors = validate(&template);
        if !errors.is_empty() {
            return Err(errors);
        }
        template
    };
    let values = Values::resolve(&template, overrides, &mut Seeded(42))?;
    let mut out = Vec::new();
    process(&template, &values)?.write_template(&mut out);
    Ok(String::from_utf8(out).unwrap())
}
