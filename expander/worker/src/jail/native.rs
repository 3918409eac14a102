//! Machine code behind the walls of a child: system calls that no template can make, as it would after a hole in CPython.
//!
//! Only a test. Each attempt is a process of its own that raises the walls as a child does, and then makes raw calls.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use libc::c_long;

use super::seccomp::{self, Filter};
use super::{Walls, landlock, limits, privileges};
use crate::fork::{self, Fork, Remains};

/// Number and arguments of a system call.
type Call = (&'static str, c_long, [c_long; 6]);

/// The exit code of a process that could not raise its walls.
const NO_WALLS: i32 = 99;
const MEMORY: u64 = 64 << 20;

/// Does `attack` behind all walls, in a process that ends with its result.
fn behind_walls(attack: impl FnOnce() -> i32) -> Remains {
    let space = limits::address_space(Path::new("/proc/self")).unwrap() + MEMORY;
    let filter = Filter::of_a_child().unwrap();
    let zygote = rustix::process::getpid();
    let walls = Walls { zygote, landlock: landlock::version(), space, filter };
    let (channel, _other) = UnixStream::pair().unwrap();
    // The child of a process with many threads: it does little but system calls, and never comes back.
    match fork::fork().unwrap() {
        Fork::Child => {
            let ready = privileges::renounce().is_ok()
                && privileges::lock().is_ok()
                && seccomp::forbid().is_ok();
            match walls.raise(channel.into(), Duration::from_secs(2)) {
                Ok(_channel) if ready => fork::exit(attack()),
                _ => fork::exit(NO_WALLS),
            }
        }
        Fork::Parent(child) => fork::reap(child).unwrap(),
    }
}

/// The error number, or 0.
fn errno(number: c_long, [a, b, c, d, e, f]: [c_long; 6]) -> i32 {
    // SAFETY: what the kernel does with these is what the test is about; it happens in a process that is thrown away.
    match unsafe { libc::syscall(number, a, b, c, d, e, f) } {
        -1 => io::Error::last_os_error().raw_os_error().unwrap_or(-1),
        _ => 0,
    }
}

/// The name of the first call that gets another answer than EPERM.
fn first_answered(calls: &[Call]) -> Option<&'static str> {
    let remains = behind_walls(|| {
        let refused = |&(_, number, arguments): &Call| errno(number, arguments) == libc::EPERM;
        calls
            .iter()
            .position(|call| !refused(call))
            .map_or(0, |at| i32::try_from(at).unwrap_or(0) + 1)
    });
    assert_eq!(remains.signal, None, "one of them ended the process");
    match remains.code {
        Some(0) => None,
        Some(NO_WALLS) => panic!("the walls could not be raised"),
        Some(at) => Some(calls[usize::try_from(at).unwrap() - 1].0),
        None => panic!("it ended, and nobody knows how"),
    }
}

#[test]
fn calls_that_no_honest_program_makes_end_the_process() {
    let calls: &[(&str, c_long)] = &[
        ("ptrace", libc::SYS_ptrace),
        ("process_vm_readv", libc::SYS_process_vm_readv),
        ("process_vm_writev", libc::SYS_process_vm_writev),
        ("pidfd_getfd", libc::SYS_pidfd_getfd),
        ("kcmp", libc::SYS_kcmp),
        ("execve", libc::SYS_execve),
        ("execveat", libc::SYS_execveat),
        ("personality", libc::SYS_personality),
        ("io_uring_setup", libc::SYS_io_uring_setup),
        ("io_uring_enter", libc::SYS_io_uring_enter),
        ("io_uring_register", libc::SYS_io_uring_register),
        ("bpf", libc::SYS_bpf),
        ("userfaultfd", libc::SYS_userfaultfd),
        ("perf_event_open", libc::SYS_perf_event_open),
        ("add_key", libc::SYS_add_key),
        ("request_key", libc::SYS_request_key),
        ("keyctl", libc::SYS_keyctl),
        ("kexec_load", libc::SYS_kexec_load),
        ("init_module", libc::SYS_init_module),
        ("finit_module", libc::SYS_finit_module),
        ("mount", libc::SYS_mount),
        ("umount2", libc::SYS_umount2),
        ("move_mount", libc::SYS_move_mount),
        ("open_tree", libc::SYS_open_tree),
        ("fsopen", libc::SYS_fsopen),
        ("pivot_root", libc::SYS_pivot_root),
        ("setns", libc::SYS_setns),
        ("unshare", libc::SYS_unshare),
    ];
    for (name, number) in calls {
        let remains = behind_walls(|| errno(*number, [0; 6]));
        assert_eq!(remains.signal, Some(libc::SIGSYS), "{name} gives {:?}", remains.code);
    }
}

