//! The end at any moment.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::simulated::SimulatedDisk;
use super::*;
use crate::redb::check::contents;

/// Repeatable randomness (xorshift), as a closure that picks below its argument.
fn dice(seed: usize) -> impl FnMut(usize) -> usize + Send {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ (seed as u64 + 1);
    move |sides| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % sides
    }
}

/// What clients were told.
#[derive(Clone, Default)]
pub(super) struct Acknowledged {
    /// By revision: the key and what it then held.
    pub(super) writes: BTreeMap<Revision, (Key, Option<Bytes>)>,
}

impl Acknowledged {
    fn newest(&self) -> Revision {
        self.writes.keys().next_back().copied().unwrap_or(Revision::INITIAL)
    }
}

/// One client that writes to keys of its own until the store fails it.
async fn client(store: Arc<Redb>, client: usize, seed: usize, log: Arc<Mutex<Acknowledged>>) {
    let mut dice = dice(seed * 31 + client);
    let mut known: BTreeMap<Key, Revision> = BTreeMap::new();
    loop {
        let key = key(&format!("/{client}/{}", dice(4)));
        let value = Bytes::from(vec![u8::try_from(dice(256)).unwrap(); dice(6000)]);
        let outcome = match known.get(&key) {
            None => {
                store.put(&key, value.clone(), Expect::Absent).await.map(|it| (it, Some(value)))
            }
            Some(&at) if dice(3) == 0 => store.delete(&key, at).await.map(|it| (it, None)),
            Some(&at) => store
                .put(&key, value.clone(), Expect::Revision(at))
                .await
                .map(|it| (it, Some(value))),
        };
        let Ok((revision, value)) = outcome else { return };
        match value {
            Some(_) => known.insert(key.clone(), revision),
            None => known.remove(&key),
        };
        log.lock().unwrap().writes.insert(revision, (key, value));
    }
}

/// Checks what is found after a crash against what was acknowledged before it.
pub(super) async fn check(store: &Redb, acknowledged: &Acknowledged) {
    let newest = store.revision().await.unwrap();
    assert!(newest >= acknowledged.newest(), "the revision went back");
    let count = usize::try_from(newest.get() - Revision::INITIAL.get()).unwrap();
    let history = events(store, Revision::INITIAL, count).await;
    let by_revision: BTreeMap<_, _> = history.iter().map(|event| (event.revision, event)).collect();
    assert_eq!(by_revision.len(), count, "the history has a hole");
    for (revision, (key, value)) in &acknowledged.writes {
        let event = by_revision[revision];
        let held = event.entry().map(|entry| entry.value);
        assert!(event.key == *key && held == *value, "{revision} was lost or changed");
    }
    let mut replayed = BTreeMap::new();
    for event in history {
        assert_eq!(event.previous, replayed.get(&event.key).cloned());
        match event.entry() {
            Some(entry) => replayed.insert(event.key.clone(), entry),
            None => replayed.remove(&event.key),
        };
    }
    let list = state(store).await;
    assert_eq!((list.entries, list.revision), (replayed.into_values().collect(), newest));
    contents(&store.shared.disk.begin_read().unwrap()).unwrap();
}

/// Lets clients write, stops the world at a random moment, and looks at what is left.
async fn crash(round: usize, left: impl FnOnce(&SimulatedDisk) -> SimulatedDisk) {
    let disk = SimulatedDisk::formatted();
    let (store, log) = (Arc::new(disk.open()), Arc::new(Mutex::default()));
    let clients = (0..6).map(|it| tokio::spawn(client(store.clone(), it, round, log.clone())));
    let clients: Vec<_> = clients.collect();
    let at = disk.syncs() + dice(round)(60);
    while disk.syncs() < at {
        tokio::task::yield_now().await;
    }
    // What was acknowledged before is looked for afterwards; in this order.
    let acknowledged: Acknowledged = log.lock().unwrap().clone();
    let left = left(&disk);
    disk.unplug();
    futures::future::join_all(clients).await;
    check(&left.open(), &acknowledged).await;
    // And once more: what recovery and closing did is durable too.
    let again = left.after_power_loss(&mut dice(round));
    check(&again.open(), &acknowledged).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_the_loss_of_power() {
    for round in 0..40 {
        crash(round, |disk| disk.after_power_loss(&mut dice(round))).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_the_death_of_the_process() {
    for round in 0..40 {
        crash(round, SimulatedDisk::after_kill).await;
    }
}
