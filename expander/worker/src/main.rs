//! The process that templates run in, started by the expander with nothing but a socket.
//!
//! The order of things, each of which needs what a later one gives up: leave the session of whoever started it; enter
//! namespaces; bring up CPython and load all that templates may use; lose the files; lose all privileges; forbid what no
//! honest program here calls; try out the walls of a child; take orders. Every order is a fork of what is ready then.

mod child;
#[expect(unsafe_code, reason = "functions of the C library are replaced")]
mod clock;
mod control;
#[expect(unsafe_code, reason = "system calls about processes that no library has in safe form")]
mod fork;
#[expect(unsafe_code, reason = "CPython is started in a way that pyo3 does not offer")]
mod interpreter;
mod jail;
#[expect(unsafe_code, reason = "allocators are asked for what is never used")]
mod memory;
mod options;
mod zygote;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use protocol::Notice;

use control::Control;
use interpreter::Interpreter;
use jail::{Walls, landlock, limits, namespaces, privileges, seccomp};
use options::Options;
use zygote::Zygote;

/// Bits of [`Notice::Ready`]: seccomp, no_new_privs and limits always hold, since nothing starts without them.
const ALWAYS: u32 = 1 | 2 | 4;
const NAMESPACES: u32 = 8;

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) if options.files => end(list(&options)),
        Ok(Some(options)) => end(run(&options)),
        Ok(None) => {
            println!(
                "formwork-expander renders templates for formwork, which starts it; it is nothing to be run by hand."
            );
            ExitCode::from(2)
        }
        Err(error) => end(Err(error)),
    }
}

fn end(result: Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    eprintln!("formwork-expander: {error:#}");
    ExitCode::FAILURE
}

/// Names the files that have to be where this program is.
fn list(options: &Options) -> Result<()> {
    let (_, files) = Interpreter::start(&options.python_path, options.convert)?;
    println!("{}", files.join("\n"));
    Ok(())
}

fn run(options: &Options) -> Result<()> {
    let control = leave()?;
    // Asked before anything is entered, since half of it could not be left again.
    let inside = options.namespaces && namespaces::work();
    let process = if inside { namespaces::enter()? } else { PathBuf::from("/proc/self") };

    let (interpreter, _) = Interpreter::start(&options.python_path, options.convert)?;
    child::prepare();
    limits::reserve()?;
    let space = limits::address_space(&process)? + options.memory;
    check_alone(&process)?;

    if inside {
        namespaces::empty_root()?;
    }
    privileges::renounce().context("capabilities")?;
    privileges::lock().context("privileges")?;
    seccomp::forbid()?;

    let filter = seccomp::Filter::of_a_child()?;
    let zygote = rustix::process::getpid();
    let walls = Walls { zygote, landlock: landlock::version(), space, filter };
    let walls = walls.tried_out(&interpreter, options.cpu)?;
    let layers = if inside { ALWAYS | NAMESPACES } else { ALWAYS };
    control.send(Notice::Ready { layers, landlock: walls.landlock }, None)?;
    Zygote { control, interpreter, walls, cpu: options.cpu, children: Vec::new() }.serve()
}

/// Leaves behind what came from whoever started this process, but for the control socket and the log.
fn leave() -> Result<Control> {
    let parent = rustix::process::getppid();
    // A signal to "the process group" would reach the server otherwise. Fails for a leader, which has its own already.
    let _ = rustix::process::setsid();
    privileges::follow(parent)?;
    fork::reset_signals()?;
    fork::close_from(3).context("descriptors")?;
    let control = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    std::env::set_current_dir("/")?;
    // When memory is short, this process goes before the server does. Only advice, so it may fail.
    let _ = fs::write("/proc/self/oom_score_adj", "500");
    Ok(Control::new(control))
}

/// A second thread would make every fork a gamble.
fn check_alone(process: &Path) -> Result<()> {
    let threads = fs::read_dir(process.join("task"))?.count();
    ensure!(threads == 1, "the worker has {threads} threads");
    Ok(())
}
