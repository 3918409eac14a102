//! Policies as people write them.

use super::*;
use crate::authn::User;
use crate::request::RequestInfo;

const HEAD: &str = "apiVersion: audit.k8s.io/v1\nkind: Policy\n";

fn policy(rest: &str) -> Policy {
    Policy::parse(&format!("{HEAD}{rest}")).unwrap()
}

fn treatment(policy: &Policy, user: &str, method: &str, uri: &str) -> Treatment {
    let info = RequestInfo::new(&method.parse().unwrap(), &uri.parse().unwrap());
    let user = User::authenticated(user, vec!["dev".into()]);
    policy.treatment(&Attributes::of(&user, &info))
}

/// Under one rule of level Metadata with these fields.
fn covers(fields: &str, method: &str, uri: &str) -> bool {
    let policy = policy(&format!("rules: [{{level: Metadata, {fields}}}]"));
    treatment(&policy, "alice", method, uri).level == Level::Metadata
}

const CARTS: &str = "/apis/shop.example/v1/namespaces/shop/carts";

#[test]
fn the_first_rule_that_fits_decides_and_without_one_nothing_is_logged() {
    let policy = policy(
        "rules:\n- level: None\n  users: [bob]\n- level: RequestResponse\n  verbs: [create]\n- level: Metadata\n  userGroups: [dev]\n  namespaces: [shop]\n",
    );
    let level = |user, method, uri| treatment(&policy, user, method, uri).level;
    assert_eq!(level("bob", "POST", CARTS), Level::None);
    assert_eq!(level("alice", "POST", CARTS), Level::RequestResponse);
    assert_eq!(level("alice", "GET", CARTS), Level::Metadata);
    assert_eq!(level("alice", "GET", "/healthz"), Level::None);
}

#[test]
fn resources_are_named_by_group_subresource_and_object() {
    for (fields, method, path, want) in [
        ("resources: [{group: shop.example}]", "GET", "", true),
        ("resources: [{group: ''}]", "GET", "", false),
        ("resources: [{group: '*', resources: [carts]}]", "GET", "", true),
        ("resources: [{group: '*', resources: [carts]}]", "GET", "/a/receipt", false),
        ("resources: [{group: '*', resources: [carts/receipt]}]", "GET", "/a/receipt", true),
        ("resources: [{group: '*', resources: [carts/*]}]", "GET", "/a/receipt", true),
        ("resources: [{group: '*', resources: ['*/receipt']}]", "GET", "/a/receipt", true),
        ("resources: [{group: '*', resources: ['*/receipt']}]", "GET", "/a", false),
        ("resources: [{group: '*', resources: ['*']}]", "GET", "/a/receipt", true),
        ("resources: [{group: '*', resources: [carts], resourceNames: [a]}]", "GET", "/a", true),
        ("resources: [{group: '*', resources: [carts], resourceNames: [a]}]", "GET", "/b", false),
        ("namespaces: [shop]", "GET", "", true),
        ("namespaces: [m]", "GET", "", false),
        ("users: [alice], verbs: [list]", "GET", "", true),
        ("users: [alice], verbs: [list]", "POST", "", false),
    ] {
        assert_eq!(covers(fields, method, &format!("{CARTS}{path}")), want, "{fields} {path}");
    }
}

#[test]
fn paths_that_are_no_resources_may_end_with_a_wildcard() {
    assert!(covers("nonResourceURLs: ['/healthz*']", "GET", "/healthz/ping"));
    assert!(covers("nonResourceURLs: ['*']", "GET", "/metrics"));
    assert!(!covers("nonResourceURLs: [/healthz]", "GET", "/healthz/ping"));
    assert!(!covers("nonResourceURLs: ['*']", "GET", CARTS));
}

#[test]
fn stages_and_managed_fields_are_left_out_by_policy_and_rule() {
    let policy = policy(
        "omitStages: [RequestReceived]\nomitManagedFields: true\nrules: [{level: Request, verbs: [get], omitManagedFields: false, omitStages: [Panic]}, {level: Request}]",
    );
    let get = treatment(&policy, "alice", "GET", &format!("{CARTS}/a"));
    assert!(get.omits(Stage::RequestReceived) && get.omits(Stage::Panic));
    assert!(!get.omits(Stage::ResponseComplete) && !get.omits_managed_fields);
    assert!(treatment(&policy, "alice", "GET", CARTS).omits_managed_fields);
}

fn refused(text: &str, want: &str) {
    let error = Policy::parse(text).unwrap_err().to_string();
    assert!(error.contains(want), "{error}");
}

#[test]
fn everything_that_is_wrong_is_named_by_its_field() {
    let rules = |rules: &str| format!("{HEAD}rules: {rules}");
    refused("a: [", "no YAML");
    refused("{kind: Policy, apiVersion: audit.k8s.io/v1beta1, rules: []}", "audit.k8s.io/v1");
    refused(&rules("[]"), "rules: Required value");
    refused(&rules("[{level: Some}]"), "rules[0].level: Unsupported value: \"Some\"");
    refused(&rules("[{}]"), "rules[0].level: Required value");
    refused(&rules("[{level: None, user: [a]}]"), "rules[0].user");
    refused(&rules("[{level: None, users: a}]"), "users");
    refused(&rules("[{level: None, omitStages: [Never]}]"), "rules[0].omitStages[0]");
    refused(&rules("[{level: None, nonResourceURLs: [healthz]}]"), "rules[0].nonResourceURLs[0]");
    refused(&rules("[{level: None, nonResourceURLs: ['/a*b']}]"), "rules[0].nonResourceURLs[0]");
    let both = "[{level: None, nonResourceURLs: [/a], namespaces: [shop]}]";
    refused(&rules(both), "rules[0].nonResourceURLs: Invalid value");
    let group = "[{level: None, resources: [{group: a/v1}, {resourceNames: [x]}]}]";
    refused(&rules(group), "rules[0].resources[0].group: Invalid value: \"a/v1\"");
    refused(&rules(group), "rules[0].resources[1].resourceNames");
}
