use proptest::prelude::*;
use schema::{Schema, meta};
use serde_json::json;

use super::value::Value;
use super::*;

const GV: &str = "example.com/v1";

fn form() -> Schema {
    Schema::object("com.example.v1.Form", "")
        .optional("message", Schema::string(""))
        .always("objects", Schema::list(meta::raw_extension()))
        .optional("labels", Schema::map(Schema::string("")))
        .optional("tags", Schema::list(Schema::string("")).set())
        .optional(
            "ports",
            Schema::list(
                Schema::object("com.example.v1.Port", "")
                    .required("port", Schema::int32(""))
                    .optional("protocol", Schema::string("").default_value("TCP"))
                    .optional("note", Schema::string("")),
            )
            .map_by(&["port", "protocol"]),
        )
        .kind("example.com", "v1", "Form")
}

/// A stored object and the clock, changed by one write after the other.
struct Story {
    kind: ManagedKind,
    live: Option<(String, Vec<ManagedFieldsEntry>)>,
    second: u32,
}

impl Story {
    fn begin(manager: &str, text: &str) -> Self {
        let mut story = Self { kind: ManagedKind::new(&form()), live: None, second: 0 };
        story.write(manager, text);
        story
    }

    fn write(&mut self, manager: &str, text: &str) -> &mut Self {
        self.write_with(manager, text, None)
    }

    fn write_with(
        &mut self,
        manager: &str,
        text: &str,
        given: Option<&[ManagedFieldsEntry]>,
    ) -> &mut Self {
        self.second += 1;
        let decoded = schema::decode(&form(), text, schema::Limits::default()).unwrap();
        let members: Vec<_> = decoded.members().collect();
        let entries = update(&Update {
            kind: &self.kind,
            live: self.live.as_ref().map(|(text, entries)| Live {
                object: Object::Text(text),
                managed_fields: entries,
            }),
            new: Object::Parts { metadata: &decoded.metadata, fields: &members },
            given,
            manager,
            api_version: GV,
            subresource: "",
            reset: None,
            also_served: &[],
            now: &format!("2020-01-01T00:00:{:02}Z", self.second),
        });
        let stored = format!("{{\"metadata\":{},{}}}", decoded.metadata, decoded.stored_fields());
        self.live = Some((stored, entries.unwrap()));
        self
    }

    fn entries(&self) -> &[ManagedFieldsEntry] {
        &self.live.as_ref().unwrap().1
    }

    /// `manager@second: fieldsV1` for every entry, in the order in which they are stored.
    fn owners(&self) -> Vec<String> {
        let line = |entry: &ManagedFieldsEntry| {
            let time = entry.time.as_deref().unwrap_or("??Z");
            format!(
                "{}@{}: {}",
                entry.manager,
                &time[time.len() - 3..time.len() - 1],
                entry.fields_v1.as_ref().unwrap().text()
            )
        };
        self.entries().iter().map(line).collect()
    }
}

#[test]
fn the_creator_owns_what_it_sent() {
    let story = Story::begin(
        "a",
        r#"{"metadata":{"name":"n","labels":{"x":""},"generateName":"g-"},"message":"m","labels":{"l":"1"},"tags":["t"]}"#,
    );
    assert_eq!(
        story.owners(),
        [
            r#"a@01: {"f:labels":{".":{},"f:l":{}},"f:message":{},"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:x":{}}},"f:tags":{".":{},"v:\"t\"":{}}}"#
        ]
    );
}

