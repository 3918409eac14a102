//! What would be done is said, and nothing is done or written.

use crate::cluster::{ClusterError, Verb};
use crate::deployer::{PreviewError, Previewed};
use crate::twin::{ALICE, BOB, Fault, Fuse, World, requester, spec};
use crate::types::{Spec, Status};

const ONE: &str =
    "resources:\n- name: a\n  type: ConfigMap\n  properties: {apiVersion: v1, data: {v: '1'}}\n";
const OTHER: &str =
    "resources:\n- name: b\n  type: ConfigMap\n  properties: {apiVersion: v1, data: {v: '1'}}\n";

async fn previewed(world: &World, name: &str, spec: Spec) -> Result<Previewed, PreviewError> {
    world.deployer(&Fuse::new(Fault::Never, 0)).preview("demo", name, spec).await
}

async fn preview(world: &World, name: &str, spec: Spec) -> Result<Status, PreviewError> {
    previewed(world, name, spec).await.map(|previewed| previewed.status)
}

fn actions(status: &Status) -> Vec<String> {
    status.preview.iter().map(|it| format!("{} {:?}", it.name, it.action)).collect()
}

#[tokio::test]
async fn of_what_is_not_there_all_would_be_created() {
    let world = World::new();
    let status = preview(&world, "new", spec(ONE)).await.unwrap();
    assert_eq!(actions(&status), ["a Create"]);
    assert!(world.records.all().is_empty() && world.cluster.log().is_empty());
}

#[tokio::test]
async fn what_is_there_would_be_changed_and_is_not() {
    let world = World::new();
    world.deploy("app", spec(ONE)).await;
    let (before, objects) = (world.status("app"), world.cluster.all());
    world.cluster.log();
    assert_eq!(
        actions(&preview(&world, "app", spec(OTHER)).await.unwrap()),
        ["b Create", "a Delete"]
    );
    assert_eq!(actions(&preview(&world, "app", spec(ONE)).await.unwrap()), ["a None"]);
    let paused = Spec { paused: true, ..spec(OTHER) };
    assert_eq!(preview(&world, "app", paused).await.unwrap().preview.len(), 2, "it would go on");
    assert_eq!((world.status("app"), world.cluster.all()), (before, objects));
    assert_eq!((world.cluster.log(), world.records.names()), (vec![], vec!["app-1".to_owned()]));
}

#[tokio::test]
async fn what_keeps_it_from_being_done_stands_in_the_conditions() {
    let world = World::new();
    let status = preview(&world, "app", spec("resources: [{name: a, type: T}]")).await.unwrap();
    assert!(status.condition("Planned").unwrap().message.contains("apiVersion"), "{status:?}");
    world.cluster.deny(ALICE, Verb::Create, "configmaps", "demo");
    let status = preview(&world, "app", spec(ONE)).await.unwrap();
    assert!(status.condition("Authorized").unwrap().message.contains("alice may not create"));
    assert!(status.preview.is_empty());
}

#[tokio::test]
async fn who_may_not_read_a_deployment_is_told_nothing_of_it() {
    let world = World::new();
    world.deploy("app", spec(ONE)).await;
    world.cluster.deny(BOB, Verb::Get, "deployments", "demo");
    let spec = Spec { requester: requester(BOB), ..spec(OTHER) };
    let error = preview(&world, "app", spec).await.unwrap_err();
    assert!(
        matches!(&error, PreviewError::Forbidden(why) if why.contains("bob may not get")),
        "{error}"
    );
    assert!(!matches!(error, PreviewError::Cluster(ClusterError::Forbidden(_))));
}

#[tokio::test]
async fn who_may_not_read_the_manifest_is_warned_where_an_update_would_use_its_files() {
    let world = World::new();
    world.deploy("app", spec(ONE)).await;
    world.cluster.deny(BOB, Verb::Get, "manifests", "demo");
    let warnings = async |name: &str, spec: Spec| {
        let spec = Spec { requester: requester(name), ..spec };
        previewed(&world, "app", spec).await.unwrap().warnings
    };
    assert_eq!(warnings(BOB, spec(OTHER)).await, [""; 0], "it has nothing that was fetched");
    world.records.fetch("app-1");
    let told = warnings(BOB, spec(OTHER)).await;
    assert!(matches!(&*told, [one] if one.contains("bob may not get manifests")), "{told:?}");
    assert_eq!(warnings(ALICE, spec(OTHER)).await, [""; 0]);
    let anew = Spec { refresh: Some("2".to_owned()), ..spec(OTHER) };
    assert_eq!(warnings(BOB, anew).await, [""; 0], "an update would fetch, too");
}
