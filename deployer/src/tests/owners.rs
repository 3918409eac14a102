//! Several Deployments, and objects of nobody.

use serde_json::json;

use super::life::GUESTBOOK;
use super::{complaint, states};
use crate::pass::Next;
use crate::twin::{ALICE, BOB, Fault, Fuse, World, requester, spec, target};
use crate::types::{CreatePolicy, DeletePolicy, Phase, Spec};

const ONE: &str =
    "resources: [{name: shared, type: ConfigMap, properties: {apiVersion: v1, data: {a: one}}}]";

#[tokio::test]
async fn an_object_of_nobody_is_taken_over_with_what_others_own_in_it() {
    let world = World::new();
    let map = target("ConfigMap", "demo", "shared");
    world.cluster.put(&map, &json!({ "data": { "a": "mine", "b": "mine" } }));
    let status = world.deploy("one", spec(ONE)).await;
    assert_eq!(status.phase, Phase::Deployed, "{}", complaint(&status));
    let live = world.cluster.see(&map).unwrap();
    assert_eq!(live["data"], json!({ "a": "one", "b": "mine" }));
}

#[tokio::test]
async fn who_may_only_acquire_creates_nothing() {
    let world = World::new();
    let create_policy = CreatePolicy::Acquire;
    let status = world.deploy("one", Spec { create_policy, ..spec(ONE) }).await;
    assert_eq!(status.phase, Phase::Failed);
    assert!(complaint(&status).contains("it is not there, and spec.createPolicy is Acquire"));
    let map = target("ConfigMap", "demo", "shared");
    world.cluster.put(&map, &json!({ "data": { "a": "mine" } }));
    world.settle("one").await;
    assert_eq!(world.status("one").phase, Phase::Deployed);
    assert_eq!(world.cluster.see(&map).unwrap()["data"]["a"], "one");
}

#[tokio::test]
async fn two_deployments_cannot_have_one_object_and_to_abandon_moves_it() {
    let world = World::new();
    world.deploy("one", spec(ONE)).await;
    let map = target("ConfigMap", "demo", "shared");
    let before = world.cluster.every_byte(&map);
    let status = world.deploy("two", spec(&ONE.replace("a: one", "a: two"))).await;
    assert_eq!(status.phase, Phase::Failed);
    let told = complaint(&status);
    assert!(told.contains("it belongs to Deployment demo/one, which has to abandon"), "{told}");
    assert_eq!(world.cluster.every_byte(&map), before);
    // To delete the second does no harm to the first.
    world.records.end("two", ALICE);
    world.settle("two").await;
    assert_eq!(world.cluster.every_byte(&map), before);

    world.deploy("two", spec(&ONE.replace("a: one", "a: two"))).await;
    world
        .update("one", |spec| {
            spec.delete_policy = DeletePolicy::Abandon;
            spec.configuration = Some("resources: []".to_owned());
        })
        .await;
    world.settle("two").await;
    let status = world.status("two");
    assert_eq!(status.phase, Phase::Deployed, "{}", complaint(&status));
    assert_eq!(world.cluster.see(&map).unwrap()["data"]["a"], "two");
    world.records.end("one", ALICE);
    world.settle("one").await;
    assert!(world.cluster.see(&map).is_some());
}

#[tokio::test]
async fn one_of_two_that_create_at_the_same_time_wins() {
    for seed in 0..100 {
        let world = World::new();
        world.records.create("one", spec(ONE));
        world.records.create("two", spec(&ONE.replace("a: one", "a: two")));
        let [first, second] = [3 * seed, 5 * seed + 1].map(|seed| Fuse::new(Fault::Yield(seed), 0));
        tokio::join!(world.settle_as(&first, "one"), world.settle_as(&second, "two"));
        let live = world.cluster.see(&target("ConfigMap", "demo", "shared")).unwrap();
        let winner = live["data"]["a"].as_str().unwrap();
        let loser = if winner == "one" { "two" } else { "one" };
        assert_eq!(world.status(winner).phase, Phase::Deployed);
        assert_eq!(world.status(loser).phase, Phase::Failed, "seed {seed}");
        let label = &live["metadata"]["labels"]["dm.formwork.dev/deployment-uid"];
        assert_eq!(*label, format!("uid-of-{winner}"));
    }
}

