//! A child: walls first, then a request, an answer, and the end.
//!
//! From the first byte of a request on, everything in this process may belong to whoever wrote the template.

use std::fs::File;
use std::hash::RandomState;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use expansion::jinja::Renderer;
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
/// The longest answer of Python's that is copied to be sent, in bytes.
const LONGEST_COPY: usize = 64 << 10;
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
        Life::Call => behind(walls, channel, cpu, |channel| call(channel, interpreter)),
        Life::Session => {
            let lifetime = cpu * CALLS_OF_A_SESSION;
            let last = i64::try_from(lifetime.as_micros()).unwrap_or(i64::MAX);
            // Whatever call is the last may still use all of its time.
            behind(walls, channel, lifetime + cpu, |channel| session(channel, last))
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
        Err(breach) => breach.die(),
    }
}

/// Answers one request of any kind.
fn call(channel: &mut File, interpreter: &Interpreter) -> io::Result<()> {
    let Some(body) = receive(channel)? else { return Ok(()) };
    let Ok(outline) = serde_json::from_slice::<Outline>(&body) else {
        return send(channel, &unreadable());
    };
    match (outline.mode, outline.call.language) {
        (Mode::Render, Language::Jinja) => send(channel, &jinja(&mut Renderer::default(), &body)),
        _ => {
            clock::stop(outline.now);
            python(channel, interpreter, &body, outline.bounds)
        }
    }
}

/// Answers requests for Jinja until the channel is closed, or `last` microseconds of the processor are used.
fn session(channel: &mut File, last: i64) -> io::Result<()> {
    let mut renderer = Renderer::default();
    while let Some(body) = receive(channel)? {
        send(channel, &jinja(&mut renderer, &body))?;
        if clock::used() >= last {
            break;
        }
    }
    Ok(())
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

fn jinja(renderer: &mut Renderer, body: &[u8]) -> Answer {
    let rendered = catch_unwind(AssertUnwindSafe(|| {
        let Ok(Ask { mode, call, bounds, now, .. }) = serde_json::from_slice(body) else {
            return unreadable();
        };
        if (mode, call.language) != (Mode::Render, Language::Jinja) {
            return internal("a session renders Jinja alone");
        }
        clock::stop(now);
        match renderer.render(&call, bounds.fuel, bounds.output) {
            Ok(rendered) => Outcome::Rendered(rendered).into(),
            Err(fault) => Answer::Fault(fault),
        }
    }));
    rendered.unwrap_or_else(|_| internal("the renderer panicked"))
}

/// Draws the randomness that Rust's hash maps start from, once for all children: they may not ask the kernel for any.
pub(crate) fn prepare() {
    drop(RandomState::new());
}

fn unreadable() -> Answer {
    internal("the request of a child cannot be read")
}

fn internal(message: &str) -> Answer {
    let (kind, message) = ("Internal".to_owned(), message.to_owned());
    Answer::Fault(Fault { kind, message, ..Fault::default() })
}

fn send(channel: &mut File, answer: &Answer) -> io::Result<()> {
    let mut frame = vec![0; HEADER];
    serde_json::to_writer(&mut frame, answer)?;
    let header = header(frame.len() - HEADER)?;
    frame[..HEADER].copy_from_slice(&header);
    channel.write_all(&frame)
}

/// A frame, in one write if it is short, so that whoever waits for it wakes up once. A copy of a long one, or of one
/// that is told when memory is short, would take as much memory again.
fn write(channel: &mut File, body: &[u8]) -> io::Result<()> {
    let header = header(body.len())?;
    let mut frame = Vec::new();
    if body.len() > LONGEST_COPY || frame.try_reserve_exact(HEADER + body.len()).is_err() {
        channel.write_all(&header)?;
        return channel.write_all(body);
    }
    frame.extend_from_slice(&header);
    frame.extend_from_slice(body);
    channel.write_all(&frame)
}

fn header(length: usize) -> io::Result<[u8; HEADER]> {
    Ok(u32::try_from(length).map_err(io::Error::other)?.to_be_bytes())
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
