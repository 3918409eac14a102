//! What clients saw of counters that all of them change, and whether one store, changed by one write at a time, could
//! have shown it to them.
//!
//! A counter is an object that holds a number and the attempt that wrote it. Every write is one more than what was read,
//! over the revision that was read. Whoever acts draws a ticket before and another one after, so that "this had ended
//! when that began" is known without a clock; nothing else is said about time.
//!
//! The events of a watch over everything are held to be what happened. That they are all there follows from the
//! counters: each event is one more than the event before it.

mod forged;

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

/// What a counter holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) count: u64,
    /// The ticket with which the attempt began that wrote it; zero for the one who made the counter.
    pub(super) attempt: u64,
}

/// A counter at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) revision: u64,
    pub(super) stamp: Stamp,
}

/// Counters by name.
pub(super) type State = BTreeMap<String, Version>;

/// One thing that a client did.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) begun: u64,
    pub(super) ended: u64,
    pub(super) what: What,
}

/// What it was, and what came of it.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// One more than what was read at the revision `base`.
    Write { name: String, base: u64, outcome: Outcome },
    /// One of the counters.
    Get(String, Version),
    /// All of them, and the revision of the list.
    List(State, u64),
    /// A read that brought nothing. There is nothing wrong with it here; other checks count them.
    Nothing,
}

/// How a write was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Done, at this revision.
    Acknowledged(u64),
    /// Not done, since the counter had changed.
    Refused,
    /// Not at all, or with an error that leaves it open.
    Unknown,
}

/// Everything that was done, and what the store says has happened.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The counters before.
    pub(super) before: State,
    pub(super) operations: Vec<Operation>,
    /// Each change of a counter, in the order of a watch.
    pub(super) events: Vec<(String, Version)>,
}

impl History {
    /// # Errors
    /// With the first thing that no such store could have shown.
    pub(super) fn check(&self) -> Result<()> {
        let attempts = self.attempts();
        self.check_events(&attempts)?;
        self.check_acknowledged()?;
        self.check_reads(&attempts)?;
        self.check_order()
    }

    /// The writes by the ticket of their attempt.
    fn attempts(&self) -> BTreeMap<u64, &Operation> {
        let writes = self.operations.iter().filter(|each| matches!(each.what, What::Write { .. }));
        writes.map(|write| (write.begun, write)).collect()
    }

    /// Nothing was lost or done twice, and whatever was done somebody had tried, over what was there.
    fn check_events(&self, attempts: &BTreeMap<u64, &Operation>) -> Result<()> {
        let (mut state, mut newest) = (self.before.clone(), 0);
        for (name, version) in &self.events {
            let previous = state.get(name).with_context(|| format!("{name} is no counter"))?;
            ensure!(version.revision > newest, "{version:?} came after {newest}");
            let wanted = previous.stamp.count + 1;
            ensure!(version.stamp.count == wanted, "{name} went from {previous:?} to {version:?}");
            let attempt = attempts.get(&version.stamp.attempt);
            let attempt = attempt.with_context(|| format!("nobody wrote {name} {version:?}"))?;
            let What::Write { name: tried, base, outcome } = &attempt.what else { continue };
            ensure!(tried == name && *base == previous.revision, "{version:?} is of {attempt:?}");
            let may = match outcome {
                Outcome::Acknowledged(revision) => *revision == version.revision,
                Outcome::Refused => false,
                Outcome::Unknown => true,
            };
            ensure!(may, "{name} became {version:?} by {attempt:?}");
            newest = version.revision;
            state.insert(name.clone(), *version);
        }
        Ok(())
    }

    fn check_acknowledged(&self) -> Result<()> {
        let happened: BTreeMap<u64, u64> =
            self.events.iter().map(|(_, made)| (made.stamp.attempt, made.revision)).collect();
        for operation in &self.operations {
            if let What::Write { outcome: Outcome::Acknowledged(revision), .. } = operation.what {
                let found = happened.get(&operation.begun);
                ensure!(found == Some(&revision), "lost: {operation:?} happened at {found:?}");
            }
        }
        Ok(())
    }

