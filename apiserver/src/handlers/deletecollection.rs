//! DELETE of a collection: every selected object, one after the other, as far as it goes.

use super::Call;
use crate::codec::negotiate::{self, Offer};
use crate::limits::Body;
use crate::options::ListOptions;
use crate::resource::{Context, FieldValidation};
use crate::response::Response;
use crate::status::{Error, Reason};
use crate::store::names;

impl Call<'_> {
    /// Deletes what a list would show and answers that list, as it was before.
    pub(super) async fn deletecollection(&self, body: Body) -> Result<Response, Error> {
        let accepted =
            negotiate::negotiate(self.wish(), Offer::Collection)?.for_list(self.go_name("List"))?;
        let list_options = ListOptions::read(&self.info.query, false)?;
        let selector = self.selector()?;
        let options = self.delete_options(body).await?;
        let page = self.page(&list_options, &selector).await?;
        for entry in &page.entries {
            let (namespace, name) = names(&entry.key);
            let cx =
                Context { namespace, name, ..self.context(options.dry_run, FieldValidation::Warn) };
            let deleted = self
                .store
                .delete(self.resource, &cx, &options.preconditions, options.propagation)
                .await;
            match deleted {
                // Somebody else was faster, which is as good.
                Err(error) if error.reason() == Reason::NotFound => {}
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
        self.answer_page(accepted, &page)
    }
}
