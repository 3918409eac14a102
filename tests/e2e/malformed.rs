//! Malformed requests by the hundred, from a random source: each with the answers that are right for it.

use std::fmt::Write as _;

use ::tests::client::Request;
use http::Method;
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};

/// Where the requests go.
pub(crate) const NAMESPACE: &str = "/apis/template.openshift.io/v1/namespaces/bad";
const PROPOSAL: &str = "/apis/formwork.dev/v1alpha1/namespaces/bad";

/// A malformed request, and the answers that are right for it.
#[derive(Debug)]
pub(crate) struct Bad {
    pub what: String,
    pub request: Request,
    /// (code, reason) of the Status; any of them.
    pub right: &'static [(u16, &'static str)],
}

const BAD_REQUEST: &[(u16, &str)] = &[(400, "BadRequest")];
const INVALID: &[(u16, &str)] = &[(422, "Invalid")];
const BAD_OR_INVALID: &[(u16, &str)] = &[(400, "BadRequest"), (422, "Invalid")];
const BAD_OR_LARGE: &[(u16, &str)] = &[(400, "BadRequest"), (413, "RequestEntityTooLarge")];
const LARGE: &[(u16, &str)] = &[(413, "RequestEntityTooLarge")];
const MEDIA: &[(u16, &str)] = &[(415, "UnsupportedMediaType")];
const NOT_ACCEPTABLE: &[(u16, &str)] = &[(406, "NotAcceptable")];
const MISSING: &[(u16, &str)] = &[(404, "NotFound")];
const METHOD: &[(u16, &str)] = &[(405, "MethodNotAllowed")];
const QUERY: &[(u16, &str)] =
    &[(400, "BadRequest"), (422, "Invalid"), (410, "Expired"), (504, "Timeout")];

pub(crate) fn post(resource: &str, body: impl Into<Vec<u8>>) -> Request {
    Request::post(format!("{NAMESPACE}/{resource}"), body.into())
}

fn bad(what: impl Into<String>, request: Request, right: &'static [(u16, &'static str)]) -> Bad {
    Bad { what: what.into(), request, right }
}

/// The `i`-th request: each kind of malice in turn.
pub(crate) fn malformed(i: usize, random: &mut StdRng) -> Bad {
    let kinds: [fn(&mut StdRng) -> Bad; 19] = [
        cut_off,
        invalid_utf8,
        deeply_nested,
        wrong_type,
        huge_number,
        duplicate_key,
        unknown_field,
        yaml_bomb,
        yaml_garbage,
        wrong_kind,
        bad_name,
        bad_parameter,
        bad_value,
        bad_reference,
        bad_query,
        bad_media,
        bad_accept,
        bad_patch,
        bad_path,
    ];
    // One request of each hundred is larger than any body may be.
    if i % 100 == 99 { too_large(random) } else { kinds[i % kinds.len()](random) }
}

fn collection(random: &mut StdRng) -> &'static str {
    ["templates", "processedtemplates"].choose(random).copied().unwrap_or("templates")
}

fn sound() -> Value {
    json!({
        "apiVersion": "template.openshift.io/v1", "kind": "Template",
        "metadata": {"name": "t", "labels": {"a": "b"}}, "message": "m", "labels": {"l": "x"},
        "parameters": [{"name": "P", "value": "v", "required": true}],
        "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "${P}"}}],
    })
}

fn cut_off(random: &mut StdRng) -> Bad {
    let text = sound().to_string();
    let end = random.random_range(1..text.len());
    let request = post(collection(random), &text.as_bytes()[..end]);
    bad(format!("a body cut off after {end} bytes"), request, BAD_REQUEST)
}

fn invalid_utf8(random: &mut StdRng) -> Bad {
    let mut bytes = sound().to_string().into_bytes();
    // Inside a member's name, where no replacement character can make it right.
    let at = bytes.windows(10).position(|word| word == b"apiVersion").unwrap_or(0);
    bytes[at + random.random_range(0..10_usize)] = random.random_range(0xf8..=0xff);
    let yaml = random.random_bool(0.3);
    let media = if yaml { "application/yaml" } else { "application/json" };
    let request =
        Request::new(Method::POST, format!("{NAMESPACE}/templates?fieldValidation=Strict"))
            .header("accept", "application/json")
            .json(media, bytes);
    bad(format!("invalid UTF-8 as {media}"), request, BAD_REQUEST)
}

