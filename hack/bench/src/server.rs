//! The server under test: a child process on a scratch folder, and what the kernel says it used.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::process::Process;

const READY_WITHIN: Duration = Duration::from_secs(30);

/// A server that runs. Dropped, it is killed.
pub struct Server {
    process: Child,
    /// Names the server, and an admin.
    pub kubeconfig: PathBuf,
}

impl Server {
    /// Starts `program` standalone, and returns when its kubeconfig is there and its port answers.
    ///
    /// # Errors
    /// When it ends, or does not answer in time.
    pub fn start(program: &Path, data: &Path) -> Result<Self> {
        let port = free_port()?;
        let process = Command::new(program)
            .args(["serve", "--standalone", "--bind-address", "127.0.0.1"])
            .args(["--secure-port", &port.to_string(), "--data-dir"])
            .arg(data)
            .stderr(Stdio::from(fs::File::create(data.join("server.log"))?))
            .spawn()
            .with_context(|| format!("starting {}", program.display()))?;
        let mut server = Self { process, kubeconfig: data.join("admin.kubeconfig") };

        let deadline = Instant::now() + READY_WITHIN;
        while !(server.kubeconfig.exists()
            && std::net::TcpStream::connect(("127.0.0.1", port)).is_ok())
        {
            if let Some(status) = server.process.try_wait()? {
                bail!("the server ended with {status}; see {}", data.join("server.log").display());
            }
            ensure!(Instant::now() < deadline, "the server was not ready within {READY_WITHIN:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// What is measured.
    pub fn process(&self) -> Process {
        Process(self.process.id())
    }

    /// Asks it to end.
    ///
    /// # Errors
    /// Unless it does so cleanly.
    pub fn stop(mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.process), Signal::TERM)?;
        let status = self.process.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` there is nothing left to kill.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
