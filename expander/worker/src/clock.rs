//! What every clock says: the real time in the zygote, the time of the request in a child.
//!
//! The dynamic linker gives these two functions to the C library's users, CPython among them, in place of its own, so
//! one number stops time for all modules. This makes results repeatable; it is no wall, since a processor has clocks of
//! its own.

use std::sync::atomic::{AtomicI64, Ordering};

/// Clocks run.
const RUNNING: i64 = i64::MIN;
/// What a stopped clock that must not stand still goes on by at every look, in nanoseconds: loops that wait end.
const TICK: i64 = 1_000;
const SECOND: i64 = 1_000_000_000;

static NOW: AtomicI64 = AtomicI64::new(RUNNING);
static TICKS: AtomicI64 = AtomicI64::new(SECOND);

/// Stops all clocks at `now`, in seconds since 1970.
pub(crate) fn stop(now: i64) {
    NOW.store(now.max(RUNNING + 1), Ordering::Relaxed);
}

/// Lets them run again.
pub(crate) fn run() {
    NOW.store(RUNNING, Ordering::Relaxed);
}

/// Processor time that this process has used, in microseconds, whatever the clocks are made to say.
pub(crate) fn used() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours and writable.
    if unsafe { kernel(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } != 0 {
        return i64::MAX;
    }
    time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
}

/// # Safety
/// `time` is null or may be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(
    clock: libc::clockid_t,
    time: *mut libc::timespec,
) -> libc::c_int {
    let now = NOW.load(Ordering::Relaxed);
    if now == RUNNING || time.is_null() {
        // SAFETY: as promised by the caller; the kernel refuses what is not writable.
        return unsafe { kernel(clock, time) };
    }
    let read = match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => {
            libc::timespec { tv_sec: now, tv_nsec: 0 }
        }
        _ => {
            let ticks = TICKS.fetch_add(TICK, Ordering::Relaxed);
            libc::timespec { tv_sec: ticks / SECOND, tv_nsec: ticks % SECOND }
        }
    };
    // SAFETY: it is not null, and the caller promised that it may be written to.
    unsafe { time.write(read) };
    0
}

/// # Safety
/// `seconds` is null or may be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn time(seconds: *mut libc::time_t) -> libc::time_t {
    let mut read = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours and writable.
    if unsafe { clock_gettime(libc::CLOCK_REALTIME, &raw mut read) } != 0 {
        return -1;
    }
    if !seconds.is_null() {
        // SAFETY: it is not null, and the caller promised that it may be written to.
        unsafe { seconds.write(read.tv_sec) };
    }
    read.tv_sec
}

/// # Safety
/// As for `clock_gettime`.
unsafe fn kernel(clock: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    // SAFETY: the kernel checks the clock and the address, and answers EFAULT where it cannot write.
    let result = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) };
    if result == 0 { 0 } else { -1 }
}
