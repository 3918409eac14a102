//! What stands below an object's name.

use http::StatusCode;

use super::Call;
use crate::codec::negotiate::{self, Offer};
use crate::codec::{Warnings, body};
use crate::limits::Body;
use crate::object::{Object, Stored};
use crate::options::Wanted;
use crate::request::Verb;
use crate::resource::{Action, Get, Part, Post, Subresource};
use crate::response::Response;
use crate::status::Error;

impl Call<'_> {
    /// Answers a request to a subresource.
    pub(super) async fn subresource(&self, body: Body) -> Result<Response, Error> {
        let subresource =
            self.resource.subresource(&self.info.subresource).ok_or_else(Error::no_route)?;
        match (&subresource.action, &self.info.verb) {
            (Action::Get(get), Verb::Get) => self.get_document(get.as_ref()).await,
            (Action::Post(post), Verb::Create) => self.post(subresource, post.as_ref(), body).await,
            (Action::Status, Verb::Get) => self.get().await,
            (Action::Status, Verb::Update) => self.update(Part::Status, body).await,
            (Action::Status, Verb::Patch) => self.patch(Part::Status, body).await,
            _ => Err(Error::method_not_allowed()),
        }
    }

    async fn parent(&self) -> Result<Object, Error> {
        let name = self.info.required_name()?;
        let definition = &self.resource.definition;
        let entry = self.store.get(definition, &self.info.namespace, name, Wanted::Newest).await?;
        Stored::new(&entry.value, entry.revision)?.to_object()
    }

    async fn get_document(&self, get: &dyn Get) -> Result<Response, Error> {
        let accepted = negotiate::negotiate(self.wish(), Offer::Plain)?;
        let parent = self.parent().await?;
        let cx = self.context(false, crate::resource::FieldValidation::Warn);
        let declared = |name: &str| get.parameters().iter().any(|known| known.name == name);
        let query = self.info.query.only(declared);
        let document = get.get(&cx, parent, &query).await?;
        self.respond(StatusCode::OK, accepted, document.into(), &Warnings::default())
    }

    async fn post(
        &self,
        subresource: &Subresource,
        post: &dyn Post,
        body: Body,
    ) -> Result<Response, Error> {
        let accepted = self.accepted()?;
        let options = self.write_options("CreateOptions")?;
        let text = body::read(subresource.definition.kind, self.headers, body).await?;
        let mut warnings = Warnings::default();
        let incoming = body::decode(
            &subresource.definition,
            self.kinds,
            &text,
            options.field_validation,
            &mut warnings,
        )?;
        self.audit_object(&subresource.definition, &incoming.object);
        let cx = self.context(options.dry_run, options.field_validation);
        let definition = &self.resource.definition;
        self.store.admit_create(definition, subresource.name, &cx, &incoming.object).await?;
        let parent = self.parent().await?;
        let (object, told) = post.post(&cx, parent, incoming.object).await?;
        warnings.extend(told);
        self.answer_object(StatusCode::CREATED, accepted, &object, &warnings)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::api::Api;
    use crate::openapi::Info;
    use crate::sample::{self, ask};

    #[tokio::test]
    async fn a_document_hears_of_the_query_what_it_declares_and_nothing_else() {
        let info = Info { title: "Shop".to_owned(), version: "v1".to_owned() };
        let api = Api::new(sample::groups(), sample::store().await, &info);
        let carts = "namespaces/n/carts";
        let cart = json!({ "metadata": { "name": "a" } });
        assert_eq!(ask(&api, "POST", carts, cart).await.0, 201);
        let receipt = |query: &str| format!("{carts}/a/receipt{query}");
        let (code, body) =
            ask(&api, "GET", &receipt("?item=a%2Fb&item=c&other=d"), Value::Null).await;
        assert_eq!((code, body), (200, json!({ "cart": "a", "item": "a/b", "other": null })));
        let (_, body) = ask(&api, "GET", &receipt(""), Value::Null).await;
        assert_eq!(body["item"], Value::Null);
        assert_eq!(ask(&api, "GET", &format!("{carts}/b/receipt"), Value::Null).await.0, 404);
        assert_eq!(ask(&api, "POST", &receipt(""), json!({})).await.0, 405);
    }
}
