use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn key(name: &str) -> Changed {
    Changed { namespace: "demo".to_owned(), name: name.to_owned() }
}

/// What is to be looked at, and the version that need not be.
fn take(queue: &mut Queue, now: Instant) -> Option<(Changed, Option<String>)> {
    queue.take(now).map(|Taken { key, known, .. }| (key, known))
}

fn some(version: &str) -> Option<String> {
    Some(version.to_owned())
}

#[test]
fn a_change_is_looked_at_once_at_a_time() {
    let (now, mut queue) = (Instant::now(), Queue::new(9));
    queue.changed(&key("a"), now);
    queue.changed(&key("a"), now);
    assert_eq!(take(&mut queue, now), Some((key("a"), None)));
    assert_eq!(take(&mut queue, now), None);
    queue.changed(&key("a"), now);
    assert_eq!(take(&mut queue, now), None, "a pass is under way");
    queue.done(&key("a"), Next::Idle, some("1"), now);
    assert_eq!(take(&mut queue, now), Some((key("a"), some("1"))), "it was changed meanwhile");
    queue.done(&key("a"), Next::Unchanged, some("1"), now);
    assert_eq!((take(&mut queue, now), queue.due()), (None, None));
}

#[test]
fn what_a_pass_wrote_itself_does_not_move_its_next_time() {
    let (now, mut queue) = (Instant::now(), Queue::new(9));
    let later = now + Duration::from_secs(7);
    queue.changed(&key("a"), now);
    take(&mut queue, now);
    queue.changed(&key("a"), now);
    queue.done(&key("a"), Next::After(Duration::from_secs(7)), some("2"), now);
    assert_eq!(take(&mut queue, now), Some((key("a"), some("2"))));
    queue.done(&key("a"), Next::Unchanged, some("2"), now);
    assert_eq!(queue.due(), Some(later));
    assert_eq!(
        take(&mut queue, later),
        Some((key("a"), None)),
        "a time that was asked for is kept"
    );
}

#[test]
fn failures_are_tried_again_less_and_less_often() {
    let (mut now, mut queue) = (Instant::now(), Queue::new(9));
    queue.changed(&key("a"), now);
    let mut waits = Vec::new();
    for _ in 0..11 {
        take(&mut queue, now);
        queue.done(&key("a"), Next::Retry, some("1"), now);
        waits.push((queue.due().unwrap() - now).as_secs());
        now = queue.due().unwrap();
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    take(&mut queue, now);
    queue.done(&key("a"), Next::After(FIRST), some("1"), now);
    now += FIRST;
    take(&mut queue, now);
    queue.done(&key("a"), Next::Retry, some("1"), now);
    assert_eq!(queue.due(), Some(now + FIRST), "success is forgiven");
}

#[test]
fn a_failure_is_not_tried_again_before_the_cluster_wants_it() {
    let (mut now, mut queue) = (Instant::now(), Queue::new(9));
    queue.changed(&key("a"), now);
    let mut wait = |seconds| {
        queue.take(now);
        let next = Next::RetryAfter(Duration::from_secs(seconds));
        queue.done(&key("a"), next, some("1"), now);
        let waited = queue.due().unwrap() - now;
        now = queue.due().unwrap();
        waited.as_secs()
    };
    assert_eq!([wait(30), wait(1), wait(1), wait(100_000)], [30, 2, 4, 300]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens in whatever order: one pass at a time over each, no change is missed, no
    /// time that was asked for is forgotten, and what is known agrees with what is due.
    #[test]
    fn no_change_is_missed_and_no_time_is_forgotten(
        events in prop::collection::vec((0..3_u8, 0..6_u8, 0..20_u64), 1..200),
    ) {
        let (mut now, mut queue) = (Instant::now(), Queue::new(9));
        let mut running: BTreeSet<Changed> = BTreeSet::new();
        // Those that were changed since the last pass over them began, and times promised.
        let mut unseen: BTreeSet<Changed> = BTreeSet::new();
        let mut promised: BTreeMap<Changed, Instant> = BTreeMap::new();
        for (which, event, number) in events {
            let key = key(["a", "b", "c"][usize::from(which)]);
            match event {
                0 | 1 => {
                    queue.changed(&key, now);
                    unseen.insert(key);
                }
                2 | 3 => {
                    while let Some((key, known)) = take(&mut queue, now) {
                        prop_assert!(running.insert(key.clone()), "two passes over {key:?}");
                        unseen.remove(&key);
                        if known.is_none() {
                            promised.remove(&key);
                        }
                    }
                }
                4 => {
                    if running.remove(&key) {
                        let next = match number {
                            0..5 => Next::Idle,
                            5..10 => Next::After(Duration::from_secs(number)),
                            10..15 => Next::Unchanged,
                            _ => Next::Retry,
                        };
                        if let Next::After(time) = next {
                            promised.insert(key.clone(), now + time);
                        } else if next != Next::Unchanged {
                            promised.remove(&key);
                        }
                        queue.done(&key, next, some("1"), now);
                    }
                }
                _ => now += Duration::from_secs(number),
            }
            let due = queue.lines.all();
            let known = queue.known.iter();
            let held = known.filter_map(|(key, known)| Some((known.due?, key.clone()))).collect();
            prop_assert_eq!(due, held);
            for key in unseen.difference(&running) {
                let due = queue.known[key].due;
                prop_assert!(due.is_some_and(|due| due <= now), "{key:?} was changed: {due:?}");
            }
            for (key, time) in promised.iter().filter(|(key, _)| !running.contains(*key)) {
                let Known { due, planned, .. } = &queue.known[key];
                let kept = [*due, *planned].into_iter().flatten().any(|due| due <= *time);
                prop_assert!(kept, "{key:?} was to be looked at");
            }
        }
    }
}

#[test]
fn what_was_deployed_is_looked_at_soon_but_not_all_the_time() {
    let (now, mut queue) = (Instant::now(), Queue::new(9));
    queue.woken(&key("a"), now);
    assert_eq!(queue.due(), None, "of this one nothing is known");
    queue.changed(&key("a"), now);
    take(&mut queue, now);
    queue.woken(&key("a"), now);
    queue.done(&key("a"), Next::After(Duration::from_secs(300)), some("1"), now);
    let rested = now + REST;
    assert_eq!(queue.due(), Some(rested), "it was looked at just now");
    assert_eq!(take(&mut queue, rested), Some((key("a"), None)), "whatever its version is");
    queue.done(&key("a"), Next::After(Duration::from_secs(300)), some("1"), rested);
    let later = rested + Duration::from_secs(100);
    queue.woken(&key("a"), later);
    assert_eq!(queue.due(), Some(later + SOON));
    queue.woken(&key("a"), later + SOON);
    assert_eq!(queue.due(), Some(later + SOON), "once");
    take(&mut queue, later + SOON);
    // While it is not ready, changes are what is waited for.
    queue.done(&key("a"), Next::After(Duration::from_secs(3)), some("1"), later + SOON);
    queue.woken(&key("a"), later + SOON);
    assert_eq!(queue.due(), Some(later + SOON + SOON));
}

#[test]
fn what_is_gone_is_forgotten() {
    let (now, mut queue) = (Instant::now(), Queue::new(9));
    queue.changed(&key("a"), now);
    take(&mut queue, now);
    queue.done(&key("a"), Next::Idle, None, now);
    assert!(queue.known.is_empty() && queue.lines.all().is_empty());
}
