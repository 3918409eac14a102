//! A worker for tests that is as hostile or clumsy as they like: its children are shell scripts.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use protocol::{Ended, Notice, Order};
use rustix::process::{Signal, pidfd_send_signal};

use super::control;
use super::launch::{Launch, Process, pidfd};

/// Which child it is of all that were ever ordered, from 0, and whether it is a session: what it does.
type Script = dyn Fn(u64, bool) -> String + Send + Sync;

/// Starts such workers.
pub(crate) struct Fake {
    script: Arc<Script>,
    ordered: Arc<AtomicU64>,
    layers: u32,
    launched: AtomicU64,
    /// How many of the first do not answer pings.
    deaf: u64,
}

impl Fake {
    pub(crate) fn new(script: impl Fn(u64, bool) -> String + Send + Sync + 'static) -> Self {
        Self {
            script: Arc::new(script),
            ordered: Arc::default(),
            layers: 15,
            launched: AtomicU64::new(0),
            deaf: 0,
        }
    }

    /// It says that these layers hold.
    pub(crate) fn layers(self, layers: u32) -> Self {
        Self { layers, ..self }
    }

    /// The first so many do not answer pings.
    pub(crate) fn deaf(self, deaf: u64) -> Self {
        Self { deaf, ..self }
    }
}

/// A script that answers without listening.
pub(crate) fn say(body: &str) -> String {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    let octal = |byte: &u8| format!("\\{byte:03o}");
    format!("printf '{}'\n", length.iter().chain(body.as_bytes()).map(octal).collect::<String>())
}

/// A script that reads one frame.
pub(crate) const LISTEN: &str = "\
length=$(head -c 4 | od -An -tu4 --endian=big | tr -d ' ')
[ -n \"$length\" ] || exit 0
head -c \"$length\" >/dev/null
";

/// A script that does nothing, for longer than any test runs.
pub(crate) const HANG: &str = "exec tail --pid=$SERVER -f /dev/null\n";

/// A script that kills its worker, and waits for its own end.
pub(crate) const MURDER: &str = "kill -KILL $WORKER\nexec tail --pid=$SERVER -f /dev/null\n";

impl Launch for Fake {
    fn launch(&self, _: &[String], control: OwnedFd) -> io::Result<Box<dyn Process>> {
        // It ends with whoever holds the other end of its input, should that be killed.
        let mut process = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let input = process.stdin.take();
        let handle = pidfd(&process)?;
        let control = UnixDatagram::from(control);
        let serving = Serving {
            control: control.try_clone()?,
            worker: process.id(),
            process: handle.try_clone()?,
            script: Arc::clone(&self.script),
            ordered: Arc::clone(&self.ordered),
            deaf: self.launched.fetch_add(1, Ordering::Relaxed) < self.deaf,
        };
        let ready = Notice::Ready { layers: self.layers, landlock: 7 };
        control::send(&control, &ready.encode(), None)?;
        let thread = std::thread::spawn(move || serving.serve());
        Ok(Box::new(Running {
            process,
            _input: input,
            pidfd: handle,
            control,
            thread: Some(thread),
        }))
    }
}

struct Running {
    process: Child,
    _input: Option<ChildStdin>,
    pidfd: OwnedFd,
    control: UnixDatagram,
    thread: Option<JoinHandle<()>>,
}

impl Process for Running {
    fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    fn wait(&mut self) -> String {
        let status = self.process.wait().unwrap();
        // The thread is part of the process that died.
        let _ = self.control.shutdown(std::net::Shutdown::Both);
        self.thread.take().unwrap().join().unwrap();
        status.to_string()
    }
}

struct Serving {
    control: UnixDatagram,
    worker: u32,
    process: OwnedFd,
    script: Arc<Script>,
    ordered: Arc<AtomicU64>,
    deaf: bool,
}

impl Serving {
    fn serve(self) {
        let mut children = Vec::new();
        while let Ok((packet, channel)) = control::receive(&self.control) {
            match (Order::decode(&packet), channel) {
                (Ok(Order::Start { id, session }), Some(channel)) => {
                    children.push(self.start(id, session, channel));
                }
                (Ok(Order::Ping), None) if self.deaf => {}
                (Ok(Order::Ping), None) => self.say(Notice::Pong, None),
                _ => break,
            }
        }
        // Its children die with a worker, and it with its server.
        for pidfd in children.iter().chain([&self.process]) {
            let _ = pidfd_send_signal(pidfd, Signal::KILL);
        }
    }

    fn start(&self, id: u64, session: bool, channel: OwnedFd) -> OwnedFd {
        let script = (self.script)(self.ordered.fetch_add(1, Ordering::Relaxed), session);
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .env("WORKER", self.worker.to_string())
            .env("SERVER", std::process::id().to_string())
            .stdin(channel.try_clone().unwrap())
            .stdout(channel)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let handle = pidfd(&child).unwrap();
        self.say(Notice::Started { id }, Some(handle.as_fd()));
        let control = self.control.try_clone().unwrap();
        std::thread::spawn(move || {
            let status = child.wait().unwrap();
            let (code, signal) = (status.code(), status.signal());
            let ended = Notice::Ended(Ended { id, code, signal, cpu: 0, memory: 0 });
            let _ = control::send(&control, &ended.encode(), None);
        });
        handle
    }

    /// Nobody may be listening any more.
    fn say(&self, notice: Notice, along: Option<BorrowedFd<'_>>) {
        let _ = control::send(&self.control, &notice.encode(), along);
    }
}
