//! What a requester may not do is not done, in no way there is, and what one may not see is not shown.

use serde_json::json;

use super::complaint;
use super::life::{GUESTBOOK, renamed};
use crate::cluster::Verb;
use crate::twin::{ALICE, BOB, World, requester, spec, target};
use crate::types::{CreatePolicy, DeletePolicy, Phase, Spec};

#[tokio::test]
async fn nothing_is_changed_when_one_review_of_many_is_refused() {
    for (verb, resource) in
        [(Verb::Create, "deployments"), (Verb::Patch, "services"), (Verb::Get, "configmaps")]
    {
        let world = World::new();
        world.cluster.deny(ALICE, verb, resource, "demo");
        let before = world.cluster.all();
        let status = world.deploy("app", spec(GUESTBOOK)).await;
        assert_eq!(status.phase, Phase::Failed);
        let told = complaint(&status);
        let want = format!("Forbidden: alice may not {} {resource}", verb.as_str());
        assert!(told.starts_with(&want), "{told}");
        assert_eq!((world.cluster.all(), world.cluster.log()), (before, vec![]));
        assert!(status.resources.is_empty(), "nothing can come to exist");
        assert_eq!(world.cluster.reviews().len() % 9, 0, "all of them were asked");
        world.cluster.allow_all();
        world.settle("app").await;
        assert_eq!(world.status("app").phase, Phase::Deployed);
    }
}

#[tokio::test]
async fn who_may_do_it_to_all_is_asked_about_once_and_who_may_not_about_each() {
    let names = ["one", "two", "three", "four"];
    let resource = |name: &&str| json!({ "name": name, "type": "ConfigMap", "properties": { "apiVersion": "v1", "kind": "ConfigMap" }});
    let resources: Vec<_> = names.iter().map(resource).collect();
    let wanted = || spec(&json!({ "resources": resources }).to_string());
    let asked = |world: &World| -> Vec<String> {
        let ask = |access: crate::Access| {
            format!("{} {}", access.verb.as_str(), access.target.object_name)
        };
        world.cluster.reviews().into_iter().map(ask).collect()
    };

    let world = World::new();
    let status = world.deploy("app", wanted()).await;
    assert_eq!(status.phase, Phase::Deployed, "{}", complaint(&status));
    let asked_once = asked(&world);
    assert!(asked_once.iter().all(|access| access.ends_with(' ')), "{asked_once:?}");
    assert_eq!(asked_once[..3], ["get ", "create ", "patch "]);

    let world = World::new();
    world.cluster.deny_one(ALICE, Verb::Patch, &target("ConfigMap", "demo", "three"));
    let before = world.cluster.all();
    let status = world.deploy("app", wanted()).await;
    let told = complaint(&status);
    assert!(
        told.starts_with(
            "Forbidden: alice may not patch configmaps in namespace demo (ConfigMap demo/three)"
        ),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1, "{told}");
    assert_eq!((world.cluster.all(), world.cluster.log()), (before, vec![]));
    let mut each: Vec<_> = asked(&world).into_iter().take(7).skip(3).collect();
    each.sort();
    assert_eq!(each, ["patch four", "patch one", "patch three", "patch two"]);
}

#[tokio::test]
async fn who_may_not_delete_what_is_pruned_changes_nothing() {
    let world = World::new();
    world.deploy("app", spec(GUESTBOOK)).await;
    let before = world.cluster.all();
    world.cluster.deny(BOB, Verb::Delete, "services", "");
    let status = world
        .update("app", |spec| {
            spec.configuration = Some(renamed());
            spec.requester = requester(BOB);
        })
        .await;
    let told = complaint(&status);
    assert!(
        told.contains("bob may not delete services in namespace demo (Service demo/backend)"),
        "{told}"
    );
    assert_eq!(world.cluster.all(), before);
}

