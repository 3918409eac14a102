//! Processes: how one is forked, what it keeps, how it ends, and what is left of it.
//!
//! The worker has one thread from beginning to end. That is what makes `fork` sound here: no lock can be held by a
//! thread that the child does not have.

use std::fs::File;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::ptr;

use rustix::process::Pid;

/// Who one is after a fork.
pub(crate) enum Fork {
    /// The one that was there before, and its new child.
    Parent(Pid),
    /// The new one.
    Child,
}

/// Forks. Glibc's function and not the bare system call: it puts the allocator in order.
///
/// # Errors
/// When there may be no more processes.
pub(crate) fn fork() -> io::Result<Fork> {
    // SAFETY: there is one thread, so the child finds no lock taken and no state half way.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        child => Ok(Fork::Parent(Pid::from_raw(child).expect("a child has a positive number"))),
    }
}

/// Ends the process as it is: nothing is flushed, finalized or handed back.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: it does not return, and touches nothing.
    unsafe { libc::_exit(code) }
}

/// Ends the process with a signal. That says more than an exit code: behind the walls anybody can choose a code, and
/// nobody can send a signal.
pub(crate) fn die(signal: i32) -> ! {
    // SAFETY: it goes to this very process, and runs no code of ours.
    unsafe { libc::kill(libc::getpid(), signal) };
    exit(libc::EXIT_FAILURE)
}

/// Default actions for all signals that Rust's runtime takes or ignores, and none blocked.
///
/// # Errors
/// When the kernel refuses.
pub(crate) fn reset_signals() -> io::Result<()> {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGPIPE, libc::SIGXCPU, libc::SIGXFSZ] {
        // SAFETY: the default action runs no code of ours.
        if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    // SAFETY: zeros are a signal set, and an empty one.
    let none: libc::sigset_t = unsafe { zeroed() };
    // SAFETY: the set is ours, and the old one is not asked for.
    match unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Moves `kept` to the number `number` and closes all others.
///
/// # Errors
/// When the kernel refuses.
pub(crate) fn keep_only(kept: OwnedFd, number: RawFd) -> io::Result<File> {
    if kept.as_raw_fd() != number {
        // SAFETY: whatever had that number belongs to nobody who still runs: this is a child, and it is about to lose
        // all of its parent's descriptors.
        if unsafe { libc::dup2(kept.as_raw_fd(), number) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    // Its old number is closed below with the others; closing it twice would be an error in a debug build.
    std::mem::forget(kept);
    for other in 0..number {
        close(other);
    }
    close_from(number.unsigned_abs() + 1)?;
    // SAFETY: it was put there above, and nobody else has it.
    Ok(unsafe { File::from_raw_fd(number) })
}

/// Closes a descriptor by its number, if there is one.
pub(crate) fn close(number: RawFd) {
    // SAFETY: used for standard descriptors and in children that own none of what they inherit.
    unsafe { libc::close(number) };
}

/// Closes all descriptors from `first` on.
///
/// # Errors
/// When the kernel is older than 5.9.
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: as for `close`.
    match unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0u32) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What is left of a child.
pub(crate) struct Remains {
    /// Its exit code, when it ended by itself.
    pub(crate) code: Option<i32>,
    /// The signal, when one ended it.
    pub(crate) signal: Option<i32>,
    /// Processor time in microseconds.
    pub(crate) cpu: u64,
    /// Most memory that it had, in KiB.
    pub(crate) memory: u64,
}

/// Waits for a child to end and takes it off the process table.
///
/// # Errors
/// When it is no child of this process.
pub(crate) fn reap(child: Pid) -> io::Result<Remains> {
    let mut status = 0;
    // SAFETY: zeros are such a structure.
    let mut usage: libc::rusage = unsafe { zeroed() };
    let number = child.as_raw_nonzero().get();
    loop {
        // SAFETY: both are ours and writable.
        if unsafe { libc::wait4(number, &raw mut status, 0, &raw mut usage) } == number {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let microseconds = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
    Ok(Remains {
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        cpu: u64::try_from(microseconds(usage.ru_utime) + microseconds(usage.ru_stime))
            .unwrap_or(0),
        memory: u64::try_from(usage.ru_maxrss).unwrap_or(0),
    })
}
