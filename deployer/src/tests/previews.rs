//! What would be done is said, and nothing is done or written.

use crate::cluster::{ClusterError, Verb};
use crate::deployer::PreviewError;
use crate::twin::{ALICE, BOB, Fault, Fuse, World, requester, spec};
use crate::types::{Spec, Status};

const ONE: &str =
    "resources:\n- name: a\n  type: ConfigMap\n  properties: {apiVersion: v1, data: {v: '1'}}\n";
const OTHER: &str =
    "resources:\n- name: b\n  type: ConfigMap\n  properties: {apiVersion: v1, data: {v: '1'}}\n";

async fn preview(world: &World, name: &str, spec: Spec) -> Result<Status, PreviewError> {
    world.deployer(&Fuse::new(Fault::Never, 0)).preview("demo", name, spec).await
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
