//! Follows the ConfigMap.
//!
//! What was once read stays in force until there is something better: a deleted ConfigMap, a value
//! that cannot be used and a cluster that does not answer change nothing.

use std::collections::BTreeMap;
use std::pin::pin;

use futures::TryStreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::runtime::watcher::{self, Config, Event};
use kube::runtime::{WatchStreamExt as _, watcher as watch};

use super::{Delegated, Lookup, configuration, hint};

const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";

impl Delegated {
    /// Reads the ConfigMap now and whenever it changes, forever.
    pub(super) async fn follow(&self) {
        if self.options.lookup == Lookup::Skipped {
            return;
        }
        let api = Api::<ConfigMap>::namespaced(self.client.clone(), NAMESPACE);
        let config = Config::default().fields(&format!("metadata.name={NAME}"));
        let mut events = pin!(watch(api, config).default_backoff());
        let mut is_listed = false;
        loop {
            match events.try_next().await {
                Ok(Some(Event::Init)) => is_listed = false,
                Ok(Some(Event::InitApply(map))) => {
                    is_listed = true;
                    self.take(&map.data.unwrap_or_default());
                }
                Ok(Some(Event::Apply(map))) => self.take(&map.data.unwrap_or_default()),
                Ok(Some(Event::InitDone)) if is_listed => {}
                Ok(Some(Event::InitDone | Event::Delete(_))) => {
                    tracing::warn!("no ConfigMap {NAMESPACE}/{NAME}; keeping what is in use");
                }
                Ok(None) => return,
                Err(error) => complain(&error),
            }
        }
    }

    /// Puts into force what the ConfigMap says, and no file says otherwise.
    pub(super) fn take(&self, data: &BTreeMap<String, String>) {
        if self.options.client_ca_file.is_none()
            && let Some(pem) = configuration::client_ca(data)
            && let Err(error) = self.client_ca.replace(pem.as_bytes())
        {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, "cannot use client-ca-file; keeping what is in use");
        }
        if self.options.proxy.is_none() {
            self.take_proxy(data);
        }
        let is_known = self.proxy.is_known() || self.client_ca.is_known();
        if is_known && !self.looked_up.send_replace(true) {
            let (proxy, client_ca) = (self.proxy.is_known(), self.client_ca.is_known());
            tracing::info!(proxy, client_ca, "known who vouches for users");
        }
    }

    fn take_proxy(&self, data: &BTreeMap<String, String>) {
        let proxy = match configuration::proxy(data) {
            Ok(Some(proxy)) => proxy,
            Ok(None) => {
                tracing::warn!("the cluster names no front proxy; keeping what is in use");
                return;
            }
            Err(error) => {
                tracing::error!(%error, "cannot use requestheader-*; keeping what is in use");
                return;
            }
        };
        let pem = proxy.authorities.as_bytes();
        if let Err(error) = self.proxy.replace(pem, proxy.allowed_names, proxy.headers) {
            let error = &error as &dyn std::error::Error;
            tracing::error!(
                error,
                "cannot use requestheader-client-ca-file; keeping what is in use"
            );
        }
    }
}

fn complain(error: &watcher::Error) {
    if let watcher::Error::InitialListFailed(kube::Error::Api(status)) = error
        && status.is_forbidden()
    {
        let mend = hint::rolebinding(&status.message);
        tracing::error!("may not read ConfigMap {NAMESPACE}/{NAME}; usually mended by: {mend}");
        return;
    }
    tracing::warn!(%error, "cannot follow ConfigMap {NAMESPACE}/{NAME}");
}
