//! Recent events, kept in memory.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::{Event, Revision};

/// Consecutive events, oldest first, with a known beginning.
#[derive(Debug)]
pub(crate) struct EventLog {
    events: VecDeque<Arc<Event>>,
    weight: usize,
    start: Revision,
}

impl EventLog {
    /// A log of everything that follows `start`.
    pub(crate) fn new(start: Revision) -> Self {
        Self { events: VecDeque::new(), weight: 0, start }
    }

    /// Every event after this revision is here; earlier ones are not.
    pub(crate) fn start(&self) -> Revision {
        self.start
    }

    /// Appends an event, which is newer than all before or of the same transaction as the last.
    pub(crate) fn push(&mut self, event: Arc<Event>) {
        debug_assert!(self.events.back().is_none_or(|last| last.revision <= event.revision));
        self.weight += event.weight();
        self.events.push_back(event);
    }

    /// Puts `older` events, in order, before all others; together they are everything that follows `start`.
    pub(crate) fn extend_back(&mut self, start: Revision, older: Vec<Arc<Event>>) {
        debug_assert!(start <= self.start);
        for event in older.into_iter().rev() {
            self.weight += event.weight();
            self.events.push_front(event);
        }
        self.start = start;
    }

    /// The events after `cursor`, or none when the log does not reach back that far.
    pub(crate) fn after(&self, cursor: Revision) -> Option<impl Iterator<Item = &Arc<Event>>> {
        if cursor < self.start {
            return None;
        }
        let first = self.events.partition_point(|event| event.revision <= cursor);
        Some(self.events.range(first..))
    }

    /// Drops the events up to and including `through`.
    pub(crate) fn trim_through(&mut self, through: Revision) {
        while self.events.front().is_some_and(|event| event.revision <= through) {
            self.pop();
        }
        self.start = self.start.max(through);
    }

    /// Drops the oldest event while the log weighs more than `limit`; the newest one stays.
    pub(crate) fn trim_to_weight(&mut self, limit: usize) -> Option<Arc<Event>> {
        if self.weight > limit && self.events.len() > 1 { self.pop() } else { None }
    }

    fn pop(&mut self) -> Option<Arc<Event>> {
        let event = self.events.pop_front()?;
        self.weight -= event.weight();
        self.start = event.revision;
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{Change, Key};

    fn event(revision: u64) -> Arc<Event> {
        let change = Change::Put(Bytes::from_static(b"12345678"));
        Arc::new(Event::new(Revision::new(revision), Key::new("/a").unwrap(), change, None))
    }

    fn log(revisions: std::ops::RangeInclusive<u64>) -> EventLog {
        let mut log = EventLog::new(Revision::new(revisions.start() - 1));
        revisions.for_each(|revision| log.push(event(revision)));
        log
    }

    fn after(log: &EventLog, cursor: u64) -> Option<Vec<u64>> {
        let events = log.after(Revision::new(cursor))?;
        Some(events.map(|event| event.revision.get()).collect())
    }

    #[test]
    fn a_log_answers_what_followed_a_revision() {
        let log = log(5..=7);
        assert_eq!(after(&log, 3), None);
        assert_eq!(after(&log, 4), Some(vec![5, 6, 7]));
        assert_eq!(after(&log, 6), Some(vec![7]));
        assert_eq!(after(&log, 9), Some(vec![]));
    }

    #[test]
    fn trimming_moves_the_start() {
        let mut log = log(5..=7);
        log.trim_through(Revision::new(5));
        assert_eq!((after(&log, 4), after(&log, 5)), (None, Some(vec![6, 7])));
        log.trim_through(Revision::new(9));
        assert_eq!((after(&log, 8), after(&log, 9)), (None, Some(vec![])));
    }

    #[test]
    fn a_log_is_bounded_by_weight_but_keeps_the_newest() {
        let mut log = log(5..=7);
        let one = event(5).weight();
        assert_eq!(log.trim_to_weight(3 * one), None);
        assert_eq!(log.trim_to_weight(2 * one).unwrap().revision, Revision::new(5));
        while log.trim_to_weight(0).is_some() {}
        assert_eq!(after(&log, 6), Some(vec![7]));
    }

    #[test]
    fn older_events_can_be_put_before() {
        let mut log = log(5..=6);
        log.extend_back(Revision::new(1), vec![event(2), event(4)]);
        assert_eq!(after(&log, 1), Some(vec![2, 4, 5, 6]));
    }
}
