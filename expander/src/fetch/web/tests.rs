use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

/// Answers by path: head lines behind `HTTP/1.1`, and the body.
type Files = BTreeMap<String, (String, Vec<u8>)>;

/// A server on loopback; it ends with the test's runtime.
struct Served {
    address: SocketAddr,
    /// Paths that were asked for.
    asked: Arc<Mutex<Vec<String>>>,
}

fn file(text: &str) -> (String, Vec<u8>) {
    ("200 OK".to_owned(), text.as_bytes().to_vec())
}

fn files(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(path, text)| ((*path).to_owned(), file(text))).collect()
}

impl Served {
    async fn start(files: Files) -> Result<Self> {
        Self::start_with(files, None).await
    }

    async fn start_with(files: Files, tls: Option<tokio_rustls::TlsAcceptor>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (files, log) = (Arc::new(files), asked.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (files, log, tls) = (files.clone(), log.clone(), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => answer(stream, &files, &log).await,
                        Some(tls) => answer(tls.accept(stream).await?, &files, &log).await,
                    }
                });
            }
        });
        Ok(Self { address, asked })
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// One request on one connection. A body of `slow` never ends.
async fn answer(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    files: &Files,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default();
    log.lock().unwrap().push(path.to_owned());
    let missing = ("404 Not Found".to_owned(), Vec::new());
    let (head, body) = files.get(path).unwrap_or(&missing);
    let length = if body == b"slow" { 100 } else { body.len() };
    let head = format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.flush().await?;
    if body == b"slow" {
        std::future::pending::<()>().await;
    }
    stream.shutdown().await
}

/// One that may fetch from this server.
fn web(served: &Served) -> Web {
    let hosts = vec![served.url("")];
    Web::new(Access { hosts, private_addresses: true, ..Access::default() }).unwrap()
}

async fn fetched(web: &Web, names: &[&str]) -> Result<Imports, FetchError> {
    let wanted: Vec<_> = names.iter().map(|name| Wanted { name: (*name).to_owned() }).collect();
    web.fetch(&wanted).await
}

async fn refused(web: &Web, name: &str) -> String {
    fetched(web, &[name]).await.unwrap_err().to_string()
}

fn shown(imports: &Imports) -> Vec<String> {
    imports.iter().map(|(name, it)| format!("{name} {} {}", it.path, it.content)).collect()
}

#[tokio::test]
async fn a_template_comes_with_its_schema_and_what_that_imports() -> Result<()> {
    let schema = "imports:\n- path: helper.py\n- {path: ../lib/x.jinja, name: x}\n";
    let served = Served::start(files(&[
        ("/t/top.py", "TOP"),
        ("/t/top.py.schema", schema),
        ("/t/helper.py", "HELPER"),
        ("/lib/x.jinja", "X"),
        ("/lib/x.jinja.schema", "imports: [{path: y.txt}]"),
        ("/lib/y.txt", "Y"),
        ("/lib/y.txt.schema", "never asked for"),
    ]))
    .await?;
    let top = served.url("/t/top.py");
    let imports = fetched(&web(&served), &[&top]).await?;
    let (helper, x, y) =
        (served.url("/t/helper.py"), served.url("/lib/x.jinja"), served.url("/lib/y.txt"));
    assert_eq!(
        shown(&imports),
        [
            format!("helper.py {helper} HELPER"),
            format!("{top} {top} TOP"),
            format!("{top}.schema {top}.schema {schema}"),
            format!("x {x} X"),
            format!("x.schema {x}.schema imports: [{{path: y.txt}}]"),
            format!("y.txt {y} Y"),
        ]
    );
    Ok(())
}

#[tokio::test]
async fn hosts_that_are_not_allowed_are_not_asked() -> Result<()> {
    let served = Served::start(files(&[("/t.py", "T")])).await?;
    let url = served.url("/t.py");
    let nothing = Web::new(Access::default())?;
    let message = refused(&nothing, &url).await;
    assert!(
        message.contains(&format!("templates from {} are not allowed here", served.url(""))),
        "{message}"
    );
    let message = refused(&nothing, "github.com/o/r/t:v1").await;
    assert!(message.contains("https://github.com are not allowed"), "{message}");
    // In the clear only where that is listed.
    let hosts = vec![served.address.to_string()];
    let secret = Web::new(Access { hosts, private_addresses: true, ..Access::default() })?;
    assert!(refused(&secret, &url).await.contains("not allowed here"));
    assert!(refused(&web(&served), "gs://bucket/t").await.contains("no templates"));
    assert!(refused(&web(&served), "http://u@h/t.py").await.contains("no URL"));
    assert_eq!(served.asked(), [""; 0]);
    Ok(())
}

#[tokio::test]
async fn addresses_of_the_inside_are_not_connected_to() -> Result<()> {
    let served = Served::start(files(&[("/t.py", "T")])).await?;
    let port = served.address.port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1", "0"] {
        let origin = format!("http://{host}:{port}");
        let access = Access { hosts: vec![origin.clone()], ..Access::default() };
        let message = refused(&Web::new(access)?, &format!("{origin}/t.py")).await;
        assert!(message.contains("private address"), "{host}: {message}");
    }
    assert_eq!(served.asked(), [""; 0]);
    Ok(())
}

