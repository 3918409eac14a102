//! The manager: whatever is asked for, handed to whoever answers it.

use apiserver::status::Reason;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;

use super::actor::Actor;
use super::answer::{Fault, moved, nowhere, text};
use super::route::{Found, Route, find};
use super::template::{read, whole};
use super::{Site, credentials, deployments, expand, expandybird, manifests, registries, types};

/// How long a body may be, of which Deployment Manager read the beginning and took that for all.
const BODY: usize = 1 << 20;

/// The path that was that of another service, on another port.
const EXPANDYBIRD: &str = "/expandybird/expand";

/// Answers one request.
pub(super) async fn answer(State(site): State<Site>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if parts.uri.path() == EXPANDYBIRD {
        return expandybird::expand(&site.engine, &parts.method, &parts.headers, body).await;
    }
    let route = match find(&parts.method, parts.uri.path()) {
        Found::Route(route) => route,
        Found::Moved(to) => return moved(&to),
        Found::Nowhere => return nowhere(),
        Found::Malformed(why) => return Fault::bad(why).into_response(),
    };
    match route {
        Route::Healthz => text(StatusCode::OK, "OK".to_owned()),
        Route::Expand => expand::expand(&site.engine, site.actor.as_ref(), body)
            .await
            .unwrap_or_else(Fault::into_response),
        route => match &site.actor {
            Some(actor) => {
                let asked = Asked { route, headers: parts.headers, query: parts.uri.query(), body };
                asked.of(actor, &site).await.unwrap_or_else(Fault::into_response)
            }
            None => absent().into_response(),
        },
    }
}

/// Whom to act as has to be said.
fn absent() -> Fault {
    Fault::new(
        Reason::ServiceUnavailable,
        "there are no deployments here: --dm-compat-kubeconfig says as whom to keep them, and --dm-compat-namespace where",
    )
}

/// A request about what is stored.
struct Asked<'a> {
    route: Route,
    headers: HeaderMap,
    query: Option<&'a str>,
    body: Body,
}

impl Asked<'_> {
    async fn of(self, actor: &Actor, site: &Site) -> Result<Response, Fault> {
        if self.route.takes_json() {
            let Self { route, headers, body, .. } = self;
            return change(actor, site, route, &headers, body).await;
        }
        match &self.route {
            Route::Deployments => deployments::list(actor).await,
            Route::Deployment(name) => deployments::read(actor, name).await,
            Route::Delete(name) => deployments::delete(actor, name).await,
            Route::Manifests(of) => manifests::list(actor, of).await,
            Route::Manifest(of, name) => manifests::read(actor, of, name).await,
            Route::Types => types::list(actor).await,
            Route::Instances(of) => types::instances(actor, of).await,
            Route::Metadata(of) => types::metadata(actor, &site.engine, of).await,
            Route::RegistryOf(name) => registries::of(actor, name).await,
            Route::Registries => registries::list(actor).await,
            Route::Registry(name) => registries::read(actor, name).await,
            Route::RegistryTypes(name) => registries::types(actor, name, self.query).await,
            Route::RegistryType(name, of) => registries::urls(actor, name, of).await,
            Route::Download(name) => registries::download(actor, name, self.query).await,
            Route::Credential(name) => credentials::read(actor, name).await,
            Route::Healthz
            | Route::Expand
            | Route::Create
            | Route::Update(_)
            | Route::CreateRegistry(_)
            | Route::SetCredential(_) => Ok(nowhere()),
        }
    }
}

/// Answers what comes with a body.
async fn change(
    actor: &Actor,
    site: &Site,
    route: Route,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, Fault> {
    announced(headers)?;
    let body = whole(body, BODY).await?;
    match route {
        Route::Create => deployments::create(actor, &site.engine, &sent(&body)?).await,
        Route::Update(name) => deployments::update(actor, &site.engine, &name, sent(&body)?).await,
        Route::CreateRegistry(name) => registries::create(actor, &name, sent(&body)?).await,
        Route::SetCredential(name) => credentials::set(actor, &name, sent(&body)?).await,
        _ => Ok(nowhere()),
    }
}

/// What a body says. Of one that cannot be read Deployment Manager said 200 and nothing.
fn sent<T: DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    read(body).map_err(Fault::bad)
}

/// A body has to be announced as JSON; it may be YAML.
fn announced(headers: &HeaderMap) -> Result<(), Fault> {
    let given = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    let given = given.unwrap_or_default();
    if given.split(';').next().unwrap_or_default().trim() == "application/json" {
        return Ok(());
    }
    let message =
        format!("Unsupported content type {given:?}; expected one of [\"application/json\"]");
    Err(Fault::new(Reason::UnsupportedMediaType, message))
}
