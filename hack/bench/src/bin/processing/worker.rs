//! Our side of the comparison; `golang/main.go` is the other and describes the orders.

use std::fs;
use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use processor::{Dialect, Overrides, Random, Template, Values};
use rand::RngExt;
use rustix::time::{ClockId, clock_gettime};

/// Answers every line of stdin, until it ends.
pub(crate) fn obey_stdin() -> Result<()> {
    for order in stdin().lock().lines() {
        let answer = obey(&order?)?;
        writeln!(stdout(), "{answer}")?;
    }
    Ok(())
}

fn obey(order: &str) -> Result<String> {
    let words: Vec<&str> = order.split_whitespace().collect();
    match words[..] {
        ["show", file] => Ok(String::from_utf8(process(&fs::read(file)?)?)?),
        ["run", file, times] => {
            let (body, times) = (fs::read(file)?, times.parse::<usize>()?);
            let (wall, cpu) = (Instant::now(), processor_time()?);
            for _ in 0..times {
                black_box(process(black_box(&body))?);
            }
            Ok(format!("{} {}", wall.elapsed().as_nanos(), (processor_time()? - cpu).as_nanos()))
        }
        _ => bail!("unknown order {order:?}"),
    }
}

fn process(body: &[u8]) -> Result<Vec<u8>> {
    let template = Template::parse(str::from_utf8(body)?, Dialect::OpenShift)?;
    let overrides = Overrides::new();
    let values = Values::resolve(&template, &overrides, &mut System(rand::rng()))?;
    let processed = processor::process(&template, &values)?;
    let mut answer = Vec::new();
    processed.write_template(&mut answer);
    Ok(answer)
}

/// A cryptographic generator, which the original's is not. What the server's own costs shows in `serving`.
struct System(rand::rngs::ThreadRng);

impl Random for System {
    fn below(&mut self, bound: u32) -> u32 {
        self.0.random_range(0..bound)
    }
}

/// Processor time of all threads.
fn processor_time() -> Result<Duration> {
    clock_gettime(ClockId::ProcessCPUTime).try_into().context("the clock does not run backwards")
}
