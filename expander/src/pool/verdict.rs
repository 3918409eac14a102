//! What a child's words and death mean. All of it is a claim by somebody who may be hostile.

use std::time::Duration;

use expansion::{Call, Fault, Language, Outcome, Rendered, Value};
use protocol::{Answer, Bounds, Ended, FrameError, WALLS};
use rustix::process::Signal;

use crate::config::Config;
use crate::error::PoolError;
use crate::printable;
use crate::worker::End;

/// What a death without a result means.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// The template is to blame.
    Fault(Fault),
    /// Something else killed it: it may be tried again.
    Lost,
    /// Its walls could not be built.
    Walls(String),
}

/// The fault that a limit or a wall found.
fn fault(kind: &str, message: String) -> Fault {
    Fault { kind: kind.into(), message, ..Fault::default() }
}

/// A child ended, by itself, without a result.
pub(super) fn death(language: Language, end: Option<End>, config: &Config) -> Verdict {
    let ended = match end {
        Some(End::Ended(ended)) => ended,
        // The worker died, or the machine has no room for a process: another worker, or moment, may have.
        Some(End::Refused(_)) | None => return Verdict::Lost,
    };
    let signal = ended.signal.and_then(Signal::from_named_raw);
    match (ended, signal) {
        (_, Some(Signal::XCPU)) => Verdict::Fault(match language {
            Language::Python => too_slow(config.cpu, "processor time"),
            // A process that is kept has more, and what is left of that is nobody's business.
            Language::Jinja => {
                fault("TimeLimit", "used more processor time than it may have".into())
            }
        }),
        (_, Some(Signal::SYS)) => {
            Verdict::Fault(fault("Forbidden", "made a system call that is forbidden".into()))
        }
        // Nobody here sent it: the machine ran out of memory, or the worker took its children along.
        (_, Some(Signal::KILL | Signal::TERM)) => Verdict::Lost,
        (Ended { signal: Some(number), .. }, _) if WALLS.contains(&number) => {
            Verdict::Walls(format!("a wall around the template could not be built ({number})"))
        }
        (Ended { signal: Some(number), .. }, signal) => {
            Verdict::Fault(crash(language, number, signal, config))
        }
        (Ended { code: None | Some(0), .. }, _) => {
            Verdict::Fault(fault("NoResult", "ended without a result".into()))
        }
        (Ended { code: Some(code), .. }, _) => {
            Verdict::Fault(fault("NoResult", format!("ended without a result (exit code {code})")))
        }
    }
}

/// Jinja's interpreter is written in a language that does not crash, but it ends its process when memory is refused, be it
/// for values that are many or for a stack that deep ones need.
fn crash(language: Language, number: i32, signal: Option<Signal>, config: &Config) -> Fault {
    match (language, signal) {
        (Language::Jinja, Some(Signal::ABORT | Signal::SEGV | Signal::ILL | Signal::BUS)) => {
            let message = format!(
                "used more memory than the {} MiB that it may have, or nested values too deep",
                config.memory
            );
            fault("MemoryLimit", message)
        }
        _ => fault("Crash", format!("crashed the interpreter (signal {number})")),
    }
}

/// A child did not answer in time.
pub(super) fn late(config: &Config) -> Fault {
    too_slow(config.wall, "time")
}

fn too_slow(limit: Duration, what: &str) -> Fault {
    let message = format!("used more {what} than the {limit:?} that it may have");
    fault("TimeLimit", message)
}

/// A child announced a frame that is not taken.
pub(super) fn unacceptable(error: FrameError) -> Fault {
    match error {
        FrameError::TooLong { limit, .. } => {
            fault("OutputLimit", format!("gave more than the {limit} bytes that it may give"))
        }
        FrameError::Empty => fault("InvalidResult", "gave a result that is not valid".into()),
    }
}

/// A call is too big to be sent.
pub(super) fn too_big(limit: usize) -> Fault {
    let message = format!("a template and its imports are bigger than {limit} bytes");
    fault("InputLimit", message)
}

/// Reads the body of a frame.
pub(super) fn answer(body: &[u8], call: &Call, bounds: &Bounds) -> Outcome {
    // Sixteen megabytes of `[[],[],…]` are half a gigabyte of values, which no budget sees before they are there.
    if Value::size_of_json(body) > bounds.output {
        return Outcome::Failed(unacceptable(FrameError::TooLong {
            length: body.len(),
            limit: bounds.output,
        }));
    }
    let answer: Answer = match serde_json::from_slice(body) {
        Ok(answer) => answer,
        // Lone surrogates, which are text to Python, and nesting without end come out here.
        Err(error) => {
            let message = format!("gave a result that is not valid: {error}");
            return Outcome::Failed(printable::fault(fault("InvalidResult", message), |_| false));
        }
    };
    match Outcome::from(answer) {
        Outcome::Rendered(Rendered::Text { text, properties, fuel }) => {
            // Python has no fuel, whatever it says, and nobody has used more than he was given.
            let fuel = match call.language {
                Language::Jinja => fuel.min(bounds.fuel),
                Language::Python => 0,
            };
            Outcome::Rendered(Rendered::Text { text, properties, fuel })
        }
        Outcome::Failed(told) => {
            Outcome::Failed(printable::fault(told, |file| call.imports.contains_key(file)))
        }
        data => data,
    }
}

/// The error for a call that nothing could finish.
pub(super) fn lost() -> PoolError {
    PoolError::Unavailable("the worker died, twice".into())
}

#[cfg(test)]
mod tests;
