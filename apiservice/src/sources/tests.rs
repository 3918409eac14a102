use deployer::{Access, Applied, Apply, ClusterError, Kind, Mapping, Target, Verb};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use serde_json::json;

use super::*;

/// A cluster with some Secrets and ConfigMaps, which alice may get and bob may not.
struct Shelf;

impl Shelf {
    fn object(target: &Target) -> Option<Value> {
        let data = |pairs: &[(&str, &str)]| -> Value {
            pairs
                .iter()
                .map(|(key, value)| ((*key).to_owned(), json!(STANDARD.encode(value))))
                .collect()
        };
        let secret = |kind: &str, pairs| Some(json!({ "type": kind, "data": data(pairs) }));
        match (target.kind.as_str(), target.object_name.as_str()) {
            ("Secret", "token") => secret(CREDENTIAL, &[("token", "s3cret\n"), ("other", "0ther")]),
            ("Secret", "user") => secret(CREDENTIAL, &[("username", "u"), ("password", "p")]),
            ("Secret", "web") => secret(
                CREDENTIAL,
                &[("username", "u"), ("password", "p"), ("url", "http://h.example/lib")],
            ),
            ("Secret", "empty") => secret(CREDENTIAL, &[]),
            ("Secret", "foreign") => secret("Opaque", &[("token", "s3cret")]),
            ("ConfigMap", "files") => Some(json!({ "data": { "t.v1.py": "T" } })),
            _ => None,
        }
    }
}

fn unused<T: Send + 'static>() -> BoxFuture<'static, Result<T, ClusterError>> {
    ready(Err(ClusterError::Invalid("nobody asks for this".to_owned()))).boxed()
}

impl Cluster for Shelf {
    fn mapping<'a>(&'a self, _: &'a Kind) -> BoxFuture<'a, Result<Option<Mapping>, ClusterError>> {
        unused()
    }

    fn review<'a>(
        &'a self,
        user: &'a Requester,
        access: &'a Access,
    ) -> BoxFuture<'a, Result<Result<(), String>, ClusterError>> {
        let allowed = user.username == "alice" && access.verb == Verb::Get;
        let answer = if allowed { Ok(()) } else { Err("no rule".to_owned()) };
        ready(Ok(answer)).boxed()
    }

    fn get<'a>(
        &'a self,
        user: &'a Requester,
        target: &'a Target,
    ) -> BoxFuture<'a, Result<Option<Value>, ClusterError>> {
        assert_eq!((user.username.as_str(), target.namespace.as_str()), ("alice", "demo"));
        ready(Ok(Self::object(target))).boxed()
    }

    fn apply<'a>(
        &'a self,
        _: &'a Requester,
        _: &'a Target,
        _: Apply<'a>,
    ) -> BoxFuture<'a, Result<Applied, ClusterError>> {
        unused()
    }

    fn patch<'a>(
        &'a self,
        _: &'a Requester,
        _: &'a Target,
        _: &'a Value,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        unused()
    }

    fn delete<'a>(
        &'a self,
        _: &'a Requester,
        _: &'a Target,
        _: &'a str,
    ) -> BoxFuture<'a, Result<(), ClusterError>> {
        unused()
    }

    fn is_ending<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<bool, ClusterError>> {
        unused()
    }
}

/// Where `user` finds a type, with these Registries in the namespace.
async fn found(user: &str, specs: &[Value], name: &str) -> Result<Option<Registry>, String> {
    let all = specs.iter().map(|spec| serde_json::from_value(spec.clone()).unwrap()).collect();
    let requester = Requester { username: user.to_owned(), ..Requester::default() };
    let known = Known::new(all, Requested::new(&Shelf, "demo", &requester));
    Registries::of(&known, name).await
}

fn github(url: &str, secret: &str) -> Value {
    json!({ "type": "github", "url": url, "credentialRef": { "name": secret } })
}

fn credential(registry: Registry) -> Option<Credential> {
    match registry.place {
        Place::GitHub(credential) | Place::Http { credential, .. } => credential,
        Place::Files { .. } => None,
    }
}

