//! The command line: names and meanings of flags, as `oc` and kubectl have them.
//!
//! Only what clap can say stands here. Rules between arguments (a template named twice, a key
//! given twice) belong to the commands, because their texts and their order are `oc`'s.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

/// Templates: process them, ask what they take, make them from what runs.
#[derive(Debug, Parser)]
#[command(name = "kubectl formwork", bin_name = "kubectl formwork", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Process a template into a list of objects
    ///
    /// Values come from KEY=VALUE arguments, -p and --param-file. The server processes the
    /// template, or this command does it by itself with --local. Nothing is created: pipe the
    /// output into `kubectl create -f -`.
    Process(Process),
    /// List the parameters of a template
    ///
    /// With -o json: a JSON Schema, from which a form can be made.
    Parameters(Parameters),
    /// Write objects of a namespace as a template
    ///
    /// Fields that the server set are left out, and so are objects that a controller made.
    Export(Export),
    /// Expand a configuration of Deployment Manager
    ///
    /// Prints the resources that the configuration and its templates describe, and the layout that
    /// they come from. No server is needed. Files that the configuration imports are collected, with
    /// the schemas that lie beside them. Nothing is created.
    Expand(Expand),
}

/// How to reach a server; kubectl's flags.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct Connection {
    /// Namespace to work in; the one of the kubeconfig's context if absent
    #[arg(short, long, global = true)]
    pub(crate) namespace: Option<String>,
    /// Path of the kubeconfig
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig to use
    #[arg(long, global = true)]
    pub(crate) context: Option<String>,
    /// Cluster of the kubeconfig to use
    #[arg(long, global = true)]
    pub(crate) cluster: Option<String>,
    /// User of the kubeconfig to use
    #[arg(long, global = true)]
    pub(crate) user: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Process {
    /// A template file (`-`: standard input), or the name of a stored template: NAME,
    /// template/NAME, NAMESPACE//NAME, NAMESPACE/template/NAME; and values as KEY=VALUE
    #[arg(value_name = "FILE|NAME|KEY=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// File to read a template from; `-` is standard input
    #[arg(short, long, value_name = "FILE", overrides_with = "filename")]
    pub(crate) filename: Option<String>,
    /// A value for a parameter; may be repeated
    #[arg(short, long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(crate) param: Vec<String>,
    /// File of parameter values, one KEY=VALUE a line; may be repeated; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) param_file: Vec<String>,
    /// Labels to set on all objects, as KEY=VALUE,KEY=VALUE
    #[arg(short, long, overrides_with = "labels")]
    pub(crate) labels: Option<String>,
    /// Process here, without a server
    #[command(flatten)]
    pub(crate) local: Local,
    /// Ignore values for parameters that the template does not have
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub(crate) ignore_unknown_parameters: bool,
    /// Do not process, only list the template's parameters
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub(crate) parameters: bool,
    /// Output format: json (the default), yaml, name or describe
    #[arg(short, long, value_name = "FORMAT", overrides_with = "output")]
    pub(crate) output: Option<String>,
    /// Print the objects one after the other instead of as a List
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, value_name = "BOOL", default_missing_value = "true", hide_possible_values = true)]
    pub(crate) raw: Option<bool>,
}

#[derive(Debug, Args)]
pub(crate) struct Parameters {
    /// A template file (`-`: standard input), or the name of a stored template
    #[arg(value_name = "FILE|NAME")]
    pub(crate) argument: Option<String>,
    /// File to read a template from; `-` is standard input
    #[arg(short, long, value_name = "FILE", conflicts_with = "argument")]
    pub(crate) filename: Option<String>,
    #[command(flatten)]
    pub(crate) local: Local,
    /// Output format: a table for people if absent, or json for a JSON Schema
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) output: Option<SchemaFormat>,
}

#[derive(Debug, Args)]
pub(crate) struct Local {
    /// Work without a server; the argument is then always a file
    // Scripts written for oc say --local=true.
    #[arg(long = "local", action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true, hide_default_value = true)]
    pub(crate) is_local: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SchemaFormat {
    /// A JSON Schema; its properties are in the order of the parameters, which YAML would lose
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Kinds to export, as kubectl names resources (deployments, deploy, Deployment,
    /// deployments.apps); `all` for every kind that a template can create
    #[arg(value_name = "KIND[,KIND...]|all", required = true, value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// Label selector of the objects
    #[arg(short = 'l', long)]
    pub(crate) selector: Option<String>,
    /// Name of the template
    #[arg(long, default_value = "exported")]
    pub(crate) name: String,
    /// Which template API the template is for
    #[arg(long, value_enum, default_value_t = ExportDialect::Openshift)]
    pub(crate) dialect: ExportDialect,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = ExportFormat::Yaml)]
    pub(crate) output: ExportFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportDialect {
    /// template.openshift.io/v1
    Openshift,
    /// formwork.dev/v1alpha1
    Proposal,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    Yaml,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Expand {
    /// The configuration; `-` is standard input. With --to-python3: templates
    #[arg(value_name = "CONFIG", required = true)]
    pub(crate) arguments: Vec<String>,
    /// What templates find in `env`; may be repeated. Without: deployment is the file's name,
    /// project is empty, current_time is now
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub(crate) env: Vec<String>,
    /// Neither hold properties to their schemas nor fill in defaults
    #[arg(long)]
    pub(crate) no_schema: bool,
    /// What the configuration's imports are relative to; its own folder if absent
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Host that templates may be fetched from, as HOST or HOST:PORT, with http:// before it for
    /// plain HTTP; types of registries need github.com. May be repeated; without it none is asked
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// Allow these hosts to have private, loopback and link-local addresses
    #[arg(long, requires = "allow_host")]
    pub(crate) allow_private_addresses: bool,
    /// Where formwork-expander is, which runs Python; beside this program or in PATH if absent
    #[arg(long, value_name = "PATH")]
    pub(crate) expander: Option<PathBuf>,
    /// Translate Python 2 templates to Python 3 instead, and show the difference as a patch
    #[arg(long, conflicts_with_all = ["remote", "env", "no_schema", "directory"])]
    pub(crate) to_python3: bool,
    /// Write the translations into the files
    #[arg(long, requires = "to_python3")]
    pub(crate) in_place: bool,
    /// Have the server expand it; the files are collected here all the same
    #[arg(long)]
    pub(crate) remote: bool,
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = ExpandFormat::Yaml)]
    pub(crate) output: ExpandFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExpandFormat {
    Yaml,
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn process(line: &str) -> Process {
        let line = format!("kubectl-formwork process {line}");
        match Cli::try_parse_from(line.split(' ')).unwrap().command {
            Command::Process(process) => process,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn values_may_be_given_as_oc_takes_them() {
        let args = process("-p A=1 -p=B=2 -pC=3 --param=D=4 E=5 name F=6=7");
        assert_eq!(args.param, ["A=1", "B=2", "C=3", "D=4"]);
        assert_eq!(args.arguments, ["E=5", "name", "F=6=7"]);
    }

    #[test]
    fn switches_may_be_given_a_value() {
        assert!(process("x --local").local.is_local);
        assert!(process("x --local=true").local.is_local);
        assert!(!process("x --local=false").local.is_local);
        assert!(process("--local x").arguments == ["x"]);
        assert_eq!(process("x --raw").raw, Some(true));
        assert_eq!(process("x").raw, None);
    }

    #[test]
    fn the_last_of_a_single_flag_counts() {
        assert_eq!(process("-f a -f b").filename.unwrap(), "b");
        assert_eq!(process("x -o json -o yaml").output.unwrap(), "yaml");
    }
}
