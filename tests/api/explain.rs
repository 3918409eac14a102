//! What the rules look for in a request, an answer and a difference.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::binding::generator;
use crate::compare::{Answer, Difference, equal};
use crate::recording::Record;

/// An exchange with both of its answers.
pub(crate) struct Case<'a> {
    pub record: &'a Record,
    pub path: &'a str,
    pub method: &'a str,
    /// The recorded status.
    pub want: u16,
    pub got: &'a Answer,
}

impl Case<'_> {
    /// Whether ours is a `Status` with a reason.
    pub(crate) fn is_answered_by_a_status(&self) -> bool {
        self.got.body.as_ref().is_some_and(|body| {
            body["kind"] == "Status"
                && body["reason"].as_str().is_some_and(|reason| !reason.is_empty())
        })
    }
}

/// The recorded server ignores a dry run of the query when there is a body.
pub(crate) fn deletes_on_a_dry_run(record: &Record) -> bool {
    let Some(asked) = &record.request else { return false };
    asked.method == "DELETE" && asked.path.contains("dryRun=All") && !asked.shown().is_empty()
}

pub(crate) fn says_core_v1_template(record: &Record) -> bool {
    body(record).is_some_and(|body| body["apiVersion"] == "v1" && body["kind"] == "Template")
}

pub(crate) fn leaks_a_key(message: Option<&Value>) -> bool {
    message.and_then(Value::as_str).is_some_and(|text| text.contains("/openshift.io/"))
}

/// Takes the Age column out of every Table; later events of a watch have its cells without its column.
pub(crate) fn without_age(answer: &mut Answer) -> bool {
    let events = answer.events.iter_mut().filter_map(|event| event.get_mut("object"));
    let (mut age, mut changed) = (None, without_age_in_yaml(&mut answer.text));
    for table in answer.body.iter_mut().chain(events).filter(|body| body["kind"] == "Table") {
        if let Some(columns) = table["columnDefinitions"].as_array_mut()
            && let Some(found) = columns.iter().position(|column| column["name"] == "Age")
        {
            age = Some(found);
            columns.remove(found);
            changed = true;
        }
        let Some(age) = age else { continue };
        for row in table["rows"].as_array_mut().into_iter().flatten() {
            if let Some(cells) = row["cells"].as_array_mut()
                && age < cells.len()
            {
                cells.remove(age);
                changed = true;
            }
        }
    }
    changed
}

/// The same for a Table in YAML, which is compared as text: the column's item, and the last cell of each row.
fn without_age_in_yaml(text: &mut String) -> bool {
    static COLUMN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^- description: .*\n(?:  .*\n)*?  name: Age\n(?:  .*\n)*")
            .expect("the pattern is a constant")
    });
    static CELL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^  - .*\n  object:").expect("the pattern is a constant"));
    if !text.contains("\nkind: Table\n") || !COLUMN.is_match(text) {
        return false;
    }
    *text = CELL.replace_all(&COLUMN.replace(text, ""), "  object:").into_owned();
    true
}

/// A generated value that fits its expression with ranges to the end, where it stands or is put in.
pub(crate) fn includes_the_last_character(case: &Case<'_>, difference: &Difference) -> bool {
    let parameters = body(case.record).map(|body| body["parameters"].clone()).unwrap_or_default();
    let values = case.got.body.as_ref().map(|body| &body["parameters"]);
    let fits = |(parameter, value): (&Value, &Value)| {
        let (Some(from), Some(value)) = (parameter["from"].as_str(), value["value"].as_str())
        else {
            return false;
        };
        let expression = Regex::new(&format!("^(?:{})$", generator(from)));
        expression.is_ok_and(|expression| expression.is_match(value))
            && difference
                .got
                .as_ref()
                .and_then(Value::as_str)
                .is_some_and(|got| got.contains(value))
    };
    let (Some(parameters), Some(values)) =
        (parameters.as_array(), values.and_then(Value::as_array))
    else {
        return false;
    };
    parameters.iter().zip(values).any(fits)
}

