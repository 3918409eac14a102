//! What is special at the top of an object: identity, namespace, metadata, lists.
//!
//! The rules are those of OpenShift's server. Before substitution: an object needs a `kind`, and a
//! namespace that is not a reference is removed. After it: `apiVersion` and `kind` are written from
//! what they then say (which gives old kinds their API group), and labels are added. An object
//! that has `items` is another matter: see [`super::list`].

use std::borrow::Cow;

use super::members::Member;
use super::text::text_of;
use super::{Fault, Map, Result, Rewriter, What, Wrote};
use crate::Json;
use crate::group::group_of;
use crate::json::string::push_string;
use crate::json::{Outline, Scanner, Syntax};
use crate::reference::references;
use crate::rewrite::canonical;
use crate::values::Form;

/// What an object says before substitution. Of a key that is repeated the last one counts.
#[derive(Default)]
pub(super) struct Raw<'a> {
    /// None unless a string.
    kind: Option<Cow<'a, str>>,
    /// None unless a string.
    api_version: Option<Cow<'a, str>>,
    has_metadata: bool,
}

impl<'a> Raw<'a> {
    pub(super) fn read(object: Json<'a>) -> Self {
        let mut raw = Raw::default();
        let mut scanner = Scanner::new(object.as_str());
        let read = scanner.members(|scanner, key| {
            let value = scanner.value()?;
            raw.see(&key.decode(), value);
            Ok::<(), Syntax>(())
        });
        read.expect("an object's text is proven JSON");
        raw
    }

    pub(super) fn see(&mut self, key: &str, value: Json<'a>) {
        match key {
            "kind" => self.kind = text_of(value.as_str()),
            "apiVersion" => self.api_version = text_of(value.as_str()),
            "metadata" => self.has_metadata = true,
            _ => {}
        }
    }

    /// Empty unless a string.
    pub(super) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or_default()
    }

    /// Empty unless a string.
    pub(super) fn api_version(&self) -> &str {
        self.api_version.as_deref().unwrap_or_default()
    }

    /// Whether substitution leaves `apiVersion` and `kind` as they are.
    fn is_settled(&self) -> bool {
        let mut bytes = self.kind().bytes().chain(self.api_version().bytes());
        bytes.all(|byte| byte != b'$')
    }

    /// A kind must be there, and an `apiVersion` that is no group and version hides it.
    pub(super) fn check(&self) -> Result<()> {
        let slashes = self.api_version().bytes().filter(|&byte| byte == b'/').count();
        if self.kind().is_empty() || slashes > 1 {
            return Err(Fault::new(What::MissingKind));
        }
        Ok(())
    }
}

impl<'a> Rewriter<'a> {
    /// Processes one object and appends it to the output; on a fault nothing is appended.
    pub(crate) fn object(&mut self, object: Json<'a>, outline: Option<Outline<'a>>) -> Result<()> {
        if outline.is_some() && self.by_outline(object, outline) {
            return Ok(());
        }
        let start = self.out.len();
        match self.any_object(object) {
            Ok(()) => {
                self.edits.apply(&mut self.out);
                Ok(())
            }
            Err(fault) => {
                self.out.truncate(start);
                self.without_repeats(object, fault)
            }
        }
    }

    /// Processes an object the short way, by its outline. False, with nothing done, where that
    /// comes upon something that is wrong or removes itself: the long way finds out what to do.
    fn by_outline(&mut self, object: Json<'a>, outline: Option<Outline<'a>>) -> bool {
        let (start, budget) = (self.out.len(), self.budget);
        self.start(object);
        self.outline = outline;
        let is_done = self.single(object).is_ok();
        if is_done {
            self.edits.apply(&mut self.out);
        } else {
            self.out.truncate(start);
            self.budget = budget;
        }
        is_done
    }

