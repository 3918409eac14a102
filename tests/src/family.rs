//! The processes that a process has started, and theirs: what is left of a server, and what it takes.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// How long processes may take to be gone.
const PATIENCE: Duration = Duration::from_secs(20);

/// A process that does not turn into another when its number is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its number.
    pub pid: u32,
    /// Whose child it is.
    parent: u32,
    /// When it began, in ticks since the machine did.
    begun: u64,
}

/// Everything that descends from the process `ancestor`, parents before their children.
///
/// # Errors
/// When the kernel does not say.
pub fn descendants(ancestor: u32) -> Result<Vec<Member>> {
    let mut by_parent: BTreeMap<u32, Vec<Member>> = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let pid = entry?.file_name().to_str().and_then(|name| name.parse().ok());
        // A process may end while this goes through the list.
        if let Some(member) = pid.and_then(read) {
            by_parent.entry(member.parent).or_default().push(member);
        }
    }
    let mut found = by_parent.remove(&ancestor).unwrap_or_default();
    let mut next = 0;
    while let Some(member) = found.get(next) {
        found.extend(by_parent.remove(&member.pid).unwrap_or_default());
        next += 1;
    }
    Ok(found)
}

/// The children of `ancestor` itself.
///
/// # Errors
/// As [`descendants`].
pub fn children(ancestor: u32) -> Result<Vec<Member>> {
    let mut all = descendants(ancestor)?;
    all.retain(|member| member.parent == ancestor);
    Ok(all)
}

impl Member {
    /// Whether it is still there. One that has ended and was not waited for is.
    pub fn is_there(&self) -> bool {
        read(self.pid).is_some_and(|now| now.begun == self.begun)
    }

    /// `kill -9`, unless it is gone.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn kill(&self) -> Result<()> {
        if self.is_there() {
            let pid = Pid::from_raw(i32::try_from(self.pid)?).context("a process has a number")?;
            kill_process(pid, Signal::KILL)?;
        }
        Ok(())
    }
}

/// Waits until none of them is there.
///
/// # Errors
/// When that takes too long, with those that are left.
pub fn until_gone(members: &[Member]) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left: Vec<_> = members.iter().filter(|member| member.is_there()).collect();
        if left.is_empty() {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "still there: {left:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Memory that is in no file and belongs to the process `pid`, in KiB. What it shares with processes that it was forked
/// from or has forked counts for each.
///
/// # Errors
/// When it is gone.
pub fn memory(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).context("a process has memory")
}

fn read(pid: u32) -> Option<Member> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the program's name, which is in parentheses and may hold anything: the state, the parent, and seventeen
    // more before the time at which it began.
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let begun = fields.nth(17)?.parse().ok()?;
    Some(Member { pid, parent, begun })
}
