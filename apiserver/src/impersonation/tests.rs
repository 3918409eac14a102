//! Who may act as whom, as what is asked of the authorizer and what becomes of the request.

use std::sync::Mutex;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};

use super::*;
use crate::authz::{Decision, Undecided};

/// Allows everything but what it is told, and writes down what it was asked.
struct Clerk {
    refuses: &'static str,
    asked: Mutex<Vec<String>>,
}

impl Authorizer for Clerk {
    fn authorize<'a>(
        &'a self,
        attributes: &'a Attributes<'a>,
    ) -> BoxFuture<'a, Result<Decision, Undecided>> {
        let Attributes { user, verb, group, version, resource, subresource, .. } = attributes;
        let Attributes { namespace, name, .. } = attributes;
        let (user, at) = (&user.name, format!("{group}/{version}/{namespace}"));
        let asked = format!("{user} {verb} {at} {resource}/{subresource} {name}");
        self.asked.lock().unwrap().push(asked);
        Box::pin(ready(Ok(match *resource == self.refuses {
            true => Decision::NoOpinion("".into()),
            false => Decision::Allow("".into()),
        })))
    }
}

fn headers(lines: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        let name: HeaderName = name.parse().unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

/// What `root` becomes, and what was asked on the way.
fn act(lines: &[(&str, &str)], refuses: &'static str) -> (Result<Option<User>, u16>, Vec<String>) {
    let clerk = Clerk { refuses, asked: Mutex::default() };
    let root = User::authenticated("root", vec!["system:masters".to_owned()]);
    let mut headers = headers(lines);
    let acted = impersonated(&mut headers, &root, &clerk).now_or_never().unwrap();
    if acted.is_ok() {
        assert!(!headers.keys().any(|name| name.as_str().starts_with(PREFIX)), "{headers:?}");
    }
    (acted.map_err(|error| error.reason().code()), clerk.asked.into_inner().unwrap())
}

fn becomes(lines: &[(&str, &str)]) -> User {
    act(lines, "").0.unwrap().unwrap()
}

#[test]
fn who_asks_for_nobody_stays_who_they_are() {
    assert_eq!(act(&[("accept", "x")], ""), (Ok(None), vec![]));
}

#[test]
fn every_part_of_the_identity_is_checked_by_itself() {
    let (user, asked) = act(
        &[
            ("Impersonate-Extra-Example.com%2Fscopes", "read"),
            ("Impersonate-Group", "dev"),
            ("Impersonate-Uid", "42"),
            ("Impersonate-Group", "ops"),
            ("Impersonate-User", "jürgen"),
            ("Impersonate-Extra-example.com%2fscopes", "write"),
        ],
        "",
    );
    let user = user.unwrap().unwrap();
    assert_eq!((user.name.as_str(), user.uid.as_str()), ("jürgen", "42"));
    assert_eq!(user.groups, ["dev", "ops", "system:authenticated"]);
    assert_eq!(user.extra["example.com/scopes"], ["read", "write"]);
    assert_eq!(
        asked,
        [
            "root impersonate // users/ jürgen",
            "root impersonate // groups/ dev",
            "root impersonate // groups/ ops",
            "root impersonate authentication.k8s.io/v1/ userextras/example.com/scopes read",
            "root impersonate authentication.k8s.io/v1/ userextras/example.com/scopes write",
            "root impersonate authentication.k8s.io/v1/ uids/ 42",
        ]
    );
}

#[test]
fn one_part_that_is_refused_refuses_the_request() {
    let all = [
        ("impersonate-user", "a"),
        ("impersonate-group", "system:masters"),
        ("impersonate-uid", "1"),
        ("impersonate-extra-k", "v"),
    ];
    for refused in ["users", "groups", "uids", "userextras"] {
        assert_eq!(act(&all, refused).0, Err(403), "{refused}");
    }
    let account = [("impersonate-user", "system:serviceaccount:ns:sa")];
    assert_eq!(act(&account, "serviceaccounts").0, Err(403));
}

#[test]
fn nothing_is_taken_over_from_the_requester() {
    let user = becomes(&[("impersonate-user", "a")]);
    assert_eq!(user, User::authenticated("a", vec![]));
}

#[test]
fn a_service_account_is_asked_for_as_one_and_has_its_groups() {
    let account = ("impersonate-user", "system:serviceaccount:ns:sa");
    let (user, asked) = act(&[account], "");
    let groups = ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"];
    assert_eq!(user.unwrap().unwrap().groups, groups);
    assert_eq!(asked, ["root impersonate //ns serviceaccounts/ sa"]);
    let user = becomes(&[account, ("impersonate-group", "only")]);
    assert_eq!(user.groups, ["only", "system:authenticated"]);
    for strange in ["system:serviceaccount:ns", "system:serviceaccount:NS:sa"] {
        let asked = act(&[("impersonate-user", strange)], "").1;
        assert_eq!(asked, [format!("root impersonate // users/ {strange}")]);
    }
}

#[test]
fn groups_say_whether_the_user_is_known() {
    let check = |name: &str, group: &str, want: &[&str]| {
        let user = becomes(&[("impersonate-user", name), ("impersonate-group", group)]);
        assert_eq!(user.groups, want, "{name} {group}");
    };
    check("a", "system:authenticated", &["system:authenticated"]);
    check("a", "system:unauthenticated", &["system:unauthenticated"]);
    check("system:anonymous", "dev", &["dev", "system:unauthenticated"]);
    assert_eq!(becomes(&[("impersonate-user", "system:anonymous")]), User::anonymous());
}

#[test]
fn what_is_not_understood_never_runs_as_the_requester() {
    let check =
        |lines: &[(&str, &str)]| assert_eq!(act(lines, ""), (Err(400), vec![]), "{lines:?}");
    check(&[("impersonate-group", "dev")]);
    check(&[("impersonate-uid", "42")]);
    check(&[("impersonate-extra-k", "v")]);
    check(&[("impersonate-user", "")]);
    check(&[("impersonate-user", ""), ("impersonate-group", "dev")]);
    check(&[("impersonate-user", "a"), ("impersonate-user", "b")]);
    check(&[("impersonate-user", "a"), ("impersonate-users", "b")]);
    check(&[("impersonate-", "a")]);
}
