//! A real control plane for tests: etcd, kube-apiserver and kube-controller-manager by `hack/cluster.sh`.
//!
//! What of ours runs in it is an [`Installation`](crate::installation::Installation).

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::authority::Authority;
use crate::kubectl::Kubectl;
use crate::process::pause;

/// How the aggregator finds a Service's address, which decides how a process on this host can be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// By its name: a Service of type ExternalName, one replica on loopback.
    Off,
    /// By its EndpointSlices: any number of replicas, on an address of this host other than loopback.
    On,
}

/// A process of the control plane.
#[derive(Clone, Copy, Debug)]
pub enum Component {
    /// The only member of etcd.
    Etcd,
    /// kube-apiserver.
    Apiserver,
    /// kube-controller-manager.
    ControllerManager,
}

/// What an acknowledged write has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disk {
    /// The disk, as in production.
    Awaited,
    /// The kernel: that outlives `kill -9`, which is all that tests do, and no slow disk of theirs is waited for.
    Trusted,
}

/// A running control plane. Dropping it takes it down, with all that was stored.
#[derive(Debug)]
pub struct Cluster {
    routing: Routing,
    disk: Disk,
    guard: Child,
    folder: TempDir,
}

impl Cluster {
    /// Starts one of its own for a test that disturbs it, and waits until it is ready.
    ///
    /// # Errors
    /// With what the script said.
    pub fn start(routing: Routing) -> Result<Self> {
        Self::start_on(Disk::Trusted, routing)
    }

    /// One for measurements, whose etcd waits for the disk as it does in production.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub fn durable(routing: Routing) -> Result<Self> {
        Self::start_on(Disk::Awaited, routing)
    }

    fn start_on(disk: Disk, routing: Routing) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("formwork-cluster-").tempdir()?;
        let cluster = Self { routing, disk, guard: guard(folder.path())?, folder };
        cluster.up()?;
        Ok(cluster)
    }

    /// The one that the tests of a binary share, for those that cannot disturb each other.
    ///
    /// It lives as long as any test holds it, so that none outlives the tests.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub fn shared(routing: Routing) -> Result<Arc<Self>> {
        static OFF: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
        static ON: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
        let shared = match routing {
            Routing::Off => &OFF,
            Routing::On => &ON,
        };
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cluster) = shared.upgrade() {
            return Ok(cluster);
        }
        let cluster = Arc::new(Self::start(routing)?);
        *shared = Arc::downgrade(&cluster);
        Ok(cluster)
    }

    /// Starts again what was killed, on the same ports and data, and waits until all is ready.
    ///
    /// # Errors
    /// With what the script said.
    pub fn up(&self) -> Result<()> {
        let mut command = Command::new(script());
        command.args(["up", "--directory"]).arg(self.directory());
        if self.routing == Routing::On {
            command.arg("--aggregator-routing");
        }
        if self.disk == Disk::Trusted {
            command.arg("--unsafe-no-fsync");
        }
        let output = command.output().context("starting hack/cluster.sh")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cluster.sh up: {said}");
        Ok(())
    }

    /// How the aggregator finds Services here.
    pub fn routing(&self) -> Routing {
        self.routing
    }

    /// Everything it has on disk; `hack/cluster.sh` says what there is.
    pub fn directory(&self) -> &Path {
        self.folder.path()
    }

    /// The kubeconfig of `admin` (of group system:masters), `alice` or `bob` (no rights).
    pub fn kubeconfig(&self, user: &str) -> PathBuf {
        self.directory().join(format!("{user}.kubeconfig"))
    }

    /// kubectl of the cluster's own version, as one of these users, in the namespace `default`.
    ///
    /// # Errors
    /// When it can have no home.
    pub fn kubectl(&self, user: &str) -> Result<Kubectl> {
        let program = self.directory().join("bin/kubectl");
        Ok(Kubectl::of(&self.kubeconfig(user))?.program(program).in_namespace("default"))
    }

    /// A new namespace that no other test uses, and the administrator's kubectl in it.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn namespace(&self) -> Result<Kubectl> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("test-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let kubectl = self.kubectl("admin")?;
        kubectl.ok(&["create", "namespace", &name])?;
        Ok(kubectl.in_namespace(name))
    }

    /// What kube-apiserver has written down of requests that it has answered.
    ///
    /// # Errors
    /// When its log cannot be read.
    pub fn audited(&self) -> Result<Vec<Value>> {
        let log = self.audit_log()?;
        // The last line may not be whole yet.
        let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        Ok(events.filter(|event| event["stage"] == "ResponseComplete").collect())
    }

    /// `http://127.0.0.1:PORT` of etcd.
    ///
    /// # Errors
    /// When the cluster was never up.
    pub fn etcd(&self) -> Result<String> {
        Ok(format!("http://127.0.0.1:{}", self.port("etcd")?))
    }

    /// `https://127.0.0.1:PORT` of kube-apiserver.
    ///
    /// # Errors
    /// When the cluster was never up.
    pub fn apiserver(&self) -> Result<String> {
        Ok(format!("https://127.0.0.1:{}", self.port("apiserver")?))
    }

    /// The address that processes of ours listen on, so that the aggregator can reach them.
    ///
    /// # Errors
    /// With routing, when this host has no address but loopback.
    pub fn reachable_address(&self) -> Result<IpAddr> {
        if self.routing == Routing::Off {
            return Ok(Ipv4Addr::LOCALHOST.into());
        }
        // Connecting a datagram socket sends nothing; it asks the kernel from which address it would.
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).context("this host has no route")?;
        let address = socket.local_addr()?.ip();
        ensure!(!address.is_loopback(), "this host has no address but {address}");
        Ok(address)
    }

    /// The CA whose certificates say who their holder is: users.
    ///
    /// # Errors
    /// When the cluster was never up.
    pub fn client_ca(&self) -> Result<Authority> {
        Authority::read(&self.pki("ca.crt"), &self.pki("ca.key"))
    }

    /// The CA whose certificates allow to say who is asking: the aggregator.
    ///
    /// # Errors
    /// When the cluster was never up.
    pub fn front_proxy_ca(&self) -> Result<Authority> {
        Authority::read(&self.pki("front-proxy-ca.crt"), &self.pki("front-proxy-ca.key"))
    }

    /// A file of its certificates and keys, named as kubeadm names them.
    pub fn pki(&self, name: &str) -> PathBuf {
        self.directory().join("pki").join(name)
    }

    /// What kube-apiserver wrote into its audit log, an event a line.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn audit_log(&self) -> Result<String> {
        Ok(std::fs::read_to_string(self.directory().join("log/audit.log"))?)
    }

    /// `kill -9`, and waits until it is gone; [`Cluster::up`] brings it back.
    ///
    /// # Errors
    /// When it does not run.
    pub fn kill(&self, component: Component) -> Result<()> {
        let pid = self.pid(component)?;
        kill_process(pid, Signal::KILL)?;
        let deadline = Instant::now() + Duration::from_secs(10);
        // Somebody else's child, which cannot be waited for.
        while lives(pid) {
            ensure!(Instant::now() < deadline, "{component:?} survives kill -9");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// SIGSTOP, and waits until all of its threads have stopped.
    ///
    /// # Errors
    /// When it does not run.
    pub fn pause(&self, component: Component) -> Result<()> {
        pause(self.pid(component)?)
    }

    /// SIGCONT.
    ///
    /// # Errors
    /// When it does not run.
    pub fn resume(&self, component: Component) -> Result<()> {
        Ok(kill_process(self.pid(component)?, Signal::CONT)?)
    }

    /// The process of `component`.
    ///
    /// # Errors
    /// When it was never started.
    pub fn pid(&self, component: Component) -> Result<Pid> {
        let file = self.directory().join(format!("run/{}.pid", component.program()));
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        Pid::from_raw(text.trim().parse()?).context("no process has the id 0")
    }

    fn port(&self, name: &str) -> Result<u16> {
        let ports = std::fs::read_to_string(self.directory().join("ports"))?;
        let port = ports.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        Ok(port.with_context(|| format!("no port for {name}"))?.parse()?)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        match self.guard.wait() {
            Ok(status) if status.success() => {}
            ended => eprintln!("a cluster may have been left behind: {ended:?}"),
        }
    }
}

impl Component {
    fn program(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::Apiserver => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
        }
    }
}

