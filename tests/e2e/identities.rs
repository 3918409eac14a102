//! Who a request is from, asked of a replica directly, without kube-apiserver in between: the cluster's certificates,
//! tokens and roles, and what anybody could try to be somebody else.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, ensure};
use tests::authority::{Authority, Credential, Subject};
use tests::client::Request;
use tests::cluster::{Cluster, Component, Routing};
use tests::installation::Serving;

use crate::door::{Door, Headers, PROXY, Ran, anonymous, signed, user};

#[tokio::test]
async fn the_clusters_proxy_certificates_tokens_and_roles_are_ours() -> Result<()> {
    let door = Door::new()?;
    let proxy = door.proxy()?;
    let jane = ("X-Remote-User", "jane");
    assert_eq!(door.ask(Some(&proxy), &[jane]).await?, user("jane"));
    let masters = ("X-Remote-Group", "system:masters");
    assert_eq!(door.ask(Some(&proxy), &[jane, masters]).await?, Ran::Allowed);
    let mut many: Vec<_> = (0..600).map(|index| format!("group-{index}")).collect();
    many.push("system:masters".to_owned());
    let mut headers: Vec<_> = many.iter().map(|group| ("X-Remote-Group", group.as_str())).collect();
    headers.push(jane);
    assert_eq!(door.ask(Some(&proxy), &headers).await?, Ran::Allowed);

    let client_ca = door.cluster().client_ca()?;
    assert_eq!(door.ask(Some(&signed(&client_ca, "carol")?), &[]).await?, user("carol"));

    let kubectl = door.cluster().namespace()?;
    kubectl.ok(&["create", "serviceaccount", "reader"])?;
    let namespace =
        kubectl.ok(&["get", "serviceaccount", "reader", "-o", "jsonpath={.metadata.namespace}"])?;
    let token = kubectl.ok(&["create", "token", "reader"])?;
    let bearer = format!("Bearer {}", token.trim());
    let name = format!("system:serviceaccount:{namespace}:reader");
    let authorization = ("Authorization", bearer.as_str());
    assert_eq!(door.ask(None, &[authorization]).await?, user(&name));

    let account = format!("{namespace}:reader");
    let templates = "--resource=templates.template.openshift.io";
    let default = kubectl.in_namespace("default");
    default.ok(&["create", "role", "template-reader", "--verb=list", templates])?;
    let subject = format!("--serviceaccount={account}");
    default.ok(&[
        "create",
        "rolebinding",
        "template-reader",
        "--role=template-reader",
        &subject,
    ])?;
    // A refusal holds for ten seconds.
    let deadline = Instant::now() + Duration::from_secs(30);
    while door.ask(None, &[authorization]).await? != Ran::Allowed {
        ensure!(Instant::now() < deadline, "the role does not come to count");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(door.ask(None, &[("Authorization", "Bearer nonsense")]).await?, Ran::Not);

    let request = Request::get("/metrics").header(jane.0, jane.1).header(masters.0, masters.1);
    let metrics = door.client(Some(&proxy))?.send(&request).await?.text();
    for name in [
        "apiserver_delegated_authn_request_total{code=\"201\"}",
        "apiserver_delegated_authz_request_total{code=\"201\"}",
        "authentication_attempts{result=\"error\"}",
        "authorization_attempts_total{result=\"no-opinion\"}",
        "authentication_token_cache_request_total{status=\"hit\"}",
        "apiserver_client_certificate_expiration_seconds_count",
    ] {
        assert!(metrics.contains(name), "{name} in {metrics}");
    }
    Ok(())
}

#[tokio::test]
async fn nobody_becomes_somebody_else() -> Result<()> {
    let door = Door::new()?;
    let now = SystemTime::now();
    let minute = Duration::from_secs(60);
    let (proxies, clients) = (door.cluster().front_proxy_ca()?, door.cluster().client_ca()?);
    let foreign = Authority::new("front-proxy-ca")?;
    let expired = Subject { not_after: now - minute, ..Subject::at(now, PROXY, None) };
    let early = Subject { not_before: now + minute, ..Subject::at(now, PROXY, None) };
    let proxy = door.proxy()?;
    let carol = signed(&clients, "carol")?;
    let foreign_proxy = signed(&foreign, PROXY)?;
    let the_authority =
        Credential { certificate: proxies.certificate().to_owned(), key: proxies.key() };
    let with = |credential: &Credential, more: &str| Credential {
        certificate: format!("{}{more}", credential.certificate),
        key: credential.key.clone(),
    };

    let admin = ("X-Remote-User", "admin");
    let masters = ("X-Remote-Group", "system:masters");
    // Somebody with a certificate, and headers that only the proxy may send.
    let expired_carol = Subject { not_after: now - minute, ..Subject::at(now, "carol", None) };
    let peers = [
        ("no certificate", None, anonymous()),
        ("a user's", Some(carol.clone()), user("carol")),
        ("a user's with the proxy's name", Some(signed(&clients, PROXY)?), user(PROXY)),
        ("a user's, then the proxy's", Some(with(&carol, &proxy.certificate)), user("carol")),
        (
            "a user's, then the proxies' CA",
            Some(with(&carol, proxies.certificate())),
            user("carol"),
        ),
        ("a user's that expired", Some(clients.sign(&expired_carol)?), Ran::Not),
        ("another name by the proxies' CA", Some(signed(&proxies, "carol")?), Ran::Not),
        ("the name in another case", Some(signed(&proxies, "Front-Proxy-Client")?), Ran::Not),
        ("a name that begins so", Some(signed(&proxies, "front-proxy-client2")?), Ran::Not),
        ("the proxy's that expired", Some(proxies.sign(&expired)?), Ran::Not),
        ("the proxy's of tomorrow", Some(proxies.sign(&early)?), Ran::Not),
        ("a CA's of the same name", Some(foreign_proxy.clone()), Ran::Not),
        ("that, with its CA", Some(with(&foreign_proxy, foreign.certificate())), Ran::Not),
        ("that, with the true CA", Some(with(&foreign_proxy, proxies.certificate())), Ran::Not),
        ("the CA's own", Some(the_authority), Ran::Not),
    ];
    for (attempt, credential, want) in peers {
        let got = door.ask(credential.as_ref(), &[admin, masters]).await?;
        assert_eq!(got, want, "{attempt}");
    }

    // Headers that are not the proxy's, or say nothing, with its certificate and without any.
    let bearer = ("Authorization", "Bearer nonsense");
    let lines: [(Headers<'_>, Ran, Ran); 16] = [
        (&[], anonymous(), Ran::Not),
        (&[masters], anonymous(), Ran::Not),
        (&[("X-Remote-User", ""), masters], anonymous(), Ran::Not),
        (&[("X-Remote-User", ""), admin, masters], anonymous(), Ran::Not),
        (&[("X-Remote-Uid", "0"), masters], anonymous(), Ran::Not),
        (&[("X_Remote_User", "admin"), masters], anonymous(), Ran::Not),
        (&[("X.Remote.User", "admin"), masters], anonymous(), Ran::Not),
        (&[("X-Remote-User-", "admin"), masters], anonymous(), Ran::Not),
        (&[("X-Remote-Extra-User", "admin"), masters], anonymous(), Ran::Not),
        (&[("X-Forwarded-User", "admin"), masters], anonymous(), Ran::Not),
        (&[("Remote-User", "admin"), masters], anonymous(), Ran::Not),
        (&[("Authorization", "Basic YWRtaW46YWRtaW4=")], anonymous(), Ran::Not),
        (
            &[("Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.YQ")],
            anonymous(),
            Ran::Not,
        ),
        (&[("Connection", "X-Remote-User"), admin], anonymous(), user("admin")),
        (&[bearer, admin, masters], Ran::Not, Ran::Allowed),
        (&[("X-REMOTE-USER", "jane"), ("x-remote-user", "admin")], anonymous(), user("jane")),
    ];
    for (headers, without, through) in lines {
        assert_eq!(door.ask(None, headers).await?, without, "{headers:?}");
        assert_eq!(door.ask(Some(&proxy), headers).await?, through, "{headers:?} by the proxy");
    }

    // Acting as somebody else needs the right to.
    let lines: [Headers<'_>; 6] = [
        &[("Impersonate-User", "admin")],
        &[("Impersonate-User", "admin"), ("Impersonate-Group", "system:masters")],
        &[("Impersonate-User", "system:serviceaccount:kube-system:default")],
        &[("impersonate-user", "carol"), ("impersonate-group", "system:masters")],
        &[("impersonate-user", "carol"), ("impersonate-uid", "1")],
        &[("impersonate-user", "carol"), ("impersonate-extra-k", "v")],
    ];
    for headers in lines {
        assert_eq!(door.ask(None, headers).await?, anonymous(), "{headers:?}");
        assert_eq!(door.ask(Some(&carol), headers).await?, user("carol"), "{headers:?}");
    }
    for headers in [&[("Impersonate-Group", "system:masters")][..], &[("Impersonate-User", "")]] {
        assert_eq!(door.ask(Some(&carol), headers).await?, Ran::Otherwise(400), "{headers:?}");
    }
    Ok(())
}

#[tokio::test]
async fn who_may_impersonates_directly_too() -> Result<()> {
    let door = Door::new()?;
    let admin = Subject::at(SystemTime::now(), "root", Some("system:masters"));
    let admin = door.cluster().client_ca()?.sign(&admin)?;
    assert_eq!(door.ask(Some(&admin), &[]).await?, Ran::Allowed);
    let jane = ("Impersonate-User", "jane");
    assert_eq!(door.ask(Some(&admin), &[jane]).await?, user("jane"));
    let masters = ("Impersonate-Group", "system:masters");
    assert_eq!(door.ask(Some(&admin), &[jane, masters]).await?, Ran::Allowed);
    Ok(())
}

#[tokio::test]
async fn a_new_front_proxy_ca_in_the_cluster_counts_without_a_restart() -> Result<()> {
    let door = Door::new()?;
    let next = Authority::new("next-front-proxy-ca")?;
    let proxy = signed(&next, PROXY)?;
    let headers = [("X-Remote-User", "jane")];
    assert_eq!(door.ask(Some(&proxy), &headers).await?, Ran::Not);
    let bundle =
        format!("{}{}", door.cluster().front_proxy_ca()?.certificate(), next.certificate());
    let patch = serde_json::json!({ "data": { "requestheader-client-ca-file": bundle } });
    let kubectl = door.cluster().kubectl("admin")?.in_namespace("kube-system");
    let map = "configmap/extension-apiserver-authentication";
    kubectl.ok(&["patch", map, "--type=merge", "-p", &patch.to_string()])?;
    let deadline = Instant::now() + Duration::from_secs(10);
    while door.ask(Some(&proxy), &headers).await? != user("jane") {
        ensure!(Instant::now() < deadline, "the new CA does not come to count");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(door.ask(Some(&door.proxy()?), &headers).await?, user("jane"));
    Ok(())
}

#[tokio::test]
async fn without_kube_apiserver_nobody_but_masters_and_probes_is_served() -> Result<()> {
    let cluster = Arc::new(Cluster::start(Routing::Off)?);
    let door = Door::of(Arc::new(Serving::start(cluster)?))?;
    let proxy = door.proxy()?;
    let carol = signed(&door.cluster().client_ca()?, "carol")?;
    let (jane, masters) = (("X-Remote-User", "jane"), ("X-Remote-Group", "system:masters"));
    door.cluster().kill(Component::Apiserver)?;

    assert_eq!(door.ask(Some(&proxy), &[jane, masters]).await?, Ran::Allowed);
    for path in ["/livez", "/healthz"] {
        let answer = door.client(None)?.send(&Request::get(path)).await?;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }
    // Whose they are is known, what they may do is not.
    assert_eq!(door.ask(Some(&proxy), &[jane]).await?, Ran::Otherwise(500));
    assert_eq!(door.ask(Some(&carol), &[]).await?, Ran::Otherwise(500));
    // And whose a token is nobody knows.
    assert_eq!(door.ask(None, &[("Authorization", "Bearer nonsense")]).await?, Ran::Not);
    Ok(())
}
