//! Structs: members are written where they belong as far as the client sends them in order, and put
//! in order afterwards otherwise.

use std::ops::Range;

use super::trace::Step;
use super::{Decoder, Found};
use crate::decoded::Stray;
use crate::definition::{Field, Object, Presence};
use crate::error::SyntaxError;
use crate::scan::write_string;

/// Where the members of a struct stand in the output.
pub(super) struct Members {
    pub(super) slots: Vec<Slot>,
    /// Whether they stand in the order of the schema with nothing between them but commas.
    in_order: bool,
}

/// A field of the struct that is being read.
#[derive(Clone, Default)]
pub(super) struct Slot {
    /// The client gave it, even if it was empty and therefore not written.
    given: bool,
    pub(super) member: Option<Range<usize>>,
}

impl<'a> Decoder<'a> {
    pub(super) fn object(&mut self, object: &'a Object) -> Result<Found, SyntaxError> {
        self.out.push('{');
        let start = self.out.len();
        let members = self.members(object)?;
        if !members.in_order {
            self.arrange(start, members.slots.into_iter().filter_map(|slot| slot.member));
        }
        self.out.push('}');
        Ok(Found::Full)
    }

    /// Reads an object and writes its members, as far as possible where they belong.
    pub(super) fn members(&mut self, object: &'a Object) -> Result<Members, SyntaxError> {
        let outer = self.owner.replace(object);
        let mut members =
            Members { slots: vec![Slot::default(); object.fields.len()], in_order: true };
        let start = self.out.len();
        // Every field before this one is dealt with, unless it comes later after all.
        let mut next = 0;
        self.scan.open_object()?;
        let mut first = true;
        while let Some(key) = self.scan.member(first)? {
            first = false;
            let Some((index, field)) = object.find(&key) else {
                self.scan.skip()?;
                self.path.push(Step::Key(key));
                self.strays.add(Stray::Unknown(self.place()));
                self.path.pop();
                continue;
            };
            self.path.push(Step::Field(&field.name));
            if std::mem::replace(&mut members.slots[index].given, true) {
                self.strays.add(Stray::Duplicate(self.place()));
            }
            if index < next {
                members.in_order = false;
            } else {
                for skipped in next..index {
                    members.slots[skipped].member =
                        self.absent_member(start, &object.fields[skipped]);
                }
                next = index + 1;
            }
            members.slots[index].member = self.member(start, field)?;
            self.path.pop();
        }
        for (slot, field) in members.slots[next..].iter_mut().zip(&object.fields[next..]) {
            slot.member = self.absent_member(start, field);
        }
        self.owner = outer;
        Ok(members)
    }

    /// Reads the value of a field and writes the member, if anything is to be written. `start` is
    /// where the struct's members begin.
    pub(super) fn member(
        &mut self,
        start: usize,
        field: &'a Field,
    ) -> Result<Option<Range<usize>>, SyntaxError> {
        let before = self.out.len();
        let begin = self.begin_field(start, &field.name);
        let value = self.out.len();
        let found = self.value(&field.schema)?;
        let schema = &field.schema;
        let keeps_zero = schema.pointer || schema.default.is_some();
        let written = match (found, field.presence) {
            (Found::Full, _) => true,
            (Found::Null, _) if schema.nullable => {
                self.out.push_str("null");
                true
            }
            (Found::Null, _) => {
                self.out.truncate(before);
                return Ok(self.absent_member(start, field));
            }
            (Found::Zero, Presence::Optional | Presence::OptionalOrEmpty)
            | (Found::Empty, Presence::Optional) => keeps_zero,
            (Found::Empty, Presence::Always) => {
                self.empty_lists.push(value);
                true
            }
            (Found::Zero | Found::Empty, _) => true,
        };
        if !written {
            self.out.truncate(before);
        }
        Ok(written.then_some(begin..self.out.len()))
    }

    /// Writes the member that an absent field has, if it has one.
    pub(super) fn absent_member(&mut self, start: usize, field: &Field) -> Option<Range<usize>> {
        let optional = matches!(field.presence, Presence::Optional | Presence::OptionalOrEmpty);
        if optional && field.schema.default.is_none() {
            return None;
        }
        let begin = self.begin_field(start, &field.name);
        self.zero(&field.schema);
        Some(begin..self.out.len())
    }

    /// The members of a struct of which the client gave none.
    pub(super) fn absent_members(&mut self, object: &Object) -> Members {
        let start = self.out.len();
        let slot = |field| Slot { given: false, member: self.absent_member(start, field) };
        Members { slots: object.fields.iter().map(slot).collect(), in_order: true }
    }

    /// As [`Decoder::begin_member`], for a name that needs no escapes.
    fn begin_field(&mut self, start: usize, name: &str) -> usize {
        let begin = self.out.len() + usize::from(self.out.len() > start);
        self.out.push_str(if begin > self.out.len() { ",\"" } else { "\"" });
        self.out.push_str(name);
        self.out.push_str("\":");
        begin
    }

    pub(super) fn begin_member(&mut self, start: usize, name: &str) -> usize {
        if self.out.len() > start {
            self.out.push(',');
        }
        let begin = self.out.len();
        write_string(&mut self.out, name);
        self.out.push(':');
        begin
    }

    /// Rewrites the output from `start` so that it consists of the given pieces of it, in that
    /// order and joined by commas.
    pub(super) fn arrange(&mut self, start: usize, pieces: impl IntoIterator<Item = Range<usize>>) {
        let old = self.out.split_off(start);
        let known = self.empty_lists.partition_point(|&at| at < start);
        let old_lists = self.empty_lists.split_off(known);
        self.out.reserve(old.len());
        for piece in pieces {
            if self.out.len() > start {
                self.out.push(',');
            }
            let moved_to = self.out.len();
            self.out.push_str(&old[piece.start - start..piece.end - start]);
            let inside = old_lists.partition_point(|&at| at < piece.start)
                ..old_lists.partition_point(|&at| at < piece.end);
            self.empty_lists.extend(old_lists[inside].iter().map(|at| at - piece.start + moved_to));
        }
    }
}