#[tokio::test]
async fn a_type_stands_in_the_registry_with_the_longest_url_that_it_begins_with() {
    let files = json!({ "type": "configMap", "url": "https://github.com/o/r/sub/", "configMapRef": { "name": "files" } });
    let all = [
        json!({ "type": "github", "url": "github.com/o/r" }),
        files,
        github("github.com/o/other", "token"),
    ];
    for (name, want) in [
        ("github.com/o/r/t:v1", Some("github.com/o/r")),
        ("github.com/o/r/c/t:v1", Some("github.com/o/r")),
        ("github.com/o/r/sub/t:v1", Some("github.com/o/r/sub")),
        ("https://github.com/o/r/sub/t:v1", Some("github.com/o/r/sub")),
        ("github.com/o/r2/t:v1", None),
        ("github.com/o/r", None),
        ("https://elsewhere/t.py", None),
    ] {
        let registry = found("alice", &all, name).await.unwrap();
        assert_eq!(registry.as_ref().map(|it| it.prefix.as_str()), want, "{name}");
    }
}

#[tokio::test]
async fn a_credential_is_a_token_or_a_user_and_of_the_type_that_may_be_sent() {
    let of = async |spec: Value| {
        let registry = found("alice", &[spec], "github.com/o/r/t:v1").await?;
        Ok::<_, String>(credential(registry.unwrap()))
    };
    let with_key = json!({ "type": "github", "url": "github.com/o/r", "credentialRef": { "name": "token", "key": "other" } });
    assert_eq!(of(github("github.com/o/r", "token")).await.unwrap(), Credential::token("s3cret"));
    assert_eq!(of(with_key).await.unwrap(), Credential::token("0ther"));
    assert_eq!(of(github("github.com/o/r", "user")).await.unwrap(), Credential::basic("u", "p"));
    for (secret, why) in [
        ("empty", "Secret empty of its registry holds no credential"),
        (
            "foreign",
            "Secret foreign of its registry is not of type dm.formwork.dev/registry-credential",
        ),
        ("none", "Secret none of its registry: it is not there"),
    ] {
        assert_eq!(of(github("github.com/o/r", secret)).await.unwrap_err(), why);
    }
}

#[tokio::test]
async fn who_may_not_read_what_a_registry_refers_to_may_not_use_it() {
    let files = json!({ "type": "configMap", "url": "h/x", "configMapRef": { "name": "files" } });
    for (spec, name, object) in [
        (github("github.com/o/r", "token"), "github.com/o/r/t:v1", "Secret token"),
        (files, "https://h/x/t:v1", "ConfigMap files"),
    ] {
        assert!(found("alice", std::slice::from_ref(&spec), name).await.is_ok(), "{name}");
        let refused = found("bob", &[spec], name).await.unwrap_err();
        assert_eq!(
            refused,
            format!("{object} of its registry: user \"bob\" may not get it: no rule")
        );
    }
}

#[tokio::test]
async fn a_registry_is_laid_out_as_its_format_says() {
    let layout = async |format: Value| {
        let spec = json!({ "type": "github", "url": "github.com/o/r", "format": format });
        let registry = found("alice", &[spec], "github.com/o/r/t:v1").await.unwrap().unwrap();
        (registry.versioned, registry.collections)
    };
    assert_eq!(layout(json!([])).await, (true, true));
    assert_eq!(layout(json!(["unversioned"])).await, (false, true));
    assert_eq!(layout(json!(["versioned", "onelevel"])).await, (true, false));
}

#[tokio::test]
async fn a_registry_on_a_web_server_is_asked_in_the_clear_only_where_its_url_says_so() {
    for (url, want) in
        [("https://h.example/lib", false), ("h.example/lib", false), ("http://h.example/lib", true)]
    {
        let spec = json!({ "type": "http", "url": url, "credentialRef": { "name": "web" } });
        let registry =
            found("alice", &[spec], "https://h.example/lib/t:v1").await.unwrap().unwrap();
        let Place::Http { plain, credential } = &registry.place else { panic!("{registry:?}") };
        assert_eq!((*plain, credential), (want, &Credential::basic("u", "p")), "{url}");
        assert_eq!(registry.prefix, "h.example/lib");
    }
}

#[tokio::test]
async fn a_credential_goes_to_no_server_that_it_does_not_name() {
    for (kind, url, secret, why) in [
        ("http", "https://h.example/lib", "user", "has no url, which says where it may be sent"),
        ("http", "https://evil.example/lib", "web", "is for another url"),
        ("github", "github.com/o/r", "web", "is for another url"),
    ] {
        let spec = json!({ "type": kind, "url": url, "credentialRef": { "name": secret } });
        let refused = found("alice", &[spec], &format!("{url}/t:v1")).await.unwrap_err();
        assert_eq!(refused, format!("Secret {secret} of its registry {why}"));
    }
}
