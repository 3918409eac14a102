//! The examples, as a reader runs them: templates through the processor, through `kubectl-formwork process --local`, and
//! stored in a server; configurations of Deployment Manager through `kubectl-formwork expand`, and by a server.
//!
//! `examples/README.md` says what the files of an example are. What comes out is compared as JSON, so a `want` file may
//! be laid out for people.

mod configuration;
mod example;
mod expanded;
mod python3;
mod run;
mod served;
mod wanted;

use anyhow::{Context, Result};

use crate::example::Run;

#[test]
fn the_processor_makes_of_every_example_what_it_wants() -> Result<()> {
    each(run::with_the_library)
}

#[test]
fn the_command_makes_of_every_example_what_it_wants() -> Result<()> {
    let Some(program) = run::command()? else {
        println!("skipped: kubectl-formwork is not built");
        return Ok(());
    };
    each(|run| run::with_the_command(&program, run))
}

/// Every run of every example; says all that differ.
fn each(outcome: impl Fn(&Run) -> Result<run::Outcome>) -> Result<()> {
    let mut differing = Vec::new();
    for run in example::runs()? {
        let outcome = outcome(&run).with_context(|| run.name.clone())?;
        if let Err(difference) = wanted::check(&run, &outcome) {
            differing.push(format!("{}: {difference:#}", run.name));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    Ok(())
}
