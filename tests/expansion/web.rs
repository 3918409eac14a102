//! Registries on web servers: which file the index means, and what is asked of whom with which credential.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use expander::{Access, Among, Credential, Fetch as _, Place, Registry, Web};
use expansion::{Imports, Wanted};
use tests::files::{Answer, Asked, Files};

use crate::registries::Only;

/// What the index of `/lib` says. Every file holds its own path, unless it is another one here.
const INDEX: &str = "
apiVersion: v1
generated: 2026-11-22T12:00:00Z
entries:
  storage/redis:
  - {version: v1, urls: [storage/redis/v1/redis.jinja]}
  - version: v1.0.2
    urls: [storage/redis/v1.0.2/redis.jinja]
    keywords: [cache]
  - {version: v1.0.10, urls: [./x/../storage/redis/v1.0.10/redis.jinja, gone.py]}
  - {version: v1.1, urls: [storage/redis/v1.1/redis.jinja]}
  - {version: v2.0-rc, urls: [storage/redis/rc/redis.jinja]}
  - {version: latest, urls: [storage/redis/latest/redis.jinja]}
  - {urls: [storage/redis/redis.jinja]}
  plain:
  - {version: '2', urls: [any/where.py]}
  flat:
  - {urls: [flat.py]}
  rooted:
  - {version: v1, urls: [/lib/rooted.py]}
  whole:
  - {version: v1, urls: ['HOST/lib/whole.py']}
  right:
  - {version: v1, urls: [right.py], digest: 'sha256:869b146b939f98f8a011ef4168601593c7cbf4c2f561f032e9ceeb3368945a3d'}
  wrong:
  - {version: v1, urls: [wrong.py], digest: 'sha256:0000000000000000000000000000000000000000000000000000000000000000'}
  up:
  - {version: v1, urls: [../secret.py]}
  top:
  - {version: v1, urls: [/secret.py]}
  beside:
  - {version: v1, urls: [/library/secret.py]}
  escaped:
  - {version: v1, urls: ['%2e%2e/secret.py']}
  whole-up:
  - {version: v1, urls: ['HOST/lib/../secret.py']}
  asking:
  - {version: v1, urls: ['asking.py?to=/secret']}
  away:
  - {version: v1, urls: ['https://other.example/away.py']}
  text:
  - {version: v1, urls: [text.txt]}
  lost:
  - {version: v1, urls: [gone.py]}
  moved:
  - {version: v1, urls: [moved.py]}
  led-out:
  - {version: v1, urls: [led-out.py]}
  led-away:
  - {version: v1, urls: [led-away.py]}
  a/b/c:
  - {version: v1, urls: [c.py]}
";

/// Types, and the file that each is, or what is said instead.
const RULES: &[(&str, Result<&str, &str>)] = &[
    // Versions are chosen as everywhere, whatever the files are called.
    ("storage/redis:v1", Ok("storage/redis/v1.0.10/redis.jinja")),
    ("storage/redis:1.0", Ok("storage/redis/v1.0.10/redis.jinja")),
    ("storage/redis:v1.0.2", Ok("storage/redis/v1.0.10/redis.jinja")),
    ("storage/redis:v1.1", Ok("storage/redis/v1.1/redis.jinja")),
    ("storage/redis", Ok("storage/redis/v1.1/redis.jinja")),
    ("storage/redis:latest", Ok("storage/redis/latest/redis.jinja")),
    ("storage/redis:v2.0-rc", Ok("storage/redis/rc/redis.jinja")),
    ("storage/redis:v2", Err("the registry has no version v2 of it")),
    ("plain:v2", Ok("any/where.py")),
    ("flat:v1", Err("the registry has no version v1 of it")),
    ("flat", Err("the registry has no version of it")),
    ("redis:v1", Err("the registry does not have it")),
    ("cache/redis:v1", Err("the registry does not have it")),
    ("a/b/c:v1", Err("/lib/[COLLECTION/]TEMPLATE[:VERSION]")),
    ("..:v1", Err("/lib/[COLLECTION/]TEMPLATE[:VERSION]")),
    // What the index says stays in the registry.
    ("rooted:v1", Ok("rooted.py")),
    ("whole:v1", Ok("whole.py")),
    ("up:v1", Err("../secret.py, which leads out of the registry")),
    ("top:v1", Err("/secret.py, which leads out of the registry")),
    ("beside:v1", Err("/library/secret.py, which leads out of the registry")),
    ("escaped:v1", Err("%2e%2e/secret.py, which leads out of the registry")),
    ("whole-up:v1", Err("/lib/../secret.py, which leads out of the registry")),
    ("asking:v1", Err("asking.py?to=/secret, which leads out of the registry")),
    ("away:v1", Err("https://other.example/away.py, which leads out of the registry")),
    ("text:v1", Err("text.txt, which is neither .py nor .jinja")),
    ("lost:v1", Err("Received status code 404 attempting to fetch")),
    ("moved:v1", Ok("rooted.py")),
    ("led-out:v1", Err("it is redirected out of its registry")),
    ("led-away:v1", Err("it is redirected to another host")),
    // A file is what the index says it is.
    ("right:v1", Ok("right.py")),
    ("wrong:v1", Err("and the registry says sha256:0000000000000000")),
];

