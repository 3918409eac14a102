//! JSON text to YAML, in one pass.
//!
//! Maps come out sorted as Go's library sorts them, lists are not indented below their key, long texts
//! are broken at blanks behind column 80: byte for byte what kube-apiserver answers.

use std::borrow::Cow;
use std::ops::Range;

use schema::SyntaxError;
use schema::json::{Scanner, ValueKind};

use super::draft::Draft;
use super::order::{compare, sorted};
use super::python;
use super::quote::{self, Style, is_break, is_printable};
use super::scalar::{Plain, resolve, yaml_float};
use super::{DEPTH_OUT, WRITTEN};

/// Behind this column a blank becomes a line break.
const WIDTH: usize = 80;

/// Why a text could not be written as YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// It is not JSON.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The YAML would be longer than this many bytes.
    #[error("the text would be longer than {0} bytes as YAML")]
    TooLong(usize),
}

/// Writes JSON as YAML, with a line break at its end.
///
/// # Errors
/// When `json` is not JSON, or the YAML would exceed 64 MiB.
pub fn from_json(json: &str) -> Result<String, WriteError> {
    dump(json, Reader::Go)
}

/// Writes JSON as YAML that [`safe_load`](crate::safe_load) and PyYAML read as the same values: floats keep their point,
/// and texts that PyYAML takes for something else are in quotes. So are those that begin with a zero, as Deployment
/// Manager's successor had it. Otherwise it is what [`from_json`] writes.
///
/// # Errors
/// As [`from_json`].
pub fn safe_dump(json: &str) -> Result<String, WriteError> {
    dump(json, Reader::Python)
}

fn dump(json: &str, reader: Reader) -> Result<String, WriteError> {
    let scanner = Scanner::new(json, DEPTH_OUT);
    let mut writer = Writer { scanner, reader, draft: Draft::default(), column: 0 };
    writer.document()?;
    writer.scanner.end()?;
    writer.draft.text.push('\n');
    Ok(writer.draft.finish())
}

/// Who is going to read it.
#[derive(Clone, Copy)]
enum Reader {
    Go,
    Python,
}

impl Reader {
    fn number(self, text: &str) -> String {
        let float = || text.parse().ok().filter(|float: &f64| float.is_finite());
        match self {
            Self::Go => match resolve(text) {
                Plain::Int(number) => number.to_string(),
                Plain::Uint(number) => number.to_string(),
                Plain::Float(number) => yaml_float(number),
                // Beyond any float. Go keeps the digits, too.
                _ => text.to_owned(),
            },
            Self::Python if text.contains(['.', 'e', 'E']) => {
                float().map_or_else(|| text.to_owned(), python::print_float)
            }
            Self::Python => text.to_owned(),
        }
    }

    fn style(self, text: &str) -> Style {
        match (self, quote::of_value(text)) {
            // Breaks to YAML 1.1 and none to 1.2: escaped, they are the same to every reader.
            (Self::Python, _) if text.contains(['\u{85}', '\u{2028}', '\u{2029}']) => Style::Double,
            (Self::Python, Style::Plain)
                if text.starts_with('0') || python::resolve(text) != Ok(Plain::Text) =>
            {
                Style::Single
            }
            (_, style) => style,
        }
    }
}

struct Writer<'a> {
    scanner: Scanner<'a>,
    reader: Reader,
    draft: Draft,
    column: usize,
}

/// Where a value stands, and how far the collection around it is indented.
#[derive(Clone, Copy)]
enum Place {
    Root,
    /// Behind `- `, or the `: ` of a key that has a line of its own.
    Item(usize),
    /// Behind `key:`.
    Value(usize),
}

impl Place {
    /// The indentation of a map's keys here.
    fn map(self) -> usize {
        match self {
            Self::Root => 0,
            Self::Item(around) | Self::Value(around) => around + 2,
        }
    }

    /// The indentation of a list's dashes here: below a key they stand right under it.
    fn list(self) -> usize {
        match self {
            Self::Value(around) => around,
            other => other.map(),
        }
    }

    /// The indentation of a text's further lines here.
    fn text(self) -> usize {
        match self {
            Self::Root => 2,
            other => other.map(),
        }
    }
}

