//! What keeps the server in the state that an exchange was recorded in, where ours has gone another way by decision.

use ::tests::client::Request;
use anyhow::Result;
use http::Method;
use serde_json::Value;

use crate::compare::Answer;
use crate::explain;
use crate::recording::Record;

/// Exchanges that are not compared: strategic merge patches and applies come with an issue of their own.
pub(crate) fn left_out(record: &Record) -> Option<&'static str> {
    match record.request.as_ref()?.media() {
        "application/strategic-merge-patch+json" => Some("strategic merge patch"),
        media if media.starts_with("application/apply-patch") => Some("apply"),
        _ => None,
    }
}

/// Whether to ask for a dry run only: what the recorded server could not store must not change the revisions here.
pub(crate) fn leaves_no_trace(record: &Record) -> bool {
    record
        .response
        .as_ref()
        .and_then(|want| want.body_filtered.as_ref())
        .and_then(|digest| digest["message"].as_str())
        .is_some_and(|message| message.starts_with("etcdserver: "))
}

/// What to do after an exchange so that what follows meets the state it was recorded in.
pub(crate) fn aftermath(
    record: &Record,
    sent: &Request,
    answer: &Answer,
) -> Result<Option<Request>> {
    if explain::deletes_on_a_dry_run(record) {
        let path = sent.path.split('?').next().unwrap_or_default().to_owned();
        return Ok(Some(Request::new(Method::DELETE, path)));
    }
    let refused = answer.body.as_ref().is_some_and(explain::refuses_parameter_names);
    if sent.method != Method::PUT || !refused || record.response()?.status != 200 {
        return Ok(None);
    }
    let mut body: Value = serde_json::from_slice(&sent.body)?;
    make_names_valid(&mut body);
    let mut again = sent.clone();
    again.body = serde_json::to_vec(&body)?.into();
    Ok(Some(again))
}

/// Gives every parameter without a valid name one.
pub(crate) fn make_names_valid(template: &mut Value) {
    for (i, parameter) in template["parameters"].as_array_mut().into_iter().flatten().enumerate() {
        if !parameter["name"].as_str().is_some_and(explain::is_parameter_name) {
            parameter["name"] = Value::from(format!("NAME_{i}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_invalid_names_are_replaced() {
        let mut template = json!({"parameters": [{"name": "A"}, {"name": "a-b"}, {"name": ""}]});
        make_names_valid(&mut template);
        assert_eq!(
            template,
            json!({"parameters": [{"name": "A"}, {"name": "NAME_1"}, {"name": "NAME_2"}]})
        );
    }

    #[test]
    fn strategic_patches_and_applies_are_left_out() {
        let record = |media: &str| -> Record {
            serde_json::from_value(json!({
                "id": "x-1", "group": "x", "type": "exchange",
                "request": {"method": "PATCH", "path": "/", "headers": {"Content-Type": media}},
                "response": {"status": 200}
            }))
            .unwrap()
        };
        assert!(left_out(&record("application/strategic-merge-patch+json")).is_some());
        assert!(left_out(&record("application/apply-patch+yaml")).is_some());
        assert!(left_out(&record("application/merge-patch+json")).is_none());
    }
}
