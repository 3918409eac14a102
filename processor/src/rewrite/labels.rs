//! The template's labels and how they reach `metadata.labels` of an object.
//!
//! They go to the object itself and nowhere else (not to selectors or pod templates), after
//! substitution, and win over the object's own. As on the live server, a label of the object that
//! is null becomes the empty string, and labels that hold anything but strings are all replaced.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Map, Result, Rewriter, Wrote};
use crate::json::string::push_string;
use crate::values::Form;

/// Substituted labels, spelled out once for all objects.
#[derive(Debug)]
pub(crate) struct Labels {
    /// By name.
    list: Vec<Label>,
    /// All members, `"a":"b","c":"d"`.
    members: String,
}

#[derive(Debug)]
struct Label {
    name: String,
    /// The value as JSON.
    value: String,
}

impl Labels {
    pub(crate) fn new(labels: &BTreeMap<Cow<str>, Cow<str>>) -> Self {
        let mut list = Vec::with_capacity(labels.len());
        let size = labels.iter().map(|(name, text)| name.len() + text.len() + 8).sum();
        let mut members = String::with_capacity(size);
        for (name, text) in labels {
            let mut value = String::with_capacity(text.len() + 2);
            push_string(&mut value, text);
            push_member(&mut members, name, &value);
            list.push(Label { name: name.to_string(), value });
        }
        Labels { list, members }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How long they are as members of a map.
    pub(crate) fn size(&self) -> usize {
        self.members.len()
    }

    /// Appends all labels as a map.
    pub(crate) fn push_json(&self, out: &mut String) {
        out.push('{');
        out.push_str(&self.members);
        out.push('}');
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.list.binary_search_by(|label| label.name.as_str().cmp(name)).ok()
    }
}

fn push_member(out: &mut String, name: &str, value: &str) {
    if !out.is_empty() {
        out.push(',');
    }
    push_string(out, name);
    out.push(':');
    out.push_str(value);
}

impl<'a> Rewriter<'a> {
    /// Gives a complete `metadata` map the labels, unless it has `labels` and they are there.
    pub(super) fn label_metadata(&mut self, map: &mut Map) -> Result<()> {
        let Some(labels) = self.labels else {
            return Ok(());
        };
        if self.find(map, "labels").is_some() {
            return Ok(());
        }
        self.insert(map, |text| {
            text.push_str("\"labels\":");
            labels.push_json(text);
        })
    }

    /// Gives a complete object without `metadata` one that has the labels.
    pub(super) fn label_object(&mut self, map: &mut Map) -> Result<()> {
        let Some(labels) = self.labels else {
            return Ok(());
        };
        if self.find(map, "metadata").is_some() {
            return Ok(());
        }
        self.insert(map, |text| {
            text.push_str("\"metadata\":{\"labels\":");
            labels.push_json(text);
            text.push('}');
        })
    }

    /// Rewrites the value of `metadata.labels` and merges the template's labels into it.
    pub(super) fn own_labels(&mut self, labels: &'a Labels) -> Result<Wrote> {
        if let Some(Form::Json(json)) = self.form_under_cursor()
            && json.starts_with('{')
        {
            return self.inject(json, |this| this.label_map(labels));
        }
        if self.byte() == b'{' {
            return self.label_map(labels);
        }
        let start = self.place();
        let wrote = self.value()?;
        if wrote != Wrote::Nothing {
            self.put(start..self.place(), |text| labels.push_json(text))?;
        }
        Ok(wrote)
    }

    fn label_map(&mut self, labels: &'a Labels) -> Result<Wrote> {
        let start = self.place();
        let mut map = self.map(|this, _| this.value())?;
        let own = || self.members[map.first..].iter().filter(|own| own.alive);
        if own().any(|own| own.wrote == Wrote::Other) {
            self.put(start..self.place(), |text| labels.push_json(text))?;
        } else {
            self.merge_labels(&mut map, labels)?;
        }
        self.members.truncate(map.first);
        Ok(Wrote::Other)
    }

    /// Merges into a map of labels; those that are null become empty.
    pub(super) fn merge_labels(&mut self, map: &mut Map, labels: &Labels) -> Result<()> {
        let mut taken = Vec::new();
        for index in map.first..self.members.len() {
            let own = &self.members[index];
            if !own.alive {
                continue;
            }
            let old = own.value..own.end;
            if let Some(label) = labels.find(&own.name) {
                self.put(old, |text| text.push_str(&labels.list[label].value))?;
                taken.push(label);
            } else if own.wrote == Wrote::Null {
                self.put(old, |text| text.push_str("\"\""))?;
            }
        }
        if taken.len() == labels.list.len() {
            return Ok(());
        }
        if taken.is_empty() {
            return self.insert(map, |text| text.push_str(&labels.members));
        }
        taken.sort_unstable();
        let mut others = String::new();
        for (index, label) in labels.list.iter().enumerate() {
            if taken.binary_search(&index).is_err() {
                push_member(&mut others, &label.name, &label.value);
            }
        }
        self.insert(map, |text| text.push_str(&others))
    }
}
