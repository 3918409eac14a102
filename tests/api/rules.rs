//! Why an answer may differ from the recorded one: one table, each row with the sentence of DESIGN.md that it stands on.
//!
//! A rule speaks of a kind of request and a place in the answer, never of a case by its id.
//! A difference that no rule explains is a defect of the server.

use std::collections::BTreeSet;

use ::tests::client::Request;
use anyhow::Result;
use http::Method;
use serde_json::Value;

use crate::binding::Bindings;
use crate::compare::{Answer, Difference, compare};
use crate::recording::Record;

/// What became of an exchange.
#[derive(Debug)]
pub(crate) enum Verdict {
    Equal,
    /// Different, each difference by one of these rules.
    Allowed(BTreeSet<&'static str>),
    Unexplained(Vec<Difference>),
    /// Not asked at all.
    LeftOut(&'static str),
}

/// One allowed difference.
pub(crate) struct Rule {
    pub id: &'static str,
    /// What DESIGN.md says, or which later issue serves it.
    pub because: &'static str,
    allows: Allows,
}

enum Allows {
    /// Undoes a decided difference in our answer; true when there was something to undo.
    Undone(fn(&Record, &mut Answer) -> bool),
    /// Explains a difference where it stands.
    At(fn(&Case<'_>, &Difference) -> bool),
}

/// An exchange with both of its answers.
struct Case<'a> {
    record: &'a Record,
    path: &'a str,
    method: &'a str,
    want: u16,
    got: &'a Answer,
}

/// Every rule there is.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: "age-column",
        because: "where it departs from what kube-apiserver does for built-in kinds (HEAD, Age column, `items: null`), we follow kube-apiserver",
        allows: Allows::Undone(without_age),
    },
    Rule {
        id: "items-null",
        because: "where it departs from what kube-apiserver does for built-in kinds (HEAD, Age column, `items: null`), we follow kube-apiserver",
        allows: Allows::At(|_, difference| {
            difference.path == "body.items"
                && difference.want == Some(Value::Null)
                && difference.got == Some(Value::Array(Vec::new()))
        }),
    },
    Rule {
        id: "head",
        because: "where it departs from what kube-apiserver does for built-in kinds (HEAD, Age column, `items: null`), we follow kube-apiserver",
        allows: Allows::At(|case, _| case.method == "HEAD"),
    },
    Rule {
        id: "five-hundred",
        because: "where upstream answers a user's mistake with a 500, a panic, a leak of storage keys, or deletes on a dry run, we give the right 4xx and do no harm",
        allows: Allows::At(|case, _| case.want == 500 && (400..500).contains(&case.got.status)),
    },
    Rule {
        id: "storage-key-leak",
        because: "where upstream answers a user's mistake with a 500, a panic, a leak of storage keys, or deletes on a dry run, we give the right 4xx and do no harm",
        allows: Allows::At(|case, difference| {
            difference.path == "body.message"
                && leaks_a_key(difference.want.as_ref())
                && !leaks_a_key(difference.got.as_ref())
                && case.want == case.got.status
        }),
    },
    Rule {
        id: "delete-dry-run",
        because: "where upstream answers a user's mistake with a 500, a panic, a leak of storage keys, or deletes on a dry run, we give the right 4xx and do no harm",
        allows: Allows::At(|case, difference| {
            deletes_on_a_dry_run(case.record) && difference.path.ends_with("resourceVersion")
        }),
    },
    Rule {
        id: "core-v1-accepted",
        because: "`objects[]` given as core `v1` Template bodies are accepted",
        allows: Allows::At(|case, _| {
            case.want == 400 && case.got.status < 300 && says_core_v1_template(case.record)
        }),
    },
    Rule {
        id: "scalar-value",
        because: "a scalar `parameters[].value` that is a number or bool is read as its text with a Warning (400 under `fieldValidation=Strict`)",
        allows: Allows::At(|case, _| {
            case.want == 400
                && case.got.status < 300
                && case.got.warnings.iter().any(|warning| warning.contains("parameters["))
        }),
    },
    Rule {
        id: "paths-of-this-server",
        because: "the paths of a server are its own (transcripts: tag `server-paths`)",
        allows: Allows::At(|case, difference| {
            case.record.tags.iter().any(|tag| tag == "server-paths")
                && difference.path == "body.paths"
                && difference.got.as_ref().is_some_and(Value::is_array)
        }),
    },
    Rule {
        id: "not-served-yet",
        because: "templateinstances, brokertemplateinstances and protobuf come with their own issues",
        allows: Allows::At(|case, _| {
            case.path.contains("templateinstances")
                || case
                    .record
                    .request
                    .as_ref()
                    .and_then(|asked| asked.headers.get("Accept"))
                    .is_some_and(|accept| accept.starts_with("application/vnd.kubernetes.protobuf"))
        }),
    },
];

/// Compares, and weighs what differs.
pub(crate) fn judge(record: &Record, answer: &Answer, bindings: &mut Bindings) -> Result<Verdict> {
    let (asked, want) = (record.request()?, record.response()?);
    let mut tentative = bindings.clone();
    if compare(want, answer, &mut tentative).is_empty() {
        *bindings = tentative;
        return Ok(Verdict::Equal);
    }

    let mut used = BTreeSet::new();
    let mut undone = answer.clone();
    for rule in RULES {
        if let Allows::Undone(undo) = rule.allows
            && undo(record, &mut undone)
        {
            used.insert(rule.id);
        }
    }
    let case =
        Case { record, path: &asked.path, method: &asked.method, want: want.status, got: answer };
    let mut unexplained = Vec::new();
    for difference in compare(want, &undone, bindings) {
        match RULES.iter().find(|rule| rule.explains(&case, &difference)) {
            Some(rule) => {
                used.insert(rule.id);
            }
            None => unexplained.push(difference),
        }
    }
    Ok(if unexplained.is_empty() {
        Verdict::Allowed(used)
    } else {
        Verdict::Unexplained(unexplained)
    })
}

/// Exchanges that this server is not to be asked: their own issue serves them.
pub(crate) fn left_out(record: &Record) -> Option<&'static str> {
    let media = record.request.as_ref()?.media();
    if media == "application/strategic-merge-patch+json" {
        return Some("strategic merge patch");
    }
    media.starts_with("application/apply-patch").then_some("apply")
}

