//! From the engine's errors to faults in Jinja2's words, with the way through the templates.

use std::error::Error as _;
use std::iter;

use minijinja::{Error, ErrorKind};

use crate::call::{Call, Fault, Frame};

/// Messages quote values, which may be of any size.
const LONGEST: usize = 1000;

/// What is wrong with the templates of this call.
pub(super) fn fault(error: &Error, call: &Call, fuel: u64, output: usize) -> Fault {
    let chain: Vec<&Error> = iter::successors(Some(error), |error| beneath(error)).collect();
    let frames = chain.iter().filter_map(|error| frame(error, call)).collect();
    let innermost = chain.last().expect("a chain begins with its error");
    let (kind, message) = words(innermost, fuel, output);
    Fault { kind: kind.to_owned(), message: plain(&message), frames, hint: None }
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

/// Jinja2's name of an error, and its message.
fn words(error: &Error, fuel: u64, output: usize) -> (&'static str, String) {
    let detail = error.detail().unwrap_or_default();
    match error.kind() {
        ErrorKind::SyntaxError => ("TemplateSyntaxError", detail.to_owned()),
        ErrorKind::TemplateNotFound => ("TemplateNotFound", detail.to_owned()),
        ErrorKind::UndefinedError => ("UndefinedError", detail.to_owned()),
        ErrorKind::UnknownFilter | ErrorKind::UnknownTest => {
            ("TemplateAssertionError", detail.to_owned())
        }
        ErrorKind::UnknownFunction | ErrorKind::UnknownMethod => {
            ("UndefinedError", detail.to_owned())
        }
        ErrorKind::OutOfFuel => {
            ("TimeLimit", format!("the template takes more than {fuel} instructions"))
        }
        ErrorKind::WriteFailure => {
            ("OutputLimit", format!("the template writes more than {output} bytes"))
        }
        ErrorKind::CannotUnpack => ("ValueError", detail.to_owned()),
        ErrorKind::InvalidOperation if detail.ends_with("recursion limit exceeded") => {
            ("RecursionError", "maximum recursion depth exceeded".to_owned())
        }
        kind if detail.is_empty() => ("TypeError", kind.to_string()),
        _ => ("TypeError", detail.to_owned()),
    }
}

/// Without control characters, and not too long.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len().min(LONGEST));
    for character in text.chars() {
        if plain.len() >= LONGEST {
            plain.push('…');
            break;
        }
        if character.is_control() {
            plain.extend(character.escape_default());
        } else {
            plain.push(character);
        }
    }
    plain
}
