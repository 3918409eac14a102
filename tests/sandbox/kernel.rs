//! What else the kernel offers, as far as CPython's built-in modules reach. Calls that only machine code can make are
//! tried in the worker's own tests.

use crate::attack::{Attack, CRASH, REFUSED, Want, walk};

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks = vec![
        walk(
            "shared memory",
            "posix.open('/dev/shm/formwork', posix.O_RDWR | posix.O_CREAT)",
            REFUSED,
        ),
        walk(
            "the load of the machine",
            "posix.getloadavg()",
            Want::Fault("OSError", "Load averages"),
        ),
        walk(
            "close all there is",
            "posix.closerange(0, 1000)\nreturn {'closed': False}",
            Want::Data(r#"{"closed":false}"#),
        ),
        walk(
            "write to all but its channel",
            "n = 0\nfor fd in list(range(3)) + list(range(4, 1024)):\n  try: posix.write(fd, b'x')\n  \
             except PermissionError: n += 1\nreturn {'refused': n}",
            Want::Data(r#"{"refused":1023}"#),
        ),
        walk(
            "read from all but its channel",
            "n = 0\nfor fd in list(range(3)) + list(range(4, 1024)):\n  try: posix.read(fd, 1)\n  \
             except PermissionError: n += 1\nreturn {'refused': n}",
            Want::Data(r#"{"refused":1023}"#),
        ),
        walk("randomness through uuid", "import uuid\nuuid.uuid4()", REFUSED),
        walk("a stack that overflows", "load('faulthandler')._stack_overflow()", CRASH),
        walk("wait for ever", "load('select').select([], [], [])", REFUSED),
        walk("wait for its channel", "load('select').poll().poll(100000)", REFUSED),
    ];
    attacks.extend(REFUSALS.iter().map(|body| walk(body, body, REFUSED)));
    attacks
}

const REFUSALS: &[&str] = &[
    "posix.memfd_create('x')",
    "posix.eventfd(1)",
    "posix.pipe()",
    "posix.dup(3)",
    "posix.dup2(3, 4)",
    "posix.close(3)",
    "posix.fstat(3)",
    "posix.set_blocking(3, False)",
    "posix.sendfile(3, 3, 0, 1)",
    "posix.splice(3, 3, 1)",
    "posix.copy_file_range(3, 3, 1)",
    "posix.writev(3, [b'x'])",
    "posix.uname()",
    "posix.urandom(4)",
    "posix.getrandom(4)",
    "posix.sched_getaffinity(0)",
    "load('select').epoll()",
    "load('fcntl').fcntl(3, 1)",
    "load('fcntl').fcntl(3, 1030, 0)",
    "load('fcntl').ioctl(3, 0x5421, b'1234')",
    "load('fcntl').flock(3, 2)",
];
