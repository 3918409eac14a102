//! The walls around a child. The order is the design: each step takes away what a later one no longer needs.
//!
//! seccomp alone contains every attempt that is known; the others stand behind it, should it have a hole. Where a wall
//! cannot be built the child ends with a signal that says which, before it has read a byte of its request.

#[expect(unsafe_code, reason = "the library does not tell the kernel's version beforehand")]
pub(crate) mod landlock;
#[expect(unsafe_code, reason = "memory is mapped, and a timer of the kernel's set")]
pub(crate) mod limits;
#[expect(unsafe_code, reason = "namespaces are unshared")]
pub(crate) mod namespaces;
#[cfg(test)]
#[expect(unsafe_code, reason = "system calls are made as an attacker makes them")]
mod native;
pub(crate) mod privileges;
pub(crate) mod seccomp;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Result, bail};
use protocol::WALLS;
use rustix::process::Pid;

use crate::fork::{self, Fork, Remains};
use crate::interpreter::Interpreter;

/// The descriptor of a child's channel, and the only one it has.
pub(crate) const CHANNEL: i32 = 3;

/// What all children have in common; made once, in the zygote.
pub(crate) struct Walls {
    /// The process whose end is the child's end.
    pub(crate) zygote: Pid,
    /// Version of Landlock that is enforced; 0 is none.
    pub(crate) landlock: u32,
    /// Address space in bytes.
    pub(crate) space: u64,
    /// System calls.
    pub(crate) filter: seccomp::Filter,
}

/// A wall that could not be built.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Breach {
    #[error("the signals of a child could not be reset: {0}")]
    Signals(io::Error),
    #[error("the descriptors of a child could not be closed: {0}")]
    Descriptors(io::Error),
    #[error("a child has no parent to follow: {0}")]
    Parent(io::Error),
    #[error("a child could not be kept from gaining privileges: {0}")]
    Privileges(io::Error),
    #[error("Landlock is not enforced: {0}")]
    Landlock(String),
    #[error("the limits of a child could not be set: {0}")]
    Limits(io::Error),
    #[error("the timer of a child could not be set: {0}")]
    Timer(io::Error),
    #[error("seccomp is not enforced: {0}")]
    Seccomp(String),
}

impl Breach {
    /// Ends the child with the signal that says so.
    pub(crate) fn die(&self) -> ! {
        let wall = match self {
            Breach::Signals(_) => 0,
            Breach::Descriptors(_) => 1,
            Breach::Parent(_) => 2,
            Breach::Privileges(_) => 3,
            Breach::Landlock(_) => LANDLOCK,
            Breach::Limits(_) => 5,
            Breach::Timer(_) => 6,
            Breach::Seccomp(_) => 7,
        };
        fork::die(WALLS.start() + wall)
    }
}

/// Which of the signals is that of a child without Landlock.
const LANDLOCK: i32 = 4;

impl Walls {
    /// Walls in the calling process, which keeps nothing but the channel and may use `time` of the processor.
    ///
    /// # Errors
    /// When a wall cannot be built. Whoever called is half way then, and must end.
    pub(crate) fn raise(&self, channel: OwnedFd, time: Duration) -> Result<File, Breach> {
        // Handlers of the zygote's would run in here, and a blocked SIGXCPU would never arrive.
        fork::reset_signals().map_err(Breach::Signals)?;
        let channel = fork::keep_only(channel, CHANNEL).map_err(Breach::Descriptors)?;
        privileges::follow(Some(self.zygote)).map_err(Breach::Parent)?;
        privileges::lock().map_err(Breach::Privileges)?;
        // Needs a descriptor for its rules, so it comes before the limit of descriptors.
        self.restrict_files()?;
        limits::set(self.space, time).map_err(Breach::Limits)?;
        // Neither setting nor clearing a timer is possible behind the filter.
        limits::start_timer(time).map_err(Breach::Timer)?;
        self.filter.install().map_err(|error| Breach::Seccomp(error.to_string()))?;
        Ok(channel)
    }

    /// The same walls, after a child that is thrown away has stood behind them: without Landlock, where the kernel has
    /// it and does not enforce it.
    ///
    /// # Errors
    /// When one that is required cannot be built, or does not hold.
    pub(crate) fn tried_out(mut self, interpreter: &Interpreter, time: Duration) -> Result<Self> {
        loop {
            let Remains { code, signal, .. } = self.try_out(interpreter, time)?;
            match signal {
                None if code == Some(0) => return Ok(self),
                Some(signal) if self.landlock > 0 && signal == WALLS.start() + LANDLOCK => {
                    self.landlock = 0;
                }
                _ => {
                    bail!("the walls of a child cannot be built: code {code:?}, signal {signal:?}")
                }
            }
        }
    }

    /// What is left of a child that raises the walls and knocks at them.
    fn try_out(&self, interpreter: &Interpreter, time: Duration) -> Result<Remains> {
        let (channel, _other) = UnixStream::pair()?;
        match interpreter.fork()? {
            Fork::Child => match self.raise(channel.into(), time) {
                Err(breach) => breach.die(),
                Ok(_) => fork::exit(i32::from(!holds())),
            },
            Fork::Parent(child) => Ok(fork::reap(child)?),
        }
    }

    fn restrict_files(&self) -> Result<(), Breach> {
        if self.landlock == 0 {
            return Ok(());
        }
        match landlock::restrict(self.landlock) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Breach::Landlock("the kernel enforces a part".to_owned())),
            Err(error) => Err(Breach::Landlock(error.to_string())),
        }
    }
}

/// Whether a file and a socket are refused as the filter refuses them.
fn holds() -> bool {
    let refused = |error: Option<io::Error>| {
        error.is_some_and(|error| error.raw_os_error() == Some(libc::EPERM))
    };
    refused(File::open("/").err()) && refused(UnixStream::pair().err())
}