/// A server, and with which credential each path was asked for.
struct Served {
    files: Files,
    sent: Arc<Mutex<BTreeMap<String, Option<String>>>>,
}

impl Served {
    /// Serves a file for each path under `/lib` that has a suffix; `texts` has others.
    fn start(texts: &[(&str, &str)]) -> Result<Self> {
        let sent = Arc::<Mutex<BTreeMap<_, _>>>::default();
        let (log, texts) = (sent.clone(), texts.to_vec());
        let files = Files::serve_by(|host| {
            let text =
                |(path, text): &(&str, &str)| ((*path).to_owned(), text.replace("HOST", host));
            let texts: BTreeMap<String, String> = texts.iter().map(text).collect();
            move |asked: &Asked| {
                let credential = asked.headers.get("authorization").cloned();
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.insert(asked.path.clone(), credential);
                answer(&texts, &asked.path)
            }
        })?;
        Ok(Self { files, sent })
    }

    fn host(&self) -> String {
        self.files.host()
    }

    /// The credentials that were sent, by path.
    fn sent(&self) -> BTreeMap<String, Option<String>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The registry at `/lib`.
    fn registry(&self, credential: Option<Credential>) -> Registry {
        Registry {
            prefix: format!("{}/lib", self.host().trim_start_matches("http://")),
            versioned: true,
            collections: true,
            place: Place::Http { plain: true, credential },
        }
    }
}

fn answer(texts: &BTreeMap<String, String>, path: &str) -> Answer {
    match (texts.get(path), path) {
        (Some(text), _) => ("200 OK", text.clone()),
        (None, "/lib/moved.py") => ("302 Found\r\nlocation: rooted.py", String::new()),
        (None, "/lib/led-out.py") => ("302 Found\r\nlocation: /secret.py", String::new()),
        (None, "/lib/led-away.py") => {
            ("302 Found\r\nlocation: http://other.example/lib/x.py", String::new())
        }
        (None, "/lib/gone.py") => ("404 Not Found", String::new()),
        (None, _) => match path.strip_prefix("/lib/") {
            Some(file) if file.ends_with(".py") || file.ends_with(".jinja") => {
                ("200 OK", file.to_owned())
            }
            _ => ("404 Not Found", String::new()),
        },
    }
}

/// One that may fetch from these.
fn web(hosts: &[String]) -> Result<Web> {
    let hosts = hosts.to_vec();
    Ok(Web::new(Access { hosts, private_addresses: true, ..Access::default() })?)
}

async fn fetched(among: &Among<'_>, names: &[String]) -> Result<Imports, String> {
    let wanted: Vec<_> = names.iter().map(|name| Wanted { name: name.clone() }).collect();
    among.fetch(&wanted).await.map_err(|error| error.to_string())
}

/// What is fetched of a registry on a server by the name of a type there.
async fn of(web: &Web, registry: &Registry, rest: &str) -> Result<Imports, String> {
    let name = format!("https://{}/{rest}", registry.prefix);
    fetched(&web.among(&Only(registry.clone())), &[name]).await
}

async fn refused(web: &Web, registry: &Registry) -> String {
    let told = of(web, registry, "plain:v2").await.map(|files| format!("{files:?}"));
    told.expect_err("a refusal")
}

