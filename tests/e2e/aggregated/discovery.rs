//! What there is, to those who ask kube-apiserver.

use ::tests::installation::API_SERVICES;
use anyhow::Result;
use serde_json::Value;

use super::dialect::{DIALECTS, Tenant};

#[test]
fn the_api_services_are_available_and_name_whom_to_trust() -> Result<()> {
    let tenant = Tenant::new()?;
    for name in API_SERVICES {
        let text = tenant.administrator.ok(&["get", "apiservice", name, "-o", "json"])?;
        let service: Value = serde_json::from_str(&text)?;
        let condition = &service["status"]["conditions"][0];
        assert_eq!(condition["type"], "Available", "{text}");
        assert_eq!(condition["status"], "True", "{text}");
        assert_eq!(condition["reason"], "Passed", "{text}");
        assert!(service["spec"]["caBundle"].is_string(), "{text}");
        assert_ne!(service["spec"]["insecureSkipTLSVerify"], true, "{text}");
    }
    Ok(())
}

#[test]
fn kubectl_lists_the_resources_with_what_can_be_done_to_them() -> Result<()> {
    let tenant = Tenant::new()?;
    let versions = tenant.administrator.ok(&["api-versions"])?;
    for dialect in DIALECTS {
        assert!(versions.lines().any(|line| line == dialect.api_version), "{versions}");
        let (group, _) = dialect.api_version.split_once('/').unwrap_or_default();
        let group = format!("--api-group={group}");
        let listed = tenant.administrator.ok(&["api-resources", &group, "-o", "wide"])?;
        let resources: Vec<Vec<_>> =
            listed.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        let all = "create,delete,deletecollection,get,list,patch,update,watch";
        let wanted = [
            ["processedtemplates", dialect.api_version, "true", "Template", "create"],
            ["templates", dialect.api_version, "true", "Template", all],
        ];
        assert_eq!(resources, wanted, "{listed}");
    }
    Ok(())
}

#[test]
fn a_name_that_two_groups_share_means_that_of_openshift() -> Result<()> {
    let tenant = Tenant::new()?;
    for dialect in DIALECTS {
        let template = dialect.template("name: t");
        tenant.administrator.ok_with(&["create", "-f", "-"], &template)?;
    }
    for name in ["template", "templates"] {
        let found = tenant.administrator.ok(&["get", name, "-o", "name"])?;
        assert_eq!(found, "template.template.openshift.io/t\n", "{name}");
    }
    Ok(())
}

#[test]
fn explain_describes_every_field_of_either_group() -> Result<()> {
    let tenant = Tenant::new()?;
    for dialect in DIALECTS {
        let version = format!("--api-version={}", dialect.api_version);
        // The aggregator asks for our documents by and by.
        let ask = ["explain", "templates", &version, "--recursive"];
        let fields = tenant.administrator.until(&ask, |_| true)?;
        for field in ["parameters\t<[]Parameter>", "generate\t<string>", "objects\t<[]"] {
            assert!(fields.contains(field), "{field} in:\n{fields}");
        }
        let ask = ["explain", "templates.parameters.from", &version];
        let field = tenant.administrator.ok(&ask)?;
        assert!(field.contains("FIELD: from <string>"), "{field}");
        let (group, _) = dialect.api_version.split_once('/').unwrap_or_default();
        assert!(field.contains(&format!("GROUP:      {group}")), "{field}");
        // What older clients read: the document of the whole cluster.
        let ask = ["explain", "templates", &version, "--output=plaintext-openapiv2"];
        tenant.administrator.until(&ask, |fields| fields.contains("parameters"))?;
    }
    Ok(())
}
