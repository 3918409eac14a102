//! `manifests/`: accepted by a real kube-apiserver without a warning, pods made under the strictest PodSecurity, and
//! rights that are what the server needs and no more. There is no kubelet here: pods stay pending.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tests::cluster::{Cluster, Routing};
use tests::kubectl::Kubectl;

const SYSTEM: &str = "formwork-system";
const SERVER: &str = "system:serviceaccount:formwork-system:formwork";
const TEMPLATES: [&str; 2] = ["template.openshift.io", "formwork.dev"];

fn manifests() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../manifests")
}

/// Renders an overlay and applies it; what kube-apiserver warns of is an error.
fn apply(cluster: &Cluster, folder: &Path) -> Result<String> {
    // Its objects are of several namespaces.
    let kubectl = cluster.kubectl("admin")?.in_namespace("");
    let rendered = kubectl.ok(&["kustomize", &folder.display().to_string()])?;
    let apply = ["apply", "--server-side", "--force-conflicts", "--warnings-as-errors", "-f", "-"];
    kubectl.ok_with(&apply, &rendered)?;
    Ok(rendered)
}

/// Waits until the Deployment has made its pods, which admission could have refused.
fn await_pods(kubectl: &Kubectl, replicas: u32) -> Result<()> {
    let replicas = format!("--for=jsonpath={{.status.replicas}}={replicas}");
    kubectl.ok(&["wait", "deployment/formwork", &replicas, "--timeout=60s"])?;
    kubectl.ok(&["delete", "deployment/formwork", "--cascade=foreground", "--timeout=60s"])?;
    Ok(())
}

#[test]
fn every_overlay_is_accepted_and_grants_what_is_needed_and_no_more() -> Result<()> {
    let cluster = Cluster::start(Routing::Off)?;
    let kubectl = cluster.kubectl("admin")?.in_namespace(SYSTEM);
    for (overlay, replicas) in [("embedded", 1), ("ha", 3)] {
        let folder = Path::new(manifests()).join("overlays").join(overlay);
        apply(&cluster, &folder)?;
        await_pods(&kubectl, replicas)?;
    }
    let everywhere = cluster.kubectl("admin")?.in_namespace("");
    everywhere.ok_with(&["apply", "-f", "-"], CERT_MANAGER)?;
    let established = ["--for=condition=Established", "crd", "--all", "--timeout=60s"];
    everywhere.ok(&[&["wait"], established.as_slice()].concat())?;
    for (overlay, replicas) in [("embedded", 1), ("ha", 3)] {
        let folder = with_component(overlay, "cert-manager")?;
        let rendered = apply(&cluster, folder.path())?;
        let annotated = "--cert-manager-certificate=formwork-system/formwork-serving";
        ensure!(rendered.contains(annotated), "{rendered}");
        await_pods(&kubectl, replicas)?;
    }
    // Which says something only if a pod that gives nothing up is refused.
    let careless = kubectl.refused(&["run", "x", "--image=x"], "")?;
    ensure!(careless.contains("violates PodSecurity \"restricted"), "{careless}");
    let admin = cluster.kubectl("admin")?;
    the_server_may_do_what_it_does_and_no_more(&admin)?;
    users_may_do_what_their_roles_say(&admin)?;
    let folder = with_component("embedded", "deployments")?;
    apply(&cluster, folder.path())?;
    await_pods(&kubectl, 1)?;
    the_server_may_act_for_others(&admin)
}

/// With the component that lets it.
fn the_server_may_act_for_others(kubectl: &Kubectl) -> Result<()> {
    let needed = [
        "impersonate /users - alice",
        "impersonate /groups - system:authenticated",
        "impersonate /serviceaccounts demo robot",
        "impersonate authentication.k8s.io/uids - 5",
        "impersonate authentication.k8s.io/userextras/scopes - some",
        "create events.k8s.io/events demo -",
    ];
    for row in needed {
        let may = || may(kubectl, SERVER, &["system:authenticated"], row);
        await_that(may, &format!("not allowed: {row}"))?;
    }
    // Of its own accord it touches nothing.
    for row in
        ["get /secrets demo any", "create /configmaps demo -", "delete apps/deployments demo any"]
    {
        ensure!(!may(kubectl, SERVER, &["system:authenticated"], row)?, "allowed: {row}");
    }
    Ok(())
}

/// What a template may take beyond its own memory, in MiB: the pages that its process copies.
const OVERHEAD: u64 = 14;
/// What the server and its workers take, without what is stored, in MiB.
const OWN: u64 = 100;

