//! What registries say that they have, and that it is there.

use anyhow::{Result, ensure};
use expander::{Access, Credential, Offered, Place, Registry, Web};
use tests::files::Files;
use tests::github::{self, Repository};

/// The files of `o/library`: those that are templates, and others.
const LIBRARY: &[&str] = &[
    "README.md",
    "plain/plain.py",
    "plain/v1/plain.py",
    "redis/v1/redis.py",
    "spelled/v1.0.0/spelled.py",
    "spelled/v1/spelled.py",
    "storage/redis/README.md",
    "storage/redis/docs/guide.md",
    "storage/redis/latest/redis.jinja",
    "storage/redis/v1.0.10/redis.jinja",
    "storage/redis/v1.0.10/redis.jinja.schema",
    "storage/redis/v1.0.2/helper.py",
    "storage/redis/v1.0.2/redis.jinja",
    "storage/redis/v1.0.2/redis.py",
    "storage/redis/v1/deeper/redis.py",
    "storage/redis/v2/other.py",
    "very/deep/web/v3/web.py",
];

fn web(served: &Files) -> Result<Web> {
    Ok(Web::new(Access {
        hosts: vec!["github.com".to_owned()],
        private_addresses: true,
        github: served.host(),
        ..Access::default()
    })?)
}

fn registry(prefix: &str, place: Place) -> Registry {
    Registry { prefix: prefix.to_owned(), versioned: true, collections: true, place }
}

fn told(all: &[Offered]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

async fn refused(web: &Web, registry: &Registry) -> String {
    web.offered(registry).await.map(|all| told(&all).join(" ")).expect_err("a refusal")
}

#[tokio::test]
async fn a_repository_lists_its_templates_in_one_request_and_each_of_them_is_there() -> Result<()> {
    let library = Repository::new(LIBRARY.iter().map(|path| (*path, *path)));
    let served = github::serve([("o/library", library)])?;
    let web = web(&served)?;
    let whole = registry("github.com/o/library", Place::GitHub(None));
    let all = web.offered(&whole).await.map_err(anyhow::Error::msg)?;
    let want = [
        "plain:v1",
        "redis:v1",
        "spelled:v1",
        "spelled:v1.0.0",
        "storage/redis:latest",
        "storage/redis:v1.0.2",
        "storage/redis:v1.0.10",
    ];
    assert_eq!(told(&all), want);
    assert_eq!(served.asked(), ["/repos/o/library/git/trees/HEAD?recursive=1"]);
    for offered in &all {
        let files = web.located(&whole, &offered.to_string()).await;
        let files = files.map_err(anyhow::Error::msg)?;
        ensure!(files[0].starts_with("github.com/o/library/"), "{offered}: {files:?}");
    }
    let at = |file: &str| format!("github.com/o/library/storage/redis/v1.0.10/{file}");
    let files = web.located(&whole, "storage/redis:v1.0.2").await;
    assert_eq!(files, Ok(vec![at("redis.jinja"), at("redis.jinja.schema")]));
    let none = web.located(&whole, "storage/redis:v9").await.unwrap_err();
    assert_eq!(none, "the registry has no version v9 of it");

    // Each registry has what its layout says.
    let flat = Registry { versioned: false, ..whole.clone() };
    assert_eq!(told(&web.offered(&flat).await.unwrap_or_default()), ["plain"]);
    let level = Registry { collections: false, ..whole.clone() };
    assert_eq!(told(&web.offered(&level).await.unwrap_or_default()), want[..4]);
    let none = web.located(&level, "storage/redis:v1").await.unwrap_err();
    assert_eq!(none, "its registry has no collections");
    let deep = registry("github.com/o/library/very/deep", Place::GitHub(None));
    assert_eq!(told(&web.offered(&deep).await.unwrap_or_default()), ["web:v3"]);
    let none = registry("github.com/o/library/very/dee", Place::GitHub(None));
    assert_eq!(refused(&web, &none).await, "github.com/o/library has no folder very/dee");
    Ok(())
}

#[tokio::test]
async fn why_a_repository_is_not_listed_is_told() -> Result<()> {
    let files = || Repository::new([("t/v1/t.py", "T")]);
    let served = github::serve([
        ("o/private", files().private("secret")),
        ("o/huge", files().truncated()),
        ("o/busy", files().exhausted()),
    ])?;
    let web = web(&served)?;
    let of = |name: &str, token: Option<&str>| {
        let place = Place::GitHub(token.and_then(Credential::token));
        registry(&format!("github.com/o/{name}"), place)
    };
    let all = web.offered(&of("private", Some("secret"))).await.map_err(anyhow::Error::msg)?;
    assert_eq!(told(&all), ["t:v1"]);
    for (name, token, want) in [
        ("private", None, "github.com/o/private is not there, or is not for everybody"),
        ("none", Some("x"), "github.com/o/none is not there, or the credential does not open it"),
        ("private", Some("wrong"), "Received status code 401: the credential is not accepted"),
        ("huge", None, "github.com/o/huge has more files than GitHub lists at once"),
        ("busy", None, "Received status code 403: the limit of requests is used up for now"),
    ] {
        assert_eq!(refused(&web, &of(name, token)).await, want);
    }
    let message = web.located(&of("busy", None), "t:v1").await.unwrap_err();
    ensure!(message.contains("the limit of requests is used up"), "{message}");
    let nothing = Web::new(Access::default())?;
    let message = refused(&nothing, &of("private", None)).await;
    assert_eq!(message, "templates from https://github.com are not allowed here");
    Ok(())
}

#[tokio::test]
async fn files_that_somebody_has_are_listed_by_their_names() -> Result<()> {
    let files = ["storage.redis.v1.0.2.py", "storage.redis.v1.0.2.py.schema", "web.v1.jinja"];
    let files = files.map(|name| (name.to_owned(), String::new())).into();
    let place = Place::Files { shown: "configmaps/library".to_owned(), files };
    let registry = registry("templates.example", place);
    let web = Web::new(Access::default())?;
    let all = web.offered(&registry).await.map_err(anyhow::Error::msg)?;
    assert_eq!(told(&all), ["web:v1", "storage/redis:v1.0.2"]);
    let located = web.located(&registry, "storage/redis:v1").await;
    let at = |name: &str| format!("configmaps/library/{name}");
    assert_eq!(
        located,
        Ok(vec![at("storage.redis.v1.0.2.py"), at("storage.redis.v1.0.2.py.schema")])
    );
    Ok(())
}
