//! What a client is told when a request fails: the `Status` of meta/v1.
//!
//! This module alone decides HTTP codes (invariant 5): every other module names a [`Reason`], and
//! [`Reason::code`] has no wildcard arm, so a new reason does not compile until somebody decides.
//! The texts are the ones that kube-apiserver's clients know and compare.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::field;

/// Why a request failed, in the words of meta/v1 `StatusReason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// 400: the body, a query parameter or an option could not be understood.
    BadRequest,
    /// 401: no identity, or one that could not be proven.
    Unauthorized,
    /// 403: the identity may not do this.
    Forbidden,
    /// 404: no such object, or no such route.
    NotFound,
    /// 405: the route exists, the verb does not.
    MethodNotAllowed,
    /// 406: none of the accepted media types is served.
    NotAcceptable,
    /// 409: an object of that name exists.
    AlreadyExists,
    /// 409: the object changed in between, or a precondition does not hold.
    Conflict,
    /// 410: the revision or the continue token is older than the history.
    Expired,
    /// 413: the body or the patch is larger than the limit.
    RequestEntityTooLarge,
    /// 415: the body's media type is not understood.
    UnsupportedMediaType,
    /// 422: understood, and against the rules.
    Invalid,
    /// 429: too many requests at once.
    TooManyRequests,
    /// 500: a fault of the server.
    InternalError,
    /// 500: the store cannot be reached now; worth another try.
    ServerTimeout,
    /// 503: starting or stopping, or without something that is needed.
    ServiceUnavailable,
    /// 504: the deadline passed, or the revision asked for is not there yet.
    Timeout,
}

impl Reason {
    /// The HTTP status code of the answer.
    pub fn code(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::NotAcceptable => 406,
            Self::AlreadyExists | Self::Conflict => 409,
            Self::Expired => 410,
            Self::RequestEntityTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Invalid => 422,
            Self::TooManyRequests => 429,
            Self::InternalError | Self::ServerTimeout => 500,
            Self::ServiceUnavailable => 503,
            Self::Timeout => 504,
        }
    }

    /// The word in `Status.reason`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "BadRequest",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::NotAcceptable => "NotAcceptable",
            Self::AlreadyExists => "AlreadyExists",
            Self::Conflict => "Conflict",
            Self::Expired => "Expired",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::UnsupportedMediaType => "UnsupportedMediaType",
            Self::Invalid => "Invalid",
            Self::TooManyRequests => "TooManyRequests",
            Self::InternalError => "InternalError",
            Self::ServerTimeout => "ServerTimeout",
            Self::ServiceUnavailable => "ServiceUnavailable",
            Self::Timeout => "Timeout",
        }
    }
}

/// One cause of a failure: what is wrong, and with which field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// A machine-readable word, e.g. `FieldValueInvalid`.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub reason: String,
    /// The sentence for people, without the field's path.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub message: String,
    /// The field's path, e.g. `parameters[1].name`.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub field: String,
}

impl From<&field::Error> for Cause {
    fn from(error: &field::Error) -> Self {
        Self {
            reason: error.reason().to_owned(),
            message: error.body(),
            field: error.field.clone(),
        }
    }
}

/// `Status.details`: what the failure is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// The object's name.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub name: String,
    /// The API group.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub group: String,
    /// The resource for storage errors, the kind for validation errors.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub kind: String,
    /// The object's uid.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub uid: String,
    /// Every single problem.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub causes: Vec<Cause>,
    /// After how many seconds another try makes sense; also sent as `Retry-After`.
    #[serde(skip_serializing_if = "is_zero", default, rename = "retryAfterSeconds")]
    pub retry_after_seconds: u32,
}

fn is_zero(seconds: &u32) -> bool {
    *seconds == 0
}

/// A group and what it is about within it: a resource (`templates`) or a kind (`Template`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject<'a> {
    /// The API group; empty for core.
    pub group: &'a str,
    /// A resource or a kind.
    pub kind: &'a str,
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        Ok(())
    }
}

impl Subject<'_> {
    fn details(&self, name: &str) -> Details {
        Details {
            name: name.to_owned(),
            group: self.group.to_owned(),
            kind: self.kind.to_owned(),
            ..Details::default()
        }
    }
}