/// Whoever could have the pod killed by a template could take its API away from the whole cluster.
#[test]
fn the_limit_of_memory_has_room_for_all_that_templates_may_take() -> Result<()> {
    let text = std::fs::read_to_string(Path::new(manifests()).join("base/deployment.yaml"))?;
    let deployment: Value = serde_saphyr::from_str(&text)?;
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let flag = |name: &str| -> Result<u64> {
        let all = container["args"].as_array().context("it has arguments")?;
        let value = all.iter().filter_map(Value::as_str).find_map(|flag| flag.strip_prefix(name));
        Ok(value.with_context(|| name.to_owned())?.parse()?)
    };
    let (places, memory) = (flag("--expander-concurrency=")?, flag("--expander-memory=")?);
    let limit = container["resources"]["limits"]["memory"].as_str().context("there is a limit")?;
    let limit: u64 = limit.strip_suffix("Mi").context("in MiB")?.parse()?;
    // A place may hold a child that runs Python and one that is kept for Jinja.
    ensure!(limit >= OWN + places * 2 * (memory + OVERHEAD), "{limit} MiB are too little");
    Ok(())
}

/// What kube-apiserver has to know of cert-manager to take its objects.
const CERT_MANAGER: &str = r#"
{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
   "metadata": {"name": "issuers.cert-manager.io"},
   "spec": {"group": "cert-manager.io", "scope": "Namespaced",
            "names": {"kind": "Issuer", "plural": "issuers"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
              {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}},
  {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
   "metadata": {"name": "certificates.cert-manager.io"},
   "spec": {"group": "cert-manager.io", "scope": "Namespaced",
            "names": {"kind": "Certificate", "plural": "certificates"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
              {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}
]}"#;

/// An overlay with a component, as its comment says.
fn with_component(overlay: &str, component: &str) -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    // Names in a kustomization are relative.
    let up = "../".repeat(folder.path().canonicalize()?.components().count());
    let at = |what: &str| -> Result<String> {
        let path = Path::new(manifests()).join(what).canonicalize()?;
        Ok(format!("{up}{}", path.strip_prefix("/")?.display()))
    };
    let kustomization = json!({
        "resources": [at(&format!("overlays/{overlay}"))?],
        "components": [at(&format!("components/{component}"))?],
    });
    std::fs::write(folder.path().join("kustomization.yaml"), kustomization.to_string())?;
    Ok(folder)
}

/// Whether RBAC lets `user` of `groups` do what `attributes` say: `verb group/resource/subresource namespace name`,
/// with `-` for what is not said.
fn may(kubectl: &Kubectl, user: &str, groups: &[&str], attributes: &str) -> Result<bool> {
    let mut words = attributes.split_whitespace().map(|word| if word == "-" { "" } else { word });
    let mut next = || words.next().with_context(|| attributes.to_owned());
    let (verb, resource, namespace, name) = (next()?, next()?, next()?, next()?);
    let parts: Vec<_> = resource.split('/').collect();
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "groups": groups, "resourceAttributes": {
            "verb": verb, "namespace": namespace, "name": name,
            "group": parts[0], "resource": parts[1], "subresource": parts.get(2).unwrap_or(&""),
        }},
    });
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let answer = kubectl.ok_with(&["create", "--raw", path, "-f", "-"], &review.to_string())?;
    let answer: Value = serde_json::from_str(&answer)?;
    Ok(answer["status"]["allowed"] == true)
}

