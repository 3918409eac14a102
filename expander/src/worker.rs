//! One worker process, from its start to its death: children are ordered from it, and their ends come back.
//!
//! What children are for is the pool's business.

mod backoff;
mod child;
mod control;
#[cfg(test)]
pub(crate) mod fake;
mod keeper;
mod launch;

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::{Ended, Notice, Order};
use rustix::process::{Signal, pidfd_send_signal};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::walls::Walls;

use self::control::Control;

pub(crate) use self::child::{Child, Said};
pub(crate) use self::keeper::{Event, Keeper};
#[cfg(test)]
pub(crate) use self::launch::Process;
pub(crate) use self::launch::{Launch, Program};

/// How long a worker may take until it is ready. It takes 50 ms; a machine that swaps takes longer.
const START: Duration = Duration::from_secs(30);

/// A worker that is ready.
pub(crate) struct Worker {
    control: Control,
    pidfd: OwnedFd,
    walls: Walls,
    /// Children that are ordered and not known to be gone. None: the worker is dead, and all of them with it.
    children: Mutex<Option<BTreeMap<u64, Awaited>>>,
    next: AtomicU64,
}

/// Who waits for news of a child.
struct Awaited {
    started: Option<oneshot::Sender<OwnedFd>>,
    ended: oneshot::Sender<End>,
}

/// How a child's life ended, as the worker tells. When the worker dies first, nobody tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It lived.
    Ended(Ended),
    /// It never did, by that error of `fork`.
    Refused(i32),
}

/// The worker is gone, or does not answer and is about to go.
#[derive(Debug)]
pub(crate) struct Lost;

impl Worker {
    /// Waits until the process at the other end says that it is ready.
    pub(crate) async fn ready(control: OwnedFd, pidfd: OwnedFd) -> Result<Self, String> {
        let control = Control::new(control).map_err(|error| error.to_string())?;
        let notice = match timeout(START, control.receive()).await {
            Ok(Ok(Some((notice, _)))) => notice,
            Ok(Ok(None)) => return Err("it ended before it was ready".into()),
            Ok(Err(error)) => return Err(error.to_string()),
            Err(_) => return Err("it was not ready in time".into()),
        };
        let Notice::Ready { layers, landlock } = notice else {
            return Err(format!("it began with {notice:?}"));
        };
        Ok(Self {
            control,
            pidfd,
            walls: Walls::from_notice(layers, landlock),
            children: Mutex::new(Some(BTreeMap::new())),
            next: AtomicU64::new(1),
        })
    }

    /// What it says of its walls.
    pub(crate) fn walls(&self) -> Walls {
        self.walls
    }

    /// How many children it has, or none when it is dead.
    pub(crate) fn load(&self) -> Option<usize> {
        self.children().as_ref().map(BTreeMap::len)
    }

    /// Orders a child. It may take a call at once: what is written waits for it.
    pub(crate) async fn start(&self, session: bool) -> Result<Child, Lost> {
        let (ours, theirs) = UnixStream::pair().map_err(|_| Lost)?;
        ours.set_nonblocking(true).map_err(|_| Lost)?;
        let channel = tokio::net::UnixStream::from_std(ours).map_err(|_| Lost)?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (started, pidfd) = oneshot::channel();
        let (ended, end) = oneshot::channel();
        let awaited = Awaited { started: Some(started), ended };
        self.children().as_mut().ok_or(Lost)?.insert(id, awaited);
        if self.control.send(Order::Start { id, session }, Some(theirs.as_fd())).await.is_err() {
            // The worker may live on: there is a bound on descriptors under way, too.
            self.children().as_mut().map(|children| children.remove(&id));
            return Err(Lost);
        }
        Ok(Child::new(channel, pidfd, end))
    }

    /// Reads what the worker says until it dies; sees to it that it does when it stops answering, or says nonsense.
    pub(crate) async fn serve(&self, health: Duration) -> String {
        let reason = self.converse(health).await;
        self.end();
        reason
    }

    /// Ends it, and with it all of its children; those who wait for them learn that there will be no news.
    pub(crate) fn end(&self) {
        self.kill();
        *self.children() = None;
    }

    async fn converse(&self, health: Duration) -> String {
        let mut ticks = interval(health);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut asked: Option<Instant> = None;
        loop {
            tokio::select! {
                // What has arrived is read before anything is held against the worker.
                biased;
                received = self.control.receive() => match received {
                    Ok(Some((Notice::Pong, _))) => asked = None,
                    Ok(Some((notice, passed))) => {
                        if let Err(reason) = self.note(notice, passed) {
                            return reason;
                        }
                    }
                    Ok(None) => return "it closed its control socket".into(),
                    Err(error) => return error.to_string(),
                },
                _ = ticks.tick() => {
                    if asked.is_some_and(|asked| asked.elapsed() >= health) {
                        return "it does not answer".into();
                    }
                    asked = asked.or_else(|| Some(Instant::now()));
                    // A full socket is a worker that does not read: the next tick will tell.
                    let _ = timeout(health, self.control.send(Order::Ping, None)).await;
                }
            }
        }
    }

    fn note(&self, notice: Notice, passed: Option<OwnedFd>) -> Result<(), String> {
        let mut children = self.children();
        let children = children.as_mut().ok_or("it is dead")?;
        match (notice, passed) {
            (Notice::Started { id }, Some(pidfd)) => {
                // Nobody may be waiting any more; then nobody will want to kill it either.
                if let Some(started) = children.get_mut(&id).and_then(|child| child.started.take())
                {
                    let _ = started.send(pidfd);
                }
                Ok(())
            }
            (Notice::Ended(ended), None) => {
                if let Some(child) = children.remove(&ended.id) {
                    let _ = child.ended.send(End::Ended(ended));
                }
                Ok(())
            }
            (Notice::Refused { id, errno }, None) => {
                if let Some(child) = children.remove(&id) {
                    let _ = child.ended.send(End::Refused(errno));
                }
                Ok(())
            }
            (notice, _) => Err(format!("it said {notice:?} out of turn")),
        }
    }

    fn kill(&self) {
        // It may be dead already, which is as good.
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }

    fn children(&self) -> MutexGuard<'_, Option<BTreeMap<u64, Awaited>>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
