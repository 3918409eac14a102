//! Certificates and tokens that are genuine, but for something else, or no longer: before a replica in a real cluster.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tests::authority::{Authority, Credential, Subject, Usage, sign};

use crate::door::{Door, PROXY, Ran, anonymous, signed, user};
use crate::rotation::until_void;

#[tokio::test]
async fn no_certificate_and_no_token_is_good_for_what_it_was_not_made_for() -> Result<()> {
    let door = Door::new()?;
    let now = SystemTime::now();
    let (proxies, clients) = (door.cluster().front_proxy_ca()?, door.cluster().client_ca()?);
    let serving =
        |name| Subject { usage: Usage::Server, ..Subject::at(now, name, Some("system:masters")) };
    let proxy = door.proxy()?;
    let carol = signed(&clients, "carol")?;
    let tomorrow = Subject {
        not_before: now + Duration::from_secs(60),
        ..Subject::at(now, "carol", Some("system:masters"))
    };
    let twins = Authority::new("ca")?;
    let of_authority = |authority: &Authority| Credential {
        certificate: authority.certificate().to_owned(),
        key: authority.key(),
    };
    let admin = [("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters")];
    for (attempt, credential) in [
        ("a server's by the proxies' CA", proxies.sign(&serving(PROXY))?),
        ("a server's by the users' CA", clients.sign(&serving("admin"))?),
        ("a user's of tomorrow", clients.sign(&tomorrow)?),
        ("a user's by a CA of the same name", signed(&twins, "admin")?),
        ("the users' CA's own", of_authority(&clients)),
        ("the proxies' CA's own", of_authority(&proxies)),
    ] {
        assert_eq!(door.ask(Some(&credential), &admin).await?, Ran::Not, "{attempt}");
        assert_eq!(door.ask(Some(&credential), &[]).await?, Ran::Not, "{attempt}, no headers");
    }

    let kubectl = door.cluster().namespace()?;
    kubectl.ok(&["create", "serviceaccount", "reader"])?;
    let bearer = |token: &str| format!("Bearer {}", token.trim());
    let elsewhere = bearer(&kubectl.ok(&["create", "token", "reader", "--audience=elsewhere"])?);
    let orphaned = {
        kubectl.ok(&["create", "serviceaccount", "short-lived"])?;
        let token = kubectl.ok(&["create", "token", "short-lived"])?;
        kubectl.ok(&["delete", "serviceaccount", "short-lived"])?;
        until_void(&door.master_through_kube_apiserver()?, token.trim()).await?;
        bearer(&token)
    };
    let token = kubectl.ok(&["create", "token", "reader"])?;
    let token = token.trim();
    let signature = token.rfind('.').context("a signature")?;
    let (expired, unsigned) = (bearer(&expired(&door, token)?), bearer(&unsigned(token)?));
    let cut = bearer(&token[..=signature]);
    // Signing is not what makes it fail.
    let head = token.split('.').next().context("a head")?;
    let claims = token.split('.').nth(1).context("claims")?;
    let claims = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(claims)?)?;
    let again = bearer(&signed_token(&door, head, &claims)?);
    let reader = format!("system:serviceaccount:{}:reader", kubectl.namespace);
    for good in [bearer(token), again] {
        assert_eq!(door.ask(None, &[("Authorization", &good)]).await?, user(&reader));
    }
    for (attempt, token) in [
        ("of another audience", elsewhere.as_str()),
        ("of an account that is gone", &orphaned),
        ("expired", &expired),
        ("without a signature", &cut),
        ("of the algorithm none", &unsigned),
        ("nonsense", "Bearer nonsense"),
        ("long", &format!("Bearer {}", "a".repeat(10_000))),
    ] {
        assert_eq!(door.ask(None, &[("Authorization", token)]).await?, Ran::Not, "{attempt}");
    }
    // No token at all is no credential, as it is to kube-apiserver.
    for nothing in ["", "Bearer", "Bearer ", "bearer  ", "Token alice-token", "alice-token"] {
        let ran = door.ask(None, &[("Authorization", nothing)]).await?;
        assert!(ran == anonymous() || ran == Ran::Not, "{nothing:?}: {ran:?}");
    }

    // What follows a token is none of it, as it is to kube-apiserver.
    let more = ("Authorization", "Bearer alice-token admin-token");
    assert_eq!(door.ask(None, &[more]).await?, user("alice"));

    // Two credentials are one identity, and both have to be the sender's.
    let alice = ("Authorization", "Bearer alice-token");
    let nonsense = ("Authorization", "Bearer nonsense");
    let jane = ("X-Remote-User", "jane");
    assert_eq!(door.ask(Some(&carol), &[alice]).await?, user("carol"));
    assert_eq!(door.ask(Some(&carol), &[nonsense]).await?, user("carol"));
    assert_eq!(door.ask(Some(&proxy), &[jane, alice]).await?, user("jane"));
    assert_eq!(door.ask(Some(&proxy), &[nonsense]).await?, Ran::Not);
    assert_eq!(door.ask(None, &[nonsense, alice]).await?, Ran::Not);
    assert_eq!(door.ask(None, &[alice, nonsense]).await?, user("alice"));
    assert_eq!(
        door.ask(None, &[("Authorization", "Bearer nonsense, Bearer alice-token")]).await?,
        Ran::Not
    );
    Ok(())
}

/// The token `good`, but that it was good an hour ago, signed by the cluster's own key.
fn expired(door: &Door, good: &str) -> Result<String> {
    let mut parts = good.split('.');
    let (head, claims) = (parts.next().context("a head")?, parts.next().context("claims")?);
    let mut claims: Value = serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(claims)?)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    for (claim, ago) in [("iat", 7200), ("nbf", 7200), ("exp", 3600)] {
        claims[claim] = json!(now - ago);
    }
    signed_token(door, head, &claims)
}

/// A token that says `claims`.
fn signed_token(door: &Door, head: &str, claims: &Value) -> Result<String> {
    let said = format!("{head}.{}", BASE64_URL_SAFE_NO_PAD.encode(claims.to_string()));
    let signature = sign(&door.cluster().pki("sa.key"), said.as_bytes())?;
    Ok(format!("{said}.{}", BASE64_URL_SAFE_NO_PAD.encode(raw(&signature)?)))
}

/// A signature of P-256 as tokens have it, two numbers of 32 bytes, from what X.509 makes of those: a sequence of two
/// integers, each with its length, without leading zeros but where the number would look negative.
fn raw(der: &[u8]) -> Result<Vec<u8>> {
    let mut rest = der.get(2..).context("a sequence")?;
    let mut numbers = Vec::new();
    for _ in 0..2 {
        let length = usize::from(*rest.get(1).context("a length")?);
        let number = rest.get(2..2 + length).context("a number")?;
        let digits = &number[number.len().saturating_sub(32)..];
        numbers.extend(std::iter::repeat_n(0, 32 - digits.len()));
        numbers.extend_from_slice(digits);
        rest = &rest[2 + length..];
    }
    ensure!(rest.is_empty() && numbers.len() == 64, "no signature of P-256");
    Ok(numbers)
}

/// The token `good`, saying that it needs no signature.
fn unsigned(good: &str) -> Result<String> {
    let claims = good.split('.').nth(1).context("claims")?;
    let head = BASE64_URL_SAFE_NO_PAD.encode(json!({ "alg": "none", "typ": "JWT" }).to_string());
    Ok(format!("{head}.{claims}."))
}
