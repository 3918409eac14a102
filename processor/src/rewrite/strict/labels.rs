//! The template's labels on their way into an object, along its [`Reach`].
//!
//! They win over labels of the same name, in the object's metadata, its templates and selectors
//! alike, so that what selected a pod before selects it after.

use super::super::{Labels, Map, Result, Rewriter, Wrote};
use super::invalid;
use super::reach::{Fields, Reach};
use crate::error::go_compact;
use crate::json::{Scanner, Syntax};
use crate::values::Form;

impl<'a> Rewriter<'a> {
    /// Rewrites the map under the cursor, which is to have labels in its metadata.
    pub(super) fn labelled(&mut self, fields: Fields) -> Result<Wrote> {
        let Some(labels) = self.labels else {
            return self.any_value();
        };
        let mut map = self.unique_map(|this, index| {
            if this.members[index].name == "metadata" {
                this.metadata_with(labels)
            } else {
                this.field(index, fields)
            }
        })?;
        if self.find(&map, "metadata").is_none() {
            self.insert(&mut map, |out| {
                out.push_str("\"metadata\":{\"labels\":");
                labels.push_json(out);
                out.push('}');
            })?;
        }
        self.members.truncate(map.first);
        Ok(Wrote::Other)
    }

    /// Rewrites the map under the cursor, some members of which are reached.
    pub(super) fn fields(&mut self, fields: Fields) -> Result<Wrote> {
        let map = self.unique_map(|this, index| this.field(index, fields))?;
        self.members.truncate(map.first);
        Ok(Wrote::Other)
    }

    fn field(&mut self, index: usize, fields: Fields) -> Result<Wrote> {
        let name = &*self.members[index].name;
        match fields.iter().find(|(known, _)| *known == name) {
            Some((_, reach)) => self.reached(reach),
            None => self.member_value(index),
        }
    }

    fn reached(&mut self, reach: &Reach) -> Result<Wrote> {
        match (reach, self.byte()) {
            (Reach::Items, b'[') => self.list(|this| this.list_item()),
            (Reach::Fields(fields), b'{') => self.fields(fields),
            (Reach::Labelled(fields), b'{') => self.labelled(fields),
            (Reach::Either { member, says, then, otherwise }, b'{') => {
                let fields = if self.says(member, says) { then } else { otherwise };
                self.fields(fields)
            }
            (Reach::Selector, b'{') => self.selector(),
            (Reach::LabelSelector, b'{') if self.selects() => self.label_selector(),
            _ => self.any_value(),
        }
    }

    // === Metadata ===

    fn metadata_with(&mut self, labels: &'a Labels) -> Result<Wrote> {
        let mut whole = String::from("{\"labels\":");
        labels.push_json(&mut whole);
        whole.push('}');
        if self.byte() != b'{' {
            return self.in_place_of_null(&whole);
        }
        let mut map = self.unique_map(|this, index| {
            if this.members[index].name == "labels" {
                this.labels_with(labels)
            } else {
                this.member_value(index)
            }
        })?;
        if self.find(&map, "labels").is_none() {
            self.insert(&mut map, |out| out.push_str(&whole[1..whole.len() - 1]))?;
        }
        self.members.truncate(map.first);
        Ok(Wrote::Other)
    }

    fn labels_with(&mut self, labels: &'a Labels) -> Result<Wrote> {
        if self.byte() != b'{' {
            let mut whole = String::new();
            labels.push_json(&mut whole);
            return self.in_place_of_null(&whole);
        }
        let mut map = self.unique_map(|this, _| this.any_value())?;
        self.merge_labels(&mut map, labels)?;
        self.members.truncate(map.first);
        Ok(Wrote::Other)
    }

    /// Puts a map where there is none; other values than null are in the way.
    fn in_place_of_null(&mut self, map: &str) -> Result<Wrote> {
        let (at, json) = (self.at, self.peek());
        let is_null = match json.kind() {
            "null" => true,
            "string" => matches!(self.outcome_of(json), Form::Null),
            _ => false,
        };
        if is_null {
            return self.overwrite(map).map(|()| Wrote::Other);
        }
        self.complain(at, "", invalid(go_compact(json.as_str())), "must be a map".to_owned());
        self.any_value()
    }

    // === Selectors ===

    /// Rewrites a map of labels, which gets more unless it is empty.
    fn selector(&mut self) -> Result<Wrote> {
        let mut map = self.unique_map(|this, _| this.any_value())?;
        if let Some(labels) = self.labels.filter(|_| self.members.len() > map.first) {
            self.merge_labels(&mut map, labels)?;
        }
        self.members.truncate(map.first);
        Ok(Wrote::Other)
    }

    /// Rewrites a selector that is not empty.
    fn label_selector(&mut self) -> Result<Wrote> {
        let Some(labels) = self.labels else {
            return self.any_value();
        };
        let mut map = self.unique_map(|this, index| {
            if this.members[index].name == "matchLabels" {
                this.labels_with(labels)
            } else {
                this.any_value()
            }
        })?;
        self.insert_match_labels(&mut map, labels)?;
        self.members.truncate(map.first);
        Ok(Wrote::Other)
    }

    fn insert_match_labels(&mut self, map: &mut Map, labels: &Labels) -> Result<()> {
        if self.find(map, "matchLabels").is_some() {
            return Ok(());
        }
        self.insert(map, |out| {
            out.push_str("\"matchLabels\":");
            labels.push_json(out);
        })
    }

    /// Whether the selector under the cursor selects by anything.
    fn selects(&self) -> bool {
        let mut selects = false;
        let read = Scanner::new(&self.text[self.at..]).members(|scanner, key| {
            let is_known = matches!(&*key.decode(), "matchLabels" | "matchExpressions");
            let value = scanner.value()?.as_str();
            let is_full = value.starts_with(['{', '[']) && value[1..].trim_start().len() > 1;
            selects |= is_known && is_full;
            Ok::<(), Syntax>(())
        });
        read.expect("an object's text is proven JSON");
        selects
    }

    /// Whether a member of the map under the cursor is that text or that bool, after substitution.
    fn says(&mut self, member: &str, what: &str) -> bool {
        let mut says = false;
        let text = self.text;
        let read = Scanner::new(&text[self.at..]).members(|scanner, key| {
            let value = scanner.value()?;
            if key.decode() == member {
                says = match (value.kind(), value.as_str()) {
                    ("string", _) => {
                        matches!(self.outcome_of(value), Form::Text(said) | Form::Json(said) if said == what)
                    }
                    (_, json) => json == what,
                };
            }
            Ok::<(), Syntax>(())
        });
        read.expect("an object's text is proven JSON");
        says
    }
}
