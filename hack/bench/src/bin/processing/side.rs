//! One of the two contestants: a worker process, spoken to in lines.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::inputs::Input;

pub(crate) struct Side {
    name: &'static str,
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// Nanoseconds per template.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub wall: f64,
    /// Processor time of all threads: the garbage collector's are counted.
    pub cpu: f64,
}

/// Fails unless both sides make the same of `input`, generated values apart.
pub(crate) fn compare(one: &mut Side, other: &mut Side, input: &Input) -> Result<()> {
    let (first, second) = (one.show(input)?, other.show(input)?);
    ensure!(
        first == second,
        "{}: {} and {} differ:\n{first}\n{second}",
        input.name,
        one.name,
        other.name
    );
    Ok(())
}

impl Side {
    pub(crate) fn start(name: &'static str, program: &Path, arguments: &[&str]) -> Result<Self> {
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {}", program.display()))?;
        let orders = process.stdin.take().context("stdin is piped")?;
        let answers = BufReader::new(process.stdout.take().context("stdout is piped")?);
        Ok(Self { name, process, orders, answers })
    }

    /// How many templates fill about `turn`, after a warm-up of the same length.
    pub(crate) fn times_within(&mut self, input: &Input, turn: Duration) -> Result<usize> {
        let mut times = 1;
        loop {
            let taken = self.run(input, times)?.wall * times as f64;
            if taken >= turn.as_nanos() as f64 {
                return Ok(times);
            }
            times *= 2;
        }
    }

    pub(crate) fn run(&mut self, input: &Input, times: usize) -> Result<Sample> {
        let answer = self.ask(&format!("run {} {times}", input.path.display()))?;
        let numbers: Vec<f64> =
            answer.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [wall, cpu] = numbers[..] else { bail!("{} answered {answer:?}", self.name) };
        Ok(Sample { wall: wall / times as f64, cpu: cpu / times as f64 })
    }

    /// The processed template, with `<NAME>` where the generated value of the parameter NAME stood.
    fn show(&mut self, input: &Input) -> Result<Value> {
        let mut text = self.ask(&format!("show {}", input.path.display()))?;
        let answer: Value = serde_json::from_str(&text)?;
        for parameter in answer["parameters"].as_array().into_iter().flatten() {
            let (Some(name), Some(value)) =
                (parameter["name"].as_str(), parameter["value"].as_str())
            else {
                continue;
            };
            if input.generated.iter().any(|generated| generated == name) {
                text = text.replace(value, &format!("<{name}>"));
            }
        }
        Ok(serde_json::from_str(&text)?)
    }

    fn ask(&mut self, order: &str) -> Result<String> {
        writeln!(self.orders, "{order}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        ensure!(!answer.is_empty(), "{} ended at the order {order:?}", self.name);
        Ok(answer)
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // A worker that ended by itself cannot be killed any more; that is as good.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Sample {
    /// Of each clock by itself. `samples` is not empty.
    pub(crate) fn median(samples: &[Sample]) -> Sample {
        let middle = |clock: fn(&Sample) -> f64| {
            let mut values: Vec<f64> = samples.iter().map(clock).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        Sample { wall: middle(|sample| sample.wall), cpu: middle(|sample| sample.cpu) }
    }
}
