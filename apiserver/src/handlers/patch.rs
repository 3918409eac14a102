//! PATCH of one object, or of its status: JSON patch and merge patch, applied to the newest state.

use std::collections::BTreeMap;

use http::StatusCode;
use merge::{PatchError, Patched};
use serde_json::value::RawValue;

use super::Call;
use crate::codec::negotiate::{self, PatchType};
use crate::codec::{Warnings, body};
use crate::field::{self, quote};
use crate::limits::Body;
use crate::managers;
use crate::options::WriteOptions;
use crate::resource::Part;
use crate::response::Response;
use crate::status::{Error, Reason, Subject};
use crate::store::Revised;

impl Call<'_> {
    /// Changes a part of a stored object. A patch speaks of the whole object in any case.
    pub(super) async fn patch(&self, part: Part, body: Body) -> Result<Response, Error> {
        let accepted = self.accepted()?;
        self.info.required_name()?;
        let patch_type = negotiate::patch_type(self.headers)?;
        let options = self.write_options("PatchOptions")?;
        let patch = String::from_utf8(body.read().await?.into())
            .map_err(|error| Error::bad_request(format!("error decoding patch: {error}")))?;
        self.audit_body(&patch);
        let mut warnings = Warnings::default();
        let cx = self.context(options.dry_run, options.field_validation);
        let object = self
            .store
            .update(self.resource, part, &cx, |old| {
                let document = old.to_text(self.resource.head());
                let patched = match patch_type {
                    PatchType::Json => merge::json_patch(&document, &patch),
                    PatchType::Merge => merge::merge_patch(&document, &patch),
                };
                let patched = patched.map_err(refused)?;
                let mut incoming = self.decode_patched(patched, &options, &mut warnings)?;
                self.settle_namespace(&mut incoming.object)?;
                self.check_name(&incoming.object)?;
                managers::dedup_owners(&mut incoming.object.meta, &mut warnings);
                let manager = &options.manager;
                let new = &mut incoming.object;
                managers::record(self.resource, part, Some(old), new, manager, cx.now);
                Ok(Revised { object: incoming.into_stored(), uid_is_precondition: false })
            })
            .await?;
        if let (Part::Main, Some(strategy)) = (part, self.resource.strategy()) {
            warnings.extend(strategy.warnings(&object));
        }
        self.answer_object(StatusCode::OK, accepted, &object, &warnings)
    }

    /// Decodes what the patch made of the object. What does not fit is a 422 here, as the client
    /// sent a patch and not this.
    fn decode_patched(
        &self,
        patched: Patched,
        options: &WriteOptions,
        warnings: &mut Warnings,
    ) -> Result<body::Incoming, Error> {
        let text = body::Text { json: patched.text, strays: patched.strays };
        body::decode(
            &self.resource.definition,
            self.kinds,
            &text,
            options.field_validation,
            warnings,
        )
        .map_err(|error| unfit(&text.json, error.message()))
    }
}

/// 422 for a patch whose result is not an object of the kind.
fn unfit(patched: &str, why: &str) -> Error {
    // The decoder's sentence begins with what it tried to read; the cause says that by its field.
    let why = why
        .split_once(" cannot be handled as a ")
        .map_or(why, |(_, rest)| rest.split_once(": ").map_or(rest, |(_, why)| why));
    let error = field::Error::invalid("patch", quote(&sorted(patched)), why);
    Error::invalid(Subject { group: "", kind: "" }, "", &[error])
}

/// The members of an object in alphabetical order, as a Go map prints.
fn sorted(object: &str) -> String {
    let members: Result<BTreeMap<String, &RawValue>, _> = serde_json::from_str(object);
    members
        .ok()
        .and_then(|members| serde_json::to_string(&members).ok())
        .unwrap_or_else(|| object.to_owned())
}

fn refused(error: PatchError) -> Error {
    match &error {
        PatchError::Decode(_) | PatchError::Null => Error::bad_request(error.to_string()),
        PatchError::TooManyOperations(_) => {
            Error::new(Reason::RequestEntityTooLarge, format!("Request entity too large: {error}"))
        }
        PatchError::Operation { .. } => Error::unprocessable(),
        PatchError::Document(_) => Error::internal(error),
    }
}
