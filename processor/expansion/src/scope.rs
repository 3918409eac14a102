//! Which resource a name means.
//!
//! Every list of resources is a scope: the configuration's own, and what each template gave. A name means the resource of
//! the nearest scope that has it, seen from where the reference stands. A reference that came to a template in its
//! properties was written further out, and means what it means there.

use std::collections::{BTreeMap, BTreeSet};

use crate::references::{references, texts};
use crate::tree::{ROOT, Tree};

/// The names of a tree. A scope goes by the position of the node that it belongs to.
#[derive(Debug)]
pub(crate) struct Scopes {
    /// By name: the scopes that have it, and which resource it is there.
    names: BTreeMap<String, BTreeMap<usize, usize>>,
    /// For each template the references in its properties, which it may have passed on.
    passed: BTreeMap<usize, BTreeSet<String>>,
}

impl Scopes {
    /// The names of a tree that is complete.
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut scopes = Self { names: BTreeMap::new(), passed: BTreeMap::new() };
        for (at, node) in tree.nodes.iter().enumerate().skip(1) {
            scopes.names.entry(node.name()).or_default().insert(node.parent, at);
            if let (true, Some(properties)) = (node.is_template, node.resource.get("properties")) {
                let mut passed = BTreeSet::new();
                texts(properties, &mut |text| {
                    let found = references(text).unwrap_or_default();
                    passed.extend(found.into_iter().map(|reference| reference.text.to_owned()));
                });
                if !passed.is_empty() {
                    scopes.passed.insert(at, passed);
                }
            }
        }
        scopes
    }

    /// The resource that a reference means which stands in the list of `scope`.
    pub(crate) fn bind(&self, tree: &Tree, scope: usize, text: &str, name: &str) -> Option<usize> {
        let scopes = self.names.get(name)?;
        let mut otherwise = None;
        let mut at = scope;
        loop {
            let found = scopes.get(&at).copied();
            let is_passed = || self.passed.get(&at).is_some_and(|passed| passed.contains(text));
            if found.is_some() && !is_passed() {
                return found;
            }
            otherwise = otherwise.or(found);
            if at == ROOT {
                return otherwise;
            }
            at = tree.nodes[at].parent;
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{ROOT, Tree};
    use crate::value::Value;

    /// A tree of resources, each with its parent's position; those of one parent stand together. Whatever has a type that
    /// ends in .py is a template.
    pub(crate) fn tree(resources: &[(usize, &str)]) -> Tree {
        let mut tree = Tree::new();
        for group in resources.chunk_by(|a, b| a.0 == b.0) {
            let map = |(_, json): &(usize, &str)| {
                Value::from_json(json).unwrap().as_map().cloned().unwrap()
            };
            tree.append(group[0].0, group.iter().map(map).collect());
        }
        for node in &mut tree.nodes[ROOT + 1..] {
            node.is_template = node.kind().ends_with(".py");
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::testing::tree;
    use super::*;

    #[test]
    fn a_name_means_the_resource_of_the_nearest_scope() {
        let tree = tree(&[
            (0, r#"{"name": "a", "type": "P"}"#),
            (0, r#"{"name": "t", "type": "t.py"}"#),
            (2, r#"{"name": "a", "type": "P"}"#),
            (2, r#"{"name": "u", "type": "u.py"}"#),
            (4, r#"{"name": "x", "type": "P"}"#),
        ]);
        let scopes = Scopes::of(&tree);
        let bind = |scope, name: &str| scopes.bind(&tree, scope, &format!("$(ref.{name}.v)"), name);
        assert_eq!(bind(0, "a"), Some(1));
        assert_eq!((bind(2, "a"), bind(4, "a")), (Some(3), Some(3)));
        assert_eq!((bind(4, "t"), bind(4, "x")), (Some(2), Some(5)));
        assert_eq!((bind(0, "x"), bind(4, "nobody")), (None, None));
    }

    #[test]
    fn what_was_passed_to_a_template_means_what_it_meant_outside() {
        let tree = tree(&[
            (0, r#"{"name": "a", "type": "P"}"#),
            (
                0,
                r#"{"name": "t", "type": "t.py", "properties": {"x": ["$(ref.a.ip)", "$(ref.b.ip)"]}}"#,
            ),
            (2, r#"{"name": "a", "type": "P"}"#),
            (2, r#"{"name": "b", "type": "P"}"#),
        ]);
        let scopes = Scopes::of(&tree);
        assert_eq!(scopes.bind(&tree, 2, "$(ref.a.ip)", "a"), Some(1));
        assert_eq!(scopes.bind(&tree, 2, "$(ref.a.port)", "a"), Some(3));
        assert_eq!(scopes.bind(&tree, 2, "$(ref.b.ip)", "b"), Some(4), "nobody else is called b");
    }
}
