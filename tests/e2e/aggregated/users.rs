//! Who may what with templates in a real cluster, and whom we take a user for that kube-apiserver vouches for.

use ::tests::kubectl::Kubectl;
use anyhow::Result;
use serde_json::{Value, json};

use super::dialect::{DIALECTS, Tenant};

/// Some of what the cluster's own roles allow: verb, resource, subresource; and to whom. `manifests.rs` has all of it.
const RIGHTS: &[(&str, &str, &str, &[&str])] = &[
    ("watch", "templates", "", &["admin", "edit", "view"]),
    ("get", "templates", "schema", &["admin", "edit", "view"]),
    ("patch", "templates", "", &["admin", "edit"]),
    ("deletecollection", "templates", "", &["admin", "edit"]),
    ("create", "templates", "processed", &["admin", "edit"]),
    ("create", "processedtemplates", "", &["admin", "edit"]),
    ("get", "processedtemplates", "", &[]),
];

#[test]
fn the_roles_of_the_cluster_include_templates() -> Result<()> {
    let tenant = Tenant::new()?;
    for role in ["admin", "edit", "view"] {
        tenant.bind(role, &format!("user-{role}"))?;
    }
    for dialect in DIALECTS {
        let (group, _) = dialect.api_version.split_once('/').unwrap_or_default();
        for (verb, resource, subresource, roles) in RIGHTS {
            let resource = format!("{resource}.{group}");
            let subresource = format!("--subresource={subresource}");
            for role in ["admin", "edit", "view"] {
                let user = format!("user-{role}");
                let ask = ["auth", "can-i", verb, &resource, &subresource, "--as", &user];
                let told = tenant.administrator.run(&ask)?;
                let wanted = if roles.contains(&role) { "yes\n" } else { "no\n" };
                assert_eq!(told.stdout, wanted, "{role}: {verb} {resource} {subresource}");
            }
        }
    }
    let list = ["auth", "can-i", "--list", "--as", "user-view"];
    let list = tenant.administrator.ok(&list)?;
    for dialect in DIALECTS {
        let row = list.lines().find(|line| line.starts_with(dialect.resource));
        assert!(row.is_some_and(|row| row.contains("[get list watch]")), "{list}");
    }
    Ok(())
}

#[test]
fn a_viewer_reads_and_changes_nothing() -> Result<()> {
    let tenant = Tenant::new()?;
    let viewer = tenant.alice("view")?;
    for dialect in DIALECTS {
        let (t, template) = (dialect.object("t"), dialect.template("name: t"));
        tenant.administrator.ok_with(&["create", "-f", "-"], &template)?;
        assert_eq!(viewer.ok(&["get", &t, "-o", "jsonpath={.parameters[0].value}"])?, "web");
        viewer.ok(&["get", "--raw", &dialect.path(&viewer, "templates/t/schema")])?;
        let processed = dialect.path(&viewer, "processedtemplates");
        for attempt in [
            &["create", "-f", "-"][..],
            &["apply", "-f", "-"],
            &["replace", "-f", "-"],
            &["delete", &t],
            &["label", &t, "a=b"],
            &["delete", dialect.resource, "--all"],
            &["create", "--raw", &processed, "-f", "-"],
            &["get", dialect.resource, "-A"],
        ] {
            let refused = viewer.refused(attempt, &template)?;
            assert!(refused.contains("(Forbidden)"), "{attempt:?}: {refused}");
            assert!(refused.contains("User \"alice\" cannot "), "{attempt:?}: {refused}");
        }
    }
    Ok(())
}

#[test]
fn whoever_has_no_rights_is_told_so_by_the_cluster() -> Result<()> {
    let tenant = Tenant::new()?;
    let (nobody, namespace) = (tenant.user("bob")?, &tenant.administrator.namespace);
    for dialect in DIALECTS {
        let (group, _) = dialect.api_version.split_once('/').unwrap_or_default();
        let refused = nobody.refused(&["get", dialect.resource], "")?;
        let wanted = format!(
            "Error from server (Forbidden): templates.{group} is forbidden: User \"bob\" cannot list resource \
             \"templates\" in API group \"{group}\" in the namespace \"{namespace}\""
        );
        assert_eq!(refused.trim_end(), wanted);
    }
    Ok(())
}

