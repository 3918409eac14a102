//! Where references were written that outputs carried elsewhere.
//!
//! An output may speak of a resource of its template. Where it comes in, another resource may have that name, or none; the
//! text alone says nothing of this. So it is remembered for each place that something was brought to. The same text may
//! have come there from several lists, or have stood there before.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Tree;

/// What it costs to remember a text that has one scope, beside the text itself, which is in a value as well.
const TEXT: usize = 96;

/// What each further scope costs, every time: a short text may have many.
const SCOPE: usize = 16;

/// Where references stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holder {
    /// In the properties of the primitive at this position.
    Properties(usize),
    /// In an output of the node at this position; the number of the output.
    Output(usize, usize),
}

impl Holder {
    /// The node in whose list that is written which stands there from the beginning.
    pub(crate) fn scope(self, tree: &Tree) -> usize {
        match self {
            Holder::Properties(at) => tree.nodes[at].parent,
            Holder::Output(node, _) => node,
        }
    }
}

/// The scopes of what was brought, by where it is and its text.
#[derive(Debug, Default)]
pub(crate) struct Origins(BTreeMap<Holder, BTreeMap<String, BTreeSet<usize>>>);

impl Origins {
    /// The scopes of a text that was brought there.
    pub(crate) fn of(&self, holder: Holder, text: &str) -> Option<&BTreeSet<usize>> {
        self.0.get(&holder)?.get(text)
    }

    /// Remembers that an output of a template brings a text, and says about how many bytes that takes.
    #[must_use]
    pub(crate) fn carry(&mut self, text: &str, from: (usize, usize), to: Holder) -> usize {
        let scopes = self.of(Holder::Output(from.0, from.1), text).cloned();
        let scopes = scopes.unwrap_or_else(|| BTreeSet::from([from.0]));
        let more = (scopes.len() - 1) * SCOPE;
        let texts = self.0.entry(to).or_default();
        if let Some(known) = texts.get_mut(text) {
            known.extend(scopes);
            return more;
        }
        texts.insert(text.to_owned(), scopes);
        TEXT + more
    }

