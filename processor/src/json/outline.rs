//! What the one validating pass over an object notes, so that processing need not read it again.
//!
//! Most of an object is text that processing only copies. An outline says where the strings are
//! that may hold references; a walk can leap from one to the next. It can do so only where the rest
//! needs no look: in an object all of whose keys are plain and different from their siblings.

use super::scan::{Scanner, Syntax};
use super::{Json, Marks, Quoted};

/// The outlines of several objects, one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outlines {
    list: Vec<Entry>,
    strings: Vec<(usize, Marks)>,
    ends: Vec<usize>,
}

/// Where an object's own places begin in the lists of all.
#[derive(Debug, Clone, Copy)]
struct Entry {
    strings: usize,
    ends: usize,
    is_regular: bool,
}

/// As many objects as most templates have.
const SOME: usize = 16;

/// Places of one object, as offsets into its text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline<'o> {
    /// Where the contents start of strings that may hold a reference or are to be rewritten for
    /// another reason, in ascending order. No keys.
    pub(crate) strings: &'o [(usize, Marks)],
    /// The end of each member's value.
    pub(crate) ends: &'o [usize],
}

impl Outlines {
    /// The outline of an object; none when it has a key that is not plain or is there twice.
    pub(crate) fn get(&self, index: usize) -> Option<Outline<'_>> {
        let entry = self.list.get(index).filter(|entry| entry.is_regular)?;
        let next = self.list.get(index + 1);
        let strings = entry.strings..next.map_or(self.strings.len(), |next| next.strings);
        let ends = entry.ends..next.map_or(self.ends.len(), |next| next.ends);
        Some(Outline { strings: &self.strings[strings], ends: &self.ends[ends] })
    }
}

/// Reads objects and draws their outlines.
pub(crate) struct Surveyor<'t> {
    outlines: Outlines,
    /// The keys of all maps that are open, innermost last.
    keys: Vec<&'t str>,
    /// Where the current object starts.
    start: usize,
    is_regular: bool,
}

impl<'t> Surveyor<'t> {
    pub(crate) fn new() -> Self {
        let outlines = Outlines {
            list: Vec::with_capacity(SOME),
            strings: Vec::with_capacity(2 * SOME),
            ends: Vec::with_capacity(4 * SOME),
        };
        let keys = Vec::with_capacity(2 * SOME);
        Surveyor { outlines, keys, start: 0, is_regular: false }
    }

    pub(crate) fn into_outlines(self) -> Outlines {
        self.outlines
    }

