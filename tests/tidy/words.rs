//! Words that belong to one place: what a template is, processes, `unsafe`, the database, and machines of ours.

use anyhow::Result;

use crate::source::{self, Source};

/// A word, where it may stand, and why nowhere else.
struct Reserved {
    word: &'static str,
    /// The folder that the rule is about.
    within: &'static str,
    /// Beginnings of paths that may say it.
    places: &'static [&'static str],
    reason: &'static str,
}

const RESERVED: &[Reserved] = &[
    Reserved {
        word: "unsafe",
        within: "",
        places: &["expander/"],
        reason: "only the expander says unsafe",
    },
    Reserved {
        word: "process::Command",
        within: "",
        places: &["expander/", "tests/", "hack/"],
        reason: "only the expander starts processes",
    },
    Reserved {
        word: "redb::",
        // No other crate may depend on it: see the layers.
        within: "apiserver/storage/",
        places: &["apiserver/storage/src/redb", "apiserver/storage/src/lib.rs"],
        reason: "only storage::redb knows redb",
    },
    Reserved {
        word: "etcd_client::",
        within: "apiserver/storage/",
        places: &["apiserver/storage/src/etcd/"],
        reason: "only storage::etcd knows etcd",
    },
    Reserved {
        word: "tonic::",
        within: "apiserver/storage/",
        places: &["apiserver/storage/src/etcd/"],
        reason: "only storage::etcd knows what its client is made of",
    },
];

fn violations(file: &Source) -> Vec<String> {
    let code = file.shipped();
    RESERVED
        .iter()
        .filter(|reserved| file.path.starts_with(reserved.within))
        .filter(|reserved| !reserved.places.iter().any(|place| file.path.starts_with(place)))
        .flat_map(|reserved| {
            lines_with(&code, reserved.word)
                .map(|line| format!("{}:{line}: {}", file.path, reserved.reason))
        })
        .collect()
}

/// Numbers of the lines that hold `word` as a word.
fn lines_with<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    code.lines().enumerate().filter_map(move |(i, line)| {
        let whole = line.match_indices(word).any(|(at, _)| {
            !line[..at].ends_with(part)
                && (!word.ends_with(part) || !line[at + word.len()..].starts_with(part))
        });
        whole.then_some(i + 1)
    })
}

/// Where the generic machinery speaks of what one of its users serves.
fn says_template(file: &Source) -> Vec<String> {
    file.shipped_with_strings()
        .lines()
        .enumerate()
        .filter(|(_, line)| line.to_lowercase().contains("template"))
        .map(|(i, line)| format!("{}:{}: {}", file.path, i + 1, line.trim()))
        .collect()
}

#[test]
fn reserved_words_stand_only_in_their_places() -> Result<()> {
    let found: Vec<_> = source::files(".", "rs")?
        .iter()
        .filter(|file| !file.is_test() || file.path.starts_with("tests/"))
        .flat_map(violations)
        .collect();
    assert_eq!(found, Vec::<String>::new());
    Ok(())
}

#[test]
fn the_generic_server_does_not_know_what_a_template_is() -> Result<()> {
    let found: Vec<_> = source::files("apiserver", "rs")?
        .iter()
        .filter(|file| !file.is_test())
        .flat_map(says_template)
        .collect();
    assert_eq!(found, Vec::<String>::new());
    Ok(())
}

#[test]
fn a_reserved_word_elsewhere_is_found() {
    let check = |path: &str, text: &str| violations(&Source::new(path, text)).len();
    assert_eq!(check("cli/src/a.rs", "unsafe { x() }"), 1);
    assert_eq!(check("expander/src/a.rs", "unsafe { x() }"), 0);
    assert_eq!(check("cli/src/a.rs", "#![forbid(unsafe_code)] // unsafe"), 0);
    assert_eq!(check("apiserver/storage/src/a.rs", "use redb::Database;"), 1);
    assert_eq!(check("apiserver/storage/src/a.rs", "use etcd_client::Client;"), 1);
    assert_eq!(check("apiserver/storage/src/etcd/a.rs", "use etcd_client::Client;"), 0);
    assert_eq!(check("cli/src/a.rs", "std::process::Command::new(\"sh\")"), 1);
    assert_eq!(says_template(&Source::new("a.rs", "struct PodTemplates;")).len(), 1);
    assert_eq!(says_template(&Source::new("a.rs", "let s = \"template\";")).len(), 1);
    assert_eq!(says_template(&Source::new("a.rs", "// as a template\nlet x;")).len(), 0);
}
