//! The YAML of configurations, of what templates give, and of schemas: the one place where it is read.
//!
//! What the text has to contain is the business of those who ask.

use crate::value::Value;

/// A text that was read.
#[derive(Debug)]
pub(crate) struct Document {
    /// What it says; `null` when it is empty.
    pub(crate) value: Value,
    /// How much of a budget it takes, with everything that aliases repeat.
    pub(crate) size: usize,
    /// What is odd about it, such as a key that stands twice.
    pub(crate) warnings: Vec<String>,
    /// The lines where the items of lists begin that are members of the map at the top, by key.
    lines: Vec<(String, Vec<usize>)>,
}

impl Document {
    /// The line where each item of the list `key` at the top begins, from 1; nothing where that is not known.
    pub(crate) fn lines(&self, key: &str) -> Vec<u32> {
        let lines = self.lines.iter().rfind(|(name, _)| name == key);
        let line = |&line: &usize| u32::try_from(line).unwrap_or(u32::MAX);
        lines.map(|(_, lines)| lines.iter().map(line).collect()).unwrap_or_default()
    }
}

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// Where, from 1.
    pub(crate) line: Option<u32>,
    /// What is wrong there.
    pub(crate) message: String,
}

/// How much one text may say. All of an expansion's texts together have a budget; the reader itself ends what would take
/// much memory.
const LARGEST: usize = 16 << 20;

/// Reads YAML as PyYAML's `safe_load` does.
///
/// # Errors
/// When it is not YAML, says what JSON cannot say, or exceeds a limit of nesting, aliases or size.
pub(crate) fn read(text: &str) -> Result<Document, Unreadable> {
    let unreadable = |error: yaml::ReadError| Unreadable {
        line: error.line().and_then(|line| u32::try_from(line).ok()),
        message: error.message().to_owned(),
    };
    let yaml::Loaded { value, duplicates, lines } =
        yaml::safe_load::<Value>(text).map_err(unreadable)?;
    let size = value.size();
    if size > LARGEST {
        let message = format!("it says more than the {LARGEST} bytes that are allowed");
        return Err(Unreadable { line: None, message });
    }
    Ok(Document { value, size, warnings: duplicates, lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_is_null() {
        for text in ["", "~", "# nothing\n"] {
            assert_eq!(read(text).unwrap().value, Value::Null, "{text:?}");
        }
    }

    #[test]
    fn what_aliases_repeat_counts_towards_the_size() {
        let text = format!("a: &a [{}]\nb: [*a, *a, *a]\n", "x".repeat(100));
        let document = read(&text).unwrap();
        assert_eq!(document.size, document.value.to_json().len());
        assert!(document.size > 4 * 100);
    }

    #[test]
    fn a_text_that_would_take_much_memory_is_unreadable() {
        let text = format!("[{}]", "[],".repeat(LARGEST / 24));
        assert!(read(&text).unwrap_err().message.starts_with("it says more than"));
    }

    #[test]
    fn nonsense_is_unreadable() {
        assert_eq!(read("a: 1\nb: c: d\n").unwrap_err().line, Some(2));
        assert!(read(&"[".repeat(200)).is_err());
    }

    #[test]
    fn the_lines_of_items_are_known() {
        let document = read("a: 1\nresources:\n- x\n\n- y: 1\n  z: 2\n").unwrap();
        assert_eq!(document.lines("resources"), [3, 5]);
        assert_eq!(document.lines("a"), [0; 0]);
    }
}