    /// Upstream never sees the first of two equal keys, so a fault in it does not count.
    fn without_repeats(&mut self, object: Json<'a>, fault: Fault) -> Result<()> {
        let text = match fault.what() {
            What::TooLong | What::NotAnObject => None,
            _ => canonical(object).filter(|text| text != object.as_str()),
        };
        let Some(text) = text else {
            return Err(fault);
        };
        let mut again = Rewriter::new(self.values, self.labels, text.len());
        again.budget = self.budget;
        let result = again.any_object(Json::proven(&text));
        self.budget = again.budget;
        if result.is_err() {
            return Err(fault);
        }
        again.edits.apply(&mut again.out);
        self.out.push_str(&again.out);
        Ok(())
    }

    fn any_object(&mut self, object: Json<'a>) -> Result<()> {
        if object.kind() != "object" {
            return Err(Fault::new(What::NotAnObject));
        }
        let start = self.out.len();
        self.start(object);
        match self.single(object) {
            Err(fault) if matches!(fault.what(), What::IsList) => {
                self.out.truncate(start);
                self.start(object);
                self.list_object(object)
            }
            // Upstream decodes the object before it substitutes anything.
            Err(fault) => Err(Raw::read(object).check().err().unwrap_or(fault)),
            Ok(()) => Ok(()),
        }
    }

    fn single(&mut self, object: Json<'a>) -> Result<()> {
        let mut raw = Raw::default();
        let mut metadata_anywhere = None;
        let mut map = self.map(|this, index| {
            let Member { name, renamed, .. } = &this.members[index];
            match (&**name, renamed.is_some()) {
                ("items", false) => Err(Fault::new(What::IsList)),
                ("kind" | "apiVersion", false) => {
                    let is_kind = name == "kind";
                    let (said, wrote) = this.said()?;
                    *(if is_kind { &mut raw.kind } else { &mut raw.api_version }) = said;
                    Ok(wrote)
                }
                ("namespace", false) => {
                    let find = || Raw::read(object).has_metadata;
                    if *metadata_anywhere.get_or_insert_with(find) {
                        this.value()
                    } else {
                        this.bare_namespace()
                    }
                }
                ("metadata", renamed) => {
                    let strip = !renamed;
                    this.metadata(strip)
                }
                _ => this.outlined_value(index),
            }
        })?;
        raw.check()?;
        // Up to its closing bracket, before which members may have to be added.
        self.copy_until(map.end);
        let settled = self.outline.is_some() && raw.is_settled();
        self.identify(&mut map, settled.then_some(&raw))?;
        self.label_object(&mut map)?;
        self.flush();
        Ok(())
    }

    /// Rewrites the value of a member of the object: with an outline only the strings in it that may
    /// hold references; what is between them is copied as it is.
    fn outlined_value(&mut self, index: usize) -> Result<Wrote> {
        let Some(mut outline) = self.outline.filter(|_| matches!(self.byte(), b'{' | b'[')) else {
            return self.value();
        };
        let end = outline.ends[index];
        let inside = self.at;
        while let Some((&(start, marks), others)) = outline.strings.split_first()
            && start < end
        {
            outline.strings = others;
            // Those in other members, such as the metadata, have been visited.
            if start > inside && self.marked_string(start, marks)? == Wrote::Nothing {
                return Err(Fault::new(What::Vanishing));
            }
        }
        self.at = end;
        self.outline = Some(outline);
        Ok(Wrote::Other)
    }

    // === Metadata ===

    /// Rewrites the value of `metadata`; `strip` when the namespace rule applies, which looks at
    /// the text before substitution.
    fn metadata(&mut self, strip: bool) -> Result<Wrote> {
        if let Some(Form::Json(json)) = self.form_under_cursor()
            && json.starts_with('{')
        {
            return self.inject(json, |this| this.metadata_map(false));
        }
        if self.byte() == b'{' { self.metadata_map(strip) } else { self.value() }
    }

    fn metadata_map(&mut self, strip: bool) -> Result<Wrote> {
        let mut map = self.map(|this, index| {
            let Member { name, renamed, .. } = &this.members[index];
            match (&**name, this.labels) {
                ("namespace", _) if strip && renamed.is_none() => this.namespace(),
                ("labels", Some(labels)) => this.own_labels(labels),
                _ => this.value(),
            }
        })?;
        self.label_metadata(&mut map)?;
        self.members.truncate(map.first);
        Ok(Wrote::Other)
    }

