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
        let mut members = String::new();
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

    pub(crate) fn to_json(&self) -> String {
        format!("{{{}}}", self.members)
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
    /// Gives a complete `metadata` map the labels that its own `labels` member did not take.
    pub(super) fn label_metadata(&mut self, map: &mut Map) -> Result<()> {
        if let Some(labels) = self.labels
            && self.find(map, "labels").is_none()
        {
            self.spend(labels.members.len())?;
            self.insert(map, |text| {
                text.push_str("\"labels\":");
                text.push_str(&labels.to_json());
            });
        }
        Ok(())
    }

    /// Rewrites the value of `metadata.labels` and merges the template's labels into it.
    pub(super) fn own_labels(&mut self, labels: &'a Labels) -> Result<Wrote> {
        self.spend(labels.members.len())?;
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
            let old = start..self.place();
            self.edits.put(old, |text| text.push_str(&labels.to_json()));
        }
        Ok(wrote)
    }

    fn label_map(&mut self, labels: &'a Labels) -> Result<Wrote> {
        let start = self.place();
        let mut map = self.map(|this, _| this.value())?;
        let own = &self.members[map.first..];
        if own.iter().any(|own| own.alive && own.wrote == Wrote::Other) {
            let old = start..self.place();
            self.edits.put(old, |text| text.push_str(&labels.to_json()));
        } else {
            let mut taken = Vec::new();
            for own in own.iter().filter(|own| own.alive) {
                if let Some(index) = labels.find(&own.name) {
                    self.edits
                        .put(own.value..own.end, |text| text.push_str(&labels.list[index].value));
                    taken.push(index);
                } else if own.wrote == Wrote::Null {
                    self.edits.put(own.value..own.end, |text| text.push_str("\"\""));
                }
            }
            self.add_labels(&mut map, labels, taken);
        }
        self.members.truncate(map.first);
        Ok(Wrote::Other)
    }

    /// Adds the labels that are not `taken`, which are the object's own.
    fn add_labels(&mut self, map: &mut Map, labels: &Labels, mut taken: Vec<usize>) {
        if taken.len() == labels.list.len() {
            return;
        }
        if taken.is_empty() {
            return self.insert(map, |text| text.push_str(&labels.members));
        }
        taken.sort_unstable();
        let mut members = String::new();
        for (index, label) in labels.list.iter().enumerate() {
            if taken.binary_search(&index).is_err() {
                push_member(&mut members, &label.name, &label.value);
            }
        }
        self.insert(map, |text| text.push_str(&members));
    }
}
