//! A request's record in the audit log, held until it is written to the end.

use std::sync::{Arc, OnceLock};

use http::request::Parts;
use http::{HeaderValue, StatusCode};

use super::{Chain, answer};
use crate::audit::{Asked, Record, Secrets};
use crate::authn::{Peer, User};
use crate::authz::{Decision, Undecided};
use crate::request::RequestInfo;
use crate::status::Error;

/// What a request is noted by.
pub(super) struct Ticket<'a> {
    pub(super) audit_id: &'a HeaderValue,
    pub(super) audited: Audited,
}

impl Chain {
    /// Begins the record of a request, and sends it along.
    pub(super) fn audit(
        &self,
        parts: &mut Parts,
        info: &RequestInfo,
        peer: &Peer,
        ticket: &Ticket<'_>,
        user: &User,
    ) {
        let Some(audit) = &self.audit else { return };
        let asked = Asked { parts, info, id: ticket.audit_id, peer };
        if let Some(record) = audit.begin(asked, user) {
            parts.extensions.insert(record.clone());
            ticket.audited.begin(record);
        }
    }

    /// Notes a request whose sender could not prove who they are, all in one event as upstream.
    pub(super) fn audit_stranger(
        &self,
        parts: &Parts,
        info: &RequestInfo,
        peer: &Peer,
        ticket: &Ticket<'_>,
        error: &Error,
    ) {
        let Some(audit) = &self.audit else { return };
        let asked = Asked { parts, info, id: ticket.audit_id, peer };
        if let Some(record) = audit.begin(asked, &User::default()) {
            record.failed(error, &Secrets::default());
            record.started(answer::code(error));
        }
    }
}

/// The record of a request that is on its way, if it has one. A client that goes away takes the
/// request with it, and this says so then.
#[derive(Default)]
pub(super) struct Audited(OnceLock<Arc<Record>>);

impl Audited {
    /// Begins with the record, when it is known who asks.
    pub(super) fn begin(&self, record: Arc<Record>) {
        record.received();
        // A request is authenticated once.
        let _ = self.0.set(record);
    }

    /// Authorization has decided.
    pub(super) fn authorized(&self, decided: &Result<Decision, Undecided>) {
        if let Some(record) = self.0.get() {
            record.authorized(decided);
        }
    }

    /// The request runs as somebody else.
    pub(super) fn impersonated(&self, user: &User) {
        if let Some(record) = self.0.get() {
            record.impersonated(user);
        }
    }

    /// A filter refuses the request.
    pub(super) fn refused(&self, error: &Error) {
        if let Some(record) = self.0.get() {
            record.failed(error, &Secrets::default());
        }
    }

    pub(super) fn panicked(mut self) {
        if let Some(record) = self.0.take() {
            record.panicked();
        }
    }

    /// The answer is known. One that lasts is held on to, to its end.
    pub(super) fn answered(mut self, code: StatusCode, lasts: Lasts) -> Option<Watched> {
        let record = self.0.take()?;
        match lasts {
            Lasts::No => {
                record.complete(code);
                None
            }
            Lasts::Refused => {
                record.started(code);
                record.complete(code);
                None
            }
            Lasts::Yes => {
                record.started(code);
                Some(Watched { record, code })
            }
        }
    }
}

/// Whether an answer is a watch.
#[derive(Clone, Copy)]
pub(super) enum Lasts {
    No,
    /// It would have been one.
    Refused,
    Yes,
}

impl Drop for Audited {
    fn drop(&mut self) {
        if let Some(record) = self.0.take() {
            record.abandoned();
        }
    }
}

/// The record of an open watch; its end is written when this is dropped.
pub(super) struct Watched {
    record: Arc<Record>,
    code: StatusCode,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.record.complete(self.code);
    }
}
