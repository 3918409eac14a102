//! Histories that no store could have, to see the checker find that.

use super::*;

fn version(count: u64, attempt: u64, revision: u64) -> Version {
    Version { revision, stamp: Stamp { count, attempt } }
}

fn state(a: Version, b: Version) -> State {
    State::from([("a".to_owned(), a), ("b".to_owned(), b)])
}

fn write(begun: u64, ended: u64, base: u64, outcome: Outcome) -> Operation {
    Operation { begun, ended, what: What::Write { name: "a".into(), base, outcome } }
}

fn get(begun: u64, ended: u64, found: Version) -> Operation {
    Operation { begun, ended, what: What::Get("a".into(), found) }
}

/// Two writes one after the other, a third that was not answered but done, and one that came too late.
fn honest() -> History {
    let events = [version(1, 1, 11), version(2, 3, 12), version(3, 5, 14)];
    let listed = state(version(2, 3, 12), version(0, 0, 9));
    History {
        before: state(version(0, 0, 10), version(0, 0, 9)),
        operations: vec![
            write(1, 2, 10, Outcome::Acknowledged(11)),
            write(3, 4, 11, Outcome::Acknowledged(12)),
            write(5, 9, 12, Outcome::Unknown),
            get(6, 10, version(3, 5, 14)),
            // It ends later than what has seen more, but it began before that.
            get(7, 12, version(2, 3, 12)),
            Operation { begun: 8, ended: 11, what: What::List(listed, 13) },
            write(13, 14, 12, Outcome::Refused),
        ],
        events: events.map(|made| ("a".to_owned(), made)).to_vec(),
    }
}

fn forged(forge: impl FnOnce(&mut History)) -> String {
    let mut history = honest();
    forge(&mut history);
    format!("{:#}", history.check().expect_err("a forged history passes"))
}

#[test]
fn the_checker_lets_pass_what_one_store_could_have_shown() {
    honest().check().unwrap();
    // What was not answered need not have been done.
    let mut history = honest();
    history.events.pop();
    history.operations.remove(3);
    history.check().unwrap();
}

#[test]
fn the_checker_finds_writes_that_were_lost_or_done_twice() {
    let lost = forged(|history| {
        // Both were told that they were the first.
        history.operations[1] = write(3, 4, 10, Outcome::Acknowledged(12));
        history.events[1].1 = version(1, 3, 12);
    });
    assert!(lost.contains("went from"), "{lost}");
    let lost =
        forged(|history| history.operations.push(write(15, 16, 14, Outcome::Acknowledged(15))));
    assert!(lost.contains("lost"), "{lost}");
    let twice = forged(|history| history.events.push(("a".into(), version(4, 5, 15))));
    assert!(twice.contains("is of"), "{twice}");
    let gap = forged(|history| drop(history.events.remove(1)));
    assert!(gap.contains("went from"), "{gap}");
    let blind =
        forged(|history| history.operations[1] = write(3, 4, 10, Outcome::Acknowledged(12)));
    assert!(blind.contains("is of"), "{blind}");
}

#[test]
fn the_checker_finds_false_answers() {
    let done = forged(|history| history.operations[2] = write(5, 9, 12, Outcome::Refused));
    assert!(done.contains("by Operation"), "{done}");
    let other =
        forged(|history| history.operations[1] = write(3, 4, 11, Outcome::Acknowledged(13)));
    assert!(other.contains("by Operation"), "{other}");
    let nobody = forged(|history| history.events.push(("a".into(), version(4, 99, 15))));
    assert!(nobody.contains("nobody wrote"), "{nobody}");
}

#[test]
fn the_checker_finds_reads_of_what_is_no_longer_or_not_yet() {
    let stale = forged(|history| history.operations.push(get(15, 16, version(2, 3, 12))));
    assert!(stale.contains("stale"), "{stale}");
    let never = forged(|history| history.operations.push(get(15, 16, version(4, 3, 14))));
    assert!(never.contains("never was"), "{never}");
    let foreseen = forged(|history| {
        history.operations[4] = get(0, 2, version(3, 5, 14));
        history.operations[0] = write(1, 3, 10, Outcome::Acknowledged(11));
    });
    assert!(foreseen.contains("foresaw"), "{foreseen}");
    let list = |found: Version, revision| {
        let what = What::List(state(found, version(0, 0, 9)), revision);
        forged(move |history| history.operations.push(Operation { begun: 15, ended: 16, what }))
    };
    assert!(list(version(2, 3, 12), 15).contains("stale"));
    assert!(list(version(3, 5, 14), 13).contains("before this list"));
}

#[test]
fn the_checker_finds_revisions_that_go_back() {
    let back = forged(|history| {
        history.operations[1] = write(3, 4, 11, Outcome::Acknowledged(11));
        history.events[1].1 = version(2, 3, 11);
    });
    assert!(back.contains("came after"), "{back}");
    // Of two counters, so that only time tells.
    let back = forged(|history| {
        let what = What::Write { name: "b".into(), base: 9, outcome: Outcome::Acknowledged(13) };
        history.operations.push(Operation { begun: 15, ended: 16, what });
        history.events.insert(2, ("b".into(), version(1, 15, 13)));
    });
    assert!(back.contains("before this write"), "{back}");
}
