//! Files that were fetched for a Deployment, in its Manifests: with which digest, and for how long they stay.

use apiserver::object::{Object, Stored};
use apiserver::options::Wanted;
use apiserver::status::{Error, Reason};
use apiserver::store::Store;
use deployer::types::{Deployment, ImportFile, Input};
use deployer::{Cluster, may_read, own};
use expansion::{Import, Imports};
use sha2::{Digest as _, Sha256};

use crate::registry::manifests;

/// Files that an update uses again.
pub(super) enum Before {
    /// These, if any.
    Kept(Imports),
    /// There are some, and the requester may not read them: why.
    Forbidden(String),
}

/// The files that were fetched for what is or was last applied, unless others are asked for.
///
/// They were fetched for another, perhaps with a credential of theirs, and templates of the
/// requester's own could show all of them: so only who may read the Manifest has them.
///
/// # Errors
/// When the store cannot be read, or the cluster cannot be asked.
pub(super) async fn before(
    store: &Store,
    cluster: &dyn Cluster,
    deployment: &Deployment,
) -> Result<Before, Error> {
    let Deployment { namespace, spec, status, .. } = deployment;
    let Some(name) = status.manifest.as_deref() else { return Ok(Before::Kept(Imports::new())) };
    let files = kept(store, deployment, name).await?;
    if files.is_empty() {
        return Ok(Before::Kept(files));
    }
    let read = may_read(cluster, &spec.requester, &own("Manifest", namespace, name)).await;
    Ok(match read.map_err(Error::unavailable)? {
        Ok(()) => Before::Kept(files),
        Err(why) => Before::Forbidden(format!(
            "templates were fetched anew, not taken from Manifest {name}: {why}"
        )),
    })
}

/// The files that a Manifest of a Deployment keeps for what it wants now.
async fn kept(store: &Store, deployment: &Deployment, name: &str) -> Result<Imports, Error> {
    let Deployment { namespace, uid, spec, .. } = deployment;
    let definition = manifests::resource().definition;
    let entry = match store.get(&definition, namespace, name, Wanted::Newest).await {
        Ok(entry) => entry,
        Err(error) if error.reason() == Reason::NotFound => return Ok(Imports::new()),
        Err(error) => return Err(error),
    };
    let Object { meta, fields } = Stored::new(&entry.value, entry.revision)?.to_object()?;
    if !meta.owner_references.iter().any(|owner| owner.uid == *uid) {
        return Ok(Imports::new());
    }
    let input = fields.get("inputConfig").unwrap_or("{}");
    let input: Input = serde_json::from_str(input).map_err(Error::internal)?;
    Ok(of(&input, spec.refresh.as_deref()))
}

/// Those of the files of a Manifest that were fetched, and are used again.
fn of(input: &Input, refresh: Option<&str>) -> Imports {
    let named = input.kept_for(refresh).filter_map(|file| {
        let path = file.path.clone().unwrap_or_default();
        Some((file.name.clone()?, Import { path, content: file.content.as_str().into() }))
    });
    named.collect()
}

/// Files that were fetched, as a Manifest has them.
pub(super) fn files(fetched: &Imports) -> impl Iterator<Item = ImportFile> {
    fetched.iter().map(|(name, import)| ImportFile {
        name: Some(name.clone()),
        path: Some(import.path.clone()),
        content: import.content.to_string(),
        digest: Some(digest(&import.content)),
    })
}

/// `sha256:` and the digest of a text, in hexadecimal.
fn digest(text: &str) -> String {
    let bytes = Sha256::digest(text);
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    format!("sha256:{}", digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fetched_is_known_again_by_its_digest() {
        let import =
            |path: &str, content: &str| Import { path: path.into(), content: content.into() };
        let fetched: Imports = [
            ("github.com/o/r/t:v1".to_owned(), import("github.com/o/r/t/v1.0.2/t.py", "T")),
            ("helper.py".to_owned(), import("github.com/o/r/t/v1.0.2/helper.py", "")),
        ]
        .into();
        let sent = ImportFile { name: Some("sent.py".into()), ..ImportFile::default() };
        let imports = [sent].into_iter().chain(files(&fetched)).collect();
        let input = Input { imports, ..Input::default() };
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(input.imports[2].digest.as_deref(), Some(empty));
        assert_eq!(of(&input, None), fetched);
        assert_eq!(of(&input, Some("others")), Imports::new());
    }
}