/// A failed request. It becomes a `Status` body at the edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    reason: Reason,
    message: String,
    details: Option<Details>,
    continuation: String,
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl Error {
    /// An error with a message of its own. Prefer the named constructors: they carry the known texts.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            reason,
            message: message.into(),
            details: None,
            continuation: String::new(),
        }))
    }

    /// The same error with other details.
    #[must_use]
    pub fn with_details(mut self, details: Details) -> Self {
        self.0.details = Some(details);
        self
    }

    /// The same error with a continue token, from which a list can go on in another revision.
    #[must_use]
    pub fn with_continuation(mut self, token: String) -> Self {
        self.0.continuation = token;
        self
    }

    fn retry_after(mut self, seconds: u32) -> Self {
        self.0.details.get_or_insert_default().retry_after_seconds = seconds;
        self
    }

    /// Why the request failed.
    pub fn reason(&self) -> Reason {
        self.0.reason
    }

    /// The sentence that the client reads.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What the failure is about, if it is about an object.
    pub fn details(&self) -> Option<&Details> {
        self.0.details.as_ref()
    }

    /// The `Retry-After` header's value, if there is one.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        self.details().map(|details| details.retry_after_seconds).filter(|&seconds| seconds > 0)
    }

    // === Constructors, in the order of the codes ===

    /// 400 with a message.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Reason::BadRequest, message)
    }

    /// 401. It says nothing of the why, as a guesser would profit from it.
    pub fn unauthorized() -> Self {
        Self::new(Reason::Unauthorized, "Unauthorized")
    }

    /// 403 for a resource: `templates.g "a" is forbidden: <why>`.
    pub fn forbidden(subject: Subject<'_>, name: &str, why: &str) -> Self {
        let what =
            if name.is_empty() { subject.to_string() } else { format!("{subject} {name:?}") };
        Self::new(Reason::Forbidden, format!("{what} is forbidden: {why}"))
            .with_details(subject.details(name))
    }

    /// 403 for a path outside the resources: `forbidden: <why>`.
    pub fn forbidden_path(why: &str) -> Self {
        Self::new(Reason::Forbidden, format!("forbidden: {why}")).with_details(Details::default())
    }

    /// 404 for an object.
    pub fn not_found(resource: Subject<'_>, name: &str) -> Self {
        Self::new(Reason::NotFound, format!("{resource} {name:?} not found"))
            .with_details(resource.details(name))
    }

    /// 404 for a route.
    pub fn no_route() -> Self {
        Self::new(Reason::NotFound, "the server could not find the requested resource")
            .with_details(Details::default())
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(Reason::MethodNotAllowed, message).with_details(Details::default())
    }

    /// 405 for a verb that a client had reason to expect.
    pub fn method_not_supported(resource: Subject<'_>, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind \"{resource}\"");
        let (group, kind) = (resource.group.to_owned(), resource.kind.to_owned());
        Self::new(Reason::MethodNotAllowed, message).with_details(Details {
            group,
            kind,
            ..Details::default()
        })
    }

    /// 406 from the negotiation of an answer.
    pub fn not_acceptable(accepted: &[&str]) -> Self {
        let accepted = accepted.join(", ");
        Self::new(
            Reason::NotAcceptable,
            format!("only the following media types are accepted: {accepted}"),
        )
    }

    /// 409 because the name is taken.
    pub fn already_exists(resource: Subject<'_>, name: &str) -> Self {
        Self::new(Reason::AlreadyExists, format!("{resource} {name:?} already exists"))
            .with_details(resource.details(name))
    }

    /// 409 because the name is taken by an object that is about to go.
    pub fn still_deleting(resource: Subject<'_>, name: &str) -> Self {
        let message = format!("object is being deleted: {resource} {name:?} already exists");
        Self::new(Reason::AlreadyExists, message).with_details(resource.details(name))
    }

    /// 409 because none of the generated names was free. Another try may find one.
    pub fn names_exhausted(resource: Subject<'_>, name: &str) -> Self {
        Self::already_exists(resource, name).retry_after(1)
    }

    /// 409: `Operation cannot be fulfilled on <subject> "name": <why>`.
    pub fn conflict(subject: Subject<'_>, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {subject} {name:?}: {why}");
        Self::new(Reason::Conflict, message).with_details(subject.details(name))
    }

    /// 409 because somebody else wrote first.
    pub fn modified(resource: Subject<'_>, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(resource, name, why)
    }

    /// 410 with a message.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(Reason::Expired, message)
    }

    /// 413 for a body.
    pub fn too_large(limit: usize) -> Self {
        Self::new(
            Reason::RequestEntityTooLarge,
            format!("Request entity too large: limit is {limit}"),
        )
    }

    /// 413 for an object that the store does not take, although the body was within its limit.
    pub fn too_large_to_store() -> Self {
        Self::new(
            Reason::RequestEntityTooLarge,
            "Request entity too large: the object is larger than what the store takes",
        )
    }

    /// 415 for a body.
    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        let accepted = accepted.join(", ");
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {accepted}"
        );
        Self::new(Reason::UnsupportedMediaType, message)
    }

    /// 422 with every problem: `Kind.group "name" is invalid: <problems>`.
    pub fn invalid(kind: Subject<'_>, name: &str, errors: &[field::Error]) -> Self {
        let mut details = kind.details(name);
        details.causes = errors.iter().map(Cause::from).collect();
        let problems = field::aggregate(errors);
        Self::new(Reason::Invalid, format!("{kind} {name:?} is invalid: {problems}"))
            .with_details(details)
    }

    /// 422 for a patch that is well-formed and cannot be carried out.
    pub fn unprocessable() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(Reason::Invalid, message).with_details(Details::default())
    }

    /// 429.
    pub fn too_many_requests() -> Self {
        Self::new(Reason::TooManyRequests, "too many requests, please try again later")
            .retry_after(1)
    }

    /// 429 because something that is needed is busy, and will be for so many seconds.
    pub fn busy(what: impl fmt::Display, seconds: u32) -> Self {
        Self::new(Reason::TooManyRequests, what.to_string()).retry_after(seconds.max(1))
    }

    /// 500 with what went wrong; never with anybody's data.
    pub fn internal(what: impl fmt::Display) -> Self {
        Self::new(Reason::InternalError, format!("Internal error occurred: {what}"))
    }

    /// 500 because the store is out of reach.
    pub fn storage_unavailable(what: impl fmt::Display) -> Self {
        Self::new(Reason::ServerTimeout, format!("storage is unavailable: {what}")).retry_after(2)
    }

    /// 503 because something that is needed is not there now.
    pub fn unavailable(what: impl fmt::Display) -> Self {
        Self::new(Reason::ServiceUnavailable, what.to_string()).retry_after(1)
    }

    /// 503 while stopping.
    pub fn shutting_down() -> Self {
        Self::new(Reason::ServiceUnavailable, "the server is shutting down").retry_after(1)
    }

    /// 504 because the deadline passed.
    pub fn timeout(message: impl Into<String>) -> Self {
        Self::new(Reason::Timeout, message)
    }

    /// 504 because the revision asked for lies in the future.
    pub fn revision_too_large(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let cause = Cause {
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".into(),
            field: String::new(),
        };
        Self::new(Reason::Timeout, message)
            .with_details(Details { causes: vec![cause], ..Details::default() })
            .retry_after(1)
    }

    /// The wire form.
    pub fn to_status(&self) -> Status<'_> {
        Status {
            kind: "Status",
            api_version: "v1",
            metadata: Metadata { continuation: &self.0.continuation },
            status: "Failure",
            message: &self.0.message,
            reason: self.0.reason.as_str(),
            details: self.0.details.as_ref(),
            code: self.0.reason.code(),
        }
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Metadata<'a> {
    #[serde(rename = "continue", skip_serializing_if = "str::is_empty")]
    continuation: &'a str,
}