#[tokio::test]
async fn a_prune_that_fails_is_told_and_written_once() {
    let world = World::new();
    world.deploy("app", spec(GUESTBOOK)).await;
    world.cluster.refuse("backend");
    let status = world.update("app", |spec| spec.configuration = Some(renamed())).await;
    assert_eq!(complaint(&status), "Failed: Service demo/backend: a webhook says no");
    world.records.events();
    world.records.writes();
    for _ in 0..5 {
        world.wait(std::time::Duration::from_secs(60));
        world.pass("app").await;
    }
    assert_eq!((world.records.events(), world.records.writes()), (vec![], 0));
}

#[tokio::test]
async fn a_right_that_is_lost_between_review_and_prune_prunes_nothing() {
    let world = World::slow();
    world.deploy("app", spec(GUESTBOOK)).await;
    world.records.change("app", |spec| spec.configuration = Some(renamed()));
    world.pass("app").await;
    world.cluster.deny(ALICE, Verb::Delete, "services", "");
    world.settle("app").await;
    assert!(world.cluster.see(&target("Service", "demo", "backend")).is_some());
    assert!(complaint(&world.status("app")).contains("alice may not delete services"));
    world.records.events();
    world.records.writes();
    for _ in 0..5 {
        world.pass("app").await;
        world.wait(std::time::Duration::from_secs(60));
    }
    assert_eq!(world.records.events(), [""; 0], "it is told once");
    assert_eq!(world.records.writes(), 0, "and written once");
    world.cluster.allow_all();
    world.settle("app").await;
    assert_eq!(world.status("app").phase, Phase::Deployed);
}

/// Bob may do everything but touch Secrets, and tries.
fn without_secrets() -> World {
    let world = World::new();
    for verb in [Verb::Get, Verb::Create, Verb::Patch, Verb::Delete] {
        world.cluster.deny(BOB, verb, "secrets", "");
    }
    let data = json!({ "data": { "password": "c2VjcmV0" } });
    world.cluster.put(&target("Secret", "demo", "key"), &data);
    world
}

const KEY: &str = "resources:\n- {name: key, type: Secret, properties: {apiVersion: v1}}\n";

fn of_bob(text: &str) -> Spec {
    Spec { requester: requester(BOB), ..spec(text) }
}

/// Nothing was done to Secrets, and nothing of them is to be read anywhere.
fn unharmed(world: &World, before: &str) {
    assert_eq!(world.cluster.every_byte(&target("Secret", "demo", "key")), before);
    let log = world.cluster.log();
    assert!(log.iter().all(|act| !act.contains("Secret")), "{log:?}");
    let told = format!("{:?}{:?}", world.records.all(), world.records.events());
    assert!(!told.contains("c2VjcmV0"), "{told}");
    for (name, object) in
        world.cluster.all().into_iter().filter(|(name, _)| !name.contains("secret"))
    {
        assert!(!object.to_string().contains("c2VjcmV0"), "{name}");
    }
}

#[tokio::test]
async fn who_may_not_touch_secrets_gets_nothing_of_them() {
    let reads = "- {name: c, type: ConfigMap, properties: {apiVersion: v1, data: {p: $(ref.key.data.password)}}}\n";
    let outputs = "outputs: [{name: p, value: $(ref.key.data.password)}]\n";
    let whole = "outputs: [{name: p, value: $(ref.key)}]\n";
    for text in [
        KEY.to_owned(),
        format!("{KEY}{reads}"),
        format!("{KEY}{outputs}"),
        format!("{KEY}{whole}"),
        "resources:\n- {name: new, type: Secret, properties: {apiVersion: v1}}\n".to_owned(),
    ] {
        for (create_policy, delete_policy, preview) in [
            (CreatePolicy::CreateOrAcquire, DeletePolicy::Delete, false),
            (CreatePolicy::Acquire, DeletePolicy::Delete, false),
            (CreatePolicy::CreateOrAcquire, DeletePolicy::Abandon, false),
            (CreatePolicy::CreateOrAcquire, DeletePolicy::Delete, true),
            (CreatePolicy::Acquire, DeletePolicy::Delete, true),
        ] {
            let world = without_secrets();
            let before = world.cluster.every_byte(&target("Secret", "demo", "key"));
            let wanted = Spec { create_policy, delete_policy, preview, ..of_bob(&text) };
            let status = world.deploy("app", wanted).await;
            assert_eq!(status.phase, Phase::Failed, "{text}");
            unharmed(&world, &before);
            world.records.end("app", BOB);
            world.settle("app").await;
            unharmed(&world, &before);
        }
    }
}

