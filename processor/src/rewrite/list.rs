//! An object that has `items`: a list of objects.
//!
//! As on OpenShift's server a list needs a kind and gets its API group, and its items are
//! substituted; but their namespaces stay, their kinds get no group, and labels cannot be applied
//! to it at all. An item that has neither `apiVersion` nor `kind` inherits them from the list
//! before substitution.

use super::members::Member;
use super::object::Raw;
use super::{Fault, Result, Rewriter, What, Wrote};
use crate::Json;
use crate::json::string::push_string;

/// What a list gives to items that do not say what they are: JSON, or nothing where the list's
/// own text is a reference to null.
struct Inherited {
    api_version: Option<String>,
    kind: Option<String>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn list_object(&mut self, object: Json<'a>) -> Result<()> {
        let raw = Raw::read(object);
        let mut map = self.map(|this, index| {
            let Member { name, renamed, .. } = &this.members[index];
            if name == "items" && renamed.is_none() { this.items(&raw) } else { this.value() }
        })?;
        raw.check()?;
        self.flush();
        self.identify(&mut map, None)?;
        if self.labels.is_some() {
            return Err(Fault::new(What::LabelsOnList));
        }
        Ok(())
    }

    fn items(&mut self, list: &Raw<'a>) -> Result<Wrote> {
        match self.byte() {
            b'[' => {
                let kind = list.kind();
                let item_kind = kind.strip_suffix("List").unwrap_or(kind);
                let inherited = Inherited {
                    api_version: self.rewritten(list.api_version())?,
                    kind: self.rewritten(item_kind)?,
                };
                self.list(|this| this.item(&inherited))
            }
            b'n' => self.overwrite("[]").map(|()| Wrote::Other),
            _ => {
                let found = self.peek().kind();
                Err(Fault::new(What::Items { found }))
            }
        }
    }

    fn item(&mut self, inherited: &Inherited) -> Result<()> {
        match self.byte() {
            b'{' => {}
            b'n' => {
                let members: Vec<String> = inherited.members().collect();
                return self.overwrite(&format!("{{{}}}", members.join(",")));
            }
            _ => {
                let found = self.peek().kind();
                return Err(Fault::new(What::Item { found }));
            }
        }
        let raw = Raw::read(self.peek());
        let inherits = raw.kind().is_empty() && raw.api_version().is_empty();
        let mut map = self.map(|this, index| {
            let Member { name, renamed, .. } = &this.members[index];
            match (&**name, inherits && renamed.is_none()) {
                ("apiVersion", true) => this.inherit(inherited.api_version.as_deref()),
                ("kind", true) => this.inherit(inherited.kind.as_deref()),
                _ => this.value(),
            }
        })?;
        if inherits {
            for (name, json) in inherited.named() {
                if self.find(&map, name).is_none() {
                    self.insert(&mut map, |out| out.push_str(&member(name, json)))?;
                }
            }
        }
        self.members.truncate(map.first);
        Ok(())
    }

    fn inherit(&mut self, json: Option<&str>) -> Result<Wrote> {
        if let Some(json) = json {
            return self.overwrite(json).map(|()| Wrote::Other);
        }
        self.skip();
        Ok(Wrote::Nothing)
    }

    /// A text as it comes out of substitution, as JSON; none when it removes itself.
    fn rewritten(&self, text: &str) -> Result<Option<String>> {
        let mut json = String::with_capacity(text.len() + 2);
        push_string(&mut json, text);
        let mut rewriter = Rewriter::new(self.values, None, json.len());
        rewriter.start(Json::proven(&json));
        let wrote = rewriter.value()?;
        rewriter.flush();
        Ok((wrote != Wrote::Nothing).then_some(rewriter.out))
    }
}

impl Inherited {
    fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let named = [("apiVersion", &self.api_version), ("kind", &self.kind)];
        named.into_iter().filter_map(|(name, json)| Some((name, json.as_deref()?)))
    }

    fn members(&self) -> impl Iterator<Item = String> {
        self.named().map(|(name, json)| member(name, json))
    }
}

fn member(name: &str, json: &str) -> String {
    format!("\"{name}\":{json}")
}