/// The `Status` body of a failure.
#[derive(Clone, Debug, Serialize)]
pub struct Status<'a> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    metadata: Metadata<'a>,
    status: &'static str,
    message: &'a str,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Details>,
    code: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATES: Subject<'static> = Subject { group: "g.example", kind: "templates" };

    #[test]
    fn a_missing_object_is_named_with_its_resource() {
        let error = Error::not_found(TEMPLATES, "a");
        let json = serde_json::to_value(error.to_status()).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "templates.g.example \"a\" not found", "reason": "NotFound",
                "details": {"name": "a", "group": "g.example", "kind": "templates"}, "code": 404
            })
        );
    }

    #[test]
    fn every_problem_of_an_invalid_object_is_a_cause() {
        let errors = [
            field::Error::required("metadata.name", "name or generateName is required"),
            field::Error::invalid("a[0]", "\"x\"", "no"),
        ];
        let error = Error::invalid(Subject { group: "", kind: "K" }, "n", &errors);
        assert_eq!(
            error.message(),
            "K \"n\" is invalid: [metadata.name: Required value: name or generateName is required, a[0]: Invalid value: \"x\": no]"
        );
        assert_eq!(error.details().unwrap().causes.len(), 2);
    }

    #[test]
    fn a_revision_of_the_future_is_worth_another_try() {
        assert_eq!(Error::revision_too_large(9, 1).retry_after_seconds(), Some(1));
    }
}
