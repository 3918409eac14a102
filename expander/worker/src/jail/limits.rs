//! How much a child may take: address space, processor time, and nothing at all of what it does not need.

use std::io;
use std::mem::{MaybeUninit, zeroed};
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Address space that is kept for telling that there is none left, in bytes. It is never touched, so it costs nothing.
const RESERVE: usize = 8 << 20;
/// How deep C code may recurse, in bytes; beyond it is SIGSEGV, of this child alone.
const STACK: u64 = 8 << 20;

static RESERVED: AtomicPtr<libc::c_void> = AtomicPtr::new(ptr::null_mut());

/// Puts the reserve aside. Children inherit it.
///
/// # Errors
/// When there is no room for it.
pub(crate) fn reserve() -> io::Result<()> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
    let kept = unsafe { mmap_anonymous(ptr::null_mut(), RESERVE, ProtFlags::empty(), flags)? };
    RESERVED.store(kept, Ordering::Relaxed);
    Ok(())
}

/// Gives the reserve back, so that there is memory to report with.
pub(crate) fn release() {
    let kept = RESERVED.swap(ptr::null_mut(), Ordering::Relaxed);
    if !kept.is_null() {
        // SAFETY: it was mapped by `reserve`, nobody was ever told of it, and the swap gives it out once. An error
        // would leave things as they are.
        let _ = unsafe { munmap(kept, RESERVE) };
    }
}

/// Address space of the process with that folder in `/proc`, in bytes.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn address_space(process: &Path) -> Result<u64> {
    let text = std::fs::read_to_string(process.join("statm")).context("the size of the worker")?;
    let pages: u64 = text.split(' ').next().unwrap_or_default().parse()?;
    anyhow::ensure!(pages > 0, "the worker cannot find itself in /proc");
    Ok(pages * rustix::param::page_size() as u64)
}

/// Sets the limits. `space` is all address space in bytes, `time` all processor time.
///
/// # Errors
/// When the kernel refuses.
pub(crate) fn set(space: u64, time: Duration) -> io::Result<()> {
    // Whole seconds, and so only a second net behind the timer.
    let seconds = time.as_secs() + 1;
    for (resource, soft, hard) in [
        (Resource::As, space, space),
        (Resource::Cpu, seconds, seconds + 1),
        (Resource::Stack, STACK, STACK),
        (Resource::Nofile, 0, 0),
        (Resource::Nproc, 0, 0),
        (Resource::Fsize, 0, 0),
        (Resource::Core, 0, 0),
        (Resource::Memlock, 0, 0),
        (Resource::Msgqueue, 0, 0),
        (Resource::Locks, 0, 0),
    ] {
        // Where there is less to begin with, that stays.
        let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Rlimit { current: Some(soft.min(most)), maximum: Some(hard.min(most)) };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

/// SIGXCPU when `time` of the processor is used up, wherever the process is then. Timers are not inherited.
///
/// # Errors
/// When the kernel refuses.
pub(crate) fn start_timer(time: Duration) -> io::Result<()> {
    // SAFETY: a `sigevent` of zeros is one: SIGEV_SIGNAL with no signal yet.
    let mut event: libc::sigevent = unsafe { zeroed() };
    event.sigev_notify = libc::SIGEV_SIGNAL;
    event.sigev_signo = libc::SIGXCPU;
    let mut timer = MaybeUninit::<libc::timer_t>::uninit();
    // SAFETY: both structures are ours; the kernel writes the timer only when it succeeds.
    let created = unsafe {
        libc::timer_create(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut event, timer.as_mut_ptr())
    };
    if created != 0 {
        return Err(io::Error::last_os_error());
    }
    let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let once = libc::itimerspec {
        it_interval: never,
        it_value: libc::timespec {
            tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: time.subsec_nanos().into(),
        },
    };
    // SAFETY: the timer was created above, and the structure is ours.
    match unsafe { libc::timer_settime(timer.assume_init(), 0, &raw const once, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
