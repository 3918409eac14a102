//! `templates/NAME/schema`: what a form needs to know of a stored Template's parameters.

use std::future::ready;

use apiserver::object::Object;
use apiserver::request::Query;
use apiserver::resource::{Action, Context, Get, Subresource};
use apiserver::status::Error;
use futures::future::BoxFuture;
use processor::Dialect;

use super::{kinds, processing};

struct Form(Dialect);

/// The subresource in the API group of a dialect.
pub fn subresource(dialect: Dialect) -> Subresource {
    Subresource {
        name: "schema",
        definition: kinds::form(dialect),
        action: Action::Get(Box::new(Form(dialect))),
    }
}

impl Get for Form {
    fn get<'a>(
        &'a self,
        _: &'a Context<'a>,
        parent: Object,
        _: &'a Query,
    ) -> BoxFuture<'a, Result<String, Error>> {
        let form = processing::with_template(self.0, &parent, |template| {
            Ok(processor::form::json_schema(template))
        });
        Box::pin(ready(form))
    }
}
