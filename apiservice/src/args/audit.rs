//! Flags about what is written down about requests.

use std::path::PathBuf;

/// What is written down about requests.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Audit")]
pub struct Audit {
    /// What to write down about which requests: a Policy of audit.k8s.io/v1. Without it, nothing.
    #[arg(long, value_name = "FILE", requires = "audit_log_path")]
    pub audit_policy_file: Option<PathBuf>,

    /// Where to: a file of JSON lines, or - for standard output.
    #[arg(long, value_name = "FILE", requires = "audit_policy_file")]
    pub audit_log_path: Option<PathBuf>,

    /// How large the file may become, in megabytes; 0 for no bound.
    #[arg(long, value_name = "MB", default_value_t = 100)]
    pub audit_log_maxsize: u64,

    /// How many full files are kept; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub audit_log_maxbackup: usize,

    /// For how many days full files are kept; 0 for ever.
    #[arg(long, value_name = "DAYS", default_value_t = 0)]
    pub audit_log_maxage: u64,
}
