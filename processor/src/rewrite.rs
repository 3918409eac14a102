//! The one pass over an object's text that writes the processed object as it reads.
//!
//! The rule is: copy up to here, replace, move on. [`Rewriter::copied`] says how far the input has
//! been copied; text that nothing touches goes through in long runs, with its white space, number
//! spelling and key order. What can only be decided later (a map's duplicate keys, the group of a
//! kind, labels) is noted as an edit of the *output* and applied once, when the object is complete.
//!
//! Most objects come with an [`Outline`]: then only their top, their metadata and the strings that it
//! names are walked. The full walk is for what an outline cannot say.
//!
//! The input is [`Json`], hence well formed and of bounded nesting: nothing is checked again here.
//! This file walks maps and lists and keeps the cursor. [`text`] knows references, [`members`]
//! equal keys, [`object`], [`list`] and [`labels`] what makes an object of Kubernetes. All that is
//! OpenShift's dialect; the proposal's walk is in [`strict`].

mod edits;
mod fault;
mod labels;
mod list;
mod members;
mod object;
mod strict;
#[cfg(test)]
mod tests;
mod text;

use std::borrow::Cow;
use std::ops::Range;

use crate::json::{Outline, Scanner, number};
use crate::values::Values;
use crate::{Dialect, Json, MAX_PROCESSED};

use edits::Edits;
pub(crate) use fault::{Fault, What};
pub(crate) use labels::Labels;
use members::{Map, Member};
pub(crate) use strict::Scope;
use strict::Strict;
pub(crate) use text::{TooLong, substitute};

/// What stands in the output where a value stood in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrote {
    /// A JSON string.
    Text,
    Null,
    /// A number, bool, map or list.
    Other,
    /// The value says that its member is to be removed.
    Nothing,
}

type Result<T> = std::result::Result<T, Fault>;

pub(crate) struct Rewriter<'a> {
    dialect: Dialect,
    /// Without values nothing is a reference, and numbers are written canonically.
    values: Option<&'a Values<'a>>,
    labels: Option<&'a Labels>,
    text: &'a str,
    /// Of `text`, where it is an object that is processed the short way.
    outline: Option<Outline<'a>>,
    /// The cursor into `text`.
    at: usize,
    /// How much of `text` is in `out`, as it is or replaced.
    copied: usize,
    out: String,
    /// The members of all maps that are open, innermost last.
    members: Vec<Member<'a>>,
    edits: Edits,
    /// How much text references and labels may still bring in.
    budget: usize,
    /// What only the proposal's walk needs.
    strict: Strict<'a>,
}

impl<'a> Rewriter<'a> {
    pub(crate) fn new(
        values: Option<&'a Values<'a>>,
        labels: Option<&'a Labels>,
        size: usize,
    ) -> Self {
        Rewriter {
            dialect: Dialect::OpenShift,
            values,
            labels,
            text: "",
            outline: None,
            at: 0,
            copied: 0,
            out: String::with_capacity(size),
            members: Vec::with_capacity(8),
            edits: Edits::default(),
            budget: MAX_PROCESSED,
            strict: Strict::default(),
        }
    }

    /// What has been written.
    pub(crate) fn out(&mut self) -> &mut String {
        &mut self.out
    }

    pub(crate) fn into_out(self) -> String {
        self.out
    }

    /// Puts the cursor before a value.
    fn start(&mut self, json: Json<'a>) {
        (self.text, self.outline, self.at, self.copied) = (json.as_str(), None, 0, 0);
        self.members.clear();
        self.edits.clear();
    }

    // === Values ===

    /// Rewrites the value under the cursor.
    fn value(&mut self) -> Result<Wrote> {
        match self.byte() {
            b'{' => {
                let map = self.map(|this, _| this.value())?;
                self.members.truncate(map.first);
                Ok(Wrote::Other)
            }
            b'[' => self.list(|this| match this.value()? {
                Wrote::Nothing => Err(Fault::new(What::NullInList)),
                _ => Ok(()),
            }),
            b'"' => self.string(),
            _ => self.scalar(),
        }
    }

    /// Rewrites the list under the cursor; `each` rewrites an element.
    fn list(&mut self, mut each: impl FnMut(&mut Self) -> Result<()>) -> Result<Wrote> {
        self.at += 1;
        let mut index = 0;
        loop {
            match self.token() {
                b']' => break,
                b',' => self.at += 1,
                _ => {
                    each(self).map_err(|fault| fault.at_index(index))?;
                    index += 1;
                }
            }
        }
        self.at += 1;
        Ok(Wrote::Other)
    }

