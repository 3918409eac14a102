//! Sockets of every family, and other ways out of the machine.

use crate::attack::{Attack, CRASH, REFUSED, Want, walk};

/// Families by their names, and numbers on Linux.
const FAMILIES: &[(&str, u32)] = &[
    ("unix", 1),
    ("inet", 2),
    ("inet6", 10),
    ("netlink", 16),
    ("packet", 17),
    ("can", 29),
    ("tipc", 30),
    ("bluetooth", 31),
    ("alg", 38),
    ("vsock", 40),
    ("kcm", 41),
    ("qipcrtr", 42),
    ("xdp", 44),
];

pub(crate) fn attacks() -> Vec<Attack> {
    let mut attacks: Vec<_> = FAMILIES
        .iter()
        .map(|(name, number)| {
            let body = format!("load('_socket').socket({number}, 1, 0)");
            walk(&format!("a socket of the family {name}"), &body, REFUSED)
        })
        .collect();
    attacks.extend([
        walk("a raw socket", "load('_socket').socket(2, 3, 1)", REFUSED),
        walk("a pair of sockets", "load('_socket').socketpair()", REFUSED),
        walk("its channel as a socket", "load('_socket').socket(1, 1, 0, 3).send(b'x')", REFUSED),
        walk("a second name for its channel", "load('_socket').dup(3)", REFUSED),
        walk("the interfaces", "load('_socket').if_nameindex()", REFUSED),
        walk("the name of the machine", "load('_socket').gethostname()", REFUSED),
        walk("another name for the machine", "load('_socket').sethostname('x')", REFUSED),
        // The resolver of the C library goes on without a lock, and falls.
        walk("the resolver", "load('_socket').getaddrinfo('example.com', 80)", CRASH),
        walk(
            "the system's log",
            "log = load('syslog')\nlog.openlog('x')\nlog.syslog('x')\nreturn {'said': False}",
            Want::Data(r#"{"said":false}"#),
        ),
    ]);
    attacks
}
