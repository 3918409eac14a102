//! What fails stops, keeps what there is, says so, and goes on when the reason is gone.

use std::time::Duration;

use serde_json::json;

use super::life::{GUESTBOOK, renamed};
use super::{complaint, states};
use crate::cluster::Verb;
use crate::pass::Next;
use crate::twin::{AFTER, ALICE, Fault, Fuse, World, spec, target};
use crate::types::{Phase, Spec};

/// A configuration whose second wave the cluster refuses.
fn broken() -> String {
    renamed().replace("data: {", "data: { invalid: true,")
}

#[tokio::test]
async fn what_templates_were_given_is_in_no_event() {
    let world = World::new();
    let status = world.deploy("app", spec("resources: [{name: a, hunter2: }]]")).await;
    assert!(!status.is("Expanded") && !complaint(&status).is_empty());
    let events = world.records.events();
    assert!(events.len() == 1 && events[0].contains("cannot be expanded"), "{events:?}");
    let condition = status.condition("Expanded").map(|expanded| expanded.message.clone());
    assert!(!events[0].contains(&condition.unwrap()), "{events:?}");
}

#[tokio::test]
async fn what_failed_is_not_tried_again_before_the_cluster_wants_it() {
    let mut ends = Vec::new();
    // Reading the Deployment; finding out what a ConfigMap is; and a review.
    for step in [0, 1, 6] {
        let world = World::new();
        world.records.create("app", spec(GUESTBOOK));
        let deployer = world.deployer(&Fuse::new(Fault::FailBefore, step));
        ends.push(deployer.pass("demo", "app", None).await.0);
    }
    assert_eq!(ends, [Next::Retry, Next::RetryAfter(AFTER), Next::RetryAfter(AFTER)]);
}

#[tokio::test]
async fn what_the_cluster_says_of_a_secret_is_in_no_event() {
    let world = World::new();
    let secret = "resources: [{name: s, type: Secret, properties: {apiVersion: v1, data: {invalid: hunter2}}}]";
    let status = world.deploy("app", spec(secret)).await;
    assert!(complaint(&status).contains("data.invalid"), "{}", complaint(&status));
    let told = "app Failed: s (Secret demo/s): why is said by the condition Applied";
    assert_eq!(world.records.events(), [told]);
}

#[tokio::test]
async fn a_failed_update_keeps_everything_and_goes_on_when_the_spec_is_mended() {
    let world = World::new();
    world.deploy("app", spec(GUESTBOOK)).await;
    world.records.events();
    let status = world.configure("app", &broken()).await;
    assert_eq!((status.phase, status.deployed.as_deref()), (Phase::Failed, Some("app-1")));
    let told = "Failed: settings (ConfigMap demo/settings): data.invalid: Invalid value";
    assert_eq!(complaint(&status), told);
    assert_eq!(states(&status), "settings=Failed redis=Ready web=Pending backend=Obsolete");
    assert!(world.cluster.see(&target("Service", "demo", "backend")).is_some());
    let web = world.cluster.see(&target("Deployment", "demo", "web")).unwrap();
    assert_eq!(web["spec"]["replicas"], 3, "what comes after is not touched");
    assert_eq!(world.records.events().len(), 1, "it is told once");
    world.records.writes();
    world.settle("app").await;
    assert_eq!(world.records.writes(), 0, "and written once");

    let status = world.configure("app", &renamed()).await;
    assert_eq!(status.phase, Phase::Deployed, "{}", complaint(&status));
    assert!(world.cluster.see(&target("Service", "demo", "backend")).is_none());
}

#[tokio::test]
async fn a_failed_update_that_is_taken_back_leaves_nothing_of_it() {
    let world = World::new();
    world.deploy("app", spec(GUESTBOOK)).await;
    let before = world.cluster.all();
    world.configure("app", &broken()).await;
    assert!(world.cluster.see(&target("Service", "demo", "redis")).is_some());
    world.configure("app", GUESTBOOK).await;
    assert_eq!(world.cluster.all(), before);
}

