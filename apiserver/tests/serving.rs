//! The serving half against real clients: TLS, both HTTP versions, identities, limits, and stops
//! that lose nothing.

#[path = "serving/fixture.rs"]
mod fixture;
#[path = "serving/things.rs"]
mod things;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use apiserver::limits::Limits;
use apiserver::server::Timeouts;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use fixture::{Authority, BOTH, Client, Protocol, Running, Settings, as_user};
use things::THINGS;

const SOON: Duration = Duration::from_secs(10);

// === Who is asking ===

#[tokio::test]
async fn every_client_completes_the_handshake_and_is_judged_by_its_requests() {
    let server = Running::start().await;
    let known = server.authority.client("carol", "system:masters");
    let foreign = Authority::new().client("mallory", "system:masters");
    for protocol in BOTH {
        let answer = server.connect(protocol, Some(&known)).await.get(THINGS).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.body, "carol of system:masters+system:authenticated with 0");

        let answer = server.connect(protocol, Some(&foreign)).await.get(THINGS).await;
        assert_eq!(answer.status, 401);
        let mut client = server.connect(protocol, Some(&foreign)).await;
        assert_eq!(client.get_as("admin", THINGS).await.status, 200);

        let answer = server.connect(protocol, None).await.get(THINGS).await;
        assert_eq!(answer.status, 403);
    }
}

#[tokio::test]
async fn a_replaced_client_authority_counts_at_once_on_an_open_connection() {
    let server = Running::start().await;
    let known = server.authority.client("carol", "system:masters");
    let mut client = server.connect(Protocol::Http2, Some(&known)).await;
    assert_eq!(client.get(THINGS).await.status, 200);
    server.clients.replace(Authority::new().pem.as_bytes()).unwrap();
    assert_eq!(client.get(THINGS).await.status, 401);
}

#[tokio::test]
async fn a_bad_token_is_unauthorized_and_not_anonymous() {
    let server = Running::start().await;
    for protocol in BOTH {
        let answer = server.connect(protocol, None).await.get_as("nobody", "/healthz").await;
        let want = serde_json::json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "Unauthorized", "reason": "Unauthorized", "code": 401
        });
        assert_eq!((answer.status, answer.json()), (StatusCode::UNAUTHORIZED, want));
        assert_eq!(answer.headers["cache-control"], "no-store");
    }
}

#[tokio::test]
async fn a_refusal_says_what_is_forbidden_to_whom() {
    let server = Running::start().await;
    let answer = server.connect(Protocol::Http2, None).await.get_as("alice", THINGS).await;
    let want = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "things.g.example is forbidden: User \"alice\" cannot list resource \"things\" in API group \"g.example\" in the namespace \"n\"",
        "reason": "Forbidden", "details": {"group": "g.example", "kind": "things"}, "code": 403
    });
    assert_eq!((answer.status, answer.json()), (StatusCode::FORBIDDEN, want));
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
}

#[tokio::test]
async fn a_refusal_comes_in_the_encoding_that_was_asked_for() {
    let server = Running::start().await;
    let mut client = server.connect(Protocol::Http1, None).await;
    let request = Request::get(THINGS).header("accept", "application/yaml");
    let answer = client.ask(request, "").await.unwrap();
    assert_eq!(answer.headers["content-type"], "application/yaml");
    assert!(answer.body.contains("\nkind: Status\n"), "{}", answer.body);
    let answer = client.get(&format!("{THINGS}?pretty=1")).await;
    assert!(answer.body.starts_with("{\n  \"kind\": \"Status\""), "{}", answer.body);
}

#[tokio::test]
async fn identity_headers_prove_nothing_and_go_no_further() {
    let server = Running::start().await;
    let mut client = server.connect(Protocol::Http1, None).await;
    let request = Request::get(THINGS)
        .header("x-remote-user", "admin")
        .header("x-remote-group", "system:masters");
    assert_eq!(client.ask(request, "").await.unwrap().status, 403);
    let request = as_user(Request::get(THINGS), "admin")
        .header("x-remote-user", "eve")
        .header("x-remote-extra-a", "b");
    let answer = client.ask(request, "").await.unwrap();
    assert_eq!(answer.body, "admin of system:masters+system:authenticated with 0");
}

