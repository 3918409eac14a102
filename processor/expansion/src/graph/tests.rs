use super::*;
use crate::links::Target;
use crate::scope::testing::tree;

/// Links it without outputs having been resolved, and without a limit.
fn link(tree: &mut Tree) -> Result<Linked, Failure> {
    super::link(tree, &Origins::default(), &mut |_| Ok(()))
}

/// The warnings.
fn check(resources: &[(usize, &str)]) -> Result<String, String> {
    let mut tree = tree(resources);
    link(&mut tree).map_err(|failure| failure.to_string())?;
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
    let want = "config: Resources need each other in a circle: a -> b -> c -> a (in config > a)";
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

/// What there is to say about the primitives, in short.
fn links(resources: &[(usize, &str)]) -> Vec<String> {
    let linked = link(&mut tree(resources)).unwrap();
    linked.resources.iter().map(shortly).collect()
}

fn shortly(links: &Links) -> String {
    let mut said = vec![format!("{:?}", links.needs)];
    said.extend(links.references.iter().map(one));
    said.extend(links.missing.iter().map(|name| format!("no {name}")));
    said.join(" ")
}

fn one(link: &Link) -> String {
    let target = match &link.target {
        Target::Resource(at) => at.to_string(),
        Target::Deployment(name) => format!("@{name}"),
        other => format!("{other:?}"),
    };
    format!("{}={target}:{}", link.text, link.path.as_deref().unwrap_or("*"))
}

#[test]
fn every_reference_is_told_with_what_it_means() {
    let a = r#"{"name": "a", "type": "P-$(ref.b.kind)", "metadata": {"dependsOn": ["c", "zz", "b"]},
        "properties": {"x": ["$(ref.b.status.ip)", "at $(ref.b.status.ip):$(ref.c.spec.ports[0])"],
            "all": "$(ref.c)", "odd": "$(ref.nobody.x)", "template": "$(ref.t.x)", "open": "$(ref.b"}}"#;
    let found = links(&[
        (0, a),
        (0, r#"{"name": "t", "type": "t.py"}"#),
        (0, r#"{"name": "b", "type": "P"}"#),
        (0, r#"{"name": "c", "type": "P", "metadata": {"dependsOn": ["b"]}}"#),
    ]);
    let references = "$(ref.b=Malformed:* $(ref.b.kind)=1:kind $(ref.b.status.ip)=1:status.ip \
        $(ref.c)=2:* $(ref.c.spec.ports[0])=2:spec.ports[0] $(ref.nobody.x)=Unknown:x \
        $(ref.t.x)=Template:x";
    assert_eq!(found, [format!("[1, 2] {references} no zz"), "[]".to_owned(), "[1]".to_owned()]);
}

#[test]
fn positions_are_those_among_the_resources_of_the_result() {
    // In the tree x and y lie behind b, in the result before it.
    let found = links(&[
        (0, r#"{"name": "t", "type": "t.py"}"#),
        (0, r#"{"name": "b", "type": "P", "properties": "$(ref.y.v)"}"#),
        (1, r#"{"name": "x", "type": "P"}"#),
        (1, r#"{"name": "y", "type": "P", "properties": "$(ref.x.v)"}"#),
    ]);
    assert_eq!(found, ["[]", "[0] $(ref.x.v)=0:v", "[1] $(ref.y.v)=1:v"]);
}

#[test]
fn equal_names_mean_each_what_their_scope_says() {
    let uses = r#"{"name": "u", "type": "P", "properties": "$(ref.x.v)"}"#;
    let found = links(&[
        (0, r#"{"name": "x", "type": "P"}"#),
        (0, uses),
        (0, r#"{"name": "t", "type": "t.py"}"#),
        (0, r#"{"name": "s", "type": "s.py", "properties": {"given": "$(ref.x.v)"}}"#),
        (3, r#"{"name": "x", "type": "P"}"#),
        (3, uses),
        (4, r#"{"name": "x", "type": "P"}"#),
        (4, uses),
    ]);
    let want = ["[]", "[0] $(ref.x.v)=0:v", "[]", "[2] $(ref.x.v)=2:v", "[]", "[0] $(ref.x.v)=0:v"];
    assert_eq!(found, want);
}

#[test]
fn a_name_that_several_have_elsewhere_orders_and_means_none_of_them() {
    let found = links(&[
        (0, r#"{"name": "a", "type": "P", "properties": "$(ref.x.v)"}"#),
        (0, r#"{"name": "d", "type": "P", "metadata": {"dependsOn": ["x"]}}"#),
        (0, r#"{"name": "t", "type": "t.py"}"#),
        (0, r#"{"name": "u", "type": "u.py"}"#),
        (3, r#"{"name": "x", "type": "P"}"#),
        (4, r#"{"name": "x", "type": "P"}"#),
    ]);
    assert_eq!(found[..2], ["[2, 3] $(ref.x.v)=Ambiguous:v", "[2, 3]"]);
    assert_eq!(found[2..], ["[]", "[]"]);
}

#[test]
fn to_need_a_template_is_to_need_each_of_its_primitives_once() {
    let found = links(&[
        (0, r#"{"name": "t", "type": "t.py"}"#),
        (
            0,
            r#"{"name": "a", "type": "P", "metadata": {"dependsOn": ["e", "u", "t", "z", "x", "t"]}}"#,
        ),
        (0, r#"{"name": "e", "type": "e.py"}"#),
        (1, r#"{"name": "x", "type": "P"}"#),
        (1, r#"{"name": "u", "type": "u.py"}"#),
        (5, r#"{"name": "y", "type": "P"}"#),
        (5, r#"{"name": "z", "type": "P"}"#),
    ]);
    // What lies in a template is not seen from outside: u is a template, which only a scope can mean.
    assert_eq!(found, ["[]", "[]", "[]", "[0, 1, 2] no u"]);
}

#[test]
fn outputs_of_another_deployment_are_no_unknown_names() {
    let json = r#"{"name": "a", "type": "P", "properties":
        ["$(ref.deployments/net.ip[0].v)", "$(ref.deployments/.x)", "$(ref.deployments/own.v)", "$(ref.deployments/all)"]}"#;
    let resources = [(0, json), (0, r#"{"name": "deployments/own", "type": "P"}"#)];
    let want = "[1] $(ref.deployments/.x)=Unknown:x $(ref.deployments/all)=@all:* \
        $(ref.deployments/net.ip[0].v)=@net:ip[0].v $(ref.deployments/own.v)=1:v";
    assert_eq!(links(&resources), [want, "[]"]);
    let warnings = check(&resources);
    assert_eq!(
        warnings.as_deref(),
        Ok("$(ref.deployments/.x) refers to a resource that is not there")
    );
    let itself =
        r#"{"name": "deployments/own", "type": "P", "properties": "$(ref.deployments/own.v)"}"#;
    assert!(check(&[(0, itself)]).is_err());
}

#[test]
fn references_in_outputs_are_told_and_nobody_needs_them() {
    let mut tree = tree(&[
        (0, r#"{"name": "x", "type": "P"}"#),
        (0, r#"{"name": "s", "type": "s.py"}"#),
        (0, r#"{"name": "t", "type": "t.py"}"#),
        (3, r#"{"name": "u", "type": "u.py"}"#),
        (3, r#"{"name": "x", "type": "P"}"#),
    ]);
    let output =
        |json: &str| crate::Output { name: "o".to_owned(), value: Value::from_json(json).unwrap() };
    tree.nodes[ROOT].outputs =
        vec![output(r#"["$(ref.x.a)", "$(ref.deployments/d.o)"]"#), output(r#""$(ref.zz.b)""#)];
    tree.nodes[2].outputs = vec![output("5")];
    tree.nodes[4].outputs = vec![output(r#""$(ref.x.c)""#)];
    let linked = link(&mut tree).unwrap();
    let outputs: Vec<_> = linked.outputs.iter().map(one).collect();
    assert_eq!(outputs, ["$(ref.deployments/d.o)=@d:o", "$(ref.x.a)=0:a", "$(ref.zz.b)=Unknown:b"]);
    let [LayoutLinks { place, references }] = linked.layout.as_slice() else {
        panic!("{linked:?}")
    };
    assert_eq!((place.as_slice(), one(&references[0])), (&[2, 0][..], "$(ref.x.c)=1:c".to_owned()));
    assert!(linked.resources.iter().all(|links| links.needs.is_empty()));
}

#[test]
fn needs_that_multiply_are_refused() {
    let mut resources = vec![
        (0, r#"{"name": "t", "type": "t.py"}"#.to_owned()),
        (0, r#"{"name": "u", "type": "u.py"}"#.to_owned()),
    ];
    let primitive = |parent, at| {
        (parent, format!(r#"{{"name": "r{at}", "type": "P", "metadata": {{"dependsOn": ["u"]}}}}"#))
    };
    resources.extend((0..100).map(|at| primitive(1, at)));
    resources.extend((0..100).map(|at| (2, format!(r#"{{"name": "r{at}", "type": "P"}}"#))));
    let resources: Vec<_> =
        resources.iter().map(|(parent, json)| (*parent, json.as_str())).collect();
    let bounded = |limit: usize| {
        let mut left = limit;
        super::link(&mut tree(&resources), &Origins::default(), &mut |bytes| {
            left = left.checked_sub(bytes).ok_or_else(|| Problem::new(Cause::Limit, "enough"))?;
            Ok(())
        })
    };
    let all = 100 * 100 * size_of::<usize>();
    assert!(bounded(all).is_ok());
    assert_eq!(bounded(all - 1).unwrap_err().problems[0].message, "enough");
}