    /// Rewrites the map under the cursor; `each` rewrites the value of the member with that index.
    ///
    /// The map's members stay on the stack, from [`Map::first`], for the caller to look at and
    /// to truncate.
    fn map(&mut self, mut each: impl FnMut(&mut Self, usize) -> Result<Wrote>) -> Result<Map> {
        let first = self.members.len();
        self.at += 1;
        let inside = self.place();
        loop {
            match self.token() {
                b'}' => break,
                b',' => self.at += 1,
                _ => {
                    let index = self.member()?;
                    let wrote = match each(self, index) {
                        Ok(wrote) => wrote,
                        Err(fault) => return Err(fault.under(&self.members[index].name)),
                    };
                    let end = self.place();
                    let member = &mut self.members[index];
                    (member.end, member.wrote, member.alive) =
                        (end, wrote, wrote != Wrote::Nothing);
                }
            }
        }
        self.at += 1;
        Ok(self.settle(first, inside))
    }

    /// Rewrites a key and puts the cursor before the value.
    fn member(&mut self) -> Result<usize> {
        let start = self.place();
        let (name, renamed) = match self.dialect {
            Dialect::OpenShift => self.key()?,
            Dialect::Proposal => self.strict_key()?,
        };
        self.token();
        self.at += 1;
        self.token();
        let value = self.place();
        self.members.push(Member {
            name,
            renamed,
            start,
            value,
            end: value,
            wrote: Wrote::Other,
            alive: true,
        });
        Ok(self.members.len() - 1)
    }

    fn scalar(&mut self) -> Result<Wrote> {
        let start = self.at;
        let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
        let rest = &self.text.as_bytes()[start..];
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
        let text = &self.text[start..self.at];
        match text.as_bytes()[0] {
            b'n' => return Ok(Wrote::Null),
            b't' | b'f' => {}
            _ if self.values.is_some() => {}
            _ => match number::canonical(text) {
                Some(Cow::Borrowed(_)) => {}
                Some(Cow::Owned(number)) => self.replace(start, self.at, &number)?,
                None => return Err(Fault::new(What::Number)),
            },
        }
        Ok(Wrote::Other)
    }

    /// Replaces the value under the cursor.
    fn overwrite(&mut self, text: &str) -> Result<()> {
        let start = self.at;
        self.skip();
        self.replace(start, self.at, text)
    }

    // === The cursor ===

    fn byte(&self) -> u8 {
        self.text.as_bytes()[self.at]
    }

    /// Skips white space and looks at the next byte.
    fn token(&mut self) -> u8 {
        while let b' ' | b'\n' | b'\t' | b'\r' = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    /// Moves past the value under the cursor.
    fn skip(&mut self) {
        let mut scanner = Scanner::resume(self.text, self.at);
        // Proven text cannot fail to be a value; if it did, the cursor would stop where it does.
        let _ = scanner.skip();
        self.at = scanner.position();
    }

    // === The output ===

    /// Where in the output the cursor stands, though the text before it may not be copied yet.
    fn place(&self) -> usize {
        self.out.len() + self.at - self.copied
    }

    /// Copies everything before `start`, writes `text`, and goes on after `end`.
    fn replace(&mut self, start: usize, end: usize, text: &str) -> Result<()> {
        self.spend(text.len())?;
        self.out.push_str(&self.text[self.copied..start]);
        self.out.push_str(text);
        self.copied = end;
        Ok(())
    }

    /// Copies everything before the cursor.
    fn flush(&mut self) {
        self.copy_until(self.place());
    }

    /// Copies everything before a [place](Self::place) that has not been copied yet.
    fn copy_until(&mut self, place: usize) {
        let end = self.copied + (place - self.out.len());
        self.out.push_str(&self.text[self.copied..end]);
        self.copied = end;
    }

    /// Notes that `old`, a range of the output, will be what `write` appends.
    fn put(&mut self, old: Range<usize>, write: impl FnOnce(&mut String)) -> Result<()> {
        let size = self.edits.put(old, write);
        self.spend(size)
    }

    fn spend(&mut self, size: usize) -> Result<()> {
        match self.budget.checked_sub(size) {
            Some(rest) => self.budget = rest,
            None => return Err(Fault::new(What::TooLong)),
        }
        Ok(())
    }
}

/// The value anew: no duplicate keys (the last one counts), no lone surrogates, canonical numbers.
/// None when it holds a number beyond every float.
pub(crate) fn canonical(json: Json<'_>) -> Option<String> {
    let mut rewriter = Rewriter::new(None, None, json.as_str().len());
    rewriter.start(json);
    rewriter.value().ok()?;
    rewriter.flush();
    rewriter.edits.apply(&mut rewriter.out);
    Some(rewriter.out)
}
