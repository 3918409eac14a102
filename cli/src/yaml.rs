//! YAML in and out, with the scalars that Kubernetes reads: YAML 1.1's `yes`, `0755`, `1_000`.
//!
//! Only text ↔ JSON values; which document is a template is decided elsewhere. Deliberately not the
//! server's reader: that one answers requests, this one reads files whose owner is waiting, so a
//! key given twice is taken as kubectl takes it (the last one counts), with a warning.

use anyhow::Context;
use serde_json::Value;
use serde_saphyr::{DuplicateKeyPolicy, Options};

/// Nesting that is accepted, the processor's limit.
const MAX_DEPTH: usize = processor::MAX_DEPTH;

/// What a YAML text holds.
#[derive(Debug)]
pub(crate) struct Documents {
    /// The documents that are not empty.
    pub(crate) values: Vec<Value>,
    /// What was read though it is doubtful.
    pub(crate) warning: Option<String>,
}

/// Reads all documents of `text`.
///
/// # Errors
/// When it is not YAML, nests too deep, is an alias bomb, or holds `.inf` or `.nan`, which have no
/// JSON form.
pub(crate) fn read(text: &str) -> anyhow::Result<Documents> {
    match documents(text, DuplicateKeyPolicy::Error) {
        Ok(values) => Ok(Documents { values, warning: None }),
        Err(first) => match documents(text, DuplicateKeyPolicy::LastWins) {
            Ok(values) => {
                let warning = Some(one_line(&first.to_string()));
                Ok(Documents { values, warning })
            }
            Err(error) => Err(anyhow::anyhow!(one_line(&error.to_string()))),
        },
    }
}

/// Writes `value` as one document, keys sorted, so that any YAML 1.1 or 1.2 reader reads it back.
pub(crate) fn write(value: &Value) -> anyhow::Result<String> {
    // Block scalars only where a line break is in the text; folding would hide long values.
    let options = serde_saphyr::ser_options! {
        folded_wrap_chars: usize::MAX,
    };
    let text = serde_saphyr::to_string_with_options(value, options).context("writing YAML")?;
    Ok(text)
}

fn documents(
    text: &str,
    duplicates: DuplicateKeyPolicy,
) -> Result<Vec<Value>, serde_saphyr::Error> {
    let values: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options(duplicates))?;
    Ok(values.into_iter().filter(|value| !value.is_null()).map(with_plain_integers).collect())
}

fn options(duplicate_keys: DuplicateKeyPolicy) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
        },
        duplicate_keys: duplicate_keys,
        legacy_octal_numbers: true,
        with_snippet: false,
    }
}

/// A float without a fraction is written as Go writes it: `1.0` and `1e3` become `1` and `1000`,
/// which integer fields accept.
fn with_plain_integers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "exact below 2^53")]
            Some(float)
                if number.is_f64()
                    && float.fract() == 0.0
                    && float.abs() < (1_u64 << 53) as f64 =>
            {
                Value::from(float as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(with_plain_integers).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| (key, with_plain_integers(value))).collect()
        }
        other => other,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(text: &str) -> Value {
        let documents = read(text).unwrap();
        assert_eq!(documents.warning, None);
        documents.values.into_iter().next().unwrap()
    }

    #[test]
    fn scalars_are_those_of_yaml_1_1() {
        let text = "a: yes\nb: 0755\nc: 1_000\nd: \"no\"\ne: 1.0\nf: 1e3\ng: ~\nh: 1.5\ni: 9223372036854775807";
        assert_eq!(
            one(text),
            json!({"a": true, "b": 493, "c": 1000, "d": "no", "e": 1, "f": 1000, "g": null, "h": 1.5, "i": i64::MAX})
        );
        assert_eq!(one("x: 1.0").to_string(), r#"{"x":1}"#);
    }

    #[test]
    fn anchors_and_merges_are_resolved() {
        assert_eq!(one("a: &a {x: 1}\nb:\n  <<: *a\n  y: 2")["b"], json!({"x": 1, "y": 2}));
    }

    #[test]
    fn empty_documents_are_skipped() {
        let documents = read("---\n# nothing\n---\na: 1\n---\n---\nb: 2\n").unwrap();
        assert_eq!(documents.values, [json!({"a": 1}), json!({"b": 2})]);
    }

    #[test]
    fn the_last_of_equal_keys_counts_and_is_warned_of() {
        let documents = read("a: 1\na: 2").unwrap();
        assert_eq!(documents.values, [json!({"a": 2})]);
        assert!(documents.warning.unwrap().contains("duplicate"));
    }

    #[test]
    fn what_is_no_yaml_is_refused() {
        for text in ["a: [1", "a: .inf", "{", "\"a"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"[".repeat(5000)).is_err());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let words = [
            "yes",
            "no",
            "on",
            "y",
            "N",
            "~",
            "null",
            "true",
            "0755",
            "0o7",
            "0x1",
            "1_000",
            "1e3",
            ".5",
            "1:30",
            "2001-01-01",
            "=",
            "<<",
            "",
            " a",
            "a ",
            "a: b",
            "#a",
            "a #b",
            "-",
            "- a",
            "?",
            "!a",
            "&a",
            "*a",
            "%a",
            "@a",
            "`a",
            "a\nb",
            "a\nb\n",
            "a\n\n\nb\n\n",
            "\n",
            "\n a\nb",
            "\ta",
            "a\tb",
            "a\r\nb",
            "é😀",
            "\u{0}\u{7f}\u{85}\u{2028}\u{feff}",
            "'",
            "\"",
            "\\",
            "{a}",
            "[a]",
            "a,b",
            "---",
            "...",
            "--- a",
            ".inf",
            ".NaN",
            "+1",
            "-1",
            "1.",
            "0b1",
            "08",
            "${A}",
            "${{A}}",
        ];
        let long = "word ".repeat(60);
        let mut value = json!({"numbers": [1, -1, 1.5, 1e30, u64::MAX, i64::MIN, 0.1], "empty": [{}, [], null, true]});
        for word in words.into_iter().chain([long.as_str()]) {
            value[word] = json!({ "v": word, "l": [word, [word]] });
        }
        let text = write(&value).unwrap();
        assert_eq!(one(&text), value, "{text}");
    }
}
