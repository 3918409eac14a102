//! `expand`: a configuration of Deployment Manager in, its resources and their layout out.
//!
//! Works without a server: the files are collected here, Jinja is rendered in this process,
//! and Python in the worker that a server would use. With `--remote` the server does all but the collecting.

pub(crate) mod collect;
mod environment;
mod output;
mod python3;
pub(crate) mod remote;
mod render;
pub(crate) mod report;

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use expander::{Access, ExpandError, Web};
use expansion::{Input, Map, Options};
use tokio::time::Instant;

use self::collect::Collected;
use self::output::Parts;
use self::render::Renderer;
use crate::args::{Connection, Expand};
use crate::failure::Failure;

const COMMAND: &str = "expand";

/// What stands for standard input on the command line.
const STDIN: &str = "-";

/// How long an expansion may take here. Each template is bounded much closer.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs the command.
///
/// # Errors
/// Whatever stops it, with a text for the user.
pub(crate) async fn run(args: Expand, connection: &Connection) -> anyhow::Result<()> {
    if args.to_python3 {
        return python3::run(&args).await;
    }
    let configuration = Configuration::read(&args)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
    let env = environment::read(&args.env, configuration.name(), now.as_secs())
        .map_err(|what| Failure::Usage { what, command: COMMAND })?;
    let collected =
        collect::collect(&configuration.text, &configuration.path, &configuration.folder)?;
    let parts = if args.remote {
        remote::expand(&args, &configuration, &collected, &env, connection).await?
    } else {
        expand_here(&args, &configuration, &collected, env).await?
    };
    output::print(&parts, args.output)
}

async fn expand_here(
    args: &Expand,
    configuration: &Configuration,
    collected: &Collected,
    env: Map,
) -> anyhow::Result<Parts> {
    let input = Input {
        configuration: configuration.text.clone(),
        imports: collected.imports.clone(),
        env,
        options: Options { validate_schemas: !args.no_schema, ..Options::default() },
    };
    let renderer = Renderer::new(args.expander.clone(), &[]);
    let access = Access {
        hosts: args.allow_host.clone(),
        private_addresses: args.allow_private_addresses,
        ..Access::default()
    };
    let fetch = Web::new(access).context("--allow-host")?;
    let deadline = Instant::now() + PATIENCE;
    let expanded = expander::expand(input, &renderer, &fetch, deadline).await;
    let expanded = expanded.map_err(|error| match error {
        ExpandError::Failure(failure) => report::failure(&failure, &configuration.path, collected),
        error => error.into(),
    })?;
    for warning in &expanded.warnings {
        eprintln!("Warning: {}", report::printable(&warning.to_string()));
    }
    Ok(expanded.into())
}

/// The configuration, and where it comes from.
struct Configuration {
    text: String,
    /// As it was given.
    path: PathBuf,
    /// What the paths in it are relative to.
    folder: PathBuf,
}

impl Configuration {
    fn read(args: &Expand) -> anyhow::Result<Self> {
        let [given] = args.arguments.as_slice() else {
            let what = format!("one configuration at a time, not {}", args.arguments.len());
            return Err(Failure::Usage { what, command: COMMAND }.into());
        };
        let path = PathBuf::from(given);
        let (text, folder) = if given == STDIN {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).context("reading standard input")?;
            (text, PathBuf::new())
        } else {
            let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
            (collect::read(&path).with_context(|| given.clone())?, folder)
        };
        if let Some(folder) = args.directory.as_deref().filter(|folder| !folder.is_dir()) {
            bail!("{}: there is no such folder", folder.display());
        }
        let path = if given == STDIN { PathBuf::from("STDIN") } else { path };
        Ok(Configuration { text, path, folder: args.directory.clone().unwrap_or(folder) })
    }

    /// What the deployment is called unless somebody says otherwise: the file's name without its suffix.
    fn name(&self) -> &str {
        self.path.file_stem().and_then(|name| name.to_str()).unwrap_or(COMMAND)
    }
}
