//! An event of `audit.k8s.io/v1`, as one line of JSON.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::policy::{Level, Stage};
use super::{Asked, source};
use crate::authn::User;
use crate::meta::ObjectMeta;

/// How much of a `User-Agent` is kept, in bytes.
const LONGEST_USER_AGENT: usize = 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    kind: &'static str,
    api_version: &'static str,
    level: Level,
    #[serde(rename = "auditID")]
    audit_id: String,
    pub(super) stage: Stage,
    #[serde(rename = "requestURI")]
    request_uri: String,
    verb: String,
    user: Who,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) impersonated_user: Option<Who>,
    #[serde(rename = "sourceIPs", skip_serializing_if = "Vec::is_empty")]
    source_ips: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    user_agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_ref: Option<ObjectReference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_status: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) request_object: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_object: Option<Value>,
    request_received_timestamp: String,
    stage_timestamp: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) annotations: BTreeMap<&'static str, String>,
}

/// `UserInfo` of authentication.k8s.io/v1.
#[derive(Serialize)]
pub(super) struct Who {
    #[serde(skip_serializing_if = "String::is_empty")]
    username: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    uid: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<String, Vec<String>>,
}

impl From<&User> for Who {
    fn from(user: &User) -> Self {
        let User { name, uid, groups, extra } = user.clone();
        Self { username: name, uid, groups, extra }
    }
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectReference {
    #[serde(skip_serializing_if = "String::is_empty")]
    resource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    uid: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    api_group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    api_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    resource_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    subresource: String,
}

impl Event {
    pub(super) fn new(level: Level, asked: Asked<'_>, user: &User, received: Timestamp) -> Self {
        let Asked { parts, info, id, peer } = asked;
        let received = micro_time(received);
        let text = |name: &str| {
            let value = parts.headers.get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default()
        };
        Self {
            kind: "Event",
            api_version: "audit.k8s.io/v1",
            level,
            audit_id: id.to_str().unwrap_or_default().to_owned(),
            stage: Stage::RequestReceived,
            request_uri: parts.uri.path_and_query().map_or("/", |uri| uri.as_str()).to_owned(),
            verb: info.verb.as_str().to_owned(),
            user: user.into(),
            impersonated_user: None,
            source_ips: source::source_ips(&parts.headers, peer.address()),
            user_agent: shortened(text("user-agent")),
            object_ref: info.is_resource_request.then(|| ObjectReference {
                resource: info.resource.clone(),
                namespace: info.namespace.clone(),
                name: info.name.clone(),
                api_group: info.group.clone(),
                api_version: info.version.clone(),
                subresource: info.subresource.clone(),
                ..ObjectReference::default()
            }),
            response_status: None,
            request_object: None,
            response_object: None,
            stage_timestamp: received.clone(),
            request_received_timestamp: received,
            annotations: BTreeMap::new(),
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.audit_id
    }

    /// Adds what the path does not say of the object.
    pub(super) fn refer_to(&mut self, meta: &ObjectMeta) {
        let known = self.object_ref.get_or_insert_default();
        for (known, given) in [
            (&mut known.namespace, &meta.namespace),
            (&mut known.name, &meta.name),
            (&mut known.uid, &meta.uid),
            (&mut known.resource_version, &meta.resource_version),
        ] {
            if known.is_empty() {
                known.clone_from(given);
            }
        }
    }

    /// The event as it is now, with a line feed.
    pub(super) fn line(&mut self, now: Timestamp) -> Vec<u8> {
        self.stage_timestamp = micro_time(now);
        let mut line = serde_json::to_vec(self).expect("an event is plain data");
        line.push(b'\n');
        line
    }
}

/// `metav1.MicroTime`: always six digits after the point.
fn micro_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

fn shortened(user_agent: &str) -> String {
    if user_agent.len() <= LONGEST_USER_AGENT {
        return user_agent.to_owned();
    }
    let end = user_agent.floor_char_boundary(LONGEST_USER_AGENT);
    format!("{}...TRUNCATED", &user_agent[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_six_digits_after_the_point() {
        assert_eq!(micro_time(Timestamp::UNIX_EPOCH), "1970-01-01T00:00:00.000000Z");
        let time = Timestamp::from_microsecond(1_500_000_000_000_042).unwrap();
        assert_eq!(micro_time(time), "2017-07-14T02:40:00.000042Z");
    }

    #[test]
    fn a_user_agent_is_cut_between_characters() {
        assert_eq!(shortened("kubectl"), "kubectl");
        let long = "é".repeat(LONGEST_USER_AGENT);
        assert_eq!(
            shortened(&format!("x{long}")).len(),
            LONGEST_USER_AGENT - 1 + "...TRUNCATED".len()
        );
    }
}
