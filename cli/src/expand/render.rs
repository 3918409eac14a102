//! Drives an expansion to its end without a server.

use anyhow::bail;
use expansion::{
    Call, Expanded, Expansion, Input, Language, Limits, Outcome, Rendered, Step, jinja,
};

/// Renders templates: Jinja in this process, since the files are the user's own.
pub(crate) struct Renderer {
    /// Instructions that Jinja may still take.
    fuel: u64,
    /// Bytes that a template may give.
    output: usize,
}

impl Renderer {
    /// As much as `limits` allow.
    pub(crate) fn new(limits: &Limits) -> Self {
        Renderer { fuel: limits.fuel, output: limits.output }
    }

    /// Expands.
    ///
    /// # Errors
    /// An [`expansion::Failure`] when the configuration or what belongs to it is at fault; others when there is no way to
    /// render.
    pub(crate) async fn expand(&mut self, input: Input) -> anyhow::Result<Expanded> {
        let mut expansion = Expansion::new(input)?;
        loop {
            match expansion.step()? {
                Step::Done(expanded) => return Ok(expanded),
                Step::Import(wanted) => {
                    let names: Vec<_> = wanted.iter().map(|wanted| wanted.name.as_str()).collect();
                    bail!(
                        "{} would have to be fetched, which this command does not",
                        names.join(", ")
                    );
                }
                Step::Render(calls) => {
                    for call in calls {
                        let (id, outcome) = (call.id, self.render(&call).await?);
                        expansion.answer(id, outcome);
                    }
                }
            }
        }
    }

    async fn render(&mut self, call: &Call) -> anyhow::Result<Outcome> {
        match call.language {
            Language::Jinja => Ok(match jinja::render(call, self.fuel, self.output) {
                Ok(rendered) => {
                    if let Rendered::Text { fuel, .. } = &rendered {
                        self.fuel = self.fuel.saturating_sub(*fuel);
                    }
                    Outcome::Rendered(rendered)
                }
                Err(fault) => Outcome::Failed(fault),
            }),
            Language::Python => {
                bail!("{}: Python templates are not rendered without a server yet", call.template)
            }
        }
    }
}
