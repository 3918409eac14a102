//! What others do to what was deployed.

use serde_json::json;

use super::life::GUESTBOOK;
use super::{complaint, states};
use crate::cluster::Verb;
use crate::pass::Next;
use crate::pass::PERIOD;
use crate::twin::{AFTER, ALICE, Fault, Fuse, World, spec, target};
use crate::types::{Phase, Reconcile, Spec, Status, Truth};

/// The condition `Drifted`: whether, and what it says.
fn drifted(status: &Status) -> (Truth, &str) {
    let condition = status.condition("Drifted").unwrap();
    (condition.status, &condition.message)
}

async fn deployed(reconcile: Reconcile) -> World {
    let world = World::new();
    world.deploy("app", Spec { reconcile, ..spec(GUESTBOOK) }).await;
    world.cluster.log();
    world.records.events();
    world
}

#[tokio::test]
async fn drift_is_seen_and_said_once() {
    let world = deployed(Reconcile::Observe).await;
    let web = target("Deployment", "demo", "web");
    world.cluster.edit(&web, &json!({ "spec": { "replicas": 7 } }));
    for _ in 0..3 {
        assert_eq!(world.pass("app").await, Next::After(PERIOD));
        world.wait(PERIOD);
    }
    let status = world.status("app");
    let message = "web (Deployment demo/web): others changed spec.replicas";
    assert_eq!(drifted(&status), (Truth::True, message));
    assert_eq!(states(&status), "settings=Ready backend=Ready web=Drifted");
    assert_eq!(status.phase, Phase::Deployed);
    assert!(status.is("Ready"), "it still works");
    assert_eq!(world.records.events(), [format!("app Drifted: {message}")]);
    assert_eq!(world.cluster.log(), [""; 0]);
    // It is taken back.
    world.cluster.edit(&web, &json!({ "spec": { "replicas": 3 } }));
    world.pass("app").await;
    assert_eq!(drifted(&world.status("app")), (Truth::False, ""));
}

#[tokio::test]
async fn what_others_add_is_no_drift() {
    let world = deployed(Reconcile::Enforce).await;
    let web = target("Deployment", "demo", "web");
    world
        .cluster
        .edit(&web, &json!({ "spec": { "more": 1 }, "metadata": { "labels": { "a": "b" } } }));
    world.pass("app").await;
    assert_eq!(drifted(&world.status("app")), (Truth::False, ""));
    assert_eq!(world.cluster.log(), [""; 0]);
}

#[tokio::test]
async fn an_object_that_is_gone_is_drift_and_not_ready() {
    let world = deployed(Reconcile::Observe).await;
    world.cluster.lose(&target("Service", "demo", "backend"));
    world.pass("app").await;
    let status = world.status("app");
    let message = "backend (Service demo/backend): it was deleted";
    assert_eq!(drifted(&status), (Truth::True, message));
    assert!(!status.is("Ready"), "{}", complaint(&status));
    assert_eq!(world.cluster.log(), [""; 0]);
}

#[tokio::test]
async fn drift_is_corrected_where_that_is_wanted() {
    let world = deployed(Reconcile::Enforce).await;
    let before = world.cluster.all();
    world.wait(std::time::Duration::from_secs(100_000));
    world.cluster.slow();
    world.cluster.edit(&target("Deployment", "demo", "web"), &json!({ "spec": { "replicas": 7 } }));
    world.cluster.lose(&target("Service", "demo", "backend"));
    world.pass("app").await;
    world.settle("app").await;
    assert_eq!(world.cluster.all(), before);
    assert_eq!(world.cluster.log(), ["create Service demo/backend", "apply Deployment demo/web"]);
    let status = world.status("app");
    assert_eq!((status.phase, drifted(&status)), (Phase::Deployed, (Truth::False, "")));
    let events = world.records.events();
    assert!(events.iter().all(|event| !event.contains("Timeout")), "{events:?}");
}

#[tokio::test]
async fn an_object_that_another_has_taken_is_left_to_it() {
    let world = deployed(Reconcile::Enforce).await;
    let web = target("Deployment", "demo", "web");
    world.deploy("another", spec("resources: []")).await;
    let owner = json!({
        "labels": { "dm.formwork.dev/deployment-uid": "uid-of-another" },
        "annotations": { "dm.formwork.dev/deployment": "demo/another" },
    });
    world.cluster.edit(&web, &json!({ "metadata": owner, "spec": { "replicas": 9 } }));
    let before = world.cluster.every_byte(&web);
    world.pass("app").await;
    world.settle("app").await;
    assert_eq!(world.cluster.every_byte(&web), before);
    let told = complaint(&world.status("app"));
    assert!(told.contains("it belongs to Deployment demo/another"), "{told}");
    world.records.end("app", ALICE);
    world.settle("app").await;
    assert_eq!(world.cluster.every_byte(&web), before);
    assert!(world.records.find("app").is_none());
}

#[tokio::test]
async fn what_cannot_be_seen_is_not_said() {
    let world = deployed(Reconcile::Enforce).await;
    let web = target("Deployment", "demo", "web");
    world.cluster.edit(&web, &json!({ "spec": { "replicas": 7 } }));
    world.cluster.deny(ALICE, Verb::Get, "deployments", "");
    world.records.writes();
    for _ in 0..3 {
        assert_eq!(world.pass("app").await, Next::After(PERIOD));
        world.wait(PERIOD);
    }
    assert_eq!(world.records.writes(), 1);
    let status = world.status("app");
    assert_eq!((status.phase, status.is("Ready")), (Phase::Deployed, true));
    assert_eq!(drifted(&status).0, Truth::Unknown);
    assert_eq!(world.cluster.log(), [""; 0]);
}

#[tokio::test]
async fn a_cluster_that_is_away_for_a_while_changes_nothing() {
    let world = deployed(Reconcile::Enforce).await;
    let before = world.records.all();
    world.records.writes();
    let counting = Fuse::new(Fault::FailBefore, usize::MAX);
    world.deployer(&counting).pass("demo", "app", None).await;
    for at in 0..counting.steps() {
        let fuse = Fuse::new(Fault::FailBefore, at);
        let (next, _) = world.deployer(&fuse).pass("demo", "app", None).await;
        assert!(matches!(next, Next::Retry | Next::RetryAfter(AFTER)), "at {at}: {next:?}");
    }
    assert_eq!((world.records.all(), world.records.writes()), (before, 0));
}

#[tokio::test]
async fn what_was_ready_and_is_lost_in_the_middle_is_applied_again() {
    let world = World::slow();
    world.cluster.stick("web");
    let text = GUESTBOOK.replace("outputs:", "- name: last\n  type: ConfigMap\n  metadata: { dependsOn: [web] }\n  properties: { apiVersion: v1, data: { ip: $(ref.backend.spec.clusterIP) } }\noutputs:");
    world.records.create("app", spec(&text));
    for _ in 0..5 {
        world.pass("app").await;
        world.wait(std::time::Duration::from_secs(1));
    }
    world.cluster.lose(&target("Service", "demo", "backend"));
    world.cluster.unstick("web");
    world.settle("app").await;
    let status = world.status("app");
    assert_eq!(status.phase, Phase::Deployed, "{}", complaint(&status));
    assert_eq!(states(&status), "settings=Ready backend=Ready web=Ready last=Ready");
    assert!(world.cluster.see(&target("Service", "demo", "backend")).is_some());
}
