//! What there is: processes below this one, descriptors, memory. Taken before the attacks and after them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::time::{Instant, sleep};

/// How long it may take until what is dying is gone.
const PATIENCE: Duration = Duration::from_secs(20);

/// What there is at a moment.
#[derive(Debug)]
pub(crate) struct Census {
    /// Workers by their process numbers, and their memory in KiB.
    pub(crate) workers: BTreeMap<u32, u64>,
    /// Jailed children: those that are kept.
    pub(crate) children: Vec<u32>,
    /// Processes that are dead and not buried.
    pub(crate) zombies: Vec<u32>,
    /// Descriptors of this process.
    pub(crate) descriptors: usize,
    /// Memory of this process in KiB.
    pub(crate) memory: u64,
}

impl Census {
    /// Counts.
    pub(crate) fn take() -> Result<Self> {
        let own = status("self")?;
        let mut census = Self {
            workers: BTreeMap::new(),
            children: Vec::new(),
            zombies: Vec::new(),
            descriptors: fs::read_dir("/proc/self/fd")?.count(),
            memory: number(&own, "VmRSS"),
        };
        // A worker has a filter, and its children have two.
        let jailed = number(&own, "Seccomp_filters") + 2;
        let parents = parents()?;
        for pid in parents.keys().copied() {
            if !is_below(pid, std::process::id(), &parents) {
                continue;
            }
            // It may have ended since.
            let Ok(status) = status(&pid.to_string()) else { continue };
            if field(&status, "State").starts_with('Z') {
                census.zombies.push(pid);
            } else if number(&status, "Seccomp_filters") >= jailed {
                census.children.push(pid);
            } else {
                census.workers.insert(pid, number(&status, "VmRSS"));
            }
        }
        Ok(census)
    }

    /// Counts until `settled`, which it has to be some time soon.
    pub(crate) async fn when(settled: impl Fn(&Self) -> bool) -> Result<Self> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let census = Self::take()?;
            if settled(&census) {
                return Ok(census);
            }
            ensure!(Instant::now() < deadline, "it does not come to rest: {census:?}");
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Which process is whose child.
fn parents() -> Result<BTreeMap<u32, u32>> {
    let mut parents = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(status) = status(&format!("{pid}")) else { continue };
        parents.insert(pid, u32::try_from(number(&status, "PPid"))?);
    }
    Ok(parents)
}

fn is_below(pid: u32, top: u32, parents: &BTreeMap<u32, u32>) -> bool {
    let mut at = pid;
    // Numbers may be given anew while they are read, so that there could be circles.
    for _ in 0..64 {
        match parents.get(&at) {
            Some(&parent) if parent == top => return true,
            Some(&parent) => at = parent,
            None => return false,
        }
    }
    false
}

fn status(process: &str) -> Result<String> {
    let path = Path::new("/proc").join(process).join("status");
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

fn field<'a>(status: &'a str, name: &str) -> &'a str {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_default().trim()
}

fn number(status: &str, name: &str) -> u64 {
    field(status, name).split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