/// Refused for the name of a parameter that was accepted there, or shown with the name that stands in for it.
pub(crate) fn is_about_a_parameter_name(case: &Case<'_>, difference: &Difference) -> bool {
    if case.want < 300 && case.got.status == 422 {
        let status = case.got.body.as_ref();
        return status.is_some_and(refuses_parameter_names);
    }
    if difference.path == "text" {
        return stands_in_for_names(difference);
    }
    static PLACE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^body\.parameters\[\d+\](\.name)?$").expect("the pattern is a constant")
    });
    let name = |side: &Option<Value>| {
        let side = side.clone().unwrap_or_default();
        side.as_str().or_else(|| side["name"].as_str()).map(str::to_owned)
    };
    PLACE.is_match(&difference.path)
        && !name(&difference.want).is_some_and(|name| is_parameter_name(&name))
        && name(&difference.got).is_some_and(|name| is_parameter_name(&name))
}

/// Texts that differ in nothing but names of parameters; what placeholders stand for was compared before.
fn stands_in_for_names(difference: &Difference) -> bool {
    let text = |side: &Option<Value>| side.as_ref().and_then(Value::as_str).map(str::to_owned);
    let (Some(want), Some(got)) = (text(&difference.want), text(&difference.got)) else {
        return false;
    };
    let name =
        |line: &str| line.strip_prefix("- name: ").map(|name| name.trim_matches('"').to_owned());
    let fits = |(want, got): (&str, &str)| {
        let replaced = name(want).is_some_and(|name| !is_parameter_name(&name))
            && name(got).is_some_and(|name| is_parameter_name(&name));
        want == got || want.contains('<') || replaced
    };
    want.lines().count() == got.lines().count() && want.lines().zip(got.lines()).all(fits)
}

/// Whether every cause of a 422 is the name of a parameter.
pub(crate) fn refuses_parameter_names(status: &Value) -> bool {
    let causes = status["details"]["causes"].as_array().map_or(&[][..], Vec::as_slice);
    !causes.is_empty()
        && causes.iter().all(|cause| {
            cause["field"]
                .as_str()
                .is_some_and(|field| field.starts_with("parameters[") && field.ends_with("].name"))
        })
}

pub(crate) fn is_parameter_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The recorded server has no `/api`, and keeps the list of groups empty but in the aggregated form.
pub(crate) fn lists_its_groups(case: &Case<'_>, difference: &Difference) -> bool {
    if case.path == "/api" && case.got.status == 200 {
        return case.got.body.as_ref().is_some_and(|body| body["kind"] == "APIVersions");
    }
    let listed = case.got.text.contains("template.openshift.io/v1") && case.got.status == 200;
    let of_list = case.path.trim_end_matches('/') == "/apis" && listed;
    let added = difference.want.is_none() || difference.path == "body.groups";
    of_list && (added || difference.path == "text")
}

/// Discovery of a group version: what both list is the same; only the subresources of templates are more, and only the
/// resources of later issues are less.
pub(crate) fn lists_its_own_resources(case: &Case<'_>, difference: &Difference) -> bool {
    if !case.path.starts_with("/apis") || case.want != case.got.status {
        return false;
    }
    let (want, got) = (difference.want.clone(), difference.got.clone());
    match difference.path.as_str() {
        "body.resources" => same_resources(&want, &got, "name", &["storageVersionHash"]),
        "body.items" => same_groups(&want, &got),
        "text" => {
            let parsed = |side: Option<Value>| {
                side.and_then(|text| serde_saphyr::from_str::<Value>(text.as_str()?).ok())
                    .map(|list| list["resources"].clone())
            };
            same_resources(&parsed(want), &parsed(got), "name", &["storageVersionHash"])
        }
        _ => false,
    }
}

fn same_groups(want: &Option<Value>, got: &Option<Value>) -> bool {
    let group = |side: &Option<Value>| {
        let groups = side.as_ref()?.as_array()?;
        let group =
            groups.iter().find(|group| group["metadata"]["name"] == "template.openshift.io");
        Some(group?["versions"][0]["resources"].clone())
    };
    // Built-in kinds have their group and version in `responseKind`; there both are empty.
    same_resources(&group(want), &group(got), "resource", &["subresources", "responseKind"])
}

fn same_resources(want: &Option<Value>, got: &Option<Value>, key: &str, besides: &[&str]) -> bool {
    let (Some(want), Some(got)) =
        (want.as_ref().and_then(Value::as_array), got.as_ref().and_then(Value::as_array))
    else {
        return false;
    };
    let plain = |resource: &Value| {
        let mut resource = resource.clone();
        for field in besides {
            if let Some(fields) = resource.as_object_mut() {
                fields.remove(*field);
            }
        }
        resource
    };
    let find = |side: &[Value], name: &Value| {
        side.iter().find(|resource| resource[key] == *name).map(plain)
    };
    let name_of = |resource: &Value| resource[key].as_str().unwrap_or_default().to_owned();
    !got.is_empty()
        && want.iter().all(|resource| match find(got, &resource[key]) {
            Some(ours) => equal(&plain(resource), &ours),
            None => name_of(resource).contains("templateinstances"),
        })
        && got.iter().all(|resource| {
            find(want, &resource[key]).is_some() || name_of(resource).starts_with("templates/")
        })
}