    /// `metadata.namespace`: stays when it is empty or has a reference, else it is removed; what
    /// is no string becomes the empty string.
    fn namespace(&mut self) -> Result<Wrote> {
        match text_of(self.peek().as_str()) {
            None => self.overwrite("\"\"").map(|()| Wrote::Text),
            Some(text) if text.is_empty() || references(&text).next().is_some() => self.value(),
            Some(_) => {
                self.skip();
                Ok(Wrote::Nothing)
            }
        }
    }

    /// `namespace` of an object without metadata: blanked unless it has a reference.
    fn bare_namespace(&mut self) -> Result<Wrote> {
        match text_of(self.peek().as_str()) {
            Some(text) if references(&text).next().is_some() => self.value(),
            _ => self.overwrite("\"\"").map(|()| Wrote::Text),
        }
    }

    /// Rewrites the value under the cursor; returns what it said, if it is a string.
    fn said(&mut self) -> Result<(Option<Cow<'a, str>>, Wrote)> {
        if self.byte() != b'"' {
            return Ok((None, self.value()?));
        }
        let literal = self.literal();
        let wrote = self.rewrite(&literal)?;
        Ok((Some(literal.content.decode()), wrote))
    }

    /// The value under the cursor.
    pub(super) fn peek(&self) -> Json<'a> {
        Scanner::resume(self.text, self.at).value().expect("an object's text is proven JSON")
    }

    // === Identity ===

    /// Writes `apiVersion` and `kind` as the server would after reading them: from the output,
    /// unless they are known to stand there as they did in the input.
    pub(super) fn identify(&mut self, map: &mut Map, settled: Option<&Raw>) -> Result<()> {
        let text = |name| {
            let member = self.find(map, name)?;
            text_of(&self.out[member.value..member.end])
        };
        let [api_version, kind] = match settled {
            Some(raw) => changes(raw.api_version.as_deref(), raw.kind.as_deref()),
            None => changes(text("apiVersion").as_deref(), text("kind").as_deref()),
        };
        for (name, change) in [("apiVersion", api_version), ("kind", kind)] {
            if let Some(text) = change {
                self.set(map, name, &text)?;
            }
        }
        Ok(())
    }

    /// Gives a member of a map a text, whether or not it is there.
    pub(super) fn set(&mut self, map: &mut Map, name: &str, text: &str) -> Result<()> {
        if let Some(member) = self.find(map, name) {
            let old = member.value..member.end;
            return self.put(old, |out| push_string(out, text));
        }
        self.insert(map, |out| {
            push_string(out, name);
            out.push(':');
            push_string(out, text);
        })
    }
}

/// What `apiVersion` and `kind` become, where that is not what they are.
fn changes(api_version: Option<&str>, kind: Option<&str>) -> [Option<String>; 2] {
    let (new_version, new_kind) =
        identity(api_version.unwrap_or_default(), kind.unwrap_or_default());
    let changed = |old: Option<&str>, new: &str| (old != Some(new)).then(|| new.to_owned());
    [changed(api_version, &new_version), changed(kind, new_kind)]
}

/// `apiVersion` and `kind` after a round through group, version and kind.
fn identity<'s>(api_version: &'s str, kind: &'s str) -> (Cow<'s, str>, &'s str) {
    let slash = api_version.bytes().position(|byte| byte == b'/');
    let (group, version) = match slash.map(|at| (&api_version[..at], &api_version[at + 1..])) {
        Some((_, rest)) if rest.contains('/') => return (Cow::Borrowed(""), ""),
        Some((group, version)) => (group, version),
        None => ("", api_version),
    };
    if !group.is_empty() {
        return (Cow::Borrowed(api_version), kind);
    }
    match group_of(kind) {
        Some(legacy) => (Cow::Owned(format!("{legacy}/{version}")), kind),
        None => (Cow::Borrowed(version), kind),
    }
}
