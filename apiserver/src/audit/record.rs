//! The record of one request, from its beginning to its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::StatusCode;
use serde_json::{Value, json};

use super::event::Event;
use super::policy::{Level, Stage, Treatment};
use super::{Audit, Secrets, secrets};
use crate::authn::User;
use crate::authz::{Decision, Undecided};
use crate::meta::ObjectMeta;
use crate::status::{Error, Reason};

/// What is known of a request, written at the stages that the policy wants.
pub(crate) struct Record {
    audit: Arc<Audit>,
    treatment: Treatment,
    event: Mutex<Event>,
}

impl Record {
    pub(super) fn new(audit: Arc<Audit>, treatment: Treatment, event: Event) -> Self {
        Self { audit, treatment, event: Mutex::new(event) }
    }

    fn event(&self) -> MutexGuard<'_, Event> {
        self.event.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the record at a stage.
    fn write(&self, stage: Stage) {
        if self.treatment.omits(stage) {
            return;
        }
        let mut event = self.event();
        event.stage = stage;
        self.audit.write(&mut event);
    }

    /// The request is there, and nothing is done about it yet.
    pub(crate) fn received(&self) {
        self.write(Stage::RequestReceived);
    }

    /// The user that the request runs as.
    pub(crate) fn impersonated(&self, user: &User) {
        self.event().impersonated_user = Some(user.into());
    }

    /// What authorization said.
    pub(crate) fn authorized(&self, decided: &Result<Decision, Undecided>) {
        let (decision, reason) = match decided {
            Ok(Decision::Allow(reason)) => ("allow", &**reason),
            Ok(Decision::Deny(reason) | Decision::NoOpinion(reason)) => ("forbid", &**reason),
            Err(_) => ("forbid", "internal error"),
        };
        let mut event = self.event();
        event.annotations.insert("authorization.k8s.io/decision", decision.to_owned());
        event.annotations.insert("authorization.k8s.io/reason", reason.to_owned());
    }

    /// The object that the request is about, as it was decoded.
    pub(crate) fn object(&self, meta: &ObjectMeta) {
        self.event().refer_to(meta);
    }

    /// Whether the level asks for what was sent.
    pub(crate) fn wants_request(&self) -> bool {
        self.treatment.level >= Level::Request
    }

    /// What was sent, as JSON.
    pub(crate) fn request(&self, json: &[u8], secrets: &Secrets<'_>) {
        self.event().request_object = self.shown(json, secrets);
    }

    /// What is answered, as JSON.
    pub(crate) fn response(&self, json: &[u8], secrets: &Secrets<'_>) {
        if self.treatment.level >= Level::RequestResponse {
            self.event().response_object = self.shown(json, secrets);
        }
    }

    fn shown(&self, json: &[u8], secrets: &Secrets<'_>) -> Option<Value> {
        let mut value: Value = serde_json::from_slice(json).ok()?;
        secrets.hide(&mut value);
        if self.treatment.omits_managed_fields {
            secrets::each_object(&mut value, &mut |object| {
                if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                    metadata.remove("managedFields");
                }
            });
        }
        Some(value)
    }

    /// The request failed. What is wrong with a body that may hold secrets is not repeated, as
    /// those sentences quote it.
    pub(crate) fn failed(&self, error: &Error, secrets: &Secrets<'_>) {
        let mut status = serde_json::to_value(error.to_status()).unwrap_or_default();
        if !secrets.is_empty() && matches!(error.reason(), Reason::BadRequest | Reason::Invalid) {
            secrets::hide_sentences(&mut status);
        }
        let mut event = self.event();
        if self.treatment.level >= Level::RequestResponse {
            event.response_object = Some(status.clone());
        }
        if let Some(status) = status.as_object_mut() {
            status.remove("kind");
            status.remove("apiVersion");
        }
        event.response_status = Some(status);
    }

    /// An answer that lasts begins.
    pub(crate) fn started(&self, code: StatusCode) {
        self.ended(code);
        self.write(Stage::ResponseStarted);
    }

    /// The answer is complete.
    pub(crate) fn complete(&self, code: StatusCode) {
        self.ended(code);
        self.write(Stage::ResponseComplete);
    }

    fn ended(&self, code: StatusCode) {
        let code = code.as_u16();
        self.event().response_status.get_or_insert_with(|| json!({ "metadata": {}, "code": code }));
    }

    /// The client went away before it had its answer; upstream's words.
    pub(crate) fn abandoned(&self) {
        let status = json!({
            "metadata": {}, "status": "Success", "message": "Connection closed early",
            "code": StatusCode::OK.as_u16(),
        });
        self.event().response_status.get_or_insert(status);
        self.write(Stage::ResponseComplete);
    }

    /// The request made the server panic. The message of the panic may hold anything.
    pub(crate) fn panicked(&self) {
        let status = json!({
            "metadata": {}, "status": "Failure", "message": "APIServer panic'd",
            "reason": "InternalError", "code": Reason::InternalError.code(),
        });
        self.event().response_status = Some(status);
        self.write(Stage::Panic);
    }
}
