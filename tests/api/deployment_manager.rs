//! Deployment Manager's own paths: what version 1.2.1 was asked and answered, and what we answer.

use ::tests::client::{Answer, PATIENCE, Request, plain};
use ::tests::corpus;
use ::tests::exchanges::{self, Exchange};
use ::tests::server::Server;
use anyhow::{Context, Result, ensure};
use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Exchanges that we answer otherwise, what with, and why. COMPATIBILITY.md has the rules.
const DIFFERENCES: &[(&str, u16, &str)] = &[
    ("expand", 201, "a key of the configuration stays the text that it was: `n` is not false"),
    ("expand without content type", 201, "as before"),
    ("expand python prints to stderr", 201, "what a template prints harms nobody"),
    ("expand python exits 3 silently", 400, "the connection was closed without an answer"),
    ("expand python helper import", 201, "it was broken in this version"),
    ("expand jinja include", 201, "it was broken in this version"),
];

/// A server that has these paths, and where they are.
fn start() -> Result<(Server, String)> {
    let server = Server::start_with(&["--dm-compat-address=127.0.0.1:0"])?;
    let at = server.compat().context("the server says where these paths are")?;
    Ok((server, at))
}

fn post(path: &str, media: &str, body: impl Into<String>) -> Request {
    Request::new(Method::POST, path).json(media, body.into())
}

#[tokio::test]
async fn the_manager_answers_as_recorded_or_differs_by_a_rule() -> Result<()> {
    let Some(path) = corpus::find("dm/transcripts/manager-v1.2.1.txt") else { return Ok(()) };
    let (_server, at) = start()?;
    let text = std::fs::read_to_string(path)?;
    let (mut compared, mut wrong) = (0, Vec::new());
    let mut differences: Vec<&str> = DIFFERENCES.iter().map(|(name, ..)| *name).collect();
    for recorded in exchanges::read(&text) {
        if !matches!(recorded.path.as_str(), "/expand" | "/healthz") {
            continue;
        }
        compared += 1;
        let media = "application/x-www-form-urlencoded";
        let method: Method = recorded.method.parse()?;
        let request = Request::new(method, &recorded.path).json(media, recorded.body.clone());
        let answer = plain::send(&at, &request).await?;
        let difference = DIFFERENCES.iter().find(|(name, ..)| *name == recorded.name);
        let result = match difference {
            Some((name, status, _)) => {
                differences.retain(|known| known != name);
                same_status(&answer, *status)
            }
            None => is_answered_by(&recorded, &answer),
        };
        if let Err(error) = result {
            wrong.push(format!("{}: {error}\n{}", recorded.name, answer.text()));
        }
    }
    println!("{compared} exchanges, {} differ by a rule", DIFFERENCES.len());
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
    assert_eq!(differences, Vec::<&str>::new(), "these are not in the record any more");
    assert!(compared >= 14, "{compared}");
    Ok(())
}

fn same_status(answer: &Answer, want: u16) -> Result<()> {
    ensure!(answer.status == want, "{} for {want}", answer.status);
    Ok(())
}

/// Successes are equal as JSON. Errors begin and end alike and say the same sentence; the tracebacks in between are
/// of a process that is not ours.
fn is_answered_by(recorded: &Exchange, answer: &Answer) -> Result<()> {
    same_status(answer, recorded.status)?;
    let media = answer.header("content-type");
    ensure!(media.eq_ignore_ascii_case(&recorded.media), "{media} for {}", recorded.media);
    let text = answer.text();
    if recorded.status == 201 {
        let wanted: Value = serde_json::from_str(&recorded.answer)?;
        ensure!(answer.json()? == wanted, "not {}", recorded.answer);
        return Ok(());
    }
    if recorded.status == 200 {
        ensure!(text == recorded.answer, "not {:?}", recorded.answer);
        return Ok(());
    }
    let sent: Value = serde_json::from_str(&recorded.body)?;
    let name = sent["name"].as_str().unwrap_or_default();
    let head = format!(
        "cannot expand template named {name} (template expansion: expandybird response:\n\
             error expanding template: error expanding template {name}: "
    );
    let tail = format!("\n):\n{}\n", sent["content"].as_str().unwrap_or_default());
    for text in [&recorded.answer, &text] {
        ensure!(text.starts_with(&head) && text.ends_with(&tail), "{text}");
    }
    ensure!(text.contains("Resource: config"), "{text}");
    // The sentence in front of what it is about; of an exception, the last line.
    let (_, sentence) =
        recorded.answer.split_once("ExpansionError: ").context("an error has a sentence")?;
    let sentence = sentence.split(" Resource: ").next().unwrap_or_default();
    if !sentence.contains('\n') && !sentence.starts_with('\'') {
        ensure!(text.contains(sentence), "{sentence:?} is not in {text}");
    }
    ensure!(!text.contains("/oracle/") && !text.contains(".rs:"), "{text}");
    Ok(())
}

