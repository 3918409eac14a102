//! Two ways to expand an example: by the command, and by a server that the command asks.

use std::path::Path;
use std::process::Command;

use ::tests::server;
use anyhow::{Context, Result, bail, ensure};

use crate::configuration::{self, Run};
use crate::example::Want;
use crate::run;
use crate::wanted;

#[test]
fn the_command_expands_every_example_as_it_wants() -> Result<()> {
    // There is no kubeconfig to be found: none is needed.
    each(&["--kubeconfig", "/nonexistent"], |want, said| {
        ensure!(want == said, "wanted\n{want}but it said\n{said}");
        Ok(())
    })
}

#[test]
fn the_server_expands_every_example_as_the_command_does() -> Result<()> {
    let server = server::shared()?;
    let kubeconfig = server.kubeconfig();
    let kubeconfig = kubeconfig.to_str().context("a path in UTF-8")?;
    each(&["--remote", "--kubeconfig", kubeconfig], same_problems)
}

/// Every run of every example, with these further arguments; says all that differ. `refusal` compares what is wanted of a
/// refusal with what was said.
fn each(arguments: &[&str], refusal: fn(&str, &str) -> Result<()>) -> Result<()> {
    let Some(program) = run::command()? else {
        println!("skipped: kubectl-formwork is not built");
        return Ok(());
    };
    let mut differing = Vec::new();
    let runs = configuration::runs()?;
    ensure!(runs.len() > 5, "{} examples", runs.len());
    for run in runs {
        let outcome = check(&program, &run, arguments, refusal);
        if let Err(difference) = outcome {
            differing.push(format!("{}: {difference:#}", run.name));
        }
    }
    ensure!(differing.is_empty(), "{}", differing.join("\n"));
    Ok(())
}

fn check(
    program: &Path,
    run: &Run,
    arguments: &[&str],
    refusal: fn(&str, &str) -> Result<()>,
) -> Result<()> {
    let mut command = Command::new(program);
    // Paths in errors are seen from there.
    command.current_dir(&run.folder);
    command.args(["expand", &run.configuration, "-o", "json"]).args(arguments);
    for assignment in &run.env {
        command.args(["--env", assignment]);
    }
    let output = command.output()?;
    let said = String::from_utf8(output.stderr)?;
    match (&run.want, output.status.success()) {
        (Want::Objects(want), true) => {
            ensure!(said.is_empty(), "it said {said}");
            let got = serde_json::from_slice(&output.stdout)?;
            wanted::equal(&run::yaml(want)?, &got)
        }
        (Want::Refusal(want), false) => refusal(want, &said),
        (Want::Objects(_), false) => bail!("refused: {said}"),
        (Want::Refusal(_), true) => bail!("it was not refused"),
    }
}

/// The server knows nothing of the paths of files: what is wrong, and where in the hierarchy, is the same.
fn same_problems(want: &str, said: &str) -> Result<()> {
    if want.starts_with("error: ") {
        // It never came to the server.
        ensure!(want == said, "wanted\n{want}but it said\n{said}");
        return Ok(());
    }
    let problems = |text: &str| text.lines().filter(|line| !line.starts_with(' ')).count();
    ensure!(problems(want) == problems(said), "wanted\n{want}but it said\n{said}");
    for line in want.lines().filter(|line| !line.starts_with(' ')) {
        let (_, problem) = line.split_once(": ").context("a file in front")?;
        ensure!(said.contains(problem), "{problem:?} is not in\n{said}");
    }
    Ok(())
}