/// Whether `pid` is more than an exit status that nobody has asked for yet.
fn lives(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid()));
    // The state stands behind the program's name, which is in parentheses.
    stat.is_ok_and(|stat| !stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
}

/// Takes the cluster of `directory` down as soon as nobody holds the other end of its input. That is when the tests drop
/// it, and also when they are killed: nothing else would then end processes that are nobody's children.
fn guard(directory: &Path) -> Result<Child> {
    let guard = Command::new("sh")
        .args(["-c", r#"read -r _; exec "$@""#, "guard"])
        .arg(script())
        .args(["down", "--directory"])
        .arg(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        // Out of reach of the Ctrl-C that ends the tests.
        .process_group(0)
        .spawn();
    guard.context("starting a shell")
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hack/cluster.sh")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_killed_comes_back_at_its_place_and_nothing_stays() -> Result<()> {
        let cluster = Cluster::start(Routing::Off)?;
        let kubectl = cluster.namespace()?;
        kubectl.ok(&["create", "configmap", "kept"])?;
        let etcd = cluster.etcd()?;

        for component in [Component::Etcd, Component::Apiserver, Component::ControllerManager] {
            let killed = cluster.pid(component)?;
            cluster.kill(component)?;
            cluster.up()?;
            assert_ne!(cluster.pid(component)?, killed, "{component:?}");
            kubectl.ok(&["get", "configmap", "kept"])?;
        }
        assert_eq!(cluster.etcd()?, etcd);

        let refused = cluster.kubectl("alice")?.refused(&["get", "configmaps"], "")?;
        assert!(refused.contains(r#"User "alice" cannot list resource"#), "{refused}");

        cluster.pause(Component::Apiserver)?;
        let (pid, directory) = (cluster.pid(Component::Apiserver)?, cluster.directory().to_owned());
        drop(cluster);
        assert!(!lives(pid), "a paused kube-apiserver is left behind");
        assert!(!directory.exists());
        Ok(())
    }
}