#[test]
fn files_processes_and_memory_that_others_see_are_refused() {
    let path = c"/etc/passwd".as_ptr() as c_long;
    let cwd = c_long::from(libc::AT_FDCWD);
    let this = c_long::from(rustix::process::getpid().as_raw_nonzero().get());
    let creating = c_long::from(libc::IPC_CREAT | 0o600);
    let calls: &[Call] = &[
        ("openat", libc::SYS_openat, [cwd, path, 0, 0, 0, 0]),
        ("openat2", libc::SYS_openat2, [cwd, path, 0, 0, 0, 0]),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, [0; 6]),
        ("name_to_handle_at", libc::SYS_name_to_handle_at, [cwd, path, 0, 0, 0, 0]),
        ("statx", libc::SYS_statx, [cwd, path, 0, 0, 0, 0]),
        ("socket", libc::SYS_socket, [1, 1, 0, 0, 0, 0]),
        ("socketpair", libc::SYS_socketpair, [1, 1, 0, 0, 0, 0]),
        ("sendmsg on the channel", libc::SYS_sendmsg, [3, 0, 0, 0, 0, 0]),
        ("recvmsg on the channel", libc::SYS_recvmsg, [3, 0, 0, 0, 0, 0]),
        ("memfd_create", libc::SYS_memfd_create, [path, 0, 0, 0, 0, 0]),
        ("memfd_secret", libc::SYS_memfd_secret, [0; 6]),
        ("shmget", libc::SYS_shmget, [0, 4096, creating, 0, 0, 0]),
        ("shmat", libc::SYS_shmat, [0; 6]),
        ("semget", libc::SYS_semget, [0, 1, creating, 0, 0, 0]),
        ("msgget", libc::SYS_msgget, [0, creating, 0, 0, 0, 0]),
        ("mq_open", libc::SYS_mq_open, [path, creating, 0, 0, 0, 0]),
        ("inotify_init1", libc::SYS_inotify_init1, [0; 6]),
        ("fanotify_init", libc::SYS_fanotify_init, [0; 6]),
        ("eventfd2", libc::SYS_eventfd2, [0; 6]),
        ("signalfd4", libc::SYS_signalfd4, [-1, 0, 8, 0, 0, 0]),
        ("epoll_create1", libc::SYS_epoll_create1, [0; 6]),
        ("io_setup", libc::SYS_io_setup, [1, 0, 0, 0, 0, 0]),
        ("clone", libc::SYS_clone, [c_long::from(libc::SIGCHLD), 0, 0, 0, 0, 0]),
        (
            "clone into a namespace",
            libc::SYS_clone,
            [c_long::from(libc::CLONE_NEWUSER), 0, 0, 0, 0, 0],
        ),
        ("clone3", libc::SYS_clone3, [0; 6]),
        ("kill", libc::SYS_kill, [this, 0, 0, 0, 0, 0]),
        ("tgkill", libc::SYS_tgkill, [this, this, 0, 0, 0, 0]),
        ("rt_sigqueueinfo", libc::SYS_rt_sigqueueinfo, [this, 9, 0, 0, 0, 0]),
        ("pidfd_open", libc::SYS_pidfd_open, [this, 0, 0, 0, 0, 0]),
        ("pidfd_send_signal", libc::SYS_pidfd_send_signal, [3, 9, 0, 0, 0, 0]),
        ("process_madvise", libc::SYS_process_madvise, [0; 6]),
        ("getpid", libc::SYS_getpid, [0; 6]),
        ("getrandom", libc::SYS_getrandom, [0; 6]),
        ("chroot", libc::SYS_chroot, [path, 0, 0, 0, 0, 0]),
        ("setuid", libc::SYS_setuid, [0; 6]),
        ("capset", libc::SYS_capset, [0; 6]),
        ("reboot", libc::SYS_reboot, [0; 6]),
        ("syslog", libc::SYS_syslog, [0; 6]),
        ("clock_settime", libc::SYS_clock_settime, [0; 6]),
        ("futex", libc::SYS_futex, [0; 6]),
    ];
    assert_eq!(first_answered(calls), None);
}

