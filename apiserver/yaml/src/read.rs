//! YAML to JSON text, event by event.
//!
//! Members come out sorted by key, as from Go's map. A key that stands twice takes the last value and is
//! reported with its line; whether that is a warning or an error is the caller's business.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use base64::Engine as _;
use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};
use schema::go_quote;
use schema::json::{Scanner, ValueKind, write_string};

use super::draft::Draft;
use super::scalar::{Plain, json_float, key_float, resolve};
use super::{COPIED, DEPTH_IN};

/// Why a text is not YAML, or more than is good.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("yaml: {}{message}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct ReadError {
    line: Option<usize>,
    message: String,
}

/// The outcome of [`to_json`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The first document as JSON.
    pub json: String,
    /// For every repeated key a sentence: `line 3: key "a" already set in map`.
    pub duplicates: Vec<String>,
}

impl Converted {
    /// The repeated keys as one error, in upstream's words.
    pub fn strict_error(&self) -> Option<String> {
        (!self.duplicates.is_empty())
            .then(|| format!("yaml: unmarshal errors:\n  {}", self.duplicates.join("\n  ")))
    }
}

/// Turns the first document of `text` into JSON; no document is `null`.
///
/// JSON is YAML, and most clients send it: it is passed on as it stands.
///
/// # Errors
/// When it is not YAML, when JSON cannot express it, or when it exceeds a limit (250 levels, 4 MiB of copies by anchors and aliases).
pub fn to_json(text: &str) -> Result<Converted, ReadError> {
    if text.trim_start().starts_with('{') {
        let mut scanner = Scanner::new(text, DEPTH_IN);
        if scanner.skip().is_ok() && scanner.end().is_ok() {
            return Ok(Converted { json: text.to_owned(), duplicates: Vec::new() });
        }
    }
    let mut options = granit_parser::options! {
        flow_nesting_limit: DEPTH_IN,
        block_nesting_limit: DEPTH_IN,
    };
    options.set_emit_comments(false);
    let mut reader = Reader {
        parser: Parser::new_from_str_with_options(text, options),
        draft: Draft::default(),
        anchors: HashMap::new(),
        allowance: COPIED,
        depth: DEPTH_IN,
        duplicates: Vec::new(),
    };
    reader.document()?;
    // In the order in which the values end, as upstream reads them.
    reader.duplicates.sort_by_key(|(place, ..)| *place);
    let sentence = |(_, line, key)| format!("line {line}: key {key} already set in map");
    let duplicates = reader.duplicates.into_iter().map(sentence).collect();
    Ok(Converted { json: reader.draft.finish(), duplicates })
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// The JSON so far.
    draft: Draft,
    /// The JSON of every complete anchored node.
    anchors: HashMap<usize, String>,
    /// How many bytes anchors and aliases may still copy.
    allowance: usize,
    /// How many lists and maps may still be opened.
    depth: usize,
    /// Where the value ends in the draft, its line, and the key.
    duplicates: Vec<(usize, usize, String)>,
}

/// A member of a map in the draft.
struct Member {
    /// The key, as a JSON string.
    key: Range<usize>,
    /// The key is a number or a boolean in YAML.
    bare: bool,
    /// The end of the value.
    end: usize,
    /// The line of the value.
    line: usize,
}

