//! How far a deployment is, for people.

use std::fmt::Write as _;

use super::deployment::{Deployment, Operation};
use crate::expand::report::printable;
use crate::tabs::{self, Fill, Layout};

/// The whole text.
pub(super) fn text(deployment: &Deployment) -> String {
    let Deployment { metadata, status, .. } = deployment;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name}:\t{}", printable(value));
        }
    };
    line("Name", &metadata.name);
    line("Phase", if status.phase.is_empty() { "Pending" } else { &status.phase });
    if status.observed_generation < metadata.generation {
        line("Behind", "the latest change is not looked at yet");
    }
    line("Manifest", &status.manifest);
    if status.deployed != status.manifest {
        line("Deployed", &status.deployed);
    }
    line("Operation", &status.operation.as_ref().map(operation).unwrap_or_default());
    let row = |cells: &[&str]| {
        // Messages of several lines stay a row.
        let cells: Vec<_> = cells.iter().map(|cell| printable(&cell.replace('\n', "; "))).collect();
        format!("  {}\n", cells.join("\t"))
    };
    let mut table = |title: &str, rows: Vec<String>| {
        if let [_, _, ..] = rows.as_slice() {
            let _ = write!(text, "{title}:\n{}", rows.concat());
        }
    };
    let conditions = status
        .conditions
        .iter()
        .map(|one| row(&[&one.kind, &one.status, &one.reason, &one.message]));
    table(
        "Conditions",
        [row(&["TYPE", "STATUS", "REASON", "MESSAGE"])].into_iter().chain(conditions).collect(),
    );
    let resources = status.resources.iter().map(|one| {
        row(&[&(one.wave + 1).to_string(), &one.name, &one.object(), &one.state, &one.error])
    });
    table(
        "Resources",
        [row(&["WAVE", "NAME", "OBJECT", "STATE", "ERROR"])].into_iter().chain(resources).collect(),
    );
    let outputs = status.outputs.iter().map(|one| row(&[&one.name, &one.value.to_string()]));
    table("Outputs", [row(&["NAME", "VALUE"])].into_iter().chain(outputs).collect());
    let aligned = tabs::align(&text, Layout { min_width: 0, padding: 2, fill: Fill::Spaces });
    let trimmed: Vec<&str> = aligned.lines().map(str::trim_end).collect();
    trimmed.join("\n") + "\n"
}

fn operation(operation: &Operation) -> String {
    let Operation { kind, start_time, end_time, wave, waves, done, total } = operation;
    let since = start_time.as_deref().map_or_else(String::new, |time| format!(", since {time}"));
    match end_time {
        Some(time) => format!("{kind}, ended {time}"),
        None if *waves > 0 => {
            let wave = (wave + 1).min(*waves);
            format!("{kind}, wave {wave} of {waves}, {done} of {total} ready{since}")
        }
        None => format!("{kind}{since}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_that_is_known_is_told_in_columns() {
        let deployment = Deployment::of(&json!({"metadata": {"name": "gb", "generation": 3}, "status": {
            "phase": "Applying", "observedGeneration": 3, "manifest": "gb-3", "deployed": "gb-2",
            "conditions": [
                {"type": "Expanded", "status": "True", "reason": "Expanded"},
                {"type": "Ready", "status": "False", "reason": "Waiting", "message": "a\nb"}],
            "operation": {"type": "Update", "startTime": "2026-01-01T00:00:00Z", "wave": 1, "waves": 2, "done": 3, "total": 4},
            "resources": [
                {"name": "web", "kind": "Service", "namespace": "x", "objectName": "web", "wave": 0, "state": "Ready"},
                {"name": "rc", "kind": "Deployment", "namespace": "x", "objectName": "rc", "wave": 1, "state": "Applied", "error": "1 of 2"}],
            "outputs": [{"name": "ip", "value": {"a": 1}}]}}))
        .unwrap();
        let want = [
            "Name:       gb",
            "Phase:      Applying",
            "Manifest:   gb-3",
            "Deployed:   gb-2",
            "Operation:  Update, wave 2 of 2, 3 of 4 ready, since 2026-01-01T00:00:00Z",
            "Conditions:",
            "  TYPE      STATUS  REASON    MESSAGE",
            "  Expanded  True    Expanded",
            "  Ready     False   Waiting   a; b",
            "Resources:",
            "  WAVE  NAME  OBJECT           STATE    ERROR",
            "  1     web   Service x/web    Ready",
            "  2     rc    Deployment x/rc  Applied  1 of 2",
            "Outputs:",
            "  NAME  VALUE",
            "  ip    {\"a\":1}",
            "",
        ];
        assert_eq!(text(&deployment), want.join("\n"));
    }

    #[test]
    fn what_is_not_there_takes_no_line() {
        let deployment =
            Deployment::of(&json!({"metadata": {"name": "d", "generation": 1}})).unwrap();
        assert_eq!(
            text(&deployment),
            "Name:    d\nPhase:   Pending\nBehind:  the latest change is not looked at yet\n"
        );
    }
}
