//! Other processes: starting some, signalling some, and being somebody else.

use crate::attack::{Attack, CRASH, FORBIDDEN, REFUSED, TOO_SLOW, Want, walk};

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks = vec![
        walk("execute", "posix.execv('/bin/sh', ['sh'])", FORBIDDEN),
        walk(
            "execute with an environment",
            "posix.execve('/bin/sh', ['sh'], {'A': 'b'})",
            FORBIDDEN,
        ),
        walk("execute a descriptor", "posix.execve(3, ['sh'], {})", FORBIDDEN),
        walk(
            "a shell",
            "return {'status': posix.system('id > @CANARY@/x')}",
            Want::Data(r#"{"status":32512}"#),
        ),
        walk("fork bomb", "while True: posix.fork()", REFUSED),
        walk(
            "fork bomb that swallows what stops it",
            "while True:\n  try: posix.fork()\n  except BaseException: pass",
            TOO_SLOW,
        ),
        walk(
            "fork and execute, as subprocess does",
            "load('_posixsubprocess').fork_exec([b'sh'], [b'/bin/sh'], True, (), None, None, \
             -1, -1, -1, -1, -1, -1, -1, 3, True, True, -1, None, None, None, -1, None, True)",
            REFUSED,
        ),
        walk(
            "a thread",
            "modules['_thread'].start_new_thread(print, ())",
            Want::Fault("RuntimeError", "can't start new thread"),
        ),
        walk(
            "a hundred thousand threads",
            "n = 0\nfor i in range(100000):\n  try: modules['_thread'].start_new_thread(print, ())\n  \
             except RuntimeError: n += 1\nreturn {'refused': n}",
            Want::Data(r#"{"refused":100000}"#),
        ),
        walk(
            "a watchdog's thread",
            "load('faulthandler').dump_traceback_later(1, file=3)",
            Want::Fault("RuntimeError", "unable to start watchdog thread"),
        ),
        // `kill(getppid())` would be `kill(-1)`, were it not refused.
        walk(
            "its own and its parent's number",
            "return {'pid': posix.getpid(), 'parent': posix.getppid()}",
            Want::Data(r#"{"pid":-1,"parent":-1}"#),
        ),
        walk(
            "every process there is",
            "n = 0\nfor pid in range(-1, 5000):\n  try: posix.kill(pid, 9)\n  \
             except PermissionError: n += 1\nreturn {'refused': n}",
            Want::Data(r#"{"refused":5001}"#),
        ),
        walk("ignore the end of its time", "load('_signal').signal(24, 1)", REFUSED),
        walk(
            "stop the timer",
            "load('_signal').setitimer(2, 0)",
            Want::Fault("itimer_error", "[Errno 1]"),
        ),
        walk(
            "a timer of its own",
            "return {'alarm': load('_signal').alarm(1)}",
            Want::Data(r#"{"alarm":4294967295}"#),
        ),
        walk(
            "sleep until a signal",
            "load('_signal').pause()\nreturn {'slept': False}",
            Want::Data(r#"{"slept":false}"#),
        ),
        walk(
            "end itself without a word",
            "posix._exit(0)",
            Want::Fault("NoResult", "ended without a result"),
        ),
        walk(
            "end itself as one whose walls were not built",
            "posix._exit(74)",
            Want::Fault("NoResult", "ended without a result"),
        ),
        walk("abort", "posix.abort()", CRASH),
    ];
    attacks.extend(REFUSALS.iter().map(|body| walk(body, body, REFUSED)));
    attacks
}

const REFUSALS: &[&str] = &[
    "posix.fork()",
    "posix.forkpty()",
    "posix.posix_spawn('/bin/sh', ['sh'], {})",
    "posix.kill(@PID@, 9)",
    "posix.kill(@PID@, 0)",
    "posix.kill(posix.getppid(), 9)",
    "posix.kill(1, 9)",
    "posix.kill(0, 9)",
    "posix.kill(-1, 9)",
    "posix.killpg(0, 9)",
    "load('_signal').pidfd_send_signal(3, 9)",
    "load('_signal').raise_signal(19)",
    "load('_signal').pthread_sigmask(0, [24])",
    "load('_signal').sigtimedwait([9], 100)",
    "posix.pidfd_open(@PID@)",
    "posix.waitpid(-1, 0)",
    "posix.setuid(0)",
    "posix.setresgid(0, 0, 0)",
    "posix.setgroups([0])",
    "posix.setsid()",
    "posix.nice(-5)",
    "posix.setpriority(0, @PID@, 19)",
    "posix.sched_setaffinity(0, {0})",
    "posix.sched_setscheduler(@PID@, posix.SCHED_FIFO, posix.sched_param(1))",
];