/// A scalar's value.
enum Scalar<'a> {
    Plain(Plain),
    Text(Cow<'a, str>),
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), ReadError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let line = Some(error.marker().line());
                Err(ReadError { line, message: error.info() })
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn document(&mut self) -> Result<(), ReadError> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd | Event::DocumentEnd, _) => {
                    self.draft.text.push_str("null");
                    return Ok(());
                }
                (event, span) => {
                    self.node(event, &span)?;
                    // An unfinished document behind its node must be found out, too.
                    return self.next().map(|_| ());
                }
            }
        }
    }

    /// Writes a node's JSON.
    fn node(&mut self, event: Event<'a>, span: &Span) -> Result<(), ReadError> {
        let start = self.draft.text.len();
        let anchor = match event {
            Event::Alias(id) => {
                let text = self.anchors.get(&id).ok_or_else(|| circular(span))?;
                self.allowance = spend(self.allowance, text.len(), span)?;
                self.draft.text.push_str(text);
                return Ok(());
            }
            Event::Scalar(value, style, anchor, tag) => {
                let scalar = scalar(value, style, tag.as_deref(), span)?;
                self.scalar(&scalar, span)?;
                anchor
            }
            Event::SequenceStart(_, anchor, _) => {
                self.nested(span, Self::list)?;
                anchor
            }
            Event::MappingStart(_, anchor, _) => {
                self.nested(span, Self::map)?;
                anchor
            }
            _ => return Err(at(span, "did not find expected node content")),
        };
        if anchor != 0 {
            // Anchors may contain anchors: what they hold is bounded like what aliases write.
            self.allowance = spend(self.allowance, self.draft.text.len() - start, span)?;
            let text = self.draft.copy(start);
            self.anchors.insert(anchor, text);
        }
        Ok(())
    }

    fn nested(
        &mut self,
        span: &Span,
        inside: impl FnOnce(&mut Self) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.depth = self.depth.checked_sub(1).ok_or_else(|| at(span, "exceeded max depth"))?;
        inside(self)?;
        self.depth += 1;
        Ok(())
    }

    fn list(&mut self) -> Result<(), ReadError> {
        self.draft.text.push('[');
        let start = self.draft.text.len();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                self.draft.text.push(']');
                return Ok(());
            }
            if self.draft.text.len() > start {
                self.draft.text.push(',');
            }
            self.node(event, &span)?;
        }
    }

    fn map(&mut self) -> Result<(), ReadError> {
        self.draft.text.push('{');
        let mut members = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                self.order(&members);
                self.draft.text.push('}');
                return Ok(());
            }
            if is_merge(&event) {
                self.merge(&mut members)?;
                continue;
            }
            let (key, bare) = self.key(event, &span)?;
            let key = self.begin_member(&members, &key);
            let (event, value) = self.next()?;
            // The span of a block begins behind its `|`; what counts is the line of that.
            let line = if is_block(&event) { span.end.line() } else { value.start.line() };
            self.node(event, &value)?;
            members.push(Member { key, bare, end: self.draft.text.len(), line });
        }
    }

    fn begin_member(&mut self, members: &[Member], key: &str) -> Range<usize> {
        let text = &mut self.draft.text;
        if !members.is_empty() {
            text.push(',');
        }
        let start = text.len();
        write_string(text, key);
        let key = start..text.len();
        text.push(':');
        key
    }

    /// Sorts the members by key. Of equal keys the last one stays.
    fn order(&mut self, members: &[Member]) {
        let text = &self.draft.text;
        let key = |index: usize| &text[members[index].key.clone()];
        if (1..members.len()).all(|index| key(index - 1) < key(index)) {
            return;
        }
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by(|&a, &b| key(a).cmp(key(b)));
        let mut kept: Vec<usize> = Vec::with_capacity(order.len());
        for index in order {
            match kept.last_mut() {
                Some(last) if key(*last) == key(index) => {
                    let member = &members[index];
                    let shown = shown(key(index), member);
                    self.duplicates.push((member.end, member.line, shown));
                    *last = index;
                }
                _ => kept.push(index),
            }
        }
        let ranges: Vec<Range<usize>> =
            members.iter().map(|member| member.key.start..member.end).collect();
        self.draft.reorder(&ranges, &kept);
    }

    /// Adds the members of another map, or of several: of those, the first one wins.
    fn merge(&mut self, members: &mut Vec<Member>) -> Result<(), ReadError> {
        let start = self.draft.text.len();
        let (event, span) = self.next()?;
        self.node(event, &span)?;
        let text = self.draft.take(start);
        let no_map = || at(&span, "map merge requires map or sequence of maps as the value");
        let maps = maps(&text).ok_or_else(no_map)?;
        for mut map in maps.into_iter().rev() {
            let mut first = true;
            while let Some(key) = map.member(first).map_err(|_| no_map())? {
                first = false;
                let key = self.begin_member(members, &key);
                self.draft.text.push_str(map.skip().map_err(|_| no_map())?);
                let end = self.draft.text.len();
                members.push(Member { key, bare: false, end, line: span.start.line() });
            }
        }
        Ok(())
    }

    /// A key's text, and whether it is anything but a text in YAML.
    fn key(&mut self, event: Event<'a>, span: &Span) -> Result<(Cow<'a, str>, bool), ReadError> {
        let invalid = || at(span, "invalid map key");
        let (value, style, anchor, tag) = match event {
            Event::Scalar(value, style, anchor, tag) => (value, style, anchor, tag),
            Event::Alias(id) => {
                let text = self.anchors.get(&id).ok_or_else(|| circular(span))?;
                return match text.as_bytes().first() {
                    Some(b'"') => {
                        serde_json::from_str(text).map(|key| (key, false)).map_err(|_| invalid())
                    }
                    Some(b'{' | b'[' | b'n') | None => Err(invalid()),
                    Some(_) => Ok((text.clone().into(), true)),
                };
            }
            _ => return Err(invalid()),
        };
        let scalar = scalar(value, style, tag.as_deref(), span)?;
        if anchor != 0 {
            let start = self.draft.text.len();
            self.scalar(&scalar, span)?;
            let text = self.draft.text.split_off(start);
            self.allowance = spend(self.allowance, text.len(), span)?;
            self.anchors.insert(anchor, text);
        }
        let key = match scalar {
            Scalar::Text(text) => return Ok((text, false)),
            Scalar::Plain(Plain::Bool(key)) => key.to_string(),
            Scalar::Plain(Plain::Int(key)) => key.to_string(),
            Scalar::Plain(Plain::Uint(key)) => key.to_string(),
            Scalar::Plain(Plain::Float(key)) => key_float(key),
            Scalar::Plain(Plain::Null | Plain::Text) => {
                return Err(at(span, "unsupported map key of type: null"));
            }
        };
        Ok((key.into(), true))
    }

    fn scalar(&mut self, scalar: &Scalar<'_>, span: &Span) -> Result<(), ReadError> {
        let text = &mut self.draft.text;
        match scalar {
            Scalar::Text(value) => write_string(text, value),
            Scalar::Plain(Plain::Bool(value)) => text.push_str(&value.to_string()),
            Scalar::Plain(Plain::Int(value)) => text.push_str(&value.to_string()),
            Scalar::Plain(Plain::Uint(value)) => text.push_str(&value.to_string()),
            Scalar::Plain(Plain::Float(value)) if value.is_finite() => {
                text.push_str(&json_float(*value));
            }
            Scalar::Plain(Plain::Float(value)) => {
                return Err(at(span, &format!("JSON has no number {value}")));
            }
            Scalar::Plain(Plain::Null | Plain::Text) => text.push_str("null"),
        }
        Ok(())
    }
}

