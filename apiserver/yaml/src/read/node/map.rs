//! Maps: their members, the order of these, and what is merged into them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, ScalarStyle, Span};
use schema::go_quote;
use schema::json::{Scanner, ValueKind, write_string};

use super::super::ReadError;
use super::super::tag::Scalar;
use super::{DUPLICATES, Reader, Rules, circular, is_block, spend};
use crate::scalar::{Plain, key_float};

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
    /// It comes from another map, by `<<`.
    merged: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn map(&mut self) -> Result<(), ReadError> {
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
            let (name, bare) = self.key(event, &span)?;
            let key = self.begin_member(&members, &name);
            let (event, value) = self.next()?;
            if self.levels() == 1 && matches!(event, Event::SequenceStart(..)) {
                self.lines.push((name.into_owned(), Vec::new()));
            }
            // The span of a block begins behind its `|`; what counts is the line of that.
            let block = matches!(event, Event::Scalar(_, style, _, _) if is_block(style));
            let line = if block { span.end.line() } else { value.start.line() };
            self.node(event, &value)?;
            members.push(Member { key, bare, end: self.draft.text.len(), line, merged: false });
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

    /// Gives the members their order.
    fn order(&mut self, members: &[Member]) {
        match self.rules {
            Rules::Go => self.sort(members),
            Rules::Python => self.settle(members),
        }
    }

    /// As a Python dictionary has them: what is merged comes first and yields to what the map says itself. Of equal keys
    /// the first one has the place and the last one the value.
    fn settle(&mut self, members: &[Member]) {
        let text = &self.draft.text;
        let all = 0..members.len();
        let (merged, own): (Vec<_>, Vec<_>) = all.partition(|&index| members[index].merged);
        let mut places = HashMap::with_capacity(members.len());
        let mut kept: Vec<usize> = Vec::with_capacity(members.len());
        for index in merged.into_iter().chain(own) {
            let member = &members[index];
            let key = &text[member.key.clone()];
            let place = *places.entry(key).or_insert(kept.len());
            let Some(last) = kept.get_mut(place) else {
                kept.push(index);
                continue;
            };
            if !members[*last].merged && self.duplicates.len() < DUPLICATES {
                self.duplicates.push((member.end, member.line, shown(key, member)));
            }
            *last = index;
        }
        if kept.iter().copied().ne(0..members.len()) {
            self.reorder(members, &kept);
        }
    }

    fn reorder(&mut self, members: &[Member], order: &[usize]) {
        let ranges: Vec<Range<usize>> =
            members.iter().map(|member| member.key.start..member.end).collect();
        self.draft.reorder(&ranges, order);
    }

    /// Sorts the members by key. Of equal keys the last one stays.
    fn sort(&mut self, members: &[Member]) {
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
                    if self.duplicates.len() < DUPLICATES {
                        let shown = shown(key(index), member);
                        self.duplicates.push((member.end, member.line, shown));
                    }
                    *last = index;
                }
                _ => kept.push(index),
            }
        }
        self.reorder(members, &kept);
    }

    /// Adds the members of another map, or of several: of those, the first one wins.
    fn merge(&mut self, members: &mut Vec<Member>) -> Result<(), ReadError> {
        let start = self.draft.text.len();
        let (event, span) = self.next()?;
        let lines = std::mem::take(&mut self.lines);
        self.node(event, &span)?;
        self.lines = lines;
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
                let line = span.start.line();
                members.push(Member { key, bare: false, end, line, merged: true });
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
        let written = (self.rules == Rules::Python).then(|| value.clone());
        if let (Some(written), 0, None) = (&written, anchor, &tag) {
            // What it would mean as a value does not matter: `=` is a key like any other.
            return Ok((written.clone(), false));
        }
        let scalar = self.rules.scalar(value, style, tag.as_deref(), span)?;
        if anchor != 0 {
            let start = self.draft.text.len();
            self.scalar(&scalar, span)?;
            let text = self.draft.text.split_off(start);
            self.allowance = spend(self.allowance, text.len(), span)?;
            self.anchors.insert(anchor, text);
        }
        if let Some(written) = written {
            return Ok((written, false));
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
}

/// A key as Go prints it: `"a"`, `5`, `true`.
fn shown(key: &str, member: &Member) -> String {
    let key = serde_json::from_str(key).unwrap_or_else(|_| key.to_owned());
    if member.bare { key } else { go_quote(&key) }
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