/// A collection whose members are being written.
enum Open<'a> {
    List { place: Place, empty: bool },
    Map { place: Place, keys: Vec<Cow<'a, str>>, ranges: Vec<Range<usize>> },
}

impl<'a> Writer<'a> {
    /// Writes all values. The stack is a list, as objects may be nested deeper than a thread's stack.
    fn document(&mut self) -> Result<(), WriteError> {
        let mut stack: Vec<Open<'a>> = Vec::new();
        let mut place = Place::Root;
        loop {
            stack.extend(self.value(place)?);
            if self.draft.text.len() > WRITTEN {
                return Err(WriteError::TooLong(WRITTEN));
            }
            place = loop {
                let Some(open) = stack.last_mut() else { return Ok(()) };
                match self.member(open)? {
                    Some(place) => break place,
                    None => _ = stack.pop(),
                }
            };
        }
    }

    /// Writes a scalar, or opens a collection.
    fn value(&mut self, place: Place) -> Result<Option<Open<'a>>, WriteError> {
        match self.scanner.peek()? {
            ValueKind::Null => {
                self.scanner.null()?;
                self.word("null", place);
            }
            ValueKind::Bool => {
                let word = if self.scanner.boolean()? { "true" } else { "false" };
                self.word(word, place);
            }
            ValueKind::Number => {
                let text = self.scanner.number()?;
                self.word(&self.reader.number(text), place);
            }
            ValueKind::String => {
                let text = self.scanner.string()?;
                self.blank(place);
                self.text(&text, self.reader.style(&text), place.text(), true);
            }
            ValueKind::Array => {
                self.scanner.open_array()?;
                return Ok(Some(Open::List { place, empty: true }));
            }
            ValueKind::Object => {
                self.scanner.open_object()?;
                return Ok(Some(Open::Map { place, keys: Vec::new(), ranges: Vec::new() }));
            }
        }
        Ok(None)
    }

    /// Writes what stands before the next member and says where that is; `None` behind the last one.
    fn member(&mut self, open: &mut Open<'a>) -> Result<Option<Place>, WriteError> {
        match open {
            Open::List { place, empty } => {
                if !self.scanner.item(*empty)? {
                    if *empty {
                        self.word("[]", *place);
                    }
                    return Ok(None);
                }
                self.begin(*place, place.list(), std::mem::take(empty));
                self.put("-");
                Ok(Some(Place::Item(place.list())))
            }
            Open::Map { place, keys, ranges } => {
                if let Some(last) = ranges.last_mut() {
                    last.end = self.draft.text.len();
                }
                let Some(key) = self.scanner.member(keys.is_empty())? else {
                    if keys.is_empty() {
                        self.word("{}", *place);
                    }
                    self.order(keys, ranges);
                    return Ok(None);
                };
                let indent = place.map();
                self.begin(*place, indent, keys.is_empty());
                let start = self.draft.text.len();
                ranges.push(start..start);
                let below = self.key(&key, indent);
                keys.push(key);
                Ok(Some(below))
            }
        }
    }

    /// Goes to where a member begins: a line of its own, or right behind the dash of the list around it.
    fn begin(&mut self, place: Place, indent: usize, first: bool) {
        if first && !matches!(place, Place::Value(_)) {
            self.blank(place);
        } else {
            self.line(indent);
        }
    }

    fn key(&mut self, key: &str, indent: usize) -> Place {
        if quote::is_simple_key(key) {
            // Plain, it would not be a key but a merge.
            let style = if key == "<<" { Style::Double } else { self.reader.style(key) };
            self.text(key, style, indent + 2, false);
            self.put(":");
            Place::Value(indent)
        } else {
            self.put("? ");
            self.text(key, self.reader.style(key), indent + 2, true);
            self.line(indent);
            self.put(":");
            Place::Item(indent)
        }
    }

    /// Sorts the members; of equal keys the last one stays.
    fn order(&mut self, keys: &[Cow<'a, str>], ranges: &[Range<usize>]) {
        if keys.windows(2).all(|pair| compare(&pair[0], &pair[1]).is_lt()) {
            return;
        }
        let mut last: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
        for (index, key) in keys.iter().enumerate() {
            last.insert(key, index);
        }
        let stays = |index: &usize| last.get(&*keys[*index]) == Some(index);
        let order: Vec<usize> = (0..keys.len()).filter(stays).collect();
        self.draft.reorder(ranges, &sorted(order, &|a, b| compare(&keys[a], &keys[b])));
    }

    // === Characters ===

    fn put(&mut self, text: &str) {
        self.draft.text.push_str(text);
        self.column += text.chars().count();
    }

    /// The blank between `-` or `:` and what follows on the same line.
    fn blank(&mut self, place: Place) {
        if !matches!(place, Place::Root) {
            self.put(" ");
        }
    }

    fn line(&mut self, indent: usize) {
        self.draft.text.push('\n');
        self.column = 0;
        self.indent(indent);
    }

    fn indent(&mut self, indent: usize) {
        self.draft.text.extend(std::iter::repeat_n(' ', indent));
        self.column += indent;
    }

    fn word(&mut self, word: &str, place: Place) {
        self.blank(place);
        self.put(word);
    }

    fn text(&mut self, text: &str, style: Style, indent: usize, wrap: bool) {
        match style {
            Style::Plain => self.plain(text, indent, wrap),
            Style::Single => self.single(text, indent, wrap),
            Style::Double => self.double(text, indent, wrap),
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Whether the blank at `at` is to become a line break. `alone` asks for no blank beside it.
    fn breaks(&self, text: &str, at: usize, alone: bool) -> bool {
        let blank = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)) == Some(&b' ');
        self.column > WIDTH && !blank(at.checked_sub(1)) && !(alone && blank(Some(at + 1)))
    }

    fn plain(&mut self, text: &str, indent: usize, wrap: bool) {
        for (at, character) in text.char_indices() {
            if wrap && character == ' ' && self.breaks(text, at, true) {
                self.line(indent);
            } else {
                self.push(character);
            }
        }
    }

    fn single(&mut self, text: &str, indent: usize, wrap: bool) {
        self.put("'");
        let mut broken = false;
        for (at, character) in text.char_indices() {
            let inside = at > 0 && at + 1 < text.len();
            if character == ' ' {
                if wrap && inside && self.breaks(text, at, true) {
                    self.line(indent);
                } else {
                    self.push(character);
                }
                continue;
            }
            if is_break(character) {
                self.draft.text.push(character);
                self.column = 0;
                broken = true;
                continue;
            }
            if std::mem::take(&mut broken) {
                self.indent(indent);
            }
            if character == '\'' {
                self.push(character);
            }
            self.push(character);
        }
        self.put("'");
    }

    fn double(&mut self, text: &str, indent: usize, wrap: bool) {
        self.put("\"");
        for (at, character) in text.char_indices() {
            let inside = at > 0 && at + 1 < text.len();
            if character == ' ' && wrap && inside && self.breaks(text, at, false) {
                self.line(indent);
                // A blank at the beginning of a line would be lost.
                if text[at + 1..].starts_with(' ') {
                    self.put("\\");
                }
            } else if !is_printable(character)
                || is_break(character)
                || matches!(character, '"' | '\\')
            {
                let escape = escape(character);
                self.put(&escape);
            } else {
                self.push(character);
            }
        }
        self.put("\"");
    }

    /// `|`, with a digit where the first line would hide the indentation, and with `-` or `+` where the
    /// text does not end in exactly one line break. The last break is left to whatever follows.
    fn literal(&mut self, text: &str, indent: usize) {
        self.put("|");
        if text.starts_with(|first| first == ' ' || is_break(first)) {
            self.put("2");
        }
        let mut ends = text.chars().rev();
        match (ends.next().is_some_and(is_break), ends.next().map(is_break)) {
            (false, _) => self.put("-"),
            (true, Some(true) | None) => self.put("+"),
            (true, Some(false)) => {}
        }
        let text = text.strip_suffix('\n').unwrap_or(text);
        let mut broken = true;
        self.draft.text.push('\n');
        for character in text.chars() {
            if is_break(character) {
                self.draft.text.push(character);
                broken = true;
                continue;
            }
            if std::mem::take(&mut broken) {
                self.column = 0;
                self.indent(indent);
            }
            self.push(character);
        }
    }

    fn push(&mut self, character: char) {
        self.draft.text.push(character);
        self.column += 1;
    }
}

