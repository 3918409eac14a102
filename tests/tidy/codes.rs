//! Only `status` decides which HTTP code a failure gets, and it decides for every reason by name.

use anyhow::{Context, Result};

use crate::source::{self, Source};

const STATUS: &str = "apiserver/src/status.rs";

/// Where a failure has no `Status` to take its code from, and why.
const WITHOUT_STATUS: &[(&str, &str)] = &[
    ("apiserver/src/health.rs", "health checks answer probes, in plain text"),
    ("apiserver/src/chain/fixed.rs", "the index of paths is a 404 that lists what there is"),
];

/// Constants of failures.
const FAILURES: &[&str] = &[
    "BAD_REQUEST",
    "UNAUTHORIZED",
    "FORBIDDEN",
    "NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "NOT_ACCEPTABLE",
    "REQUEST_TIMEOUT",
    "CONFLICT",
    "GONE",
    "PAYLOAD_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE",
    "UNPROCESSABLE_ENTITY",
    "TOO_MANY_REQUESTS",
    "SERVICE_UNAVAILABLE",
    "GATEWAY_TIMEOUT",
];

/// Lines that choose the code of a failure.
fn decisions(file: &Source) -> Vec<String> {
    let code = file.shipped();
    code.lines()
        .enumerate()
        .filter(|(_, line)| {
            // Turning the number that `status` gave into the library's type decides nothing.
            line.contains("from_u16(") && !line.contains(".code()")
                || !line.contains("matches!(")
                    && FAILURES.iter().any(|name| line.contains(&format!("StatusCode::{name}")))
        })
        .map(|(i, line)| format!("{}:{}: {}", file.path, i + 1, line.trim()))
        .collect()
}

/// The body of the function that maps a reason to its code.
fn mapping(status: &Source) -> Option<String> {
    let code = status.shipped();
    let start = code.find("fn code(")?;
    let open = start + code[start..].find('{')?;
    let mut depth = 0;
    for (i, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(code[open..=open + i].to_owned());
        }
    }
    None
}

fn has_wildcard(mapping: &str) -> bool {
    let squeezed: String = mapping.split_whitespace().collect::<Vec<_>>().join(" ");
    squeezed.contains(" _ =>") || squeezed.contains("| _ ")
}

#[test]
fn only_status_decides_the_code_of_a_failure() -> Result<()> {
    let mut found = Vec::new();
    for folder in ["apiserver/src", "apiservice/src"] {
        for file in source::files(folder, "rs")? {
            let excused = WITHOUT_STATUS.iter().any(|(path, _)| *path == file.path);
            if file.path != STATUS && !excused && !file.is_test() {
                found.extend(decisions(&file));
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
    Ok(())
}

#[test]
fn every_reason_is_given_its_code_by_name() -> Result<()> {
    let files = source::files("apiserver/src", "rs")?;
    let status = files.iter().find(|file| file.path == STATUS).context("status.rs is there")?;
    let mapping = mapping(status).context("status.rs has a function `code`")?;
    assert!(mapping.contains("match ") && mapping.contains("404"), "{mapping}");
    assert!(!has_wildcard(&mapping), "{mapping}");
    Ok(())
}

#[test]
fn a_code_decided_elsewhere_is_found() {
    let check = |text: &str| decisions(&Source::new("a.rs", text)).len();
    assert_eq!(check("return StatusCode::CONFLICT;"), 1);
    assert_eq!(check("StatusCode::from_u16(409)"), 1);
    assert_eq!(check("StatusCode::from_u16(error.reason().code())"), 0);
    assert_eq!(check("StatusCode::OK"), 0);
    assert_eq!(check("// StatusCode::CONFLICT"), 0);
}

#[test]
fn a_wildcard_is_found() {
    let with = Source::new("a.rs", "fn code(self) -> u16 { match self { A => 404, _ => 500 } }");
    let without = Source::new("a.rs", "fn code(self) -> u16 { match self { A => 404, B => 500 } }");
    assert!(has_wildcard(&mapping(&with).unwrap()));
    assert!(!has_wildcard(&mapping(&without).unwrap()));
}
