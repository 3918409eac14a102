//! Who renders a call: the pool, or, for those who trust their templates, this process.

use std::pin::Pin;

use expansion::{Call, Fault, Language, Limits, Outcome};
use protocol::Bounds;
use tokio::time::Instant;

use crate::error::PoolError;

/// What a renderer gives back.
pub type Rendering<'a> = Pin<Box<dyn Future<Output = Result<Outcome, PoolError>> + Send + 'a>>;

/// Renders templates.
pub trait Render: Send + Sync {
    /// How many calls it makes sense to ask for at once; at least one.
    fn width(&self) -> usize;

    /// Renders one call. A template that fails is an `Ok`.
    fn render(&self, call: Call, terms: Terms) -> Rendering<'_>;
}

/// How much a call may take.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Instructions and bytes.
    pub bounds: Bounds,
    /// When its result is of no use any more.
    pub deadline: Instant,
}

impl Terms {
    /// What an expansion with these limits allows one call.
    pub fn new(limits: &Limits, deadline: Instant) -> Self {
        Self { bounds: Bounds { fuel: limits.fuel, output: limits.output }, deadline }
    }
}

/// Renders Jinja in this very process, and no Python. Memory is not bounded: for tests, and for commands that run their
/// user's own templates.
#[derive(Clone, Copy, Debug, Default)]
pub struct InProcess;

impl Render for InProcess {
    fn width(&self) -> usize {
        1
    }

    fn render(&self, call: Call, terms: Terms) -> Rendering<'_> {
        Box::pin(async move {
            Ok(match call.language {
                Language::Jinja => {
                    let Bounds { fuel, output } = terms.bounds;
                    match expansion::jinja::render(&call, fuel, output) {
                        Ok(rendered) => Outcome::Rendered(rendered),
                        Err(fault) => Outcome::Failed(fault),
                    }
                }
                Language::Python => Outcome::Failed(Fault {
                    kind: "Unsupported".into(),
                    message: "Python templates are not rendered here".into(),
                    ..Fault::default()
                }),
            })
        })
    }
}
