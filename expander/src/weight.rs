//! How big a value is, roughly: what moves work off the server's threads, and what the cache counts.

use expansion::{Expanded, Outcome, Rendered, Value};

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
    let Expanded { resources, layout, outputs, warnings } = expanded;
    let values = resources.iter().chain(layout).chain(outputs.iter().map(|output| &output.value));
    let warnings: usize = warnings.iter().map(|warning| 64 + warning.message.len()).sum();
    values.map(of).sum::<usize>() + warnings
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
    use super::*;

    #[test]
    fn a_few_aliases_weigh_as_much_as_they_may_copy() {
        assert_eq!(of_yaml("a: 1"), 4);
        assert_eq!(of_yaml("a: 2 * 3"), 8);
        assert!(of_yaml("a: &a [x]\nb: [*a, *a]") > 1 << 20);
    }
}
