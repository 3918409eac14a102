//! What is left of the limits while an expansion goes on.

use super::heard::Heard;
use crate::error::{Cause, Problem};
use crate::limits::Limits;

/// The limits, and what is used up of them.
#[derive(Debug)]
pub(super) struct Budget {
    pub(super) limits: Limits,
    resources: usize,
    calls: usize,
    rounds: usize,
    imports: usize,
    input: usize,
    output: usize,
    links: usize,
    fuel: u64,
}

impl Budget {
    pub(super) fn new(limits: Limits) -> Self {
        let (resources, calls, rounds, imports, input) = (0, 0, 0, 0, 0);
        let (output, links, fuel) = (0, 0, 0);
        Self { limits, resources, calls, rounds, imports, input, output, links, fuel }
    }

    /// One more resource of the result.
    pub(super) fn resource(&mut self) -> Result<(), Problem> {
        take(&mut self.resources, 1, self.limits.resources, "resources", "resources")
    }

    /// One more template to render.
    pub(super) fn call(&mut self) -> Result<(), Problem> {
        take(&mut self.calls, 1, self.limits.calls, "calls", "templates to render")
    }

    /// One more time that files are asked for.
    pub(super) fn round(&mut self) -> Result<(), Problem> {
        take(&mut self.rounds, 1, self.limits.rounds, "rounds", "rounds of imports")
    }

    /// One more file of that many bytes.
    pub(super) fn import(&mut self, bytes: usize) -> Result<(), Problem> {
        take(&mut self.imports, 1, self.limits.imports, "imports", "imports")?;
        self.input(bytes)
    }

    /// More bytes of configuration and imports.
    pub(super) fn input(&mut self, bytes: usize) -> Result<(), Problem> {
        take(
            &mut self.input,
            bytes,
            self.limits.input,
            "input",
            "bytes of configuration and imports",
        )
    }

    /// More bytes that the configuration, a template or a schema's defaults gave.
    pub(super) fn output(&mut self, bytes: usize) -> Result<(), Problem> {
        take(&mut self.output, bytes, self.limits.output, "output", "bytes of resources")
    }

    /// More bytes of what is told of needs and references. They may be as many as those of the result, beside them.
    pub(super) fn links(&mut self, bytes: usize) -> Result<(), Problem> {
        take(&mut self.links, bytes, self.limits.output, "output", "bytes of references")
    }

    /// More instructions of Jinja.
    pub(super) fn fuel(&mut self, instructions: u64) -> Result<(), Problem> {
        self.fuel = self.fuel.saturating_add(instructions);
        let limit = self.limits.fuel;
        if self.fuel > limit {
            Err(exceeded(limit, "fuel", "instructions of Jinja"))
        } else {
            Ok(())
        }
    }

    /// Whether templates may stand this deep in templates.
    pub(super) fn depth(&self, depth: usize) -> Result<(), Problem> {
        let limit = self.limits.depth;
        if depth > limit {
            Err(exceeded(limit, "depth", "templates in one another"))
        } else {
            Ok(())
        }
    }

    /// Whether `env` may be this many bytes.
    pub(super) fn env(&self, bytes: usize) -> Result<(), Problem> {
        let limit = self.limits.env;
        if bytes > limit { Err(exceeded(limit, "env", "bytes of env")) } else { Ok(()) }
    }

    /// Whether there is room for what the answers of a level come to. It says the same whichever of them came first, and
    /// therefore not which of them was too much.
    pub(super) fn hears(&self, heard: &Heard) -> Result<(), Problem> {
        let Limits { output, fuel, .. } = self.limits;
        if self.output.saturating_add(heard.output) > output {
            return Err(exceeded(output, "output", "bytes of resources"));
        }
        if self.fuel.saturating_add(heard.fuel) > fuel {
            return Err(exceeded(fuel, "fuel", "instructions of Jinja"));
        }
        Ok(())
    }
}

/// Counts `more`; once something was too much, so is everything after it.
fn take(
    used: &mut usize,
    more: usize,
    limit: usize,
    name: &str,
    what: &str,
) -> Result<(), Problem> {
    *used = used.saturating_add(more);
    if *used > limit { Err(exceeded(limit, name, what)) } else { Ok(()) }
}

fn exceeded(limit: impl std::fmt::Display, name: &str, what: &str) -> Problem {
    let message = format!("Expansion needs more than {limit} {what} (limit: {name})");
    Problem::new(Cause::Limit, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_allowed_and_what_exceeds_it_is_named() {
        let mut budget = Budget::new(Limits { resources: 2, fuel: 10, ..Limits::default() });
        assert_eq!((budget.resource(), budget.resource()), (Ok(()), Ok(())));
        let problem = budget.resource().unwrap_err();
        assert_eq!(problem.cause, Cause::Limit);
        assert_eq!(problem.message, "Expansion needs more than 2 resources (limit: resources)");
        assert_eq!(budget.fuel(10), Ok(()));
        assert!(budget.fuel(u64::MAX).is_err());
    }

    #[test]
    fn files_count_by_number_and_by_size() {
        let mut budget = Budget::new(Limits { imports: 2, input: 10, ..Limits::default() });
        assert_eq!((budget.import(4), budget.input(2)), (Ok(()), Ok(())));
        assert!(budget.import(5).unwrap_err().message.contains("(limit: input)"));
        assert!(budget.import(0).unwrap_err().message.contains("(limit: imports)"));
    }
}
