//! PUT of one object, or of its status.

use http::StatusCode;

use super::Call;
use crate::codec::{Warnings, body};
use crate::limits::Body;
use crate::managers;
use crate::resource::Part;
use crate::response::Response;
use crate::status::Error;
use crate::store::Revised;

impl Call<'_> {
    /// Replaces a part of a stored object.
    pub(super) async fn update(&self, part: Part, body: Body) -> Result<Response, Error> {
        let definition = &self.resource.definition;
        let accepted = self.accepted()?;
        self.info.required_name()?;
        let options = self.write_options("UpdateOptions")?;
        let text = body::read(definition.kind, self.headers, body).await?;
        let mut warnings = Warnings::default();
        let mut incoming =
            body::decode(definition, self.kinds, &text, options.field_validation, &mut warnings)?;
        self.settle_namespace(&mut incoming.object)?;
        self.check_name(&incoming.object)?;
        self.audit_object(definition, &incoming.object);
        managers::dedup_owners(&mut incoming.object.meta, &mut warnings);
        let cx = self.context(options.dry_run, options.field_validation);
        let object = self
            .store
            .update(self.resource, part, &cx, |old| {
                let mut new = incoming.clone();
                let manager = &options.manager;
                managers::record(self.resource, part, Some(old), &mut new.object, manager, cx.now);
                Ok(Revised { object: new.into_stored(), uid_is_precondition: true })
            })
            .await?;
        if let (Part::Main, Some(strategy)) = (part, self.resource.strategy()) {
            warnings.extend(strategy.warnings(&object));
        }
        self.answer_object(StatusCode::OK, accepted, &object, &warnings)
    }
}
