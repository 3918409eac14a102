//! The question for the newest revision, asked once for all who wait for the answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::Shared;
use tokio::time::timeout;

use crate::{BoxFuture, Result, Revision};

/// How long a question waits for the answer to the one before. Those who ask meanwhile share it; but one that hangs
/// does not hold up the others.
const TURN: Duration = Duration::from_millis(10);

/// Asks for the newest revision.
///
/// Whoever asks is answered with a revision that was read after they asked. Thus nobody may join a question that is on
/// its way already, but all who come while it is can share the next one.
pub(super) struct Newest {
    read: Read,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The last question, and how many there were with it.
    last: Option<Question>,
    count: u64,
    /// The last one that was sent.
    sent: u64,
}

type Read = Arc<dyn Fn() -> BoxFuture<'static, Result<Revision>> + Send + Sync>;

type Question = Shared<BoxFuture<'static, Result<Revision>>>;

impl Newest {
    /// What `read` answers is shared.
    pub(super) fn new(
        read: impl Fn() -> BoxFuture<'static, Result<Revision>> + Send + Sync + 'static,
    ) -> Self {
        Self { read: Arc::new(read), state: Arc::default() }
    }

    /// The newest revision: every change that was acknowledged before this call has it or an older one.
    ///
    /// # Errors
    /// Those of reading.
    pub(super) async fn read(&self) -> Result<Revision> {
        // The lock is not held while anybody waits.
        let question = self.question();
        question.await
    }

    fn question(&self) -> Question {
        let mut state = lock(&self.state);
        match &state.last {
            Some(waiting) if state.sent < state.count => waiting.clone(),
            _ => {
                state.count += 1;
                let question = self.ask(state.count, state.last.take()).boxed().shared();
                state.last = Some(question.clone());
                question
            }
        }
    }

    fn ask(
        &self,
        number: u64,
        before: Option<Question>,
    ) -> impl Future<Output = Result<Revision>> + Send + use<> {
        let (read, state) = (self.read.clone(), self.state.clone());
        async move {
            if let Some(before) = before {
                // Its outcome is for those who asked it.
                let _ = timeout(TURN, before).await;
            }
            lock(&state).sent = number;
            read().await
        }
    }
}

// Nothing panics between two changes that belong together, so a poisoned lock guards nothing broken.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::sync::Semaphore;
    use tokio::task::yield_now;

    use super::*;

    /// Answers the number of the question, when it is let.
    struct Gate {
        asked: AtomicU64,
        open: Semaphore,
    }

    fn gated() -> (Arc<Gate>, Arc<Newest>) {
        let gate = Arc::new(Gate { asked: AtomicU64::new(0), open: Semaphore::new(0) });
        let asked = gate.clone();
        let newest = Newest::new(move || {
            let gate = asked.clone();
            Box::pin(async move {
                let number = gate.asked.fetch_add(1, Ordering::Relaxed) + 1;
                gate.open.acquire().await.unwrap().forget();
                Ok(Revision::new(number))
            })
        });
        (gate, Arc::new(newest))
    }

    fn reader(newest: &Arc<Newest>) -> tokio::task::JoinHandle<u64> {
        let newest = newest.clone();
        tokio::spawn(async move { newest.read().await.unwrap().get() })
    }

    async fn settled() {
        for _ in 0..100 {
            yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_while_a_question_is_on_its_way_shares_the_next() {
        let (gate, newest) = gated();
        let first = reader(&newest);
        settled().await;
        let others: Vec<_> = (0..50).map(|_| reader(&newest)).collect();
        settled().await;
        assert_eq!(gate.asked.load(Ordering::Relaxed), 1);
        gate.open.add_permits(2);
        assert_eq!(first.await.unwrap(), 1);
        for other in others {
            assert_eq!(other.await.unwrap(), 2);
        }
        gate.open.add_permits(1);
        assert_eq!(reader(&newest).await.unwrap(), 3, "an answer is not kept");
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_hangs_or_is_given_up_does_not_hold_up_the_next() {
        let (gate, newest) = gated();
        let first = reader(&newest);
        settled().await;
        let second = reader(&newest);
        settled().await;
        let shared = reader(&newest);
        settled().await;
        first.abort();
        second.abort();
        while gate.asked.load(Ordering::Relaxed) < 2 {
            tokio::time::sleep(TURN).await;
        }
        gate.open.add_permits(1);
        assert_eq!(shared.await.unwrap(), 2);
    }
}
