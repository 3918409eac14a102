//! The one pass over an object's text that writes the processed object as it reads.
//!
//! The rule is: copy up to here, replace, move on. [`Rewriter::copied`] says how far the input has
//! been copied; text that nothing touches goes through in long runs, with its white space, number
//! spelling and key order. What can only be decided later (a map's duplicate keys, the group of a
//! kind, labels) is noted as an edit of the *output* and applied once, when the object is complete.
//!
//! The input is [`Json`], hence well formed and of bounded nesting: nothing is checked again here.
//! This file knows references and maps; what makes an object an object is in [`object`].

mod edits;
mod fault;
mod labels;
mod list;
mod members;
mod object;

use std::borrow::Cow;
use std::ops::Range;

use crate::json::{Quoted, Scanner, number, scan, string};
use crate::reference::{references, whole};
use crate::values::{Form, Value, Values};
use crate::{Json, MAX_PROCESSED};

use edits::Edits;
pub(crate) use fault::{Fault, What};
pub(crate) use labels::Labels;
use members::{Map, Member};

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
    /// Without values nothing is a reference, and numbers are written canonically.
    values: Option<&'a Values<'a>>,
    labels: Option<&'a Labels>,
    text: &'a str,
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
}

/// A string of the input.
struct Literal<'a> {
    content: Quoted<'a>,
    /// Where the content starts and ends.
    start: usize,
    end: usize,
    has_dollar: bool,
    has_escape: bool,
    /// `\u0024` is a dollar sign and `\ud800` is nothing: such strings are decoded first.
    has_unicode_escape: bool,
}

