//! What the resources of a result need of each other.
//!
//! A reference that is left in a primitive is about another resource that has to be created first, and so is a name in
//! `metadata.dependsOn`. Names mean what they mean where they stand; output that was carried outwards is about a resource
//! that is not seen from there, and then every primitive of that name is meant.

use std::collections::{BTreeMap, BTreeSet};

use crate::circle;
use crate::error::{Cause, Failure, Problem, shown};
use crate::reference::{references, texts};
use crate::scope::Scopes;
use crate::tree::{Node, ROOT, Tree};
use crate::value::Value;

/// As many circles are named with as many members; who has more sees enough.
const NAMED: usize = 100;

/// Adds warnings about names that nobody has.
///
/// # Errors
/// When resources need each other in a circle; all of it is named.
pub(crate) fn check(tree: &mut Tree) -> Result<(), Failure> {
    let scopes = Scopes::of(tree);
    let mut graph = Graph::new(tree, &scopes);
    let mut warnings = Vec::new();
    for at in 1..tree.nodes.len() {
        if !tree.nodes[at].is_template {
            warnings.extend(graph.add(at).into_iter().map(|warning| (at, warning)));
        }
    }
    let circles = circle::order(&graph.needs).err().unwrap_or_default();
    Failure::unless_empty(circles.iter().map(|circle| graph.problem(circle)).collect())?;
    for (at, warning) in warnings {
        tree.nodes[at].warnings.push(warning);
    }
    Ok(())
}

struct Graph<'a> {
    tree: &'a Tree,
    scopes: &'a Scopes,
    /// What each node needs; a template needs what it consists of. Behind the nodes stand groups.
    needs: Vec<Vec<usize>>,
    /// All primitives of a name, as one thing that needs each of them.
    groups: BTreeMap<String, usize>,
}

impl<'a> Graph<'a> {
    fn new(tree: &'a Tree, scopes: &'a Scopes) -> Self {
        let children = |node: &Node| {
            if node.is_template { node.children.clone().collect() } else { Vec::new() }
        };
        let mut needs: Vec<Vec<usize>> = tree.nodes.iter().map(children).collect();
        let mut groups = BTreeMap::new();
        for (at, node) in
            tree.nodes.iter().enumerate().skip(1).filter(|(_, node)| !node.is_template)
        {
            let group = *groups.entry(node.name()).or_insert(needs.len());
            if group == needs.len() {
                needs.push(Vec::new());
            }
            needs[group].push(at);
        }
        Self { tree, scopes, needs, groups }
    }

    /// Adds what a primitive needs, and says what is odd about it.
    fn add(&mut self, at: usize) -> BTreeSet<String> {
        let (tree, scopes) = (self.tree, self.scopes);
        let node = &tree.nodes[at];
        let (mut needs, mut warnings) = (BTreeSet::new(), BTreeSet::new());
        for value in ["name", "type", "metadata", "properties"]
            .iter()
            .filter_map(|key| node.resource.get(*key))
        {
            texts(value, &mut |text| {
                for reference in references(text).unwrap_or_default() {
                    let name = reference.name;
                    match scopes.bind(tree, node.parent, reference.text, name) {
                        Some(other) if tree.nodes[other].is_template => {
                            let message = "refers to a template, of which there are no outputs";
                            warnings.insert(format!("{} {message}", shown(reference.text)));
                        }
                        Some(other) => _ = needs.insert(other),
                        None => match self.groups.get(name) {
                            Some(&group) => _ = needs.insert(group),
                            None => _ = warnings.insert(unknown(reference.text)),
                        },
                    }
                }
            });
        }
        for name in depends_on(node) {
            match scopes
                .bind(tree, node.parent, "", name)
                .or_else(|| self.groups.get(name).copied())
            {
                Some(other) => _ = needs.insert(other),
                None => _ = warnings.insert(unknown(name)),
            }
        }
        self.needs[at].extend(needs);
        warnings
    }

    fn problem(&self, circle: &[usize]) -> Problem {
        let is_primitive =
            |at: &&usize| self.tree.nodes.get(**at).is_some_and(|node| !node.is_template);
        let members: Vec<usize> = circle.iter().filter(is_primitive).copied().collect();
        let name = |&at: &usize| shown(&self.tree.nodes[at].name()).into_owned();
        let mut way: Vec<String> = members.iter().take(NAMED).map(name).collect();
        if members.len() > NAMED {
            way.push("…".to_owned());
        }
        way.extend(members.first().map(name));
        let message = format!("Resources need each other in a circle: {}", way.join(" -> "));
        let first = members.first().copied().unwrap_or(ROOT);
        let node = &self.tree.nodes[first];
        let problem = Problem::new(Cause::Reference, message).in_file(self.tree.file(node.parent));
        Problem { line: node.line, ..problem.at(self.tree.place(first)) }
    }
}

