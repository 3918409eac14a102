//! Whether templates may be run, as far as that is known.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::error::PoolError;
use crate::walls::Walls;

/// How long a call waits until it is known.
const PATIENCE: Duration = Duration::from_secs(30);
/// After how many deaths of workers, none of which was ever ready, nobody waits for the next one.
const STILLBORN: u32 = 6;

#[derive(Clone, Debug)]
enum State {
    /// Not known yet.
    Starting,
    /// Not known, and nothing to wait for: workers die before they are ready.
    Failing,
    /// They may: these walls hold.
    Holds(Walls),
    /// They may not, and why.
    Refused(String),
}

impl State {
    fn walls(&self) -> Result<Walls, PoolError> {
        match self {
            State::Holds(walls) => Ok(*walls),
            State::Refused(reason) => Err(PoolError::Walls(reason.clone())),
            State::Starting => {
                Err(PoolError::Unavailable("the workers that run templates are starting".into()))
            }
            State::Failing => Err(PoolError::Unavailable(
                "the workers that run templates cannot be started".into(),
            )),
        }
    }
}

/// What is known; it changes with the lives of workers, and settles with the self-test.
pub(super) struct Standing {
    state: watch::Sender<State>,
    /// How many workers died since one was ready.
    stillborn: AtomicU32,
}

impl Standing {
    pub(super) fn new() -> Self {
        Self { state: watch::Sender::new(State::Starting), stillborn: AtomicU32::new(0) }
    }

    /// The walls that hold, by what is known now.
    ///
    /// # Errors
    /// Why templates are not run.
    pub(super) fn walls(&self) -> Result<Walls, PoolError> {
        self.state.borrow().walls()
    }

    /// The same, but waits until it is known.
    ///
    /// # Errors
    /// As [`Standing::walls`], and when it is not known by `deadline`.
    pub(super) async fn settled(&self, deadline: Instant) -> Result<Walls, PoolError> {
        if let Ok(walls) = self.walls() {
            return Ok(walls);
        }
        let mut state = self.state.subscribe();
        let known = state.wait_for(|state| !matches!(state, State::Starting));
        // Whatever came of waiting, what counts is what is known then.
        let _ = timeout_at(deadline.min(Instant::now() + PATIENCE), known).await;
        self.walls()
    }

    /// A worker is ready.
    pub(super) fn born(&self) {
        self.stillborn.store(0, Ordering::Relaxed);
        self.change(|state| matches!(state, State::Failing), State::Starting);
    }

    /// A worker died.
    pub(super) fn died(&self) {
        if self.stillborn.fetch_add(1, Ordering::Relaxed).saturating_add(1) >= STILLBORN {
            self.change(|state| matches!(state, State::Starting), State::Failing);
        }
    }

    /// Templates may be run.
    pub(super) fn hold(&self, walls: Walls) {
        self.state.send_replace(State::Holds(walls));
    }

    /// They may not.
    pub(super) fn refuse(&self, reason: String) {
        self.state.send_replace(State::Refused(reason));
    }

    fn change(&self, from: impl Fn(&State) -> bool, to: State) {
        self.state.send_if_modified(|state| {
            let changes = from(state);
            if changes {
                *state = to;
            }
            changes
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(standing: &Standing) -> String {
        standing.walls().map_or_else(|error| error.to_string(), |walls| walls.to_string())
    }

    #[test]
    fn deaths_without_a_birth_are_told_until_there_is_one() {
        let standing = Standing::new();
        for _ in 1..STILLBORN {
            standing.died();
        }
        assert!(told(&standing).contains("starting"));
        standing.died();
        assert!(told(&standing).contains("cannot be started"));
        standing.born();
        standing.died();
        assert!(told(&standing).contains("starting"));
    }

    #[test]
    fn what_has_settled_is_not_changed_by_deaths() {
        let standing = Standing::new();
        standing.hold(Walls::default());
        for _ in 0..2 * STILLBORN {
            standing.died();
        }
        assert_eq!(standing.walls().unwrap(), Walls::default());
        standing.refuse("a hole".into());
        standing.born();
        assert!(told(&standing).contains("a hole"));
    }
}