/// A scalar's value by its tag or, without one, by its form.
fn scalar<'a>(
    value: Cow<'a, str>,
    style: ScalarStyle,
    tag: Option<&Tag>,
    span: &Span,
) -> Result<Scalar<'a>, ReadError> {
    let kind = tag.and_then(|tag| tag.suffix_in_namespace("tag:yaml.org,2002:"));
    let meaning = match (kind.as_deref(), tag) {
        (Some("str"), _) => Plain::Text,
        (Some("bool" | "int" | "float" | "null" | "timestamp"), _) => resolve(&value),
        (Some("binary"), _) => {
            let bytes = base64::engine::general_purpose::STANDARD.decode(&*value);
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            return text
                .map(|text| Scalar::Text(text.into()))
                .map_err(|_| at(span, "!!binary value contains invalid base64 data"));
        }
        (None, None) if style == ScalarStyle::Plain => resolve(&value),
        _ => Plain::Text,
    };
    let fits = match (kind.as_deref(), meaning) {
        (Some("bool"), meaning) => matches!(meaning, Plain::Bool(_)),
        (Some("int"), meaning) => matches!(meaning, Plain::Int(_) | Plain::Uint(_)),
        (Some("float"), meaning) => matches!(meaning, Plain::Int(_) | Plain::Float(_)),
        (Some("null"), meaning) => meaning == Plain::Null,
        _ => true,
    };
    match (fits, meaning) {
        (false, _) => {
            let kind = kind.as_deref().unwrap_or_default();
            Err(at(span, &format!("cannot decode `{value}` as a !!{kind}")))
        }
        (true, Plain::Text) => Ok(Scalar::Text(value)),
        (true, meaning) => Ok(Scalar::Plain(meaning)),
    }
}