    /// Remembers which texts stood there from the beginning, in the list of `scope`, when nothing more comes.
    pub(crate) fn stay(&mut self, holder: Holder, scope: usize, stayed: &BTreeSet<String>) {
        for (text, scopes) in self.0.get_mut(&holder).into_iter().flatten() {
            if stayed.contains(text) {
                scopes.insert(scope);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expanded::Output;
    use crate::links::{Link, Target};
    use crate::scope::testing::tree;
    use crate::value::Value;
    use crate::{graph, outputs};

    /// What each primitive refers to, and in the end the outputs of the configuration, when outputs are where they belong;
    /// and how much was spent on it.
    fn linked(resources: &[(usize, &str)], outputs: &[(usize, &str)]) -> (Vec<String>, usize) {
        let mut tree = tree(resources);
        for (node, json) in outputs {
            let Ok(Value::Map(map)) = Value::from_json(json) else { panic!("{json}") };
            let outputs = map.into_iter().map(|(name, value)| Output { name, value });
            tree.nodes[*node].outputs.extend(outputs);
        }
        let mut spent = 0;
        let mut spend = |bytes| {
            spent += bytes;
            Ok(())
        };
        let origins = outputs::resolve(&mut tree, &mut spend).unwrap();
        let linked = graph::link(&mut tree, &origins, &mut |_| Ok(())).unwrap();
        let shown = |links: &[Link]| links.iter().map(one).collect::<Vec<_>>().join(" ");
        let mut all: Vec<_> = linked
            .resources
            .iter()
            .map(|links| format!("{:?} {}", links.needs, shown(&links.references)))
            .collect();
        all.push(shown(&linked.outputs));
        (all, spent)
    }

    fn one(link: &Link) -> String {
        match &link.target {
            Target::Resource(at) => format!("{}={at}", link.text),
            other => format!("{}={other:?}", link.text),
        }
    }

    #[track_caller]
    fn check(resources: &[(usize, &str)], outputs: &[(usize, &str)], want: &[&str]) {
        assert_eq!(linked(resources, outputs).0, want);
    }

    const SERVICE: &str = r#"{"name": "svc", "type": "P"}"#;
    const IP: &str = r#"{"ip": "$(ref.svc.ip)"}"#;

    #[test]
    fn what_an_output_speaks_of_is_a_resource_of_its_template() {
        check(
            &[
                (0, SERVICE),
                (0, r#"{"name": "p", "type": "P", "properties": "http://$(ref.t.ip)"}"#),
                (0, r#"{"name": "all", "type": "P", "properties": "$(ref.t)"}"#),
                (0, r#"{"name": "t", "type": "t.py"}"#),
                (4, SERVICE),
            ],
            &[(4, IP), (0, r#"{"o": "$(ref.t.ip)"}"#)],
            &["[] ", "[3] $(ref.svc.ip)=3", "[3] $(ref.svc.ip)=3", "[] ", "$(ref.svc.ip)=3"],
        );
    }

    #[test]
    fn a_text_of_several_origins_is_ambiguous_only_where_they_meet() {
        let uses = |name: &str, text: &str| {
            format!(r#"{{"name": "{name}", "type": "P", "properties": {text}}}"#)
        };
        let (p, q) = (uses("p", r#""$(ref.t.ip)""#), uses("q", r#""$(ref.u.ip)""#));
        let both = uses("both", r#"["$(ref.t.ip)", "$(ref.u.ip)"]"#);
        let own = uses("own", r#"["$(ref.svc.ip)", "$(ref.t.ip)"]"#);
        let part = uses("part", r#"["$(ref.svc.port)", "$(ref.t.ip)"]"#);
        check(
            &[
                (0, &p),
                (0, &q),
                (0, &both),
                (0, &own),
                (0, &part),
                (0, r#"{"name": "t", "type": "t.py"}"#),
                (0, r#"{"name": "u", "type": "u.py"}"#),
                (0, SERVICE),
                (6, SERVICE),
                (7, SERVICE),
            ],
            &[(6, IP), (7, IP)],
            &[
                "[5] $(ref.svc.ip)=5",
                "[6] $(ref.svc.ip)=6",
                "[5, 6] $(ref.svc.ip)=Ambiguous",
                "[5, 7] $(ref.svc.ip)=Ambiguous",
                "[5, 7] $(ref.svc.ip)=5 $(ref.svc.port)=7",
                "[] ",
                "[] ",
                "[] ",
                "",
            ],
        );
    }

    #[test]
    fn nothing_is_brought_into_metadata() {
        let json = r#"{"name": "p", "type": "P", "metadata": {"note": "$(ref.svc.ip)"}, "properties": "$(ref.t.ip)"}"#;
        check(
            &[(0, json), (0, r#"{"name": "t", "type": "t.py"}"#), (0, SERVICE), (2, SERVICE)],
            &[(2, IP)],
            &["[1, 2] $(ref.svc.ip)=Ambiguous", "[] ", "[] ", ""],
        );
    }

    #[test]
    fn the_origin_is_kept_from_output_to_output_and_downwards() {
        // The output of i goes out by way of o, and from there into d, which passes on what it was given.
        check(
            &[
                (0, r#"{"name": "o", "type": "o.py"}"#),
                (0, r#"{"name": "d", "type": "d.py", "properties": {"given": "$(ref.o.ip)"}}"#),
                (0, SERVICE),
                (1, r#"{"name": "i", "type": "i.py"}"#),
                (1, SERVICE),
                (2, SERVICE),
                (2, r#"{"name": "p", "type": "P", "properties": "at $(ref.o.ip)"}"#),
                (4, SERVICE),
            ],
            &[
                (1, r#"{"ip": ["$(ref.i.ip)"]}"#),
                (4, IP),
                (0, r#"{"a": "$(ref.svc.ip)", "b": "$(ref.o.ip[0])"}"#),
            ],
            &["[] ", "[] ", "[] ", "[0] $(ref.svc.ip)=0", "[] ", "$(ref.svc.ip)=Ambiguous"],
        );
    }

    #[test]
    fn what_comes_of_putting_texts_together_was_written_there() {
        check(
            &[
                (0, r#"{"name": "p", "type": "P", "properties": "$(ref.t.dollar)(ref.svc.ip)"}"#),
                (0, r#"{"name": "t", "type": "t.py"}"#),
                (0, SERVICE),
                (2, SERVICE),
            ],
            &[(2, r#"{"dollar": "$"}"#)],
            &["[2] $(ref.svc.ip)=2", "[] ", "[] ", ""],
        );
    }

    #[test]
    fn to_remember_a_text_is_spent_once_for_each_place() {
        let spent = |uses: &str| {
            let p = format!(r#"{{"name": "p", "type": "P", "properties": {uses}}}"#);
            linked(&[(0, &p), (0, r#"{"name": "t", "type": "t.py"}"#), (2, SERVICE)], &[(2, IP)]).1
        };
        let value = Value::from("$(ref.svc.ip)").size();
        assert_eq!(spent(r#""$(ref.t.ip)""#), value + TEXT);
        assert_eq!(spent(r#"["$(ref.t.ip)", "$(ref.t.ip)"]"#), 2 * value + TEXT);
    }

    #[test]
    fn a_text_of_many_origins_costs_as_many_each_time() {
        // One text that came from three lists goes to a primitive in two places.
        let mut origins = Origins::default();
        for node in 1..=3 {
            assert_eq!(
                origins.carry("$(ref.x.y)", (node, 0), Holder::Output(9, 0)),
                if node == 1 { TEXT } else { 0 }
            );
        }
        let mut carry = || origins.carry("$(ref.x.y)", (9, 0), Holder::Properties(5));
        assert_eq!((carry(), carry()), (TEXT + 2 * SCOPE, 2 * SCOPE));
        assert_eq!(
            origins.of(Holder::Properties(5), "$(ref.x.y)"),
            Some(&BTreeSet::from([1, 2, 3]))
        );
    }
}
