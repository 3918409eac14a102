//! Namespaces: a user, a process table, a network, mounts and names that nobody else is in.
//!
//! Entered once, by the zygote, since a network namespace for every call would cost more than the call. Where they are
//! forbidden, as in most pods, the other walls stand alone.

use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount,
};
use rustix::process::{
    Pid, Signal, WaitOptions, chdir, getgid, getuid, pivot_root, set_parent_process_death_signal,
    waitpid,
};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::fork::{Fork, fork};

use super::privileges;

/// Whether all of it works here. Tried by a process that is thrown away, since half of it could not be undone: some
/// systems let a process in and refuse the mounts later.
pub(crate) fn work() -> bool {
    match fork() {
        Ok(Fork::Child) => {
            let tried = enter().and_then(|_| empty_root());
            crate::fork::exit(i32::from(tried.is_err()))
        }
        Ok(Fork::Parent(child)) => {
            let status = waitpid(Some(child), WaitOptions::empty()).ok().flatten();
            status.is_some_and(|(_, status)| status.exit_status() == Some(0))
        }
        Err(_) => false,
    }
}

/// Enters them. Who returns is a new process, the first of its process table; the one that called waits outside until
/// it ends, and ends as it did. Returns its folder in the `/proc` of outside.
///
/// # Errors
/// When the system does not allow it.
pub(crate) fn enter() -> Result<PathBuf> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let all = UnshareFlags::NEWUSER
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWNS;
    // SAFETY: the descriptors stay shared with nobody: there is one thread, and CLONE_FILES is not among the flags.
    unsafe { unshare_unsafe(all) }.context("unshare")?;
    fs::write("/proc/self/setgroups", "deny").context("setgroups")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1")).context("uid_map")?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1")).context("gid_map")?;

    let (tell, told) = rustix::pipe::pipe().map(|(told, tell)| (tell, told))?;
    match fork()? {
        Fork::Parent(child) => {
            rustix::io::write(&tell, &child.as_raw_nonzero().get().to_ne_bytes())?;
            wait_outside(child)
        }
        Fork::Child => {
            // The parent is not in this process table, so there is no number to compare with.
            privileges::follow(None).context("the process outside")?;
            let mut number = [0; 4];
            if rustix::io::read(&told, &mut number)? != number.len() {
                bail!("the process outside is gone");
            }
            Ok(PathBuf::from(format!("/proc/{}", i32::from_ne_bytes(number))))
        }
    }
}

/// Holds nothing open but the way to the log, so that whoever waits for the worker's end sees it.
fn wait_outside(child: Pid) -> ! {
    let gone = || crate::fork::exit(1);
    if crate::fork::close_from(3).is_err() || privileges::renounce().is_err() {
        gone();
    }
    // Unsharing the user took this away.
    if set_parent_process_death_signal(Some(Signal::KILL)).is_err() || privileges::lock().is_err() {
        gone();
    }
    let status = loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Ok(Some((_, status))) => break status,
            Err(rustix::io::Errno::INTR) | Ok(None) => {}
            Err(_) => gone(),
        }
    };
    crate::fork::exit(status.exit_status().unwrap_or(1))
}

/// Changes the root to an empty folder that cannot be written to. Files that are open stay open.
///
/// # Errors
/// When the system does not allow it.
pub(crate) fn empty_root() -> Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .context("private mounts")?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    // Over `/proc`, since every system has that folder and nobody looks into it any more.
    mount("none", "/proc", "tmpfs", flags, Some(c"size=4k,nr_inodes=2,mode=0555"))
        .context("tmpfs")?;
    chdir("/proc")?;
    // Both names are the same: the old root ends up on top of the new one, and is taken off.
    pivot_root(".", ".").context("pivot_root")?;
    unmount(".", UnmountFlags::DETACH).context("umount")?;
    chdir("/")?;
    match rustix::fs::accessat(
        CWD,
        "/etc",
        rustix::fs::Access::EXISTS,
        rustix::fs::AtFlags::empty(),
    ) {
        Err(rustix::io::Errno::NOENT) => Ok(()),
        _ => Err(io::Error::other("the root is not empty").into()),
    }
}