#[test]
fn an_administrator_acts_for_others() -> Result<()> {
    let tenant = Tenant::new()?;
    tenant.bind("view", "carol")?;
    for dialect in DIALECTS {
        let template = dialect.template("name: t");
        let create = |who: &[&str]| {
            let arguments = [&["create", "-f", "-"], who].concat();
            tenant.administrator.run_with(&arguments, &template)
        };
        tenant.administrator.ok(&["get", dialect.resource, "--as=carol"])?;
        let refused = create(&["--as=carol"])?;
        assert!(refused.stderr.contains("User \"carol\" cannot create"), "{refused:?}");
        let created = create(&["--as=carol", "--as-group=system:masters"])?;
        assert_eq!(created.code, Some(0), "{created:?}");
    }
    Ok(())
}

#[test]
fn a_user_of_six_hundred_groups_is_served() -> Result<()> {
    let tenant = Tenant::new()?;
    let path = DIALECTS[0].path(&tenant.administrator, "templates");
    let mut ask: Vec<_> = ["get", "--raw", &path, "--as=dan"].map(str::to_owned).into();
    ask.extend((0..600).map(|n| format!("--as-group=a-group-of-the-directory-{n}")));
    let refused = tenant.administrator.refused(&strs(&ask), "")?;
    assert!(refused.contains("User \"dan\" cannot list"), "{refused}");
    ask.push("--as-group=system:masters".into());
    tenant.administrator.ok(&strs(&ask))?;
    Ok(())
}

fn strs(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

#[test]
fn all_that_is_known_of_a_user_arrives() -> Result<()> {
    let tenant = Tenant::new()?;
    let administrator = &tenant.administrator;
    let path = DIALECTS[0].path(administrator, "templates");
    administrator.ok(&[
        "get",
        "--raw",
        &path,
        "--as=erin",
        "--as-uid=7",
        "--as-group=system:masters",
        "--as-user-extra=example.com/Reason=why not?",
    ])?;
    let user = recorded(&tenant, &path, "erin")?;
    assert_eq!(user["uid"], "7", "{user}");
    assert_eq!(user["groups"], json!(["system:masters", "system:authenticated"]), "{user}");
    assert_eq!(user["extra"]["example.com/reason"], json!(["why not?"]), "{user}");

    let name = format!("system:serviceaccount:{}:robot", administrator.namespace);
    administrator.ok(&["create", "serviceaccount", "robot"])?;
    tenant.bind("edit", &name)?;
    let robot = service_account(&tenant, "robot")?;
    robot.ok_with(&["create", "-f", "-"], &DIALECTS[0].template("name: t"))?;
    robot.ok(&["get", "--raw", &path])?;
    let user = recorded(&tenant, &path, &name)?;
    assert!(user["uid"].is_string(), "{user}");
    let group = format!("system:serviceaccounts:{}", administrator.namespace);
    assert!(user["groups"].as_array().is_some_and(|all| all.contains(&json!(group))), "{user}");
    let extra = &user["extra"]["authentication.kubernetes.io/credential-id"];
    assert!(extra[0].as_str().is_some_and(|id| id.starts_with("JTI=")), "{user}");
    Ok(())
}

/// kubectl with nothing but a token of a ServiceAccount.
fn service_account(tenant: &Tenant, name: &str) -> Result<Kubectl> {
    let token = tenant.administrator.ok(&["create", "token", name])?;
    let cluster = tenant.cluster();
    let kubectl = Kubectl::with(vec![
        "--server".into(),
        cluster.apiserver()?.into(),
        "--certificate-authority".into(),
        cluster.pki("ca.crt").into(),
        "--token".into(),
        token.trim().into(),
    ])?;
    Ok(kubectl.in_namespace(&tenant.administrator.namespace))
}

/// Whom our own audit log says that a request for `path` was from.
fn recorded(tenant: &Tenant, path: &str, user: &str) -> Result<Value> {
    let log = tenant
        .serving
        .audited(|event| event["requestURI"] == path && event["user"]["username"] == user)?;
    Ok(log["user"].clone())
}
