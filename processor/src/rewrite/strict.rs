//! The walk over an object of the proposal: the same pass as OpenShift's, with other rules.
//!
//! An object needs `apiVersion` and `kind`, and a key stands once in its map. Namespaces stay, no
//! kind gets another group, `null` is a value like any other. What is wrong does not stop the
//! walk: every [`Problem`] is noted with its place, and the places become paths at the end.
//!
//! [`strings`] knows references, [`containers`] which of them are Kubernetes' own, [`identity`]
//! what an object says it is, [`reach`] where labels go and [`labels`] how they get there.

mod containers;
mod identity;
mod labels;
mod places;
mod reach;
mod scope;
mod strings;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::{Labels, Map, Result, Rewriter, Wrote};
use crate::error::{Errors, FieldError, Reason, go_compact, go_quote};
use crate::values::Values;
use crate::{Dialect, Json};

use containers::Container;
use identity::Identity;
use reach::Reach;
pub(crate) use scope::Scope;

/// After so many problems of one object further ones are not noted.
const MAX_PROBLEMS: usize = 1000;

/// What the walk knows besides the text.
#[derive(Default)]
pub(super) struct Strict<'a> {
    /// What names stand for; there is one whenever this dialect is spoken.
    scope: Option<Scope<'a>>,
    /// What is wrong with the current object.
    problems: Vec<Problem>,
    /// The container that the cursor is in.
    container: Option<Container>,
}

/// Something wrong at a place in an object.
struct Problem {
    /// Byte offset into the object.
    at: usize,
    /// The member of the value at that place that is meant; may be empty.
    member: &'static str,
    reason: Reason,
    detail: String,
}

impl<'a> Rewriter<'a> {
    /// A rewriter for the proposal's dialect.
    pub(crate) fn strict(
        values: &'a Values<'a>,
        scope: Scope<'a>,
        labels: Option<&'a Labels>,
        size: usize,
    ) -> Self {
        let strict = Strict { scope: Some(scope), ..Strict::default() };
        let rewriter = Rewriter::new(Some(values), labels, size);
        Rewriter { dialect: Dialect::Proposal, strict, ..rewriter }
    }

    /// What has been written, and what has been referred to.
    pub(crate) fn into_out_and_scope(self) -> (String, Option<Scope<'a>>) {
        (self.out, self.strict.scope)
    }

    /// Processes `objects[index]` and appends it to the output. What is wrong with it goes to
    /// `errors`, and then what is appended means nothing.
    ///
    /// # Errors
    /// Only when substitution brings in too much.
    pub(crate) fn strict_object(
        &mut self,
        index: usize,
        object: Json<'a>,
        errors: &mut Errors,
    ) -> Result<()> {
        self.start(object);
        self.strict.container = None;
        let result = self.object_or_list();
        self.flush();
        self.edits.apply(&mut self.out);
        let mut problems = std::mem::take(&mut self.strict.problems);
        if !problems.is_empty() {
            problems.sort_by_key(|problem| problem.at);
            let paths = places::paths(object, problems.iter().map(|problem| problem.at));
            for (Problem { member, reason, detail, .. }, path) in problems.into_iter().zip(paths) {
                let dot = if member.is_empty() { "" } else { "." };
                let field = format!("objects[{index}]{path}{dot}{member}");
                errors.push_with(|| FieldError { field, reason, detail });
            }
        }
        result
    }

    /// An object, or a list of objects.
    fn object_or_list(&mut self) -> Result<()> {
        if self.byte() != b'{' {
            return self.no_object();
        }
        let identity = Identity::read(self);
        self.check_identity(&identity);
        let wrote = if self.is_list(&identity) {
            self.fields(&[("items", Reach::Items)])
        } else {
            self.labelled(reach::of(identity.group(), identity.kind()))
        };
        wrote.map(drop)
    }

    /// An item of a list: an object, but no list again.
    fn list_item(&mut self) -> Result<()> {
        if self.byte() != b'{' {
            return self.no_object();
        }
        let identity = Identity::read(self);
        self.check_identity(&identity);
        if self.is_list(&identity) {
            let at = self.at;
            let detail = "a list cannot hold another list".to_owned();
            self.complain(at, "kind", invalid(go_quote(identity.kind())), detail);
        }
        self.labelled(reach::of(identity.group(), identity.kind())).map(drop)
    }

    fn no_object(&mut self) -> Result<()> {
        let (at, json) = (self.at, self.peek());
        let reason = match json.kind() {
            "null" => Reason::Required,
            _ => invalid(go_compact(json.as_str())),
        };
        self.complain(at, "", reason, "must be an object".to_owned());
        self.skip();
        Ok(())
    }

    // === Values ===

    /// Rewrites the value under the cursor, of which nothing special is known.
    fn any_value(&mut self) -> Result<Wrote> {
        match self.byte() {
            b'{' => {
                let map = self.unique_map(|this, index| this.member_value(index))?;
                self.members.truncate(map.first);
                Ok(Wrote::Other)
            }
            b'[' => self.list(|this| this.any_value().map(drop)),
            b'"' => self.text(None),
            _ => self.scalar(),
        }
    }

    /// Rewrites the value of a member: a list of containers is known by its name.
    fn member_value(&mut self, index: usize) -> Result<Wrote> {
        match &*self.members[index].name {
            "containers" | "initContainers" | "ephemeralContainers"
                if self.byte() == b'[' && self.strict.container.is_none() =>
            {
                self.list(|this| this.container().map(drop))
            }
            _ => self.any_value(),
        }
    }

    /// As [`Rewriter::map`], and no key may be there twice.
    fn unique_map(&mut self, each: impl FnMut(&mut Self, usize) -> Result<Wrote>) -> Result<Map> {
        let map = self.map(each)?;
        if map.is_thinned {
            self.complain_of_repeats(&map);
        }
        Ok(map)
    }

    fn complain_of_repeats(&mut self, map: &Map) {
        let end = self.at - 1;
        let is_check = self.is_check();
        let mut seen = BTreeSet::new();
        let mut repeats = Vec::new();
        for member in &self.members[map.first..] {
            // Keys that are equal only now may differ with other values.
            let is_settled = !is_check || member.renamed.is_none();
            if is_settled && !seen.insert(&*member.name) && repeats.len() < MAX_PROBLEMS {
                repeats.push(go_quote(&member.name));
            }
        }
        for value in repeats {
            self.complain(end, "", Reason::Duplicate { value }, String::new());
        }
    }

    // === Problems ===

    /// Notes what is wrong with the value at a place, or with a member of it.
    fn complain(&mut self, at: usize, member: &'static str, reason: Reason, detail: String) {
        if self.strict.problems.len() < MAX_PROBLEMS {
            self.strict.problems.push(Problem { at, member, reason, detail });
        }
    }

    /// Whether the values are placeholders.
    fn is_check(&self) -> bool {
        self.strict.scope.as_ref().is_some_and(Scope::is_check)
    }
}

fn invalid(value: String) -> Reason {
    Reason::Invalid { value }
}
