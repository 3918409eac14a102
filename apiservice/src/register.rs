//! How a server becomes part of a cluster: the authority that its replicas share, the APIServices
//! that lead to it, and their removal.
//!
//! In reading order: the life of the authority as a pure function ([`rotation`]) and the Secret
//! that keeps it ([`secret`]), what a replica shows of it ([`serving`]), the APIServices
//! ([`apiservices`]), the calls that are made ([`cluster`], [`rights`]), what one replica does with
//! all of it ([`replica`]), and the way out ([`uninstall()`]).
//!
//! Nothing here is withdrawn when a server stops: it comes back, and namespaces of the whole
//! cluster could not be deleted in between if discovery were to fail.

mod apiservices;
mod cluster;
mod replica;
mod rights;
mod rotation;
mod secret;
mod serving;
#[cfg(test)]
mod simulation;
mod uninstall;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use apiserver::environment::Environment;
use apiserver::health::{Health, Scope};
use apiserver::resource::ApiGroup;
use apiserver::tls::ServingCertificate;
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use kube::Client;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::apiservices::Trust;
use self::cluster::{Cluster, Kubernetes};
use self::replica::{Next, Replica};
use crate::certificates::Subject;

pub use self::rotation::Timing;
pub use self::uninstall::{Uninstalled, uninstall};

/// Who writes: the field manager, and the value of [`MANAGED_BY`].
const MANAGER: &str = "formwork";
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// How soon a failed pass is tried again, and how late at most.
const RETRY: Duration = Duration::from_secs(1);
const RETRY_AT_MOST: Duration = Duration::from_secs(30);
/// How long to wait for more after something happened: one write brings several events.
const SETTLE: Duration = Duration::from_millis(200);
/// How often a pass may ask for another at once, before others are given time.
const AT_ONCE: u32 = 10;

/// The Service that leads to us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its namespace, which is ours and has the Secret.
    pub namespace: String,
    /// Its name; the ClusterRole that grants our rights has the same.
    pub name: String,
    /// The port of it that kube-apiserver dials.
    pub port: u16,
}

impl Service {
    /// The name of the Secret that keeps the serving authority.
    pub fn secret(&self) -> String {
        format!("{}-serving-ca", self.name)
    }

