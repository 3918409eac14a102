//! Formwork in a real cluster: its namespace, its rights, and the Service by which kube-apiserver reaches processes on
//! this host. There are no nodes, so what the kubelet and the endpoint controllers would do is done here, when told.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cluster::{Cluster, Routing};
use crate::kubectl::Kubectl;
use crate::replica::{Replica, free_port};

/// Where it is installed, and what its Service and its ServiceAccount are called.
pub const NAMESPACE: &str = "formwork-system";
const NAME: &str = "formwork";

/// What is installed as it is for users: rights, so that a missing one fails a test.
const MANIFESTS: &[&str] = &[
    include_str!("../../manifests/base/namespace.yaml"),
    include_str!("../../manifests/base/rbac.yaml"),
    include_str!("../../manifests/base/roles.yaml"),
    include_str!("../../manifests/components/deployments/rbac.yaml"),
];

/// The APIServices that it registers.
pub const API_SERVICES: &[&str] =
    &["v1.template.openshift.io", "v1alpha1.formwork.dev", "v1alpha1.dm.formwork.dev"];

/// What replicas keep their objects in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Each its own file.
    Embedded,
    /// All of them the etcd that kube-apiserver has.
    Etcd,
}

/// An installation without replicas. It goes with its cluster.
#[derive(Debug)]
pub struct Installation {
    cluster: Arc<Cluster>,
    store: Store,
    kubeconfig: PathBuf,
    /// The port of the Service.
    port: u16,
    next: AtomicU32,
    // Data and logs of replicas. Those are dropped before, since they borrow nothing but their paths.
    folder: TempDir,
}

/// An installation that serves, for tests that do not disturb it.
#[derive(Debug)]
pub struct Serving {
    // First, so that it ends before its cluster and its files.
    replica: Replica,
    /// Where it serves.
    pub installation: Installation,
}

/// What the audit log of a [`Serving`] has: whose requests there were.
const AUDIT_POLICY: &str =
    "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}";

impl Serving {
    /// One replica on the embedded store in `cluster`, Available and documented, with an audit log.
    ///
    /// # Errors
    /// When the replica does not start, or the APIServices do not become Available.
    pub fn start(cluster: Arc<Cluster>) -> Result<Self> {
        Self::start_with(cluster, Store::Embedded, &[])
    }

    /// One replica on `store` with more flags in `cluster`, Available and documented, with an audit log.
    ///
    /// # Errors
    /// As [`Serving::start`].
    pub fn start_with(cluster: Arc<Cluster>, store: Store, flags: &[&str]) -> Result<Self> {
        let installation = Installation::new(cluster, store)?;
        let folder = installation.folder.path();
        let policy = folder.join("audit-policy.yaml");
        std::fs::write(&policy, AUDIT_POLICY)?;
        let audit = [
            format!("--audit-policy-file={}", policy.display()),
            format!("--audit-log-path={}", folder.join("audit.log").display()),
        ];
        let flags: Vec<_> = audit.iter().map(String::as_str).chain(flags.iter().copied()).collect();
        let replica = installation.start(&flags)?;
        installation.await_available()?;
        installation.await_documents()?;
        Ok(Self { replica, installation })
    }

    /// Where its replica listens.
    pub fn address(&self) -> SocketAddr {
        self.replica.address()
    }