fn deeply_nested(random: &mut StdRng) -> Bad {
    let depth = random.random_range(10_001..200_000);
    let (open, close) = if random.random_bool(0.5) { ("[", "]") } else { ("{\"a\":", "}") };
    let inner = if open == "[" { "" } else { "1" };
    let nest = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
    let body = match random.random_range(0..3) {
        0 => nest,
        1 => format!("{{\"metadata\":{{\"name\":\"t\"}},\"objects\":[{nest}]}}"),
        _ => format!("{{\"metadata\":{{\"name\":\"t\",\"labels\":{nest}}},\"objects\":[]}}"),
    };
    bad(format!("{depth} levels"), post(collection(random), body), BAD_REQUEST)
}

fn wrong_type(random: &mut StdRng) -> Bad {
    let mut body = sound();
    let wrong: &[Value] = &[json!(1.5), json!("text"), json!(true), json!([[1]])];
    let path = ["metadata", "parameters", "objects", "labels"].choose(random).copied();
    let path = path.unwrap_or("metadata");
    let value = wrong.choose(random).cloned().unwrap_or_default();
    // A list of lists is a list of objects that are none.
    let value = if path != "metadata" && path != "labels" && value.is_array() {
        json!({"a": 1})
    } else {
        value
    };
    body[path] = value.clone();
    bad(format!("{path}: {value}"), post(collection(random), body.to_string()), BAD_OR_INVALID)
}

fn huge_number(random: &mut StdRng) -> Bad {
    let digits = random.random_range(1..2_000);
    let number =
        ["1".repeat(20 + digits), format!("1e{}", 400 + digits), format!("-{}", "9".repeat(30))]
            .choose(random)
            .cloned()
            .unwrap_or_default();
    let body =
        format!("{{\"metadata\":{{\"name\":\"t\",\"generation\":{number}}},\"objects\":[]}}");
    bad(
        format!("a generation of {} characters", number.len()),
        post(collection(random), body),
        BAD_REQUEST,
    )
}

fn duplicate_key(random: &mut StdRng) -> Bad {
    let key = ["message", "objects", "metadata", "kind"].choose(random).copied().unwrap_or("kind");
    let text = sound().to_string();
    let body = format!("{},\"{key}\":{}}}", &text[..text.len() - 1], sound()[key]);
    let path = format!("{NAMESPACE}/{}?fieldValidation=Strict", collection(random));
    bad(format!("{key} twice"), Request::post(path, body), BAD_REQUEST)
}

fn unknown_field(random: &mut StdRng) -> Bad {
    let mut body = sound();
    let field = format!("x{}", random.random::<u16>());
    match random.random_range(0..3) {
        0 => body[&field] = json!(1),
        1 => body["metadata"][&field] = json!({}),
        _ => body["parameters"][0][&field] = json!(null),
    }
    let path = format!("{NAMESPACE}/{}?fieldValidation=Strict", collection(random));
    bad(format!("unknown {field}"), Request::post(path, body.to_string()), BAD_REQUEST)
}

fn yaml(text: String) -> Request {
    Request::new(Method::POST, format!("{NAMESPACE}/templates"))
        .header("accept", "application/json")
        .json("application/yaml", text)
}

fn yaml_bomb(random: &mut StdRng) -> Bad {
    let (levels, width) = (random.random_range(9..14), random.random_range(8..12));
    let mut text = String::from("metadata: {name: t}\na0: &a0 [x, x, x, x]\n");
    for level in 1..levels {
        let aliases = vec![format!("*a{}", level - 1); width].join(", ");
        let _ = writeln!(text, "a{level}: &a{level} [{aliases}]");
    }
    let _ = writeln!(text, "objects: *a{}", levels - 1);
    bad(format!("a YAML bomb of {width}^{levels}"), yaml(text), BAD_OR_LARGE)
}

fn yaml_garbage(random: &mut StdRng) -> Bad {
    let texts = [
        "a: b: c: d\n",
        "metadata:\n\t name: t\n",
        "objects: [1, 2\n",
        "metadata: *nowhere\n",
        "- a\n- b\n",
        "just text\n",
        "metadata: {name: \"t}\n",
        "? [complex, key]\n: value\n",
        "a: !!binary '***'\nmetadata: 7\n",
        "%YAML 9.9\n---\nmetadata: [\n",
    ];
    let text = texts.choose(random).copied().unwrap_or_default();
    bad(format!("YAML {text:?}"), yaml(text.to_owned()), BAD_REQUEST)
}

fn wrong_kind(random: &mut StdRng) -> Bad {
    let mut body = sound();
    let kinds = ["Pod", "Temlpate", "template", "TemplateList", "Template "];
    let versions = ["v2", "template.openshift.io/v9", "apps/v1", "a/b/c", "template.openshift.io/"];
    if random.random_bool(0.5) {
        body["kind"] = json!(kinds.choose(random));
    } else {
        body["apiVersion"] = json!(versions.choose(random));
    }
    bad(
        format!("{} {}", body["apiVersion"], body["kind"]),
        post(collection(random), body.to_string()),
        BAD_REQUEST,
    )
}

