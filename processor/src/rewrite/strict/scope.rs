//! The names that references may say, which of them have been said, and text outside objects.

use super::super::TooLong;
use crate::reference::is_name;
use crate::reference::proposal::references;
use crate::values::{Value, Values};

/// A template's values, and which of them something refers to.
pub(crate) struct Scope<'a> {
    values: &'a Values<'a>,
    /// By the index of the parameter.
    used: Vec<bool>,
    /// Whether the values are placeholders, so that only what no value could mend is wrong.
    is_check: bool,
}

/// A text with its references replaced.
pub(crate) struct Replaced<'s> {
    pub(crate) text: String,
    /// Whether a value is in it.
    pub(crate) is_changed: bool,
    /// References that stand for nothing, as they are written.
    pub(crate) undefined: Vec<&'s str>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(values: &'a Values<'a>, is_check: bool) -> Self {
        Scope { values, used: vec![false; values.iter().count()], is_check }
    }

    /// The value of a parameter, which counts as used from now on.
    pub(crate) fn take(&mut self, name: &str) -> Option<&'a Value<'a>> {
        let index = self.values.index(name)?;
        self.used[index] = true;
        Some(self.values.at(index))
    }

    pub(crate) fn is_check(&self) -> bool {
        self.is_check
    }

    /// Indices of the parameters that nothing has referred to, though it could have: not those
    /// whose name is none, or belongs to another one.
    pub(crate) fn unused(&self) -> impl Iterator<Item = usize> {
        let could_be = |index: &usize| {
            let name = self.values.at(*index).name();
            is_name(name) && self.values.index(name) == Some(*index)
        };
        (0..self.used.len()).filter(|index| !self.used[*index]).filter(could_be)
    }

    /// Replaces the references of a text that is text whatever it says: a key, a label, a name.
    /// Both styles give the value's text. At most `budget` bytes.
    pub(crate) fn replace<'s>(
        &mut self,
        text: &'s str,
        budget: usize,
    ) -> Result<Replaced<'s>, TooLong> {
        let mut out = String::new();
        let (mut copied, mut is_changed, mut undefined) = (0, false, Vec::new());
        for reference in references(text) {
            let Some(value) = self.take(reference.name) else {
                undefined.push(&text[reference.start..reference.end]);
                continue;
            };
            out.push_str(&text[copied..reference.start]);
            out.push_str(value.text());
            copied = reference.end;
            is_changed = true;
            if out.len() > budget {
                return Err(TooLong);
            }
        }
        out.push_str(&text[copied..]);
        Ok(Replaced { text: out, is_changed, undefined })
    }
}