    /// What was read had been there, and nobody read what was written only afterwards.
    fn check_reads(&self, attempts: &BTreeMap<u64, &Operation>) -> Result<()> {
        let since = self.events.iter().map(|(name, version)| (name, version));
        let versions: BTreeMap<_, _> = self
            .before
            .iter()
            .chain(since)
            .map(|(name, made)| ((name, made.revision), made))
            .collect();
        for operation in &self.operations {
            for (name, found) in operation.found() {
                let made = versions.get(&(name, found.revision));
                ensure!(made == Some(&found), "{name} never was {found:?}: {operation:?}");
                if let Some(write) = attempts.get(&found.stamp.attempt) {
                    ensure!(write.begun < operation.ended, "{operation:?} foresaw {write:?}");
                }
            }
        }
        Ok(())
    }

    /// What was known when something began, it does not fall behind: a read shows at least what a write or another read
    /// had brought before, and a write has a higher revision than everything until then.
    fn check_order(&self) -> Result<()> {
        let mut known = Known::default();
        self.before.iter().for_each(|(name, version)| known.learn(name, version.revision));
        let mut moments: Vec<(u64, &Operation)> = Vec::new();
        for operation in &self.operations {
            ensure!(operation.begun < operation.ended, "{operation:?} ended before it began");
            moments.extend([(operation.begun, operation), (operation.ended, operation)]);
        }
        moments.sort_unstable_by_key(|(ticket, _)| *ticket);
        let mut at_begin = BTreeMap::new();
        for (ticket, operation) in moments {
            if ticket == operation.begun {
                at_begin.insert(ticket, known.clone());
                continue;
            }
            let floor = at_begin.remove(&operation.begun).context("it has begun")?;
            floor.hold(&operation.what).with_context(|| format!("{operation:?}"))?;
            known.take(&operation.what);
        }
        Ok(())
    }
}

impl Operation {
    fn found(&self) -> Vec<(&String, &Version)> {
        match &self.what {
            What::Get(name, version) => vec![(name, version)],
            What::List(state, _) => state.iter().collect(),
            What::Write { .. } | What::Nothing => Vec::new(),
        }
    }
}

/// What was known to somebody at some moment.
#[derive(Clone, Debug, Default)]
struct Known {
    counters: BTreeMap<String, u64>,
    /// The newest revision of anything.
    newest: u64,
}

impl Known {
    fn learn(&mut self, name: &str, revision: u64) {
        let known = self.counters.entry(name.to_owned()).or_default();
        *known = revision.max(*known);
        self.newest = revision.max(self.newest);
    }

    fn take(&mut self, what: &What) {
        match what {
            What::Write { name, outcome: Outcome::Acknowledged(revision), .. } => {
                self.learn(name, *revision);
            }
            What::Get(name, version) => self.learn(name, version.revision),
            What::List(state, revision) => {
                state.iter().for_each(|(name, version)| self.learn(name, version.revision));
                self.newest = self.newest.max(*revision);
            }
            What::Write { .. } | What::Nothing => {}
        }
    }

    fn hold(&self, what: &What) -> Result<()> {
        match what {
            What::Write { outcome: Outcome::Acknowledged(revision), .. } => {
                ensure!(*revision > self.newest, "{} was known before this write", self.newest);
            }
            What::Get(name, version) => self.shows(name, version)?,
            What::List(state, revision) => {
                ensure!(*revision >= self.newest, "{} was known before this list", self.newest);
                for name in self.counters.keys() {
                    let version = state.get(name).with_context(|| format!("no {name}"))?;
                    self.shows(name, version)?;
                    ensure!(version.revision <= *revision, "{name} is newer than its list");
                }
            }
            What::Write { .. } | What::Nothing => {}
        }
        Ok(())
    }

    fn shows(&self, name: &str, found: &Version) -> Result<()> {
        let known = self.counters.get(name).copied().unwrap_or_default();
        ensure!(found.revision >= known, "stale: {name} was known to be at {known}");
        Ok(())
    }
}
