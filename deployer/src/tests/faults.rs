//! Every step of every operation is broken once, in each way that there is, and the world has to end
//! as it does undisturbed.
//!
//! What the steps are nobody lists here: an undisturbed run counts them.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::twin::{ALICE, Fault, Fuse, World, spec, target};
use crate::types::DeletePolicy;

const BEFORE: &str = r"
resources:
- name: space
  type: Namespace
  properties: { apiVersion: v1 }
- name: settings
  type: ConfigMap
  properties:
    apiVersion: v1
    metadata: { namespace: space }
    data: { address: $(ref.backend.spec.clusterIP) }
- name: backend
  type: Service
  properties: { apiVersion: v1, spec: { port: 1 } }
- name: web
  type: Deployment
  metadata: { dependsOn: [settings] }
  properties: { apiVersion: apps/v1, spec: { replicas: 1 } }
outputs:
- name: address
  value: $(ref.backend.spec.clusterIP)
";

const AFTER: &str = r"
resources:
- name: space
  type: Namespace
  properties: { apiVersion: v1 }
- name: web
  type: Deployment
  metadata: { dependsOn: [front] }
  properties: { apiVersion: apps/v1, spec: { replicas: 3 } }
- name: front
  type: Service
  properties: { apiVersion: v1, spec: { port: 2 } }
- name: left
  type: Secret
  properties: { apiVersion: v1, stringData: { address: $(ref.front.spec.clusterIP) } }
outputs:
- name: address
  value: $(ref.front.spec.clusterIP)
";

/// An operation, and what has to be there before it.
#[derive(Clone, Copy)]
struct Scenario {
    before: fn(&World) -> BoxFuture<'_, ()>,
    begin: fn(&World),
}

fn nothing(_: &World) -> BoxFuture<'_, ()> {
    Box::pin(async {})
}

fn deployed(world: &World) -> BoxFuture<'_, ()> {
    Box::pin(async move { _ = world.deploy("app", spec(BEFORE)).await })
}

fn halfway(world: &World) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        world.records.create("app", spec(BEFORE));
        world.pass("app").await;
        world.wait(std::time::Duration::from_secs(1));
        world.pass("app").await;
    })
}

const CREATE: Scenario =
    Scenario { before: nothing, begin: |world| world.records.create("app", spec(BEFORE)) };
const UPDATE: Scenario = Scenario { before: deployed, begin: update };
const SUPERSEDE: Scenario = Scenario { before: halfway, begin: update };
const DELETE: Scenario =
    Scenario { before: deployed, begin: |world| world.records.end("app", ALICE) };
const DELETE_HALFWAY: Scenario =
    Scenario { before: halfway, begin: |world| world.records.end("app", ALICE) };
const ABANDON: Scenario = Scenario {
    before: deployed,
    begin: |world| {
        world.records.change("app", |spec| spec.delete_policy = DeletePolicy::Abandon);
        update(world);
    },
};
const ROLL_BACK: Scenario = Scenario {
    before: |world| {
        Box::pin(async move {
            deployed(world).await;
            world.configure("app", AFTER).await;
        })
    },
    begin: |world| {
        world.records.change("app", |spec| spec.roll_back_to = Some("app-1".to_owned()));
    },
};
const NO_HISTORY: Scenario = Scenario {
    before: deployed,
    begin: |world| {
        world.records.change("app", |spec| {
            spec.revision_history_limit = Some(0);
            spec.configuration = Some(AFTER.to_owned());
        });
    },
};

fn update(world: &World) {
    world.records.change("app", |spec| spec.configuration = Some(AFTER.to_owned()));
}

/// What is foreign, and has to stay as it is.
fn foreign() -> [crate::Target; 3] {
    [
        target("ConfigMap", "demo", "foreign"),
        target("Service", "demo", "of-another"),
        target("ConfigMap", "demo", "backend"),
    ]
}

impl Scenario {
    async fn world(&self) -> World {
        let world = World::slow();
        let [plain, owned, alike] = foreign();
        world.cluster.put(&plain, &json!({ "data": { "a": "b" } }));
        world.cluster.put(&alike, &json!({ "data": { "a": "b" } }));
        let label = json!({ "dm.formwork.dev/deployment-uid": "uid-of-another" });
        world.cluster.put(&owned, &json!({ "metadata": { "labels": label } }));
        (self.before)(&world).await;
        (self.begin)(&world);
        world.cluster.tick();
        world
    }

    /// How many steps there are, and how it ends.
    async fn undisturbed(&self, fault: Fault) -> (usize, BTreeMap<String, Value>) {
        let world = self.world().await;
        let fuse = Fuse::new(fault, usize::MAX);
        world.settle_as(&fuse, "app").await.unwrap();
        (fuse.steps(), end(&world))
    }

