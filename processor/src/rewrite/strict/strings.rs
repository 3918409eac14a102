//! Strings and keys of the proposal's dialect.
//!
//! A string with a `$(NAME)` stays a string. One whose only references are `$((NAME))` loses its
//! quotes: what it says after substitution is read as a JSON number, bool, string or null, and
//! stays text where it is none of these. A key is always text.

use std::borrow::Cow;

use super::super::text::Literal;
use super::super::{Fault, Result, Rewriter, What, Wrote};
use super::containers::Place;
use crate::Json;
use crate::error::{Reason, go_quote};
use crate::json::{Quoted, string};
use crate::reference::proposal::{Reference, Style, references};
use crate::values::{Form, Value};

/// A reference of a string, and what it stands for; nothing where it stays as it is.
struct Found<'s, 'a> {
    reference: Reference<'s>,
    value: Option<&'a Value<'a>>,
}

impl<'a> Rewriter<'a> {
    /// Rewrites a key; returns it with what it was, where that is something else.
    pub(in super::super) fn strict_key(&mut self) -> Result<(Cow<'a, str>, Option<Box<str>>)> {
        let literal = self.literal();
        let name = literal.content.decode();
        if !literal.marks.is_to_rewrite() {
            return Ok((name, None));
        }
        let budget = self.budget;
        let Some(scope) = self.strict.scope.as_mut() else { return Ok((name, None)) };
        let Ok(replaced) = scope.replace(&name, budget) else {
            return Err(Fault::new(What::TooLong));
        };
        for undefined in replaced.undefined {
            self.complain_of_undefined(literal.start, undefined);
        }
        if !replaced.is_changed {
            if literal.marks.has_unicode_escape() {
                // A lone surrogate must not get through.
                self.replace(literal.start, literal.end, &string::escape(&name))?;
            }
            return Ok((name, None));
        }
        self.replace(literal.start, literal.end, &string::escape(&replaced.text))?;
        Ok((Cow::Owned(replaced.text), Some(name.into())))
    }

    /// Rewrites the string under the cursor. `sees` is how many of its container's variables
    /// Kubernetes would expand in it, or none where it expands nothing.
    pub(super) fn text(&mut self, sees: Option<usize>) -> Result<Wrote> {
        let literal = self.literal();
        if !literal.marks.is_to_rewrite() {
            return Ok(Wrote::Text);
        }
        let content = literal.canonical();
        let mut found = Vec::new();
        for reference in references(&content) {
            let written = &content[reference.start..reference.end];
            let value = self.meaning(&reference, written, literal.start, sees);
            found.push(Found { reference, value });
        }
        if is_unquoted(&found) {
            let form = match &found[..] {
                [one] if one.reference.end - one.reference.start == content.len() => None,
                _ => Some(self.joined(&content, &found)?),
            };
            let form = form.as_ref().or_else(|| found[0].value.map(Value::scalar));
            return form.map_or(Ok(Wrote::Text), |form| self.place_form(form, &literal));
        }
        match &content {
            Cow::Borrowed(_) => {
                for Found { reference, value } in &found {
                    if let Some(value) = value {
                        let start = literal.start + reference.start;
                        self.replace(start, literal.start + reference.end, value.escaped())?;
                    }
                }
            }
            Cow::Owned(content) => {
                let text = self.spliced(content, &found, Cow::Borrowed, Value::escaped)?;
                self.replace(literal.start, literal.end, &text)?;
            }
        }
        Ok(Wrote::Text)
    }

    /// As [`Rewriter::outcome`], of a JSON string.
    pub(super) fn outcome_of(&mut self, string: Json) -> Form {
        let text = string.as_str();
        self.outcome(Quoted::proven(&text[1..text.len() - 1]))
    }

    /// What a string would become, without writing it. Nothing is found wrong with it here.
    pub(super) fn outcome(&mut self, content: Quoted) -> Form {
        let content = string::escape(&content.decode()).into_owned();
        let Some(scope) = self.strict.scope.as_mut() else { return Form::Text(content) };
        let mut found = Vec::new();
        for reference in references(&content) {
            found.push(Found { reference, value: scope.take(reference.name) });
        }
        let outcome = if is_unquoted(&found) {
            self.joined(&content, &found)
        } else {
            self.spliced(&content, &found, Cow::Borrowed, Value::escaped).map(Form::Text)
        };
        // Too long: the walk will say so when it gets there.
        outcome.unwrap_or(Form::Null)
    }

    /// What a string with unquoted references says.
    fn joined(&self, content: &str, found: &[Found]) -> Result<Form> {
        let decode = |text| Quoted::proven(text).decode();
        Ok(Form::scalar(&self.spliced(content, found, decode, Value::text)?))
    }

    /// The content of a string with its references replaced.
    fn spliced<'s>(
        &self,
        content: &'s str,
        found: &[Found<'_, 'a>],
        spell: impl Fn(&'s str) -> Cow<'s, str>,
        spell_value: impl Fn(&'a Value<'a>) -> &'a str,
    ) -> Result<String> {
        let mut out = String::with_capacity(content.len());
        let mut copied = 0;
        for Found { reference, value } in found {
            if let Some(value) = value {
                out.push_str(&spell(&content[copied..reference.start]));
                out.push_str(spell_value(value));
                copied = reference.end;
                if out.len() > self.budget {
                    return Err(Fault::new(What::TooLong));
                }
            }
        }
        out.push_str(&spell(&content[copied..]));
        Ok(out)
    }

    /// Writes what a string with unquoted references says, in its place.
    fn place_form(&mut self, form: &Form, literal: &Literal) -> Result<Wrote> {
        let (start, end) = (literal.start - 1, literal.end + 1);
        match form {
            Form::Text(content) => {
                self.replace(literal.start, literal.end, content)?;
                Ok(Wrote::Text)
            }
            Form::Json(json) => self.replace(start, end, json).map(|()| Wrote::Other),
            // A scalar is never too deep.
            Form::Null | Form::TooDeep => self.replace(start, end, "null").map(|()| Wrote::Null),
        }
    }

    /// The value of a reference; none where it stays as it is, which may be wrong.
    fn meaning(
        &mut self,
        reference: &Reference,
        written: &str,
        at: usize,
        sees: Option<usize>,
    ) -> Option<&'a Value<'a>> {
        let Reference { name, style, .. } = *reference;
        let value = self.strict.scope.as_mut().and_then(|scope| scope.take(name));
        let sees = sees.filter(|_| style == Style::Quoted);
        let variable = sees.and_then(|_| self.variables()).map(|known| known.place(name));
        match (value, variable) {
            (Some(_), Some(Place::At(place))) if sees.is_some_and(|sees| place < sees) => {
                let detail =
                    "a parameter and an environment variable of this container have this name";
                let value = go_quote(written);
                self.complain(at, "", Reason::Invalid { value }, detail.to_owned());
                None
            }
            (None, Some(Place::At(_) | Place::Unknown)) => None,
            (None, _) => {
                self.complain_of_undefined(at, written);
                None
            }
            (value, _) => value,
        }
    }

    fn complain_of_undefined(&mut self, at: usize, written: &str) {
        let reason = Reason::NotFound { value: go_quote(written) };
        self.complain(at, "", reason, "the template has no such parameter".to_owned());
    }
}

/// Whether a string loses its quotes: all its references say so, and there are some.
fn is_unquoted(found: &[Found]) -> bool {
    let unquotes =
        |found: &Found| found.value.is_some() && found.reference.style == Style::Unquoted;
    !found.is_empty() && found.iter().all(unquotes)
}