#[tokio::test]
async fn deployments_that_wait_for_each_other_are_told_so() {
    let world = World::new();
    for (name, other) in [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")] {
        let depends_on = vec![other.to_owned()];
        world.records.create(name, Spec { depends_on, ..spec("resources: []") });
    }
    let wanted = [
        ("a", "DependencyCycle: Deployments wait for each other: a -> b -> c -> a"),
        ("c", "DependencyCycle: Deployments wait for each other: c -> a -> b -> c"),
        ("d", "DependencyNotReady: Deployment a is not ready"),
    ];
    for (name, want) in wanted {
        world.pass(name).await;
        assert_eq!(complaint(&world.status(name)), want, "{name}");
    }
    world.records.change("c", |spec| spec.depends_on.clear());
    for name in ["c", "b", "a", "d"] {
        world.settle(name).await;
        assert!(world.status(name).is("Ready"), "{name}: {}", complaint(&world.status(name)));
    }
}

#[tokio::test]
async fn who_depends_on_another_waits_for_it_and_has_its_outputs() {
    let world = World::new();
    let text = "resources: [{name: c, type: ConfigMap, properties: {apiVersion: v1, data: {ip: '$(ref.deployments/app.ip)'}}}]\noutputs: [{name: again, value: '$(ref.deployments/app.text)!'}]";
    world.records.create("later", Spec { depends_on: vec!["app".to_owned()], ..spec(text) });
    assert!(matches!(world.pass("later").await, Next::After(_)));
    assert_eq!(
        complaint(&world.status("later")),
        "DependencyNotReady: Deployment app is not there"
    );
    world.records.create("app", spec(GUESTBOOK));
    world.pass("later").await;
    assert_eq!(
        complaint(&world.status("later")),
        "DependencyNotReady: Deployment app is not ready"
    );
    world.settle("app").await;
    world.settle("later").await;
    let status = world.status("later");
    assert_eq!(status.phase, Phase::Deployed, "{}", complaint(&status));
    let ip = world.status("app").outputs[0].value.clone();
    let live = world.cluster.see(&target("ConfigMap", "demo", "c")).unwrap();
    assert_eq!(live["data"]["ip"], ip);
    assert_eq!(status.outputs[0].value, format!("at {}!", ip.as_str().unwrap()));
    // A look at it later finds nothing changed; what the other says now is drift.
    world.pass("later").await;
    assert!(!world.status("later").is("Drifted"), "{:?}", world.status("later"));
    world
        .configure("app", &GUESTBOOK.replace("value: $(ref.backend.spec.clusterIP)", "value: x"))
        .await;
    world.pass("later").await;
    assert!(world.status("later").is("Drifted"));
}

#[tokio::test]
async fn who_deletes_is_who_has_to_be_allowed_to() {
    let world = World::new();
    world.deploy("one", spec(ONE)).await;
    world.cluster.deny(BOB, crate::Verb::Delete, "configmaps", "");
    world.records.end("one", BOB);
    assert_eq!(world.settle("one").await, Next::Retry);
    let map = target("ConfigMap", "demo", "shared");
    assert!(world.cluster.see(&map).is_some());
    let told = complaint(&world.status("one"));
    assert!(told.contains("bob may not delete configmaps in namespace demo"), "{told}");
    world.records.change("one", |spec| spec.requester = requester(ALICE));
    world.settle("one").await;
    assert!(world.cluster.see(&map).is_none() && world.records.find("one").is_none());
}

#[tokio::test]
async fn a_namespace_that_ends_waits_for_nobody() {
    let world = World::slow();
    let text = "resources:\n- {name: here, type: ConfigMap, properties: {apiVersion: v1}}\n- {name: there, type: ConfigMap, properties: {apiVersion: v1, metadata: {namespace: elsewhere}}}\n- {name: role, type: ClusterRole, properties: {apiVersion: rbac.authorization.k8s.io/v1}}";
    world.deploy("one", spec(text)).await;
    world.cluster.hold("demo");
    let demo = target("Namespace", "", "demo");
    world.cluster.edit(&demo, &json!({ "metadata": { "deletionTimestamp": "now" } }));
    world.cluster.deny(ALICE, crate::Verb::Delete, "clusterroles", "");
    world.records.end("one", ALICE);
    world.settle("one").await;
    assert!(world.records.find("one").is_none());
    assert!(world.cluster.see(&target("ConfigMap", "elsewhere", "there")).is_none());
    assert!(world.cluster.see(&target("ClusterRole", "", "role")).is_some());
    let events = world.records.events();
    assert!(
        events.contains(&"one Abandoned: ClusterRole role is left where it is".to_owned()),
        "{events:?}"
    );
}