impl<'a> Rewriter<'a> {
    pub(crate) fn new(
        values: Option<&'a Values<'a>>,
        labels: Option<&'a Labels>,
        size: usize,
    ) -> Self {
        Rewriter {
            values,
            labels,
            text: "",
            at: 0,
            copied: 0,
            out: String::with_capacity(size),
            members: Vec::new(),
            edits: Edits::default(),
            budget: MAX_PROCESSED,
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
        (self.text, self.at, self.copied) = (json.as_str(), 0, 0);
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
                    self.members[index].end = self.place();
                    self.members[index].wrote = wrote;
                }
            }
        }
        self.at += 1;
        Ok(self.settle(first, inside))
    }

    /// Rewrites a key and puts the cursor before the value.
    fn member(&mut self) -> Result<usize> {
        let start = self.place();
        let (name, renamed) = self.key()?;
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

    /// Rewrites a key; returns it with what it was, where that is something else.
    fn key(&mut self) -> Result<(Cow<'a, str>, Option<Box<str>>)> {
        let literal = self.literal();
        if !literal.has_dollar && !literal.has_escape {
            return Ok((Cow::Borrowed(literal.content.as_str()), None));
        }
        let content = literal.canonical();
        let mut renamed = None;
        if let Some(value) = self.whole_reference(&content) {
            match value.form() {
                Form::Text(text) => renamed = Some(text.clone()),
                _ => return Err(Fault::new(What::Key { key: content.into_owned() })),
            }
        } else if literal.has_dollar || literal.has_unicode_escape {
            renamed = self.substituted(&content)?;
        }
        match renamed {
            Some(name) => {
                self.replace(literal.start, literal.end, &name)?;
                let name = Quoted::proven(&name).decode().into_owned();
                Ok((Cow::Owned(name), Some(literal.content.decode().into())))
            }
            None => {
                if literal.has_unicode_escape {
                    self.replace(literal.start, literal.end, &content)?;
                }
                Ok((literal.content.decode(), None))
            }
        }
    }

    fn string(&mut self) -> Result<Wrote> {
        let literal = self.literal();
        if !literal.has_dollar && !literal.has_unicode_escape {
            return Ok(Wrote::Text);
        }
        let content = literal.canonical();
        if let Some(value) = self.whole_reference(&content) {
            return self.form(value, &literal);
        }
        match content {
            Cow::Borrowed(content) => {
                for reference in references(content) {
                    if let Some(value) = self.lookup(reference.name) {
                        let start = literal.start + reference.start;
                        self.replace(start, literal.start + reference.end, value.escaped())?;
                    }
                }
            }
            Cow::Owned(content) => {
                let text = self.substituted(&content)?.unwrap_or(content);
                self.replace(literal.start, literal.end, &text)?;
            }
        }
        Ok(Wrote::Text)
    }

    /// Writes what a whole-string reference stands for, in place of the string and its quotes.
    fn form(&mut self, value: &'a Value<'a>, literal: &Literal) -> Result<Wrote> {
        match value.form() {
            Form::Text(content) => {
                self.replace(literal.start, literal.end, content)?;
                Ok(Wrote::Text)
            }
            Form::Json(json) => {
                self.replace(literal.start - 1, literal.end + 1, json)?;
                Ok(Wrote::Other)
            }
            Form::Null => Ok(Wrote::Nothing),
            Form::TooDeep => Err(Fault::new(What::TooDeep)),
        }
    }

    fn scalar(&mut self) -> Result<Wrote> {
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest.find([',', '}', ']', ' ', '\n', '\r', '\t']);
        self.at += end.unwrap_or(rest.len());
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

    /// Rewrites `json`, the value of a parameter, in place of the string under the cursor.
    fn inject(
        &mut self,
        json: &'a str,
        rewrite: impl FnOnce(&mut Self) -> Result<Wrote>,
    ) -> Result<Wrote> {
        let start = self.at;
        self.literal();
        self.replace(start, self.at, "")?;
        let outside = (self.text, self.at, self.copied, self.values.take());
        (self.text, self.at, self.copied) = (json, 0, 0);
        let wrote = rewrite(self);
        self.flush();
        (self.text, self.at, self.copied, self.values) = outside;
        self.spend(json.len())?;
        wrote
    }

    /// Replaces the value under the cursor.
    fn overwrite(&mut self, text: &str) -> Result<()> {
        let start = self.at;
        self.skip();
        self.replace(start, self.at, text)
    }

    // === References ===

    fn lookup(&self, name: &str) -> Option<&'a Value<'a>> {
        self.values?.get(name)
    }

    fn whole_reference(&self, content: &str) -> Option<&'a Value<'a>> {
        self.lookup(whole(content)?)
    }

    /// The content of a string with its references replaced; none when it has none.
    fn substituted(&self, content: &str) -> Result<Option<String>> {
        let Some(values) = self.values else {
            return Ok(None);
        };
        match substitute(content, values, Value::escaped, self.budget) {
            Ok(Cow::Borrowed(_)) => Ok(None),
            Ok(Cow::Owned(text)) => Ok(Some(text)),
            Err(TooLong) => Err(Fault::new(What::TooLong)),
        }
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

    /// Reads the string under the cursor.
    fn literal(&mut self) -> Literal<'a> {
        let bytes = self.text.as_bytes();
        let start = self.at + 1;
        let (mut has_dollar, mut has_escape, mut has_unicode_escape) = (false, false, false);
        let mut end = start;
        loop {
            end = scan::plain_end(bytes, end);
            match bytes[end] {
                b'"' => break,
                b'\\' => {
                    has_escape = true;
                    has_unicode_escape |= bytes[end + 1] == b'u';
                    end += 2;
                }
                _ => {
                    has_dollar = true;
                    end += 1;
                }
            }
        }
        self.at = end + 1;
        Literal {
            content: Quoted::proven(&self.text[start..end]),
            start,
            end,
            has_dollar,
            has_escape,
            has_unicode_escape,
        }
    }

    /// Moves past the value under the cursor.
    fn skip(&mut self) {
        let mut scanner = Scanner::new(&self.text[self.at..]);
        // Proven text cannot fail to be a value; if it did, the cursor would stop where it does.
        let _ = scanner.value();
        self.at += scanner.position();
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
        self.out.push_str(&self.text[self.copied..self.at]);
        self.copied = self.at;
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

impl<'a> Literal<'a> {
    /// The content with every `\u` escape decoded, so that references can be found in it.
    fn canonical(&self) -> Cow<'a, str> {
        if self.has_unicode_escape {
            Cow::Owned(string::escape(&self.content.decode()).into_owned())
        } else {
            Cow::Borrowed(self.content.as_str())
        }
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

/// The text would outgrow its budget.
pub(crate) struct TooLong;

/// `text` with every reference to a known parameter replaced; borrowed when there is none.
pub(crate) fn substitute<'s, 'a>(
    text: &'s str,
    values: &'a Values<'a>,
    spelling: impl Fn(&'a Value<'a>) -> &'a str,
    budget: usize,
) -> std::result::Result<Cow<'s, str>, TooLong> {
    let mut out = String::new();
    let mut copied = 0;
    for reference in references(text) {
        if let Some(value) = values.get(reference.name) {
            out.push_str(&text[copied..reference.start]);
            out.push_str(spelling(value));
            copied = reference.end;
            if out.len() > budget {
                return Err(TooLong);
            }
        }
    }
    if copied == 0 {
        return Ok(Cow::Borrowed(text));
    }
    out.push_str(&text[copied..]);
    Ok(Cow::Owned(out))
}
