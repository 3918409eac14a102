//! What the verbs tell the audit log: the object that came, and what goes out.

use http::StatusCode;

use super::Call;
use crate::audit::Secrets;
use crate::codec::{Accepted, Warnings, answer};
use crate::object::Object;
use crate::resource::{Definition, Resource};
use crate::response::Response;
use crate::status::Error;

/// What is secret in the bodies of a resource, or of what stands below it.
pub(crate) fn secrets<'a>(resource: &'a Resource, subresource: &str) -> Secrets<'a> {
    let below = resource.subresource(subresource);
    let below = below.map(|subresource| subresource.definition.secrets);
    Secrets::new(std::iter::once(resource.definition.secrets).chain(below))
}

impl Call<'_> {
    fn secrets(&self) -> Secrets<'_> {
        secrets(self.resource, &self.info.subresource)
    }

    /// Notes the object that was sent, as it was understood.
    pub(super) fn audit_object(&self, definition: &Definition, object: &Object) {
        let Some(record) = self.audit else { return };
        record.object(&object.meta);
        if record.wants_request() {
            record.request(&object.to_bytes(&definition.head()), &self.secrets());
        }
    }

    /// Notes a body that is no object: a patch, or options.
    pub(super) fn audit_body(&self, json: &str) {
        if let Some(record) = self.audit.filter(|record| record.wants_request()) {
            record.request(json.as_bytes(), &self.secrets());
        }
    }

    /// Answers JSON text in the form that is accepted, and notes it.
    pub(super) fn respond(
        &self,
        status: StatusCode,
        accepted: Accepted,
        json: Vec<u8>,
        warnings: &Warnings,
    ) -> Result<Response, Error> {
        if let Some(record) = self.audit {
            record.response(&json, &self.secrets());
        }
        answer::answer(status, accepted, json, warnings)
    }
}
