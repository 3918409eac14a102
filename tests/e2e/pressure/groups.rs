//! Users of hundreds of groups, which travel in headers.

use ::tests::client::{BOTH, Connection, PATIENCE, Protocol, Request};
use anyhow::{Context, Result};
use http::Method;

use super::template;
use crate::door::{Door, Headers, templates};

/// What a corporate directory has.
const GROUPS: usize = 600;

fn groups(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("cn=team-{index},ou=groups,dc=company,dc=example")).collect()
}

/// The headers by which somebody says whom a request is from.
fn said<'a>(user: &'a str, group: &'a str, groups: &'a [String]) -> Vec<(&'a str, &'a str)> {
    let groups = groups.iter().map(|name| (group, name.as_str()));
    [(user, "jane")].into_iter().chain(groups).collect()
}

fn with(request: Request, headers: Headers<'_>) -> Request {
    headers.iter().fold(request, |request, (name, value)| request.header(name, value))
}

/// Creates, reads, lists and deletes one template.
async fn live(connection: &mut Connection, collection: &str, headers: Headers<'_>) -> Result<()> {
    let created = Request::post(collection, template("many", 0));
    let one = format!("{collection}/many");
    for (request, code) in [
        (created, 201),
        (Request::get(&one), 200),
        (Request::get(collection), 200),
        (Request::new(Method::DELETE, &one), 200),
    ] {
        let answer = connection.send(&with(request.clone(), headers)).await?;
        assert_eq!(answer.status, code, "{} {}", request.method, answer.text());
    }
    Ok(())
}

#[tokio::test]
async fn a_user_of_600_groups_is_served() -> Result<()> {
    let door = Door::new()?;
    let kubectl = door.cluster().namespace()?;
    let groups = groups(GROUPS);
    // All of them have to arrive: the right is that of the last.
    let last = format!("--group={}", groups[GROUPS - 1]);
    kubectl.ok(&["create", "rolebinding", "last", "--clusterrole=edit", &last])?;
    let collection = templates(&kubectl.namespace);

    let as_jane = said("Impersonate-User", "Impersonate-Group", &groups);
    let through = door.master_through_kube_apiserver()?;
    door.until_served(&through, &with(Request::get(&collection), &as_jane)).await?;
    for protocol in BOTH {
        live(&mut through.connect(protocol).await?, &collection, &as_jane).await?;
    }

    let of_jane = said("X-Remote-User", "X-Remote-Group", &groups);
    let direct = door.client(Some(&door.proxy()?))?;
    for protocol in BOTH {
        live(&mut direct.connect(protocol).await?, &collection, &of_jane).await?;
        let mut but_one = of_jane.clone();
        but_one.pop();
        let answer = direct
            .connect(protocol)
            .await?
            .send(&with(Request::get(&collection), &but_one))
            .await?;
        assert_eq!(answer.status, 403, "{}", answer.text());
    }
    Ok(())
}

#[tokio::test]
async fn headers_beyond_a_mebibyte_cost_one_answer_and_no_other_request() -> Result<()> {
    let door = Door::new()?;
    let kubectl = door.cluster().namespace()?;
    let collection = templates(&kubectl.namespace);
    let watch = format!("{collection}?watch=1");
    kubectl.ok(&["create", "rolebinding", "jane", "--clusterrole=edit", "--user=jane"])?;
    let masters = [("X-Remote-User", "jane"), ("X-Remote-Group", "system:masters")];
    let direct = door.client(Some(&door.proxy()?))?;
    let long: Vec<_> = (0..2200).map(|index| format!("{index:04}{}", "g".repeat(996))).collect();
    let of = |count: usize| {
        let said = said("X-Remote-User", "X-Remote-Group", &long[..count]);
        with(Request::get(&collection), &said).header("X-Remote-Group", "system:masters")
    };
    // HTTP/2 counts 32 bytes more for each header, and to the byte; HTTP/1.1 stops to read at some point beyond.
    let fits = of(980);
    let beyond = of(1100);
    for (protocol, beyond) in [(Protocol::Http1, &of(2200)), (Protocol::Http2, &beyond)] {
        let mut connection = direct.connect(protocol).await?;
        assert_eq!(connection.send(&fits).await?.status, 200, "{protocol:?}");
        assert_eq!(connection.send(beyond).await?.status, 431, "{protocol:?}");
    }
    let mut connection = direct.connect(Protocol::Http2).await?;
    let mut open = connection.open_stream(&with(Request::get(&watch), &masters)).await?;
    assert_eq!(connection.send(&beyond).await?.status, 431);
    let created = Request::post(&collection, template("one", 0));
    assert_eq!(connection.send(&with(created, &masters)).await?.status, 201);
    assert!(
        open.next(PATIENCE).await?.context("the watch goes on")?.starts_with(br#"{"type":"ADDED""#)
    );

    // They are short enough for kube-apiserver, and too long for it to pass them on.
    let many: Vec<_> = (0..25_000).map(|index| index.to_string()).collect();
    let many =
        with(Request::get(&collection), &said("Impersonate-User", "Impersonate-Group", &many));
    let admin = door.master_through_kube_apiserver()?;
    let mut watching = admin.connect(Protocol::Http2).await?;
    let mut open = watching.open_stream(&Request::get(&watch)).await?;
    assert!(open.next(PATIENCE).await?.is_some());
    let jane = Request::get(&collection).header("Impersonate-User", "jane");
    door.until_served(&admin, &jane).await?;
    let refused = admin.send(&many).await?;
    assert_eq!(refused.status, 503, "{}", refused.text());
    let created = Request::post(&collection, template("two", 0));
    assert_eq!(watching.send(&created).await?.status, 201);
    let event = open.next(PATIENCE).await?.context("the watch goes on")?;
    assert!(String::from_utf8_lossy(&event).contains("two"));
    Ok(())
}
