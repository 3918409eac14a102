//! Maps and lists, and what stands for a value that is not there.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use super::trace::Step;
use super::{Decoder, Found};
use crate::decoded::Stray;
use crate::definition::{Form, List, Schema};
use crate::error::SyntaxError;

impl<'a> Decoder<'a> {
    pub(super) fn map(&mut self, values: &'a Schema) -> Result<Found, SyntaxError> {
        self.out.push('{');
        let start = self.out.len();
        let mut entries: Vec<(Cow<'a, str>, Range<usize>)> = Vec::new();
        let mut sorted = true;
        self.scan.open_object()?;
        while let Some(key) = self.scan.member(entries.is_empty())? {
            let begin = self.begin_member(start, &key);
            self.path.push(Step::Key(key));
            if self.value(values)? == Found::Null {
                self.zero(values);
            }
            let Some(Step::Key(key)) = self.path.pop() else {
                unreachable!("pushed three lines above")
            };
            sorted &= entries.last().is_none_or(|(last, _)| *last < key);
            entries.push((key, begin..self.out.len()));
        }
        let found = if entries.is_empty() { Found::Empty } else { Found::Full };
        if !sorted {
            self.sort_entries(start, entries);
        }
        self.out.push('}');
        Ok(found)
    }

    /// Puts map entries into the order of their keys; of equal keys the last stays.
    pub(super) fn sort_entries(
        &mut self,
        start: usize,
        mut entries: Vec<(Cow<'a, str>, Range<usize>)>,
    ) {
        // The sort is stable, so that among equal keys the text's order remains.
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        let mut repeated: Vec<(usize, Cow<'a, str>)> = Vec::new();
        let mut kept: Vec<(Cow<'a, str>, Range<usize>)> = Vec::with_capacity(entries.len());
        for (key, member) in entries {
            match kept.last_mut() {
                Some((last, place)) if *last == key => {
                    repeated.push((member.start, key));
                    *place = member;
                }
                _ => kept.push((key, member)),
            }
        }
        repeated.sort_unstable();
        for (_, key) in repeated {
            self.path.push(Step::Key(key));
            self.strays.add(Stray::Duplicate(self.place()));
            self.path.pop();
        }
        self.arrange(start, kept.into_iter().map(|(_, member)| member));
    }

    pub(super) fn list(&mut self, list: &'a List) -> Result<Found, SyntaxError> {
        self.out.push('[');
        self.scan.open_array()?;
        let mut count = 0;
        while self.scan.item(count == 0)? {
            if count > 0 {
                self.out.push(',');
            }
            self.path.push(Step::Index(count));
            if self.value(&list.items)? == Found::Null {
                self.zero(&list.items);
            }
            self.path.pop();
            count += 1;
        }
        self.out.push(']');
        Ok(if count == 0 { Found::Empty } else { Found::Full })
    }

    /// Writes what stands for a value that is not there: its default, or Go's zero value.
    pub(super) fn zero(&mut self, schema: &Schema) {
        if let Some(default) = &schema.default {
            // Writing to a String cannot fail.
            let _ = write!(self.out, "{default}");
            return;
        }
        if schema.pointer || schema.nullable {
            self.out.push_str("null");
            return;
        }
        match &schema.form {
            Form::String { format, .. } if format.as_deref() == Some("date-time") => {
                self.out.push_str("null");
            }
            Form::String { .. } => self.out.push_str("\"\""),
            Form::Integer(_) | Form::Number | Form::IntOrString => self.out.push('0'),
            Form::Boolean => self.out.push_str("false"),
            Form::Map(_) | Form::List(_) | Form::Opaque { .. } => self.out.push_str("null"),
            Form::Object(object) => {
                self.out.push('{');
                self.absent_members(object);
                self.out.push('}');
            }
        }
    }
}