#[tokio::test]
async fn who_takes_over_the_deployment_of_another_has_only_their_own_rights() {
    let by_bob = |spec: &mut Spec| spec.requester = requester(BOB);
    let changes: [fn(&mut Spec); 6] = [
        |spec| spec.configuration = Some("resources: []".to_owned()),
        |spec| spec.delete_policy = DeletePolicy::Abandon,
        |spec| spec.roll_back_to = Some("app-1".to_owned()),
        |spec| spec.preview = true,
        |spec| {
            spec.preview = true;
            spec.roll_back_to = Some("app-1".to_owned());
        },
        |spec| spec.configuration = Some(format!("{KEY}outputs: [{{name: p, value: $(ref.key)}}]")),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let world = without_secrets();
        world.deploy("app", spec(KEY)).await;
        world.cluster.log();
        let before = world.cluster.every_byte(&target("Secret", "demo", "key"));
        let status = world
            .update("app", |spec| {
                change(spec);
                by_bob(spec);
            })
            .await;
        assert_eq!(status.phase, Phase::Failed, "change {at}");
        unharmed(&world, &before);
        world.records.end("app", BOB);
        world.settle("app").await;
        unharmed(&world, &before);
        assert!(world.records.find("app").is_some(), "change {at}: it waits for who may");
    }
}

#[tokio::test]
async fn what_was_deployed_by_one_is_not_watched_for_another_who_may_not_see_it() {
    let world = without_secrets();
    let text = format!("{KEY}outputs: [{{name: p, value: $(ref.key.metadata.name)}}]");
    world.deploy("app", spec(&text)).await;
    // As if the server had stamped somebody else without a change of the generation.
    world.records.change("app", |spec| spec.requester = requester(BOB));
    world.settle("app").await;
    let status = world.status("app");
    assert_eq!(status.phase, Phase::Failed);
    assert!(complaint(&status).starts_with("Forbidden"), "{}", complaint(&status));
}

#[tokio::test]
async fn a_deployment_that_one_may_not_read_is_neither_depended_on_nor_referred_to() {
    let refers = r"
resources:
- { name: first, type: ConfigMap, properties: { apiVersion: v1 } }
- name: c
  type: ConfigMap
  metadata: { dependsOn: [first] }
  properties: { apiVersion: v1, data: { p: $(ref.deployments/app.p) } }
";
    let depends = Spec { depends_on: vec!["app".to_owned()], ..of_bob("resources: []") };
    let manifest = Spec { roll_back_to: Some("app-1".to_owned()), preview: true, ..of_bob("") };
    let output = "resources: []\noutputs: [{name: q, value: '$(ref.deployments/app.p)'}]";
    for (wanted, resource) in [
        (of_bob(refers), "deployments.dm.formwork.dev"),
        (of_bob(output), "deployments.dm.formwork.dev"),
        (depends, "deployments.dm.formwork.dev"),
        (manifest, "manifests.dm.formwork.dev"),
    ] {
        let world = World::new();
        world.deploy("app", spec("resources: []\noutputs: [{name: p, value: c2VjcmV0}]")).await;
        world.cluster.deny(BOB, Verb::Get, "deployments", "demo");
        world.cluster.deny(BOB, Verb::Get, "manifests", "demo");
        let status = world.deploy("spy", wanted).await;
        let told = complaint(&status);
        assert!(told.starts_with(&format!("Forbidden: bob may not get {resource}")), "{told}");
        assert!(!format!("{status:?}").contains("c2VjcmV0"));
        assert_eq!(world.cluster.log(), [""; 0]);
    }
}

#[tokio::test]
async fn nobody_is_nobody() {
    let world = World::new();
    let status = world.deploy("app", Spec { requester: requester(""), ..spec(GUESTBOOK) }).await;
    assert_eq!(status.phase, Phase::Failed);
    assert_eq!(world.cluster.log(), [""; 0]);
}