    /// Breaks every step.
    async fn survives(&self, fault: Fault) {
        let (steps, want) = self.undisturbed(fault).await;
        assert!(steps > 5, "{steps} steps are too few to be true");
        for at in 0..steps {
            let world = self.world().await;
            let beside = foreign().map(|foreign| world.cluster.every_byte(&foreign));
            let fuse = Fuse::new(fault, at);
            let outcome = world.settle_as(&fuse, "app").await;
            let dies = matches!(fault, Fault::DieBefore | Fault::DieAfter);
            assert_eq!(outcome.is_none(), dies, "{fault:?} at {at} did not happen");
            if outcome.is_none() {
                world.settle("app").await;
            }
            same(&end(&world), &want, &format!("{fault:?} at {at} of {steps}"));
            let after = foreign().map(|foreign| world.cluster.every_byte(&foreign));
            assert_eq!(after, beside, "{fault:?} at {at}");
        }
    }

    /// Two processes at it at the same time, in many orders.
    async fn survives_two(&self) {
        let (_, want) = self.undisturbed(Fault::Never).await;
        for seed in 0..60 {
            let world = self.world().await;
            let [one, two] = [2 * seed, 2 * seed + 1].map(|seed| Fuse::new(Fault::Yield(seed), 0));
            tokio::join!(world.settle_as(&one, "app"), world.settle_as(&two, "app"));
            world.settle("app").await;
            same(&end(&world), &want, &format!("two processes, seed {seed}"));
        }
    }
}

/// A process that was thought dead goes on in the middle of a pass, when another has long carried out
/// what was asked for later.
async fn outlives(first: Scenario, later: fn(&World)) {
    let (steps, _) = first.undisturbed(Fault::Freeze).await;
    let world = first.world().await;
    world.settle("app").await;
    later(&world);
    world.settle("app").await;
    let want = world.cluster.all();
    for at in 0..steps {
        let world = first.world().await;
        let fuse = Fuse::new(Fault::Freeze, at);
        let deployer = world.deployer(&fuse);
        let frozen = loop {
            let mut pass = Box::pin(deployer.pass("demo", "app", None));
            tokio::select! {
                biased;
                () = fuse.died() => break pass,
                _ = &mut pass => world.wait(std::time::Duration::from_secs(1)),
            }
        };
        later(&world);
        world.settle("app").await;
        fuse.thaw();
        let (next, _) = frozen.await;
        assert!(!next.is_failure(), "{next:?}");
        world.settle("app").await;
        world.cluster.tick();
        // Manifests go with their owner; the cluster's objects have nobody who looks after them.
        same(&world.cluster.all(), &want, &format!("frozen at {at} of {steps}"));
    }
}

#[tokio::test]
async fn who_is_late_with_a_create_leaves_nothing_behind_after_an_update() {
    outlives(CREATE, update).await;
}

#[tokio::test]
async fn who_is_late_with_a_create_leaves_nothing_behind_after_the_end() {
    outlives(CREATE, |world| world.records.end("app", ALICE)).await;
}

#[tokio::test]
async fn who_is_late_with_an_update_leaves_nothing_behind_after_a_rollback() {
    outlives(UPDATE, |world| {
        world.records.change("app", |spec| spec.roll_back_to = Some("app-1".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn who_is_late_with_an_update_leaves_nothing_behind_after_the_end() {
    outlives(UPDATE, |world| world.records.end("app", ALICE)).await;
}

/// Everything there is in the end.
fn end(world: &World) -> BTreeMap<String, Value> {
    world.cluster.all().into_iter().chain(world.records.all()).collect()
}

#[track_caller]
fn same(found: &BTreeMap<String, Value>, want: &BTreeMap<String, Value>, when: &str) {
    for key in found.keys().chain(want.keys()) {
        let (found, want) = (found.get(key), want.get(key));
        assert!(found == want, "{when}: {key} is\n{found:#?}\ninstead of\n{want:#?}");
    }
}

macro_rules! every_step {
    ($($name:ident: $scenario:expr,)*) => {$(
        mod $name {
            use super::*;

            #[tokio::test]
            async fn a_death_before_any_step_changes_nothing_in_the_end() {
                $scenario.survives(Fault::DieBefore).await;
            }

            #[tokio::test]
            async fn a_death_after_any_step_changes_nothing_in_the_end() {
                $scenario.survives(Fault::DieAfter).await;
            }

            #[tokio::test]
            async fn a_failure_of_any_step_changes_nothing_in_the_end() {
                $scenario.survives(Fault::FailBefore).await;
            }

            #[tokio::test]
            async fn a_step_that_only_seems_to_fail_changes_nothing_in_the_end() {
                $scenario.survives(Fault::FailAfter).await;
            }

            #[tokio::test]
            async fn two_processes_end_where_one_does() {
                $scenario.survives_two().await;
            }
        }
    )*};
}

every_step! {
    create: CREATE,
    update: UPDATE,
    supersede: SUPERSEDE,
    roll_back: ROLL_BACK,
    abandon: ABANDON,
    no_history: NO_HISTORY,
    delete: DELETE,
    delete_halfway: DELETE_HALFWAY,
}
