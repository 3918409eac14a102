//! Who is next: a line for each namespace, so that nobody waits for all of a neighbour's Deployments.
//!
//! Of the Deployments that are due, one of the namespace goes first over whose Deployments the fewest
//! passes are under way, and in a namespace the one that has been due for longest. However many are due in
//! one namespace, its passes are never all of those that can be made.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;

use super::Changed;

/// Deployments and when they are due.
pub(super) struct Lines {
    /// How many passes at a time a namespace may have.
    share: usize,
    /// What was not due when the time was looked at last.
    later: BTreeSet<(Instant, Changed)>,
    /// The namespaces in which something is due or under way.
    lines: BTreeMap<String, Line>,
}

#[derive(Default)]
struct Line {
    due: BTreeSet<(Instant, String)>,
    running: usize,
}

impl Line {
    fn is_empty(&self) -> bool {
        self.due.is_empty() && self.running == 0
    }
}

impl Lines {
    /// None yet; at least one pass may be made at a time.
    pub(super) fn new(share: usize) -> Self {
        Self { share: share.max(1), later: BTreeSet::new(), lines: BTreeMap::new() }
    }

    /// One that was due at a time is due at another.
    pub(super) fn set(&mut self, key: &Changed, old: Option<Instant>, new: Option<Instant>) {
        if let Some(old) = old {
            self.remove(old, key);
        }
        self.later.extend(new.map(|due| (due, key.clone())));
    }

    /// The next one, and since when it has been due. From now on a pass over it is under way.
    pub(super) fn take(&mut self, now: Instant) -> Option<(Instant, Changed)> {
        while self.later.first().is_some_and(|(due, _)| *due <= now) {
            let Some((due, Changed { namespace, name })) = self.later.pop_first() else { break };
            self.lines.entry(namespace).or_default().due.insert((due, name));
        }
        let (namespace, line) = self
            .lines
            .iter_mut()
            .filter(|(_, line)| line.running < self.share && !line.due.is_empty())
            .min_by_key(|(_, line)| (line.running, line.due.first().cloned()))?;
        let (due, name) = line.due.pop_first()?;
        line.running += 1;
        Some((due, Changed { namespace: namespace.clone(), name }))
    }

    /// A pass over a Deployment of a namespace has ended.
    pub(super) fn ended(&mut self, namespace: &str) {
        let Some(line) = self.lines.get_mut(namespace) else { return };
        line.running = line.running.saturating_sub(1);
        if line.is_empty() {
            self.lines.remove(namespace);
        }
    }

    /// When [`Lines::take`] has one to give, unless a pass ends before.
    pub(super) fn next(&self) -> Option<Instant> {
        let open = self.lines.values().filter(|line| line.running < self.share);
        let due = open.filter_map(|line| line.due.first()).map(|(due, _)| *due).min();
        due.or_else(|| self.later.first().map(|(due, _)| *due))
    }

    /// How many were due when the time was looked at last, and are not under way.
    pub(super) fn waiting(&self) -> usize {
        self.lines.values().map(|line| line.due.len()).sum()
    }

    fn remove(&mut self, due: Instant, key: &Changed) {
        if self.later.remove(&(due, key.clone())) {
            return;
        }
        let Some(line) = self.lines.get_mut(&key.namespace) else { return };
        line.due.remove(&(due, key.name.clone()));
        if line.is_empty() {
            self.lines.remove(&key.namespace);
        }
    }

    /// All there are, each with when it is due.
    #[cfg(test)]
    pub(super) fn all(&self) -> BTreeSet<(Instant, Changed)> {
        let in_lines = self.lines.iter().flat_map(|(namespace, line)| {
            line.due.iter().map(|(due, name)| {
                (*due, Changed { namespace: namespace.clone(), name: name.clone() })
            })
        });
        in_lines.chain(self.later.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn key(namespace: &str, name: &str) -> Changed {
        Changed { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    fn taken(lines: &mut Lines, now: Instant) -> Vec<String> {
        let one = || lines.take(now).map(|(_, key)| format!("{}/{}", key.namespace, key.name));
        std::iter::from_fn(one).collect()
    }

    #[test]
    fn who_comes_late_need_not_wait_for_all_of_a_neighbour() {
        let (now, mut lines) = (Instant::now(), Lines::new(2));
        for at in 0..100 {
            lines.set(&key("crowd", &format!("d{at:02}")), None, Some(now));
        }
        assert_eq!(taken(&mut lines, now), ["crowd/d00", "crowd/d01"]);
        assert_eq!((lines.next(), lines.waiting()), (None, 98), "its share is used up");
        let late = now + Duration::from_secs(1);
        lines.set(&key("lone", "d"), None, Some(late));
        assert_eq!(lines.next(), Some(late));
        assert_eq!(taken(&mut lines, late), ["lone/d"]);
        lines.ended("crowd");
        assert_eq!(lines.next(), Some(now));
        assert_eq!(taken(&mut lines, late), ["crowd/d02"]);
    }

    #[test]
    fn those_with_less_under_way_go_first_and_in_a_namespace_who_has_waited_longest() {
        let (now, mut lines) = (Instant::now(), Lines::new(9));
        let at = |seconds| Some(now + Duration::from_secs(seconds));
        for (namespace, name, due) in
            [("a", "2", 2), ("a", "1", 3), ("a", "3", 1), ("b", "1", 4), ("c", "1", 2)]
        {
            lines.set(&key(namespace, name), None, at(due));
        }
        let now = now + Duration::from_secs(9);
        assert_eq!(taken(&mut lines, now), ["a/3", "c/1", "b/1", "a/2", "a/1"]);
    }

    #[test]
    fn what_is_neither_due_nor_under_way_takes_no_room() {
        let (now, mut lines) = (Instant::now(), Lines::new(1));
        lines.set(&key("a", "1"), None, Some(now));
        lines.set(&key("a", "2"), None, Some(now));
        assert!(lines.take(now).is_some());
        lines.set(&key("a", "2"), Some(now), None);
        lines.ended("a");
        assert!(lines.lines.is_empty() && lines.all().is_empty());
        assert_eq!((lines.next(), lines.waiting()), (None, 0));
    }
}