#[test]
fn walls_cannot_be_taken_down_from_the_inside() {
    let none = c_long::from(libc::RLIMIT_AS as i32);
    let calls: &[Call] = &[
        ("dumpable", libc::SYS_prctl, [c_long::from(libc::PR_SET_DUMPABLE), 1, 0, 0, 0, 0]),
        (
            "death of the parent",
            libc::SYS_prctl,
            [c_long::from(libc::PR_SET_PDEATHSIG), 0, 0, 0, 0, 0],
        ),
        ("tracers", libc::SYS_prctl, [c_long::from(libc::PR_SET_PTRACER), -1, 0, 0, 0, 0]),
        ("another filter", libc::SYS_prctl, [c_long::from(libc::PR_SET_SECCOMP), 2, 0, 0, 0, 0]),
        ("seccomp", libc::SYS_seccomp, [1, 0, 0, 0, 0, 0]),
        ("landlock_create_ruleset", libc::SYS_landlock_create_ruleset, [0, 0, 1, 0, 0, 0]),
        ("landlock_restrict_self", libc::SYS_landlock_restrict_self, [0; 6]),
        ("prlimit64", libc::SYS_prlimit64, [0, none, 0, 0, 0, 0]),
        ("setrlimit", libc::SYS_setrlimit, [none, 0, 0, 0, 0, 0]),
        ("timer_delete", libc::SYS_timer_delete, [0; 6]),
        ("timer_settime", libc::SYS_timer_settime, [0; 6]),
        ("setitimer", libc::SYS_setitimer, [2, 0, 0, 0, 0, 0]),
        ("rt_sigaction", libc::SYS_rt_sigaction, [24, 0, 0, 8, 0, 0]),
        ("rt_sigprocmask", libc::SYS_rt_sigprocmask, [0, 0, 0, 8, 0, 0]),
        ("sigaltstack", libc::SYS_sigaltstack, [0; 6]),
        ("dup", libc::SYS_dup, [3, 0, 0, 0, 0, 0]),
        ("fcntl", libc::SYS_fcntl, [3, 0, 0, 0, 0, 0]),
        ("close", libc::SYS_close, [3, 0, 0, 0, 0, 0]),
        ("close_range", libc::SYS_close_range, [0, 100, 0, 0, 0, 0]),
        ("read of another", libc::SYS_read, [0, 0, 0, 0, 0, 0]),
        ("write to another", libc::SYS_write, [2, 0, 0, 0, 0, 0]),
    ];
    assert_eq!(first_answered(calls), None);
}