    /// The names under which a server behind it is reached: from anywhere in the cluster, through
    /// `kubectl port-forward`, and by a probe of its own host.
    fn hosts(&self) -> Vec<String> {
        let Self { namespace, name, .. } = self;
        vec![
            format!("{name}.{namespace}.svc"),
            format!("{name}.{namespace}.svc.cluster.local"),
            format!("{name}.{namespace}"),
            name.clone(),
            "localhost".to_owned(),
        ]
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A version of a group that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupVersion {
    /// The group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// How many groups of ours come after this one, where a name stands for a kind of several.
    pub precedes: u8,
}

impl GroupVersion {
    /// All versions of `groups`, of which the first is the one that is meant by a name they share.
    pub fn all(groups: &[ApiGroup]) -> Vec<Self> {
        let of = |(precedes, group): (u8, &ApiGroup)| {
            let (group, versions) = (group.name, group.versions.iter());
            versions.map(|v| Self { group, version: v.name, precedes }).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = (0..).zip(groups.iter().rev()).map(of).collect();
        all.reverse();
        all.concat()
    }

    /// The name of its APIService.
    pub fn name(&self) -> String {
        format!("{}.{}", self.version, self.group)
    }
}

/// Who makes the certificates that clients are shown.
pub enum Authority {
    /// We do, with an authority that all replicas share.
    Ours(Timing),
    /// Somebody else does, and has put them into files.
    Given {
        /// The certificate of the files, reloaded by whoever gave it.
        certificate: Arc<ServingCertificate>,
        /// The Certificate `NAMESPACE/NAME` whose authority cert-manager is to publish. Without it
        /// `caBundle` is left to somebody else.
        cert_manager: Option<String>,
    },
}

impl Authority {
    fn trust_elsewhere(&self) -> Trust {
        match self {
            Self::Given { cert_manager: Some(certificate), .. } => {
                Trust::CertManager(certificate.clone())
            }
            Self::Given { cert_manager: None, .. } | Self::Ours(_) => Trust::Elsewhere,
        }
    }
}

/// Whether APIServices are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publish {
    /// They are, and mended when somebody edits them.
    Yes,
    /// They are somebody else's. They are still read: a rotation waits until those that lead here
    /// carry the new certificate.
    No,
}

/// How to register.
pub struct Options {
    /// Where requests for us arrive.
    pub service: Service,
    /// What is served.
    pub served: Vec<GroupVersion>,
    /// Addresses of this replica, for clients that dial it directly.
    pub addresses: Vec<IpAddr>,
    /// Who makes certificates.
    pub authority: Authority,
    /// Whether APIServices are written.
    pub publish: Publish,
    /// The time.
    pub environment: Arc<dyn Environment>,
}

impl Options {
    fn subject(&self) -> Subject<'static> {
        let mut addresses = vec![IpAddr::from([127, 0, 0, 1])];
        addresses.extend(&self.addresses);
        let hosts = self.service.hosts();
        Subject { name: "formwork", hosts, addresses, ..Subject::default() }
    }

    fn resync(&self) -> Duration {
        match &self.authority {
            Authority::Ours(timing) => timing.resync,
            Authority::Given { .. } => Timing::default().resync,
        }
    }
}

/// A server's place in the cluster. The work is done by a task that ends when this is dropped.
pub struct Registration {
    certificate: Arc<ServingCertificate>,
    fresh: Arc<AtomicI64>,
    options: Arc<Options>,
    publishing: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Registration {
    /// Reads or makes the serving authority, signs a certificate, and begins to watch over both.
    /// APIServices are left as they are until [`Registration::publish`].
    ///
    /// # Errors
    /// When the Secret cannot be read or written, with the rule of RBAC that is missing if that is
    /// why, or when it is damaged. There is nothing to serve with then.
    pub async fn start(client: &Client, options: Options) -> Result<Self> {
        let options = Arc::new(options);
        let cluster = Kubernetes::new(client, &options.service);
        let names: Vec<_> = options.served.iter().map(GroupVersion::name).collect();
        let ours = matches!(options.authority, Authority::Ours(_));
        let changes = cluster.changes(&names, ours);
        let mut replica = Replica::new(cluster, options.clone());
        let certificate = first_certificate(&mut replica).await?;
        let fresh = replica.fresh();
        let (publishing, may_publish) = watch::channel(false);
        let task = tokio::spawn(run(replica, options.clone(), changes, may_publish));
        Ok(Self { certificate, fresh, options, publishing, task })
    }

    /// What to serve with. It is replaced in place when it is signed anew.
    pub fn certificate(&self) -> Arc<ServingCertificate> {
        self.certificate.clone()
    }

    /// Publishes the APIServices, and keeps them as they should be. To be called when the server
    /// answers: kube-apiserver sends requests, and takes them for failed, from then on.
    pub fn publish(&self) {
        self.publishing.send_replace(true);
    }

    /// Adds the check `serving-certificate` to readiness: it fails when the Secret could not be read
    /// for [`Timing::stale`], for then this replica might miss that its authority is retired.
    pub fn add_check(&self, health: &Health) {
        let Authority::Ours(timing) = self.options.authority else { return };
        let (fresh, options) = (self.fresh.clone(), self.options.clone());
        health.add("serving-certificate", Scope::Ready, move || {
            let read = fresh.load(Ordering::Relaxed);
            let result = check_fresh(read, options.environment.now(), timing.stale);
            async move { result }
        });
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn check_fresh(read: i64, now: Timestamp, stale: Duration) -> Result<(), String> {
    let age = now.as_second().saturating_sub(read);
    if u64::try_from(age).is_ok_and(|age| age > stale.as_secs()) {
        return Err(format!("the Secret of the serving authority was last read {age} s ago"));
    }
    Ok(())
}

/// Passes until there is a certificate. Others write too; each loss means that somebody else got
/// further.
async fn first_certificate<C: Cluster>(
    replica: &mut Replica<C>,
) -> Result<Arc<ServingCertificate>> {
    for _ in 0..AT_ONCE {
        let pass = replica.pass(false).await;
        if let Some(certificate) = replica.certificate() {
            // What else went wrong is the task's business, which tries again.
            return Ok(certificate);
        }
        pass?;
    }
    replica.certificate().context("the Secret of the serving authority changes all the time")
}

/// Passes, whenever something happened or is due, forever.
async fn run<C: Cluster>(
    mut replica: Replica<C>,
    options: Arc<Options>,
    mut changes: BoxStream<'static, ()>,
    mut may_publish: watch::Receiver<bool>,
) {
    let (mut failures, mut at_once) = (0, 0);
    loop {
        let publishing = *may_publish.borrow_and_update();
        let wait = match replica.pass(publishing).await {
            Ok(Next::Again) if at_once < AT_ONCE => {
                at_once += 1;
                continue;
            }
            Ok(Next::Again) => RETRY,
            Ok(Next::At(moment)) => {
                let left = moment.duration_since(options.environment.now());
                Duration::try_from(left).unwrap_or_default().max(RETRY)
            }
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "registration");
                failures += 1;
                tokio::time::sleep(backoff(failures)).await;
                continue;
            }
        };
        (failures, at_once) = (0, 0);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            Some(()) = changes.next() => {
                tokio::time::sleep(SETTLE).await;
                while changes.next().now_or_never().flatten().is_some() {}
            }
            Ok(()) = may_publish.changed() => {}
        }
    }
}

fn backoff(failures: u32) -> Duration {
    let factor = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    RETRY.saturating_mul(factor).min(RETRY_AT_MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_that_has_not_read_the_secret_for_long_is_not_ready() {
        let now = Timestamp::from_second(1_000).unwrap();
        let stale = Duration::from_secs(60);
        assert_eq!(check_fresh(940, now, stale), Ok(()));
        assert!(check_fresh(939, now, stale).unwrap_err().contains("61 s"));
        assert_eq!(check_fresh(1_005, now, stale), Ok(()), "a clock that was set back");
    }

    #[test]
    fn failures_are_tried_again_less_and_less_often() {
        assert_eq!(backoff(1), RETRY);
        assert_eq!(backoff(3), RETRY * 4);
        assert_eq!(backoff(9), RETRY_AT_MOST);
        assert_eq!(backoff(100), RETRY_AT_MOST);
    }

    fn all() -> Vec<GroupVersion> {
        GroupVersion::all(&crate::groups::names())
    }

    #[test]
    fn every_version_of_every_group_has_an_api_service() {
        let names: Vec<_> = all().iter().map(GroupVersion::name).collect();
        let want =
            ["v1.template.openshift.io", "v1alpha1.formwork.dev", "v1alpha1.dm.formwork.dev"];
        assert_eq!(names, want);
    }

    #[test]
    fn the_first_group_of_the_table_precedes_the_others() {
        let preceding: Vec<_> =
            all().iter().map(|served| (served.group, served.precedes)).collect();
        let want = [("template.openshift.io", 2), ("formwork.dev", 1), ("dm.formwork.dev", 0)];
        assert_eq!(preceding, want);
    }
}
