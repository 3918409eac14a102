//! JSON text under construction, for generated templates.

use serde_json::Value;

/// A value: members keep their order and may repeat.
#[derive(Debug, Clone)]
pub(crate) enum Tree {
    Raw(&'static str),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

/// Spells a tree: with `odd`, with white space and needless escapes.
pub(crate) fn spell(tree: &Tree, odd: bool, out: &mut String) {
    let gap = if odd { " \n" } else { "" };
    match tree {
        Tree::Raw(raw) => out.push_str(raw),
        Tree::Text(text) => spell_text(text, odd, out),
        Tree::List(list) => {
            out.push('[');
            for (index, element) in list.iter().enumerate() {
                out.push_str(if index == 0 { gap } else { "," });
                spell(element, odd, out);
                out.push_str(gap);
            }
            out.push(']');
        }
        Tree::Map(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                out.push_str(if index == 0 { gap } else { "," });
                spell_text(key, odd, out);
                out.push_str(gap);
                out.push(':');
                out.push_str(gap);
                spell(value, odd, out);
                out.push_str(gap);
            }
            out.push('}');
        }
    }
}

fn spell_text(text: &str, odd: bool, out: &mut String) {
    if !odd {
        out.push_str(&Value::from(text).to_string());
        return;
    }
    out.push('"');
    for unit in text.encode_utf16() {
        match char::from_u32(u32::from(unit)) {
            Some(c @ ('a'..='z' | '{' | '}')) => out.push(c),
            Some('\\') => out.push_str("\\\\"),
            Some('"') => out.push_str("\\\""),
            _ => out.push_str(&format!("\\u{unit:04X}")),
        }
    }
    out.push('"');
}
