//! The tree of an expansion: the configuration, its resources, and theirs.
//!
//! Nodes lie in one list, parents before their children and siblings side by side, so that whoever walks the tree needs
//! no recursion: forwards every node comes after its parent, backwards after its children.

use std::ops::Range;

use crate::error::{Place, QUOTED};
use crate::expanded::Output;
use crate::value::{Map, Value};

/// The nodes; the first is the configuration.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
}

/// The configuration or a resource.
#[derive(Debug)]
pub(crate) struct Node {
    /// Position of the node whose list this stands in; the configuration is its own.
    pub(crate) parent: usize,
    /// How many templates this stands in.
    pub(crate) depth: usize,
    /// The line of the configuration where it stands, if it stands there and that is known.
    pub(crate) line: Option<u32>,
    /// The resource as it was written, its properties as the schema and the template left them.
    pub(crate) resource: Map,
    /// Whether it is a template, as far as that is known by now.
    pub(crate) is_template: bool,
    /// Positions of what it consists of.
    pub(crate) children: Range<usize>,
    /// What it says to others.
    pub(crate) outputs: Vec<Output>,
    /// What is odd about it.
    pub(crate) warnings: Vec<String>,
}

/// The position of the configuration.
pub(crate) const ROOT: usize = 0;

impl Tree {
    /// A configuration without resources.
    pub(crate) fn new() -> Self {
        Self { nodes: vec![Node::new(ROOT, 0, Map::new())] }
    }

    /// Appends what the node at `parent` consists of, which must not have been done before.
    pub(crate) fn append(&mut self, parent: usize, resources: Vec<Map>) -> Range<usize> {
        let start = self.nodes.len();
        let depth = self.nodes[parent].depth + usize::from(parent != ROOT);
        self.nodes.extend(resources.into_iter().map(|map| Node::new(parent, depth, map)));
        let children = start..self.nodes.len();
        self.nodes[parent].children = children.clone();
        children
    }

    /// Where the node is.
    pub(crate) fn place(&self, mut at: usize) -> Place {
        let mut steps = Vec::new();
        while at != ROOT {
            let node = &self.nodes[at];
            let template = node.is_template.then(|| node.kind().to_owned());
            steps.push((cut(node.name()), template.map(cut)));
            at = node.parent;
        }
        steps.reverse();
        Place { steps }
    }

    /// The nodes in the order of the document: a node before its children, those before its next sibling.
    pub(crate) fn in_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut open = vec![ROOT];
        while let Some(at) = open.pop() {
            order.push(at);
            open.extend(self.nodes[at].children.clone().rev());
        }
        order
    }

    /// For each node which of the primitives are in it, by their positions among all of them in the order of the document.
    pub(crate) fn ranges(&self) -> Vec<Range<usize>> {
        let mut ranges = vec![0..0; self.nodes.len()];
        let mut count = 0;
        for at in self.in_order() {
            let is_primitive = at != ROOT && !self.nodes[at].is_template;
            ranges[at] = count..count + usize::from(is_primitive);
            count = ranges[at].end;
        }
        for at in (1..self.nodes.len()).rev() {
            let parent = self.nodes[at].parent;
            ranges[parent].end = ranges[parent].end.max(ranges[at].end);
        }
        ranges
    }

    /// Where the node is in the layout: its position in the list of each node on the way there.
    pub(crate) fn steps(&self, mut at: usize) -> Vec<usize> {
        let mut steps = Vec::new();
        while at != ROOT {
            let parent = self.nodes[at].parent;
            steps.push(at - self.nodes[parent].children.start);
            at = parent;
        }
        steps.reverse();
        steps
    }

    /// What the lists of a node are called in messages: the configuration, or its template.
    pub(crate) fn file(&self, at: usize) -> &str {
        if at == ROOT { "config" } else { self.nodes[at].kind() }
    }
}

/// A name as far as a place shows it, and a little more, so that it shows that it is longer. A name may be megabytes, and
/// each of ten thousand problems says in which resource it is.
fn cut(mut name: String) -> String {
    if let Some((end, _)) = name.char_indices().nth(2 * QUOTED) {
        name.truncate(end);
        name.shrink_to_fit();
    }
    name
}

impl Node {
    fn new(parent: usize, depth: usize, resource: Map) -> Self {
        let (children, outputs, warnings) = (0..0, Vec::new(), Vec::new());
        let (line, is_template) = (None, false);
        Self { parent, depth, line, resource, is_template, children, outputs, warnings }
    }

    /// Its name, which may be a number or nothing.
    pub(crate) fn name(&self) -> String {
        match self.resource.get("name") {
            Some(Value::String(name)) => name.clone(),
            Some(other) => other.repr(),
            None => String::new(),
        }
    }

    /// Its type; empty where that is no text, which no template's is.
    pub(crate) fn kind(&self) -> &str {
        self.resource.get("type").and_then(Value::as_str).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(name: &str, kind: &str) -> Map {
        [("name".to_owned(), name.into()), ("type".to_owned(), kind.into())].into_iter().collect()
    }

    #[test]
    fn a_place_is_the_way_from_the_configuration() {
        let mut tree = Tree::new();
        let first = tree.append(ROOT, vec![resource("a", "P"), resource("rs", "rs.py")]);
        tree.nodes[2].is_template = true;
        let second = tree.append(2, vec![resource("rc", "P")]);
        assert_eq!((first, second), (1..3, 3..4));
        assert_eq!(tree.place(3).to_string(), "config > rs (rs.py) > rc");
        assert_eq!(tree.place(ROOT).to_string(), "config");
        assert_eq!(tree.nodes.iter().map(|node| node.depth).collect::<Vec<_>>(), [0, 0, 0, 1]);
        assert_eq!((tree.file(ROOT), tree.file(2)), ("config", "rs.py"));
    }

    #[test]
    fn primitives_of_a_node_stand_side_by_side() {
        let mut tree = Tree::new();
        tree.append(ROOT, vec![resource("t", "t.py"), resource("a", "P"), resource("e", "e.py")]);
        tree.append(1, vec![resource("b", "P"), resource("u", "u.py"), resource("c", "P")]);
        tree.append(5, vec![resource("d", "P")]);
        for at in [1, 3, 5] {
            tree.nodes[at].is_template = true;
        }
        assert_eq!(tree.in_order(), [0, 1, 4, 5, 7, 6, 2, 3]);
        assert_eq!(
            (tree.steps(7), tree.steps(2), tree.steps(ROOT)),
            (vec![0, 1, 0], vec![1], vec![])
        );
        assert_eq!(tree.ranges(), [0..4, 0..3, 3..4, 4..4, 0..1, 1..2, 2..3, 1..2]);
    }

    #[test]
    fn a_place_keeps_no_more_of_a_name_than_it_shows() {
        let mut tree = Tree::new();
        tree.append(ROOT, vec![resource(&"é".repeat(1 << 20), "P")]);
        let place = tree.place(1);
        assert_eq!(place.to_string(), format!("config > {}…", "é".repeat(QUOTED)));
        assert_eq!(place.steps[0].0.len(), 2 * 2 * QUOTED);
    }

    #[test]
    fn a_name_may_be_a_number_or_nothing() {
        let mut tree = Tree::new();
        let mut number = resource("", "P");
        number.insert("name".to_owned(), Value::from_json("5").unwrap());
        let mut nothing = resource("", "P");
        nothing.insert("name".to_owned(), Value::Null);
        tree.append(ROOT, vec![number, nothing]);
        assert_eq!(tree.place(1).to_string(), "config > 5");
        assert_eq!(tree.place(2).to_string(), "config > None");
    }
}