#[tokio::test]
async fn what_fails_goes_on_by_itself_when_the_world_is_mended() {
    let world = World::new();
    let text = "resources: [{name: c, type: ConfigMap, properties: {apiVersion: v1, metadata: {namespace: new}}}]";
    let status = world.deploy("app", spec(text)).await;
    assert_eq!(status.phase, Phase::Failed);
    assert_eq!(complaint(&status), "Failed: c (ConfigMap new/c): no namespace new");
    world.cluster.put(&target("Namespace", "", "new"), &json!({}));
    world.settle("app").await;
    assert_eq!(world.status("app").phase, Phase::Deployed);
}

#[tokio::test]
async fn who_waits_too_long_fails_and_goes_on_when_it_is_ready() {
    let world = World::slow();
    world.cluster.stick("web");
    let limited = Spec { timeout_seconds: Some(60), ..spec(GUESTBOOK) };
    world.records.create("app", limited);
    let mut waited = 0;
    loop {
        match world.pass("app").await {
            Next::After(time) => {
                waited += time.as_secs();
                world.wait(time);
            }
            next => {
                assert_eq!(next, Next::Retry);
                break;
            }
        }
    }
    assert!((60..70).contains(&waited), "{waited}");
    let status = world.status("app");
    assert_eq!(status.phase, Phase::Failed);
    let told = "Timeout: web (Deployment demo/web): 0 of 3 replicas are available";
    assert_eq!(complaint(&status), told);
    world.cluster.unstick("web");
    world.settle("app").await;
    assert_eq!(world.status("app").phase, Phase::Deployed);
}

#[tokio::test]
async fn an_output_that_never_is_there_times_out() {
    let world = World::new();
    let text = GUESTBOOK
        .replace("value: $(ref.backend.spec.clusterIP)", "value: $(ref.backend.status.ip)");
    world.records.create("app", spec(&text));
    world.settle("app").await;
    let told = complaint(&world.status("app"));
    assert!(told.starts_with("Timeout: waits for $(ref.backend.status.ip)"), "{told}");
    world.cluster.edit(&target("Service", "demo", "backend"), &json!({ "status": { "ip": "x" } }));
    world.settle("app").await;
    assert_eq!(world.status("app").outputs[0].value, "x");
}

#[tokio::test]
async fn what_cannot_be_deleted_in_time_is_said() {
    let world = World::slow();
    world.deploy("app", spec(GUESTBOOK)).await;
    world.cluster.hold("web");
    world.records.end("app", ALICE);
    world.settle("app").await;
    let told = complaint(&world.status("app"));
    assert_eq!(told, "Timeout: waits until it is gone: Deployment demo/web");
    world.cluster.unhold("web");
    world.settle("app").await;
    assert!(world.records.find("app").is_none());
}

const CRD: &str = r"
- name: crontabs.example.com
  type: CustomResourceDefinition
  properties:
    apiVersion: apiextensions.k8s.io/v1
    spec:
      group: example.com
      scope: Namespaced
      names: { kind: Crontab, plural: crontabs }
      versions: [{ name: v1 }]
";
const CRONTAB: &str = "- { name: nightly, type: Crontab, properties: { apiVersion: example.com/v1, spec: { at: 3 } } }";

#[tokio::test]
async fn a_kind_that_is_not_there_is_waited_for() {
    let world = World::new();
    let status = world.deploy("app", spec(&format!("resources:\n{CRONTAB}"))).await;
    assert_eq!(status.phase, Phase::Failed);
    let told = complaint(&status);
    assert_eq!(told, "NotFound: resource nightly: the cluster has no kind example.com/v1 Crontab");
    assert_eq!(world.records.names(), [""; 0]);
    world.deploy("crd", spec(&format!("resources:{CRD}"))).await;
    world.settle("app").await;
    assert_eq!(world.status("app").phase, Phase::Deployed);
    assert!(world.cluster.see(&target("Crontab", "demo", "nightly")).is_some());
}

