//! The documents speak of what is there, and of nothing that is only on the author's machine.

use anyhow::Result;

use crate::source::{self, Source};

/// Every crate, by its folder, and the documents that have to place it.
const CRATES: &[&str] = &[
    "processor",
    "apiserver",
    "apiserver/schema",
    "apiserver/merge",
    "apiserver/storage",
    "apiservice",
    "cli",
    "tests",
    "hack",
];
const DOCUMENTS: &[&str] = &["README.md", "ARCHITECTURE.md"];

/// Crates that `text` does not mention as code or as a folder.
fn unmentioned(text: &str) -> Vec<&'static str> {
    CRATES
        .iter()
        .copied()
        .filter(|krate| {
            !["`", "/", " ", "("].iter().any(|before| {
                text.contains(&format!("{before}{krate}`"))
                    || text.contains(&format!("{before}{krate}/"))
            }) && !text.lines().any(|line| line.trim_start().starts_with(&format!("{krate}/")))
        })
        .collect()
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

#[test]
fn the_documents_place_every_crate() -> Result<()> {
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(source::root().join(document))?;
        assert_eq!(unmentioned(&text), [""; 0], "{document}");
    }
    Ok(())
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
    let missing = unmentioned(text);
    assert!(missing.contains(&"cli") && missing.contains(&"apiserver/schema"), "{missing:?}");
    assert!(!missing.contains(&"processor") && !missing.contains(&"apiserver"), "{missing:?}");
    assert_eq!(links(text), ["a.md"]);
}
