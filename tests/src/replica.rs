//! A `formwork serve` that is part of a cluster, as a child process.

use std::ffi::OsString;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use crate::process::Process;

/// One of the processes that serve an [`Installation`](crate::installation::Installation). Dropping it kills it.
#[derive(Debug)]
pub struct Replica {
    name: String,
    address: SocketAddr,
    flags: Vec<OsString>,
    log: PathBuf,
    process: Option<Process>,
}

impl Replica {
    /// One that does not run yet, at a free port of `address`, which it keeps.
    pub(crate) fn new(
        name: String,
        address: SocketAddr,
        flags: Vec<OsString>,
        log: PathBuf,
    ) -> Self {
        Self { name, address, flags, log, process: None }
    }

    /// What its EndpointSlice and its files are called after.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it serves, running or not.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts it, with whatever it kept on disk, and waits until it serves.
    ///
    /// # Errors
    /// With what it said, when it ends or is not ready within a minute.
    pub fn start(&mut self) -> Result<()> {
        // One that is running would keep the port and the lock of its data.
        self.process = None;
        self.process = Some(Process::serve(&self.flags, &self.log)?);
        Ok(())
    }

    /// SIGTERM, and the status it ends with.
    ///
    /// # Errors
    /// When it does not run, or does not end within half a minute.
    pub fn stop(&mut self) -> Result<ExitStatus> {
        self.running()?.stop()
    }

    /// `kill -9`, and waits until it is gone.
    ///
    /// # Errors
    /// When it does not run.
    pub fn kill(&mut self) -> Result<()> {
        self.running()?.kill()
    }

    /// SIGSTOP: it holds its connections and answers nothing.
    ///
    /// # Errors
    /// When it does not run.
    pub fn pause(&mut self) -> Result<()> {
        self.running()?.pause()
    }

    /// SIGCONT.
    ///
    /// # Errors
    /// When it does not run.
    pub fn resume(&mut self) -> Result<()> {
        self.running()?.signal(Signal::CONT)
    }

    /// The process, for whatever else is to happen to it.
    ///
    /// # Errors
    /// When it was never started.
    pub fn running(&mut self) -> Result<&mut Process> {
        self.process.as_mut().with_context(|| format!("{} was never started", self.name))
    }

    /// What it logged over all its lives.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

/// A port of `address` that is free, and is given to nobody else: not by the kernel, which gives away others, not by
/// `hack/cluster.sh`, and not by this function, unless two programs of tests run at once and are unlucky.
///
/// # Errors
/// When there is none.
pub(crate) fn free_port(address: std::net::IpAddr) -> Result<u16> {
    const PORTS: std::ops::Range<u32> = 29_000..32_768;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for _ in PORTS {
        let next =
            std::process::id().wrapping_mul(97).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(PORTS.start + next % (PORTS.end - PORTS.start))?;
        if TcpListener::bind((address, port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port of {PORTS:?} is free")
}
