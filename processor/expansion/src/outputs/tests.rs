use super::*;
use crate::scope::testing::tree;

type Outputs<'a> = &'a [(usize, &'a str)];

/// Resolves; gives the primitives and all outputs, or what is wrong.
fn resolved(resources: &[(usize, &str)], outputs: Outputs<'_>) -> Result<String, String> {
    let mut tree = tree(resources);
    for (node, json) in outputs {
        let Ok(Value::Map(map)) = Value::from_json(json) else { panic!("{json}") };
        let outputs = map.into_iter().map(|(name, value)| Output { name, value });
        tree.nodes[*node].outputs.extend(outputs);
    }
    let mut left = 1_000_000_usize;
    let mut spend = |bytes| {
        left = left.checked_sub(bytes).ok_or_else(|| Problem::new(Cause::Limit, "too much"))?;
        Ok(())
    };
    resolve(&mut tree, &mut spend).map_err(|failure| failure.to_string())?;
    let mut shown = Vec::new();
    for node in &tree.nodes {
        if let (false, Some(properties)) = (node.is_template, node.resource.get("properties")) {
            shown.push(format!("{}={}", node.name(), properties.to_json()));
        }
        for output in &node.outputs {
            shown.push(format!("{}.{}={}", node.name(), output.name, output.value.to_json()));
        }
    }
    Ok(shown.join(" "))
}

fn check(resources: &[(usize, &str)], outputs: Outputs<'_>, want: &str) {
    assert_eq!(resolved(resources, outputs).as_deref(), Ok(want));
}

fn refused(resources: &[(usize, &str)], outputs: Outputs<'_>, want: &str) {
    assert_eq!(resolved(resources, outputs).unwrap_err(), want);
}

const TEMPLATE: (usize, &str) = (0, r#"{"name": "t", "type": "t.py"}"#);

#[test]
fn an_output_comes_with_its_type() {
    let uses = r#"{"name": "a", "type": "P", "properties":
        {"n": "$(ref.t.n)", "l": ["$(ref.t.l[1])", "$(ref.t.l[*])"], "m": "at $(ref.t.n)/$(ref.t.l)", "all": "$(ref.t)"}}"#;
    check(
        &[(0, uses), TEMPLATE],
        &[(2, r#"{"n": 80, "l": ["x", true]}"#)],
        r#"a={"n":80,"l":[true,["x",true]],"m":"at 80/[\"x\",true]","all":{"n":80,"l":["x",true]}} t.n=80 t.l=["x",true]"#,
    );
}

#[test]
fn outputs_come_up_and_go_down_whatever_their_order() {
    check(
        &[
            (0, r#"{"name": "f", "type": "f.py", "properties": {"ip": "$(ref.b.ip)"}}"#),
            (0, r#"{"name": "b", "type": "f.py", "properties": {"ip": "$(ref.f.ip)"}}"#),
            (1, r#"{"name": "f-vm", "type": "P", "properties": "$(ref.b.ip)"}"#),
            (2, r#"{"name": "b-vm", "type": "P", "properties": "$(ref.f.ip)"}"#),
        ],
        &[
            (0, r#"{"both": "$(ref.f.ip),$(ref.b.ip)"}"#),
            (1, r#"{"ip": "$(ref.f-vm.net[0].ip)"}"#),
            (2, r#"{"ip": "$(ref.b-vm.net[0].ip)"}"#),
        ],
        "None.both=\"$(ref.f-vm.net[0].ip),$(ref.b-vm.net[0].ip)\" \
         f.ip=\"$(ref.f-vm.net[0].ip)\" b.ip=\"$(ref.b-vm.net[0].ip)\" \
         f-vm=\"$(ref.b-vm.net[0].ip)\" b-vm=\"$(ref.f-vm.net[0].ip)\""
            .replace("None", "")
            .as_str(),
    );
}

#[test]
fn equal_names_at_different_levels_do_not_meet() {
    check(
        &[
            (0, r#"{"name": "a", "type": "t.py"}"#),
            (0, r#"{"name": "b", "type": "u.py"}"#),
            (2, r#"{"name": "a", "type": "P"}"#),
            (2, r#"{"name": "y", "type": "P", "properties": "$(ref.a.s)"}"#),
        ],
        &[(1, r#"{"s": "plain"}"#)],
        r#"a.s="plain" y="$(ref.a.s)""#,
    );
}

#[test]
fn what_comes_in_is_not_searched_again() {
    check(
        &[
            TEMPLATE,
            (0, r#"{"name": "a", "type": "P", "properties": ["$(ref.t.o)", "$(ref.t.half)x.y)"]}"#),
            (1, r#"{"name": "t", "type": "P"}"#),
        ],
        &[(1, r#"{"o": "$(ref.t.o)", "half": "$ (ref."}"#)],
        r#"t.o="$(ref.t.o)" t.half="$ (ref." a=["$(ref.t.o)","$ (ref.x.y)"]"#,
    );
}

#[test]
fn names_that_nobody_has_or_that_have_no_outputs_stay() {
    let uses =
        r#"{"name": "a", "type": "P", "properties": ["$(ref.zz.n)", "$(ref.t.n)", "$(ref.a.n)"]}"#;
    check(&[(0, uses), TEMPLATE], &[], r#"a=["$(ref.zz.n)","$(ref.t.n)","$(ref.a.n)"]"#);
}

#[test]
fn what_leads_nowhere_is_told_with_its_path() {
    let uses = r#"{"name": "a", "type": "P", "properties": {"x": ["$(ref.t.nope.x)", "$(ref.t.l[7])", "$(ref.t"]}}"#;
    refused(
        &[(0, uses), TEMPLATE],
        &[(2, r#"{"l": [1]}"#)],
        "config: properties.x[0]: No value found. Reference: $(ref.t.nope.x) (in config > a)\n\
         config: properties.x[1]: list index out of range Reference: $(ref.t.l[7]) (in config > a)\n\
         config: properties.x[2]: Malformed reference. Reference: $(ref.t (in config > a)",
    );
    refused(
        &[TEMPLATE, (1, r#"{"name": "u", "type": "u.py"}"#)],
        &[(1, r#"{"o": {"k": "$(ref.u.nope)"}}"#), (2, r#"{"l": [1]}"#)],
        "t.py: outputs[0].value.k: No value found. Reference: $(ref.u.nope) (in config > t (t.py))",
    );
}

#[test]
fn outputs_that_need_each_other_are_named() {
    refused(
        &[
            (0, r#"{"name": "t", "type": "t.py", "properties": "$(ref.u.x)"}"#),
            (0, r#"{"name": "u", "type": "u.py", "properties": "$(ref.t)"}"#),
        ],
        &[(1, r#"{"ok": 1, "x": "$(ref.u.x)"}"#), (2, r#"{"x": ["$(ref.t)"]}"#)],
        "Outputs need each other in a circle: t.x -> u.x -> t.x (in config > t (t.py))",
    );
}

#[test]
fn of_equal_names_the_last_output_counts() {
    let uses = r#"{"name": "a", "type": "P", "properties": ["$(ref.t.o)", "$(ref.t)"]}"#;
    check(
        &[(0, uses), TEMPLATE],
        &[(2, r#"{"o": 1}"#), (2, r#"{"o": 2}"#)],
        r#"a=[2,{"o":2}] t.o=1 t.o=2"#,
    );
}

#[test]
fn outputs_that_grow_or_nest_without_end_are_refused() {
    // Each output is twice, or one level deeper than, the one before it.
    let chain = |value: &str| {
        let resources: Vec<_> =
            (0..400).map(|at| format!(r#"{{"name": "t{at}", "type": "t.py"}}"#)).collect();
        let outputs: Vec<_> = (0..400_usize)
            .map(|at| match at.checked_sub(1) {
                Some(before) => value.replace("REF", &format!("$(ref.t{before}.o)")),
                None => r#"{"o": "x"}"#.to_owned(),
            })
            .collect();
        let resources: Vec<_> = resources.iter().map(|json| (0, json.as_str())).collect();
        let outputs: Vec<_> =
            outputs.iter().enumerate().map(|(at, json)| (at + 1, json.as_str())).collect();
        resolved(&resources, &outputs).unwrap_err()
    };
    let doubled = chain(r#"{"o": "REFREF"}"#);
    assert!(doubled.contains("too much"), "{doubled}");
    let nested = chain(r#"{"o": ["REF"]}"#);
    assert!(nested.contains("more than 100 lists and maps"), "{nested}");
}