/// What to do so that what follows meets the state it was recorded in.
pub(crate) fn aftermath(record: &Record, bindings: &Bindings) -> Result<Option<Request>> {
    if !deletes_on_a_dry_run(record) {
        return Ok(None);
    }
    let path = bindings.fill(&record.request()?.path);
    let path = path.split('?').next().unwrap_or_default().to_owned();
    Ok(Some(Request::new(Method::DELETE, path)))
}

impl Rule {
    fn explains(&self, case: &Case<'_>, difference: &Difference) -> bool {
        match self.allows {
            Allows::At(explains) => explains(case, difference),
            Allows::Undone(_) => false,
        }
    }
}

/// The recorded server ignores a dry run of the query when there is a body.
fn deletes_on_a_dry_run(record: &Record) -> bool {
    let Some(asked) = &record.request else { return false };
    asked.method == "DELETE" && asked.path.contains("dryRun=All") && !asked.shown().is_empty()
}

fn says_core_v1_template(record: &Record) -> bool {
    record
        .request
        .as_ref()
        .and_then(|asked| asked.text().ok().flatten())
        .and_then(|text| serde_json::from_slice::<Value>(&text).ok())
        .is_some_and(|body| body["apiVersion"] == "v1" && body["kind"] == "Template")
}

fn leaks_a_key(message: Option<&Value>) -> bool {
    message.and_then(Value::as_str).is_some_and(|text| text.contains("/openshift.io/"))
}

/// Takes the Age column out of every Table.
fn without_age(_: &Record, answer: &mut Answer) -> bool {
    let mut changed = false;
    for table in answer
        .body
        .iter_mut()
        .chain(answer.events.iter_mut().filter_map(|event| event.get_mut("object")))
        .filter(|body| body["kind"] == "Table")
    {
        let Some(columns) = table["columnDefinitions"].as_array_mut() else { continue };
        let Some(age) = columns.iter().position(|column| column["name"] == "Age") else { continue };
        columns.remove(age);
        changed = true;
        for row in table["rows"].as_array_mut().into_iter().flatten() {
            if let Some(cells) = row["cells"].as_array_mut()
                && age < cells.len()
            {
                cells.remove(age);
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(request: &Value, response: &Value) -> Record {
        serde_json::from_value(json!({
            "id": "x-1", "group": "x", "type": "exchange", "request": request, "response": response
        }))
        .unwrap()
    }

    fn answer(status: u16, body: Value) -> Answer {
        Answer {
            status,
            media: "application/json".to_owned(),
            text: body.to_string(),
            body: Some(body),
            ..Answer::default()
        }
    }

    fn verdict(record: &Record, answer: &Answer) -> String {
        match judge(record, answer, &mut Bindings::default()).unwrap() {
            Verdict::Equal => "equal".to_owned(),
            Verdict::Allowed(rules) => rules.into_iter().collect::<Vec<_>>().join(","),
            Verdict::Unexplained(found) => {
                found.iter().map(|found| found.path.as_str()).collect::<Vec<_>>().join(" ")
            }
            Verdict::LeftOut(reason) => reason.to_owned(),
        }
    }

    #[test]
    fn what_no_rule_explains_stays_unexplained() {
        let record = record(
            &json!({"method": "GET", "path": "/x"}),
            &json!({"status": 200, "contentType": "application/json", "body": {"a": 1}}),
        );
        assert_eq!(verdict(&record, &answer(200, json!({"a": 1}))), "equal");
        assert_eq!(verdict(&record, &answer(404, json!({"a": 2}))), "status body.a");
    }

    #[test]
    fn the_age_column_is_the_only_column_forgiven() {
        let table = |columns: Value, cells: Value| json!({"kind": "Table", "columnDefinitions": columns, "rows": [{"cells": cells}]});
        let record = record(
            &json!({"method": "GET", "path": "/x"}),
            &json!({"status": 200, "contentType": "application/json",
                   "body": table(json!([{"name": "Name"}]), json!(["a"]))}),
        );
        let aged = table(json!([{"name": "Name"}, {"name": "Age"}]), json!(["a", "1s"]));
        assert_eq!(verdict(&record, &answer(200, aged)), "age-column");
        let other = table(json!([{"name": "Name"}, {"name": "X"}]), json!(["a", "1s"]));
        assert_eq!(
            verdict(&record, &answer(200, other)),
            "body.columnDefinitions body.rows[0].cells"
        );
    }

    #[test]
    fn a_recorded_500_may_become_a_4xx_and_nothing_else() {
        let record = record(
            &json!({"method": "GET", "path": "/x"}),
            &json!({"status": 500, "contentType": "application/json", "body": {"code": 500}}),
        );
        assert_eq!(verdict(&record, &answer(422, json!({"code": 422}))), "five-hundred");
        assert_eq!(verdict(&record, &answer(200, json!({"code": 200}))), "status body.code");
    }

    #[test]
    fn every_rule_has_a_name_of_its_own_and_a_reason() {
        let names: BTreeSet<_> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), RULES.len());
        assert!(RULES.iter().all(|rule| !rule.because.is_empty()));
    }
}
