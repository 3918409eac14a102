//! What a text is read into. The reader knows events, anchors and limits; what it makes of nodes is a target's business:
//! JSON text ([`super::json`]) or a caller's values ([`super::tree`]).

use std::borrow::Cow;

use super::node::Rules;
use super::tag::Scalar;

/// How many repeated keys are told: a text may repeat millions, and each is a sentence in memory.
pub(super) const DUPLICATES: usize = 1000;

/// Takes nodes in the order in which they are written, what is in a list or map before the list or map is complete.
pub(super) trait Target: Default {
    /// Whose reading of YAML counts.
    const RULES: Rules;
    /// A node that is complete, and of which nothing has been made yet.
    type Node;
    /// A complete list or map that aliases may repeat.
    type Kept;
    /// A list that is open.
    type List;
    /// A map that is open.
    type Map;
    /// A key whose value is still to come.
    type Key;
    /// All of a document.
    type Document;

    /// A scalar as a value; a float is finite.
    fn scalar(&mut self, scalar: Scalar<'_>) -> Self::Node;

    fn open_list(&mut self) -> Self::List;
    /// Whatever stands before an item.
    fn begin_item(&mut self, _: &Self::List) {}
    fn item(&mut self, list: &mut Self::List, item: Self::Node);
    fn close_list(&mut self, list: Self::List) -> Self::Node;

    fn open_map(&mut self) -> Self::Map;
    fn key(&mut self, map: &Self::Map, key: Key<'_>) -> Self::Key;
    /// Adds a member, whose value begins in this line.
    fn member(&mut self, map: &mut Self::Map, key: Self::Key, value: Self::Node, line: usize);
    /// Adds the members of another map, or of several: of those, the first one wins. `None` when it is neither.
    fn merge(&mut self, map: &mut Self::Map, from: Self::Node, line: usize) -> Option<()>;
    fn close_map(&mut self, map: Self::Map) -> Self::Node;

    /// How many bytes of JSON the node takes that was completed last, or a little more.
    fn length(&self, node: &Self::Node) -> usize;
    /// Copies a list or map for aliases.
    fn keep(&mut self, node: &Self::Node) -> Self::Kept;
    /// How many bytes of JSON [`Self::repeat`] adds.
    fn kept_length(&self, kept: &Self::Kept) -> usize;
    /// The same list or map in another place.
    fn repeat(&mut self, kept: &Self::Kept) -> Self::Node;

    /// The whole document, and a sentence for each repeated key in the order in which their values end.
    fn finish(&mut self, node: Self::Node) -> (Self::Document, Vec<String>);
}

/// A key as it is read.
#[derive(Clone, Debug)]
pub(super) struct Key<'a> {
    pub(super) text: Cow<'a, str>,
    /// It is a number or a boolean in YAML, and so it is shown without quotes.
    pub(super) bare: bool,
}

/// What is said of a repeated key. Go prints it: `"a"`, `5`, `true`.
pub(super) fn repeated(key: &str, bare: bool, line: usize) -> String {
    let key = if bare { key.to_owned() } else { schema::go_quote(key) };
    format!("line {line}: key {key} already set in map")
}