fn bad_name(random: &mut StdRng) -> Bad {
    let mut body = sound();
    let names = ["UPPER", "a/b", "..", "a b", "ä", "-a", "a.", "%2e", "a\u{0}b", ""];
    let name = names.choose(random).copied().unwrap_or_default();
    let long = "x".repeat(254);
    let name = if random.random_bool(0.1) { long.as_str() } else { name };
    body["metadata"]["name"] = json!(name);
    bad(format!("the name {name:?}"), post("templates", body.to_string()), INVALID)
}

fn bad_parameter(random: &mut StdRng) -> Bad {
    let long = "x".repeat(300);
    let from = |from: &str| json!({"name": "P", "generate": "expression", "from": from});
    let parameters = [
        json!({"name": ""}),
        json!({"name": "a-b"}),
        json!({"name": "ä"}),
        json!({"name": "P", "required": true}),
        json!({"name": "P", "generate": "nope"}),
        from("[Z-A]{3}"),
        from("[a-z]{0}"),
        from("[a-z]{256}"),
        from("[a-z]{99999999999999999999}"),
        json!({"name": format!("{long}-")}),
    ];
    let parameter = parameters.choose(random).cloned().unwrap_or_default();
    let mut body = sound();
    body["parameters"] = json!([parameter]);
    bad(format!("the parameter {parameter}"), post("processedtemplates", body.to_string()), INVALID)
}

/// Values for a stored template that has no parameters.
fn bad_value(random: &mut StdRng) -> Bad {
    let values = [
        json!(7),
        json!("A=1"),
        json!(true),
        json!([1]),
        json!([{"value": "1"}]),
        json!([{"name": 7, "value": "1"}]),
        json!([{"name": "A", "value": "1", "other": 2}]),
        json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
        json!([{"name": "A", "value": {"a": 1}}]),
        json!({"A": {"a": 1}}),
        json!({"A": [1]}),
        json!({"UNKNOWN": "1"}),
    ];
    let values = values.choose(random).cloned().unwrap_or_default();
    let mut body = json!({"apiVersion": "template.openshift.io/v1", "kind": "Parameters"});
    body["values"] = values.clone();
    bad(
        format!("the values {values}"),
        post("templates/kept/processed", body.to_string()),
        BAD_OR_INVALID,
    )
}

/// The proposal's dialect refuses what the other lets through.
fn bad_reference(random: &mut StdRng) -> Bad {
    let parameter = |parameter: Value| (json!([parameter]), "$((P))");
    let cases = [
        (json!([]), "$(NOWHERE)"),
        (json!([]), "$((NOWHERE))"),
        (json!([{"name": "UNUSED", "value": "1"}]), "text"),
        (json!([{"name": "P", "value": "1"}, {"name": "P", "value": "2"}]), "$(P)"),
        parameter(json!({"name": "P", "type": "int", "value": "one"})),
        parameter(json!({"name": "P", "type": "bool", "value": "yes"})),
        parameter(json!({"name": "P", "type": "nope", "value": "1"})),
        parameter(json!({"name": "P", "type": "int", "value": "5", "maximum": 4})),
        parameter(json!({"name": "P", "type": "int", "value": "5", "minimum": 6})),
        parameter(json!({"name": "P", "value": "c", "enum": ["a", "b"]})),
        parameter(json!({"name": "P", "value": "c", "pattern": "^[ab]$"})),
        parameter(json!({"name": "P", "value": "c", "pattern": "(("})),
        parameter(json!({"name": "P", "required": true})),
    ];
    let (parameters, text) = cases.choose(random).cloned().unwrap_or_default();
    let body = json!({
        "apiVersion": "formwork.dev/v1alpha1", "kind": "Template", "metadata": {"name": "t"},
        "parameters": parameters,
        "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"},
                     "data": {"k": text}}],
    });
    let request = Request::post(format!("{PROPOSAL}/processedtemplates"), body.to_string());
    bad(format!("{parameters} in {text:?}"), request, INVALID)
}

