//! The Manifests of a Deployment: one for each change that was planned, and no more than are wanted.

use expansion::Expanded;
use serde_json::json;

use crate::pass::{Pass, Step};
use crate::plan::json as to_json;
use crate::records::RecordError;
use crate::types::{Deployment, Layout, Manifest};

/// As long as a name may be, less a hyphen and a number.
const LONGEST: usize = 253 - 1 - 19;

/// What the Manifest of the newest generation is called. A name that is cut off could be that of
/// another Deployment too, so it has the uid in it.
pub(crate) fn name(deployment: &Deployment) -> String {
    let Deployment { name, uid, generation, .. } = deployment;
    if name.len() <= LONGEST {
        return format!("{name}-{generation}");
    }
    let cut: String = name.chars().take(LONGEST - 1 - uid.len()).collect();
    format!("{}-{uid}-{generation}", cut.trim_end_matches(['-', '.']))
}

/// The layout as Deployment Manager writes it.
pub(crate) fn layout(expanded: &Expanded) -> Layout {
    let resources: Vec<_> = expanded.layout.iter().map(to_json).collect();
    let mut layout = json!({ "resources": resources });
    if !expanded.outputs.is_empty() {
        let output = |output: &expansion::Output| json!({ "name": output.name, "value": to_json(&output.value) });
        layout["outputs"] = expanded.outputs.iter().map(output).collect();
    }
    Layout::new(&layout)
}

/// Stores a Manifest. One of the same generation that is there already counts instead: it was made by
/// a pass that did not come further.
pub(crate) async fn keep(pass: &mut Pass<'_>, manifest: Manifest) -> Step<Manifest> {
    let manifest = store(pass, manifest).await?;
    shorten(pass, &manifest.name).await?;
    Ok(manifest)
}

async fn store(pass: &mut Pass<'_>, manifest: Manifest) -> Step<Manifest> {
    let records = &pass.means.records;
    match records.create_manifest(&pass.deployment, &manifest).await {
        Ok(()) => return Ok(manifest),
        Err(RecordError::Conflict) => {}
        Err(RecordError::Refused(why)) => {
            let size = serde_json::to_string(&manifest).map_or(0, |text| text.len());
            let why = format!("its Manifest, of {size} bytes, cannot be stored: {why}");
            pass.fail("Planned", "Refused", &why).await?;
            return Err(crate::Next::Retry);
        }
        Err(error) => return Err(error.into()),
    }
    if let Some(kept) = records.manifest(&pass.deployment, &manifest.name).await? {
        return Ok(kept);
    }
    // What is left of an earlier Deployment of this name.
    records.delete_manifest(&pass.deployment, &manifest.name).await?;
    records.create_manifest(&pass.deployment, &manifest).await?;
    Ok(manifest)
}

/// Deletes the oldest Manifests that are more than wanted; never those that are in use, nor the one
/// that is about to be.
pub(crate) async fn shorten(pass: &Pass<'_>, new: &str) -> Step<()> {
    let records = &pass.means.records;
    let used = [&pass.status.manifest, &pass.status.deployed, &pass.deployment.spec.roll_back_to];
    let is_used = |name: &str| name == new || used.iter().any(|used| used.as_deref() == Some(name));
    let names = records.manifests(&pass.deployment).await?;
    let unused: Vec<_> = names.iter().filter(|name| !is_used(name)).collect();
    let more = unused.len().saturating_sub(pass.deployment.spec.history());
    for name in unused.into_iter().take(more) {
        records.delete_manifest(&pass.deployment, name).await?;
    }
    Ok(())
}

/// Deletes all Manifests.
pub(crate) async fn forget(pass: &Pass<'_>) -> Step<()> {
    let records = &pass.means.records;
    for name in records.manifests(&pass.deployment).await? {
        records.delete_manifest(&pass.deployment, &name).await?;
    }
    Ok(())
}
