//! A thousand malformed requests: each is answered with a 4xx `Status` that says why, and the server serves on.
//!
//! Generated from a fixed seed, so that a failure comes back.

use std::fmt::Write as _;

use ::tests::client::{Answer, Client, Request};
use ::tests::server::Server;
use anyhow::{Context, Result};
use futures::stream::{self, StreamExt};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use crate::malformed::{Bad, NAMESPACE, malformed, post};

const SEED: u64 = 20_261_120;
const REQUESTS: usize = 1_000;
/// How many are under way at once.
const ABREAST: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_malformed_requests_get_a_4xx_status_each_and_the_server_serves_on() -> Result<()>
{
    let mut server = tokio::task::spawn_blocking(Server::start).await??;
    let client = server.target()?.administrator();
    let stored = json!({"metadata": {"name": "kept"}, "objects": [], "message": "m"});
    let answer = send(&client, &post("templates", stored.to_string())).await?;
    assert_eq!(answer.status, 201, "{}", answer.text());

    let mut random = StdRng::seed_from_u64(SEED);
    let requests: Vec<_> = (0..REQUESTS).map(|i| malformed(i, &mut random)).collect();
    let complaints: Vec<String> = stream::iter(requests)
        .map(|bad| {
            let client = client.clone();
            async move { complaint(&bad, send(&client, &bad.request).await) }
        })
        .buffer_unordered(ABREAST)
        .filter_map(|complaint| async { complaint })
        .collect()
        .await;
    assert!(server.is_running()?, "the server ended:\n{}", server.log());
    assert!(complaints.is_empty(), "{} wrong:\n{}", complaints.len(), complaints.join("\n"));

    let kept = send(&client, &Request::get(format!("{NAMESPACE}/templates/kept"))).await?.json()?;
    assert_eq!(kept["message"], "m", "what was stored is untouched");
    assert!(!server.log().contains("panicked"), "{}", server.log());
    Ok(())
}

#[tokio::test]
async fn what_is_not_even_http_is_answered_or_cut_off() -> Result<()> {
    let server = tokio::task::spawn_blocking(Server::start).await??;
    let client = server.target()?.administrator();
    let long = format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "a".repeat(70_000));
    let mut many = String::from("GET /apis HTTP/1.1\r\nhost: x\r\n");
    for i in 0..300 {
        let _ = write!(many, "x-{i}: {i}\r\n");
    }
    many.push_str("connection: close\r\n\r\n");
    let cases: [&[u8]; 9] = [
        b"\r\n\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 not a request\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"GET /apis HTTP/1.1\r\nhost: x\r\nauthorization: Bearer \xff\xff\r\nconnection: close\r\n\r\n",
        long.as_bytes(),
        many.as_bytes(),
    ];
    for bytes in cases {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        let answer = client.raw(bytes).await.with_context(|| shown.clone())?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(!answer.starts_with("HTTP/1.1 5"), "{shown:?}: {answer}");
    }
    let answer = send(&client, &Request::get("/readyz")).await?;
    assert_eq!((answer.status, answer.text().as_str()), (200, "ok"));
    Ok(())
}

async fn send(client: &Client, request: &Request) -> Result<Answer> {
    client.send(request).await
}

/// What is wrong with the answer, if anything is.
fn complaint(bad: &Bad, answer: Result<Answer>) -> Option<String> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(problem) => return Some(format!("{}: {problem:#}", bad.what)),
    };
    let status = match serde_json::from_slice::<Value>(&answer.body) {
        Ok(status) => status,
        // An answer may be asked for as YAML.
        Err(_) => serde_saphyr::from_slice(&answer.body).unwrap_or_default(),
    };
    let reason = status["reason"].as_str().unwrap_or_default();
    let right = status["kind"] == "Status"
        && status["code"] == answer.status
        && status["message"].as_str().is_some_and(|message| !message.is_empty())
        && bad.right.contains(&(answer.status, reason));
    let text: String = answer.text().chars().take(400).collect();
    (!right).then(|| format!("{}: {} {text}", bad.what, answer.status))
}
