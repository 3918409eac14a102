//! Straight into values is as by way of JSON text.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// JSON text, as the same reader makes it.
#[derive(Clone, Debug)]
enum Json {
    Map(Vec<(String, Json)>),
    List(Vec<Json>),
    Scalar(String),
}

impl Json {
    fn text(&self) -> String {
        match self {
            Json::Scalar(text) => text.clone(),
            Json::List(items) => {
                format!("[{}]", items.iter().map(Json::text).collect::<Vec<_>>().join(","))
            }
            Json::Map(members) => {
                let member = |(key, value): &(String, Json)| {
                    format!("{}:{}", serde_json::to_string(key).unwrap(), value.text())
                };
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl Tree for Json {
    type Members = Vec<(String, Self)>;

    fn scalar(scalar: Scalar<'_>) -> Self {
        Json::Scalar(match scalar {
            Scalar::Null => "null".to_owned(),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Int(value) => value.to_string(),
            Scalar::Uint(value) => value.to_string(),
            Scalar::Float(value) => format!("{value:?}"),
            Scalar::Text(text) => serde_json::to_string(&text).unwrap(),
        })
    }

    fn list(items: Vec<Self>) -> Self {
        Json::List(items)
    }

    fn map(members: Self::Members) -> Self {
        Json::Map(members)
    }

    /// Leaves repeated keys to whoever reads the text.
    fn insert(map: &mut Self::Members, key: String, value: Self) -> Option<&str> {
        let known = map.iter().any(|(known, _)| *known == key);
        map.push((key, value));
        map.last().filter(|_| known).map(|(key, _)| key.as_str())
    }

    fn into_list(self) -> Result<Vec<Self>, Self> {
        if let Json::List(items) = self { Ok(items) } else { Err(self) }
    }

    fn into_map(self) -> Option<Self::Members> {
        if let Json::Map(members) = self { Some(members) } else { None }
    }

    fn json_length(&self) -> usize {
        self.text().len()
    }
}

/// Both ways have the same to say of the text. The JSON text gives each repeated key twice, so that who reads it decides.
fn same(text: &str) -> Result<(), TestCaseError> {
    let (direct, json) = (yaml::safe_load::<Value>(text), yaml::safe_load::<Json>(text));
    match (direct, json) {
        (Ok(direct), Ok(json)) => {
            let by_way = Value::from_json(&json.value.text()).unwrap();
            prop_assert_eq!(direct.value.to_json(), by_way.to_json(), "{}", text);
            prop_assert_eq!(&direct.value, &by_way, "{}", text);
            prop_assert_eq!(direct.value.json_length(), by_way.to_json().len(), "{}", text);
            prop_assert_eq!((direct.duplicates, direct.lines), (json.duplicates, json.lines));
        }
        (direct, json) => prop_assert_eq!(direct.err(), json.err(), "{}", text),
    }
    Ok(())
}

fn scalar() -> impl Strategy<Value = String> {
    let odd = select(
        &[
            "~",
            "yes",
            "0",
            "-0",
            "-5",
            "010",
            "1.0",
            "-0.0",
            "1e3",
            "1.0e+16",
            "1.5e-7",
            ".5",
            ".inf",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "1:30",
            "!!str 5",
            "!!float 5",
            "!!int '5'",
            "!foo 1",
            "2001-01-01",
            "\"\\u2028\\b\\x01\"",
            "*a",
            "*b",
            "&a 1.5",
        ][..],
    );
    let text = ".{0,6}".prop_map(|text: String| serde_json::to_string(&text).unwrap());
    prop_oneof![3 => odd.prop_map(str::to_owned), 1 => text, 1 => any::<f64>().prop_map(|f| f.to_string())]
}

/// Flow style, with anchors, aliases, merges and repeated keys.
fn flow() -> impl Strategy<Value = String> {
    scalar().prop_recursive(4, 40, 6, |inner| {
        let anchor = select(&["", "", "", "&a ", "&b "][..]);
        let key =
            select(&["a", "b", "<<", "<<", "'<<'", "5", "yes", "? *a ", "&a k", "\"\\n\""][..]);
        let list = prop::collection::vec(inner.clone(), 0..5)
            .prop_map(|items| format!("[{}]", items.join(", ")));
        let member = (key, inner).prop_map(|(key, value)| format!("{key}: {value}"));
        let map = prop::collection::vec(member, 0..6)
            .prop_map(|members| format!("{{{}}}", members.join(", ")));
        (anchor, prop_oneof![list, map]).prop_map(|(anchor, node)| format!("{anchor}{node}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn what_is_read_directly_is_what_json_text_says(parts in prop::collection::vec(flow(), 1..5)) {
        let mut text = "x: &a {k: 1, j: [2.5]}\ny: &b [*a, {k: 9}]\n".to_owned();
        for (key, part) in ["resources", "<<", "z", "z"].into_iter().zip(&parts) {
            text += &format!("{key}: {part}\n");
        }
        same(&text)?;
        same(&parts[0])?;
    }

    #[test]
    fn any_text_is_read_directly_or_refused_as_by_way_of_json(
        text in "[-a-c0-9 .:,\\[\\]{}&*!|>'\"%#?~<\\n\\t]{0,60}",
        other: String,
    ) {
        same(&text)?;
        same(&other)?;
    }
}
