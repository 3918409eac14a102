//! From flags to what the server's place in the cluster is made of.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use apiserver::environment::System;

use super::files;
use crate::args::{self, Serve};
use crate::groups;
use crate::register::{Authority, GroupVersion, Options, Publish, Service, Timing};

/// How to register.
///
/// # Errors
/// When the files of a certificate cannot be used, or times do not go together.
pub(super) fn options(serve: &Serve) -> Result<Options> {
    let flags = &serve.registration;
    let bound = serve.listening.bind_address.filter(|address| !address.is_unspecified());
    Ok(Options {
        service: service(&flags.service),
        served: GroupVersion::all(&groups::names()),
        addresses: bound.into_iter().collect(),
        authority: authority(serve)?,
        publish: if flags.publish_api_services { Publish::Yes } else { Publish::No },
        environment: Arc::new(System),
    })
}

/// Where the cluster sends requests.
pub(super) fn service(flags: &args::Service) -> Service {
    Service {
        namespace: flags.namespace.clone(),
        name: flags.service_name.clone(),
        port: flags.service_port,
    }
}

fn authority(serve: &Serve) -> Result<Authority> {
    let listening = &serve.listening;
    let given = listening.tls_cert_file.as_deref().zip(listening.tls_private_key_file.as_deref());
    let Some((chain, key)) = given else {
        let flags = &serve.registration;
        let timing = Timing::new(flags.serving_ca_lifetime, flags.serving_ca_propagation)
            .context("--serving-ca-lifetime")?;
        return Ok(Authority::Ours(timing));
    };
    Ok(Authority::Given {
        certificate: files::certificate(chain, key)?,
        cert_manager: serve.registration.cert_manager_certificate.clone(),
    })
}
