//! A few attacks of each kind against the real worker; `tests/` of the workspace has the long list.

#[allow(dead_code, unreachable_pub, clippy::unwrap_used)]
mod rig;

use expansion::Language;
use protocol::{Answer, Ended};
use rig::{Worker, ask, exchange, python, template};

/// A template that goes from a module that it may import to those behind it: the guards are no wall.
fn walk(body: &str) -> String {
    template(&format!("import json\nsys = json.codecs.sys\nposix = sys.modules['posix']\n{body}"))
}

/// What an attack is told: a fault's text, or what it returned.
fn outcome(worker: &mut Worker, body: &str) -> String {
    match worker.answer(&python(&walk(body))) {
        Answer::Fault(fault) => format!("{}: {}", fault.kind, fault.message),
        Answer::Data { value, .. } => value.to_json(),
        Answer::Text { text, .. } => text,
    }
}

fn death(worker: &mut Worker, body: &str) -> Ended {
    let (answer, ended) = worker.call(&python(&walk(body)));
    assert_eq!(answer, None, "{body}");
    ended
}

#[test]
fn a_worker_says_which_walls_hold() {
    const REQUIRED: u32 = 1 | 2 | 4;
    assert_eq!(Worker::start(&["--no-namespaces"]).layers, REQUIRED);
    assert_eq!(Worker::start(&[]).layers & REQUIRED, REQUIRED);
}

#[test]
fn files_processes_and_sockets_are_refused() {
    for options in [&[][..], &["--no-namespaces"]] {
        let worker = &mut Worker::start(options);
        for attack in [
            "posix.open('/etc/passwd', 0)",
            "posix.open('/tmp/x', posix.O_WRONLY | posix.O_CREAT)",
            "sys.modules['io'].FileIO('/proc/self/environ')",
            "posix.listdir('/')",
            "posix.fork()",
            "posix.pipe()",
            "posix.dup(3)",
            "posix.kill(1, 9)",
            "posix.kill(posix.getppid(), 9)",
            "posix.memfd_create('x')",
            "posix.uname()",
            "posix.urandom(4)",
            "import time\ntime.sleep(100)",
        ] {
            let told = outcome(worker, attack);
            assert!(told.starts_with("PermissionError: [Errno 1]"), "{attack}: {told}");
        }
        assert_eq!(outcome(worker, "return {'status': posix.system('id')}"), r#"{"status":32512}"#);
        assert_eq!(outcome(worker, "return {'e': len(posix.environ)}"), r#"{"e":0}"#);
        let told = outcome(worker, "import _socket");
        assert!(told.starts_with("ModuleNotFoundError"), "{told}");
    }
}

#[test]
fn what_no_honest_program_calls_is_the_end() {
    let worker = &mut Worker::start(&[]);
    assert_eq!(death(worker, "posix.execv('/bin/sh', ['sh'])").signal, Some(31));
}

#[test]
fn endless_loops_end_in_python_and_in_c() {
    let worker = &mut Worker::start(&["--cpu", "200"]);
    for attack in [
        "while True: pass",
        "try:\n  while True: pass\nexcept BaseException: pass",
        "return {'n': len(str(9 ** 9 ** 9))}",
        "import re\nre.match('(a*)*b', 'a' * 40)",
        "sum(range(10 ** 11))",
    ] {
        let ended = death(worker, attack);
        assert_eq!(ended.signal, Some(24), "{attack}: {ended:?}");
        // The timer, and not the limit in whole seconds behind it.
        assert!((190_000..900_000).contains(&ended.cpu), "{ended:?}");
    }
}

#[test]
fn memory_ends_with_a_fault_that_says_so() {
    let worker = &mut Worker::start(&["--memory", "64", "--cpu", "5000"]);
    for attack in [
        "return 'a' * 10 ** 10",
        "a = []\nwhile True: a.append('x' * 10 ** 6)",
        "a = []\nwhile True: a.append([])",
        "return {'a': 1 << (1 << 40)}",
    ] {
        let told = outcome(worker, attack);
        assert!(told.starts_with("MemoryLimit"), "{attack}: {told}");
    }
}

#[test]
fn memory_of_jinja_ends_the_session_and_nothing_else() {
    let worker = &mut Worker::start(&["--memory", "64", "--cpu", "5000"]);
    let bomb = "{% set n = namespace(t='0123456789abcdef') %}\
        {% for _ in range(40) %}{% set n.t = n.t ~ n.t %}{% endfor %}{{ n.t|length }}";
    let (mut channel, _pidfd) = worker.child(true);
    let answer = exchange(&mut channel, &ask(Language::Jinja, &[("t.jinja", bomb)]));
    match answer {
        Some(Answer::Fault(fault)) => assert!(fault.kind.ends_with("Limit"), "{fault:?}"),
        Some(other) => panic!("{other:?}"),
        // The allocator cannot report; the process ends as `abort` without a `kill` does.
        None => assert_eq!(worker.ended().signal, Some(11)),
    }
    let (mut channel, _pidfd) = worker.child(true);
    assert!(exchange(&mut channel, &ask(Language::Jinja, &[("t.jinja", "a: 1")])).is_some());
}

#[test]
fn a_session_that_used_much_time_makes_room_for_a_fresh_one() {
    let worker = &mut Worker::start(&["--cpu", "10"]);
    let busy = "{% for _ in range(9000) %}{{ loop.index }}{% endfor %}";
    let (mut channel, _pidfd) = worker.child(true);
    let ask = ask(Language::Jinja, &[("t.jinja", busy)]);
    let mut calls = 0;
    while let Some(answer) = exchange(&mut channel, &ask) {
        assert!(matches!(answer, Answer::Text { .. }), "{answer:?}");
        calls += 1;
    }
    let ended = worker.ended();
    assert!(ended.code == Some(0) || ended.signal == Some(24), "{ended:?} after {calls} calls");
    assert!(ended.cpu >= 90_000, "{ended:?}");
}

#[test]
fn a_child_that_breaks_itself_hurts_nobody_else() {
    let worker = &mut Worker::start(&[]);
    assert_eq!(death(worker, "posix._exit(0)").code, Some(0));
    assert_eq!(death(worker, "posix.abort()").signal, Some(11));
    assert_eq!(death(worker, "import types\nf = lambda: 0\nf.__code__ = f.__code__.replace(co_code=b'\\x64\\xff' * 64, co_consts=())\nf()").signal, Some(11));
    assert_eq!(outcome(worker, "return {'ok': 1}"), r#"{"ok":1}"#);
}

#[test]
fn the_worker_takes_its_children_with_it() {
    for options in [&[][..], &["--no-namespaces"]] {
        let mut worker = Worker::start(options);
        let (_channel, pidfd) = worker.child(false);
        worker.process.kill().unwrap();
        let gone = &mut [rustix::event::PollFd::new(&pidfd, rustix::event::PollFlags::IN)];
        assert_eq!(rustix::event::poll(gone, None), Ok(1));
        worker.process.wait().unwrap();
    }
}
