//! Jinja as Deployment Manager used it.
//!
//! minijinja is the engine; what stands here makes it print and behave like Jinja2 2.8 with its default environment:
//! lenient undefined values, no escaping, Python's methods, other templates found among the imports by their names.
//! It opens no files and knows no randomness, so a call has one result.
//!
//! Fuel bounds the instructions of a template, not the memory that one instruction may take: whoever does not trust the
//! template renders it where memory is bounded from outside.

mod bounds;
mod context;
mod environment;
mod fault;
#[expect(clippy::needless_pass_by_value, reason = "the engine hands arguments over")]
mod filters;
#[expect(clippy::needless_pass_by_value, reason = "the engine hands arguments over")]
mod globals;
mod methods;
mod output;
mod percent;
mod print;
mod source;
#[cfg(test)]
mod tests;

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use minijinja::Environment;

use crate::call::{Call, Fault, Imports, Rendered};

/// Renders calls, one after the other. It keeps what it has compiled until a call has other imports: the resources of
/// one expansion share them, and so do expansions that are repeated.
#[derive(Default)]
pub struct Renderer {
    compiled: Option<(Arc<Imports>, Environment<'static>)>,
}

impl Renderer {
    /// Renders one call with at most `fuel` instructions and `output` bytes of text. What was rendered before makes no
    /// difference to the result.
    ///
    /// # Errors
    /// When the template is at fault or a bound is met: `TimeLimit` for fuel, `OutputLimit` for text.
    pub fn render(&mut self, call: &Call, fuel: u64, output: usize) -> Result<Rendered, Fault> {
        let kept = self.compiled.take().filter(|(imports, _)| *imports == call.imports);
        // The engine has arithmetic that can overflow; nothing of a call outlives its failure.
        panic::catch_unwind(AssertUnwindSafe(|| {
            let (imports, mut environment) = kept.unwrap_or_else(|| {
                (Arc::clone(&call.imports), environment::environment(&call.imports))
            });
            // The engine counts with a sign.
            environment.set_fuel(Some(fuel.min(i64::MAX.unsigned_abs())));
            let rendered = run(&environment, call, fuel, output);
            self.compiled = Some((imports, environment));
            rendered
        }))
        .unwrap_or_else(|_| Err(fault::panicked()))
    }
}

/// Renders one call for itself, as [`Renderer::render`] does.
///
/// # Errors
/// As there.
pub fn render(call: &Call, fuel: u64, output: usize) -> Result<Rendered, Fault> {
    Renderer::default().render(call, fuel, output)
}

fn run(
    environment: &Environment<'_>,
    call: &Call,
    fuel: u64,
    output: usize,
) -> Result<Rendered, Fault> {
    let mut text = output::Bounded::new(output);
    let captured = environment
        .get_template(&call.template)
        .and_then(|template| template.render_captured_to(context::root(call), &mut text))
        .map_err(|error| fault::fault(&error, call, fuel, output))?;
    let used = captured.state().fuel_levels().map_or(0, |(used, _)| used);
    Ok(Rendered::Text { text: text.into_text(), properties: None, fuel: used })
}
