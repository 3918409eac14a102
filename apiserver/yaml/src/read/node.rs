//! Nodes as JSON: the parser's events come in, one document after the other, and text goes out.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput};
use schema::go_quote;
use schema::json::{Scanner, ValueKind, write_string};

use super::tag::{Scalar, scalar};
use super::{Converted, ReadError};
use crate::draft::Draft;
use crate::scalar::{Plain, json_float, key_float};
use crate::{COPIED, DEPTH_IN};

/// A text that is being read.
pub(super) struct Reader<'a> {
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

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut options = granit_parser::options! {
            flow_nesting_limit: DEPTH_IN,
            block_nesting_limit: DEPTH_IN,
        };
        options.set_emit_comments(false);
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            draft: Draft::default(),
            anchors: HashMap::new(),
            allowance: COPIED,
            depth: DEPTH_IN,
            duplicates: Vec::new(),
        }
    }

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

    /// The next document, or `None` behind the last one.
    pub(super) fn document(&mut self) -> Result<Option<Converted>, ReadError> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd, _) => return Ok(None),
                (Event::DocumentEnd, _) => return Ok(Some(Converted::unchanged("null"))),
                (event, span) => {
                    self.node(event, &span)?;
                    // An unfinished document behind its node must be found out, too.
                    self.next()?;
                    return Ok(Some(self.converted()));
                }
            }
        }
    }

    /// What was read of the document that is complete now.
    fn converted(&mut self) -> Converted {
        self.anchors.clear();
        let mut duplicates = std::mem::take(&mut self.duplicates);
        // In the order in which the values end, as upstream reads them.
        duplicates.sort_by_key(|(place, ..)| *place);
        let sentence = |(_, line, key)| format!("line {line}: key {key} already set in map");
        Converted {
            json: std::mem::take(&mut self.draft).finish(),
            duplicates: duplicates.into_iter().map(sentence).collect(),
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
            _ => return Err(ReadError::at(span, "did not find expected node content")),
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
        self.depth =
            self.depth.checked_sub(1).ok_or_else(|| ReadError::at(span, "exceeded max depth"))?;
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
        let no_map =
            || ReadError::at(&span, "map merge requires map or sequence of maps as the value");
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
        let invalid = || ReadError::at(span, "invalid map key");
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
                return Err(ReadError::at(span, "unsupported map key of type: null"));
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
                return Err(ReadError::at(span, &format!("JSON has no number {value}")));
            }
            Scalar::Plain(Plain::Null | Plain::Text) => text.push_str("null"),
        }
        Ok(())
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

fn circular(span: &Span) -> ReadError {
    ReadError::at(span, "anchor value contains itself")
}

fn spend(allowance: usize, bytes: usize, span: &Span) -> Result<usize, ReadError> {
    allowance
        .checked_sub(bytes)
        .ok_or_else(|| ReadError::at(span, "document contains excessive aliasing"))
}
