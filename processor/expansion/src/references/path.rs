//! The path of a reference: what is used of JSONPath.
//!
//! Members by `.name` or `["name"]`, items by `[2]`, all of them by `*` or `[*]`. No filters, slices or descents: a path
//! with anything of that kind finds nothing.

use crate::value::Value;

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// The member of that name.
    Member(&'a str),
    /// The item at that position, from 0.
    Item(usize),
    /// All members or items.
    All,
}

/// Why nothing is found. The words are Deployment Manager's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// A list is shorter.
    #[error("list index out of range")]
    Item,
    /// Anything else.
    #[error("No value found.")]
    Value,
}

/// Reads a path; `None` when it is none.
pub(crate) fn parse(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(bracket) = rest.strip_prefix('[') {
            let (step, behind) = bracketed(bracket)?;
            steps.push(step);
            rest = behind;
            continue;
        }
        let from = if steps.is_empty() { rest } else { rest.strip_prefix('.')? };
        let (name, behind) = from.split_at(from.find(['.', '[']).unwrap_or(from.len()));
        if name.is_empty() || name.contains(['(', ')', ']', '"', '\'']) {
            return None;
        }
        steps.push(if name == "*" { Step::All } else { Step::Member(name) });
        rest = behind;
    }
    Some(steps)
}

/// What stands behind an opening bracket, and what comes after it.
fn bracketed(text: &str) -> Option<(Step<'_>, &str)> {
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            let (name, behind) = quoted.split_once(quote)?;
            return Some((Step::Member(name), behind.strip_prefix(']')?));
        }
    }
    let (inside, behind) = text.split_once(']')?;
    if inside == "*" {
        return Some((Step::All, behind));
    }
    let digits = inside.bytes().all(|byte| byte.is_ascii_digit());
    let item = digits.then(|| inside.parse().ok()).flatten()?;
    Some((Step::Item(item), behind))
}

/// What the steps lead to. With `*` among them it is the list of everything that they lead to.
///
/// # Errors
/// When there is nothing.
pub(crate) fn find(value: &Value, steps: &[Step<'_>]) -> Result<Value, Missing> {
    let Some((step, rest)) = steps.split_first() else { return Ok(value.clone()) };
    match (step, value) {
        (Step::Member(name), Value::Map(map)) => find(map.get(*name).ok_or(Missing::Value)?, rest),
        (Step::Item(at), Value::List(list)) => find(list.get(*at).ok_or(Missing::Item)?, rest),
        (Step::All, Value::List(list)) => all(list.iter(), rest),
        (Step::All, Value::Map(map)) => all(map.values(), rest),
        _ => Err(Missing::Value),
    }
}

/// What the steps lead to from each of the values, where they lead anywhere.
pub(crate) fn all<'a>(
    values: impl Iterator<Item = &'a Value>,
    steps: &[Step<'_>],
) -> Result<Value, Missing> {
    let mut found = Vec::new();
    for value in values {
        match find(value, steps) {
            // Of several `*` comes one list, not lists in lists.
            Ok(Value::List(items)) if steps.contains(&Step::All) => found.extend(items),
            Ok(value) => found.push(value),
            Err(_) => {}
        }
    }
    Ok(Value::List(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value() -> Value {
        let json = r#"{"a": {"b": {"c": "d"}, "no": false, "x.y": 1}, "l": [{"n": 1}, {"n": 2}, {}],
                       "m": [[1, 2], [3]], "e": []}"#;
        Value::from_json(json).unwrap()
    }

    #[track_caller]
    fn check(path: &str, want: Result<&str, &str>) {
        let found = crate::references::find(&value(), path);
        let found = found.map(|value| value.to_json()).map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), want, "{path}");
    }

    #[test]
    fn a_path_leads_through_members_and_items() {
        check("", Ok(&value().to_json()));
        check("a.b.c", Ok("\"d\""));
        check("a.b", Ok("{\"c\":\"d\"}"));
        check("a.no", Ok("false"));
        check("a[\"x.y\"]", Ok("1"));
        check("a['b'].c", Ok("\"d\""));
        check("l[1].n", Ok("2"));
        check("m[0][1]", Ok("2"));
        check("l[*].n", Ok("[1,2]"));
        check("m[*]", Ok("[[1,2],[3]]"));
        check("m[*][*]", Ok("[1,2,3]"));
        check("e[*]", Ok("[]"));
        check("a.b.*", Ok("[\"d\"]"));
    }

    #[test]
    fn what_leads_nowhere_is_told() {
        check("l[3]", Err("list index out of range"));
        check("e[0].n", Err("list index out of range"));
        for path in [
            "z",
            "a.b.c.d",
            "a[0]",
            "l.n",
            "a.b[2",
            "a..c",
            "a.",
            ".a",
            "l[-1]",
            "l[0:1]",
            "l[]",
            "a.b()",
            "l[99999999999999999999999]",
            "a]b",
            "[\"a",
            "a[\"b\"x]",
            "l[+1]",
        ] {
            check(path, Err("No value found."));
        }
    }
}