/// A key as Go prints it: `"a"`, `5`, `true`.
fn shown(key: &str, member: &Member) -> String {
    let key = serde_json::from_str(key).unwrap_or_else(|_| key.to_owned());
    if member.bare { key } else { go_quote(&key) }
}

fn is_block(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, _, _))
}

fn is_merge(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(value, ScalarStyle::Plain, _, None) if value == "<<")
}

/// The map or the maps that `json` is, opened. Nothing else can be merged.
fn maps(json: &str) -> Option<Vec<Scanner<'_>>> {
    let open = |json| {
        let mut scanner = Scanner::new(json, usize::MAX);
        (scanner.peek() == Ok(ValueKind::Object)).then_some(())?;
        scanner.open_object().ok().map(|()| scanner)
    };
    let mut scanner = Scanner::new(json, usize::MAX);
    if scanner.peek() != Ok(ValueKind::Array) {
        return Some(vec![open(json)?]);
    }
    scanner.open_array().ok()?;
    let mut maps = Vec::new();
    while scanner.item(maps.is_empty()).ok()? {
        maps.push(open(scanner.skip().ok()?)?);
    }
    Some(maps)
}

fn at(span: &Span, message: &str) -> ReadError {
    ReadError { line: Some(span.start.line()), message: message.to_owned() }
}

fn circular(span: &Span) -> ReadError {
    at(span, "anchor value contains itself")
}

