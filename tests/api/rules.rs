//! Why an answer may differ from the recorded one: one table, each row with the sentence of DESIGN.md that it stands on.
//!
//! A rule speaks of a kind of request and a place in the answer, never of a case by its id.
//! A difference that no rule explains is a defect of the server.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::Value;

use crate::binding::Bindings;
use crate::compare::{Answer, Difference, compare};
use crate::explain::{self, Case};
use crate::recording::Record;

/// What became of an exchange.
#[derive(Debug)]
pub(crate) enum Verdict {
    Equal,
    /// Different, each difference by one of these rules.
    Allowed(BTreeSet<&'static str>),
    Unexplained(Vec<Difference>),
    /// Not compared at all.
    LeftOut(&'static str),
}

/// One allowed difference.
pub(crate) struct Rule {
    pub id: &'static str,
    /// What DESIGN.md says, what the recording says of itself, or which later issue serves it.
    pub because: &'static str,
    allows: Allows,
}

enum Allows {
    /// Undoes a decided difference in our answer; true when there was something to undo.
    Undone(fn(&mut Answer) -> bool),
    /// Explains a difference where it stands.
    At(fn(&Case<'_>, &Difference) -> bool),
}

const AS_BUILT_IN: &str = "where it departs from what kube-apiserver does for built-in kinds (HEAD, Age column, \
                           `items: null`), we follow kube-apiserver";
const RIGHT_4XX: &str = "where upstream answers a user's mistake with a 500, a panic, a leak of storage keys, or \
                         deletes on a dry run, we give the right 4xx and do no harm";
const LATER: &str = "comes with an issue of its own";

/// Every rule there is.
pub(crate) const RULES: &[Rule] = &[
    Rule { id: "age-column", because: AS_BUILT_IN, allows: Allows::Undone(explain::without_age) },
    Rule {
        id: "items-null",
        because: AS_BUILT_IN,
        allows: Allows::At(|_, difference| {
            difference.path == "body.items"
                && difference.want == Some(Value::Null)
                && difference.got == Some(Value::Array(Vec::new()))
        }),
    },
    Rule { id: "head", because: AS_BUILT_IN, allows: Allows::At(|case, _| case.method == "HEAD") },
    Rule {
        id: "five-hundred",
        because: RIGHT_4XX,
        allows: Allows::At(|case, _| {
            case.want == 500
                && (400..500).contains(&case.got.status)
                && case.is_answered_by_a_status()
        }),
    },
    Rule {
        id: "bug-that-hurts",
        because: "bug-for-bug, less the bugs that hurt: what is no mistake of the user's does not fail with a 500",
        allows: Allows::At(|case, _| case.want == 500 && (200..300).contains(&case.got.status)),
    },
    Rule {
        id: "storage-key-leak",
        because: RIGHT_4XX,
        allows: Allows::At(|case, difference| {
            difference.path == "body.message"
                && explain::leaks_a_key(difference.want.as_ref())
                && !explain::leaks_a_key(difference.got.as_ref())
                && case.want == case.got.status
        }),
    },
    Rule {
        id: "delete-dry-run",
        because: RIGHT_4XX,
        allows: Allows::At(|case, difference| {
            explain::deletes_on_a_dry_run(case.record)
                && difference.path.ends_with("resourceVersion")
        }),
    },
    Rule {
        id: "inclusive-ranges",
        because: "ranges in generator classes include their last character",
        allows: Allows::At(explain::includes_the_last_character),
    },
    Rule {
        id: "core-v1-accepted",
        because: "`objects[]` given as core `v1` Template bodies are accepted",
        allows: Allows::At(|case, _| {
            case.want == 400
                && [200, 201, 422].contains(&case.got.status)
                && explain::says_core_v1_template(case.record)
        }),
    },
    Rule {
        id: "scalar-value",
        because: "a scalar `parameters[].value` that is a number or bool is read as its text with a Warning (400 \
                  under `fieldValidation=Strict`)",
        allows: Allows::At(|case, _| {
            case.want == 400
                && case.got.status < 300
                && case.got.warnings.iter().any(|warning| warning.contains("parameters["))
        }),
    },
    Rule {
        id: "parameter-names-on-update",
        because: "a parameter name is validated on update too",
        allows: Allows::At(explain::is_about_a_parameter_name),
    },
    Rule {
        id: "processed-subresource",
        because: "the OpenShift group serves both subresources too (`templates/NAME/processed`, `…/schema`)",
        allows: Allows::At(|case, _| {
            case.want == 404
                && (case.path.ends_with("/processed") || case.path.ends_with("/schema"))
        }),
    },
    Rule {
        id: "standalone-namespaces",
        because: "`formwork serve --standalone` needs no cluster: every namespace is there",
        allows: Allows::At(|case, _| {
            case.want == 404
                && case.got.status < 300
                && case.path.contains("/namespaces/tr-no-such-ns/")
        }),
    },
    Rule {
        id: "groups-listed",
        because: AS_BUILT_IN,
        allows: Allows::At(explain::lists_its_groups),
    },
    Rule {
        id: "resources-of-this-server",
        because: "routing, discovery, OpenAPI and the authorization test table all come from `groups.rs`: what is not \
                  served is not listed, and the template subresources are",
        allows: Allows::At(explain::lists_its_own_resources),
    },
    Rule {
        id: "kinds-of-this-server",
        because: "routing, discovery, OpenAPI and the authorization test table all come from `groups.rs`: a kind that \
                  is not served is not known",
        allows: Allows::At(explain::is_of_an_unknown_kind),
    },
    Rule {
        id: "paths-of-this-server",
        because: "the recording says so: tag `server-paths`, and checks by the names of a server's own parts",
        allows: Allows::At(explain::speaks_of_its_own_parts),
    },
    Rule { id: "apply", because: LATER, allows: Allows::At(explain::is_about_an_apply) },
    Rule {
        id: "patch-media-listed",
        because: "JSON patch and merge patch: the 415 lists what is served",
        allows: Allows::At(|case, difference| {
            case.method == "PATCH"
                && (case.want, case.got.status) == (415, 415)
                && ["body.message", "body.details"].contains(&difference.path.as_str())
        }),
    },
    Rule { id: "protobuf", because: LATER, allows: Allows::At(explain::is_about_protobuf) },
    Rule {
        id: "templateinstances",
        because: LATER,
        allows: Allows::At(|case, _| explain::is_about_template_instances(case)),
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
            && undo(&mut undone)
        {
            used.insert(rule.id);
        }
    }
    let case =
        Case { record, path: &asked.path, method: &asked.method, want: want.status, got: answer };
    let mut unexplained = Vec::new();
    for difference in compare(want, &undone, bindings) {
        if explain::is_left_open(&case, &difference) {
            continue;
        }
        match RULES.iter().find(|rule| rule.explains(&case, &difference)) {
            Some(rule) => {
                used.insert(rule.id);
            }
            None => unexplained.push(difference),
        }
    }
    Ok(match (unexplained.is_empty(), used.is_empty()) {
        (false, _) => Verdict::Unexplained(unexplained),
        (true, false) => Verdict::Allowed(used),
        // Only in what the recording itself says may come out either way.
        (true, true) => Verdict::Equal,
    })
}

impl Rule {
    fn explains(&self, case: &Case<'_>, difference: &Difference) -> bool {
        match self.allows {
            Allows::At(explains) => explains(case, difference),
            Allows::Undone(_) => false,
        }
    }
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
    fn the_age_column_is_found_in_yaml_too() {
        let column = |name: &str| {
            format!("- description: of it\n  format: \"\"\n  name: {name}\n  type: x\n")
        };
        let table = |columns: &str, cells: &str| {
            format!(
                "columnDefinitions:\n{columns}kind: Table\nrows:\n- cells:\n{cells}  object:\n    a: b\n"
            )
        };
        let record = record(
            &json!({"method": "GET", "path": "/x"}),
            &json!({"status": 200, "contentType": "application/yaml",
                   "text": table(&column("Name"), "  - t\n")}),
        );
        let both = column("Name") + &column("Age");
        let answer = Answer {
            status: 200,
            media: "application/yaml".to_owned(),
            text: table(&both, "  - t\n  - \"2026-11-20T07:26:27Z\"\n"),
            ..Answer::default()
        };
        assert_eq!(verdict(&record, &answer), "age-column");
    }

    #[test]
    fn a_recorded_500_may_become_a_4xx_or_a_success_and_no_other_failure() {
        let record = record(
            &json!({"method": "GET", "path": "/x"}),
            &json!({"status": 500, "contentType": "application/json", "body": {"code": 500}}),
        );
        let status = json!({"kind": "Status", "code": 422, "reason": "Invalid"});
        assert_eq!(verdict(&record, &answer(422, status)), "five-hundred");
        assert_eq!(verdict(&record, &answer(422, json!({"code": 422}))), "status body.code");
        assert_eq!(verdict(&record, &answer(200, json!({"code": 200}))), "bug-that-hurts");
        assert_eq!(verdict(&record, &answer(503, json!({"code": 503}))), "status body.code");
    }

    #[test]
    fn every_rule_has_a_name_of_its_own_and_a_reason() {
        let names: BTreeSet<_> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), RULES.len());
        assert!(RULES.iter().all(|rule| !rule.because.is_empty()));
    }
}
