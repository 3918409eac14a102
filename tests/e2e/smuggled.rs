//! Headers that are smuggled: bytes that no well-behaved client sends, and headers that kube-apiserver is to pass on.
//!
//! What counts is as whom the request runs, if it runs at all: never as whom the smuggled header names.

mod frames;

use ::tests::client::{Client, PATIENCE, Protocol, Request};
use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use self::frames::{Field, pseudo};
use crate::door::{Door, Ran, anonymous, signed, templates, user};

const PATH: &str = "/apis/template.openshift.io/v1/namespaces/default/templates";

/// As whom the request ran that `answer` answers, frames and all.
fn ran(answer: &[u8]) -> Ran {
    let text = String::from_utf8_lossy(answer);
    if text.contains("TemplateList") {
        return Ran::Allowed;
    }
    let user = text.split_once("User \\\"").and_then(|(_, rest)| rest.split_once("\\\""));
    user.map_or(Ran::Not, |(user, _)| Ran::As(user.to_owned()))
}

/// Sends `bytes` and reads until the server has answered, refused or closed.
async fn exchange(client: &Client, bytes: &[u8], is_over: fn(&[u8]) -> bool) -> Result<Vec<u8>> {
    let mut stream = client.dial().await?;
    stream.write_all(bytes).await?;
    stream.flush().await?;
    let mut answer = Vec::new();
    let read = async {
        let mut chunk = [0; 4096];
        while !is_over(&answer) {
            match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(read) => answer.extend_from_slice(&chunk[..read]),
            }
        }
    };
    timeout(PATIENCE, read).await.context("neither answered nor closed")?;
    Ok(answer)
}