#[tokio::test]
async fn a_redirect_stays_on_its_host_and_ends() -> Result<()> {
    let other = Served::start(files(&[("/t.py", "OTHER")])).await?;
    let to = |location: &str| (format!("302 Found\r\nlocation: {location}"), Vec::new());
    let mut all = files(&[("/new/t.py", "T")]);
    all.insert("/t.py".into(), to("/new/t.py"));
    all.insert("/away.py".into(), to(&other.url("/t.py")));
    all.insert("/round.py".into(), to("round.py"));
    all.insert("/nowhere.py".into(), ("302 Found".into(), Vec::new()));
    let served = Served::start(all).await?;
    let hosts = vec![served.url(""), other.url("")];
    let web = Web::new(Access { hosts, private_addresses: true, ..Access::default() })?;
    let imports = fetched(&web, &[&served.url("/t.py")]).await?;
    assert_eq!(&*imports[&served.url("/t.py")].content, "T");
    assert!(refused(&web, &served.url("/away.py")).await.contains("redirected to another host"));
    assert!(refused(&web, &served.url("/round.py")).await.contains("more than 5 times"));
    assert!(refused(&web, &served.url("/nowhere.py")).await.contains("not where"));
    assert_eq!(other.asked(), [""; 0]);
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_had_is_told() -> Result<()> {
    let mut all = files(&[
        ("/glob.py", ""),
        ("/glob.py.schema", "a: 1\nimports:\n- path: '*.py'\n"),
        ("/odd.py", ""),
        ("/odd.py.schema", "imports:\n- name: x\n"),
        ("/up.py", ""),
        ("/up.py.schema", "imports: [{path: ../../x.py}]"),
        ("/two.py", ""),
        ("/two.py.schema", "imports: [{path: a.py, name: x}, {path: b.py, name: x}]"),
        ("/lacks.py", ""),
        ("/lacks.py.schema", "imports: [{path: none.txt}]"),
    ]);
    all.insert("/broken.py".into(), ("500 Internal Server Error".into(), Vec::new()));
    all.insert("/bytes.py".into(), ("200 OK".into(), vec![0xff, 0xfe]));
    all.insert("/long.py".into(), ("200 OK".into(), vec![b'x'; (1 << 20) + 1]));
    all.insert("/most.txt".into(), ("200 OK".into(), vec![b'x'; 1 << 20]));
    let served = Served::start(all).await?;
    let web = web(&served);
    for (path, want) in [
        ("/none.py", "Received status code 404 attempting to fetch"),
        ("/broken.py", "Received status code 500"),
        ("/bytes.py", "not UTF-8"),
        ("/long.py", "longer than 1048576 bytes"),
        ("/glob.py", "glob.py.schema: 3: *.py is a pattern"),
        ("/odd.py", "imports[0]: path is missing"),
        ("/up.py", "../../x.py is no path from"),
        ("/two.py", "x: stands for two files"),
        ("/lacks.py", "none.txt: Received status code 404"),
    ] {
        let message = refused(&web, &served.url(path)).await;
        assert!(message.contains(want), "{path}: {message}");
    }
    assert_eq!(fetched(&web, &[&served.url("/most.txt")]).await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_hundred_files_are_enough() -> Result<()> {
    let schema = |count: usize| -> String {
        let imports = (0..count).map(|at| format!("- path: f{at}.txt\n"));
        format!("imports:\n{}", imports.collect::<String>())
    };
    let mut all = files(&[("/t.py", ""), ("/u.py", "")]);
    all.insert("/t.py.schema".into(), file(&schema(99)));
    all.insert("/u.py.schema".into(), file(&schema(100)));
    all.extend((0..100).map(|at| (format!("/f{at}.txt"), file("x"))));
    let served = Served::start(all).await?;
    assert_eq!(fetched(&web(&served), &[&served.url("/t.py")]).await?.len(), 101);
    let message = refused(&web(&served), &served.url("/u.py")).await;
    assert!(message.contains("Number of imports exceeds maximum of 100"), "{message}");
    Ok(())
}

#[tokio::test]
async fn files_that_are_too_much_together_are_refused() -> Result<()> {
    let mut all = files(&[("/t.py", "")]);
    let imports = (0..17).map(|at| format!("- path: f{at}.txt\n")).collect::<String>();
    all.insert("/t.py.schema".into(), file(&format!("imports:\n{imports}")));
    all.extend(
        (0..17).map(|at| (format!("/f{at}.txt"), ("200 OK".to_owned(), vec![b'x'; 1 << 20]))),
    );
    let served = Served::start(all).await?;
    let message = refused(&web(&served), &served.url("/t.py")).await;
    assert!(message.contains("files of more than 16777216 bytes"), "{message}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_file_that_takes_too_long_is_given_up() -> Result<()> {
    let served = Served::start(files(&[("/t.py", "slow")])).await?;
    let message = refused(&web(&served), &served.url("/t.py")).await;
    assert!(message.contains("longer than 10 seconds"), "{message}");
    Ok(())
}

/// A registry with two templates, and who may fetch from it.
async fn registry() -> Result<(Served, Web)> {
    let dir = |name: &str| format!(r#"{{"name": "{name}", "type": "dir", "size": 0}}"#);
    let file = |name: &str| format!(r#"{{"name": "{name}", "type": "file"}}"#);
    let list = |entries: &[String]| format!("[{}]", entries.join(","));
    let redis = list(&["v1", "v1.0.2", "v1.1", "docs"].map(dir));
    let version = list(&["redis.jinja", "redis.jinja.schema", "example.yaml"].map(file));
    let served = Served::start(files(&[
        ("/repos/o/r/contents/storage/redis", &redis),
        ("/repos/o/r/contents/storage/redis/v1.0.2", &version),
        ("/repos/o/r/contents/storage/redis/v1.0.2/redis.jinja", "REDIS"),
        (
            "/repos/o/r/contents/storage/redis/v1.0.2/redis.jinja.schema",
            "imports: [{path: ../common.py}, {path: 'github.com/o/r/web:v2', name: web}]",
        ),
        ("/repos/o/r/contents/storage/redis/common.py", "COMMON"),
        ("/repos/o/r/contents/web", &list(&["v2.0"].map(dir))),
        ("/repos/o/r/contents/web/v2.0", &list(&["web.py"].map(file))),
        ("/repos/o/r/contents/web/v2.0/web.py", "WEB"),
        ("/repos/o/r/contents/out", &list(&["v1"].map(dir))),
        ("/repos/o/r/contents/out/v1", &list(&["out.py"].map(file))),
        ("/repos/o/r/contents/out/v1/out.py", ""),
        ("/repos/o/r/contents/out/v1/out.py.schema", "imports: [{path: ../../../../../user}]"),
    ]))
    .await?;
    let access = Access {
        hosts: vec!["github.com".to_owned()],
        private_addresses: true,
        github: served.url(""),
        ..Access::default()
    };
    let web = Web::new(access)?;
    Ok((served, web))
}

#[tokio::test]
async fn a_type_of_a_registry_is_its_highest_patch() -> Result<()> {
    let (served, web) = registry().await?;
    let imports = fetched(&web, &["github.com/o/r/storage/redis:v1.0"]).await?;
    let paths: Vec<_> =
        imports.iter().map(|(name, import)| format!("{name} {}", import.path)).collect();
    assert_eq!(
        paths,
        [
            "../common.py github.com/o/r/storage/redis/common.py",
            "github.com/o/r/storage/redis:v1.0 github.com/o/r/storage/redis/v1.0.2/redis.jinja",
            "github.com/o/r/storage/redis:v1.0.schema github.com/o/r/storage/redis/v1.0.2/redis.jinja.schema",
            "web github.com/o/r/web/v2.0/web.py",
        ]
    );
    assert!(served.asked().iter().all(|path| path.starts_with("/repos/o/r/contents/")));
    Ok(())
}

#[tokio::test]
async fn what_a_registry_does_not_have_is_told() -> Result<()> {
    let (served, web) = registry().await?;
    for (name, want) in [
        ("github.com/o/r/storage/redis:v3", "has no version v3 of it"),
        ("github.com/o/r/none:v1", "does not have it"),
        ("github.com/o/r/storage/redis:docs", "does not have it"),
        ("github.com/o/r/a/b/c:v1", "is not github.com/OWNER/REPOSITORY/"),
        (
            "github.com/o/r/out:v1",
            "../../../../../user is no path from github.com/o/r/out/v1/out.py",
        ),
    ] {
        let message = refused(&web, name).await;
        assert!(message.contains(want), "{name}: {message}");
    }
    assert!(!served.asked().iter().any(|path| path.contains("user")));
    Ok(())
}

#[tokio::test]
async fn https_needs_a_certificate_of_an_authority_that_is_trusted() -> Result<()> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(tls));
    let served = Served::start_with(files(&[("/t.py", "T")]), Some(acceptor)).await?;
    let host = format!("localhost:{}", served.address.port());
    let url = format!("https://{host}/t.py");
    let access = Access { hosts: vec![host], private_addresses: true, ..Access::default() };
    let message = refused(&Web::new(access.clone())?, &url).await;
    assert!(message.contains("UnknownIssuer"), "{message}");
    let trusting = Web::new(Access { roots: vec![made.cert.der().clone()], ..access })?;
    let imports = fetched(&trusting, &[&url]).await?;
    assert_eq!(&*imports.get(&url).context("it is there")?.content, "T");
    Ok(())
}

#[test]
fn access_that_is_not_understood_is_refused() {
    let of = |host: &str| Web::new(Access { hosts: vec![host.to_owned()], ..Access::default() });
    assert!(of("example.com").is_ok());
    let error = of("example.com/path").err().map(|error| error.to_string());
    let want = "\"example.com/path\" is not a host that templates could be fetched from";
    assert_eq!(error.as_deref(), Some(want));
}
