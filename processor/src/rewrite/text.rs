//! Strings and keys of OpenShift's dialect, and the references in them.

use std::borrow::Cow;

use super::{Fault, Result, Rewriter, What, Wrote};
use crate::json::{Marks, Quoted, Scanner, search, string};
use crate::reference::{reference_at, references, whole, whole_at};
use crate::values::{Form, Value, Values};

/// A string of the input.
pub(super) struct Literal<'a> {
    pub(super) content: Quoted<'a>,
    /// Where the content starts.
    pub(super) start: usize,
    /// Where the content ends.
    pub(super) end: usize,
    pub(super) marks: Marks,
}

impl<'a> Rewriter<'a> {
    /// Rewrites a key; returns it with what it was, where that is something else.
    #[inline]
    pub(super) fn key(&mut self) -> Result<(Cow<'a, str>, Option<Box<str>>)> {
        let literal = self.literal();
        if literal.marks.is_plain() {
            return Ok((Cow::Borrowed(literal.content.as_str()), None));
        }
        self.marked_key(&literal)
    }

    #[inline(never)]
    fn marked_key(&mut self, literal: &Literal<'a>) -> Result<(Cow<'a, str>, Option<Box<str>>)> {
        let content = literal.canonical();
        let mut renamed = None;
        if let Some(value) = self.whole_reference(&content) {
            match value.form() {
                Form::Text(text) => renamed = Some(text.clone()),
                _ => return Err(Fault::new(What::Key { key: content.into_owned() })),
            }
        } else if literal.marks.is_to_rewrite() {
            renamed = self.substituted(&content)?;
        }
        match renamed {
            Some(name) => {
                self.replace(literal.start, literal.end, &name)?;
                let name = Quoted::proven(&name).decode().into_owned();
                Ok((Cow::Owned(name), Some(literal.content.decode().into())))
            }
            None => {
                if literal.marks.has_unicode_escape() {
                    self.replace(literal.start, literal.end, &content)?;
                }
                Ok((literal.content.decode(), None))
            }
        }
    }

    /// Rewrites the string under the cursor.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Wrote> {
        let literal = self.literal();
        self.rewrite(&literal)
    }

    /// Rewrites a string that has been read.
    #[inline]
    pub(super) fn rewrite(&mut self, literal: &Literal<'a>) -> Result<Wrote> {
        if literal.marks.is_to_rewrite() {
            self.marked_string(literal.start, literal.marks)
        } else {
            Ok(Wrote::Text)
        }
    }

    /// Rewrites the string whose content starts at `start`; the cursor may be anywhere.
    pub(super) fn marked_string(&mut self, start: usize, marks: Marks) -> Result<Wrote> {
        if marks.has_unicode_escape() {
            return self.decoded_string(start);
        }
        let text = self.text;
        if let Some((name, end)) = whole_at(text, start)
            && let Some(value) = self.lookup(name)
        {
            return self.form(value, start, end);
        }
        self.replace_references(start)?;
        Ok(Wrote::Text)
    }

    /// Rewrites a string in which escapes may hide references.
    fn decoded_string(&mut self, start: usize) -> Result<Wrote> {
        self.at = start - 1;
        let literal = self.literal();
        let content = literal.canonical();
        if let Some(value) = self.whole_reference(&content) {
            return self.form(value, start, literal.end);
        }
        let text = self.substituted(&content)?;
        self.replace(start, literal.end, text.as_deref().unwrap_or(&content))?;
        Ok(Wrote::Text)
    }

    /// Replaces the references from `at` to the end of the string that is there.
    fn replace_references(&mut self, mut at: usize) -> Result<()> {
        let text = self.text;
        loop {
            at = search::plain_end(text.as_bytes(), at);
            match text.as_bytes()[at] {
                b'$' => match reference_at(text, at) {
                    Some(reference) => {
                        if let Some(value) = self.lookup(reference.name) {
                            self.replace(at, reference.end, value.escaped())?;
                        }
                        at = reference.end;
                    }
                    None => at += 1,
                },
                b'\\' => at += 2,
                _ => return Ok(()),
            }
        }
    }

    /// Writes what a whole-string reference stands for, in place of the string and its quotes.
    fn form(&mut self, value: &'a Value<'a>, start: usize, end: usize) -> Result<Wrote> {
        match value.form() {
            Form::Text(content) => {
                self.replace(start, end, content)?;
                Ok(Wrote::Text)
            }
            Form::Json(json) => {
                self.replace(start - 1, end + 1, json)?;
                Ok(Wrote::Other)
            }
            Form::Null => Ok(Wrote::Nothing),
            Form::TooDeep => Err(Fault::new(What::TooDeep)),
        }
    }

    /// Rewrites `json`, the value of a parameter, in place of the string under the cursor.
    pub(super) fn inject(
        &mut self,
        json: &'a str,
        rewrite: impl FnOnce(&mut Self) -> Result<Wrote>,
    ) -> Result<Wrote> {
        let start = self.at;
        self.literal();
        self.replace(start, self.at, "")?;
        let outside = (self.text, self.at, self.copied, self.values.take(), self.outline.take());
        (self.text, self.at, self.copied) = (json, 0, 0);
        let wrote = rewrite(self);
        self.flush();
        (self.text, self.at, self.copied, self.values, self.outline) = outside;
        self.spend(json.len())?;
        wrote
    }

    /// What the string under the cursor stands for, if it is a whole-string reference.
    pub(super) fn form_under_cursor(&self) -> Option<&'a Form> {
        if self.byte() != b'"' {
            return None;
        }
        let text = text_of(self.peek().as_str())?;
        self.lookup(whole(&text)?).map(Value::form)
    }

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

    /// Reads the string under the cursor.
    #[inline]
    pub(super) fn literal(&mut self) -> Literal<'a> {
        let mut scanner = Scanner::resume(self.text, self.at);
        let content = scanner.string().expect("an object's text is proven JSON");
        let start = self.at + 1;
        self.at = scanner.position();
        Literal { content, marks: content.marks(), start, end: self.at - 1 }
    }
}

impl<'a> Literal<'a> {
    /// The content with every `\u` escape decoded, so that references can be found in it.
    pub(super) fn canonical(&self) -> Cow<'a, str> {
        if self.marks.has_unicode_escape() {
            Cow::Owned(string::escape(&self.content.decode()).into_owned())
        } else {
            Cow::Borrowed(self.content.as_str())
        }
    }
}

/// The text of a JSON string, none for other JSON.
pub(super) fn text_of(json: &str) -> Option<Cow<'_, str>> {
    let content = json.strip_prefix('"')?.strip_suffix('"')?;
    Some(Quoted::proven(content).decode())
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
            if copied == 0 {
                out.reserve(text.len() + 32);
            }
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
