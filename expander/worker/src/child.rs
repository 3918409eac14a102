//! A child: walls first, then a request, an answer, and the end.
//!
//! From the first byte of a request on, everything in this process may belong to whoever wrote the template.

use std::fs::File;
use std::hash::RandomState;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use expansion::{Fault, Language, Outcome};
use protocol::{Answer, Ask, Bounds, HEADER, Mode};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::clock;
use crate::fork;
use crate::interpreter::{Broken, Interpreter};
use crate::jail::{Breach, Walls};

/// The exit code of a child whose channel broke.
const CHANNEL_BROKE: i32 = 78;
/// The exit code of a child that panicked outside of a template.
const PANICKED: i32 = 79;
/// The longest request, in bytes: configuration, imports and resource are bounded long before they come here.
const LONGEST_REQUEST: usize = 256 << 20;
/// How many calls' worth of processor time a session may use before a fresh one takes its place.
const CALLS_OF_A_SESSION: u32 = 10;

/// What a child is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// One call.
    Call,
    /// Calls until the channel is closed, or much time is used.
    Session,
}

/// What is needed of a request to find out who answers it; the rest is left to them.
#[derive(Deserialize)]
struct Outline {
    #[serde(default)]
    mode: Mode,
    call: CallOutline,
    bounds: Bounds,
    now: i64,
    #[serde(rename = "seed")]
    _seed: IgnoredAny,
}

#[derive(Deserialize)]
struct CallOutline {
    language: Language,
}

/// Lives a child's life in the process that calls. `cpu` is what one call may use.
pub(crate) fn live(
    channel: OwnedFd,
    life: Life,
    walls: &Walls,
    interpreter: &Interpreter,
    cpu: Duration,
) -> ! {
    // Were a panic to go further, this process would become a second zygote.
    let code = catch_unwind(AssertUnwindSafe(|| match life {
        Life::Call => behind(walls, channel, cpu, |channel| {
            serve(channel, interpreter, life)?;
            Ok(())
        }),
        Life::Session => {
            let lifetime = cpu * CALLS_OF_A_SESSION;
            let last = i64::try_from(lifetime.as_micros()).unwrap_or(i64::MAX);
            // Whatever call is the last may still use all of its time.
            behind(walls, channel, lifetime + cpu, |channel| {
                while serve(channel, interpreter, life)? && clock::used() < last {}
                Ok(())
            })
        }
    }));
    fork::exit(code.unwrap_or(PANICKED))
}

/// Does `work` behind walls; the result is the exit code.
fn behind(
    walls: &Walls,
    channel: OwnedFd,
    time: Duration,
    work: impl FnOnce(&mut File) -> io::Result<()>,
) -> i32 {
    let raised: Result<File, Breach> = walls.raise(channel, time);
    match raised {
        Ok(mut channel) => work(&mut channel).map_or(CHANNEL_BROKE, |()| 0),
        Err(breach) => breach.code(),
    }
}

/// Answers one request. `false`: there was none, since the channel was closed.
fn serve(channel: &mut File, interpreter: &Interpreter, life: Life) -> io::Result<bool> {
    let Some(body) = receive(channel)? else { return Ok(false) };
    let Ok(outline) = serde_json::from_slice::<Outline>(&body) else {
        send(channel, &internal("the request of a child cannot be read"))?;
        return Ok(true);
    };
    clock::stop(outline.now);
    match (outline.mode, outline.call.language) {
        (Mode::Render, Language::Jinja) => send(channel, &jinja(&body, outline.bounds))?,
        _ if life == Life::Session => send(channel, &internal("a session renders Jinja alone"))?,
        _ => python(channel, interpreter, &body, outline.bounds)?,
    }
    Ok(true)
}

fn python(
    channel: &mut File,
    interpreter: &Interpreter,
    body: &[u8],
    bounds: Bounds,
) -> io::Result<()> {
    match interpreter.answer(body, bounds.output, |answer| write(channel, answer)) {
        Ok(written) => written,
        Err(Broken::Memory) => write(channel, OUT_OF_MEMORY),
        Err(Broken::Otherwise) => write(channel, BROKEN),
    }
}

/// Written as they are, since there may be no memory to make them with.
const OUT_OF_MEMORY: &[u8] =
    br#"{"fault":{"kind":"MemoryLimit","message":"the template needs more memory than it may have"}}"#;
const BROKEN: &[u8] =
    br#"{"fault":{"kind":"Broken","message":"the template broke the interpreter that reports its errors"}}"#;

fn jinja(body: &[u8], bounds: Bounds) -> Answer {
    let rendered = catch_unwind(|| {
        let ask = serde_json::from_slice::<Ask>(body).ok()?;
        Some(expansion::jinja::render(&ask.call, bounds.fuel, bounds.output))
    });
    match rendered {
        Ok(Some(Ok(rendered))) => Outcome::Rendered(rendered).into(),
        Ok(Some(Err(fault))) => Answer::Fault(fault),
        Ok(None) => internal("the request of a child cannot be read"),
        Err(_) => internal("the renderer panicked"),
    }
}

/// Draws the randomness that Rust's hash maps start from, once for all children: they may not ask the kernel for any.
pub(crate) fn prepare() {
    drop(RandomState::new());
}

fn internal(message: &str) -> Answer {
    let (kind, message) = ("Internal".to_owned(), message.to_owned());
    Answer::Fault(Fault { kind, message, ..Fault::default() })
}

fn send(channel: &mut File, answer: &Answer) -> io::Result<()> {
    let body = serde_json::to_vec(answer)?;
    write(channel, &body)
}

/// A frame, in two writes: a copy of the body would take as much memory again.
fn write(channel: &mut File, body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    channel.write_all(&length.to_be_bytes())?;
    channel.write_all(body)
}

fn receive(channel: &mut File) -> io::Result<Option<Vec<u8>>> {
    let mut header = [0; HEADER];
    if channel.read(&mut header[..1])? == 0 {
        return Ok(None);
    }
    channel.read_exact(&mut header[1..])?;
    let length = protocol::length(header, LONGEST_REQUEST).map_err(io::Error::other)?;
    let mut body = Vec::new();
    body.try_reserve_exact(length).map_err(io::Error::other)?;
    body.resize(length, 0);
    channel.read_exact(&mut body)?;
    Ok(Some(body))
}