#[tokio::test]
async fn who_may_act_as_somebody_else_does_and_nobody_else() {
    let server = Running::start().await;
    let mut client = server.connect(Protocol::Http2, None).await;
    let request = as_user(Request::get(THINGS), "admin")
        .header("impersonate-user", "alice")
        .header("impersonate-group", "system:masters");
    let answer = client.ask(request, "").await.unwrap();
    assert_eq!(answer.body, "alice of system:masters+system:authenticated with 0");

    // Not with the rights of the one who asks.
    let request = as_user(Request::get(THINGS), "admin").header("impersonate-user", "alice");
    assert_eq!(client.ask(request, "").await.unwrap().status, 403);

    let request = as_user(Request::get(THINGS), "alice").header("impersonate-user", "admin");
    let answer = client.ask(request, "").await.unwrap();
    assert_eq!(answer.status, 403);
    let want = "users \"admin\" is forbidden: User \"alice\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope";
    assert_eq!(answer.json()["message"], want);
}

// === What a request may bring along ===

#[tokio::test]
async fn hundreds_of_groups_in_headers_are_no_reason_to_refuse() {
    let server = Running::start().await;
    for protocol in BOTH {
        let mut request = as_user(Request::get(THINGS), "admin");
        for group in 0..600 {
            let name = format!("{group:03}-{}", "g".repeat(1000));
            request = request.header("x-remote-group", name);
        }
        let answer = server.connect(protocol, None).await.ask(request, "").await.unwrap();
        assert_eq!(answer.status, 200, "{protocol:?}");
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_too_large_and_the_limit_itself_is_not() {
    let limits = Limits { body: 1 << 20, ..Limits::default() };
    let server = Running::start_with(Settings { limits, ..Settings::default() }).await;
    for protocol in BOTH {
        let mut client = server.connect(protocol, None).await;
        let post = || as_user(Request::post(THINGS), "admin");
        let answer = client.ask(post(), vec![b'a'; 1 << 20]).await.unwrap();
        assert_eq!(answer.body, "1048576 bytes");
        let answer = client.ask(post(), vec![b'a'; (1 << 20) + 1]).await.unwrap();
        assert_eq!(answer.status, 413, "{protocol:?}");
        assert_eq!(answer.json()["message"], "Request entity too large: limit is 1048576");
        assert_eq!(answer.json()["reason"], "RequestEntityTooLarge");
    }
}

#[tokio::test]
async fn a_body_of_undeclared_length_is_cut_at_the_limit() {
    let limits = Limits { body: 10, ..Limits::default() };
    let server = Running::start_with(Settings { limits, ..Settings::default() }).await;
    let mut stream = server.tls(Protocol::Http1).await;
    let request = format!(
        "POST {THINGS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer admin-token\r\ntransfer-encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nabcdef\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    timeout(SOON, stream.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test]
async fn who_does_not_finish_in_time_is_cut_off() {
    let half = Duration::from_millis(500);
    let timeouts = Timeouts { handshake: half, headers: half, idle: half };
    let server = Running::start_with(Settings { timeouts, ..Settings::default() }).await;
    let mut rest = Vec::new();

    let mut silent = TcpStream::connect(server.address).await.unwrap();
    timeout(SOON, silent.read_to_end(&mut rest)).await.unwrap().unwrap();

    let mut slow = server.tls(Protocol::Http1).await;
    slow.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n").await.unwrap();
    // It may end with or without a goodbye; what counts is that it ends.
    let _ = timeout(SOON, slow.read_to_end(&mut rest)).await.unwrap();

    let idle = server.connect(Protocol::Http2, None).await;
    timeout(SOON, idle.closed).await.unwrap().unwrap();

    // Over HTTP/2 too, a client may not even begin.
    for protocol in BOTH {
        let mut speechless = server.tls(protocol).await;
        let _ = timeout(SOON, speechless.read_to_end(&mut rest)).await.unwrap();
    }
}

#[tokio::test]
async fn an_answer_may_be_read_long_after_it_was_given() {
    let half = Duration::from_millis(500);
    let timeouts = Timeouts { headers: half, idle: half, ..Timeouts::default() };
    let server = Running::start_with(Settings { timeouts, ..Settings::default() }).await;
    for protocol in BOTH {
        let mut client = server.connect(protocol, None).await;
        let large = as_user(Request::get(format!("{THINGS}/large")), "admin");
        let large = client.begin(large, "").await.unwrap();
        // Far longer than anybody may be idle.
        tokio::time::sleep(3 * half).await;
        let read = timeout(SOON, large.into_body().collect()).await.unwrap();
        assert_eq!(read.unwrap().to_bytes().len(), things::LARGE, "{protocol:?}");
    }
}

#[tokio::test]
async fn an_open_watch_keeps_its_connection_from_being_idle() {
    let half = Duration::from_millis(500);
    let timeouts = Timeouts { idle: half, ..Timeouts::default() };
    let server = Running::start_with(Settings { timeouts, ..Settings::default() }).await;
    let mut client = server.connect(Protocol::Http2, None).await;
    let watch = as_user(Request::get(format!("{THINGS}?watch=1")), "admin");
    let watch = client.begin(watch, "").await.unwrap();
    tokio::time::sleep(3 * half).await;
    assert_eq!(client.get_as("admin", THINGS).await.status, 200);
    drop(watch);
    timeout(SOON, client.closed).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_full_server_says_when_to_come_back_and_still_serves_masters() {
    let limits = Limits { reading: 1, ..Limits::default() };
    let server = Running::start_with(Settings { limits, ..Settings::default() }).await;
    let mut first = server.connect(Protocol::Http2, None).await;
    let slow = format!("{THINGS}/slow");
    let slow = tokio::spawn(async move { first.get_as("admin", &slow).await });
    server.things.slow_begun.notified().await;

    let mut second = server.connect(Protocol::Http2, None).await;
    let answer = second.get_as("alice", THINGS).await;
    assert_eq!(answer.status, 429);
    assert_eq!(answer.json()["details"]["retryAfterSeconds"], 1);
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(second.get_as("admin", THINGS).await.status, 200);
    assert_eq!(second.get_as("alice", "/apis").await.status, 200);
    server.things.slow_may_end.open(1);
    assert_eq!(slow.await.unwrap().body, "at last");
    assert_eq!(second.get_as("alice", THINGS).await.status, 403);
}

#[tokio::test]
async fn a_request_past_its_deadline_is_told_so() {
    let server = Running::start().await;
    let mut client = server.connect(Protocol::Http1, None).await;
    let answer = client.get_as("admin", &format!("{THINGS}/slow?timeout=50ms")).await;
    assert_eq!(answer.status, 504);
    let json = answer.json();
    assert_eq!(json["reason"], "Timeout");
    assert_eq!(json["message"], "Timeout: request did not complete within the allotted timeout");
    let answer = client.get_as("admin", &format!("{THINGS}?timeout=abc")).await;
    assert_eq!(answer.status, 400);
    let want = "invalid timeout specified in the request URL - time: invalid duration \"abc\"";
    assert_eq!(answer.json()["message"], want);
}

// === What every server answers ===

#[tokio::test]
async fn the_fixed_paths_are_served_and_unknown_ones_answered_with_all_paths() {
    let server = Running::start().await;
    let mut client = server.connect(Protocol::Http1, None).await;
    let answer = client.get("/version").await;
    assert_eq!((answer.status, &answer.json()["minor"]), (StatusCode::OK, &"33".into()));
    let answer = client.get("/readyz").await;
    assert_eq!(
        (answer.body.as_str(), &answer.headers["x-content-type-options"]),
        ("ok", &"nosniff".parse().unwrap())
    );
    assert_eq!(client.get("/readyz/ping").await.status, 403);
    assert_eq!(client.get_as("admin", "/readyz/ping").await.body, "ok");
    assert_eq!(client.get_as("admin", "/readyz/nope").await.status, 404);
    assert_eq!(client.get_as("alice", "/apis").await.body, "groups");

    let paths = serde_json::json!([
        "/apis",
        "/apis/g.example/v1",
        "/healthz",
        "/healthz/ping",
        "/livez",
        "/livez/ping",
        "/metrics",
        "/readyz",
        "/readyz/ping",
        "/readyz/shutdown",
        "/version"
    ]);
    let answer = client.get_as("alice", "/").await;
    assert_eq!((answer.status, &answer.json()["paths"]), (StatusCode::OK, &paths));
    let answer = client.get_as("admin", "/nosuch").await;
    assert_eq!((answer.status, &answer.json()["paths"]), (StatusCode::NOT_FOUND, &paths));
    assert!(answer.body.starts_with("{\n  \"paths\": [\n    \"/apis\""), "{}", answer.body);
    let answer = client.ask(as_user(Request::post("/version"), "admin"), "").await.unwrap();
    assert_eq!(answer.status, 405);
}

#[tokio::test]
async fn every_answer_carries_the_audit_id_of_its_request() {
    let server = Running::start().await;
    let mut client = server.connect(Protocol::Http2, None).await;
    let request = Request::get("/healthz").header("audit-id", "given");
    assert_eq!(client.ask(request, "").await.unwrap().headers["audit-id"], "given");
    let mut client = server.connect(Protocol::Http2, None).await;
    let made = client.get(THINGS).await;
    assert_eq!((made.status, made.headers["audit-id"].len()), (StatusCode::FORBIDDEN, 36));
}

#[tokio::test]
async fn requests_are_counted_by_resource_and_code() {
    let server = Running::start().await;
    let mut client = server.connect(Protocol::Http2, None).await;
    client.get_as("admin", THINGS).await;
    client.get_as("alice", THINGS).await;
    client.get_as("admin", "/apis/g.example/v1/namespaces/n/nonsense").await;
    let watch = as_user(Request::get(format!("{THINGS}?watch=1")), "admin");
    let watch = client.begin(watch, "").await.unwrap();
    // A failed handshake counts too.
    TcpStream::connect(server.address)
        .await
        .unwrap()
        .write_all(b"GET / HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    let metrics = loop {
        let metrics = client.get_as("admin", "/metrics").await;
        assert_eq!(metrics.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
        if metrics.body.contains("apiserver_tls_handshake_errors_total 1") {
            break metrics.body;
        }
    };
    let labels = r#"dry_run="",verb="LIST",group="g.example",version="v1",resource="things",subresource="",scope="namespace",component="apiserver"} 1"#;
    assert!(
        metrics.contains(&format!(r#"apiserver_request_total{{code="200",{labels}"#)),
        "{metrics}"
    );
    assert!(
        metrics.contains(&format!(r#"apiserver_request_total{{code="403",{labels}"#)),
        "{metrics}"
    );
    assert!(
        metrics.contains(r#"apiserver_longrunning_requests{verb="WATCH",group="g.example""#),
        "{metrics}"
    );
    assert!(!metrics.contains("nonsense"), "{metrics}");
    drop(watch);
}

#[tokio::test]
async fn a_panic_costs_one_answer_and_no_connection() {
    let server = Running::start().await;
    for protocol in BOTH {
        let mut client = server.connect(protocol, None).await;
        let answer = client.get_as("admin", &format!("{THINGS}/panic")).await;
        assert_eq!(
            (answer.status, &answer.json()["reason"]),
            (StatusCode::INTERNAL_SERVER_ERROR, &"InternalError".into())
        );
        assert_eq!(client.get_as("admin", THINGS).await.status, 200);
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let server = Running::start().await;
    for protocol in BOTH {
        let mut client = server.connect(protocol, None).await;
        let full = client.get_as("admin", THINGS).await;
        let head = client.ask(as_user(Request::head(THINGS), "admin"), "").await.unwrap();
        assert_eq!((head.status, head.body.as_str()), (full.status, ""));
        assert_eq!(head.headers["content-length"], full.body.len().to_string());
        assert_eq!(client.get_as("admin", THINGS).await.status, 200);
    }
}

#[tokio::test]
async fn an_unknown_sender_does_not_keep_an_http2_connection() {
    let server = Running::start().await;
    let mut unknown = server.connect(Protocol::Http2, None).await;
    let answer = unknown.get("/healthz").await;
    assert_eq!(answer.body, "ok");
    assert!(!answer.headers.contains_key("connection"));
    timeout(SOON, unknown.closed).await.unwrap().unwrap();
    let mut known = server.connect(Protocol::Http2, None).await;
    for _ in 0..3 {
        assert_eq!(known.get_as("alice", "/apis").await.status, 200);
    }
}

#[tokio::test]
async fn now_and_then_a_client_is_sent_to_another_replica() {
    let settings = Settings { goaway_chance: 1.0, ..Settings::default() };
    let server = Running::start_with(settings).await;
    let mut client = server.connect(Protocol::Http2, None).await;
    assert_eq!(client.get_as("alice", "/apis").await.status, 200);
    timeout(SOON, client.closed).await.unwrap().unwrap();
    let mut client = server.connect(Protocol::Http1, None).await;
    for _ in 0..3 {
        assert_eq!(client.get_as("alice", "/apis").await.status, 200);
    }
}

// === Change and end ===

#[tokio::test]
async fn who_does_not_read_a_watch_does_not_hold_up_the_stop() {
    let server = Running::start().await;
    let flood = || {
        as_user(
            Request::get(format!("{THINGS}?watch=1&fieldSelector=metadata.name=flood")),
            "admin",
        )
    };
    let mut open = Vec::new();
    for protocol in BOTH {
        let mut client = server.connect(protocol, None).await;
        let unread = client.begin(flood(), "").await.unwrap();
        open.push((client, unread));
    }
    // A minute is what requests at work would get.
    timeout(Duration::from_secs(30), server.stop().ended()).await.unwrap();
}

#[tokio::test]
async fn a_stop_lets_an_answer_be_read_that_was_given_before() {
    let server = Running::start().await;
    let mut given = Vec::new();
    for protocol in BOTH {
        let mut client = server.connect(protocol, None).await;
        let large = as_user(Request::get(format!("{THINGS}/large")), "admin");
        given.push(client.begin(large, "").await.unwrap());
    }
    let stopping = server.stop();
    // Longer than an unread watch is waited for.
    tokio::time::sleep(Duration::from_secs(3)).await;
    for large in given {
        let read = timeout(SOON, large.into_body().collect()).await.unwrap();
        assert_eq!(read.unwrap().to_bytes().len(), things::LARGE);
    }
    timeout(SOON, stopping.ended()).await.unwrap();
}

#[tokio::test]
async fn a_new_serving_certificate_is_shown_without_breaking_connections() {
    let server = Running::start().await;
    let mut before = server.connect(Protocol::Http2, None).await;
    let identity = server.authority.server();
    server.certificate.replace(identity.chain.as_bytes(), identity.key.as_bytes()).unwrap();
    let after = server.connect(Protocol::Http2, None).await;
    assert_ne!(before.server_certificate, after.server_certificate);
    assert_eq!(before.get_as("admin", THINGS).await.status, 200);
}

#[tokio::test]
async fn a_stopping_server_is_not_ready_and_serves_on_for_the_delay() {
    let shutdown_delay = Duration::from_millis(300);
    let server = Running::start_with(Settings { shutdown_delay, ..Settings::default() }).await;
    let (address, authority) = (server.address, server.authority.pem.clone());
    let mut open = server.connect(Protocol::Http1, None).await;
    assert_eq!(open.get("/readyz").await.status, 200);
    let stopping = server.stop();
    let mut late = Client::open(address, &authority, Protocol::Http1, None).await.unwrap();
    let ready = late.get("/readyz").await;
    assert_eq!(ready.status, 500);
    assert!(ready.body.contains("[-]shutdown failed: reason withheld"), "{}", ready.body);
    assert_eq!(ready.headers["connection"], "close");
    assert_eq!(open.get_as("admin", THINGS).await.status, 200);
    timeout(SOON, stopping.ended()).await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

/// Go's transport cannot repeat a request with a body that meets a GOAWAY (kubernetes#135285), so
/// there is one at the end, when requests go elsewhere, and none before.
#[tokio::test]
async fn an_http2_connection_is_kept_through_the_delay() {
    let shutdown_delay = Duration::from_secs(60);
    let server = Running::start_with(Settings { shutdown_delay, ..Settings::default() }).await;
    let (address, authority) = (server.address, server.authority.pem.clone());
    let mut open = server.connect(Protocol::Http2, None).await;
    assert_eq!(open.get_as("admin", THINGS).await.status, 200);
    let stopping = server.stop();
    let mut late = Client::open(address, &authority, Protocol::Http1, None).await.unwrap();
    assert_eq!(late.get("/readyz").await.status, 500);
    for _ in 0..20 {
        assert_eq!(open.get_as("admin", THINGS).await.status, 200);
    }
    timeout(SOON, stopping.at_once()).await.unwrap();
}

#[tokio::test]
async fn a_stop_waits_for_requests_at_work_and_ends_watches_cleanly() {
    let server = Running::start().await;
    let mut watches = Vec::new();
    for protocol in BOTH {
        let mut client = server.connect(protocol, None).await;
        let watch = as_user(Request::get(format!("{THINGS}?watch=1")), "admin");
        let watch = client.begin(watch, "").await.unwrap();
        watches.push((client, watch));
    }
    let mut client = server.connect(Protocol::Http2, None).await;
    let slow = tokio::spawn(async move { client.get_as("admin", &format!("{THINGS}/slow")).await });
    let things = server.things.clone();
    things.slow_begun.notified().await;
    let stopping = server.stop();
    for (_client, watch) in watches {
        let events = timeout(SOON, watch.into_body().collect()).await.unwrap().unwrap();
        assert_eq!(events.to_bytes(), "event\n");
    }
    things.slow_may_end.open(1);
    assert_eq!(slow.await.unwrap().body, "at last");
    timeout(SOON, stopping.ended()).await.unwrap();
}

#[tokio::test]
async fn a_second_signal_stops_at_once() {
    let server = Running::start().await;
    let mut client = server.connect(Protocol::Http2, None).await;
    let slow = as_user(Request::get(format!("{THINGS}/slow")), "admin");
    let slow = tokio::spawn(async move { client.ask(slow, "").await });
    server.things.slow_begun.notified().await;
    let stopping = server.stop();
    timeout(SOON, stopping.at_once()).await.unwrap();
    assert!(slow.await.unwrap().is_err());
}

/// Clients that keep asking, over fresh and kept connections, while the server stops. A request that
/// is not answered must be one that its client knows was not begun, and every request that was
/// begun must be answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_is_lost_when_a_busy_server_stops() {
    let server = Running::start().await;
    let (address, authority) = (server.address, Arc::new(server.authority.pem.clone()));
    let things = server.things.clone();
    let stopped = Arc::new(AtomicBool::new(false));
    let mut workers = Vec::new();
    for worker in 0..16 {
        let (authority, stopped) = (authority.clone(), stopped.clone());
        let protocol = BOTH[worker % 2];
        workers.push(tokio::spawn(async move {
            let mut answered = 0_usize;
            while let Ok(mut client) = Client::open(address, &authority, protocol, None).await {
                // Half of the clients open a connection for each request.
                let requests = if worker % 4 < 2 { 1 } else { 1000 };
                for _ in 0..requests {
                    match client.ask(as_user(Request::get(THINGS), "admin"), "").await {
                        Ok(answer) => assert_eq!(answer.status, 200),
                        Err(error) if was_not_begun(&error) => break,
                        Err(error) => panic!("{protocol:?} after {answered}: {error:?}"),
                    }
                    answered += 1;
                }
            }
            assert!(stopped.load(Ordering::SeqCst), "refused while serving");
            answered
        }));
    }
    let mut described = things.described.subscribe();
    described.wait_for(|count| *count >= 100).await.unwrap();
    stopped.store(true, Ordering::SeqCst);
    timeout(Duration::from_secs(30), server.stop().ended()).await.unwrap();
    let mut answered = 0;
    for worker in workers {
        answered += worker.await.unwrap();
    }
    assert_eq!(answered, *described.borrow());
}

/// The connection was closed before the request was written, or GOAWAY without an error came, which
/// promises that the server did not look at it (RFC 9113, 6.8).
fn was_not_begun(error: &hyper::Error) -> bool {
    error.is_closed() || error.is_canceled() || format!("{error:?}").contains("NO_ERROR, Remote")
}
