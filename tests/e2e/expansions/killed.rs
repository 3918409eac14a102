//! Workers that are killed while templates run in them.

use ::tests::family::until_gone;
use anyhow::{Result, ensure};
use serde_json::json;

use super::own::{IN_FLIGHT, Own, SLOW, with};

/// How often both are killed. Three deaths a minute are taken as they come; the fourth makes the server wait.
const ROUNDS: u64 = 4;
/// Expansions at once.
const AT_ONCE: u64 = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_workers_cost_no_more_than_the_calls_in_hand() -> Result<()> {
    let own = Own::start(&["--expander-cpu=20s"]).await?;
    let (mut done, mut unavailable) = (0, 0);
    for round in 0..ROUNDS {
        let slow = |n: u64| {
            let rounds = 2_000_000 + 10 * round + n;
            own.begin(&with("slow.py", SLOW, &json!({ "rounds": rounds })))
        };
        let calls: Vec<_> = (0..AT_ONCE).map(slow).collect();
        own.until(IN_FLIGHT, |calls| calls >= 1.0).await?;
        let workers = own.workers()?;
        ensure!(workers.len() <= 2, "{workers:?}");
        for worker in &workers {
            worker.kill()?;
        }
        until_gone(&workers)?;
        // Everything else goes on meanwhile.
        own.note().await?;
        for call in calls {
            let answer = call.await??;
            match answer.status {
                201 => done += 1,
                503 => {
                    assert_eq!(answer.header("retry-after"), "1", "{}", answer.text());
                    unavailable += 1;
                }
                _ => anyhow::bail!("{} {}", answer.status, answer.text()),
            }
        }
        let next = with("slow.py", SLOW, &json!({ "rounds": 10 * round }));
        let next = own.expand(&next).await?;
        ensure!(next.status == 201, "after {round} kills: {}", next.text());
    }
    println!("{done} expansions were done and {unavailable} unavailable over {ROUNDS} kills");
    ensure!(done > 0, "nothing was begun anew");
    assert!(own.metric("formwork_expander_worker_restarts_total").await? >= 2.0);
    assert!(own.metric("formwork_expander_retries_total").await? >= 1.0);
    own.until(IN_FLIGHT, |calls| calls == 0.0).await?;
    Ok(())
}
