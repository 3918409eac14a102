//! Values of live objects, in place of the references to them.

use super::{Malformed, each_text, replace};
use crate::value::Value;

/// Replaces references in the texts of a value by what `lookup` has for each, which is asked with all of its text, such as
/// `$(ref.b.status.ip)`, as often as that stands there; where it has nothing, the text stays.
///
/// A text that is one reference and nothing else becomes the value, with its type. Among other text a value becomes text:
/// strings as they are, numbers, booleans and null as in JSON, lists and maps as JSON. What comes in is never searched for
/// references. Keys of maps are not searched either: they stay as they are. There is no escape: a text in which a
/// reference begins has to be one.
///
/// A short text may bring in a long value many times. `lookup` sees each, and can count what it gives by [`Value::size`].
///
/// # Errors
/// The first thing that `lookup` says, or that a text begins like a reference and is none. Parts of the value are replaced
/// then and others are not, so that it is of no use.
pub fn substitute<E: From<Malformed>>(
    value: &mut Value,
    lookup: &mut dyn FnMut(&str) -> Result<Option<Value>, E>,
) -> Result<(), E> {
    let mut failed = None;
    each_text(value, &mut String::new(), &mut |value, _| {
        if failed.is_some() {
            return;
        }
        match replace(value.as_str().unwrap_or_default(), |reference| lookup(reference.text)) {
            Ok(None) => {}
            Ok(Some(new)) => *value = new,
            Err(error) => failed = Some(error),
        }
    });
    failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::references::{BEGIN, Piece, pieces, texts};

    /// What comes of JSON when these texts have these values.
    fn substituted(json: &str, values: &[(&str, &str)]) -> Result<String, Malformed> {
        let mut value = Value::from_json(json).unwrap();
        substitute(&mut value, &mut |text| {
            let found = values.iter().find(|(name, _)| *name == text);
            Ok::<_, Malformed>(found.map(|(_, json)| Value::from_json(json).unwrap()))
        })?;
        Ok(value.to_json())
    }

    #[track_caller]
    fn check(json: &str, want: &str) {
        let values = [
            ("$(ref.s.spec.clusterIP)", r#""10.0.0.7""#),
            ("$(ref.s.spec.ports[0].port)", "80"),
            ("$(ref.s.ok)", "true"),
            ("$(ref.s.nothing)", "null"),
            ("$(ref.s.ports)", r#"[80,{"name":"a\"b"}]"#),
            ("$(ref.s)", r#"{"kind":"Service"}"#),
            ("$(ref.evil.x)", r#""$(ref.s.spec.clusterIP)""#),
            ("$(ref.dollar.x)", r#""$""#),
        ];
        assert_eq!(substituted(json, &values).as_deref(), Ok(want));
    }

    #[test]
    fn a_reference_alone_takes_the_type_of_its_value() {
        check(
            r#"{"ip": "$(ref.s.spec.clusterIP)", "port": "$(ref.s.spec.ports[0].port)", "l": ["$(ref.s.ok)", "$(ref.s.nothing)"],
                "ports": "$(ref.s.ports)", "all": "$(ref.s)", "n": 5, "none": null}"#,
            r#"{"ip":"10.0.0.7","port":80,"l":[true,null],"ports":[80,{"name":"a\"b"}],"all":{"kind":"Service"},"n":5,"none":null}"#,
        );
        check(r#""$(ref.s.ok)""#, "true");
    }

    #[test]
    fn among_other_text_values_are_text() {
        check(
            r#""http://$(ref.s.spec.clusterIP):$(ref.s.spec.ports[0].port)/$(ref.s.ok)$(ref.s.nothing)""#,
            r#""http://10.0.0.7:80/truenull""#,
        );
        check(r#"" $(ref.s.ports)""#, r#"" [80,{\"name\":\"a\\\"b\"}]""#);
    }

    #[test]
    fn what_comes_in_is_not_searched() {
        check(
            r#"["$(ref.evil.x)", "a $(ref.evil.x)"]"#,
            r#"["$(ref.s.spec.clusterIP)","a $(ref.s.spec.clusterIP)"]"#,
        );
        // Neither is what it makes together with what stands behind it.
        check(r#""$(ref.dollar.x)(ref.s.ok)""#, r#""$(ref.s.ok)""#);
    }

    #[test]
    fn keys_and_what_nobody_looks_up_stay() {
        check(
            r#"{"$(ref.s.ok)": {"$(ref.open": "$(ref.other.x) $(ref.s.ok)"}, "$$(ref.s.ok)": "$(ref.other.x)"}"#,
            r#"{"$(ref.s.ok)":{"$(ref.open":"$(ref.other.x) true"},"$$(ref.s.ok)":"$(ref.other.x)"}"#,
        );
        check(r#"["$(NAME)", "$ref.s.ok", "$$(ref.s.ok)"]"#, r#"["$(NAME)","$ref.s.ok","$true"]"#);
    }

    #[test]
    fn what_begins_like_a_reference_and_is_none_is_an_error() {
        for text in ["$(ref.s.ok", "x $(ref.s)", "$(ref.s.ok) $(ref.)"] {
            let json = Value::from(text).to_json();
            let values = [("$(ref.s.ok)", "true")];
            assert_eq!(substituted(&json, &values), Err(Malformed(text.to_owned())));
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        #[derive(Debug)]
        struct Stop;
        impl From<Malformed> for Stop {
            fn from(_: Malformed) -> Self {
                Stop
            }
        }
        let mut value = Value::from_json(r#"["$(ref.a.b)", "$(ref.c.d)", "$(ref.e.f)"]"#).unwrap();
        let mut asked = Vec::new();
        let result = substitute(&mut value, &mut |text| {
            asked.push(text.to_owned());
            if text == "$(ref.c.d)" { Err(Stop) } else { Ok(None) }
        });
        assert!(result.is_err());
        assert_eq!(asked, ["$(ref.a.b)", "$(ref.c.d)"]);
    }

    /// Values whose texts and keys are made of the words of references.
    fn values() -> impl Strategy<Value = Value> {
        const WORDS: &[&str] = &[
            "$(ref.a.b)",
            "$(ref.c)",
            "$(ref.d.e[0].f)",
            "$(ref.",
            "$",
            "(ref.a.b)",
            ")",
            "x",
            "é",
            "$(NAME)",
        ];
        let text = || prop::collection::vec(select(WORDS), 0..4).prop_map(|words| words.concat());
        let leaf = prop_oneof![
            4 => text().prop_map(Value::String),
            1 => any::<bool>().prop_map(Value::Bool),
            1 => Just(Value::Null),
        ];
        leaf.prop_recursive(3, 20, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
                prop::collection::vec((text(), inner), 0..4)
                    .prop_map(|members| Value::Map(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_value_without_references_is_unchanged(value in values(), text: String) {
            let mut without = Value::List(vec![value, Value::String(text)]);
            each_text(&mut without, &mut String::new(), &mut |text, _| {
                *text = Value::String(text.as_str().unwrap_or_default().replace(BEGIN, "$(re.f"));
            });
            let mut same = without.clone();
            let asked: Result<(), Malformed> = substitute(&mut same, &mut |text| panic!("{text}"));
            prop_assert_eq!(asked, Ok(()));
            prop_assert_eq!(same, without);
        }

        #[test]
        fn each_reference_is_looked_up_once_and_what_it_brings_in_never(value in values()) {
            let injected = "$(ref.injected.x)";
            let (mut asked, mut wanted, mut whole, mut expected) = (Vec::new(), Vec::new(), true, Vec::new());
            texts(&value, &mut |text| match pieces(text) {
                Err(_) => whole = false,
                Ok(pieces) => expected.push(pieces.iter().map(|piece| match piece {
                    Piece::Text(text) => *text,
                    Piece::Reference(reference) => {
                        wanted.push(reference.text.to_owned());
                        injected
                    }
                }).collect::<String>()),
            });
            let mut result = value.clone();
            let done: Result<(), Malformed> = substitute(&mut result, &mut |text| {
                asked.push(text.to_owned());
                Ok(Some(Value::from(injected)))
            });
            prop_assert_eq!(done.is_ok(), whole);
            if whole {
                prop_assert_eq!(asked, wanted);
                let mut found = Vec::new();
                texts(&result, &mut |text| found.push(text.to_owned()));
                prop_assert_eq!(found, expected);
                let (mut before, mut after) = (value, result);
                for value in [&mut before, &mut after] {
                    each_text(value, &mut String::new(), &mut |text, _| *text = Value::Null);
                }
                prop_assert_eq!(before, after, "only texts change");
            }
        }
    }
}
