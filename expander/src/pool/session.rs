//! Children that are kept for Jinja: one is asked many times, one call after the other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::worker::{Child, Worker};

/// A kept child.
pub(super) struct Session {
    pub(super) child: Child,
    pub(super) worker: Arc<Worker>,
    /// How many calls it has answered.
    pub(super) calls: u32,
}

/// The ones that have nothing to do.
pub(super) struct Sessions {
    idle: Mutex<Vec<Session>>,
    most: usize,
    calls: u32,
}

impl Sessions {
    pub(super) fn new(most: usize, calls: u32) -> Self {
        Self { idle: Mutex::default(), most, calls }
    }

    /// One that still lives; the last that was used, whose memory is warm.
    pub(super) fn take(&self) -> Option<Session> {
        loop {
            let mut session = self.idle().pop()?;
            if session.worker.load().is_some() && session.child.lives() {
                return Some(session);
            }
        }
    }

    /// Keeps it for the next call, unless it has had its share; then it is given back to be ended.
    pub(super) fn put(&self, session: Session) -> Option<Child> {
        let mut idle = self.idle();
        if session.calls >= self.calls || idle.len() >= self.most {
            return Some(session.child);
        }
        idle.push(session);
        None
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