#[test]
fn memory_is_private_and_never_code() {
    let page = rustix::param::page_size() as c_long;
    let (read, write, execute) = (libc::PROT_READ, libc::PROT_WRITE, libc::PROT_EXEC);
    let (private, shared, anonymous) = (libc::MAP_PRIVATE, libc::MAP_SHARED, libc::MAP_ANONYMOUS);
    let mmap = |prot: i32, flags: i32, fd: c_long| {
        [0, page, c_long::from(prot), c_long::from(flags), fd, 0]
    };
    let here = behind_walls as fn(fn() -> i32) -> Remains as *const () as c_long & !(page - 1);
    let calls: &[Call] = &[
        ("code", libc::SYS_mmap, mmap(read | execute, private | anonymous, -1)),
        (
            "code that is written",
            libc::SYS_mmap,
            mmap(read | write | execute, private | anonymous, -1),
        ),
        ("shared", libc::SYS_mmap, mmap(read | write, shared | anonymous, -1)),
        ("of a file", libc::SYS_mmap, mmap(read, private, 3)),
        ("at a place", libc::SYS_mmap, mmap(read, private | anonymous | libc::MAP_FIXED, -1)),
        ("growing down", libc::SYS_mmap, mmap(read, private | anonymous | libc::MAP_GROWSDOWN, -1)),
        ("huge pages", libc::SYS_mmap, mmap(read, private | anonymous | libc::MAP_HUGETLB, -1)),
        ("locked", libc::SYS_mmap, mmap(read, private | anonymous | libc::MAP_LOCKED, -1)),
        // The kernel looks at the lower half of some arguments, and a filter that did so too would be walked round.
        (
            "upper half",
            libc::SYS_mmap,
            [0, page, 1 << 40 | 1, c_long::from(private | anonymous), -1, 0],
        ),
        ("moved to a place", libc::SYS_mremap, [here, page, page, 1 | 2, 0, 0]),
        (
            "mprotect",
            libc::SYS_mprotect,
            [here, page, c_long::from(read | write | execute), 0, 0, 0],
        ),
        ("pkey_mprotect", libc::SYS_pkey_mprotect, [here, page, 7, -1, 0, 0]),
        ("remap_file_pages", libc::SYS_remap_file_pages, [0; 6]),
        ("mlock", libc::SYS_mlock, [here, page, 0, 0, 0, 0]),
        ("madvise", libc::SYS_madvise, [here, page, 0, 0, 0, 0]),
    ];
    assert_eq!(first_answered(calls), None);
}

#[test]
fn of_all_numbers_nine_are_answered() {
    let remains = behind_walls(|| {
        let mut answered = 0;
        for number in 0..600 {
            // Uprobes of recent kernels: filters do not see them, and outside of a probe they do nothing.
            let probes = cfg!(target_arch = "x86_64") && (335..=336).contains(&number);
            let ends = [libc::SYS_exit, libc::SYS_exit_group].contains(&number);
            if !(probes || ends || seccomp::FORBIDDEN.contains(&number)) {
                // A descriptor that is the channel, so that it is not that what is refused.
                answered += i32::from(errno(number, [3, 0, 0, 0, 0, 0]) != libc::EPERM);
            }
        }
        answered
    });
    // mmap with nothing asked for is refused, and two are not tried.
    assert_eq!((remains.code, remains.signal), (Some(9 - 1 - 2), None));
}

#[test]
fn the_channel_is_all_that_can_be_written_to() {
    let remains = behind_walls(|| {
        let text = c"x".as_ptr() as c_long;
        // Descriptors have 32 bits, and the kernel ignores what is above.
        let wide = errno(libc::SYS_write, [1 << 40 | 3, text, 1, 0, 0, 0]);
        let other = errno(libc::SYS_write, [1 << 40 | 1, text, 1, 0, 0, 0]);
        i32::from((wide, other) != (0, libc::EPERM))
    });
    assert_eq!((remains.code, remains.signal), (Some(0), None));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn other_ways_into_the_kernel_are_no_way() {
    /// The bit of numbers of the ABI with short pointers.
    const X32: c_long = 0x4000_0000;
    let x32 = |number: c_long| ("x32", number | X32, [0; 6]);
    let calls =
        [x32(0), x32(libc::SYS_openat), x32(libc::SYS_socket), x32(520), x32(libc::SYS_getpid)];
    assert_eq!(first_answered(&calls), None);
    let remains = behind_walls(|| {
        let answer: i32;
        // SAFETY: `getpid` of the 32-bit kernel interface, which takes its number in `eax` and changes nothing else.
        unsafe { std::arch::asm!("int 0x80", inlateout("eax") 20 => answer) };
        i32::from(answer > 0)
    });
    assert_eq!(remains.signal, Some(libc::SIGSYS), "it gives {:?}", remains.code);
}

#[test]
fn processor_time_and_memory_end() {
    let remains = behind_walls(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    assert_eq!(remains.signal, Some(libc::SIGXCPU));
    assert!(remains.cpu >= 1_900_000, "{}", remains.cpu);
    let private = c_long::from(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let more = [0, c_long::try_from(MEMORY).unwrap() * 2, 3, private, -1, 0];
    let remains = behind_walls(|| errno(libc::SYS_mmap, more));
    assert_eq!(remains.code, Some(libc::ENOMEM));
}
