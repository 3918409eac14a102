//! Decode, process, encode: ours against OpenShift's own library, on the same bytes, in turns.
//!
//! Both sides are worker processes under the same orders (see `worker`), so neither has this one's memory or cache
//! to itself. A round lets each work for about the same time; what is printed is the median over the rounds.
//! Before anything is timed, both answers are compared.

mod inputs;
mod side;
mod worker;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;

use inputs::Input;
use side::{Sample, Side};

#[derive(Parser)]
struct Args {
    /// Take orders on stdin instead of giving them
    #[arg(long)]
    worker: bool,
    /// The program built from hack/bench/golang
    #[arg(long, required_unless_present = "worker")]
    golang: Option<PathBuf>,
    /// Folder of small.json and medium.json
    #[arg(long, default_value = "hack/bench/templates")]
    templates: PathBuf,
    /// Folder for the inputs as they are fed to both sides
    #[arg(long, default_value = "target/bench")]
    scratch: PathBuf,
    /// How many times each side has its turn on each input
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// How long a turn takes, about
    #[arg(long, default_value_t = 200)]
    turn_ms: u64,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if args.worker {
        return worker::obey_stdin();
    }
    let golang = args.golang.context("--golang is required")?;
    let mut original = Side::start("openshift/library-go", &golang, &[])?;
    let mut formwork = Side::start("formwork", &std::env::current_exe()?, &["--worker"])?;

    println!("decode, process, encode: median of {} rounds in turns", args.rounds);
    println!(
        "{:<8} {:>9} {:>14} {:>14} {:>8} {:>8}",
        "input", "bytes", "original", "formwork", "wall", "cpu"
    );
    let turn = Duration::from_millis(args.turn_ms);
    for input in inputs::prepare(&args.templates, &args.scratch)? {
        side::compare(&mut original, &mut formwork, &input)?;
        let (theirs, ours) = in_turns(&mut original, &mut formwork, &input, args.rounds, turn)?;
        println!(
            "{:<8} {:>9} {:>14} {:>14} {:>7.1}x {:>7.1}x",
            input.name,
            input.bytes,
            microseconds(theirs.wall),
            microseconds(ours.wall),
            theirs.wall / ours.wall,
            theirs.cpu / ours.cpu,
        );
    }
    Ok(())
}

/// The medians of both sides, in nanoseconds per template.
fn in_turns(
    original: &mut Side,
    formwork: &mut Side,
    input: &Input,
    rounds: usize,
    turn: Duration,
) -> Result<(Sample, Sample)> {
    let times = (original.times_within(input, turn)?, formwork.times_within(input, turn)?);
    let mut samples = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        samples.0.push(original.run(input, times.0)?);
        samples.1.push(formwork.run(input, times.1)?);
    }
    Ok((Sample::median(&samples.0), Sample::median(&samples.1)))
}

fn microseconds(nanoseconds: f64) -> String {
    format!("{:.1} us", nanoseconds / 1000.0)
}