    /// The first event `wanted` in the audit log of the replica itself. What is logged when a request is complete comes
    /// after its answer, so that it is waited for.
    ///
    /// # Errors
    /// When there is none within ten seconds.
    pub fn audited(&self, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let path = self.installation.folder.path().join("audit.log");
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let log = std::fs::read_to_string(&path)?;
            // The last line may not be whole yet.
            let events = log.lines().filter_map(|line| serde_json::from_str(line).ok());
            if let Some(event) = events.into_iter().find(|event| wanted(event)) {
                return Ok(event);
            }
            ensure!(Instant::now() < deadline, "there is no such event in {}", path.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Installation {
    /// Installs it, but for the replicas: a cluster has at most one.
    ///
    /// # Errors
    /// When the cluster refuses something.
    pub fn new(cluster: Arc<Cluster>, store: Store) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("formwork-replicas-").tempdir()?;
        let kubeconfig = folder.path().join("kubeconfig");
        let port = match cluster.routing() {
            Routing::Off => free_port(cluster.reachable_address()?)?,
            Routing::On => 443,
        };
        let next = AtomicU32::new(1);
        let installation = Self { cluster, store, kubeconfig, port, next, folder };
        let kubectl = installation.kubectl()?;
        let everywhere = installation.kubectl()?.in_namespace("");
        for manifest in MANIFESTS {
            everywhere.ok_with(&["apply", "-f", "-"], manifest)?;
        }
        kubectl.ok_with(&["apply", "-f", "-"], &installation.service().to_string())?;
        let token = kubectl.ok(&["create", "token", NAME, "--duration=24h"])?;
        installation.write_kubeconfig(token.trim())?;
        Ok(installation)
    }

    /// One replica on the embedded store in the shared cluster without aggregator routing, Available.
    ///
    /// It lives as long as any test holds it, so that none outlives the tests.
    ///
    /// # Errors
    /// When the cluster or the replica does not start, or the APIServices do not become Available.
    pub fn shared() -> Result<Arc<Serving>> {
        static SHARED: Mutex<Weak<Serving>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(serving) = shared.upgrade() {
            return Ok(serving);
        }
        let serving = Arc::new(Serving::start(Cluster::shared(Routing::Off)?)?);
        *shared = Arc::downgrade(&serving);
        Ok(serving)
    }

    /// The cluster it is in.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// What a replica knows the cluster by: the token of its ServiceAccount.
    pub fn kubeconfig(&self) -> &PathBuf {
        &self.kubeconfig
    }

    /// The kubeconfig of an administrator who asks `replica` itself, without kube-apiserver between. It trusts what the
    /// aggregator trusts, so that the replica has to be registered.
    ///
    /// # Errors
    /// When the APIServices have no CA.
    pub fn direct_kubeconfig(&self, replica: &Replica) -> Result<PathBuf> {
        let service = format!("apiservice/{}", API_SERVICES[0]);
        let path = "jsonpath={.spec.caBundle}";
        let bundle = self.kubectl()?.ok(&["get", &service, "-o", path])?;
        let mut config = self.administrator()?;
        config["clusters"][0]["cluster"] = json!({
            "server": format!("https://{}", replica.address()),
            "certificate-authority-data": bundle,
            "tls-server-name": format!("{NAME}.{NAMESPACE}.svc"),
        });
        let file = self.folder.path().join(format!("{}.kubeconfig", replica.name()));
        std::fs::write(&file, config.to_string())?;
        Ok(file)
    }

    /// The administrator's kubectl in its namespace.
    ///
    /// # Errors
    /// When it can have no home.
    pub fn kubectl(&self) -> Result<Kubectl> {
        Ok(self.cluster.kubectl("admin")?.in_namespace(NAMESPACE))
    }

    /// Starts a replica with more flags, and lets the cluster send requests to it. Without aggregator routing there can
    /// be one at a time.
    ///
    /// # Errors
    /// When it is not ready within a minute, with what it said.
    pub fn start(&self, flags: &[&str]) -> Result<Replica> {
        let mut replica = self.replica(flags)?;
        replica.start()?;
        self.admit(&replica)?;
        Ok(replica)
    }

    /// A replica that is not started, and that the cluster does not know.
    ///
    /// # Errors
    /// When there is no free port.
    pub fn replica(&self, flags: &[&str]) -> Result<Replica> {
        let name = format!("{NAME}-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let ip = self.cluster.reachable_address()?;
        let port = match self.cluster.routing() {
            Routing::Off => self.port,
            Routing::On => free_port(ip)?,
        };
        let address = SocketAddr::new(ip, port);
        let mut all = self.flags(address)?;
        match self.store {
            Store::Etcd => all.push(format!("--etcd-servers={}", self.cluster.etcd()?).into()),
            Store::Embedded => {
                let data = self.folder.path().join(&name);
                std::fs::create_dir(&data)?;
                all.extend(["--data-dir".into(), data.into()]);
            }
        }
        all.extend(flags.iter().map(Into::into));
        let log = self.folder.path().join(format!("{name}.log"));
        Ok(Replica::new(name, address, all, log))
    }

    /// Lets the aggregator send requests to `replica`, as when a Pod becomes ready.
    ///
    /// # Errors
    /// When the cluster refuses.
    pub fn admit(&self, replica: &Replica) -> Result<()> {
        if self.cluster.routing() == Routing::On {
            let slice = endpoint_slice(replica).to_string();
            self.kubectl()?.ok_with(&["apply", "-f", "-"], &slice)?;
        }
        Ok(())
    }

    /// Lets the aggregator send nothing more to `replica`, as when a Pod is about to go.
    ///
    /// # Errors
    /// When the cluster refuses.
    pub fn withdraw(&self, replica: &Replica) -> Result<()> {
        if self.cluster.routing() == Routing::On {
            // Whoever goes has little time, and discovery takes kubectl some of it.
            let slices = format!("/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices");
            let slice = format!("{slices}/{}", replica.name());
            let ended = self.kubectl()?.run(&["delete", "--raw", &slice])?;
            let gone = ended.code == Some(0) || ended.stderr.contains("(NotFound)");
            ensure!(gone, "{ended:?}");
        }
        Ok(())
    }

    /// Waits until the aggregator finds every APIService Available and sends requests to it, and discovery has it.
    ///
    /// # Errors
    /// When one of that takes more than a minute, with the conditions.
    pub fn await_available(&self) -> Result<()> {
        let kubectl = self.kubectl()?;
        for name in API_SERVICES {
            let name = format!("apiservice/{name}");
            kubectl.ok(&["wait", "--for=create", &name, "--timeout=60s"])?;
            kubectl
                .ok(&["wait", "--for=condition=Available", &name, "--timeout=60s"])
                .with_context(|| {
                    let path = "jsonpath={.status.conditions}";
                    kubectl.ok(&["get", &name, "-o", path]).unwrap_or_default()
                })?;
        }
        // Each of these has its own way of learning of the condition.
        for path in api_paths() {
            kubectl.until(&["get", "--raw", &format!("/{path}")], |_| true)?;
        }
        kubectl.until(&["api-resources", "--cached=false", "-o", "name"], |resources| {
            let groups = API_SERVICES.iter().filter_map(|name| Some(name.split_once('.')?.1));
            groups.into_iter().all(|group| resources.contains(&format!(".{group}\n")))
        })?;
        Ok(())
    }

    /// Waits until kube-apiserver has our OpenAPI documents, for which it asks a second after it has found us Available.
    /// Before, kubectl checks fields itself; and what it has read of the list once, it may keep for a second.
    fn await_documents(&self) -> Result<()> {
        self.kubectl()?.until(&["get", "--raw", "/openapi/v3"], |listed| {
            api_paths().all(|path| listed.contains(&format!("\"{path}\"")))
        })?;
        Ok(())
    }

    fn flags(&self, address: SocketAddr) -> Result<Vec<OsString>> {
        Ok(vec![
            "--kubeconfig".into(),
            self.kubeconfig.clone().into(),
            format!("--bind-address={}", address.ip()).into(),
            format!("--secure-port={}", address.port()).into(),
            format!("--namespace={NAMESPACE}").into(),
            format!("--service-name={NAME}").into(),
            format!("--service-port={}", self.port).into(),
        ])
    }

    fn service(&self) -> Value {
        let spec = match self.cluster.routing() {
            Routing::Off => json!({ "type": "ExternalName", "externalName": "localhost" }),
            // Without a selector no controller writes endpoints for it.
            Routing::On => json!({ "ports": [{ "name": "https", "port": self.port }] }),
        };
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": { "name": NAME, "namespace": NAMESPACE },
            "spec": spec,
        })
    }

    fn administrator(&self) -> Result<Value> {
        let text = std::fs::read_to_string(self.cluster.kubeconfig("admin"))?;
        Ok(serde_saphyr::from_str(&text)?)
    }

    fn write_kubeconfig(&self, token: &str) -> Result<()> {
        let mut config = self.administrator()?;
        config["users"][0]["user"] = json!({ "token": token });
        Ok(std::fs::write(&self.kubeconfig, config.to_string())?)
    }
}

/// `apis/GROUP/VERSION` of every APIService.
fn api_paths() -> impl Iterator<Item = String> {
    let names = API_SERVICES.iter().filter_map(|name| name.split_once('.'));
    names.map(|(version, group)| format!("apis/{group}/{version}"))
}

/// One for each replica, because the ports of an EndpointSlice are those of all its endpoints.
fn endpoint_slice(replica: &Replica) -> Value {
    let address = replica.address();
    json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": replica.name(),
            "namespace": NAMESPACE,
            "labels": { "kubernetes.io/service-name": NAME },
        },
        "addressType": if address.is_ipv4() { "IPv4" } else { "IPv6" },
        "endpoints": [{ "addresses": [address.ip()], "conditions": { "ready": true } }],
        // The aggregator looks for the name that the Service gave its port.
        "ports": [{ "name": "https", "protocol": "TCP", "port": address.port() }],
    })
}
