//! What goes on while somebody waits, on standard error: on a terminal a bar for every wave, which is drawn over again,
//! elsewhere a line for every change.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Write as _};

use super::deployment::{Deployment, Resource};
use crate::expand::report::printable;

/// Terminals have this many columns at least.
const COLUMNS: usize = 79;

/// How many waves are shown at most: what has scrolled off the screen cannot be drawn over.
const WAVES: usize = 12;

/// Cells of a bar.
const CELLS: usize = 24;

/// What was shown already.
pub(super) struct Progress {
    terminal: bool,
    /// How many lines the next drawing replaces.
    drawn: usize,
    told: Told,
}

impl Progress {
    pub(super) fn new() -> Self {
        let terminal = io::stderr().is_terminal();
        Progress { terminal, drawn: 0, told: Told::default() }
    }

    /// Shows how far `deployment` is.
    pub(super) fn show(&mut self, deployment: &Deployment) {
        let (before, lines) = if self.terminal {
            let up = match self.drawn {
                0 => String::new(),
                lines => format!("\u{1b}[{lines}A\u{1b}[J"),
            };
            (up, bars(deployment))
        } else {
            (String::new(), self.told.news(deployment))
        };
        self.drawn = lines.len();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        // Who does not see the progress still gets the result.
        let _ = io::stderr().write_all((before + &text).as_bytes());
    }
}

/// What was said about a deployment.
#[derive(Default)]
struct Told {
    phase: String,
    resources: BTreeMap<String, String>,
}

impl Told {
    /// A line for everything that is new.
    fn news(&mut self, deployment: &Deployment) -> Vec<String> {
        let name = printable(&deployment.metadata.name);
        let mut lines = Vec::new();
        let phase = phase(deployment);
        if phase != self.phase {
            lines.push(format!("{name}: {phase}"));
            self.phase = phase;
        }
        let mut resources = BTreeMap::new();
        for resource in &deployment.status.resources {
            let (what, how) = (what(resource), how(resource));
            // All that is yet to be done is no news.
            let known = self.resources.get(&what).map_or("Pending", String::as_str);
            if how != known {
                lines.push(format!("{name}: {what}: {how}"));
            }
            resources.insert(what, how);
        }
        for what in self.resources.keys().filter(|what| !resources.contains_key(*what)) {
            lines.push(format!("{name}: {what}: gone"));
        }
        self.resources = resources;
        lines
    }
}

fn phase(deployment: &Deployment) -> String {
    let status = &deployment.status;
    let phase = if status.phase.is_empty() { "Pending" } else { &status.phase };
    match &status.operation {
        Some(operation) if phase == "Applying" && operation.waves > 0 => {
            let wave = (operation.wave + 1).min(operation.waves);
            format!("{phase}, wave {wave} of {}", operation.waves)
        }
        _ => printable(phase),
    }
}

fn what(resource: &Resource) -> String {
    printable(&format!("{} ({})", resource.name, resource.object()))
}

fn how(resource: &Resource) -> String {
    match resource.error.is_empty() {
        true => printable(&resource.state),
        false => printable(&format!("{}: {}", resource.state, resource.error)),
    }
}

/// The phase, and a bar for each wave.
fn bars(deployment: &Deployment) -> Vec<String> {
    let mut waves: BTreeMap<usize, Vec<&Resource>> = BTreeMap::new();
    let mut leaving = Vec::new();
    for resource in &deployment.status.resources {
        match &*resource.state {
            "Obsolete" => leaving.push(resource),
            _ => waves.entry(resource.wave).or_default().push(resource),
        }
    }
    let mut lines = vec![format!("{}: {}", deployment.metadata.name, phase(deployment))];
    let is_over = |(_, wave): &(&usize, &Vec<&Resource>)| wave.iter().all(|one| is_done(one));
    let over = match waves.len() > WAVES {
        true => waves.iter().take_while(is_over).count(),
        false => 0,
    };
    if over > 0 {
        lines.push(format!("  {over} waves are done"));
    }
    let shown = waves.iter().skip(over).take(WAVES);
    lines.extend(shown.map(|(number, wave)| bar(&format!("wave {}", number + 1), wave)));
    let hidden = waves.len().saturating_sub(over + WAVES);
    if hidden > 0 {
        lines.push(format!("  {hidden} waves more"));
    }
    if !leaving.is_empty() {
        lines.push(format!("  to be deleted: {}", leaving.len()));
    }
    lines.iter().map(|line| printable(line).chars().take(COLUMNS).collect()).collect()
}

