//! `processedtemplates`: a Template goes in and comes back processed; nothing is stored.

use apiserver::object::Object;
use apiserver::resource::{Context, Create, Resource, Serves};
use apiserver::status::Error;
use futures::future::BoxFuture;
use processor::{Dialect, Overrides};

use super::{kinds, processing};

struct ProcessedTemplates(Dialect);

/// The resource in the API group of a dialect.
pub fn resource(dialect: Dialect) -> Resource {
    let definition = kinds::template(dialect, "processedtemplates");
    Resource::new(definition, Serves::Created(Box::new(ProcessedTemplates(dialect))))
}

impl Create for ProcessedTemplates {
    /// The metadata is echoed as it came, whatever it holds: there is nothing that it could harm.
    fn create<'a>(
        &'a self,
        _: &'a Context<'a>,
        object: Object,
    ) -> BoxFuture<'a, Result<(Object, Vec<String>), Error>> {
        Box::pin(processing::process(self.0, object, Overrides::new()))
    }
}