#[tokio::test]
async fn a_definition_and_its_objects_are_deployed_and_deleted_together() {
    let world = World::slow();
    world.cluster.stick("crontabs.example.com");
    world.records.create("app", spec(&format!("resources:\n{CRONTAB}{CRD}")));
    for _ in 0..5 {
        world.pass("app").await;
        world.wait(Duration::from_secs(1));
    }
    assert_eq!(states(&world.status("app")), "nightly=Pending crontabs.example.com=Applied");
    world.cluster.unstick("crontabs.example.com");
    world.settle("app").await;
    assert_eq!(world.status("app").phase, Phase::Deployed);
    world.cluster.log();
    world.records.end("app", ALICE);
    world.settle("app").await;
    let definition = "delete CustomResourceDefinition crontabs.example.com";
    assert_eq!(world.cluster.log(), ["delete Crontab demo/nightly", definition]);
}

#[tokio::test]
async fn a_preview_knows_what_the_plan_itself_brings() {
    let world = World::new();
    let text = format!(
        "resources:\n{CRONTAB}{CRD}- {{name: new, type: Namespace, properties: {{apiVersion: v1}}}}\n- {{name: c, type: ConfigMap, properties: {{apiVersion: v1, metadata: {{namespace: new}}}}}}"
    );
    let status = world.deploy("app", Spec { preview: true, ..spec(&text) }).await;
    for preview in &status.preview {
        assert_eq!((preview.action, &preview.error), (crate::types::Action::Create, &None));
    }
}

#[tokio::test]
async fn an_object_with_two_names_is_not_pruned_by_the_other() {
    // One object that the cluster serves in two groups, as Ingress and Event are or were.
    let world = World::new();
    world.deploy("app", spec(GUESTBOOK)).await;
    let mut stored = world.find("app");
    let twin = crate::types::Resource {
        state: crate::types::State::Obsolete,
        name: "old".to_owned(),
        ..stored.status.resources[0].clone()
    };
    let mut status = stored.status.clone();
    status.resources[0].target.resource = "old".to_owned();
    status.resources.push(twin);
    status.phase = Phase::Applying;
    stored.status = status.clone();
    crate::Records::write_status(&*world.records, &world.find("app"), &status).await.unwrap();
    world.settle("app").await;
    assert!(world.cluster.see(&target("ConfigMap", "demo", "settings")).is_some());
    assert_eq!(states(&world.status("app")), "settings=Ready backend=Ready web=Ready");
}

#[tokio::test]
async fn values_that_are_too_large_together_are_not_brought_in() {
    let world = World::new();
    let large = "x".repeat(100_000);
    let uses: String = (0..50).map(|at| format!("k{at}: '$(ref.a.data.v)', ")).collect();
    let text = format!(
        "resources:\n- {{name: a, type: ConfigMap, properties: {{apiVersion: v1, data: {{v: {large}}}}}}}\n- {{name: b, type: ConfigMap, properties: {{apiVersion: v1, data: {{{uses}}}}}}}"
    );
    let status = world.deploy("app", spec(&text)).await;
    assert!(
        complaint(&status).contains("the values of its references exceed"),
        "{}",
        complaint(&status)
    );
    assert!(world.cluster.see(&target("ConfigMap", "demo", "b")).is_none());
}

#[tokio::test]
async fn a_status_that_cannot_be_stored_says_so() {
    let world = World::new();
    world.records.limit(700);
    let status = world.deploy("app", spec(GUESTBOOK)).await;
    assert_eq!(status.phase, Phase::Failed);
    assert!(complaint(&status).starts_with("Refused: the status cannot be written"), "{status:?}");
    assert_eq!(world.cluster.log(), [""; 0], "what is not written down is not done");
    world.records.limit(1_000_000);
    world.settle("app").await;
    assert_eq!(world.status("app").phase, Phase::Deployed);
}

#[tokio::test]
async fn a_right_that_comes_back_is_used() {
    let world = World::new();
    world.cluster.deny(ALICE, Verb::Create, "services", "");
    world.deploy("app", spec(GUESTBOOK)).await;
    assert_eq!(world.status("app").phase, Phase::Failed);
    world.cluster.allow_all();
    world.settle("app").await;
    assert_eq!(world.status("app").phase, Phase::Deployed);
}
