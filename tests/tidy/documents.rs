//! The documents speak of what is there, and of nothing that is only on the author's machine.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use crate::source::{self, Source};

/// The documents that have to place every crate.
const DOCUMENTS: &[&str] = &["README.md", "ARCHITECTURE.md"];

/// Those of `crates` that `text` does not mention as code or as a folder.
fn unmentioned<'c>(text: &str, crates: &'c [String]) -> Vec<&'c str> {
    crates
        .iter()
        .map(String::as_str)
        .filter(|krate| {
            !["`", "/", " ", "("].iter().any(|before| {
                text.contains(&format!("{before}{krate}`"))
                    || text.contains(&format!("{before}{krate}/"))
            }) && !text.lines().any(|line| line.trim_start().starts_with(&format!("{krate}/")))
        })
        .collect()
}

/// The crates that are no tools of the house.
fn product() -> Result<Vec<String>> {
    Ok(source::crates()?.into_iter().filter(|krate| !krate.starts_with("hack/")).collect())
}

/// Links of a document to files of the repository.
fn links(text: &str) -> Vec<&str> {
    text.match_indices("](")
        .filter_map(|(at, _)| {
            let target = &text[at + 2..];
            let target = &target[..target.find(')')?];
            let file = target.split('#').next()?;
            (!file.is_empty() && !file.contains("://") && !file.starts_with("mailto:"))
                .then_some(file)
        })
        .collect()
}

/// The modules that a code map's table for `krate` names, one at the beginning of each row.
fn mapped(map: &str, krate: &str) -> Option<BTreeSet<String>> {
    let (_, section) = map.split_once(&format!("\n### `{krate}`\n"))?;
    let section = section.split("\n#").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    Some(rows.map(|(module, _)| module.to_owned()).collect())
}

/// The modules at the top of a crate, by its files.
fn modules(krate: &str) -> Result<BTreeSet<String>> {
    let source = format!("{krate}/src/");
    let files = source::files(&source, "rs")?;
    let names = files.iter().filter_map(|file| {
        let rest = file.path.strip_prefix(&source)?;
        Some(
            rest.split_once('/').map_or_else(|| rest.trim_end_matches(".rs"), |(folder, _)| folder),
        )
    });
    let names = names.filter(|name| !["lib", "main"].contains(name));
    Ok(names.map(str::to_owned).collect())
}

#[test]
fn the_code_map_has_every_module_and_no_other() -> Result<()> {
    let map = std::fs::read_to_string(source::root().join("ARCHITECTURE.md"))?;
    // What is around the product is described in sentences.
    for krate in product()?.iter().filter(|krate| *krate != "tests") {
        let mapped = mapped(&map, krate).with_context(|| format!("{krate} has no section"))?;
        assert_eq!(mapped, modules(krate)?, "left: the map, right: {krate}");
    }
    Ok(())
}

#[test]
fn a_module_outside_the_map_is_found() {
    let map = "x\n### `a`\n\n| `one` | first |\n| `two` | |\n\n### `b`\n\n| `three` | |\n";
    let names = |krate| mapped(map, krate).unwrap_or_default().into_iter().collect::<Vec<_>>();
    assert_eq!(names("a"), ["one", "two"]);
    assert_eq!(names("b"), ["three"]);
    assert_eq!(names("c"), [""; 0]);
}

#[test]
fn the_documents_place_every_crate() -> Result<()> {
    let places: Vec<String> = product()?.into_iter().chain(["hack".to_owned()]).collect();
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(source::root().join(document))?;
        assert_eq!(unmentioned(&text, &places), [""; 0], "{document}");
    }
    Ok(())
}

/// Ids of the replay's rules that `text` does not name.
fn unlisted(rules: &str, text: &str) -> Vec<String> {
    rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("id: \"")?.strip_suffix("\","))
        .filter(|id| !text.contains(&format!("`{id}`")))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_rule_of_the_replay_is_listed_as_a_difference() -> Result<()> {
    let root = source::root();
    let rules = std::fs::read_to_string(root.join("tests/api/rules.rs"))?;
    let text = std::fs::read_to_string(root.join("COMPATIBILITY.md"))?;
    assert_eq!(unlisted(&rules, &text), Vec::<String>::new());
    Ok(())
}

#[test]
fn an_unlisted_rule_is_found() {
    let rules = "Rule {\n    id: \"one\",\n}\nRule {\n    id: \"two\",\n}";
    assert_eq!(unlisted(rules, "- `one`: because"), ["two"]);
}

#[test]
fn links_between_documents_lead_somewhere() -> Result<()> {
    for Source { path, text, .. } in source::files(".", "md")? {
        let folder = source::root().join(&path);
        for link in links(&text) {
            let target = folder.parent().unwrap_or(&folder).join(link);
            assert!(target.exists(), "{path}: {link} leads nowhere");
        }
    }
    Ok(())
}

#[test]
fn a_crate_without_mention_and_a_dead_link_are_found() {
    let text = "`processor` and `apiserver/`, [x](a.md#b), [y](https://example.com)";
    let crates = ["processor", "apiserver", "apiserver/schema", "cli"].map(str::to_owned);
    assert_eq!(unmentioned(text, &crates), ["apiserver/schema", "cli"]);
    assert_eq!(links(text), ["a.md"]);
}