#[tokio::test]
async fn a_type_of_a_web_server_is_the_file_that_its_index_says() -> Result<()> {
    let served = Served::start(&[("/lib/index.yaml", INDEX)])?;
    let (web, registry) = (web(&[served.host()])?, served.registry(None));
    let mut wrong = Vec::new();
    for (rest, want) in RULES {
        let got = of(&web, &registry, rest).await;
        let fits = match (&got, want) {
            (Ok(files), Ok(path)) => files.values().any(|file| &*file.content == *path),
            (Err(error), Err(part)) => error.contains(part),
            _ => false,
        };
        if !fits {
            wrong.push(format!("{rest:?} should be {want:?}: {got:?}"));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    ensure!(
        !served.files.asked().iter().any(|path| path.contains("secret")),
        "{:?}",
        served.sent()
    );
    Ok(())
}

#[tokio::test]
async fn a_registry_without_versions_has_those_that_say_none() -> Result<()> {
    let served = Served::start(&[("/lib/index.yaml", INDEX)])?;
    let web = web(&[served.host()])?;
    let registry = Registry { versioned: false, ..served.registry(None) };
    for (rest, want) in [
        ("flat", Ok("flat.py")),
        ("storage/redis", Ok("storage/redis/redis.jinja")),
        ("flat:v1", Err("its registry has no versions")),
        ("plain", Err("the registry does not have it")),
    ] {
        let got = of(&web, &registry, rest).await;
        match (&got, want) {
            (Ok(files), Ok(path)) => ensure!(files.values().any(|it| &*it.content == path)),
            (Err(error), Err(part)) => ensure!(error.contains(part), "{rest}: {error}"),
            _ => anyhow::bail!("{rest}: {got:?}"),
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_index_is_read_once_for_all_types_that_are_wanted_together() -> Result<()> {
    let served = Served::start(&[("/lib/index.yaml", INDEX)])?;
    let (web, registry) = (web(&[served.host()])?, served.registry(None));
    let types = ["storage/redis:v1", "storage/redis:v1.1", "plain:v2", "whole:v1"];
    let types = types.map(|rest| format!("https://{}/{rest}", registry.prefix));
    let only = Only(registry);
    let files = fetched(&web.among(&only), &types).await.map_err(anyhow::Error::msg)?;
    assert_eq!(files.len(), types.len());
    let asked = served.files.asked();
    assert_eq!(asked.iter().filter(|path| *path == "/lib/index.yaml").count(), 1, "{asked:?}");
    Ok(())
}

#[tokio::test]
async fn a_web_server_lists_what_can_be_asked_for() -> Result<()> {
    let index = "apiVersion: v1\nentries:\n  b/t:\n  - {version: v1.10, urls: [t.py]}\n  - {version: v1.9, urls: [t.py]}\n  \
                 a:\n  - {version: v1, urls: [a.py]}\n  - {urls: [a.py]}\n  - {version: v1+build, urls: [a.py]}\n  \
                 odd name: [{version: v1, urls: [a.py]}]\n  'with:colon': [{version: v1, urls: [a.py]}]\n";
    let served = Served::start(&[("/lib/index.yaml", index), ("/lib/t.py.schema", "{}")])?;
    let (web, registry) = (web(&[served.host()])?, served.registry(None));
    let told = async |registry: &Registry| {
        let all = web.offered(registry).await.map_err(anyhow::Error::msg)?;
        anyhow::Ok(all.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(told(&registry).await?, ["a:v1", "b/t:v1.9", "b/t:v1.10"]);
    let flat = Registry { collections: false, ..registry.clone() };
    assert_eq!(told(&flat).await?, ["a:v1"]);
    let plain = Registry { versioned: false, ..registry.clone() };
    assert_eq!(told(&plain).await?, ["a"]);
    let located = web.located(&registry, "b/t:v1.9").await;
    let url = served.files.url("/lib/t.py");
    assert_eq!(located, Ok(vec![url.clone(), format!("{url}.schema")]));
    Ok(())
}

#[tokio::test]
async fn an_index_that_cannot_be_read_is_told() -> Result<()> {
    let long = format!("# {}\n", "x".repeat(1 << 20));
    for (index, want) in [
        (None, "the registry has no index.yaml (HOST/lib/index.yaml)"),
        (Some("apiVersion: v1\nentries:\n  a: b: c\n"), "HOST/lib/index.yaml: 3: "),
        (
            Some("apiVersion: v1\nentries:\n  a:\n  - {version: 1.10}\n"),
            "HOST/lib/index.yaml: entries[\"a\"][0].urls: must be",
        ),
        (Some("kind: Other"), "HOST/lib/index.yaml: apiVersion: must be v1"),
        (Some(long.as_str()), "it is longer than 1048576 bytes (HOST/lib/index.yaml)"),
    ] {
        let files: Vec<_> = index.iter().map(|index| ("/lib/index.yaml", *index)).collect();
        let served = Served::start(&files)?;
        let (web, registry) = (web(&[served.host()])?, served.registry(None));
        let want = want.replace("HOST", &served.host());
        let message = refused(&web, &registry).await;
        ensure!(message.contains(&want), "{want}: {message}");
        let message = web.offered(&registry).await.unwrap_err();
        ensure!(message.contains(&want), "{want}: {message}");
    }
    Ok(())
}

#[tokio::test]
async fn a_registry_is_asked_only_where_its_host_is_allowed() -> Result<()> {
    let served = Served::start(&[("/lib/index.yaml", INDEX)])?;
    let (host, registry) = (served.host(), served.registry(Credential::token("secret")));
    let bare = host.trim_start_matches("http://").to_owned();
    // In the clear only where that is said, with a credential or without one.
    for hosts in [vec![], vec!["example.com".to_owned()], vec![bare.clone()]] {
        let message = refused(&web(&hosts)?, &registry).await;
        ensure!(
            message.contains(&format!("templates from {host} are not allowed here")),
            "{message}"
        );
    }
    let access = Access { hosts: vec![host.clone()], ..Access::default() };
    let message = refused(&Web::new(access)?, &registry).await;
    ensure!(message.contains("private address"), "{message}");
    let secure =
        Registry { place: Place::Http { plain: false, credential: None }, ..registry.clone() };
    let message = refused(&web(std::slice::from_ref(&host))?, &secure).await;
    ensure!(
        message.contains(&format!("templates from https://{bare} are not allowed")),
        "{message}"
    );
    assert_eq!(served.files.asked(), [""; 0]);
    Ok(())
}

#[tokio::test]
async fn a_credential_goes_to_its_registry_and_nowhere_else() -> Result<()> {
    let other = Served::start(&[("/elsewhere.py", "ELSEWHERE"), ("/lib/x.py", "X")])?;
    let schema = format!(
        "imports:\n- path: helper.py\n- path: ../common.py\n- {{path: 'HOST/lib/whole.py', name: whole}}\n\
         - {{path: 'HOST/open/helper.py', name: open}}\n- {{path: '{}', name: elsewhere}}\n",
        other.files.url("/elsewhere.py")
    );
    let served = Served::start(&[
        ("/lib/index.yaml", "apiVersion: v1\nentries:\n  t: [{version: v1, urls: [t/t.py]}]\n"),
        ("/lib/t/t.py.schema", &schema),
        ("/open/helper.py", "OPEN"),
    ])?;
    let web = web(&[served.host(), other.host()])?;
    let registry = served.registry(Credential::basic("user", "secret"));
    let files = of(&web, &registry, "t:v1").await.map_err(anyhow::Error::msg)?;
    assert_eq!(files.len(), 7, "{files:?}");
    assert_eq!(&*files.get("../common.py").context("a file")?.content, "common.py");
    let shown = files.values().map(|file| file.path.as_str());
    ensure!(shown.clone().any(|path| path == served.files.url("/lib/t/t.py.schema")), "{files:?}");
    let own = Some("Basic dXNlcjpzZWNyZXQ=".to_owned());
    let sent: Vec<_> = served.sent().into_iter().collect();
    let sent: Vec<_> =
        sent.iter().map(|(path, it)| (path.as_str(), *it == own, it.is_some())).collect();
    let want = [
        ("/lib/common.py", true, true),
        ("/lib/common.py.schema", true, true),
        ("/lib/index.yaml", true, true),
        ("/lib/t/helper.py", true, true),
        ("/lib/t/helper.py.schema", true, true),
        ("/lib/t/t.py", true, true),
        ("/lib/t/t.py.schema", true, true),
        ("/lib/whole.py", true, true),
        ("/lib/whole.py.schema", true, true),
        ("/open/helper.py", false, false),
        ("/open/helper.py.schema", false, false),
    ];
    assert_eq!(sent, want);
    ensure!(
        other.sent().values().all(Option::is_none) && !other.sent().is_empty(),
        "{:?}",
        other.sent()
    );
    Ok(())
}

#[tokio::test]
async fn what_a_schema_imports_by_its_path_stays_in_the_registry() -> Result<()> {
    for path in ["../../secret.py", "/secret.py", "%2e%2e/%2e%2e/secret.py", "x.py?secret"] {
        let schema = format!("imports: [{{path: '{path}', name: x}}]");
        let served = Served::start(&[
            ("/lib/index.yaml", "apiVersion: v1\nentries:\n  t: [{version: v1, urls: [t/t.py]}]\n"),
            ("/lib/t/t.py.schema", &schema),
        ])?;
        let web = web(&[served.host()])?;
        let message = of(&web, &served.registry(None), "t:v1").await.unwrap_err();
        let want = format!("1: {path} is no path from {}", served.files.url("/lib/t/t.py"));
        ensure!(message.contains(&want), "{message}");
        ensure!(!served.files.asked().iter().any(|path| path.contains("secret")));
    }
    Ok(())
}
