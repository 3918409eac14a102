//! Real etcd processes for tests: started, killed, paused.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::etcd::{Etcd, Options};

/// The etcd to test with, or nothing, said once per test.
pub(super) fn binary() -> Option<PathBuf> {
    let named = std::env::var_os("FORMWORK_ETCD").map(PathBuf::from);
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let built = cache.map(|cache| cache.join("formwork/bin/etcd")).filter(|file| file.exists());
    let found = named.or(built);
    if found.is_none() {
        println!("skipped: etcd not present");
    }
    found
}

/// One member of an etcd cluster; killed when dropped.
pub(super) struct Member {
    binary: PathBuf,
    arguments: Vec<String>,
    home: tempfile::TempDir,
    pub(super) url: String,
    process: Option<Child>,
}

/// Addresses on this host that are free at this moment.
fn ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// A cluster of one, that answers to `scheme` and takes `arguments`.
pub(super) fn member(binary: &Path, scheme: &str, arguments: &[&str]) -> Member {
    let [client, peer] = ports();
    let mut member = Member::new(binary, scheme, client);
    let peer = format!("http://127.0.0.1:{peer}");
    member.add(&["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
    member.add(&["--initial-cluster", &format!("default={peer}")]);
    member.add(arguments);
    member.start();
    member
}

/// A cluster of three.
pub(super) fn cluster(binary: &Path) -> [Member; 3] {
    let ports: [u16; 6] = ports();
    let peers = [3, 4, 5].map(|peer: usize| format!("http://127.0.0.1:{}", ports[peer]));
    let all =
        (0..3).map(|index| format!("m{index}={}", peers[index])).collect::<Vec<_>>().join(",");
    [0, 1, 2].map(|index: usize| {
        let mut member = Member::new(binary, "http", ports[index]);
        let (name, peer) = (format!("m{index}"), &peers[index]);
        member.add(&["--name", &name, "--initial-cluster", &all]);
        member.add(&["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]);
        member.start();
        member
    })
}

impl Member {
    fn new(binary: &Path, scheme: &str, port: u16) -> Self {
        let (home, url) = (tempfile::tempdir().unwrap(), format!("{scheme}://127.0.0.1:{port}"));
        let mut member =
            Self { binary: binary.to_owned(), arguments: Vec::new(), home, url, process: None };
        let (data, url) = (member.home.path().join("data"), member.url.clone());
        member.add(&[
            "--data-dir",
            data.to_str().unwrap(),
            "--logger",
            "zap",
            "--log-level",
            "error",
        ]);
        member.add(&["--listen-client-urls", &url, "--advertise-client-urls", &url]);
        // A killed process loses nothing that it wrote; only a machine without power does.
        member.add(&[
            "--unsafe-no-fsync",
            "--heartbeat-interval",
            "50",
            "--election-timeout",
            "500",
        ]);
        member
    }

    fn add(&mut self, arguments: &[&str]) {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
    }

    pub(super) fn start(&mut self) {
        let mut command = Command::new(&self.binary);
        command
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.process = Some(command.spawn().unwrap());
    }

    /// Ends it as `kill -9` does.
    pub(super) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Returns when all of its threads have stopped, which is some time after the signal.
    pub(super) fn pause(&self) {
        self.signal(Signal::STOP);
        let process = Pid::from_child(self.process.as_ref().unwrap());
        waitpid(Some(process), WaitOptions::UNTRACED).unwrap();
    }

    pub(super) fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let process = self.process.as_ref().unwrap();
        kill_process(Pid::from_child(process), signal).unwrap();
    }

    pub(super) fn options(&self, prefix: &str) -> Options {
        Options {
            endpoints: vec![self.url.clone()],
            prefix: prefix.to_owned(),
            ..Options::default()
        }
    }

    pub(super) async fn connect(&self, prefix: &str) -> Etcd {
        connect(self.options(prefix)).await
    }
}

/// Connects to an etcd that is being started.
pub(super) async fn connect(options: Options) -> Etcd {
    let options = Options { request_timeout: Duration::from_secs(30), ..options };
    Etcd::connect(options).await.unwrap()
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
    }
}
