//! The real expansion, of configurations without templates.

use std::sync::Arc;

use expansion::{Expanded, Expansion, Input as Wanted, Options, Step};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};

use crate::resolve::{Expand, Refusal, Resolved};
use crate::types::{Deployment, Input};

/// Expands in place.
pub(crate) struct TwinExpand;

/// What a configuration expands to.
pub(crate) fn expanded(configuration: &str) -> Result<Expanded, Vec<String>> {
    let env = [("deployment".to_owned(), "app".into())];
    let wanted = Wanted {
        configuration: configuration.to_owned(),
        env: env.into_iter().collect(),
        options: Options::default(),
        ..Wanted::default()
    };
    let told = |failure: expansion::Failure| {
        failure.problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let mut expansion = Expansion::new(wanted).map_err(told)?;
    let Step::Done(expanded) = expansion.step().map_err(told)? else {
        return Err(vec!["there are no templates here".to_owned()]);
    };
    Ok(expanded)
}

fn expand(deployment: &Deployment) -> Result<Resolved, Vec<String>> {
    let content = deployment.spec.configuration.clone().unwrap_or_default();
    let expanded = expanded(&content)?;
    let digest = format!("of {} bytes", content.len());
    let input = Input { name: deployment.name.clone(), content, ..Input::default() };
    Ok(Resolved { input, expanded: Arc::new(expanded), digest, anew: None })
}

impl Expand for TwinExpand {
    fn expand<'a>(
        &'a self,
        deployment: &'a Deployment,
    ) -> BoxFuture<'a, Result<Resolved, Refusal>> {
        let refused = |problems| Refusal { problems, passes: false };
        ready(expand(deployment).map_err(refused)).boxed()
    }
}
