//! An API for tests: shops (of the cluster), carts (in a namespace, with subresources, one of them
//! the status), invoices (which the server alone writes), totals (computed of carts) and quotes
//! (answered, not stored); and a client who asks for them.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Request;
use http_body_util::BodyExt as _;
use schema::Schema;
use serde_json::{Value, json};
use storage::{Cache, Memory, cache};

use crate::api::Api;
use crate::authn::User;
use crate::chain::Dispatch as _;
use crate::environment::System;
use crate::field;
use crate::limits::Body;
use crate::meta::ObjectMeta;
use crate::object::{Fields, Object};
use crate::request::{Query, RequestInfo};
use crate::resource::{
    Action, ApiGroup, ApiVersion, Cell, Column, Compute, Context, Create, Definition, Get,
    Parameter, Post, Resource, Scope, Serves, Strategy, Subresource,
};
use crate::response::Response;
use crate::status::Error;
use crate::store::{Store, View};

const GROUP: &str = "shop.example";
const VERSION: &str = "v1";

pub(crate) fn groups() -> Vec<ApiGroup> {
    let carts = Resource::new(cart(), Serves::Stored(Box::new(Anything)))
        .with(Subresource {
            name: "checkout",
            definition: definition("Payment", "carts/checkout", Scope::Namespaced),
            action: Action::Post(Box::new(Anything)),
        })
        .with(Subresource {
            name: "receipt",
            definition: Definition {
                schema: Schema::opaque_object("What was bought."),
                ..definition("Receipt", "carts/receipt", Scope::Namespaced)
            },
            action: Action::Get(Box::new(Anything)),
        })
        .with_status();
    let shops = Resource::new(shop(), Serves::Stored(Box::new(Anything)));
    let quotes = Resource::new(
        definition("Quote", "quotes", Scope::Namespaced),
        Serves::Created(Box::new(Anything)),
    );
    let invoices = Resource::new(invoice(), Serves::Kept(Box::new(Anything)));
    group(vec![shops, quotes, carts, invoices, totals()])
}

/// These resources as the API.
pub(crate) fn group(resources: Vec<Resource>) -> Vec<ApiGroup> {
    let resources = resources.into_iter().map(Into::into).collect();
    vec![ApiGroup { name: GROUP, versions: vec![ApiVersion { name: VERSION, resources }] }]
}

/// An empty store in memory.
pub(crate) async fn store() -> Store {
    let cache = Cache::start(Arc::new(Memory::new()), cache::Options::default());
    Store::new(Arc::new(cache.await.expect("memory does not fail")), Arc::new(System))
}

/// What an API answers to eve: the code, and the body, which is JSON or nothing. `path` follows the version.
pub(crate) async fn ask(api: &Api, method: &str, path: &str, body: Value) -> (u16, Value) {
    ask_for(api, "*/*", method, path, body).await
}

/// As [`ask`], with a wish of what the answer is to be.
pub(crate) async fn ask_for(
    api: &Api,
    accept: &str,
    method: &str,
    path: &str,
    body: Value,
) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let media = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request = Request::builder()
        .method(method)
        .uri(format!("/apis/{GROUP}/{VERSION}/{path}"))
        .header("accept", accept)
        .header("content-type", media)
        .body(Body::from(body))
        .expect("a test's request is one");
    let info = RequestInfo::new(request.method(), request.uri());
    let user = Arc::new(User::authenticated("eve", vec![]));
    let response = api.handle(request, Arc::new(info), user).await.expect("the group is served");
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.expect("no body fails").to_bytes();
    let body =
        if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).expect("JSON") };
    (code, body)
}

pub(crate) fn cart() -> Definition {
    let status = Schema::object("example.shop.v1.CartStatus", "CartStatus is how a Cart is.")
        .optional("phase", Schema::string("How far it is."))
        .optional("observedGeneration", Schema::int64("What was seen last."));
    let definition = definition("Cart", "carts", Scope::Namespaced);
    Definition {
        singular: "cart",
        short_names: &["ct"],
        categories: &["all"],
        schema: definition.schema.optional("status", status),
        ..definition
    }
}

pub(crate) fn invoice() -> Definition {
    Definition { singular: "invoice", ..definition("Invoice", "invoices", Scope::Namespaced) }
}

