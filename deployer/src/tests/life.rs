//! Create, update, roll back, preview, pause and delete, when nothing goes wrong.

use super::{complaint, states};
use crate::pass::Next;
use crate::twin::{World, spec, target};
use crate::types::{DeletePolicy, Kind, Phase};

pub(super) const GUESTBOOK: &str = r"
resources:
- name: settings
  type: ConfigMap
  properties:
    apiVersion: v1
    data: { address: $(ref.backend.spec.clusterIP), port: '$(ref.backend.spec.port)' }
- name: backend
  type: Service
  properties:
    apiVersion: v1
    spec: { port: 6379 }
- name: web
  type: Deployment
  metadata: { dependsOn: [settings] }
  properties:
    apiVersion: apps/v1
    spec: { replicas: 3, port: $(ref.backend.spec.port) }
outputs:
- name: ip
  value: $(ref.backend.spec.clusterIP)
- name: text
  value: at $(ref.backend.spec.clusterIP)
";

/// The same with the service called otherwise, and more replicas.
pub(super) fn renamed() -> String {
    GUESTBOOK.replace("backend", "redis").replace("replicas: 3", "replicas: 5")
}

#[tokio::test]
async fn a_deployment_is_created_in_waves_and_values_are_typed() {
    let world = World::slow();
    let status = world.deploy("guestbook", spec(GUESTBOOK)).await;
    assert_eq!(status.phase, Phase::Deployed, "{status:#?}");
    assert_eq!(
        world.cluster.log(),
        [
            "create Service demo/backend",
            "create ConfigMap demo/settings",
            "create Deployment demo/web"
        ]
    );
    let settings = world.cluster.see(&target("ConfigMap", "demo", "settings")).unwrap();
    let backend = world.cluster.see(&target("Service", "demo", "backend")).unwrap();
    let ip = backend["spec"]["clusterIP"].as_str().unwrap();
    assert!(ip.starts_with("10.0.0."), "{ip}");
    assert_eq!(settings["data"]["address"], ip);
    assert_eq!(settings["data"]["port"], 6379, "a value keeps its type");
    let metadata = &settings["metadata"];
    assert_eq!(metadata["labels"]["dm.formwork.dev/deployment-uid"], "uid-of-guestbook");
    assert_eq!(metadata["annotations"]["dm.formwork.dev/deployment"], "demo/guestbook");
    assert_eq!(metadata["annotations"]["dm.formwork.dev/resource"], "settings");

    let outputs = status.outputs.iter().map(|output| format!("{}={}", output.name, output.value));
    let want = [format!("ip=\"{ip}\""), format!("text=\"at {ip}\"")];
    assert_eq!(outputs.collect::<Vec<_>>(), want);
    assert_eq!(states(&status), "settings=Ready backend=Ready web=Ready");
    assert!(status.resources.iter().all(|resource| !resource.uid.is_empty()));
    let operation = status.operation.unwrap();
    assert_eq!((operation.kind, operation.done, operation.total), (Kind::Create, 3, 3));
    assert_eq!((operation.wave, operation.waves), (3, 3));
    assert!(operation.end_time.is_some());
    assert_eq!(status.deployed.as_deref(), Some("guestbook-1"));
    assert_eq!(world.records.names(), ["guestbook-1"]);
    assert_eq!(world.records.events(), ["guestbook Created: Manifest guestbook-1 is deployed"]);
}

#[tokio::test]
async fn a_wave_waits_until_the_one_before_is_ready() {
    let world = World::slow();
    let text = GUESTBOOK.replace("dependsOn: [settings]", "dependsOn: []");
    let text = text.replace("outputs:", "- name: last\n  type: Secret\n  metadata: { dependsOn: [web] }\n  properties: { apiVersion: v1 }\noutputs:");
    world.cluster.stick("web");
    world.records.create("guestbook", spec(&text));
    for _ in 0..20 {
        assert!(matches!(world.pass("guestbook").await, Next::After(_)));
        world.wait(std::time::Duration::from_secs(1));
    }
    assert!(world.cluster.see(&target("Secret", "demo", "last")).is_none());
    let status = world.status("guestbook");
    assert_eq!(states(&status), "settings=Ready backend=Ready web=Applied last=Pending");
    let told = complaint(&status);
    assert!(told.contains("web (Deployment demo/web): 0 of 3 replicas are available"), "{told}");
    world.cluster.unstick("web");
    world.settle("guestbook").await;
    assert_eq!(world.status("guestbook").phase, Phase::Deployed);
    assert!(world.cluster.see(&target("Secret", "demo", "last")).is_some());
}

