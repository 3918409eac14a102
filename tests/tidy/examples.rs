//! Every example is complete: what it shows, what goes in, what comes out.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::source;

/// What the folder of an example lacks, by the names in it.
fn lacks(names: &BTreeSet<String>) -> Vec<&'static str> {
    let begins = |word: &str| names.iter().any(|name| name.split('.').next() == Some(word));
    let mut lacks = Vec::new();
    if !names.contains("README.md") {
        lacks.push("README.md");
    }
    if !begins("template") && !begins("config") {
        lacks.push("template");
    }
    if !begins("want") {
        lacks.push("want");
    }
    lacks
}

#[test]
fn every_example_has_a_readme_a_template_and_its_result() -> Result<()> {
    let mut found = 0;
    for entry in std::fs::read_dir(source::root().join("examples"))? {
        let folder = entry?.path();
        if !folder.is_dir() {
            continue;
        }
        let names = std::fs::read_dir(&folder)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<Result<BTreeSet<_>>>()?;
        let lacks = lacks(&names);
        assert!(lacks.is_empty(), "{} lacks {lacks:?}", folder.display());
        found += 1;
    }
    assert!(found >= 6, "there are {found} examples");
    Ok(())
}

#[test]
fn an_incomplete_example_is_found() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(lacks(&names(&["README.md", "template.yaml", "want.json"])), [""; 0]);
    assert_eq!(lacks(&names(&["README.md", "config.yaml", "want.yaml"])), [""; 0]);
    assert_eq!(lacks(&names(&["template.json", "want.error"])), ["README.md"]);
    assert_eq!(lacks(&names(&["README.md", "templates.yaml"])), ["template", "want"]);
}
