//! The paths as a client on the wire meets them, with nobody to act as.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::door::Bounds;
use super::*;

/// The paths on a free port, for who has the token, if there is one.
async fn open(token: Option<&Path>) -> (String, Serving) {
    open_within(token, Bounds::default()).await
}

async fn open_within(token: Option<&Path>, bounds: Bounds) -> (String, Serving) {
    let flags = Compat {
        dm_compat_address: Some("127.0.0.1:0".parse().unwrap()),
        dm_compat_kubeconfig: None,
        dm_compat_namespace: None,
        dm_compat_timeout: Duration::from_secs(1),
        dm_compat_tls_cert_file: None,
        dm_compat_tls_key_file: None,
        dm_compat_token_file: token.map(Path::to_owned),
    };
    let mut listening = Listening::start(&flags, true).await.unwrap().unwrap();
    listening.door.bounds = bounds;
    let at = listening.address.strip_prefix("http://").unwrap().to_owned();
    (at, listening.open(Site { engine: Engine::in_process(), actor: None }))
}

/// Sends a request and reads the answer to the end of the connection.
async fn ask(at: &str, head: &str, body: &str) -> String {
    let length = body.len();
    let request = format!("{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[tokio::test]
async fn what_a_web_page_asks_is_turned_away() {
    let (at, serving) = open(None).await;
    let expand = async |headers: &str| {
        let answer = ask(&at, &format!("POST /expand HTTP/1.1\r\n{headers}"), "name: n").await;
        status(&answer).to_owned()
    };
    let own = format!("Host: {at}");
    assert_eq!(expand(&own).await, "201");
    assert_eq!(expand(&format!("{own}\r\nOrigin: https://evil.example")).await, "403");
    assert_eq!(expand("Host: evil.example").await, "403");
    serving.stop().await;
}

#[tokio::test]
async fn without_somebody_to_act_as_there_are_no_deployments() {
    let (at, serving) = open(None).await;
    for path in ["GET /deployments", "DELETE /deployments/d", "GET /types", "GET /credentials/c"] {
        let answer = ask(&at, &format!("{path} HTTP/1.1\r\nHost: {at}"), "").await;
        assert_eq!(status(&answer), "503", "{answer}");
        assert!(answer.contains("--dm-compat-kubeconfig"), "{answer}");
    }
    let answer = ask(&at, &format!("GET /healthz/ HTTP/1.1\r\nHost: {at}"), "").await;
    assert_eq!(status(&answer), "301");
    assert!(answer.contains("location: /healthz\r\n"), "{answer}");
    serving.stop().await;
}

#[tokio::test]
async fn who_does_not_show_the_token_may_ask_for_health_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "secret\n").unwrap();
    let (at, serving) = open(Some(&file)).await;
    let head = |path: &str, more: &str| format!("{path} HTTP/1.1\r\nHost: dm.example{more}");
    assert_eq!(status(&ask(&at, &head("GET /healthz", ""), "").await), "200");
    let answer = ask(&at, &head("POST /expand", ""), "name: n").await;
    assert_eq!(status(&answer), "401");
    assert!(answer.contains("www-authenticate: Bearer\r\n"), "{answer}");
    let token = "\r\nAuthorization: Bearer secret";
    assert_eq!(status(&ask(&at, &head("POST /expand", token), "name: n").await), "201");
    serving.stop().await;
}

#[tokio::test]
async fn a_stop_does_not_wait_for_those_who_say_nothing() {
    let (at, serving) = open(None).await;
    let _silent = TcpStream::connect(&at).await.unwrap();
    assert_eq!(status(&ask(&at, &format!("GET /healthz HTTP/1.1\r\nHost: {at}"), "").await), "200");
    serving.stop().await;
    assert!(TcpStream::connect(&at).await.is_err());
}

#[tokio::test]
async fn who_does_not_speak_is_not_waited_for() {
    let bounds = Bounds { speaking: Duration::from_millis(50), ..Bounds::default() };
    let (at, serving) = open_within(None, bounds).await;
    for beginning in ["", "GET /healthz HTTP/1.1\r\nHost: "] {
        let mut stream = TcpStream::connect(&at).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        // It ends, with an answer or without one.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{beginning:?}");
    }
    serving.stop().await;
}

#[tokio::test]
async fn one_too_many_waits_until_another_has_gone() {
    let bounds = Bounds { connections: 1, ..Bounds::default() };
    let (at, serving) = open_within(None, bounds).await;
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {at}\r\n\r\n");
    let mut first = TcpStream::connect(&at).await.unwrap();
    first.write_all(head.as_bytes()).await.unwrap();
    let mut answered = [0; 12];
    first.read_exact(&mut answered).await.unwrap();
    let mut second = TcpStream::connect(&at).await.unwrap();
    second.write_all(head.as_bytes()).await.unwrap();
    let early = tokio::time::timeout(Duration::from_millis(100), second.read_exact(&mut answered));
    assert!(early.await.is_err(), "there is room for one alone");
    drop(first);
    second.read_exact(&mut answered).await.unwrap();
    assert_eq!(&answered, b"HTTP/1.1 200");
    drop(second);
    serving.stop().await;
}
