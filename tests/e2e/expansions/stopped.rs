//! Servers that stop, or are stopped, while templates run: answers are given, and no process is left behind.

use ::tests::family::{descendants, until_gone};
use anyhow::{Result, ensure};
use rustix::process::Signal;
use serde_json::json;

use super::own::{ENDLESS, IN_FLIGHT, Own, SLOW, one, with};

/// Takes half a second or more, in which the server has to be told to stop. A template may take 10 s.
const ROUNDS: u64 = 6_000_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_answers_what_it_began_and_leaves_nobody_behind() -> Result<()> {
    let mut own = Own::start(&["--expander-cpu=20s"]).await?;
    let slow = own.begin(&with("slow.py", SLOW, &json!({ "rounds": ROUNDS })));
    own.until(IN_FLIGHT, |calls| calls == 1.0).await?;
    let family = descendants(own.server.id())?;
    ensure!(family.len() >= 3, "two workers and a child at work: {family:?}");
    own.server.signal(Signal::TERM)?;
    let answer = slow.await??;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let total = (ROUNDS - 1) * ROUNDS / 2;
    let found = &answer.json()?["status"]["config"]["resources"][0]["properties"]["value"];
    assert_eq!(*found, json!(total));
    let status = own.server.stop()?;
    ensure!(status.success(), "{status}");
    until_gone(&family)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_leaves_nobody_behind() -> Result<()> {
    let own = Own::start(&["--expander-cpu=20s"]).await?;
    let endless = own.begin(&one("endless.py", ENDLESS));
    own.until(IN_FLIGHT, |calls| calls == 1.0).await?;
    let family = descendants(own.server.id())?;
    ensure!(family.len() >= 3, "two workers and a child at work: {family:?}");
    own.server.kill()?;
    ensure!(endless.await?.is_err(), "nobody is left to answer");
    until_gone(&family)
}
