//! The operations that share a commit.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{Change, Expect, Key, Result, Revision};

/// How many writes share a commit at most, and from how many bytes on no more are taken in.
const FULL: (usize, usize) = (64, 8 << 20);

/// How long a group waits for writes that are expected.
const LINGER: Duration = Duration::from_millis(1);

/// What the writer is asked for.
pub(super) enum Op {
    Write(Write),
    Compact { through: Revision, reply: oneshot::Sender<Result<()>> },
    Probe { reply: oneshot::Sender<Result<()>> },
}

/// One write and who waits for it.
pub(super) struct Write {
    pub(super) key: Key,
    pub(super) change: Change,
    pub(super) expect: Expect,
    pub(super) reply: oneshot::Sender<Result<Revision>>,
    /// The place that it takes in the queue.
    pub(super) _room: OwnedSemaphorePermit,
}

#[derive(Default)]
pub(super) struct Group {
    pub(super) writes: Vec<Write>,
    pub(super) compactions: Vec<(Revision, oneshot::Sender<Result<()>>)>,
    pub(super) probes: Vec<oneshot::Sender<Result<()>>>,
    bytes: usize,
}

impl Group {
    /// Takes what is waiting; if nothing is and there is no `work` to go on with, waits. None when nobody is left to
    /// ask for anything.
    ///
    /// A writer that is alone never waits for company. After a group of `company` writes their callers are likely to
    /// come again together, and it pays to wait a moment for all of them.
    pub(super) fn gather(ops: &Receiver<Op>, company: usize, work: bool) -> Option<Self> {
        let mut group = Group::default();
        if !work {
            group.add(ops.recv().ok()?);
        }
        while !group.is_full() {
            match ops.try_recv() {
                Ok(op) => group.add(op),
                Err(TryRecvError::Disconnected) if group.is_empty() => return None,
                Err(_) => break,
            }
        }
        let patience = Instant::now() + LINGER;
        while !work && !group.is_full() && group.writes.len() < company {
            match ops.recv_timeout(patience.saturating_duration_since(Instant::now())) {
                Ok(op) => group.add(op),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        Some(group)
    }

    fn add(&mut self, op: Op) {
        match op {
            Op::Write(write) => {
                if let Change::Put(value) = &write.change {
                    self.bytes += value.len();
                }
                self.writes.push(write);
            }
            Op::Compact { through, reply } => self.compactions.push((through, reply)),
            Op::Probe { reply } => self.probes.push(reply),
        }
    }

    fn is_full(&self) -> bool {
        self.writes.len() >= FULL.0 || self.bytes >= FULL.1
    }

    fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.compactions.is_empty() && self.probes.is_empty()
    }
}
