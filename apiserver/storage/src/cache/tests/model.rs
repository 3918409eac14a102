//! The cache against a model that keeps everything: any order of writes, watches, reads and compactions.

use proptest::prelude::*;

use super::*;
use crate::Entry;

/// Numbers are taken modulo what there is to choose from.
#[derive(Clone, Debug)]
enum Step {
    Put(usize),
    Delete(usize),
    Watch(usize, usize),
    WatchCurrent(usize),
    Read(usize),
    Leave(usize),
    Compact(usize),
    Past(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let any = 0..1000usize;
    let step = prop_oneof![
        8 => any.clone().prop_map(Step::Put),
        3 => any.clone().prop_map(Step::Delete),
        2 => (any.clone(), any.clone()).prop_map(|(prefix, from)| Step::Watch(prefix, from)),
        2 => any.clone().prop_map(Step::WatchCurrent),
        6 => any.clone().prop_map(Step::Read),
        1 => any.clone().prop_map(Step::Leave),
        1 => any.clone().prop_map(Step::Compact),
        2 => (any.clone(), any).prop_map(|(prefix, at)| Step::Past(prefix, at)),
    ];
    prop::collection::vec(step, 1..120)
}

const KEYS: [&str; 7] = ["/a/1", "/a/2", "/a/22", "/b/1", "/b/2", "/b/c/1", "/c"];
const PREFIXES: [&str; 7] = ["/", "/a/", "/b/", "/b/c/", "/a/2", "/c", "/none/"];

struct Run {
    cache: Cache,
    /// Every event there ever was; the first one has the revision after the initial one.
    events: Vec<Arc<Event>>,
    compacted: Revision,
    watchers: Vec<Seen>,
}

/// A watcher and what it must have been told.
struct Seen {
    watcher: Watcher,
    prefix: Prefix,
    cursor: Revision,
}

impl Run {
    async fn step(&mut self, step: Step) {
        match step {
            Step::Put(key) => self.write(KEYS[key % KEYS.len()], true).await,
            Step::Delete(key) => self.write(KEYS[key % KEYS.len()], false).await,
            Step::Watch(prefix, from) => self.watch(prefix, from).await,
            Step::WatchCurrent(at) => {
                let prefix = prefix(PREFIXES[at % PREFIXES.len()]);
                let (snapshot, watcher) = self.cache.watch_current(&prefix);
                assert_eq!(snapshot.revision(), self.now());
                self.watchers.push(Seen { watcher, prefix, cursor: snapshot.revision() });
            }
            Step::Read(at) if !self.watchers.is_empty() => {
                self.read(at % self.watchers.len()).await;
            }
            Step::Leave(at) if !self.watchers.is_empty() => {
                self.watchers.swap_remove(at % self.watchers.len());
            }
            Step::Compact(at) => {
                let through = self.revision(at);
                self.cache.backend().compact(through).await.unwrap();
                self.compacted = self.compacted.max(through);
            }
            Step::Past(prefix, at) => self.past(prefix, at).await,
            Step::Read(_) | Step::Leave(_) => {}
        }
    }

    fn now(&self) -> Revision {
        Revision::new(Revision::INITIAL.get() + self.events.len() as u64)
    }

    /// Some revision that the store has had.
    fn revision(&self, choice: usize) -> Revision {
        Revision::new(Revision::INITIAL.get() + (choice % (self.events.len() + 1)) as u64)
    }

    fn after(&self, from: Revision, prefix: &Prefix) -> impl Iterator<Item = &Arc<Event>> {
        let later = self.events.iter().filter(move |event| event.revision > from);
        later.filter(|event| prefix.holds(&event.key))
    }

    fn state(&self, at: Revision) -> Vec<Entry> {
        let mut state = std::collections::BTreeMap::new();
        for event in self.events.iter().take_while(|event| event.revision <= at) {
            match event.entry() {
                Some(entry) => state.insert(event.key.clone(), entry),
                None => state.remove(&event.key),
            };
        }
        state.into_values().collect()
    }