fn is_done(resource: &Resource) -> bool {
    matches!(&*resource.state, "Ready" | "Drifted")
}

fn bar(title: &str, wave: &[&Resource]) -> String {
    let done = wave.iter().filter(|one| is_done(one)).count();
    let full = done * CELLS / wave.len().max(1);
    let bar = "█".repeat(full) + &"░".repeat(CELLS - full);
    // What failed is of more interest than what goes on, and that more than what has not begun.
    let rank = |one: &&&Resource| match &*one.state {
        "Failed" => 0,
        "Pending" => 2,
        _ => 1,
    };
    let open = wave.iter().filter(|one| !is_done(one)).min_by_key(rank);
    let open = open.map_or_else(String::new, |one| format!("  {}: {}", one.name, how(one)));
    format!("  {title:<8} {bar} {done}/{}{open}", wave.len())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn deployment(phase: &str, wave: usize, resources: &[(&str, usize, &str, &str)]) -> Deployment {
        let resources: Vec<Value> = resources
            .iter()
            .map(|(name, wave, state, error)| {
                json!({"name": name, "kind": "Pod", "objectName": name, "wave": wave, "state": state, "error": error})
            })
            .collect();
        Deployment::of(&json!({"metadata": {"name": "gb"}, "status": {"phase": phase,
            "operation": {"type": "Create", "wave": wave, "waves": 2}, "resources": resources}}))
        .unwrap()
    }

    #[test]
    fn only_what_is_new_has_a_line() {
        let mut told = Told::default();
        let mut news =
            |phase, wave, resources: &[_]| told.news(&deployment(phase, wave, resources));
        assert_eq!(news("Pending", 0, &[]), ["gb: Pending"]);
        let first = [("a", 0, "Pending", ""), ("b", 1, "Pending", "")];
        assert_eq!(news("Applying", 0, &first), ["gb: Applying, wave 1 of 2"]);
        let second = [("a", 0, "Applied", "0 of 1"), ("b", 1, "Pending", "")];
        assert_eq!(news("Applying", 0, &second), ["gb: a (Pod a): Applied: 0 of 1"]);
        assert_eq!(news("Applying", 0, &second), [""; 0]);
        let third = [("a", 0, "Ready", ""), ("b", 1, "Applied", "")];
        assert_eq!(
            news("Applying", 1, &third),
            ["gb: Applying, wave 2 of 2", "gb: a (Pod a): Ready", "gb: b (Pod b): Applied"]
        );
        assert_eq!(news("Deleting", 1, &third[..1]), ["gb: Deleting", "gb: b (Pod b): gone"]);
    }

    #[test]
    fn a_bar_is_as_full_as_its_wave_is_ready() {
        let resources = [
            ("a", 0, "Ready", ""),
            ("b", 0, "Ready", ""),
            ("c", 1, "Pending", ""),
            ("d", 1, "Ready", ""),
            ("e", 1, "Applied", "1 of 2"),
            ("f", 0, "Obsolete", ""),
        ];
        let want = [
            "gb: Applying, wave 2 of 2",
            "  wave 1   ████████████████████████ 2/2",
            "  wave 2   ████████░░░░░░░░░░░░░░░░ 1/3  e: Applied: 1 of 2",
            "  to be deleted: 1",
        ];
        assert_eq!(bars(&deployment("Applying", 1, &resources)), want);
    }

    #[test]
    fn no_line_is_wider_than_a_terminal_and_there_are_not_more_than_fit() {
        let long = "x".repeat(200);
        let resources: Vec<(&str, usize, &str, &str)> = (0..40)
            .map(|wave| ("a", wave, if wave < 3 { "Ready" } else { "Failed" }, &*long))
            .collect();
        let lines = bars(&deployment("Applying", 1, &resources));
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS));
        assert_eq!(lines.len(), WAVES + 3);
        assert_eq!(lines[1], "  3 waves are done");
        assert_eq!(lines[WAVES + 2], "  25 waves more");
    }
}
