//! Files: reading what is none of a template's business, and writing anything anywhere.

use crate::attack::{Attack, REFUSED, Want, guarded, walk};

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks = vec![
        guarded(
            "open, as it is written",
            "open('/etc/passwd').read()",
            Want::Fault("PermissionError", "I/O is not permitted in a template"),
        ),
        guarded(
            "open for writing, as it is written",
            "open('@CANARY@/x', 'w')",
            Want::Fault("PermissionError", "I/O is not permitted in a template"),
        ),
        guarded("io.open, which may be imported", "import io\nio.open('/etc/passwd')", REFUSED),
        guarded("io.FileIO", "import io\nio.FileIO('/etc/shadow')", REFUSED),
        walk("the environment", "return {'n': len(posix.environ)}", Want::Data(r#"{"n":0}"#)),
        walk(
            "a file through linecache, which swallows errors",
            "return {'lines': modules['linecache'].getlines('/etc/passwd')}",
            Want::Data(r#"{"lines":[]}"#),
        ),
        walk(
            "whether a file is there",
            "return {'there': posix.access('/etc/passwd', 0)}",
            Want::Data(r#"{"there":false}"#),
        ),
        walk(
            "names of users",
            "load('pwd').getpwnam('root')",
            Want::Fault("KeyError", "name not found: 'root'"),
        ),
    ];
    attacks.extend(READING.iter().map(|body| walk(&format!("reading: {body}"), body, REFUSED)));
    attacks.extend(WRITING.iter().map(|body| walk(&format!("writing: {body}"), body, REFUSED)));
    attacks
}

const READING: &[&str] = &[
    "posix.open('/etc/passwd', 0)",
    "modules['builtins'].open('/etc/passwd')",
    "modules['codecs'].open('/etc/passwd')",
    // Itself, the worker, and the server with its environment, memory and keys.
    "posix.open('/proc/self/environ', 0)",
    "posix.open('/proc/self/mem', posix.O_RDWR)",
    "posix.open('/proc/self/maps', 0)",
    "posix.open('/proc/self/fd/3', 0)",
    "posix.open('/proc/1/environ', 0)",
    "posix.open('/proc/1/root', 0)",
    "posix.open('/proc/@PID@/environ', 0)",
    "posix.open('/proc/@PID@/mem', 0)",
    "posix.open('/proc/@PID@/root', 0)",
    "posix.open('@CANARY@/server.key', 0)",
    "posix.open('/var/run/secrets/kubernetes.io/serviceaccount/token', 0)",
    "posix.open('/dev/mem', 0)",
    "posix.open('/dev/shm', 0)",
    "posix.open('/sys/kernel/security', 0)",
    "posix.readlink('/proc/self/exe')",
    "posix.stat('/etc/passwd')",
    "posix.lstat('@CANARY@/server.key')",
    "posix.statvfs('/')",
    "posix.listdir('/')",
    "posix.scandir('@CANARY@')",
    "posix.getcwd()",
    "posix.chdir('/')",
    "posix.chroot('/')",
    "posix.getxattr('/', 'user.x')",
    "posix.openpty()",
];

const WRITING: &[&str] = &[
    "posix.open('@CANARY@/x', posix.O_WRONLY | posix.O_CREAT)",
    "posix.open('@CANARY@', posix.O_TMPFILE | posix.O_RDWR)",
    "posix.open('/tmp/x', posix.O_WRONLY | posix.O_CREAT)",
    "posix.open('/dev/shm/x', posix.O_RDWR | posix.O_CREAT)",
    "posix.open('/proc/self/oom_score_adj', posix.O_WRONLY)",
    "posix.mkdir('@CANARY@/x')",
    "posix.unlink('@CANARY@/server.key')",
    "posix.rename('@CANARY@/server.key', '@CANARY@/x')",
    "posix.symlink('/', '@CANARY@/x')",
    "posix.link('@CANARY@/server.key', '@CANARY@/x')",
    "posix.truncate('@CANARY@/server.key', 0)",
    "posix.chmod('@CANARY@/server.key', 0o777)",
    "posix.chown('@CANARY@/server.key', 0, 0)",
    "posix.utime('@CANARY@/server.key')",
    "posix.setxattr('@CANARY@/server.key', 'user.x', b'')",
    "posix.mknod('@CANARY@/x')",
    "posix.mkfifo('@CANARY@/x')",
    "posix.rmdir('@CANARY@')",
];
