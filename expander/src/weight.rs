//! How big a value is, roughly: what moves work off the server's threads, and what the cache counts.

use expansion::{Expanded, Link, Links, Outcome, Rendered, Target, Value};

/// What a value costs beside its text.
const NODE: usize = 32;

/// About how many bytes of memory a value takes.
pub(crate) fn of(value: &Value) -> usize {
    NODE + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::List(list) => list.iter().map(of).sum(),
        Value::Map(map) => map.iter().map(|(key, value)| NODE + key.len() + of(value)).sum(),
    }
}

/// About how many bytes of YAML are to be read: a reader follows aliases, which may copy so many.
pub(crate) fn of_yaml(text: &str) -> usize {
    const COPIED: usize = 4 << 20;
    let has_aliases = text.contains('&') && text.contains('*');
    text.len() + if has_aliases { COPIED } else { 0 }
}

/// The same for a result.
pub(crate) fn of_expanded(expanded: &Expanded) -> usize {
    let Expanded { resources, layout, outputs, links, output_links, layout_links, warnings } =
        expanded;
    let values = resources.iter().chain(layout).chain(outputs.iter().map(|output| &output.value));
    let warnings: usize = warnings.iter().map(|warning| 64 + warning.message.len()).sum();
    let links: usize = links.iter().map(of_links).sum();
    let in_layout = layout_links.iter().map(|at| of_all(&at.place) + of_references(&at.references));
    values.map(of).sum::<usize>()
        + warnings
        + links
        + of_references(output_links)
        + in_layout.sum::<usize>()
}

/// The same for what a resource needs and refers to.
fn of_links(links: &Links) -> usize {
    let Links { needs, references, missing } = links;
    let missing: usize = missing.iter().map(|name| NODE + name.len()).sum();
    size_of::<Links>() + of_all(needs) + of_references(references) + missing
}

fn of_references(references: &[Link]) -> usize {
    let one = |link: &Link| {
        let Link { text, target, path } = link;
        let name = if let Target::Deployment(name) = target { name.len() } else { 0 };
        size_of::<Link>() + text.len() + name + path.as_ref().map_or(0, String::len)
    };
    references.iter().map(one).sum()
}

fn of_all(positions: &[usize]) -> usize {
    size_of_val(positions)
}

/// The same for what a template gave.
pub(crate) fn of_outcome(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Rendered(Rendered::Text { text, properties, .. }) => {
            of_yaml(text) + properties.as_ref().map_or(0, of)
        }
        Outcome::Rendered(Rendered::Data { value, properties }) => {
            of(value) + properties.as_ref().map_or(0, of)
        }
        Outcome::Failed(fault) => fault.message.len(),
    }
}

#[cfg(test)]
mod tests {
    use expansion::LayoutLinks;

    use super::*;

    #[test]
    fn what_resources_need_of_each_other_weighs_as_well() {
        let link = Link {
            text: "x".repeat(1_000),
            target: Target::Deployment("y".repeat(500)),
            path: Some("z".repeat(400)),
        };
        let links = Links {
            needs: vec![0; 100],
            references: vec![link.clone()],
            missing: vec!["n".repeat(300)],
        };
        let place = LayoutLinks { place: vec![0; 10], references: vec![link.clone()] };
        let expanded = Expanded {
            links: vec![links],
            output_links: vec![link],
            layout_links: vec![place],
            ..Expanded::default()
        };
        let texts = 3 * (1_000 + 500 + 400) + 300 + 110 * size_of::<usize>();
        let weight = of_expanded(&expanded);
        assert!((texts..texts + 1_000).contains(&weight), "{weight} for {texts}");
    }

    #[test]
    fn a_few_aliases_weigh_as_much_as_they_may_copy() {
        assert_eq!(of_yaml("a: 1"), 4);
        assert_eq!(of_yaml("a: 2 * 3"), 8);
        assert!(of_yaml("a: &a [x]\nb: [*a, *a]") > 1 << 20);
    }
}