/// One total for every cart with apples: how many.
pub(crate) fn totals() -> Resource {
    let schema = Schema::object("example.shop.v1.Total", "Total says how much is in a Cart.")
        .optional("cart", Schema::string("The Cart."))
        .optional("apples", Schema::int64("How many apples are in it."));
    let definition = Definition::namespaced(GROUP, VERSION, "Total", "totals", schema);
    Resource::new(definition, Serves::Computed(Box::new(Totals))).selectable_by(&["cart", "apples"])
}

struct Totals;

impl Compute for Totals {
    fn list(&self, _: &Context<'_>, view: &View, namespace: &str) -> Result<Vec<Object>, Error> {
        let total = |cart: Object| {
            let apples = cart.fields.scalar("spec.apples")?;
            let ObjectMeta { name, namespace, labels, resource_version, .. } = cart.meta;
            let fields = Fields::new(format!(r#""cart":"{name}","apples":{apples}"#));
            // Any name will do, be it one of Kubernetes or not.
            let name = cart.fields.scalar("spec.alias").unwrap_or_else(|| format!("{name}:Total"));
            let meta =
                ObjectMeta { name, namespace, labels, resource_version, ..ObjectMeta::default() };
            Some(Object { meta, fields })
        };
        let carts = view.list(&cart(), namespace)?;
        carts.filter_map(|cart| cart.map(total).transpose()).collect()
    }

    fn columns(&self) -> &'static [Column] {
        const { &[Column::text("Apples", "How many apples are in the cart.")] }
    }

    fn cells(&self, total: &Object) -> Vec<Cell> {
        vec![total.fields.scalar("apples").into()]
    }
}

pub(crate) fn shop() -> Definition {
    Definition { singular: "shop", ..definition("Shop", "shops", Scope::Cluster) }
}

/// The body of an answer that is complete.
pub(crate) fn text(response: Response) -> String {
    let body = response.into_body().collect().now_or_never().expect("nothing to wait for");
    String::from_utf8(body.expect("no body fails").to_bytes().to_vec()).expect("text")
}

fn definition(kind: &'static str, plural: &'static str, scope: Scope) -> Definition {
    let schema = Schema::object(format!("example.shop.v1.{kind}"), format!("{kind} of a shop."))
        .optional("spec", Schema::opaque_object("What is wanted."))
        .kind(GROUP, VERSION, kind);
    Definition {
        group: GROUP,
        version: VERSION,
        kind,
        plural,
        singular: "quote",
        scope,
        short_names: &[],
        categories: &[],
        aliases: &[],
        schema,
        secrets: &["spec.card"],
    }
}

/// Rules that forbid next to nothing.
pub(crate) struct Anything;

impl Strategy for Anything {
    fn validate(&self, _: &Object) -> Vec<field::Error> {
        Vec::new()
    }

    fn validate_status(&self, cart: &Object, _: &Object) -> Vec<field::Error> {
        let stolen = cart.fields.get("status") == Some(r#"{"phase":"Stolen"}"#);
        let error = || field::Error::forbidden("status.phase", "nobody steals here");
        stolen.then(error).into_iter().collect()
    }
}

impl Create for Anything {
    fn create<'a>(
        &'a self,
        _: &'a Context<'a>,
        object: Object,
    ) -> BoxFuture<'a, Result<(Object, Vec<String>), Error>> {
        async { Ok((object, Vec::new())) }.boxed()
    }
}

impl Post for Anything {
    fn post<'a>(
        &'a self,
        _: &'a Context<'a>,
        parent: Object,
        _: Object,
    ) -> BoxFuture<'a, Result<(Object, Vec<String>), Error>> {
        async { Ok((parent, Vec::new())) }.boxed()
    }
}

impl Get for Anything {
    fn parameters(&self) -> &'static [Parameter] {
        const { &[Parameter::text("item", "Which item is told of.")] }
    }

    /// What it hears.
    fn get<'a>(
        &'a self,
        _: &'a Context<'a>,
        parent: Object,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<String, Error>> {
        let (item, other) = (query.get("item"), query.get("other"));
        let heard = json!({ "cart": parent.meta.name, "item": item, "other": other });
        async move { Ok(heard.to_string()) }.boxed()
    }
}