#[tokio::test]
async fn what_the_manager_answered_badly_is_answered_well() -> Result<()> {
    let (_server, at) = start()?;
    let json = "application/json";
    let send = |request: Request| {
        let at = at.clone();
        async move { plain::send(&at, &request).await }
    };
    // It said 200 and nothing.
    assert_eq!(send(post("/expand", json, "{{{")).await?.status, 400);
    // It closed the connection.
    let empty = send(post("/expand", json, r#"{"name":"e","content":""}"#)).await?;
    assert_eq!(empty.status, 201);
    let wanted = json!({"expandedConfig": {"resources": []}, "layout": {"resources": []}});
    assert_eq!(empty.json()?, wanted);
    let yaml = "name: e\ncontent: |\n  resources: [{name: a, type: T}]\n";
    let answer = send(post("/expand", json, yaml)).await?;
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(answer.json()?["layout"]["resources"][0]["name"], "a");
    for path in ["/", "/deployments/a/b", "/expand/", "/expandybird"] {
        let answer = send(Request::get(path)).await?;
        assert_eq!((answer.status, &*answer.text()), (404, "404 page not found\n"), "{path}");
    }
    assert_eq!(send(Request::get("/expand")).await?.status, 404);
    // It read the first mebibyte and took that for all.
    let mut stream = TcpStream::connect(&at).await?;
    let head = format!("POST /expand HTTP/1.1\r\nHost: {at}\r\nContent-Length: 9999999\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let mut start = [0; 12];
    timeout(PATIENCE, stream.read_exact(&mut start)).await??;
    assert_eq!(&start, b"HTTP/1.1 413");
    Ok(())
}

/// What the record has only answers of; the requests are made up to fit them.
#[tokio::test]
async fn expandybird_answers_as_recorded() -> Result<()> {
    let Some(path) = corpus::find("dm/transcripts/expandybird-resourcifier-v1.2.1.txt") else {
        return Ok(());
    };
    let (_server, at) = start()?;
    let text = std::fs::read_to_string(path)?;
    let pod = r#"{"name":"x","content":"resources: [{name: a, type: Pod, properties: {kind: Pod, metadata: {name: a}}}]"}"#;
    let (json, xml) = ("application/json", "application/xml");
    for (name, media, accept, body) in [
        ("expandybird ok", json, "*/*", pod),
        ("expandybird text/plain", "text/plain", "*/*", pod),
        ("expandybird Accept xml", json, xml, pod),
        ("expandybird Accept yaml", json, "application/x-yaml", pod),
        ("expandybird empty content", json, "*/*", r#"{"name":"x","content":""}"#),
        (
            "expandybird unicode",
            json,
            "*/*",
            r#"{"name":"x","content":"resources: [{name: é, type: Pod}]"}"#,
        ),
    ] {
        let request = post("/expandybird/expand", media, body).header("accept", accept);
        let answer = plain::send(&at, &request).await?;
        let (wanted, status) = recorded(&text, name)?;
        assert_eq!((answer.status, answer.text()), (status, wanted.to_owned()), "{name}");
    }
    // Their sentences are Go's and Python's.
    for (name, body) in [
        ("expandybird bad json", "{{"),
        ("expandybird int content (type error)", r#"{"content":7}"#),
        ("expandybird scalar content", r#"{"name":"x","content":"hello"}"#),
        ("expandybird error", r#"{"name":"x","content":"resources: [{type: Pod}]"}"#),
    ] {
        let answer = plain::send(&at, &post("/expandybird/expand", json, body)).await?;
        assert_eq!(answer.status, recorded(&text, name)?.1, "{name}");
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8", "{name}");
    }
    let answer = plain::send(&at, &Request::get("/expandybird/expand")).await?;
    let (wanted, status) = recorded(&text, "expandybird GET")?;
    assert_eq!((answer.status, answer.text()), (status, wanted.to_owned()));
    Ok(())
}

fn recorded<'a>(text: &'a str, name: &str) -> Result<(&'a str, u16)> {
    let (_, rest) = text.split_once(&format!("### {name}\n")).with_context(|| name.to_owned())?;
    let (answer, rest) = rest.split_once("\n<<< status ").context("an answer ends")?;
    let status = rest.split_whitespace().next().context("an answer has a code")?;
    Ok((answer, status.parse()?))
}