fn unknown(what: &str) -> String {
    format!("{} refers to a resource that is not there", shown(what))
}

/// The names in `metadata.dependsOn`.
fn depends_on(node: &Node) -> impl Iterator<Item = &str> {
    let metadata = node.resource.get("metadata");
    let names = metadata.and_then(|it| it.get("dependsOn")).and_then(Value::as_list);
    names.unwrap_or_default().iter().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use crate::scope::testing::tree;

    fn check(resources: &[(usize, &str)]) -> Result<String, String> {
        let mut tree = tree(resources);
        super::check(&mut tree).map_err(|failure| failure.to_string())?;
        let warnings: Vec<_> = tree.nodes.iter().flat_map(|node| node.warnings.clone()).collect();
        Ok(warnings.join("; "))
    }

    #[test]
    fn a_circle_is_named_in_full() {
        let circle = check(&[
            (0, r#"{"name": "a", "type": "P", "properties": {"x": ["to $(ref.b.ip)"]}}"#),
            (0, r#"{"name": "b", "type": "P", "metadata": {"dependsOn": ["c"]}}"#),
            (0, r#"{"name": "c", "type": "P-$(ref.a.type)"}"#),
        ]);
        let want =
            "config: Resources need each other in a circle: a -> b -> c -> a (in config > a)";
        assert_eq!(circle, Err(want.to_owned()));
        let itself = check(&[(0, r#"{"name": "a", "type": "P", "properties": "$(ref.a.x)"}"#)]);
        let want = "config: Resources need each other in a circle: a -> a (in config > a)";
        assert_eq!(itself, Err(want.to_owned()));
    }

    #[test]
    fn names_mean_what_they_mean_in_their_scope() {
        let pair = |x: &str, y: &str| {
            format!(r#"{{"name": "{x}", "type": "P", "properties": {{"v": "$(ref.{y}.v)"}}}}"#)
        };
        let (there, back) = (pair("x", "y"), pair("y", "x"));
        let scopes = check(&[
            (0, r#"{"name": "t", "type": "t.py"}"#),
            (0, r#"{"name": "u", "type": "u.py"}"#),
            (1, &there),
            (1, r#"{"name": "y", "type": "P"}"#),
            (2, r#"{"name": "x", "type": "P"}"#),
            (2, &back),
        ]);
        assert_eq!(scopes, Ok(String::new()), "x needs y in one, y needs x in the other");
    }

    #[test]
    fn a_name_that_is_not_seen_means_all_of_that_name() {
        let circle = check(&[
            (0, r#"{"name": "a", "type": "P", "properties": {"v": "$(ref.x.addr)"}}"#),
            (0, r#"{"name": "t", "type": "t.py"}"#),
            (2, r#"{"name": "x", "type": "P", "properties": {"v": "$(ref.a.id)"}}"#),
        ]);
        assert!(circle.unwrap_err().contains("a -> x -> a"));
    }

    #[test]
    fn to_need_a_template_is_to_need_what_it_consists_of() {
        let resources = [
            (0, r#"{"name": "a", "type": "P", "metadata": {"dependsOn": ["t"]}}"#),
            (0, r#"{"name": "t", "type": "t.py"}"#),
            (2, r#"{"name": "x", "type": "P"}"#),
        ];
        assert_eq!(check(&resources), Ok(String::new()));
        let back = (2, r#"{"name": "x", "type": "P", "metadata": {"dependsOn": ["a"]}}"#);
        let circle = check(&[resources[0], resources[1], back]).unwrap_err();
        assert!(circle.contains("circle: a -> x -> a"), "{circle}");
    }

    #[test]
    fn names_that_nobody_has_are_odd() {
        let odd = check(&[
            (
                0,
                r#"{"name": "a", "type": "P", "properties": ["$(ref.zz.x)", "$(ref.t.x)", "$(ref.open"]}"#,
            ),
            (0, r#"{"name": "t", "type": "t.py"}"#),
            (0, r#"{"name": "b", "type": "P", "metadata": {"dependsOn": ["yy", 5]}}"#),
        ]);
        let want = "$(ref.t.x) refers to a template, of which there are no outputs; \
                    $(ref.zz.x) refers to a resource that is not there; \
                    yy refers to a resource that is not there";
        assert_eq!(odd, Ok(want.to_owned()));
    }
}
