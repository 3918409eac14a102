//! A worker as it is in a pod under the strictest PodSecurity: a user without a name, without capabilities, without
//! namespaces of its own, and with no way to more rights.

use std::os::unix::fs::PermissionsExt;

use ::tests::process::program;
use anyhow::Result;
use serde_json::json;

use super::own::{Own, SLOW, with};

/// The user of the image.
const USER: &str = "65532";

#[tokio::test]
async fn a_worker_with_the_rights_of_a_pod_runs_templates() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can start a worker as somebody else");
        return Ok(());
    }
    // Where that user gets at it.
    let folder = tempfile::tempdir()?;
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755))?;
    let worker = folder.path().join("formwork-expander");
    std::fs::copy(program("formwork-expander")?, &worker)?;
    let restricted = folder.path().join("restricted");
    let rights = format!(
        "--reuid={USER} --regid={USER} --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs"
    );
    let worker = worker.display();
    let script = format!("#!/bin/sh\nexec setpriv {rights} '{worker}' \"$@\" --no-namespaces\n");
    std::fs::write(&restricted, script)?;
    std::fs::set_permissions(&restricted, PermissionsExt::from_mode(0o755))?;

    let own = Own::start(&[&format!("--expander={}", restricted.display())]).await?;
    let note = own.note().await?;
    for part in ["seccomp=on", "no-new-privs=on", "rlimits=on", "namespaces=off", "2 of 2 workers"]
    {
        assert!(note.contains(part), "{note}");
    }
    for worker in own.workers()? {
        let status = std::fs::read_to_string(format!("/proc/{}/status", worker.pid))?;
        for line in [
            format!("Uid:\t{USER}\t{USER}\t{USER}\t{USER}"),
            "CapBnd:\t0000000000000000".to_owned(),
            "CapEff:\t0000000000000000".to_owned(),
        ] {
            assert!(status.contains(&line), "{line} is not in {status}");
        }
    }
    let answer = own.expand(&with("slow.py", SLOW, &json!({ "rounds": 10 }))).await?;
    assert_eq!(answer.status, 201, "{}", answer.text());
    Ok(())
}
