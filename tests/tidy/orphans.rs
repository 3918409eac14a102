//! Every source file is part of a crate, none has grown too long, and none holds a promise instead of code.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::source::{self, Source};

/// Longer files are two that have not met yet.
const MOST_LINES: usize = 600;

/// Files under `src` that no `mod` declares.
fn orphans(files: &[Source]) -> Vec<String> {
    let mut declared = BTreeSet::new();
    for file in files {
        let folder = source::module_folder(&file.path);
        let code = file.code();
        let words: Vec<_> = code.split_whitespace().collect();
        for pair in words.windows(2) {
            if let (true, Some(name)) = (pair[0] == "mod", pair[1].strip_suffix(';')) {
                declared.insert(format!("{folder}/{name}.rs"));
                declared.insert(format!("{folder}/{name}/mod.rs"));
            }
        }
    }
    let is_root = |path: &str| {
        path.ends_with("/src/lib.rs")
            || path.ends_with("/src/main.rs")
            || path.contains("/src/bin/")
    };
    files
        .iter()
        .filter(|file| !is_root(&file.path) && !declared.contains(&file.path))
        .map(|file| file.path.clone())
        .collect()
}

fn too_long(files: &[Source]) -> Vec<String> {
    files
        .iter()
        .map(|file| (file, file.text.lines().count()))
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(file, lines)| format!("{}: {lines} lines", file.path))
        .collect()
}

/// Lines that put work off.
fn promises(file: &Source) -> Vec<String> {
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];
    let calls = [concat!("unimpl", "emented!("), concat!("to", "do!(")];
    let mut found: Vec<_> = file
        .text
        .lines()
        .enumerate()
        .filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)))
        .map(|(i, line)| format!("{}:{}: {}", file.path, i + 1, line.trim()))
        .collect();
    for (i, line) in file.code().lines().enumerate() {
        if calls.iter().any(|call| line.contains(call)) {
            found.push(format!("{}:{}: {}", file.path, i + 1, line.trim()));
        }
    }
    found
}

#[test]
fn every_source_file_is_declared_by_a_module() -> Result<()> {
    let crates = source::crates()?;
    assert!(crates.contains(&"hack/bench".to_owned()), "{crates:?}");
    for krate in crates {
        let files = source::files(&format!("{krate}/src"), "rs")?;
        assert_eq!(orphans(&files), Vec::<String>::new());
    }
    Ok(())
}

#[test]
fn no_source_file_is_longer_than_two_screens_of_thought() -> Result<()> {
    assert_eq!(too_long(&source::files(".", "rs")?), Vec::<String>::new());
    Ok(())
}

#[test]
fn nothing_is_put_off_in_the_sources() -> Result<()> {
    let promises: Vec<_> = source::files(".", "rs")?.iter().flat_map(promises).collect();
    assert_eq!(promises, Vec::<String>::new());
    Ok(())
}

#[test]
fn an_orphan_is_found() {
    let files = [
        Source::new("a/src/lib.rs", "mod b;\n// mod e;\npub mod c;"),
        Source::new("a/src/b.rs", "mod d;"),
        Source::new("a/src/b/d.rs", ""),
        Source::new("a/src/c/mod.rs", ""),
        Source::new("a/src/e.rs", ""),
        Source::new("a/src/d.rs", ""),
    ];
    assert_eq!(orphans(&files), ["a/src/e.rs", "a/src/d.rs"]);
}

#[test]
fn a_long_file_and_a_promise_are_found() {
    let long = Source::new("a.rs", &"\n".repeat(MOST_LINES + 1));
    assert_eq!(too_long(&[long]).len(), 1);
    let promise = format!(
        "fn f() {{\n    // {} later\n    {}!();\n}}",
        concat!("TO", "DO"),
        concat!("to", "do")
    );
    assert_eq!(promises(&Source::new("a.rs", &promise)).len(), 2);
    assert!(promises(&Source::new("a.rs", "let todos = 1;")).is_empty());
}
