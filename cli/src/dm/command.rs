//! The commands, with what they are given. What is missing is said in the original's words.

use std::fs;

use anyhow::Context;
use expander::manager::Credential;

use super::credential;
use super::flags::Line;
use super::input::Given;
use super::told;
use crate::failure::Failure;

/// Where templates are listed unless `--registry` says otherwise.
const REGISTRY: &str = "application-dm-templates";

/// A command.
#[derive(Debug)]
pub(super) enum Command {
    Expand(Given),
    Deploy(Given),
    Update(Given),
    Diff(Given),
    List,
    Get(String),
    Delete(String),
    Manifests(String),
    Manifest { deployment: String, manifest: String },
    DeployedTypes,
    DeployedInstances(String),
    Templates { registry: String, regex: Option<String> },
    Describe(String),
    Registries,
    CreateRegistry { registry: String, text: String },
    GetCredential(String),
    SetCredential(String, Credential),
    Layout(String),
    Status(String),
    Wait(String),
    Rollback { deployment: String, manifest: Option<String> },
}

impl Command {
    /// Reads the command `name` with its arguments, and the flags that it heeds.
    ///
    /// # Errors
    /// When there is no such command, or it is not given what it takes.
    pub(super) fn read(name: &str, arguments: &[String], line: &Line) -> anyhow::Result<Self> {
        let deployment = || one(arguments, "No deployment name supplied");
        let credential_name = || one(arguments, "No credential name supplied");
        let registry = || line.text("registry").unwrap_or(REGISTRY).to_owned();
        let command = match name {
            "expand" => Command::Expand(Given::read(line, arguments)?),
            "deploy" => Command::Deploy(Given::read(line, arguments)?),
            "update" => Command::Update(Given::read(line, arguments)?),
            "diff" => Command::Diff(Given::read(line, arguments)?),
            "get" => Command::Get(deployment()?),
            "delete" => Command::Delete(deployment()?),
            "manifest" => manifest(arguments)?,
            "deployed-instances" => {
                Command::DeployedInstances(one(arguments, "No type name supplied")?)
            }
            "describe" => Command::Describe(one(arguments, "No type name or URL supplied")?),
            "getcredential" => Command::GetCredential(credential_name()?),
            "setcredential" => Command::SetCredential(credential_name()?, credential::read(line)?),
            "layout" => Command::Layout(deployment()?),
            "status" => Command::Status(deployment()?),
            "wait" => Command::Wait(deployment()?),
            "rollback" => match arguments {
                [deployment] => {
                    Command::Rollback { deployment: deployment.clone(), manifest: None }
                }
                [deployment, manifest] => Command::Rollback {
                    deployment: deployment.clone(),
                    manifest: Some(manifest.clone()),
                },
                _ => return Err(missing("Must specify <deployment>, or <deployment> <manifest>.")),
            },
            "list" => none(arguments, Command::List)?,
            "deployed-types" => none(arguments, Command::DeployedTypes)?,
            "registries" => none(arguments, Command::Registries)?,
            "templates" => {
                let regex = line.text("regex").map(str::to_owned);
                none(arguments, Command::Templates { registry: registry(), regex })?
            }
            "createregistry" => {
                let file = line.text("registryfile");
                let file =
                    file.ok_or_else(|| missing("No registryfile specified (-registryfile)"))?;
                let text = fs::read_to_string(file).with_context(|| file.to_owned())?;
                none(arguments, Command::CreateRegistry { registry: registry(), text })?
            }
            unknown => return Err(told(&format!("unknown command '{unknown}' for 'dm'"))),
        };
        Ok(command)
    }
}

/// `DEPLOYMENT`, `DEPLOYMENT MANIFEST`, or `DEPLOYMENT/MANIFEST` as the original's usage had it.
fn manifest(arguments: &[String]) -> anyhow::Result<Command> {
    let (deployment, manifest) = match arguments {
        [both] => match both.split_once('/') {
            Some((deployment, manifest)) => (deployment, manifest),
            None => return Ok(Command::Manifests(both.clone())),
        },
        [deployment, manifest] => (&**deployment, &**manifest),
        _ => {
            let text = "Must specify manifest in the form <deployment> <manifest> or just <deployment> to list.";
            return Err(missing(text));
        }
    };
    Ok(Command::Manifest { deployment: deployment.to_owned(), manifest: manifest.to_owned() })
}

fn one(arguments: &[String], absent: &str) -> anyhow::Result<String> {
    match arguments {
        [] => Err(missing(absent)),
        [only] => Ok(only.clone()),
        [_, second, ..] => Err(told(&format!("unexpected argument {second:?}"))),
    }
}

fn none(arguments: &[String], command: Command) -> anyhow::Result<Command> {
    match arguments {
        [] => Ok(command),
        [first, ..] => Err(told(&format!("unexpected argument {first:?}"))),
    }
}

fn missing(text: &str) -> anyhow::Error {
    Failure::Several(vec![text.to_owned()]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> anyhow::Result<Command> {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let line = Line::read(&args)?;
        Command::read(&line.arguments[0], &line.arguments[1..], &line)
    }

    #[test]
    fn what_is_missing_is_said_in_the_words_of_the_original() {
        for (args, want) in [
            (&["deploy"][..], "No template name or configuration(s) supplied"),
            (&["get"], "No deployment name supplied"),
            (&["delete"], "No deployment name supplied"),
            (
                &["manifest"],
                "Must specify manifest in the form <deployment> <manifest> or just <deployment> to list.",
            ),
            (&["deployed-instances"], "No type name supplied"),
            (&["describe"], "No type name or URL supplied"),
            (&["createregistry", "--registry", "r"], "No registryfile specified (-registryfile)"),
            (&["bogus"], "Error: unknown command 'bogus' for 'dm'\nRun 'dm --help' for usage"),
        ] {
            assert_eq!(read(args).unwrap_err().to_string(), want);
        }
    }

    #[test]
    fn what_is_too_much_is_refused() {
        for args in
            [&["get", "a", "b"][..], &["list", "a"], &["manifest", "a", "b", "c"], &["wait"]]
        {
            assert!(read(args).is_err(), "{args:?}");
        }
    }

    #[test]
    fn a_manifest_is_named_by_two_arguments_or_behind_a_slash() {
        for args in [&["manifest", "d", "m"][..], &["manifest", "d/m"]] {
            match read(args).unwrap() {
                Command::Manifest { deployment, manifest } => {
                    assert_eq!((&*deployment, &*manifest), ("d", "m"));
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(matches!(read(&["manifest", "d"]).unwrap(), Command::Manifests(_)));
    }
}