fn spend(allowance: usize, bytes: usize, span: &Span) -> Result<usize, ReadError> {
    allowance.checked_sub(bytes).ok_or_else(|| at(span, "document contains excessive aliasing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(yaml: &str, expected: &str) {
        let read = to_json(yaml);
        assert_eq!(read.unwrap_or_else(|error| panic!("{yaml}: {error}")).json, expected, "{yaml}");
    }

    fn refused(yaml: &str) -> String {
        to_json(yaml).expect_err(yaml).to_string()
    }

    #[test]
    fn an_object_becomes_json_sorted_by_key() {
        check(
            "kind: Pod\napiVersion: v1\nmetadata: {name: a}\nobjects:\n- b: 1\n  a: [x, 'y', y]\n- |\n  two\n  lines\n",
            r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"objects":[{"a":["x","y",true],"b":1},"two\nlines\n"]}"#,
        );
    }

    #[test]
    fn scalars_follow_yaml_1_1() {
        check(
            "[yes, 0755, 1_000, 1.50, 1e3, ~, 2001-01-01, 18446744073709551615, 12345678901234567890123, -0]",
            "[true,493,1000,1.5,1000,null,\"2001-01-01\",18446744073709551615,1.2345678901234568e+22,0]",
        );
        check(
            "[!!str 5, !!int \"5\", !!float 5, !custom 5, ! 5, !!binary aGk=]",
            r#"["5",5,5,"5","5","hi"]"#,
        );
        assert!(refused("a: .inf").contains("no number"));
        assert!(refused("!!int x").contains("cannot decode"));
    }

    #[test]
    fn keys_are_texts_whatever_they_look_like() {
        check("n: 1\n5: 2\n1.5: 3\n'6': 4\n", r#"{"1.5":3,"5":2,"6":4,"false":1}"#);
        assert!(refused("~: 1").contains("unsupported map key"));
        assert!(refused("{[a]: 1}").contains("invalid map key"));
    }

    #[test]
    fn only_the_first_document_counts() {
        check("a: 1\n---\nb: 2\n", r#"{"a":1}"#);
        check("", "null");
        check("# nothing\n", "null");
        check("---\n---\na: 1\n", "null");
    }

    #[test]
    fn json_is_passed_on_as_it_stands() {
        check(" {\"b\": 1.0, \"a\": 1e3}\n", " {\"b\": 1.0, \"a\": 1e3}\n");
        check("{b: 1.0, a: 1e3}", r#"{"a":1000,"b":1}"#);
        check("{\"a\": \"\\ud83d\\ude00\", b: 1}", "{\"a\":\"😀\",\"b\":1}");
    }

    #[test]
    fn a_repeated_key_takes_the_last_value_and_is_reported_with_its_line() {
        let read = to_json("a: 1\nb: 2\na:\n  c: 1\n  c: 2\n").unwrap();
        assert_eq!(read.json, r#"{"a":{"c":2},"b":2}"#);
        assert_eq!(
            read.strict_error().unwrap(),
            "yaml: unmarshal errors:\n  line 5: key \"c\" already set in map\n  line 4: key \"a\" already set in map"
        );
        assert_eq!(to_json("a: 1").unwrap().strict_error(), None);
    }

    #[test]
    fn aliases_and_merges_are_expanded() {
        check("a: &x {c: 1, b: 2}\nd: *x\n", r#"{"a":{"b":2,"c":1},"d":{"b":2,"c":1}}"#);
        check("a: &x {c: 1}\nd: {<<: *x, e: 2}\n", r#"{"a":{"c":1},"d":{"c":1,"e":2}}"#);
        check(
            "- &x {c: 1}\n- &y {c: 2, d: 3}\n- <<: [*x, *y]\n",
            r#"[{"c":1},{"c":2,"d":3},{"c":1,"d":3}]"#,
        );
        check("&k a: 1\nb: *k\n*k : 2\n", r#"{"a":2,"b":"a"}"#);
        check("'<<': 1\n", r#"{"<<":1}"#);
        assert!(refused("&a [*a]").contains("contains itself"));
        assert!(refused("<<: 5").contains("merge requires map"));
        assert!(refused("*x").starts_with("yaml: line 1: "));
    }

    #[test]
    fn bombs_are_refused() {
        let mut laughs = "a: &a [lol,lol,lol,lol,lol,lol,lol,lol,lol]\n".to_owned();
        for (this, last) in ('b'..='z').zip('a'..) {
            laughs += &format!(
                "{this}: &{this} [{}]\n",
                [format!("*{last}"), String::new()].join(",").repeat(9)
            );
        }
        assert!(refused(&laughs).contains("excessive aliasing"));
        let nested_anchors: String = (0..200).map(|n| format!("&a{n} [")).collect();
        let big = format!("{nested_anchors}{}{}", "x".repeat(1 << 20), "]".repeat(200));
        assert!(refused(&big).contains("excessive aliasing"));
        for deep in [
            "[".repeat(100_000),
            "- ".repeat(100_000),
            "{a: ".repeat(100_000),
            "? ".repeat(100_000),
        ] {
            refused(&deep);
        }
    }

    #[test]
    fn two_hundred_levels_are_fine() {
        let yaml = format!("{}1{}", "{b: ".repeat(200), ", a: 0}".repeat(200));
        let json = format!("{}1{}", "{\"a\":0,\"b\":".repeat(200), "}".repeat(200));
        check(&yaml, &json);
    }

    #[test]
    fn what_is_no_yaml_is_told_with_its_line() {
        for yaml in ["{{", "a: b: c", "a: 1\n- b", "\"", "a: [", "%X", "@a"] {
            assert!(refused(yaml).starts_with("yaml: line "), "{yaml}");
        }
    }
}
