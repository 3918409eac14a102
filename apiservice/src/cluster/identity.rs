//! Who asks and what they may do, as the cluster has it.

use std::sync::Arc;

use anyhow::{Result, ensure};
use apiserver::authn::{
    Anonymous, Delegated, DelegatedOptions, IdentityHeaders, Lookup, ProxyFlags,
};
use apiserver::authz::{self, AccessReviews, AllowedPaths, Authorizer, DecisionTtl};
use kube::Client;

use crate::args::{Authentication, RequestHeader, Serve};
use crate::foundation::Foundation;

/// Finds out who asks; what it needs to know is followed from now on.
///
/// # Errors
/// When a file of the flags cannot be used.
pub(super) fn authentication(
    serve: &Serve,
    client: &Client,
    foundation: &Foundation<'_>,
) -> Result<Arc<Delegated>> {
    let options = options(&serve.authentication)?;
    let delegated = Delegated::new(client.clone(), options, &foundation.metrics)?;
    let delegated = Arc::new(delegated);
    delegated.report(&foundation.health);
    tokio::spawn(delegated.clone().run());
    Ok(delegated)
}

/// Decides what they may do.
pub(super) fn authorizer(
    serve: &Serve,
    client: &Client,
    foundation: &Foundation<'_>,
) -> Arc<dyn Authorizer> {
    let flags = &serve.authorization;
    let ttl = DecisionTtl {
        authorized: flags.authorization_webhook_cache_authorized_ttl,
        unauthorized: flags.authorization_webhook_cache_unauthorized_ttl,
    };
    let reviews = AccessReviews::new(client.clone(), ttl, &foundation.metrics);
    let paths = AllowedPaths::new(flags.authorization_always_allow_paths.iter().cloned());
    Arc::new(authz::Union::delegated(paths, reviews))
}

fn options(flags: &Authentication) -> Result<DelegatedOptions> {
    let lookup = match flags {
        Authentication { authentication_skip_lookup: true, .. } => Lookup::Skipped,
        Authentication { authentication_tolerate_lookup_failure: true, .. } => Lookup::Tolerated,
        _ => Lookup::Required,
    };
    Ok(DelegatedOptions {
        client_ca_file: flags.client_ca_file.clone(),
        proxy: proxy(&flags.request_header)?,
        lookup,
        token_cache_ttl: flags.authentication_token_webhook_cache_ttl,
        anonymous: Anonymous::allowed_if(flags.anonymous_auth),
    })
}

/// The front proxy of the flags, if they name its authority: the others mean nothing without it.
fn proxy(flags: &RequestHeader) -> Result<Option<ProxyFlags>> {
    let Some(ca_file) = flags.requestheader_client_ca_file.clone() else {
        let allowed = &flags.requestheader_allowed_names;
        ensure!(
            allowed.is_empty(),
            "--requestheader-allowed-names needs --requestheader-client-ca-file"
        );
        return Ok(None);
    };
    let headers = IdentityHeaders::new(
        &flags.requestheader_username_headers,
        &flags.requestheader_group_headers,
        &flags.requestheader_extra_headers_prefix,
        &flags.requestheader_uid_headers,
    )?;
    let allowed_names = flags.requestheader_allowed_names.clone();
    Ok(Some(ProxyFlags { ca_file, allowed_names, headers }))
}