#[tokio::test]
async fn an_update_prunes_what_was_renamed_only_after_full_success() {
    let world = World::slow();
    world.deploy("guestbook", spec(GUESTBOOK)).await;
    world.cluster.log();
    world.cluster.stick("web");
    world.records.change("guestbook", |spec| spec.configuration = Some(renamed()));
    for _ in 0..5 {
        world.pass("guestbook").await;
        world.wait(std::time::Duration::from_secs(1));
    }
    let old = target("Service", "demo", "backend");
    assert!(world.cluster.see(&old).is_some(), "web is not ready yet");
    let status = world.status("guestbook");
    assert_eq!(states(&status), "settings=Ready redis=Ready web=Applied backend=Obsolete");
    world.cluster.unstick("web");
    world.settle("guestbook").await;
    assert!(world.cluster.see(&old).is_none());
    assert_eq!(
        world.cluster.log(),
        [
            "create Service demo/redis",
            "apply ConfigMap demo/settings",
            "apply Deployment demo/web",
            "delete Service demo/backend"
        ]
    );
    let web = world.cluster.see(&target("Deployment", "demo", "web")).unwrap();
    assert_eq!(web["spec"]["replicas"], 5);
    let status = world.status("guestbook");
    assert_eq!(states(&status), "settings=Ready redis=Ready web=Ready");
    assert_eq!(status.operation.unwrap().kind, Kind::Update);
    assert_eq!(status.deployed.as_deref(), Some("guestbook-2"));
}

#[tokio::test]
async fn a_field_that_is_no_longer_wanted_goes() {
    let world = World::new();
    let text = |data: &str| {
        format!(
            "resources: [{{name: c, type: ConfigMap, properties: {{apiVersion: v1, data: {data}}}}}]"
        )
    };
    world.deploy("one", spec(&text("{a: x, b: y}"))).await;
    world.configure("one", &text("{b: z}")).await;
    let map = world.cluster.see(&target("ConfigMap", "demo", "c")).unwrap();
    assert_eq!(map["data"], serde_json::json!({ "b": "z" }));
}

#[tokio::test]
async fn a_rollback_applies_an_earlier_manifest_as_a_new_one() {
    let world = World::new();
    world.deploy("guestbook", spec(GUESTBOOK)).await;
    let before = world.cluster.all();
    world.configure("guestbook", &renamed()).await;
    let back = |spec: &mut crate::types::Spec| spec.roll_back_to = Some("guestbook-1".to_owned());
    let status = world.update("guestbook", back).await;
    assert_eq!(status.phase, Phase::Deployed, "{}", complaint(&status));
    assert_eq!(world.cluster.all(), before);
    assert_eq!(status.operation.unwrap().kind, Kind::Rollback);
    assert_eq!(status.deployed.as_deref(), Some("guestbook-3"));
    // To the one that is current; and to one that never was.
    let again = |spec: &mut crate::types::Spec| spec.roll_back_to = Some("guestbook-3".to_owned());
    let status = world.update("guestbook", again).await;
    assert_eq!(status.deployed.as_deref(), Some("guestbook-4"));
    assert_eq!(world.cluster.all(), before);
    let never = |spec: &mut crate::types::Spec| spec.roll_back_to = Some("guestbook-9".to_owned());
    let status = world.update("guestbook", never).await;
    assert_eq!(status.phase, Phase::Failed);
    let want = "NotFound: spec.rollBackTo: this Deployment has no Manifest guestbook-9";
    assert_eq!(complaint(&status), want);
    assert_eq!(status.deployed.as_deref(), Some("guestbook-4"));
}