fn escape(character: char) -> Cow<'static, str> {
    Cow::Borrowed(match character {
        '\0' => "\\0",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\u{b}' => "\\v",
        '\u{c}' => "\\f",
        '\r' => "\\r",
        '\u{1b}' => "\\e",
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{85}' => "\\N",
        '\u{2028}' => "\\L",
        '\u{2029}' => "\\P",
        other => {
            let code = u32::from(other);
            return Cow::Owned(match code {
                0..=0xff => format!("\\x{code:02X}"),
                0x100..=0xffff => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &str) {
        assert_eq!(from_json(json).unwrap(), expected, "{json}");
    }

    #[test]
    fn an_object_is_written_sorted_and_lists_are_not_indented() {
        check(
            r#"{"kind":"K","items":[{"b":1,"a":[]},[1,[2]],{}],"m":{"x":{"y":null}},"f":[true]}"#,
            "f:\n- true\nitems:\n- a: []\n  b: 1\n- - 1\n  - - 2\n- {}\nkind: K\nm:\n  x:\n    \"y\": null\n",
        );
        check("{}", "{}\n");
        check("[]", "[]\n");
        check("\"a\"", "a\n");
    }

    #[test]
    fn numbers_are_written_as_go_reads_them() {
        check(
            "[1, -0, 1.0, 1e3, 1.5e9, 18446744073709551615, 18446744073709551616, 1e999]",
            "- 1\n- 0\n- 1\n- 1000\n- 1.5e+09\n- 18446744073709551615\n- 1.8446744073709552e+19\n- 1e999\n",
        );
    }

    #[test]
    fn texts_with_lines_are_blocks() {
        check(
            r#"{"a":"x\ny\n","b":"x\ny","c":"x\n\n","d":" x\ny","e":"\n","f":{"g":["x\n\n  y\n"]},"h":"x \ny"}"#,
            "a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: |2-\n   x\n  y\ne: |2+\n\nf:\n  g:\n  - |\n    x\n\n      y\nh: \"x \\ny\"\n",
        );
    }

    #[test]
    fn long_texts_are_broken_behind_column_80() {
        let words = "nine char ".repeat(12);
        check(
            &format!("{{\"m\":\"{}: x\"}}", words.trim_end()),
            "m: 'nine char nine char nine char nine char nine char nine char nine char nine char\n  nine char nine char nine char nine char: x'\n",
        );
        check(
            &format!("[\"{}\\t  x y\"]", words.trim_end()),
            "- \"nine char nine char nine char nine char nine char nine char nine char nine char\n  nine char nine char nine char nine char\\t  x y\"\n",
        );
    }

    #[test]
    fn a_key_that_is_no_simple_one_has_its_own_line() {
        let long = "k".repeat(129);
        check(&format!("{{\"{long}\":[1]}}"), &format!("? {long}\n: - 1\n"));
        check(r#"{"a\nb":{"c":1}}"#, "? |-\n  a\n  b\n: c: 1\n");
    }

    #[test]
    fn keys_are_sorted_as_people_count() {
        check(
            r#"{"a10":0,"a2":0,"b":0,"A":0,"a-":0,"a":0,"_":0,"a02":0,"1":0}"#,
            "_: 0\n\"1\": 0\nA: 0\na: 0\na-: 0\na2: 0\na02: 0\na10: 0\nb: 0\n",
        );
        check(r#"{"a":1,"b":2,"a":3}"#, "a: 3\nb: 2\n");
        let odd: Vec<String> =
            (0..500).map(|n| format!("\"a{n}{}\":0", ["", "b", "0b"][n % 3])).collect();
        assert!(from_json(&format!("{{{}}}", odd.join(","))).is_ok());
    }

    #[test]
    fn depth_costs_neither_the_stack_nor_quadratic_time() {
        let deep = format!("{}1{}", "{\"b\":".repeat(1000), ",\"a\":0}".repeat(1000));
        assert!(from_json(&deep).unwrap().ends_with("1\n"));
        let wide = format!("{}{}1{}", "[".repeat(900), "1,".repeat(100_000), "]".repeat(900));
        let error = from_json(&wide).unwrap_err();
        assert_eq!(error, WriteError::TooLong(64 << 20));
    }
}
