//! Several replicas on one cluster in memory, their calls interleaved by chance, with restarts,
//! pauses, edits of strangers and rotations. What must hold at every moment: whoever is sent to a
//! replica that is ready trusts what it shows, even with a `caBundle` that is no longer the newest.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::{
    APIService, APIServiceCondition, APIServiceStatus,
};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};

use super::apiservices::carries;
use super::cluster::Written;
use super::rotation::Phase;
use super::*;

const REPLICAS: usize = 3;
const STEPS: u32 = 30_000;
const ROTATE: &str = "formwork.dev/rotate";

#[derive(Default)]
struct World {
    now: Timestamp,
    version: u64,
    secret: Option<Secret>,
    /// Of the APIServices.
    owner: Option<OwnerReference>,
    api_services: BTreeMap<String, APIService>,
    /// What clients may trust: the bundles that replicas published, less those that were replaced
    /// so long ago that every client knows.
    published: Vec<Published>,
    switches: u32,
}

struct Published {
    name: String,
    bundle: String,
    replaced: Timestamp,
}

/// A replica's way to the world. Every call may be overtaken before and after it happens.
#[derive(Clone)]
struct Link(Arc<Mutex<World>>);

impl Link {
    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }
}

/// Lets others go first, once.
async fn overtaken() {
    let mut waited = false;
    std::future::poll_fn(move |_| {
        if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

impl Environment for Link {
    fn now(&self) -> Timestamp {
        self.world().now
    }

    fn uid(&self) -> String {
        unreachable!("registration makes no objects with a uid")
    }

    fn name_suffix(&self, _: usize) -> String {
        unreachable!("registration makes no names")
    }
}

impl World {
    fn publish(&mut self, name: &str, bundle: String) {
        let known = self.now - Timing::default().propagation;
        self.published.retain(|published| published.replaced > known);
        for published in &mut self.published {
            if published.name == name && published.replaced == Timestamp::MAX {
                published.replaced = self.now;
            }
        }
        let name = name.to_owned();
        self.published.push(Published { name, bundle, replaced: Timestamp::MAX });
    }

    /// Gives `metadata` the next version if it names the one that is stored.
    fn accept(&mut self, stored: Option<&ObjectMeta>, metadata: &mut ObjectMeta) -> Written {
        let stored = stored.and_then(|stored| stored.resource_version.clone());
        if stored != metadata.resource_version {
            return Written::Lost;
        }
        self.version += 1;
        metadata.resource_version = Some(self.version.to_string());
        Written::Done
    }
}

impl Cluster for Link {
    async fn api_service(&self, name: &str) -> Result<Option<APIService>> {
        overtaken().await;
        let found = self.world().api_services.get(name).cloned();
        overtaken().await;
        Ok(found)
    }

    async fn apply(&self, api_service: &APIService) -> Result<Written> {
        overtaken().await;
        let mut world = self.world();
        let mut new = api_service.clone();
        let name = new.metadata.name.clone().unwrap();
        let stored = world.api_services.get(&name).cloned();
        let written = world.accept(stored.as_ref().map(|s| &s.metadata), &mut new.metadata);
        new.status = stored.and_then(|stored| stored.status);
        if written == Written::Done {
            let ByteString(bundle) = new.spec.clone().unwrap().ca_bundle.unwrap();
            world.publish(&name, String::from_utf8(bundle).unwrap());
            world.api_services.insert(name, new);
        }
        Ok(written)
    }

    async fn owner(&self) -> Result<Option<OwnerReference>> {
        Ok(self.world().owner.clone())
    }

    async fn secret(&self) -> Result<Option<Secret>> {
        overtaken().await;
        let found = self.world().secret.clone();
        overtaken().await;
        Ok(found)
    }

    async fn put_secret(&self, mut new: Secret) -> Result<Written> {
        overtaken().await;
        let mut world = self.world();
        let stored = world.secret.clone();
        let written = world.accept(stored.as_ref().map(|s| &s.metadata), &mut new.metadata);
        if written == Written::Done {
            let retiring = |secret: &Secret| {
                let state = secret::read(secret).unwrap().unwrap();
                matches!(state.phase, Phase::Retiring { .. })
            };
            if stored.is_some_and(|stored| !retiring(&stored)) && retiring(&new) {
                world.switches += 1;
            }
            world.secret = Some(new);
        }
        Ok(written)
    }
}

/// A pass in progress gives its replica back.
type Pass = Pin<Box<dyn Future<Output = Replica<Link>>>>;

enum Process {
    Idle(Box<Replica<Link>>),
    Passing(Pass),
}

/// What a replica shows, as far as one can tell from outside.
struct Shown {
    signer: String,
    fresh: Arc<AtomicI64>,
    /// What `fresh` was when it was looked at: it has signed anew, perhaps, if it is more now.
    read: i64,
}

struct Simulation {
    link: Link,
    random: SmallRng,
    processes: Vec<Option<Process>>,
    shown: Vec<Option<Shown>>,
    /// Until when each is paused, as by SIGSTOP.
    paused: Vec<Timestamp>,
    publish: Publish,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let link = Link(Arc::default());
        link.world().now = Timestamp::from_second(1_800_000_000).unwrap();
        let mut simulation = Self {
            link,
            random: SmallRng::seed_from_u64(seed),
            processes: Vec::new(),
            shown: Vec::new(),
            paused: vec![Timestamp::MIN; REPLICAS],
            publish: Publish::Yes,
        };
        simulation.kill_all();
        simulation
    }

    fn kill_all(&mut self) {
        self.processes = (0..REPLICAS).map(|_| None).collect();
        self.shown = (0..REPLICAS).map(|_| None).collect();
    }

    fn replica(&self) -> Box<Replica<Link>> {
        let options = Options {
            service: Service { namespace: "ns".into(), name: "formwork".into(), port: 443 },
            served: vec![
                GroupVersion { group: "a", version: "v1", precedes: 1 },
                GroupVersion { group: "b", version: "v1", precedes: 0 },
            ],
            addresses: Vec::new(),
            authority: Authority::Ours(Timing::default()),
            publish: self.publish,
            environment: Arc::new(self.link.clone()),
        };
        Box::new(Replica::new(self.link.clone(), Arc::new(options)))
    }

    /// Lets one process do one thing.
    fn run(&mut self, index: usize) {
        let now = self.link.world().now;
        if now < self.paused[index] {
            return;
        }
        let process = match self.processes[index].take() {
            None => Process::Idle(self.replica()),
            Some(Process::Idle(mut replica)) => Process::Passing(Box::pin(async move {
                replica.pass(true).await.unwrap();
                *replica
            })),
            Some(Process::Passing(mut pass)) => {
                match pass.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(replica) => Process::Idle(Box::new(replica)),
                    Poll::Pending => Process::Passing(pass),
                }
            }
        };
        if let Process::Idle(replica) = &process
            && let Some(signer) = replica.signer()
        {
            let fresh = replica.fresh();
            let read = fresh.load(Ordering::Relaxed);
            self.shown[index] = Some(Shown { signer: signer.to_owned(), fresh, read });
        }
        self.processes[index] = Some(process);
    }

    /// What people and time do.
    fn disturb(&mut self) {
        let index = self.random.random_range(0..REPLICAS);
        let minutes = Duration::from_secs(60 * self.random.random_range(1..20));
        let mut world = self.link.world();
        world.version += 1;
        let version = Some(world.version.to_string());
        match self.random.random_range(0..2_000) {
            0..2 => {
                // Killed, perhaps in the middle of a pass.
                self.processes[index] = None;
                self.shown[index] = None;
            }
            2..10 => self.paused[index] = world.now + minutes,
            10..14 => {
                if let Some(Secret { metadata, .. }) = &mut world.secret {
                    metadata
                        .annotations
                        .get_or_insert_default()
                        .insert(ROTATE.into(), "now".into());
                    metadata.resource_version = version;
                }
            }
            14..40 => {
                if let Some(edited) = world.api_services.values_mut().next() {
                    edited.spec.as_mut().unwrap().ca_bundle = Some(ByteString(b"edited".to_vec()));
                    edited.metadata.resource_version = version;
                }
            }
            40..100 => world.now += Duration::from_secs(self.random.random_range(1..100)),
            _ => {}
        }
    }

    /// Whoever is sent to a ready replica trusts it.
    fn check(&self) {
        let timing = Timing::default();
        let world = self.link.world();
        let known = world.now - timing.propagation;
        for Shown { signer, fresh, read } in self.shown.iter().flatten() {
            let signs_anew = fresh.load(Ordering::Relaxed) > *read;
            if signs_anew || check_fresh(*read, world.now, timing.stale).is_err() {
                continue;
            }
            for Published { name, bundle, replaced } in &world.published {
                let trusted = bundle.contains(signer.as_str());
                assert!(trusted || *replaced <= known, "{name} at {}", world.now);
            }
        }
    }
}

#[test]
fn whoever_is_sent_to_a_ready_replica_trusts_what_it_shows() {
    let mut switches = 0;
    for seed in 0..4 {
        let mut simulation = Simulation::new(seed);
        for _ in 0..STEPS {
            let index = simulation.random.random_range(0..REPLICAS);
            simulation.run(index);
            simulation.disturb();
            simulation.check();
        }
        switches += simulation.link.world().switches;
    }
    assert!(switches > 8, "only {switches} rotations: nothing was tried");
}

/// Passes of all replicas, one after the other, until none has anything to do.
fn settle(simulation: &mut Simulation) {
    for _ in 0..400 {
        for index in 0..REPLICAS {
            simulation.run(index);
        }
    }
    // Only whole passes are looked at.
    for index in 0..REPLICAS {
        while matches!(simulation.processes[index], Some(Process::Passing(_))) {
            simulation.run(index);
        }
    }
}

fn signers(simulation: &Simulation) -> Vec<String> {
    let of = |process: &Option<Process>| match process {
        Some(Process::Idle(replica)) => replica.signer().unwrap().to_owned(),
        _ => panic!("a pass is not over"),
    };
    simulation.processes.iter().map(of).collect()
}

fn pass_time(simulation: &mut Simulation, duration: Duration) {
    simulation.link.world().now += duration;
    settle(simulation);
}

#[test]
fn a_rotation_ends_with_all_replicas_on_the_new_authority_and_the_old_one_gone() {
    let timing = Timing::default();
    let mut simulation = Simulation::new(1);
    settle(&mut simulation);
    let old = signers(&simulation);
    assert!(old.iter().all(|signer| *signer == old[0]));
    pass_time(&mut simulation, timing.authority * 2 / 3);
    assert_eq!(signers(&simulation), old);
    // Everybody restarts in the middle.
    simulation.kill_all();
    settle(&mut simulation);
    assert_eq!(signers(&simulation), old);
    pass_time(&mut simulation, timing.propagation);
    let new = signers(&simulation);
    assert!(new.iter().all(|signer| *signer == new[0] && *signer != old[0]));
    simulation.kill_all();
    settle(&mut simulation);
    assert_eq!(signers(&simulation), new);
    for (time, trusted) in [(Duration::ZERO, true), (timing.retirement, false)] {
        pass_time(&mut simulation, time);
        let world = simulation.link.world();
        assert!(world.api_services.values().all(|found| carries(found, &new[0])));
        assert!(world.api_services.values().all(|found| carries(found, &old[0]) == trusted));
    }
}

#[test]
fn a_rotation_waits_for_api_services_that_somebody_else_writes() {
    let timing = Timing::default();
    let mut simulation = Simulation::new(5);
    settle(&mut simulation);
    let old = signers(&simulation);
    simulation.publish = Publish::No;
    simulation.kill_all();
    settle(&mut simulation);
    pass_time(&mut simulation, timing.authority * 2 / 3);
    pass_time(&mut simulation, timing.propagation);
    assert_eq!(signers(&simulation), old, "nobody would trust another one");
    {
        let mut world = simulation.link.world();
        let state = secret::read(world.secret.as_ref().unwrap()).unwrap().unwrap();
        for found in world.api_services.values_mut() {
            found.spec.as_mut().unwrap().ca_bundle = Some(ByteString(state.bundle().into_bytes()));
        }
    }
    settle(&mut simulation);
    assert_eq!(signers(&simulation), old, "not everybody knows yet");
    pass_time(&mut simulation, timing.propagation);
    assert_ne!(signers(&simulation), old);
}

#[test]
fn a_deleted_secret_is_written_again_and_rotated() {
    let timing = Timing::default();
    let mut simulation = Simulation::new(2);
    settle(&mut simulation);
    let old = signers(&simulation);
    simulation.link.world().secret = None;
    settle(&mut simulation);
    assert_eq!(signers(&simulation), old);
    pass_time(&mut simulation, timing.propagation);
    assert_ne!(signers(&simulation), old);
    assert_eq!(simulation.link.world().switches, 1);
}

#[test]
fn a_deleted_api_service_stays_away_until_a_server_starts_anew() {
    let mut simulation = Simulation::new(3);
    settle(&mut simulation);
    simulation.link.world().api_services.remove("v1.a");
    settle(&mut simulation);
    assert!(!simulation.link.world().api_services.contains_key("v1.a"));
    simulation.processes[0] = None;
    settle(&mut simulation);
    assert!(simulation.link.world().api_services.contains_key("v1.a"));
}

#[test]
fn who_comes_back_to_an_api_service_that_was_given_up_calls_attention_to_it_once() {
    let mut simulation = Simulation::new(6);
    settle(&mut simulation);
    for found in simulation.link.world().api_services.values_mut() {
        found.status = Some(given_up());
    }
    let returned = |simulation: &Simulation| -> Vec<_> {
        let world = simulation.link.world();
        let of = |found: &APIService| {
            let annotations = found.metadata.annotations.as_ref().unwrap();
            annotations.get("formwork.dev/returned").cloned()
        };
        world.api_services.values().map(of).collect()
    };
    pass_time(&mut simulation, Timing::default().resync);
    assert_eq!(returned(&simulation), [None, None], "nobody came back");
    simulation.processes[0] = None;
    settle(&mut simulation);
    let when = Some(simulation.link.world().now.to_string());
    assert_eq!(returned(&simulation), [when.clone(), when.clone()]);
    pass_time(&mut simulation, Timing::default().resync);
    assert_eq!(returned(&simulation), [when.clone(), when]);
}

fn given_up() -> APIServiceStatus {
    let condition = APIServiceCondition {
        type_: "Available".into(),
        status: "False".into(),
        ..APIServiceCondition::default()
    };
    APIServiceStatus { conditions: Some(vec![condition]) }
}

#[test]
fn a_damaged_secret_is_left_as_it_is_and_what_is_shown_stays() {
    let mut simulation = Simulation::new(4);
    settle(&mut simulation);
    let mut damaged = simulation.link.world().secret.clone().unwrap();
    damaged.data.as_mut().unwrap().remove("ca.key");
    simulation.link.world().secret = Some(damaged.clone());
    let Some(Process::Idle(mut replica)) = simulation.processes[0].take() else { panic!() };
    let shown = replica.signer().unwrap().to_owned();
    let mut pass = Box::pin(replica.pass(true));
    let error = loop {
        match pass.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => break result.unwrap_err(),
            Poll::Pending => {}
        }
    };
    drop(pass);
    let error = format!("{error:#}");
    assert!(error.contains("Secret ns/formwork-serving-ca is damaged"), "{error}");
    assert_eq!(replica.signer(), Some(shown.as_str()));
    assert_eq!(simulation.link.world().secret, Some(damaged));
}

/// The garbage collector then finds them by it.
#[test]
fn an_owner_that_goes_is_not_forgotten_by_what_is_mended_meanwhile() {
    let mut simulation = Simulation::new(0);
    let owner = OwnerReference {
        kind: "ClusterRole".into(),
        name: "formwork".into(),
        uid: "u".into(),
        ..OwnerReference::default()
    };
    simulation.link.world().owner = Some(owner.clone());
    settle(&mut simulation);
    let owners = |simulation: &Simulation| -> Vec<_> {
        let world = simulation.link.world();
        let of = |found: &APIService| found.metadata.owner_references.clone().unwrap_or_default();
        world.api_services.values().map(of).collect()
    };
    assert_eq!(owners(&simulation), vec![vec![owner.clone()]; 2]);
    {
        let mut world = simulation.link.world();
        world.owner = None;
        for edited in world.api_services.values_mut() {
            edited.spec.as_mut().unwrap().version_priority = 1;
        }
    }
    settle(&mut simulation);
    assert_eq!(owners(&simulation), vec![vec![owner]; 2]);
    let world = simulation.link.world();
    let mended = |found: &APIService| found.spec.as_ref().unwrap().version_priority != 1;
    assert!(world.api_services.values().all(mended), "nothing was mended");
}