#[tokio::test]
async fn a_preview_shows_and_changes_nothing() {
    let world = World::new();
    let preview = |text: &str| crate::types::Spec { preview: true, ..spec(text) };
    let status = world.deploy("guestbook", preview(GUESTBOOK)).await;
    assert_eq!(status.phase, Phase::Previewed, "{}", complaint(&status));
    assert_eq!(world.cluster.log(), [""; 0]);
    assert_eq!(world.records.names(), [""; 0]);
    let actions = |status: &crate::types::Status| {
        let action =
            |preview: &crate::types::Preview| format!("{} {:?}", preview.name, preview.action);
        status.preview.iter().map(action).collect::<Vec<_>>()
    };
    assert_eq!(actions(&status), ["settings Create", "backend Create", "web Create"]);
    assert!(status.preview[1].diff.contains("+  port: 6379"), "{}", status.preview[1].diff);
    let unknown = status.preview[0].unknown.as_deref().unwrap();
    assert!(unknown.contains("waits for $(ref.backend.spec.clusterIP)"), "{unknown}");

    world.update("guestbook", |spec| spec.preview = false).await;
    let before = world.cluster.all();
    world.cluster.log();
    let status = world
        .update("guestbook", |spec| {
            *spec = preview(&renamed().replace("replicas: 5", "replicas: 3"));
        })
        .await;
    assert_eq!(
        actions(&status),
        ["settings Update", "redis Create", "web Update", "backend Delete"],
        "a port that is not known yet may change"
    );
    assert_eq!((world.cluster.all(), world.cluster.log()), (before, vec![]));
    assert_eq!(world.settle("guestbook").await, Next::Idle);

    let status = world.update("guestbook", |spec| *spec = preview(GUESTBOOK)).await;
    assert_eq!(actions(&status), ["settings None", "backend None", "web None"]);
    let acquired = crate::types::CreatePolicy::Acquire;
    let status = world
        .update("guestbook", |spec| {
            *spec = preview(&renamed());
            spec.create_policy = acquired;
        })
        .await;
    let error = status.preview[1].error.as_deref().unwrap();
    assert!(error.contains("spec.createPolicy is Acquire"), "{error}");
}

#[tokio::test]
async fn a_pause_in_the_middle_stops_and_goes_on() {
    let world = World::slow();
    world.records.create("guestbook", spec(GUESTBOOK));
    world.pass("guestbook").await;
    world.records.change("guestbook", |spec| spec.paused = true);
    world.cluster.log();
    assert_eq!(world.settle("guestbook").await, Next::Idle);
    let status = world.status("guestbook");
    assert_eq!((status.phase, world.cluster.log()), (Phase::Paused, vec![]));
    let status = world.update("guestbook", |spec| spec.paused = false).await;
    assert_eq!(status.phase, Phase::Deployed, "{}", complaint(&status));
    world.records.change("guestbook", |spec| spec.paused = true);
    world.records.end("guestbook", "alice");
    world.settle("guestbook").await;
    assert!(world.records.find("guestbook").is_none(), "a pause does not keep it from its end");
}

#[tokio::test]
async fn a_deletion_goes_backwards_and_waits() {
    let world = World::slow();
    world.deploy("guestbook", spec(GUESTBOOK)).await;
    world.cluster.log();
    world.cluster.hold("web");
    world.records.end("guestbook", "alice");
    for _ in 0..5 {
        assert!(matches!(world.pass("guestbook").await, Next::After(_)));
        world.wait(std::time::Duration::from_secs(1));
    }
    assert_eq!(world.cluster.log(), ["delete Deployment demo/web"]);
    let status = world.status("guestbook");
    assert_eq!(status.phase, Phase::Deleting);
    let operation = status.operation.as_ref().unwrap();
    assert_eq!((operation.kind, operation.done, operation.total), (Kind::Delete, 0, 3));
    assert_eq!(complaint(&status), "Deleting: waits until it is gone: Deployment demo/web");
    world.cluster.unhold("web");
    world.settle("guestbook").await;
    assert_eq!(
        world.cluster.log(),
        ["delete ConfigMap demo/settings", "delete Service demo/backend"]
    );
    assert!(world.records.all().is_empty(), "{:?}", world.records.all());
}

