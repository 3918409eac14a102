//! Methods of strings that the engine's own set lacks, or has without some of their arguments.

use minijinja::Error;
use minijinja::value::{Tuple, Value, from_args};

use super::{failed, unknown};
use crate::jinja::bounds::bounded;

pub(super) fn call(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    Ok(match method {
        "center" | "ljust" | "rjust" => {
            let (width, fill): (usize, Option<char>) = from_args(args)?;
            let fill = fill.unwrap_or(' ');
            Value::from(match method {
                "center" => center(text, width, fill)?,
                "ljust" => padded(text, 0, missing(text, width), fill)?,
                _ => padded(text, missing(text, width), 0, fill)?,
            })
        }
        "zfill" => {
            let (width,): (usize,) = from_args(args)?;
            Value::from(zfill(text, width)?)
        }
        "find" | "rfind" | "index" | "rindex" => found(text, method, args)?,
        "rsplit" => rsplit(text, args)?,
        "partition" | "rpartition" => {
            let (at,): (&str,) = from_args(args)?;
            partition(text, at, method == "rpartition")
        }
        "splitlines" => {
            let (keep,): (Option<bool>,) = from_args(args)?;
            lines(text, keep.unwrap_or(false)).into_iter().map(Value::from).collect()
        }
        "replace" => {
            let (old, new, count): (&str, &str, Option<i64>) = from_args(args)?;
            let count = count.and_then(|count| usize::try_from(count).ok());
            Value::from(replace(text, old, new, count)?)
        }
        "join" => {
            let (items,): (&Value,) = from_args(args)?;
            Value::from(join(text, items)?)
        }
        "swapcase" => text.chars().map(swapped).collect::<String>().into(),
        "istitle" => istitle(text).into(),
        "isdecimal" => (!text.is_empty() && text.chars().all(char::is_numeric)).into(),
        "expandtabs" => {
            let (width,): (Option<usize>,) = from_args(args)?;
            Value::from(expandtabs(text, width.unwrap_or(8))?)
        }
        // In Python 2 that is text again.
        "encode" | "decode" => Value::from(text),
        _ => return Err(unknown()),
    })
}

fn missing(text: &str, width: usize) -> usize {
    width.saturating_sub(text.chars().count())
}

fn padded(text: &str, before: usize, after: usize, fill: char) -> Result<String, Error> {
    bounded(before.saturating_add(after))?;
    let fill = fill.to_string();
    Ok([&*fill.repeat(before), text, &fill.repeat(after)].concat())
}

/// Which side gets the odd character is Python's peculiarity.
pub(in crate::jinja) fn center(text: &str, width: usize, fill: char) -> Result<String, Error> {
    let missing = missing(text, width);
    let before = missing / 2 + (missing & width & 1);
    padded(text, before, missing - before, fill)
}

/// Zeros stand behind a sign.
fn zfill(text: &str, width: usize) -> Result<String, Error> {
    let sign = usize::from(text.starts_with(['-', '+']));
    let zeros = padded("", missing(text, width), 0, '0')?;
    Ok([&text[..sign], &zeros, &text[sign..]].concat())
}

/// Positions are those of characters; they may be bounded, and counted from the end.
fn found(text: &str, method: &str, args: &[Value]) -> Result<Value, Error> {
    let (wanted, start, end): (&str, Option<i64>, Option<i64>) = from_args(args)?;
    let length = text.chars().count();
    let place = |at: i64| {
        let size = usize::try_from(at.unsigned_abs()).unwrap_or(usize::MAX);
        if at < 0 { length.saturating_sub(size) } else { size.min(length) }
    };
    let (start, end) = (place(start.unwrap_or(0)), end.map_or(length, place));
    let byte = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
    let part = &text[byte(start)..byte(end.max(start))];
    let at = if method.starts_with('r') { part.rfind(wanted) } else { part.find(wanted) };
    match at {
        Some(at) => Ok(Value::from(start + part[..at].chars().count())),
        None if method.ends_with("find") => Ok(Value::from(-1)),
        None => Err(failed("substring not found")),
    }
}

fn rsplit(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (at, most): (Option<&str>, Option<i64>) = from_args(args)?;
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let mut pieces: Vec<&str> = match at {
        Some("") => return Err(failed("empty separator")),
        Some(at) => text.rsplitn(most.saturating_add(1), at).collect(),
        None => {
            let mut pieces = Vec::new();
            let mut rest = text.trim_end();
            while !rest.is_empty() {
                let cut = if pieces.len() < most { rest.rfind(char::is_whitespace) } else { None };
                let begin =
                    cut.map_or(0, |cut| cut + rest[cut..].chars().next().map_or(1, char::len_utf8));
                pieces.push(&rest[begin..]);
                rest = rest[..begin].trim_end();
            }
            pieces
        }
    };
    pieces.reverse();
    Ok(pieces.into_iter().map(Value::from).collect())
}

fn partition(text: &str, at: &str, last: bool) -> Value {
    let split = if last { text.rsplit_once(at) } else { text.split_once(at) };
    Value::from(Tuple::from(match split {
        Some((before, after)) => [before, at, after].map(Value::from),
        None if last => ["", "", text].map(Value::from),
        None => [text, "", ""].map(Value::from),
    }))
}

/// Python ends lines at more characters than `\n`.
pub(in crate::jinja) fn lines(text: &str, keep: bool) -> Vec<&str> {
    let end = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
                ..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let at = rest.find(end).unwrap_or(rest.len());
        let mark = rest[at..].chars().next().map_or(0, char::len_utf8);
        let mark = if rest[at..].starts_with("\r\n") { 2 } else { mark };
        lines.push(&rest[..if keep { at + mark } else { at }]);
        rest = &rest[at + mark..];
    }
    lines
}

/// Refuses what would be too long before it is made.
pub(in crate::jinja) fn replace(
    text: &str,
    old: &str,
    new: &str,
    count: Option<usize>,
) -> Result<String, Error> {
    let count = count.unwrap_or(usize::MAX);
    if new.len() > old.len() {
        let more = text.matches(old).take(count).count().saturating_mul(new.len() - old.len());
        bounded(more)?;
    }
    Ok(text.replacen(old, new, count))
}

fn join(between: &str, items: &Value) -> Result<String, Error> {
    let mut joined = String::new();
    for (at, item) in items.try_iter()?.checked().enumerate() {
        let item = item?;
        let Some(text) = item.as_str() else {
            return Err(failed(format!(
                "sequence item {at}: expected string, {} found",
                item.kind()
            )));
        };
        joined.push_str(if at > 0 { between } else { "" });
        joined.push_str(text);
    }
    Ok(joined)
}

fn swapped(character: char) -> String {
    if character.is_uppercase() {
        character.to_lowercase().collect()
    } else {
        character.to_uppercase().collect()
    }
}

fn istitle(text: &str) -> bool {
    let mut inside = false;
    let mut any = false;
    for character in text.chars() {
        if (character.is_uppercase() && inside) || (character.is_lowercase() && !inside) {
            return false;
        }
        inside = character.is_alphabetic();
        any |= inside;
    }
    any
}

fn expandtabs(text: &str, width: usize) -> Result<String, Error> {
    bounded(text.matches('\t').count().saturating_mul(width))?;
    let mut expanded = String::new();
    let mut column = 0;
    for character in text.chars() {
        if character == '\t' {
            let spaces = if width == 0 { 0 } else { width - column % width };
            expanded.push_str(&" ".repeat(spaces));
            column += spaces;
        } else {
            expanded.push(character);
            column = if matches!(character, '\n' | '\r') { 0 } else { column + 1 };
        }
    }
    Ok(expanded)
}
