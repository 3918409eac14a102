//! What the tests of this crate share: the corpus, values compared as JSON, a source of randomness.
#![allow(dead_code, reason = "every test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "tests read files")]

pub(crate) mod tree;

use std::io::Read;
use std::path::PathBuf;

use processor::{Dialect, Errors, Overrides, Random, Template, Values, process, validate};
use serde_json::Value;

/// A file of the corpus; none, with a note, where the corpus is not present.
pub(crate) fn corpus(path: &str) -> Option<String> {
    let root = std::env::var_os("FORMWORK_CORPUS").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus")),
        PathBuf::from,
    );
    let Ok(bytes) = std::fs::read(root.join(path)) else {
        println!("skipped: corpus not present");
        return None;
    };
    if !path.ends_with(".gz") {
        return Some(String::from_utf8(bytes).unwrap());
    }
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    Some(text)
}

/// A reproducible source: splitmix64.
pub(crate) struct Seeded(pub(crate) u64);

impl Seeded {
    pub(crate) fn index(&mut self, length: usize) -> usize {
        self.below(u32::try_from(length).expect("tests are small")) as usize
    }
}

impl Random for Seeded {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((z ^ (z >> 31)) % u64::from(bound)).unwrap()
    }
}

/// What became of a body.
#[derive(Debug)]
pub(crate) enum Outcome {
    Template(Value),
    Invalid(Errors),
    Unreadable(String),
}

/// Validates, resolves and processes an OpenShift body as the server does.
pub(crate) fn run(body: &str, overrides: &Overrides) -> Outcome {
    run_in(Dialect::OpenShift, body, overrides)
}

/// Validates, resolves and processes a body as the server does.
pub(crate) fn run_in(dialect: Dialect, body: &str, overrides: &Overrides) -> Outcome {
    let template = match Template::parse(body, dialect) {
        Ok(template) => template,
        Err(error) => return Outcome::Unreadable(error.to_string()),
    };
    let errors = validate(&template);
    if dialect == Dialect::OpenShift && !errors.is_empty() {
        return Outcome::Invalid(errors);
    }
    let values = match Values::resolve(&template, overrides, &mut Seeded(1)) {
        Ok(values) => values,
        Err(errors) => return Outcome::Invalid(errors),
    };
    match process(&template, &values) {
        Ok(processed) => {
            let mut out = Vec::new();
            processed.write_template(&mut out);
            Outcome::Template(serde_json::from_slice(&out).unwrap_or_else(|error| {
                panic!("{error} in {}", String::from_utf8_lossy(&out));
            }))
        }
        Err(errors) => Outcome::Invalid(errors),
    }
}

/// Equality of JSON values with numbers compared as numbers: upstream decodes and encodes them.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Asserts that the fields that processing writes are the same in both Templates.
pub(crate) fn assert_same_fields(ours: &Value, theirs: &Value, what: &str) {
    for field in ["objects", "parameters", "labels", "message"] {
        let null = Value::Null;
        let (ours, theirs) = (ours.get(field), theirs.get(field));
        assert!(
            same(ours.unwrap_or(&null), theirs.unwrap_or(&null)),
            "{what}: {field}\nours:   {}\ntheirs: {}",
            ours.unwrap_or(&null),
            theirs.unwrap_or(&null)
        );
    }
}
