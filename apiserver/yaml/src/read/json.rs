//! JSON text as a target, by Go's rules: members come out sorted by key.

use std::ops::Range;

use schema::json::{Scanner, ValueKind, write_string};

use super::node::Rules;
use super::tag::Scalar;
use super::target::{DUPLICATES, Key, Target, repeated};
use crate::draft::Draft;

/// JSON that is written front to back.
#[derive(Default)]
pub(super) struct Json {
    draft: Draft,
    /// Where the value of a repeated key ends, and what is said of it.
    duplicates: Vec<(usize, String)>,
}

/// A member of a map in the draft.
pub(super) struct Member {
    /// The key, as a JSON string.
    key: Range<usize>,
    /// The key is a number or a boolean in YAML.
    bare: bool,
    /// The end of the value.
    end: usize,
    /// The line of the value.
    line: usize,
}

/// A map in the draft.
pub(super) struct Map {
    start: usize,
    members: Vec<Member>,
}

impl Target for Json {
    const RULES: Rules = Rules::Go;
    /// Where it begins; it ends where the draft does.
    type Node = usize;
    type Kept = String;
    type List = usize;
    type Map = Map;
    type Key = Member;
    type Document = String;

    fn scalar(&mut self, scalar: Scalar<'_>) -> usize {
        let start = self.draft.text.len();
        scalar.write_json(&mut self.draft.text, Self::RULES);
        start
    }

    fn open_list(&mut self) -> usize {
        let start = self.draft.text.len();
        self.draft.text.push('[');
        start
    }

    fn begin_item(&mut self, start: &usize) {
        if self.draft.text.len() > start + 1 {
            self.draft.text.push(',');
        }
    }

    fn item(&mut self, _: &mut usize, _: usize) {}

    fn close_list(&mut self, start: usize) -> usize {
        self.draft.text.push(']');
        start
    }

    fn open_map(&mut self) -> Map {
        let start = self.draft.text.len();
        self.draft.text.push('{');
        Map { start, members: Vec::new() }
    }

    fn key(&mut self, map: &Map, key: Key<'_>) -> Member {
        let text = &mut self.draft.text;
        if !map.members.is_empty() {
            text.push(',');
        }
        let start = text.len();
        write_string(text, &key.text);
        let end = text.len();
        text.push(':');
        Member { key: start..end, bare: key.bare, end, line: 0 }
    }

    fn member(&mut self, map: &mut Map, key: Member, _: usize, line: usize) {
        map.members.push(Member { end: self.draft.text.len(), line, ..key });
    }

    fn merge(&mut self, map: &mut Map, from: usize, line: usize) -> Option<()> {
        let text = self.draft.take(from);
        for mut members in maps(&text)?.into_iter().rev() {
            let mut first = true;
            while let Some(key) = members.member(first).ok()? {
                first = false;
                let key = self.key(map, Key { text: key, bare: false });
                let start = self.draft.text.len();
                self.draft.text.push_str(members.skip().ok()?);
                self.member(map, key, start, line);
            }
        }
        Some(())
    }

    fn close_map(&mut self, map: Map) -> usize {
        self.sort(&map.members);
        self.draft.text.push('}');
        map.start
    }

    fn length(&self, start: &usize) -> usize {
        self.draft.text.len() - start
    }

    fn keep(&mut self, start: &usize) -> String {
        self.draft.copy(*start)
    }

    fn kept_length(&self, kept: &String) -> usize {
        kept.len()
    }

    fn repeat(&mut self, kept: &String) -> usize {
        let start = self.draft.text.len();
        self.draft.text.push_str(kept);
        start
    }

    fn finish(&mut self, _: usize) -> (String, Vec<String>) {
        let mut duplicates = std::mem::take(&mut self.duplicates);
        // In the order in which the values end, as upstream reads them.
        duplicates.sort_by_key(|(place, _)| *place);
        let sentences = duplicates.into_iter().map(|(_, sentence)| sentence).collect();
        (std::mem::take(&mut self.draft).finish(), sentences)
    }
}

impl Json {
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
                    if self.duplicates.len() < DUPLICATES {
                        self.duplicates.push(told(key(index), &members[index]));
                    }
                    *last = index;
                }
                _ => kept.push(index),
            }
        }
        let ranges: Vec<Range<usize>> =
            members.iter().map(|member| member.key.start..member.end).collect();
        self.draft.reorder(&ranges, &kept);
    }
}

fn told(key: &str, member: &Member) -> (usize, String) {
    let key = serde_json::from_str(key).unwrap_or_else(|_| key.to_owned());
    (member.end, repeated(&key, member.bare, member.line))
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