    /// Reads one value, as [`Scanner::value`] does.
    pub(crate) fn value(&mut self, scanner: &mut Scanner<'t>) -> Result<Json<'t>, Syntax> {
        let (strings, ends) = (self.outlines.strings.len(), self.outlines.ends.len());
        self.is_regular = scanner.peek() == b'{';
        self.start = scanner.position();
        if self.is_regular {
            self.map(scanner, |this, scanner| {
                this.any_value(scanner)?;
                this.outlines.ends.push(scanner.position() - this.start);
                Ok(())
            })?;
        } else {
            scanner.skip()?;
        }
        self.outlines.list.push(Entry { strings, ends, is_regular: self.is_regular });
        Ok(scanner.since(self.start))
    }

    #[inline]
    fn any_value(&mut self, scanner: &mut Scanner<'t>) -> Result<(), Syntax> {
        match scanner.peek() {
            b'"' => {
                let start = scanner.position() + 1 - self.start;
                let marks = scanner.skip_string()?;
                if marks.is_to_rewrite() {
                    self.outlines.strings.push((start, marks));
                }
                Ok(())
            }
            b'{' | b'[' => self.nested(scanner),
            _ => scanner.scalar(),
        }
    }

    fn nested(&mut self, scanner: &mut Scanner<'t>) -> Result<(), Syntax> {
        if scanner.peek() == b'{' {
            self.map(scanner, Self::any_value)
        } else {
            scanner.elements(|scanner| self.any_value(scanner))
        }
    }

    fn map(
        &mut self,
        scanner: &mut Scanner<'t>,
        mut each: impl FnMut(&mut Self, &mut Scanner<'t>) -> Result<(), Syntax>,
    ) -> Result<(), Syntax> {
        let first = self.keys.len();
        let mut sieve = Sieve::default();
        scanner.members(|scanner, key: Quoted<'t>| {
            self.is_regular &= key.marks().is_plain();
            sieve.add(key.as_str());
            self.keys.push(key.as_str());
            each(self, scanner)
        })?;
        if sieve.is_doubtful && has_repeat(&mut self.keys[first..]) {
            self.is_regular = false;
        }
        self.keys.truncate(first);
        Ok(())
    }
}

/// Sees at a glance, for nearly every map, that all of its keys differ: each sets one bit of 64,
/// chosen by its length and its outer bytes. Only where a bit is set twice keys must be compared.
#[derive(Default)]
struct Sieve {
    bits: u64,
    is_doubtful: bool,
}

impl Sieve {
    fn add(&mut self, key: &str) {
        let bytes = key.as_bytes();
        let outer = match bytes {
            [first, .., last] => u64::from(*first) << 8 | u64::from(*last),
            _ => 0,
        };
        let mixed = outer << 32 ^ bytes.len() as u64;
        let bit = 1 << (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58);
        self.is_doubtful |= self.bits & bit != 0;
        self.bits |= bit;
    }
}

/// Up to here comparing every pair is cheaper than sorting.
const FEW: usize = 16;

fn has_repeat(keys: &mut [&str]) -> bool {
    if keys.len() > FEW {
        keys.sort_unstable();
        return keys.windows(2).any(|pair| pair[0] == pair[1]);
    }
    keys.iter().enumerate().any(|(index, key)| keys[..index].contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlines(objects: &[&str]) -> Outlines {
        let mut surveyor = Surveyor::new();
        for object in objects {
            let mut scanner = Scanner::new(object);
            assert_eq!(surveyor.value(&mut scanner).unwrap().as_str(), object.trim());
        }
        surveyor.into_outlines()
    }

    fn is_regular(object: &str) -> bool {
        outlines(&[object]).get(0).is_some()
    }

    #[test]
    fn an_outline_has_the_strings_to_visit_and_the_ends_of_members() {
        let object = r#" {"a": "x", "b" : ["${A}", {"c": "\u0041"}], "d":"\n", "e":"a$"}"#;
        let outlines = outlines(&["{}", object, "[]"]);
        assert!(outlines.get(0).unwrap().ends.is_empty());
        assert!(outlines.get(2).is_none() && outlines.get(3).is_none());
        let outline = outlines.get(1).unwrap();
        let text = object.trim();
        let strings: Vec<_> = outline.strings.iter().map(|&(at, _)| &text[at..at + 2]).collect();
        assert_eq!(strings, ["${", "\\u", "a$"]);
        let ends: Vec<_> = outline.ends.iter().map(|&end| &text[end - 2..end]).collect();
        assert_eq!(ends, ["x\"", "}]", "n\"", "$\""]);
    }

    #[test]
    fn keys_that_are_not_plain_or_repeat_leave_no_outline() {
        assert!(is_regular(r#"{"a":{"a":{"b":1}},"b":[{"a":1},{"a":2}],"":{"":1}}"#));
        for object in [
            r#"{"${A}":1}"#,
            r#"{"a":[{"\u0041":1}]}"#,
            r#"{"a\n":1}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"x":[{"":1,"b":2,"":3}]}"#,
            r#"{"x":{"key":1,"kiy":{"key":1},"key":3}}"#,
        ] {
            assert!(!is_regular(object), "{object}");
        }
    }

    #[test]
    fn keys_that_look_alike_are_compared() {
        for count in [3, FEW, FEW + 1, 500] {
            let mut keys: Vec<_> = (0..count).map(|key| format!("\"k{key:04}k\":1")).collect();
            assert!(is_regular(&format!("{{{}}}", keys.join(","))), "{count}");
            keys.push(keys[count / 2].clone());
            assert!(!is_regular(&format!("{{{}}}", keys.join(","))), "{count}");
        }
    }
}
