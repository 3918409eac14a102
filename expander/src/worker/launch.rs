//! Starts the worker's process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Starts processes that speak the protocol on the socket that they are given.
pub(crate) trait Launch: Send + Sync + 'static {
    /// Starts one with these arguments. Called in a thread that lives as long as the process: Linux ties the death of a child's parent to the
    /// thread that started it.
    fn launch(&self, arguments: &[String], control: OwnedFd) -> io::Result<Box<dyn Process>>;
}

/// A process that was started.
pub(crate) trait Process: Send {
    /// A handle that stays its own, whatever happens to its number.
    fn pidfd(&self) -> BorrowedFd<'_>;

    /// Waits for its end, and says what that was.
    fn wait(&mut self) -> String;
}

/// The worker's binary.
pub(crate) struct Program(pub(crate) PathBuf);

impl Launch for Program {
    fn launch(&self, arguments: &[String], control: OwnedFd) -> io::Result<Box<dyn Process>> {
        let mut child = Command::new(&self.0)
            // Nothing of this machine's shows in the worker, and with it in no template.
            .arg0("formwork-expander")
            .args(arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(control))
            .stdout(Stdio::null())
            .spawn()?;
        match pidfd(&child) {
            Ok(pidfd) => Ok(Box::new(Running { child, pidfd })),
            Err(error) => {
                // It cannot be looked after, so it must not live.
                child.kill()?;
                child.wait()?;
                Err(error)
            }
        }
    }
}

/// Of a child that was not waited for, so that its number is its own.
pub(super) fn pidfd(child: &Child) -> io::Result<OwnedFd> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidData)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

struct Running {
    child: Child,
    pidfd: OwnedFd,
}

impl Process for Running {
    fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    fn wait(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }
}
