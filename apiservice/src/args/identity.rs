//! Flags about who asks and what they may do.

use std::path::PathBuf;
use std::time::Duration;

use super::duration::parse as duration;

/// Who asks.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Authentication")]
pub struct Authentication {
    /// Standalone only: a file of bearer tokens, one `token,user,uid,"group1,group2"` a line.
    #[arg(long, value_name = "FILE", requires = "standalone")]
    pub token_auth_file: Option<PathBuf>,

    /// Certificate authorities of users, instead of what the cluster says.
    #[arg(long, value_name = "FILE", conflicts_with = "standalone")]
    pub client_ca_file: Option<PathBuf>,

    /// Who may say who asks, instead of what the cluster says.
    #[command(flatten)]
    pub request_header: RequestHeader,

    /// Do not read the cluster's ConfigMap kube-system/extension-apiserver-authentication.
    #[arg(long, conflicts_with = "standalone")]
    pub authentication_skip_lookup: bool,

    /// Serve even when that ConfigMap cannot be read: most requests will then be anonymous.
    #[arg(long, conflicts_with = "standalone")]
    pub authentication_tolerate_lookup_failure: bool,

    /// How long what the cluster said of a token holds.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub authentication_token_webhook_cache_ttl: Duration,

    /// Whether who shows no credential is let in as `system:anonymous`, whom little is allowed.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub anonymous_auth: bool,
}

/// The front proxy, which vouches for users.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Authentication")]
pub struct RequestHeader {
    /// Certificate authorities of those who may vouch for users.
    #[arg(long, value_name = "FILE", conflicts_with = "standalone")]
    pub requestheader_client_ca_file: Option<PathBuf>,

    /// The common names that their certificates may have; none means any.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub requestheader_allowed_names: Vec<String>,

    /// Headers with the user's name.
    #[arg(long, value_name = "HEADER", value_delimiter = ',', default_value = "x-remote-user")]
    pub requestheader_username_headers: Vec<String>,

    /// Headers with the user's uid.
    #[arg(long, value_name = "HEADER", value_delimiter = ',')]
    pub requestheader_uid_headers: Vec<String>,

    /// Headers with the user's groups.
    #[arg(long, value_name = "HEADER", value_delimiter = ',', default_value = "x-remote-group")]
    pub requestheader_group_headers: Vec<String>,

    /// What headers with more about the user begin with.
    #[arg(long, value_name = "PREFIX", value_delimiter = ',', default_value = "x-remote-extra-")]
    pub requestheader_extra_headers_prefix: Vec<String>,
}

/// What they may do.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Authorization")]
pub struct Authorization {
    /// Paths that everybody may ask for; a trailing `*` includes those below.
    #[arg(
        long,
        value_name = "PATH",
        value_delimiter = ',',
        default_value = "/healthz,/livez,/readyz"
    )]
    pub authorization_always_allow_paths: Vec<String>,

    /// How long a permission by the cluster holds.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub authorization_webhook_cache_authorized_ttl: Duration,

    /// How long a refusal by the cluster holds.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub authorization_webhook_cache_unauthorized_ttl: Duration,
}