fn bad_query(random: &mut StdRng) -> Bad {
    let lists = [
        "labelSelector=a%20b",
        "labelSelector=a%20in%20(",
        "labelSelector=%3D%3D",
        "labelSelector=a%20gt%20x",
        "fieldSelector=nope%3D1",
        "fieldSelector=metadata.name",
        "limit=x",
        "limit=99999999999999999999",
        "continue=!!!",
        "continue=eyJ2IjoieCJ9",
        "continue=AAAA&resourceVersion=5",
        "resourceVersion=x",
        "resourceVersion=-1",
        "resourceVersion=99999999999999999999999",
        "resourceVersionMatch=Exact",
        "resourceVersionMatch=Nope&resourceVersion=1",
        "sendInitialEvents=true",
        "watch=1&sendInitialEvents=true",
        "timeoutSeconds=x&watch=1",
        "watch=1&resourceVersion=x",
    ];
    let writes = ["dryRun=x", "dryRun=All&dryRun=Nope", "fieldValidation=nope", "fieldManager=%00"];
    if random.random_bool(0.8) {
        let query = lists.choose(random).copied().unwrap_or_default();
        return bad(
            format!("?{query}"),
            Request::get(format!("{NAMESPACE}/templates?{query}")),
            QUERY,
        );
    }
    let query = writes.choose(random).copied().unwrap_or_default();
    let mut body = sound();
    body["metadata"]["name"] = json!("query");
    bad(
        format!("POST ?{query}"),
        Request::post(format!("{NAMESPACE}/templates?{query}"), body.to_string()),
        BAD_OR_INVALID,
    )
}

fn bad_media(random: &mut StdRng) -> Bad {
    let media =
        ["text/plain", "application/xml", "application/json2", "nonsense", "multipart/form-data"];
    let media = media.choose(random).copied().unwrap_or_default();
    let request = Request::new(Method::POST, format!("{NAMESPACE}/{}", collection(random)))
        .header("accept", "application/json")
        .json(media, sound().to_string());
    bad(format!("a body of {media}"), request, MEDIA)
}

fn bad_accept(random: &mut StdRng) -> Bad {
    let accept = ["text/html", "image/png", "application/xml;q=0.1", "a/b/c"];
    let accept = accept.choose(random).copied().unwrap_or_default();
    let request =
        Request::new(Method::GET, format!("{NAMESPACE}/templates/kept")).header("accept", accept);
    bad(format!("Accept: {accept}"), request, NOT_ACCEPTABLE)
}

fn bad_patch(random: &mut StdRng) -> Bad {
    const JSON: &str = "application/json-patch+json";
    const MERGE: &str = "application/merge-patch+json";
    let cases = [
        (JSON, "{"),
        (JSON, "{}"),
        (JSON, "[1]"),
        (JSON, r#"[{"op":"nope","path":"/a"}]"#),
        (JSON, r#"[{"op":"remove","path":"/not/there"}]"#),
        (JSON, r#"[{"op":"test","path":"/message","value":"other"}]"#),
        (JSON, r#"[{"op":"replace","path":"no-slash","value":1}]"#),
        (JSON, r#"[{"op":"add","path":"/objects/99999999999999999999","value":1}]"#),
        (JSON, r#"[{"op":"replace","path":"/message","value":5}]"#),
        (JSON, r#"[{"op":"replace","path":"/metadata","value":null}]"#),
        (MERGE, "{"),
        (MERGE, "[]"),
        (MERGE, "7"),
        (MERGE, r#"{"message":5}"#),
        (MERGE, r#"{"metadata":{"name":"other"}}"#),
        (MERGE, r#"{"metadata":{"uid":"other"}}"#),
        (MERGE, r#"{"kind":"Other"}"#),
        (MERGE, r#"{"objects":{"a":1}}"#),
        ("application/nope+json", "{}"),
    ];
    let (media, body) = cases.choose(random).copied().unwrap_or_default();
    let request = Request::new(Method::PATCH, format!("{NAMESPACE}/templates/kept"))
        .header("accept", "application/json")
        .json(media, body);
    const RIGHT: &[(u16, &str)] = &[
        (400, "BadRequest"),
        (422, "Invalid"),
        (409, "Conflict"),
        (415, "UnsupportedMediaType"),
        (422, ""),
    ];
    bad(format!("{media} {body}"), request, RIGHT)
}

fn bad_path(random: &mut StdRng) -> Bad {
    let get = |path: String| Request::get(path);
    match random.random_range(0..4) {
        0 => bad("no such object", get(format!("{NAMESPACE}/templates/nope")), MISSING),
        1 => {
            bad("GET of processedtemplates", get(format!("{NAMESPACE}/processedtemplates")), METHOD)
        }
        2 => {
            let request = Request::new(Method::PUT, format!("{NAMESPACE}/templates"))
                .json("application/json", sound().to_string());
            bad("PUT of a collection", request, METHOD)
        }
        _ => {
            let mut body = sound();
            body["metadata"]["namespace"] = json!("elsewhere");
            bad("another namespace in the body", post("templates", body.to_string()), BAD_REQUEST)
        }
    }
}

fn too_large(random: &mut StdRng) -> Bad {
    let size = (3 << 20) + random.random_range(1..200_000_usize);
    let body = format!("{{\"message\":\"{}\"}}", "x".repeat(size));
    bad(format!("{size} bytes"), post(collection(random), body), LARGE)
}
