//! Which kinds there are, whatever is done with them.

use std::collections::HashSet;

use super::{ApiGroup, all};

/// The kinds that the server knows, as a body may name them: those of its resources, their lists,
/// and some of everybody's. A body of such a kind at the wrong place is told so in other words than
/// one of a kind that does not exist.
#[derive(Debug, Default)]
pub struct Kinds(HashSet<(String, String)>);

impl Kinds {
    /// The kinds of these groups.
    pub fn of(groups: &[ApiGroup]) -> Self {
        let mut kinds: HashSet<_> =
            ["Status", "List"].map(|kind| ("v1".to_owned(), kind.to_owned())).into();
        for resource in all(groups) {
            let definition = &resource.definition;
            kinds.insert((definition.api_version(), definition.kind.to_owned()));
            if resource.allows("list") {
                kinds.insert((definition.api_version(), format!("{}List", definition.kind)));
            }
        }
        Self(kinds)
    }

    /// Whether a kind is known.
    pub fn contains(&self, api_version: &str, kind: &str) -> bool {
        self.0.contains(&(api_version.to_owned(), kind.to_owned()))
    }
}
