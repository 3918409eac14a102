//! POST to a collection.

use http::StatusCode;

use super::Call;
use crate::codec::{Warnings, body};
use crate::limits::Body;
use crate::managers;
use crate::resource::{Part, Serves};
use crate::response::Response;
use crate::status::Error;

impl Call<'_> {
    /// Creates an object, or answers one that is not stored.
    pub(super) async fn create(&self, body: Body) -> Result<Response, Error> {
        let definition = &self.resource.definition;
        let accepted = self.accepted()?;
        let options = self.write_options("CreateOptions")?;
        let text = body::read(definition.kind, self.headers, body).await?;
        let mut warnings = Warnings::default();
        let mut incoming =
            body::decode(definition, self.kinds, &text, options.field_validation, &mut warnings)?;
        incoming.object.meta.wipe_system_fields();
        self.settle_namespace(&mut incoming.object)?;
        self.audit_object(definition, &incoming.object);
        let cx = self.context(options.dry_run, options.field_validation);
        managers::dedup_owners(&mut incoming.object.meta, &mut warnings);
        if self.resource.strategy().is_some() {
            // Nobody managed an object before it was there.
            incoming.object.meta.managed_fields = None;
        }
        let manager = &options.manager;
        managers::record(self.resource, Part::Main, None, &mut incoming.object, manager, cx.now);
        self.store.admit_create(definition, "", &cx, &incoming.object).await?;
        let object = match &self.resource.serves {
            Serves::Stored(strategy) => {
                let object = incoming.into_stored();
                warnings.extend(strategy.warnings(&object));
                self.store.create(self.resource, &cx, object).await?
            }
            Serves::Created(create) => {
                let (object, told) = create.create(&cx, incoming.object).await?;
                warnings.extend(told);
                object
            }
            Serves::Kept(_) | Serves::Computed(_) => return Err(Error::method_not_allowed()),
        };
        self.answer_object(StatusCode::CREATED, accepted, &object, &warnings)
    }
}
