//! The zygote: waits for orders and for children to end, and does nothing else.
//!
//! It never sees a request or an answer, so there is nothing in its memory that a later child could find.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use anyhow::{Context as _, Result};
use protocol::{Ended, Notice, Order};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::child::{self, Life};
use crate::control::Control;
use crate::fork::{Fork, Remains, reap};
use crate::interpreter::Interpreter;
use crate::jail::Walls;

/// A worker that takes orders.
pub(crate) struct Zygote {
    pub(crate) control: Control,
    pub(crate) interpreter: Interpreter,
    pub(crate) walls: Walls,
    /// Processor time of a call.
    pub(crate) cpu: Duration,
    pub(crate) children: Vec<Child>,
}

/// A child that runs.
pub(crate) struct Child {
    id: u64,
    pid: Pid,
    pidfd: OwnedFd,
}

impl Zygote {
    /// Serves until the expander is gone, or has said that there is nothing more to come and all children have ended.
    ///
    /// # Errors
    /// When the expander says what cannot be understood.
    pub(crate) fn serve(mut self) -> Result<()> {
        let mut quitting = false;
        while !(quitting && self.children.is_empty()) {
            let (orders, ended) = self.wait()?;
            // From the back, since removing one moves those behind it.
            for at in ended.into_iter().rev() {
                self.bury(at)?;
            }
            if !orders {
                continue;
            }
            match self.control.receive()? {
                // The children die with this process.
                None => return Ok(()),
                Some((Order::Start { id, session }, Some(channel))) => {
                    let life = if session { Life::Session } else { Life::Call };
                    self.start(id, life, channel)?;
                }
                Some((Order::Start { id, .. }, None)) => {
                    self.control.send(Notice::Refused { id, errno: libc::EBADF }, None)?;
                }
                Some((Order::Ping, _)) => self.control.send(Notice::Pong, None)?,
                Some((Order::Quit, _)) => quitting = true,
            }
        }
        Ok(())
    }

    /// Waits for something to happen: whether there are orders, and which children have ended.
    fn wait(&self) -> io::Result<(bool, Vec<usize>)> {
        let control = PollFd::from_borrowed_fd(self.control.as_fd(), PollFlags::IN);
        let children = self.children.iter().map(|child| PollFd::new(&child.pidfd, PollFlags::IN));
        let mut watched: Vec<_> = [control].into_iter().chain(children).collect();
        match poll(&mut watched, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut happened = watched.iter().map(|one| !one.revents().is_empty());
        let orders = happened.next().unwrap_or(false);
        Ok((orders, happened.enumerate().filter_map(|(at, ended)| ended.then_some(at)).collect()))
    }

    fn start(&mut self, id: u64, life: Life, channel: OwnedFd) -> Result<()> {
        let pid = match self.interpreter.fork() {
            Ok(Fork::Child) => child::live(channel, life, &self.walls, &self.interpreter, self.cpu),
            Ok(Fork::Parent(pid)) => pid,
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(libc::EAGAIN);
                return Ok(self.control.send(Notice::Refused { id, errno }, None)?);
            }
        };
        drop(channel);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => {
                self.control.send(Notice::Started { id }, Some(pidfd.as_fd()))?;
                self.children.push(Child { id, pid, pidfd });
                Ok(())
            }
            // Nobody could end it or learn of its end: it must not be.
            Err(error) => {
                kill_process(pid, Signal::KILL).context("a child without a descriptor")?;
                reap(pid)?;
                let errno = error.raw_os_error();
                Ok(self.control.send(Notice::Refused { id, errno }, None)?)
            }
        }
    }

    fn bury(&mut self, at: usize) -> Result<()> {
        let Child { id, pid, pidfd } = self.children.swap_remove(at);
        let Remains { code, signal, cpu, memory } =
            reap(pid).context("a child that is not there")?;
        // Once its end is told, there is nothing left of it in here.
        drop(pidfd);
        let ended = Ended { id, code, signal, cpu, memory };
        Ok(self.control.send(Notice::Ended(ended), None)?)
    }
}
