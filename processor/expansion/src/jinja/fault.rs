//! From the engine's errors to faults in Jinja2's words, with the way through the templates.

use std::error::Error as _;
use std::iter;

use minijinja::{Error, ErrorKind};

use super::source;
use crate::call::{Call, Fault, Frame};
use crate::error::printable;

/// Messages quote values, which may be of any size.
const LONGEST: usize = 1000;

/// What is said of filters that need chance.
pub(super) const NO_CHANCE: &str = "random is not available: one configuration has one result";

/// Methods by which Python changes a list or a dictionary.
const CHANGES: [&str; 9] =
    ["append", "clear", "extend", "insert", "pop", "remove", "reverse", "setdefault", "update"];

/// What is wrong with the templates of this call.
pub(super) fn fault(error: &Error, call: &Call, fuel: u64, output: usize) -> Fault {
    let chain: Vec<&Error> = iter::successors(Some(error), |error| beneath(error)).collect();
    let frames = chain.iter().filter_map(|error| frame(error, call)).collect();
    let innermost = chain.last().expect("a chain begins with its error");
    let (kind, message) = words(innermost, fuel, output);
    let hint = hint(&message).map(str::to_owned);
    Fault { kind: kind.to_owned(), message: plain(&message), frames, hint }
}

fn beneath(error: &Error) -> Option<&Error> {
    error.source()?.downcast_ref()
}

fn frame(error: &Error, call: &Call) -> Option<Frame> {
    let file = error.name()?;
    let line = error.line()?;
    let source = call.imports.get(file).map_or("", |import| &import.content);
    let text = source.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    Some(Frame {
        file: file.to_owned(),
        line: u32::try_from(line).unwrap_or(0),
        function: String::new(),
        text: plain(text.trim()),
    })
}

fn hint(message: &str) -> Option<&'static str> {
    let (_, method) = message.strip_suffix('\'')?.rsplit_once("' has no attribute '")?;
    CHANGES.contains(&method).then_some(
        "lists and dictionaries cannot be changed here: make new ones with +, dict(…) or a namespace",
    )
}

/// A fault of the engine itself, which is a bug, and no reason for whoever renders to end.
pub(super) fn panicked() -> Fault {
    let message = "the template engine failed at this template".to_owned();
    Fault { kind: "InternalError".to_owned(), message, ..Fault::default() }
}

/// Jinja2's name of an error, and its message.
fn words(error: &Error, fuel: u64, output: usize) -> (&'static str, String) {
    let detail = error.detail().unwrap_or_default();
    if let Some(message) = undefined(error.kind(), detail) {
        return ("UndefinedError", message);
    }
    match error.kind() {
        ErrorKind::SyntaxError => ("TemplateSyntaxError", syntax(detail)),
        ErrorKind::TemplateNotFound => ("TemplateNotFound", missing_template(detail)),
        ErrorKind::UnknownFilter => ("TemplateAssertionError", unknown("filter", detail)),
        ErrorKind::UnknownTest => ("TemplateAssertionError", unknown("test", detail)),
        ErrorKind::OutOfFuel => {
            ("TimeLimit", format!("the template takes more than {fuel} instructions"))
        }
        ErrorKind::WriteFailure => {
            ("OutputLimit", format!("the template writes more than {output} bytes"))
        }
        ErrorKind::CannotUnpack => ("ValueError", detail.to_owned()),
        ErrorKind::InvalidOperation if detail == NO_CHANCE => ("Forbidden", detail.to_owned()),
        ErrorKind::InvalidOperation => operation(detail),
        kind if detail.is_empty() => ("TypeError", kind.to_string()),
        _ => ("TypeError", detail.to_owned()),
    }
}

/// What is undefined, where that is what is wrong: the engine names it in its detail, as `` `a.b` is undefined ``.
fn undefined(kind: ErrorKind, detail: &str) -> Option<String> {
    if let Some((_, rest)) = detail.split_once('`')
        && let Some((name, _)) = rest.split_once("` is undefined")
    {
        return Some(format!("'{name}' is undefined"));
    }
    match kind {
        ErrorKind::UnknownFunction => {
            Some(format!("'{}' is undefined", detail.strip_suffix(" is unknown")?))
        }
        ErrorKind::UnknownMethod => {
            let (object, method) = detail.split_once(" has no method named ")?;
            Some(format!("{} has no attribute '{method}'", object_of(object)))
        }
        ErrorKind::UndefinedError => Some("an undefined value is used".to_owned()),
        _ => None,
    }
}

/// A kind of value in the words of Jinja2.
fn object_of(kind: &str) -> String {
    match kind {
        "none" => "'None'".to_owned(),
        kind => format!("'{} object'", python(kind)),
    }
}

/// The name of a type, which of numbers the engine does not tell.
fn python(kind: &str) -> &str {
    match kind {
        "string" => "str",
        "sequence" => "list",
        "map" => "dict",
        "none" => "NoneType",
        other => other,
    }
}

fn syntax(detail: &str) -> String {
    match detail.strip_prefix("unknown statement ") {
        Some(tag) => {
            let tag = tag.strip_suffix(source::UNKNOWN).unwrap_or(tag);
            format!("Encountered unknown tag '{tag}'.")
        }
        None => detail.replace('`', "'"),
    }
}

/// Jinja2 says nothing but the name, or all names of a list.
fn missing_template(detail: &str) -> String {
    let quoted = detail.find(['\'', '"']).map_or("", |at| &detail[at..]);
    if let Some((_, names)) = detail.split_once("none of which existed ") {
        return format!("none of the templates given were found: {names}");
    }
    let quote = quoted.chars().next().unwrap_or('"');
    match quoted.rfind(quote) {
        Some(end) if end > 0 => quoted[1..end].to_owned(),
        _ => detail.to_owned(),
    }
}

fn unknown(what: &str, detail: &str) -> String {
    let name = detail.strip_prefix(what).and_then(|rest| rest.strip_suffix(" is unknown"));
    name.map_or_else(|| detail.to_owned(), |name| format!("no {what} named '{}'", name.trim()))
}

fn operation(detail: &str) -> (&'static str, String) {
    if detail.contains("recursion limit") {
        return ("RecursionError", "maximum recursion depth exceeded".to_owned());
    }
    if detail.starts_with("unable to calculate ") {
        let divisor = detail.rsplit(' ').next().unwrap_or_default();
        return if [" / ", " // ", " % ", "0 ** "].iter().any(|operator| detail.contains(operator))
            && divisor.parse::<f64>().is_ok_and(|divisor| divisor <= 0.0)
        {
            ("ZeroDivisionError", "division by zero".to_owned())
        } else {
            ("OverflowError", format!("{detail}: integers end at 128 bits"))
        };
    }
    let Some(rest) = detail.strip_prefix("tried to use ") else {
        return ("TypeError", detail.to_owned());
    };
    let words: Vec<&str> = rest.split(' ').collect();
    match words.as_slice() {
        [operator, "operator", "on", "unsupported", "types", left, "and", right] => {
            let (left, right) = (python(left), python(right));
            let what =
                format!("unsupported operand type(s) for {operator}: '{left}' and '{right}'");
            ("TypeError", what)
        }
        _ => ("TypeError", detail.to_owned()),
    }
}

/// Without control characters, and not too long.
fn plain(text: &str) -> String {
    printable(text, LONGEST).into_owned()
}