#[tokio::test]
async fn a_namespace_that_ends_does_not_wait_for_ever_for_what_is_elsewhere() {
    let world = World::new();
    let text = "resources: [{name: there, type: ConfigMap, properties: {apiVersion: v1, metadata: {namespace: elsewhere}}}]";
    world.deploy("one", spec(text)).await;
    world.cluster.hold("demo");
    let demo = target("Namespace", "", "demo");
    world.cluster.edit(&demo, &json!({ "metadata": { "deletionTimestamp": "now" } }));
    world.cluster.refuse("there");
    world.records.end("one", ALICE);
    assert_eq!(world.settle("one").await, Next::Retry);
    assert!(world.records.find("one").is_some(), "somebody may mend it yet");
    world.records.events();
    world.wait(std::time::Duration::from_secs(601));
    world.settle("one").await;
    assert!(world.records.find("one").is_none());
    let left = "one Abandoned: ConfigMap elsewhere/there is left where it is".to_owned();
    assert!(world.records.events().contains(&left));
}

#[tokio::test]
async fn a_target_that_is_wanted_again_while_it_is_deleted_is_made_anew() {
    let world = World::slow();
    world.deploy("one", spec(ONE)).await;
    world.cluster.hold("shared");
    world.records.change("one", |spec| spec.configuration = Some("resources: []".to_owned()));
    for _ in 0..3 {
        world.pass("one").await;
        world.wait(std::time::Duration::from_secs(1));
    }
    let map = target("ConfigMap", "demo", "shared");
    let old = world.cluster.see(&map).unwrap();
    assert!(old["metadata"]["deletionTimestamp"].is_string());
    world.records.change("one", |spec| spec.configuration = Some(ONE.to_owned()));
    for _ in 0..3 {
        world.pass("one").await;
        world.wait(std::time::Duration::from_secs(1));
    }
    assert_eq!(states(&world.status("one")), "shared=Pending");
    world.cluster.unhold("shared");
    world.settle("one").await;
    let new = world.cluster.see(&map).unwrap();
    assert_ne!(new["metadata"]["uid"], old["metadata"]["uid"]);
    let status = world.status("one");
    assert_eq!(new["metadata"]["uid"], status.resources[0].uid.as_str());
    assert_eq!(status.phase, Phase::Deployed);
}

#[tokio::test]
async fn what_a_deployment_had_that_is_gone_can_be_taken_over() {
    let world = World::new();
    world.deploy("one", spec(ONE)).await;
    let map = target("ConfigMap", "demo", "shared");
    world.records.forget("one");
    let status = world.deploy("two", spec(&ONE.replace("a: one", "a: two"))).await;
    assert_eq!(status.phase, Phase::Deployed, "{}", complaint(&status));
    assert_eq!(world.cluster.see(&map).unwrap()["data"]["a"], "two");
    // A label alone could be anybody's.
    world.cluster.put(
        &map,
        &json!({ "metadata": {
            "labels": { "dm.formwork.dev/deployment-uid": "some" },
        }}),
    );
    let status = world.configure("two", &ONE.replace("a: one", "a: three")).await;
    assert!(complaint(&status).contains("it belongs to Deployment some"), "{}", complaint(&status));
}

#[tokio::test]
async fn a_deployment_that_holds_its_own_namespace_does_not_wait_for_it() {
    let world = World::slow();
    let text = "resources: [{name: demo, type: Namespace, properties: {apiVersion: v1}}]";
    world.deploy("one", spec(text)).await;
    // As the namespace controller does, it stays while there is anything in it.
    world.cluster.hold("demo");
    world.records.end("one", ALICE);
    world.settle("one").await;
    assert!(world.records.find("one").is_none());
    let demo = world.cluster.see(&target("Namespace", "", "demo")).unwrap();
    assert!(demo["metadata"]["deletionTimestamp"].is_string());
}
