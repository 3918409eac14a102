//! Waiting for other Deployments.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::authorize::{Changes, authorize};
use crate::changes::own;
use crate::pass::{Next, Pass, Step};
use crate::types::{Phase, Truth};

/// How often it is looked whether another Deployment is ready.
const PERIOD: Duration = Duration::from_secs(5);
/// So many Deployments are looked at for one that waits for ours.
const MOST: usize = 100;

/// Ends the pass unless all Deployments that this one depends on are ready.
pub(crate) async fn await_ready(pass: &mut Pass<'_>) -> Step<()> {
    let names = pass.deployment.spec.depends_on.clone();
    let namespace = &pass.deployment.namespace;
    let others: Vec<_> = names.iter().map(|name| own("Deployment", namespace, name)).collect();
    let (user, reads) = (&pass.deployment.spec.requester, Changes::default().read(&others));
    if let Err(denied) = authorize(pass.cluster(), user, reads).await {
        return pass.denied(denied).await;
    }
    for name in names {
        let namespace = &pass.deployment.namespace;
        let other = pass.means.records.deployment(namespace, &name).await?;
        let missing = match &other {
            None => format!("Deployment {name} is not there"),
            Some(other) if !other.is_ready() => format!("Deployment {name} is not ready"),
            Some(_) => continue,
        };
        if let Some(way) = circle(pass, name).await? {
            let message = format!("Deployments wait for each other: {}", way.join(" -> "));
            pass.fail("Planned", "DependencyCycle", &message).await?;
            return Err(Next::Retry);
        }
        pass.status.phase = Phase::Waiting;
        pass.set("Ready", Truth::False, "DependencyNotReady", &missing);
        pass.save().await?;
        return Err(Next::After(PERIOD));
    }
    Ok(())
}

/// The way from this Deployment by another back to itself, as far as the requester may see it.
async fn circle(pass: &Pass<'_>, first: String) -> Step<Option<Vec<String>>> {
    let (own_name, namespace) = (&pass.deployment.name, &pass.deployment.namespace);
    let mut ways = vec![vec![own_name.clone(), first]];
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop() {
        let name = way.last().expect("every way has a beginning");
        if name == own_name {
            return Ok(Some(way));
        }
        if seen.len() >= MOST || !seen.insert(name.clone()) {
            continue;
        }
        let read = Changes::default().read([&own("Deployment", namespace, name)]);
        if authorize(pass.cluster(), &pass.deployment.spec.requester, read).await.is_err() {
            continue;
        }
        let Some(other) = pass.means.records.deployment(namespace, name).await? else {
            continue;
        };
        ways.extend(other.spec.depends_on.into_iter().map(|next| {
            let mut way = way.clone();
            way.push(next);
            way
        }));
    }
    Ok(None)
}