#[tokio::test]
async fn what_is_abandoned_stays_and_belongs_to_nobody() {
    let world = World::new();
    let policy = DeletePolicy::Abandon;
    let abandoning = crate::types::Spec { delete_policy: policy, ..spec(GUESTBOOK) };
    world.deploy("guestbook", abandoning).await;
    world.configure("guestbook", &renamed()).await;
    let old = world.cluster.see(&target("Service", "demo", "backend")).unwrap();
    assert_eq!(old["metadata"].get("labels"), Some(&serde_json::json!({})));
    world.records.end("guestbook", "alice");
    world.settle("guestbook").await;
    assert!(world.records.all().is_empty());
    for (kind, name) in [("Service", "redis"), ("ConfigMap", "settings"), ("Deployment", "web")] {
        let left = world.cluster.see(&target(kind, "demo", name)).unwrap();
        assert!(!left.to_string().contains("dm.formwork.dev"), "{left}");
    }
}

#[tokio::test]
async fn a_deployment_of_nothing_is_deployed_and_goes() {
    let world = World::new();
    let status = world.deploy("empty", spec("resources: []")).await;
    assert_eq!((status.phase, states(&status).as_str()), (Phase::Deployed, ""));
    world.deploy("guestbook", spec(GUESTBOOK)).await;
    let status = world.configure("guestbook", "resources: []").await;
    assert_eq!((status.phase, states(&status).as_str()), (Phase::Deployed, ""));
    assert!(world.cluster.see(&target("Service", "demo", "backend")).is_none());
    for name in ["empty", "guestbook"] {
        world.records.end(name, "alice");
        world.settle(name).await;
    }
    assert!(world.records.all().is_empty());
}

#[tokio::test]
async fn history_is_as_long_as_wanted_and_what_is_in_use_stays() {
    let world = World::new();
    let text = |replicas: usize| GUESTBOOK.replace("replicas: 3", &format!("replicas: {replicas}"));
    let limited = crate::types::Spec { revision_history_limit: Some(2), ..spec(&text(1)) };
    world.deploy("guestbook", limited).await;
    for replicas in 2..=5 {
        world.configure("guestbook", &text(replicas)).await;
    }
    assert_eq!(world.records.names(), ["guestbook-3", "guestbook-4", "guestbook-5"]);
    // Those that never get anywhere do not push out the one that is deployed.
    world.cluster.deny("alice", crate::Verb::Patch, "services", "");
    for replicas in 6..=9 {
        world.configure("guestbook", &text(replicas)).await;
    }
    let names = world.records.names();
    assert_eq!(names, ["guestbook-5", "guestbook-7", "guestbook-8", "guestbook-9"]);
    world.cluster.allow_all();
    world.settle("guestbook").await;
    assert_eq!(world.records.names(), ["guestbook-7", "guestbook-8", "guestbook-9"]);
}

#[tokio::test]
async fn nothing_is_written_when_nothing_changes() {
    let world = World::new();
    world.deploy("guestbook", spec(GUESTBOOK)).await;
    world.deploy("failing", spec("resources: [{name: a, type: Nothing}]")).await;
    world.records.writes();
    world.cluster.log();
    for _ in 0..10 {
        for name in ["guestbook", "failing"] {
            world.pass(name).await;
        }
        world.wait(std::time::Duration::from_secs(300));
    }
    assert_eq!((world.records.writes(), world.cluster.log()), (0, vec![]));
}

#[tokio::test]
async fn a_manifest_that_somebody_deletes_is_made_again() {
    let world = World::new();
    let before = world.deploy("guestbook", spec(GUESTBOOK)).await;
    world.records.lose("guestbook-1");
    world.settle("guestbook").await;
    assert_eq!(world.records.names(), ["guestbook-1"]);
    let status = world.status("guestbook");
    assert_eq!((status.phase, states(&status)), (Phase::Deployed, states(&before)));
}

#[tokio::test]
async fn a_thousand_resources_are_deployed_and_deleted() {
    let world = World::new();
    let one = |at: usize| {
        let first = at == 0;
        let data = if first { "{a: b}".to_owned() } else { "{a: $(ref.c0.data.a)}".to_owned() };
        format!(
            "- {{name: c{at}, type: ConfigMap, properties: {{apiVersion: v1, data: {data}}}}}\n"
        )
    };
    let text = format!("resources:\n{}", (0..1000).map(one).collect::<String>());
    let status = world.deploy("many", spec(&text)).await;
    assert_eq!(status.phase, Phase::Deployed, "{}", complaint(&status));
    assert_eq!(status.operation.unwrap().done, 1000);
    world.records.end("many", "alice");
    world.settle("many").await;
    assert!(world.records.all().is_empty());
}
