//! More requests at once than there are places for them.

use std::time::{Duration, Instant};

use ::tests::client::{Answer, Client, PATIENCE, Pieces, Protocol, Request};
use anyhow::{Result, bail, ensure};
use tokio::task::{JoinHandle, spawn_blocking};

use super::{Pressed, template};
use crate::door::{Door, templates};

/// So many places has either lane of a [`Pressed`] installation.
const PLACES: usize = 2;
const OPENAPI: &str = "/openapi/v3/apis/template.openshift.io/v1";
const INFLIGHT: &str = "apiserver_current_inflight_requests";
const MUTATING: &[&str] = &["request_kind=\"mutating\""];
const TURNED_AWAY: (&str, &[&str]) =
    ("apiserver_request_total", &["code=\"429\"", "verb=\"POST\"", "resource=\"templates\""]);

/// A create that holds its place for as long as its body has no end.
struct Slow {
    body: Pieces,
    rest: String,
    answer: JoinHandle<Result<Answer>>,
}

impl Slow {
    async fn create(client: &Client, collection: &str, name: &str) -> Result<Self> {
        let mut connection = client.connect(Protocol::Http2).await?;
        let mut rest = template(name, 1000);
        let request = Request::post(collection, "");
        let (body, answer) = connection.begin(&request)?;
        body.write(rest.drain(..500).collect::<String>());
        let answer = tokio::spawn(async move {
            // A connection lasts as long as what asks through it.
            let _connection = connection;
            answer.await
        });
        Ok(Self { body, rest, answer })
    }

    async fn finish(self) -> Result<Answer> {
        self.body.write(self.rest);
        drop(self.body);
        self.answer.await?
    }
}

fn check_turned_away(answer: &Answer) -> Result<()> {
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert_eq!(answer.header("retry-after"), "1");
    let status = answer.json()?;
    assert_eq!(status["reason"], "TooManyRequests");
    assert_eq!(status["message"], "too many requests, please try again later");
    assert_eq!(status["details"]["retryAfterSeconds"], 1);
    Ok(())
}

/// The Available condition of the APIService, with the time it last changed.
fn available(door: &Door) -> Result<String> {
    let path = r#"jsonpath={.status.conditions[?(@.type=="Available")]}"#;
    let kubectl = door.serving.installation.kubectl()?;
    kubectl.ok(&["get", "apiservice/v1.template.openshift.io", "-o", path])
}

/// A namespace and its templates, when the condition of the APIService is known and kube-apiserver has made of our
/// OpenAPI what it serves, which takes it a while the first time.
async fn begin(door: &Door) -> Result<(String, String, String)> {
    let namespace = door.namespace_of_alice().await?.namespace;
    for path in [OPENAPI, "/openapi/v2"] {
        door.until_served(&door.alice()?, &Request::get(path)).await?;
    }
    let before = available(door)?;
    ensure!(before.contains(r#""status":"True""#), "{before}");
    let collection = templates(&namespace);
    Ok((namespace, collection, before))
}

/// What is served although all places are taken.
async fn check_exempt(door: &Door, collection: &str) -> Result<()> {
    let alice = door.alice()?;
    for path in [
        "/apis/template.openshift.io/v1",
        "/apis/template.openshift.io",
        "/apis",
        OPENAPI,
        "/openapi/v2",
    ] {
        let answer = alice.send(&Request::get(path)).await?;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }
    for path in ["/livez", "/readyz", "/healthz"] {
        assert_eq!(door.client(None)?.send(&Request::get(path)).await?.status, 200, "{path}");
    }
    let watch = alice.open(&Request::get(format!("{collection}?watch=1"))).await?;
    assert_eq!(watch.status, 200);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_beyond_the_places_are_to_come_back_and_kubectl_does() -> Result<()> {
    let Pressed { door, _turn } = Pressed::take().await?;
    let (namespace, collection, before) = begin(&door).await?;
    let alice = door.alice()?;
    // It asks for all that there is before it asks for anything else, for which there is no time later.
    let patient = door.cluster().kubectl("alice")?.in_namespace(namespace);
    patient.ok(&["get", "templates.template.openshift.io"])?;
    let mut slow = Vec::new();
    for index in 0..PLACES {
        slow.push(Slow::create(&alice, &collection, &format!("slow-{index}")).await?);
    }
    door.until(INFLIGHT, MUTATING, |now| now == PLACES as f64).await?;

    check_turned_away(&alice.send(&Request::post(&collection, template("refused", 0))).await?)?;
    check_exempt(&door, &collection).await?;
    assert_eq!(alice.send(&Request::get(&collection)).await?.status, 200, "reading goes on");
    let admin = door.master_through_kube_apiserver()?;
    let answer = admin.send(&Request::post(&collection, template("by-admin", 0))).await?;
    assert_eq!(answer.status, 201, "{}", answer.text());

    let refused = door.metric(TURNED_AWAY.0, TURNED_AWAY.1).await?;
    let patient =
        spawn_blocking(move || patient.ok_with(&["create", "-f", "-"], &template("by-kubectl", 0)));
    door.until(TURNED_AWAY.0, TURNED_AWAY.1, |now| now > refused).await?;
    ensure!(!patient.is_finished(), "kubectl did not wait");
    for slow in slow {
        let answer = slow.finish().await?;
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    patient.await??;
    door.until(INFLIGHT, MUTATING, |now| now == 0.0).await?;
    assert_eq!(available(&door)?, before);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_beyond_the_places_are_to_come_back() -> Result<()> {
    let Pressed { door, _turn } = Pressed::take().await?;
    let (_, collection, before) = begin(&door).await?;
    // A state of the future is waited for, for three seconds each.
    let future =
        format!("{collection}?resourceVersion=99999999999&resourceVersionMatch=NotOlderThan");
    let mut slow: Vec<JoinHandle<Result<()>>> = Vec::new();
    for _ in 0..2 * PLACES {
        let (alice, future) = (door.alice()?, Request::get(&future));
        slow.push(tokio::spawn(async move {
            let mut alice = alice.connect(Protocol::Http2).await?;
            loop {
                match alice.send(&future).await?.status {
                    429 => tokio::time::sleep(Duration::from_millis(20)).await,
                    504 => {}
                    other => bail!("{other}"),
                }
            }
        }));
    }
    let alice = door.alice()?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = alice.send(&Request::get(&collection)).await?;
        if answer.status != 200 {
            check_turned_away(&answer)?;
            break;
        }
        ensure!(Instant::now() < deadline, "reads are never turned away");
    }
    check_exempt(&door, &collection).await?;
    let admin = door.master_through_kube_apiserver()?;
    assert_eq!(admin.send(&Request::get(&collection)).await?.status, 200);
    let answer = alice.send(&Request::post(&collection, template("written", 0))).await?;
    assert_eq!(answer.status, 201, "{}", answer.text());
    for slow in slow {
        let is_at_work = !slow.is_finished();
        slow.abort();
        ensure!(is_at_work, "a slow reader ended");
    }
    assert_eq!(available(&door)?, before);
    Ok(())
}