fn the_server_may_do_what_it_does_and_no_more(kubectl: &Kubectl) -> Result<()> {
    let needed = "
        get         apiregistration.k8s.io/apiservices          -               v1.template.openshift.io
        list        apiregistration.k8s.io/apiservices          -               v1.template.openshift.io
        watch       apiregistration.k8s.io/apiservices          -               v1alpha1.formwork.dev
        create      apiregistration.k8s.io/apiservices          -               v1alpha1.formwork.dev
        patch       apiregistration.k8s.io/apiservices          -               v1alpha1.formwork.dev
        delete      apiregistration.k8s.io/apiservices          -               v1.template.openshift.io
        patch       apiregistration.k8s.io/apiservices          -               v1alpha1.dm.formwork.dev
        delete      apiregistration.k8s.io/apiservices          -               v1alpha1.dm.formwork.dev
        get         rbac.authorization.k8s.io/clusterroles      -               formwork
        create      /secrets                                    formwork-system -
        get         /secrets                                    formwork-system formwork-serving-ca
        list        /secrets                                    formwork-system formwork-serving-ca
        watch       /secrets                                    formwork-system formwork-serving-ca
        update      /secrets                                    formwork-system formwork-serving-ca
        create      coordination.k8s.io/leases                  formwork-system -
        get         coordination.k8s.io/leases                  formwork-system formwork-deployer
        update      coordination.k8s.io/leases                  formwork-system formwork-deployer
        get         /namespaces                                 -               anything
        list        /namespaces                                 -               -
        watch       /namespaces                                 -               -
        get         /configmaps                                 kube-system     extension-apiserver-authentication
        list        /configmaps                                 kube-system     extension-apiserver-authentication
        watch       /configmaps                                 kube-system     extension-apiserver-authentication
        create      authentication.k8s.io/tokenreviews          -               -
        create      authorization.k8s.io/subjectaccessreviews   -               -";
    let refused = "
        patch       apiregistration.k8s.io/apiservices          -               v1.apps
        delete      apiregistration.k8s.io/apiservices          -               v1.apps
        list        apiregistration.k8s.io/apiservices          -               -
        update      rbac.authorization.k8s.io/clusterroles      -               formwork
        bind        rbac.authorization.k8s.io/clusterroles      -               cluster-admin
        get         /secrets                                    formwork-system another
        list        /secrets                                    formwork-system -
        get         /secrets                                    default         formwork-serving-ca
        delete      /secrets                                    formwork-system formwork-serving-ca
        create      /secrets                                    default         -
        delete      /namespaces                                 -               default
        create      /pods                                       formwork-system -
        update      coordination.k8s.io/leases                  formwork-system another
        get         /configmaps                                 kube-system     kube-root-ca.crt
        impersonate /users                                      -               admin
        get         template.openshift.io/templates             default         -";
    let groups = ["system:serviceaccounts", "system:serviceaccounts:formwork-system"];
    let groups = [groups.as_slice(), &["system:authenticated"]].concat();
    let rows = |table: &'static str| table.lines().map(str::trim).filter(|row| !row.is_empty());
    for row in rows(needed) {
        ensure!(may(kubectl, SERVER, &groups, row)?, "not allowed: {row}");
    }
    for row in rows(refused) {
        ensure!(!may(kubectl, SERVER, &groups, row)?, "allowed: {row}");
    }
    Ok(())
}

fn users_may_do_what_their_roles_say(kubectl: &Kubectl) -> Result<()> {
    for role in ["admin", "edit", "view"] {
        let (role, user) = (format!("--clusterrole={role}"), format!("--user={role}"));
        kubectl.ok(&["create", "rolebinding", &role[14..], &role, &user])?;
    }
    let reading = ["get -", "list -", "watch -", "get schema"];
    let changing = [
        "create -",
        "update -",
        "patch -",
        "delete -",
        "deletecollection -",
        "create processed",
        "create processedtemplates",
    ];
    let expanding =
        |user: &str| may(kubectl, user, &[], "create dm.formwork.dev/expansions default -");
    for user in ["admin", "edit"] {
        await_that(|| expanding(user), &format!("{user}: create expansions"))?;
    }
    ensure!(!expanding("view")?, "view: create expansions");
    // What is deployed may be Secrets; of which types it is, is none.
    let viewing = |what: &str| {
        let (verb, resource) = what.split_once(' ').context("a verb and what")?;
        may(kubectl, "view", &[], &format!("{verb} dm.formwork.dev/{resource} default -"))
    };
    let registries =
        |user: &str| may(kubectl, user, &[], "create dm.formwork.dev/registries default -");
    await_that(|| registries("admin"), "admin: create registries")?;
    ensure!(!registries("edit")?, "edit: create registries");
    let asking = || may(kubectl, "edit", &[], "get dm.formwork.dev/registries/types default -");
    await_that(asking, "edit: get registries/types")?;
    for what in ["get types", "list types", "list typeinstances", "watch registries"] {
        await_that(|| viewing(what), &format!("view: {what}"))?;
    }
    for what in [
        "get deployments",
        "list manifests",
        "delete types",
        "watch typeinstances",
        "get registries/types",
    ] {
        ensure!(!viewing(what)?, "view: {what}");
    }
    for group in TEMPLATES {
        let check = |user: &str, what: &str, namespace: &str| {
            let (verb, part) = what.split_once(' ').context("a verb and what")?;
            let resource = match part {
                "-" => "templates".to_owned(),
                "processedtemplates" => part.to_owned(),
                subresource => format!("templates/{subresource}"),
            };
            may(kubectl, user, &[], &format!("{verb} {group}/{resource} {namespace} -"))
        };
        for user in ["admin", "edit", "view"] {
            for what in reading {
                // Aggregation takes the controller a moment.
                await_that(|| check(user, what, "default"), &format!("{user}: {what}"))?;
                ensure!(!check(user, what, "kube-system")?, "{user} elsewhere: {what}");
            }
        }
        for what in changing {
            for user in ["admin", "edit"] {
                await_that(|| check(user, what, "default"), &format!("{user}: {what}"))?;
            }
            ensure!(!check("view", what, "default")?, "view: {what}");
        }
    }
    Ok(())
}

fn await_that(holds: impl Fn() -> Result<bool>, what: &str) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds()? {
        ensure!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
