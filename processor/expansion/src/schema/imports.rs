//! `imports` of a schema: files that must come with the template.

use std::sync::LazyLock;

use jsonschema::Validator;
use regex::{Regex, RegexBuilder};

use super::draft::Version;
use super::pointer::{self, Located, Segment};
use super::{Violation, message};
use crate::call::Imports;
use crate::value::Value;

/// A file that a schema asks for.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The name it must have, or what its name must match.
    name: String,
    /// Set when the name is a glob.
    glob: Option<Regex>,
}

/// What `imports` has to look like.
static SHAPE: LazyLock<Validator> = LazyLock::new(|| {
    let shape = serde_json::json!({
        "type": "array",
        "uniqueItems": true,
        "items": {
            "type": "object",
            "required": ["path"],
            "additionalProperties": false,
            "properties": {"path": {"type": "string"}, "name": {"type": "string"}},
        },
    });
    Version::Draft4.compile(&shape).expect("it is a schema")
});

/// Reads `imports`.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn read(schema: &Value) -> Result<Vec<Wanted>, Vec<Violation>> {
    let Some(imports) = schema.get("imports").filter(|imports| !imports.is_falsy()) else {
        return Ok(Vec::new());
    };
    let json = serde_json::to_value(imports).expect("keys are strings and floats are finite");
    let violations: Vec<Violation> = SHAPE
        .iter_errors(&json)
        .take(super::MAX_VIOLATIONS)
        .map(|error| {
            let Located { value, place, .. } = pointer::locate(imports, error.instance_path());
            let mut path = vec![Segment::key("imports")];
            path.extend(pointer::path(imports, &place));
            Violation { message: message::message(&error, value, None, &[]), path }
        })
        .collect();
    if !violations.is_empty() {
        return Err(violations);
    }
    let wanted = imports.as_list().unwrap_or_default().iter().map(|import| {
        let text = |key| import.get(key).and_then(Value::as_str);
        let name = text("name").or_else(|| text("path")).unwrap_or_default().to_owned();
        let glob = if text("name").is_none() { glob(&name) } else { None };
        Wanted { name, glob }
    });
    Ok(wanted.collect())
}

/// Says which of the files are missing. `schema` is the name of the schema that asks for them.
pub(super) fn missing(wanted: &[Wanted], imports: &Imports, schema: &str) -> Vec<Violation> {
    let missing = wanted.iter().filter(|wanted| {
        let by_glob = |glob: &Regex| imports.keys().any(|name| glob.is_match(name));
        !imports.contains_key(&wanted.name) && !wanted.glob.as_ref().is_some_and(by_glob)
    });
    let violations = missing.map(|wanted| Violation {
        message: format!(
            "File {} requested in schema {} but not included with imports.",
            message::shown(&Value::from(wanted.name.as_str())),
            message::shown(&Value::from(schema)),
        ),
        path: Vec::new(),
    });
    violations.take(super::MAX_VIOLATIONS).collect()
}

/// A path as a shell's pattern, if it is one: `*` and `?`, which match `/` too, and `[…]`. One that cannot be compiled is
/// a plain name.
fn glob(path: &str) -> Option<Regex> {
    if !path.contains(['*', '?', '[']) {
        return None;
    }
    let mut pattern = String::from("(?s)^");
    let mut rest = path;
    while let Some(c) = rest.chars().next() {
        let mut next = &rest[c.len_utf8()..];
        match c {
            '*' => pattern.push_str(".*"),
            '?' => pattern.push('.'),
            '[' => match class(next) {
                Some((class, after)) => {
                    pattern.push_str(&class);
                    next = after;
                }
                None => pattern.push_str("\\["),
            },
            plain => pattern.push_str(&regex::escape(plain.encode_utf8(&mut [0; 4]))),
        }
        rest = next;
    }
    pattern.push('$');
    RegexBuilder::new(&pattern).size_limit(super::pattern::MAX_SIZE).build().ok()
}

/// What stands behind a `[`: the class, and what is behind it.
fn class(text: &str) -> Option<(String, &str)> {
    let negated = text.starts_with('!');
    let members = &text[usize::from(negated)..];
    // A bracket that comes first is a member.
    let end = members.char_indices().skip(1).find(|(_, c)| *c == ']')?.0;
    let mut class = String::from(if negated { "[^" } else { "[" });
    for member in members[..end].chars() {
        match member {
            // Between two members it makes a range, as in the shell.
            '-' => class.push('-'),
            plain => class.push_str(&regex::escape(plain.encode_utf8(&mut [0; 4]))),
        }
    }
    class.push(']');
    Some((class, &members[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_as_a_shell_does_but_for_slashes() {
        let matches = |path, name| glob(path).is_some_and(|glob| glob.is_match(name));
        assert!(matches("helpers/*.py", "helpers/a/b.py"));
        assert!(!matches("helpers/*.py", "helpers/a.pyc"));
        assert!(matches("v?.[jt]*", "v1.jinja") && !matches("v?.[!j]*", "v1.jinja"));
        assert!(matches("[]]", "]") && matches("[[]", "[") && matches("a[b", "a[b"));
        assert!(matches("[0-9]x+", "7x+") && !matches("[0-9]x+", "7xx"));
        assert!(glob("plain.py").is_none());
    }
}
