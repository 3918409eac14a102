//! The crates that are functions: no clock, files, sockets, processes or hidden randomness.
//!
//! Clippy's lists say what is disallowed, with a reason each; this says that the lists are there and that no source
//! names the modules by another way round them.

use anyhow::Result;

use crate::source::{self, Source};

const PURE: &[&str] =
    &["processor", "processor/expansion", "apiserver/schema", "apiserver/merge", "apiserver/yaml"];

/// What a pure crate's `clippy.toml` has to name.
const DISALLOWED: &[&str] = &[
    "std::time::SystemTime::now",
    "std::time::Instant::now",
    "std::env::var",
    "std::thread::spawn",
    "std::fs::read",
    "std::fs::File",
    "std::net::TcpStream",
    "std::process::Command",
];

/// Modules that a pure crate has no use for.
const IMPURE: &[&str] =
    &["std::fs", "std::net", "std::process", "std::time", "std::env", "std::thread"];

fn missing(clippy: &str) -> Vec<&'static str> {
    DISALLOWED.iter().copied().filter(|path| !clippy.contains(&format!("\"{path}\""))).collect()
}

fn impure(file: &Source) -> Vec<String> {
    let code = file.shipped();
    // `use std::{fs, io}` names a module in pieces.
    let mut pieces = Vec::new();
    for (at, _) in code.match_indices("std::{") {
        let group = &code[at + "std::{".len()..];
        let group = &group[..group.find(';').unwrap_or(group.len())];
        pieces.extend(group.split([',', '{', '}']).map(|piece| format!("std::{}", piece.trim())));
    }
    IMPURE
        .iter()
        .filter(|module| {
            code.contains(*module)
                || pieces.iter().any(|piece| {
                    piece
                        .strip_prefix(**module)
                        .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
                })
        })
        .map(|module| format!("{} names {module}", file.path))
        .collect()
}

#[test]
fn pure_crates_disallow_the_world() -> Result<()> {
    for krate in PURE {
        let path = source::root().join(krate).join("clippy.toml");
        let missing = missing(&std::fs::read_to_string(&path)?);
        assert!(missing.is_empty(), "{} does not disallow {missing:?}", path.display());
    }
    Ok(())
}

#[test]
fn pure_crates_name_nothing_of_the_world() -> Result<()> {
    for krate in PURE {
        for file in source::files(&format!("{krate}/src"), "rs")? {
            if !file.is_test() {
                assert_eq!(impure(&file), Vec::<String>::new());
            }
        }
    }
    Ok(())
}

#[test]
fn impurity_is_found() {
    let check = |text: &str| impure(&Source::new("a.rs", text)).len();
    assert_eq!(check("let x = std::fs::read(p);"), 1);
    assert_eq!(check("use std::{fmt, time::Instant};"), 1);
    assert_eq!(check("// std::fs\nuse std::fmt; let s = \"std::net\";"), 0);
    assert_eq!(check("#[cfg(test)]\nmod tests { use std::fs; }"), 0);
    assert!(missing("disallowed-methods = []").contains(&"std::env::var"));
}
