//! The largest bodies, and those that are larger.

use ::tests::client::{Answer, BOTH, Client, Connection, Protocol, Request};
use anyhow::{Result, ensure};
use http::Method;
use serde_json::json;

use super::{Pressed, template};
use crate::door::{Door, templates};

/// The longest body.
const LIMIT: usize = 3 << 20;
const TOO_LARGE: &str = "Request entity too large: limit is 3145728";

/// kube-apiserver's door, and the replica's.
fn doors(door: &Door) -> Result<[(&'static str, Client); 2]> {
    Ok([
        ("through kube-apiserver", door.master_through_kube_apiserver()?),
        ("directly", door.master()?),
    ])
}

fn check_too_large(answer: &Answer, message: &str, what: &str) -> Result<()> {
    let status = answer.json()?;
    assert_eq!(answer.status, 413, "{what}: {status}");
    assert_eq!(status["reason"], "RequestEntityTooLarge", "{what}: {status}");
    assert_eq!(status["message"], message, "{what}: {status}");
    Ok(())
}

/// Sends a body without saying how long it is.
async fn undeclared(connection: &mut Connection, request: &Request) -> Result<Answer> {
    const PIECE: usize = 64 << 10;
    let (pieces, answer) =
        connection.begin(&Request { body: Default::default(), ..request.clone() })?;
    for start in (0..request.body.len()).step_by(PIECE) {
        pieces.write(request.body.slice(start..request.body.len().min(start + PIECE)));
    }
    drop(pieces);
    answer.await
}

#[tokio::test]
async fn a_body_of_three_mebibytes_is_stored_and_processed() -> Result<()> {
    let door = Door::new()?;
    let namespace = door.cluster().namespace()?.namespace;
    let collection = templates(&namespace);
    let processed = collection.replace("/templates", "/processedtemplates");
    for (way, client) in doors(&door)? {
        for protocol in BOTH {
            let mut connection = client.connect(protocol).await?;
            let body = template("large", LIMIT);
            ensure!(body.len() == LIMIT);
            let create = Request::post(&collection, body.clone());
            let one = format!("{collection}/large");
            assert_eq!(connection.send(&create).await?.status, 201, "{way} {protocol:?}");
            let read = connection.send(&Request::get(&one)).await?;
            assert!(read.body.len() > LIMIT, "{way} {protocol:?}: {}", read.body.len());
            let deleted = connection.send(&Request::new(Method::DELETE, &one)).await?;
            assert_eq!(deleted.status, 200, "{way} {protocol:?}");
            assert_eq!(
                undeclared(&mut connection, &create).await?.status,
                201,
                "{way} {protocol:?}"
            );
            connection.send(&Request::new(Method::DELETE, &one)).await?;
            let process = Request::post(&processed, body);
            assert_eq!(connection.send(&process).await?.status, 201, "{way} {protocol:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn one_byte_more_is_too_large_however_it_is_sent() -> Result<()> {
    let door = Door::new()?;
    let namespace = door.cluster().namespace()?.namespace;
    let collection = templates(&namespace);
    let one = format!("{collection}/large");
    let stored =
        door.master()?.send(&Request::post(&collection, template("large", 0))).await?.json()?;
    let body = template("large", LIMIT + 1);
    let options = json!({ "kind": "DeleteOptions", "apiVersion": "v1", "x": "" }).to_string();
    let options = options
        .replace(r#""x":"""#, &format!(r#""x":"{}""#, "x".repeat(LIMIT + 1 - options.len())));
    ensure!(options.len() == LIMIT + 1);
    let of = |method: Method, path: &str, media: &str, body: &str| {
        Request::new(method, path).header("accept", "application/json").json(media, body.to_owned())
    };
    let json = "application/json";
    let requests = [
        of(Method::POST, &collection, json, &body),
        of(Method::POST, &collection.replace("/templates", "/processedtemplates"), json, &body),
        of(Method::PUT, &one, json, &body),
        of(Method::PATCH, &one, "application/merge-patch+json", &body),
        of(Method::DELETE, &one, json, &options),
        of(Method::DELETE, &collection, json, &options),
    ];
    for (way, client) in doors(&door)? {
        for protocol in BOTH {
            for request in &requests {
                let what = format!("{way} {protocol:?} {} {}", request.method, request.path);
                // On HTTP/1.1 the connection ends with a body that nobody reads.
                let answer = client.connect(protocol).await?.send(request).await?;
                check_too_large(&answer, TOO_LARGE, &what)?;
                let mut connection = client.connect(protocol).await?;
                let answer = undeclared(&mut connection, request).await?;
                check_too_large(&answer, TOO_LARGE, &format!("{what}, undeclared"))?;
            }
        }
    }
    let kept = door.master()?.send(&Request::get(&one)).await?;
    assert_eq!(kept.json()?, stored);
    Ok(())
}

#[tokio::test]
async fn a_body_within_the_limit_that_etcd_does_not_take_is_refused_with_a_reason() -> Result<()> {
    let Pressed { door, _turn } = Pressed::take().await?;
    let namespace = door.cluster().namespace()?.namespace;
    let collection = templates(&namespace);
    for (way, client) in doors(&door)? {
        let mut connection = client.connect(Protocol::Http2).await?;
        for size in [1 << 20, 2 << 20, LIMIT] {
            let answer =
                connection.send(&Request::post(&collection, template("large", size))).await?;
            if size == 1 << 20 {
                assert_eq!(answer.status, 201, "{way} {}", answer.text());
            } else {
                let message =
                    "Request entity too large: the object is larger than what the store takes";
                check_too_large(&answer, message, &format!("{way} {size}"))?;
            }
            connection.send(&Request::new(Method::DELETE, format!("{collection}/large"))).await?;
        }
        let process = collection.replace("/templates", "/processedtemplates");
        let answer = connection.send(&Request::post(process, template("large", LIMIT))).await?;
        assert_eq!(answer.status, 201, "{way}");
    }
    Ok(())
}