/// A body of a kind that the recorded server knew from elsewhere: both refuse it, each in its words.
pub(crate) fn is_of_an_unknown_kind(case: &Case<'_>, difference: &Difference) -> bool {
    let says = |side: &Option<Value>, words: &[&str]| {
        let text = side.as_ref().and_then(Value::as_str).unwrap_or_default();
        words.iter().any(|words| text.contains(words))
    };
    (case.want, case.got.status) == (400, 400)
        && difference.path == "body.message"
        && says(
            &difference.want,
            &["unknown conversion", "does not match the expected API version"],
        )
        && says(&difference.got, &["no kind "])
}

/// Lists of a server's own paths, and of its own health checks.
pub(crate) fn speaks_of_its_own_parts(case: &Case<'_>, difference: &Difference) -> bool {
    let tagged = case.record.tags.iter().any(|tag| tag == "server-paths");
    let checks = ["/readyz", "/livez", "/healthz"].iter().any(|path| case.path.starts_with(path));
    let last = |side: &Option<Value>| {
        side.as_ref()
            .and_then(Value::as_str)
            .and_then(|text| text.trim_end().lines().last().map(str::to_owned))
    };
    match difference.path.as_str() {
        "body.paths" => tagged && difference.got.as_ref().is_some_and(Value::is_array),
        "text" => checks && last(&difference.want) == last(&difference.got),
        _ => false,
    }
}

/// The record of a manager that applied, or the revision of what it applied.
pub(crate) fn is_about_an_apply(case: &Case<'_>, difference: &Difference) -> bool {
    let body = case.record.response.as_ref().and_then(|want| want.body.as_ref());
    body.is_some_and(|body| body.to_string().contains(r#""operation":"Apply""#))
        && (difference.path.contains("managedFields")
            || difference.path.ends_with("resourceVersion"))
}

/// What the recorded server decides by chance: which of two equal keys wins, how many bookmarks come.
pub(crate) fn is_left_open(case: &Case<'_>, difference: &Difference) -> bool {
    let tagged = |name: &str| case.record.tags.iter().any(|tag| tag == name);
    let bookmark = |side: &Option<Value>| {
        side.as_ref().is_none_or(|event| {
            event["type"] == "BOOKMARK" && event["object"]["metadata"].get("annotations").is_none()
        })
    };
    tagged("undefined-winner") && difference.path.starts_with("body.")
        || tagged("timing")
            && difference.path.starts_with("events[")
            && difference.path.ends_with(']')
            && bookmark(&difference.want)
            && bookmark(&difference.got)
}

/// An answer in protobuf, or a text that lists it among the media types.
pub(crate) fn is_about_protobuf(case: &Case<'_>, difference: &Difference) -> bool {
    const MEDIA: &str = "application/vnd.kubernetes.protobuf";
    let asked = case.record.request.as_ref().and_then(|asked| asked.headers.get("Accept"));
    // YAML folds a long text at other places.
    let squeezed = |side: &Option<Value>| {
        let text = side.as_ref().and_then(Value::as_str).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let without = squeezed(&difference.want)
        .replace(&format!(", {MEDIA};stream=watch"), "")
        .replace(&format!(", {MEDIA}"), "");
    asked.is_some_and(|accept| accept.starts_with(MEDIA))
        || squeezed(&difference.want).contains(MEDIA) && without == squeezed(&difference.got)
}

/// About a resource, or with a body of a kind, that is served by a later issue.
pub(crate) fn is_about_template_instances(case: &Case<'_>) -> bool {
    case.path.contains("templateinstances") && (400..500).contains(&case.got.status)
        || body(case.record).is_some_and(|body| {
            body["kind"].as_str().is_some_and(|kind| kind.ends_with("TemplateInstance"))
        })
}

/// The body that was recorded as sent.
fn body(record: &Record) -> Option<Value> {
    let text = record.request.as_ref()?.text().ok().flatten()?;
    serde_json::from_slice(&text).ok()
}