#[test]
fn an_empty_list_is_owned_and_an_absent_one_is_not() {
    assert_eq!(
        Story::begin("a", r#"{"metadata":{"name":"n"},"objects":[]}"#).owners(),
        [r#"a@01: {"f:objects":{}}"#]
    );
    assert!(
        Story::begin("a", r#"{"metadata":{"name":"n"},"objects":null,"labels":{}}"#)
            .owners()
            .is_empty()
    );
    assert!(Story::begin("a", r#"{"metadata":{"name":"n"}}"#).owners().is_empty());
}

#[test]
fn a_changed_field_moves_to_who_changed_it() {
    let mut story =
        Story::begin("a", r#"{"message":"m","labels":{"l":"1","k":"1"},"objects":[1]}"#);
    story.write("b", r#"{"message":"n","labels":{"l":"1","k":"2"},"objects":[1.0]}"#);
    assert_eq!(
        story.owners(),
        [
            r#"a@01: {"f:labels":{".":{},"f:l":{}},"f:objects":{}}"#,
            r#"b@02: {"f:labels":{"f:k":{}},"f:message":{}}"#
        ]
    );
}

#[test]
fn a_removed_field_is_nobodys() {
    let mut story = Story::begin("a", r#"{"message":"m","labels":{"l":"1"},"objects":[1]}"#);
    story.write("b", r#"{"objects":[1]}"#);
    assert_eq!(story.owners(), [r#"a@01: {"f:objects":{}}"#]);
}

#[test]
fn a_write_that_changes_nothing_leaves_the_record_and_its_times() {
    let text = r#"{"message":"m","objects":[{"a":1}],"ports":[{"port":1},{"port":2}]}"#;
    let mut story = Story::begin("a", text);
    let before = story.owners();
    story.write("b", r#"{"ports":[{"protocol":"TCP","port":2},{"port":1}],"objects":[{"a":1.0}],"message":"m"}"#).write("a", text);
    assert_eq!(story.owners(), before);
}

#[test]
fn list_items_are_owned_by_their_keys() {
    let mut story = Story::begin(
        "a",
        r#"{"objects":null,"ports":[{"port":1,"note":"x"},{"port":1,"protocol":"UDP"}]}"#,
    );
    story.write(
        "b",
        r#"{"objects":null,"ports":[{"port":1,"protocol":"UDP"},{"port":1,"note":"y"}]}"#,
    );
    let tcp = r#""k:{\"port\":1,\"protocol\":\"TCP\"}""#;
    let udp = r#""k:{\"port\":1,\"protocol\":\"UDP\"}""#;
    let (keys, all) =
        (r#"".":{},"f:port":{},"f:protocol":{}"#, r#"{".":{},"f:port":{},"f:protocol":{}}"#);
    assert_eq!(
        story.owners(),
        [
            format!("a@01: {{\"f:ports\":{{\".\":{{}},{tcp}:{{{keys}}},{udp}:{all}}}}}"),
            format!("b@02: {{\"f:ports\":{{{tcp}:{{\"f:note\":{{}}}}}}}}")
        ]
    );
}

#[test]
fn clearing_the_record_ends_tracking_and_anything_unreadable_does_not() {
    let create = r#"{"message":"m","objects":null}"#;
    let change = r#"{"message":"n","objects":null}"#;
    let empty = ManagedFieldsEntry::default();
    let foreign = ManagedFieldsEntry {
        manager: "x".into(),
        operation: "Bogus".into(),
        api_version: GV.into(),
        ..empty.clone()
    };
    for reset in [vec![], vec![empty.clone()]] {
        let mut story = Story::begin("a", create);
        assert!(story.write_with("a", create, Some(&reset)).owners().is_empty());
        assert!(story.write("b", change).owners().is_empty(), "an untracked object stays so");
    }
    for kept in [vec![foreign], vec![empty.clone(), empty]] {
        let mut story = Story::begin("a", create);
        assert_eq!(
            story.write_with("b", create, Some(&kept)).owners(),
            [r#"a@01: {"f:message":{}}"#]
        );
    }
}

#[test]
fn a_client_may_hand_in_a_record() {
    let set = FieldSet::from_fields_v1(r#"{"f:message":{},"f:objects":{"i:0":{}}}"#).unwrap();
    let entry = ManagedFieldsEntry {
        manager: "given".into(),
        operation: "Apply".into(),
        api_version: GV.into(),
        fields_type: "FieldsV1".into(),
        fields_v1: Some((&set).into()),
        ..ManagedFieldsEntry::default()
    };
    let mut story = Story::begin("a", r#"{"message":"m","objects":[1]}"#);
    story.write_with("b", r#"{"message":"n","objects":[1]}"#, Some(std::slice::from_ref(&entry)));
    // What lies below an atomic list becomes the list.
    assert_eq!(story.owners(), [r#"given@??: {"f:objects":{}}"#, r#"b@02: {"f:message":{}}"#]);
    story.write_with(
        "b",
        r#"{"message":"n","objects":[1]}"#,
        Some(&[ManagedFieldsEntry { api_version: "example.com/v0".into(), ..entry }]),
    );
    assert!(story.owners().is_empty(), "a version that is not served is dropped");
}

#[test]
fn the_oldest_of_more_than_ten_updaters_become_one() {
    let mut story = Story::begin("m00", r#"{"objects":[1]}"#);
    let mut labels = serde_json::Map::new();
    for index in 1..=12 {
        labels.insert(format!("l{index:02}"), json!(""));
        story
            .write(&format!("m{index:02}"), &json!({"labels": labels, "objects": [1]}).to_string());
    }
    let owners = story.owners();
    assert_eq!(owners.len(), 10);
    assert_eq!(
        owners[0],
        r#"ancient-changes@04: {"f:labels":{".":{},"f:l01":{},"f:l02":{},"f:l03":{}},"f:objects":{}}"#
    );
    assert_eq!(owners[9], r#"m12@13: {"f:labels":{"f:l12":{}}}"#);
}

#[test]
fn times_alone_are_no_change() {
    let story = Story::begin("a", r#"{"message":"m"}"#);
    let mut later = story.entries().to_vec();
    later[0].time = Some("2021-01-01T00:00:00Z".into());
    keep_times(story.entries(), &mut later);
    assert_eq!(later, story.entries());
    later[0].time = Some("2021-01-01T00:00:00Z".into());
    later[0].manager = "b".into();
    keep_times(story.entries(), &mut later);
    assert_eq!(later[0].time.as_deref(), Some("2021-01-01T00:00:00Z"));
}

#[test]
fn an_entry_is_written_as_upstream_writes_it() {
    let story = Story::begin("a", r#"{"message":"m"}"#);
    assert_eq!(
        serde_json::to_string(story.entries()).unwrap(),
        r#"[{"manager":"a","operation":"Update","apiVersion":"example.com/v1","time":"2020-01-01T00:00:01Z","fieldsType":"FieldsV1","fieldsV1":{"f:message":{}}}]"#
    );
}

#[test]
fn many_keys_and_items_take_linear_time() {
    let labels: serde_json::Map<String, serde_json::Value> =
        (0..50_000).map(|index| (format!("k{index}"), json!(""))).collect();
    let tags: Vec<String> = (0..50_000).rev().map(|index| format!("t{index}")).collect();
    let mut story = Story::begin("a", "{}");
    story.live.as_mut().unwrap().1 = Story::begin("a", r#"{"message":"m"}"#).entries().to_vec();
    story.write("b", &json!({"labels": labels, "tags": tags}).to_string());
    assert!(story.owners()[1].len() > 1_000_000);
}

#[test]
fn deep_values_are_compared_without_exhausting_the_stack() {
    let deep = |inner: &str| {
        let (open, close) = (r#"{"a":["#.repeat(250), "]}".repeat(250));
        format!("{{\"objects\":[{open}{inner}{close}]}}")
    };
    let mut story = Story::begin("a", &deep("1"));
    story.write("b", &deep("1.0"));
    assert_eq!(story.owners(), [r#"a@01: {"f:objects":{}}"#]);
    story.write("b", &deep("2"));
    assert_eq!(story.owners(), [r#"b@03: {"f:objects":{}}"#]);
}

#[test]
fn a_deep_set_is_refused() {
    let nested = |levels: usize| {
        format!("{}{}", r#"{"f:a":"#.repeat(levels), "{}".to_owned() + &"}".repeat(levels))
    };
    let set = FieldSet::from_fields_v1(&nested(499)).unwrap();
    assert_eq!(set.union(&set).difference(&FieldSet::default()).to_fields_v1(), nested(499));
    assert!(FieldSet::from_fields_v1(&nested(500)).is_err());
}

fn any_element() -> impl Strategy<Value = PathElement> {
    let text = || "[a-zé<&\"\\\\\n\u{2028}]{0,4}";
    let scalar = || {
        prop_oneof![
            text().prop_map(Value::String),
            any::<bool>().prop_map(Value::Bool),
            (-9_007_199_254_740_992_i64..1000).prop_map(Value::Int),
            (-1e30..1e30).prop_map(Value::Float),
            (-1e-5..1e-5).prop_map(Value::Float),
        ]
    };
    prop_oneof![
        text().prop_map(|name| PathElement::field(&name)),
        scalar().prop_map(PathElement::value),
        prop::collection::btree_map(text(), scalar(), 1..3)
            .prop_map(|pairs| PathElement::key(pairs.into_iter().collect())),
        (0_i64..5).prop_map(PathElement::Index),
    ]
}

fn any_set() -> impl Strategy<Value = FieldSet> {
    prop::collection::vec(prop::collection::vec(any_element(), 1..4), 0..8)
        .prop_map(|paths| FieldSet::from_paths(paths.iter().map(Vec::as_slice)))
}

proptest! {
    #[test]
    fn a_set_survives_its_text(set in any_set()) {
        let text = set.to_fields_v1();
        prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
        let read = FieldSet::from_fields_v1(&text).unwrap();
        prop_assert_eq!(&read, &set);
        prop_assert_eq!(read.to_fields_v1(), text);
    }

    #[test]
    fn set_operations_obey_the_laws_of_sets(left in any_set(), right in any_set()) {
        let (union, both) = (left.union(&right), left.intersection(&right));
        prop_assert_eq!(left.difference(&right).union(&both).paths(), left.paths());
        prop_assert_eq!(union.difference(&right).intersection(&right), FieldSet::default());
        prop_assert_eq!(right.union(&left).paths(), union.paths());
        prop_assert!(left.difference(&left).is_empty());
        prop_assert_eq!(union.paths().len() + both.paths().len(), left.paths().len() + right.paths().len());
    }

    #[test]
    fn reading_a_set_never_panics(text in r#"[{}":.fkvi0-9a,\[\]\\ ]{0,30}"#) {
        let _ = FieldSet::from_fields_v1(&text);
        let _ = PathElement::parse(&text);
    }

    #[test]
    fn patches_never_panic(text in r#"[{}":,\[\]a/0-9\\ ]{0,30}"#, path in "(/[a-c0-2~-]{0,2}){0,4}", op in "add|remove|replace|move|copy|test") {
        let document = r#"{"a":[{"b":1},2],"b":{"c":[]}}"#;
        let _ = crate::json_patch(document, &text);
        let _ = crate::merge_patch(document, &text);
        let operation = json!([{"op": op, "path": path, "from": "/a/0", "value": {"x": 1}}]).to_string();
        if let Ok(patched) = crate::json_patch(document, &operation) {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&patched.text).is_ok());
        }
    }
}
