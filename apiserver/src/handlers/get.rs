//! GET of one object.

use http::StatusCode;

use super::Call;
use crate::codec::Warnings;
use crate::object::Stored;
use crate::options::Wanted;
use crate::response::Response;
use crate::status::Error;
use crate::store::key;

impl Call<'_> {
    /// Answers a stored object: a copy of what is stored, with its revision put in. One that is
    /// computed is made for the occasion.
    pub(super) async fn get(&self) -> Result<Response, Error> {
        let accepted = self.accepted()?;
        let name = self.info.required_name()?;
        if self.info.query.flag("export") {
            return Err(Error::bad_request(
                "the export parameter, deprecated since v1.14, is no longer supported",
            ));
        }
        let version = self.info.query.get("resourceVersion").unwrap_or_default();
        let wanted = Wanted::parse(version)
            .map_err(|why| Error::bad_request(format!("invalid resource version: {why}")))?;
        let definition = &self.resource.definition;
        let namespace = &self.info.namespace;
        let entry = if self.resource.compute().is_some() {
            let missing = || Error::not_found(definition.resource(), name);
            let key = key(definition, namespace, name).ok_or_else(missing)?;
            self.compute(wanted).await?.get(&key).cloned().ok_or_else(missing)?
        } else {
            self.store.get(definition, namespace, name, wanted).await?
        };
        let stored = Stored::new(&entry.value, entry.revision)?;
        self.answer_stored(StatusCode::OK, accepted, &stored, &Warnings::default())
    }
}
