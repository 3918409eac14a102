//! What stands behind the filters in these tests: one resource whose objects' names say what
//! happens when they are got.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::sync::Arc;

use apiserver::authn::User;
use apiserver::chain::Dispatch;
use apiserver::limits::Body;
use apiserver::request::{RequestInfo, Verb};
use apiserver::response::{Response, ResponseBody};
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt as _};
use http::{HeaderMap, Request, StatusCode};
use tokio::sync::{Notify, Semaphore, watch};

/// The collection of things.
pub(crate) const THINGS: &str = "/apis/g.example/v1/namespaces/n/things";
/// More bytes than the connection between client and server holds.
pub(crate) const LARGE: usize = 16 << 20;

/// The things.
#[derive(Default)]
pub(crate) struct Things {
    /// Told when a `slow` thing is asked for.
    pub(crate) slow_begun: Notify,
    /// How many requests were described to their sender.
    pub(crate) described: watch::Sender<usize>,
    /// A permit lets one `slow` thing go.
    pub(crate) slow_may_end: Gate,
}

/// Closed until it gets permits.
pub(crate) struct Gate(Semaphore);

impl Default for Gate {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

impl Gate {
    /// Lets `count` through.
    pub(crate) fn open(&self, count: usize) {
        self.0.add_permits(count);
    }

    async fn pass(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}

impl Things {
    async fn answer(
        &self,
        request: Request<Body>,
        info: Arc<RequestInfo>,
        user: Arc<User>,
    ) -> Option<Response> {
        if !info.is_resource_request {
            return (info.path == "/apis").then(|| Response::new("groups".into()));
        }
        let (parts, body) = request.into_parts();
        let text = match (&info.verb, info.name.as_str()) {
            (Verb::Watch, "flood") => return Some(Response::new(flood())),
            (Verb::Watch, _) => return Some(Response::new(events())),
            (Verb::Create, _) => match body.read().await {
                Ok(body) => format!("{} bytes", body.len()),
                Err(error) => return Some(refused(&error)),
            },
            (_, "large") => return Some(Response::new(vec![b'x'; LARGE].into())),
            (_, "panic") => panic!("as asked for"),
            (_, "slow") => {
                self.slow_begun.notify_one();
                self.slow_may_end.pass().await;
                "at last".to_owned()
            }
            _ => {
                self.described.send_modify(|count| *count += 1);
                describe(&parts.headers, &user)
            }
        };
        Some(Response::new(text.into()))
    }
}

fn refused(error: &apiserver::status::Error) -> Response {
    let mut response = Response::new(serde_json::to_vec(&error.to_status()).unwrap().into());
    *response.status_mut() = StatusCode::from_u16(error.reason().code()).unwrap();
    response
}

fn describe(headers: &HeaderMap, user: &User) -> String {
    let identity = headers.keys().filter(|name| {
        let name = name.as_str();
        name == "authorization" || name.starts_with("x-remote-")
    });
    format!("{} of {} with {}", user.name, user.groups.join("+"), identity.count())
}

/// More events than anybody reads.
fn flood() -> ResponseBody {
    let event = Bytes::from(vec![b'x'; 64 * 1024]);
    ResponseBody::from_stream(stream::repeat_with(move || Ok::<_, std::io::Error>(event.clone())))
}

/// One event, and then nothing for ever.
fn events() -> ResponseBody {
    let first = stream::iter([Ok::<_, std::io::Error>(Bytes::from("event\n"))]);
    ResponseBody::from_stream(first.chain(stream::pending()))
}

impl Dispatch for Things {
    fn handle(
        &self,
        request: Request<Body>,
        info: Arc<RequestInfo>,
        user: Arc<User>,
    ) -> BoxFuture<'_, Option<Response>> {
        Box::pin(self.answer(request, info, user))
    }

    fn serves(&self, info: &RequestInfo) -> bool {
        info.group == "g.example" && info.resource == "things"
    }

    fn paths(&self) -> Vec<String> {
        vec!["/apis".into(), "/apis/g.example/v1".into()]
    }
}
