//! Authentication as an aggregated server does it: who may vouch for users, and who signs their
//! certificates, is what kube-apiserver publishes; tokens are judged by it.
//!
//! kube-apiserver puts its authorities into the ConfigMap `extension-apiserver-authentication` of
//! `kube-system`. It is followed all the time, because they rotate while this server runs. Files
//! take the place of what it says, and are read again when they change.

mod configuration;
mod hint;
mod lookup;
mod options;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, join3};
use http::HeaderMap;
use kube::Client;
use tokio::sync::watch;

use super::{
    Authenticator, CaBundle, ClientCertificates, FrontProxy, Peer, Rejected, RequestHeaders,
    TokenReviews, Union, Verdict,
};
use crate::health::{Health, Scope};
use crate::metrics::Metrics;
use crate::tls::reload_when_changed;

pub use options::{DelegatedError, DelegatedOptions, Lookup, ProxyFlags};

/// How often files are looked at.
const RELOAD_EVERY: Duration = Duration::from_secs(10);

/// Knows users by the request headers of the front proxy, by client certificates, and by tokens that
/// kube-apiserver vouches for, in this order; who shows nothing is anonymous, where that is allowed.
///
/// Make one, add its check to the server's health with [`report`](Self::report), let
/// [`run`](Self::run) run for as long as the server, and wait with [`ready`](Self::ready) before the
/// first request. Until the authorities are known, whoever shows a certificate is refused: it might
/// be the proxy, whose users must not be taken for anonymous.
pub struct Delegated {
    client: Client,
    options: DelegatedOptions,
    client_ca: Arc<CaBundle>,
    proxy: Arc<FrontProxy>,
    union: Union,
    looked_up: watch::Sender<bool>,
}

impl Delegated {
    /// Reads the files that `options` name. The cluster is asked by [`run`](Self::run).
    ///
    /// # Errors
    /// When a file cannot be read or used, or the name of a header cannot be one.
    pub fn new(
        client: Client,
        options: DelegatedOptions,
        metrics: &Metrics,
    ) -> Result<Self, DelegatedError> {
        let (client_ca, proxy) = (Arc::<CaBundle>::default(), Arc::<FrontProxy>::default());
        options.read_files(&client_ca, &proxy)?;
        let identity = metrics.identity().clone();
        let certificates = ClientCertificates::new(client_ca.clone()).observed_by(identity);
        let tokens = TokenReviews::new(client.clone(), options.token_cache_ttl, metrics);
        let union = Union::new(
            vec![
                Box::new(RequestHeaders::new(proxy.clone())),
                Box::new(certificates),
                Box::new(tokens),
            ],
            options.anonymous,
        );
        let looked_up = watch::Sender::new(options.lookup_is_needless());
        Ok(Self { client, options, client_ca, proxy, union, looked_up })
    }

    /// Adds a check that fails until it is known who may vouch for users or who signs their
    /// certificates.
    pub fn report(&self, health: &Health) {
        let looked_up = self.looked_up.subscribe();
        health.add("extension-apiserver-authentication", Scope::Ready, move || {
            let is_known = *looked_up.borrow();
            let verdict = is_known.then_some(()).ok_or("not read yet; the log says why");
            std::future::ready(verdict.map_err(str::to_owned))
        });
    }

    /// Waits until the check of [`report`](Self::report) passes.
    pub async fn ready(&self) {
        // The sender lives as long as `self`.
        let _ = self.looked_up.subscribe().wait_for(|known| *known).await;
    }

    /// Follows the ConfigMap and the files, forever.
    pub async fn run(self: Arc<Self>) {
        let client_ca = self.options.client_ca_file.clone().map(|file| {
            let client_ca = self.client_ca.clone();
            reload_when_changed(vec![file], RELOAD_EVERY, move |contents| {
                client_ca.replace(&contents[0])
            })
        });
        let proxy = self.options.proxy.clone().map(|flags| {
            let proxy = self.proxy.clone();
            reload_when_changed(vec![flags.ca_file.clone()], RELOAD_EVERY, move |contents| {
                flags.apply(&contents[0], &proxy)
            })
        });
        join3(self.follow(), if_any(client_ca), if_any(proxy)).await;
    }

    /// Whether it is settled which certificates count.
    fn is_settled(&self) -> bool {
        self.options.lookup == Lookup::Tolerated || *self.looked_up.borrow()
    }

    async fn judge(&self, headers: &HeaderMap, peer: &Peer) -> Verdict {
        if !peer.certificates().is_empty() && !self.is_settled() {
            return Err(Rejected("it is not known yet whose certificates count".into()));
        }
        self.union.authenticate(headers, peer).await
    }
}

impl Authenticator for Delegated {
    fn authenticate<'a>(
        &'a self,
        headers: &'a HeaderMap,
        peer: &'a Peer,
    ) -> BoxFuture<'a, Verdict> {
        Box::pin(self.judge(headers, peer))
    }

    fn strip(&self, headers: &mut HeaderMap) {
        self.union.strip(headers);
    }
}

async fn if_any(work: Option<impl Future<Output = ()>>) {
    if let Some(work) = work {
        work.await;
    }
}