#[tokio::test]
async fn no_trick_with_lines_makes_a_header_count() -> Result<()> {
    let door = Door::new()?;
    let carol = signed(&door.cluster().client_ca()?, "carol")?;
    let lines = [
        // What the server does not read as HTTP has no sender.
        ("X-Remote-User : admin", false),
        ("X-Remote-User\t: admin", false),
        ("X-Ignored: a\r\n X-Remote-User: admin", false),
        ("X-Ignored: a\r\n\tX-Remote-User: admin", false),
        (" X-Remote-User: admin", false),
        ("X-Ignored: a\rX-Remote-User: admin", false),
        ("X-Ignored: a\0\r\nX-Remote-User: admin", false),
        ("X-Remote-User\0: admin", false),
        (": admin", false),
        ("X-Remote-User", false),
        // And what it does read counts for nothing without the proxy's certificate.
        ("X-Ignored: a\nX-Remote-User: admin", true),
        ("X-Remote-User:admin", true),
        ("X-Remote-User: \t admin \t ", true),
        ("X%2DRemote%2DUser: admin", true),
        ("X-Remote-User%20: admin", true),
        ("X-Remote-Extra-X%0d%0aX-Remote-User: admin", true),
        ("X-Remote-User: admin\r\nX-Remote-User: admin", true),
        ("X-Remote-User: admin\r\nConnection: X-Remote-Group", true),
        (
            "Forwarded: for=admin\r\nX-Forwarded-Client-Cert: Subject=\"CN=front-proxy-client\"",
            true,
        ),
        ("X-Client-Cert: x\r\nSsl-Client-Cert: x\r\nX-SSL-Client-CN: front-proxy-client", true),
    ];
    for (credential, who) in [(None, anonymous()), (Some(&carol), user("carol"))] {
        let client = door.client(credential)?.speaking(Protocol::Http1);
        for (line, is_http) in lines {
            let request = format!(
                "GET {PATH} HTTP/1.1\r\nHost: x\r\nX-Remote-Group: system:masters\r\n{line}\r\nConnection: close\r\n\r\n"
            );
            let answer = exchange(&client, request.as_bytes(), |_| false).await?;
            let want = if is_http { who.clone() } else { Ran::Not };
            let said = String::from_utf8_lossy(&answer);
            assert_eq!(ran(&answer), want, "{line:?} of {who:?}: {said}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn no_request_hides_in_another() -> Result<()> {
    let door = Door::new()?;
    let carol = signed(&door.cluster().client_ca()?, "carol")?;
    let client = door.client(Some(&carol))?.speaking(Protocol::Http1);
    let inner = format!(
        "GET {PATH} HTTP/1.1\r\nHost: x\r\nX-Remote-User: admin\r\nX-Remote-Group: system:masters\r\nConnection: close\r\n\r\n"
    );
    let length = inner.len() + 5;
    for head in [
        format!(
            "GET {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n"
            .to_owned(),
        "POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n"
            .to_owned(),
        "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        format!("GET https://admin:admin@x{PATH} HTTP/1.1\r\nHost: x\r\n\r\n"),
    ] {
        let answer = exchange(&client, format!("{head}{inner}").as_bytes(), |_| false).await?;
        let got = ran(&answer);
        assert!(got == user("carol") || got == Ran::Not, "{head:?}: {got:?}");
    }
    Ok(())
}

#[tokio::test]
async fn no_trick_with_frames_makes_a_header_count() -> Result<()> {
    let door = Door::new()?;
    let carol = signed(&door.cluster().client_ca()?, "carol")?;
    let admin: Field = ("x-remote-user", "admin");
    let masters: Field = ("x-remote-group", "system:masters");
    let usual = pseudo("GET", PATH);
    let with = |more: &[Field<'static>]| [usual.as_slice(), more].concat();
    let attempts: [(&str, Vec<Field>, bool); 14] = [
        ("as usual", with(&[admin, masters]), true),
        ("twice", with(&[admin, admin, masters]), true),
        ("an upper case name", with(&[("X-Remote-User", "admin"), masters]), false),
        ("a name with a space", with(&[("x-remote-user ", "admin"), masters]), false),
        ("a name with a colon", with(&[("x-remote-user:", "admin"), masters]), false),
        ("a pseudo-header of our own", with(&[(":x-remote-user", "admin"), masters]), false),
        ("a line in a value", with(&[("x-ignored", "a\r\nx-remote-user: admin"), masters]), false),
        ("a line in a name", with(&[("x-ignored\r\nx-remote-user", "admin"), masters]), false),
        ("named in connection", with(&[("connection", "x-remote-user"), admin, masters]), false),
        ("a path after headers", [&[admin, masters], usual.as_slice()].concat(), false),
        ("two paths", with(&[(":path", "/livez"), admin, masters]), false),
        (
            "a line in the path",
            [pseudo("GET", "/livez HTTP/1.1\r\nx-remote-user: admin"), vec![masters]].concat(),
            false,
        ),
        (
            "a line in the method",
            [pseudo("GET / HTTP/1.1\r\nx-remote-user: admin\r\n", PATH), vec![masters]].concat(),
            false,
        ),
        ("two authorities", with(&[(":authority", "admin:admin@x"), admin, masters]), false),
    ];
    for (credential, who) in [(None, anonymous()), (Some(&carol), user("carol"))] {
        let client = door.client(credential)?.speaking(Protocol::Http2);
        for (attempt, fields, is_http) in &attempts {
            let answer = exchange(&client, &frames::request(fields), frames::is_answered).await?;
            let want = if *is_http { who.clone() } else { Ran::Not };
            assert_eq!(ran(&answer), want, "{attempt} of {who:?}");
        }
        let (head, trailers) = (pseudo("GET", PATH), [admin, masters]);
        let bytes = frames::request_with_trailers(&head, &trailers);
        let answer = exchange(&client, &bytes, frames::is_answered).await?;
        assert_eq!(ran(&answer), who, "trailers of {who:?}");
    }
    Ok(())
}

#[tokio::test]
async fn what_a_user_tells_kube_apiserver_of_themselves_does_not_reach_us() -> Result<()> {
    let door = Door::new()?;
    let collection = templates(&door.namespace_of_alice().await?.namespace);
    let alice = door.alice()?;
    let masters = ("X-Remote-Group", "system:masters");
    let admin = ("X-Remote-User", "admin");
    let attempts: [&[(&str, &str)]; 11] = [
        &[],
        &[admin, masters],
        &[("x-remote-user", "admin"), ("x-remote-user", "root"), masters],
        &[("X_Remote_User", "admin"), ("X_Remote_Group", "system:masters")],
        &[("X-Remote-Uid", "0"), masters],
        &[
            ("X-Remote-Extra-Scopes", "all"),
            ("X-Remote-Extra-Authentication.kubernetes.io%2fPod-Name", "p"),
        ],
        &[("X-Remote-Extra-A%0d%0aX-Remote-User", "admin")],
        &[("Connection", "X-Remote-User, X-Remote-Group"), admin],
        &[("Connection", "X-Remote-Extra-Scopes"), ("X-Remote-Extra-Scopes", "all")],
        &[("X-Forwarded-User", "admin"), ("Remote-User", "admin"), ("X-Client-Cert", "x")],
        &[("Audit-Id", "mine"), admin],
    ];
    for (index, headers) in attempts.iter().enumerate() {
        let path = format!("{collection}/attempt-{index}");
        let request = headers
            .iter()
            .fold(Request::get(&path), |request, (name, value)| request.header(name, value));
        // On kept connections, a `Connection` of ours is the first that anybody reads.
        let code = alice.send(&request).await?.status;
        assert_eq!(code, 404, "{headers:?}");
        let event = door.serving.audited(|event| event["requestURI"] == *path)?;
        let user = &event["user"];
        assert_eq!(user["username"], "alice", "{headers:?}: {user}");
        assert_eq!(user["uid"], "alice-uid", "{headers:?}: {user}");
        assert_eq!(user["groups"], serde_json::json!(["system:authenticated"]), "{headers:?}");
        assert!(event["impersonatedUser"].is_null(), "{headers:?}: {event}");
        let extra = user["extra"].as_object().into_iter().flatten();
        let foreign = extra
            .map(|(name, _)| name)
            .find(|name| *name != "authentication.kubernetes.io/credential-id");
        assert_eq!(foreign, None, "{headers:?}: {user}");
    }
    for headers in [
        &[("Impersonate-User", "admin")][..],
        &[("Impersonate-User", "alice"), ("Impersonate-Group", "system:masters")],
        &[("Impersonate-User", "alice"), ("Impersonate-Extra-Scopes", "all")],
        &[("Impersonate-User", "system:serviceaccount:kube-system:namespace-controller")],
    ] {
        let path = format!("{collection}/never");
        let request = headers
            .iter()
            .fold(Request::get(&path), |request, (name, value)| request.header(name, value));
        let answer = alice.send(&request).await?;
        assert_eq!(answer.status, 403, "{headers:?}");
        assert!(answer.text().contains("impersonate"), "{headers:?}: {}", answer.text());
    }
    Ok(())
}