    async fn write(&mut self, name: &str, put: bool) {
        let (key, previous) = (key(name), self.cache.snapshot().get(&key(name)).cloned());
        let value = Bytes::from(format!("{}", self.events.len()));
        let (written, change) = match (&previous, put) {
            (None, false) => return,
            (Some(entry), false) => (self.cache.delete(&key, entry.revision).await, Change::Delete),
            (Some(entry), true) => {
                let expect = Expect::Revision(entry.revision);
                (self.cache.put(&key, value.clone(), expect).await, Change::Put(value))
            }
            (None, true) => {
                (self.cache.put(&key, value.clone(), Expect::Absent).await, Change::Put(value))
            }
        };
        assert_eq!(written.unwrap(), self.now().next());
        self.events.push(Arc::new(Event::new(self.now().next(), key, change, previous)));
        let snapshot = self.cache.snapshot();
        assert_eq!(snapshot.revision(), self.now());
        let listed: Vec<_> = snapshot.list(&Prefix::all()).cloned().collect();
        assert_eq!(listed, self.state(self.now()));
    }

    async fn watch(&mut self, prefix_at: usize, from: usize) {
        let (prefix, from) = (prefix(PREFIXES[prefix_at % PREFIXES.len()]), self.revision(from));
        match self.cache.watch(&prefix, from).await {
            Ok(watcher) => self.watchers.push(Seen { watcher, prefix, cursor: from }),
            Err(Error::Compacted { oldest, .. }) => {
                assert!(from < self.compacted);
                assert_eq!(oldest, self.compacted);
            }
            Err(error) => panic!("{error}"),
        }
    }

    async fn read(&mut self, at: usize) {
        let seen = &self.watchers[at];
        let (prefix, cursor) = (seen.prefix.clone(), seen.cursor);
        let due: Vec<_> = self.after(cursor, &prefix).cloned().collect();
        let now = self.now();
        let seen = &mut self.watchers[at];
        let progress = seen.watcher.progress();
        assert!(progress >= cursor && progress <= now, "progress goes on, but not beyond");
        assert!(
            due.first().is_none_or(|event| event.revision > progress),
            "nothing is passed over"
        );
        seen.cursor = progress;
        if due.is_empty() {
            return;
        }
        match next(&mut seen.watcher).await {
            Ok(events) => {
                assert!(!events.is_empty());
                assert_eq!(events, due[..events.len()]);
                seen.cursor = events.last().unwrap().revision;
            }
            // The cache keeps few events here; its backend, all that are not compacted.
            Err(Error::Slow | Error::Compacted { .. }) => {
                self.watchers.swap_remove(at);
            }
            Err(error) => panic!("{error}"),
        }
    }

    async fn past(&mut self, prefix_at: usize, at: usize) {
        let (prefix, at) = (prefix(PREFIXES[prefix_at % PREFIXES.len()]), self.revision(at));
        match self.cache.snapshot_at(&prefix, at).await {
            Ok(snapshot) => {
                let mut expected = self.state(at);
                expected.retain(|entry| prefix.holds(&entry.key));
                let listed: Vec<_> = snapshot.list(&prefix).cloned().collect();
                assert_eq!((listed, snapshot.revision()), (expected, at));
            }
            Err(Error::Compacted { .. }) => assert!(at < self.compacted),
            Err(error) => panic!("{error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_cache_does_what_the_model_does(history in prop_oneof![Just(1), Just(1500), Just(1 << 20)], steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let cache = Cache::start(Arc::new(Memory::new()), Options { history }).await.unwrap();
            let compacted = Revision::ZERO;
            let mut run = Run { cache, events: Vec::new(), compacted, watchers: Vec::new() };
            for step in steps {
                run.step(step).await;
            }
        });
    }
}
