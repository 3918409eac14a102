//! Following objects by a watch of their metadata.

use futures::{StreamExt as _, future, stream};
use http::Request;
use http::header::ACCEPT;
use kube::Client;
use kube::api::{PartialObjectMeta, WatchEvent};
use kube::core::DynamicObject;
use serde_json::Value;
use tokio::time::timeout;

use super::{TIME, failed, impersonation, root, unavailable, unsound};
use crate::cluster::{ClusterError, Collection, Following};
use crate::plan::OWNER;

/// For how many seconds kube-apiserver is asked to keep a watch open.
const SECONDS: u32 = 1800;

const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Follows a collection from now on.
pub(super) fn follow(client: Client, collection: Collection) -> Following {
    let begun = async move { begin(&client, &collection).await };
    let failed = |error| stream::once(future::ready(Err(error))).boxed();
    stream::once(begun).flat_map(move |begun| begun.unwrap_or_else(failed)).boxed()
}

async fn begin(client: &Client, collection: &Collection) -> Result<Following, ClusterError> {
    // The revision is all that is wanted of the list.
    let list: Value = timeout(TIME, client.request(request(collection, LIST, "limit=1")?))
        .await
        .map_err(|_| unavailable("kube-apiserver did not answer in time"))?
        .map_err(failed)?;
    let revision = list["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    let query = format!(
        "watch=true&allowWatchBookmarks=true&timeoutSeconds={SECONDS}&resourceVersion={revision}"
    );
    let events = client
        .request_events::<PartialObjectMeta<DynamicObject>>(request(collection, METADATA, &query)?)
        .await
        .map_err(failed)?;
    let owners = events.filter_map(|event| {
        future::ready(match event {
            Ok(WatchEvent::Added(it) | WatchEvent::Modified(it) | WatchEvent::Deleted(it)) => {
                let owner = it.metadata.labels.and_then(|mut labels| labels.remove(OWNER));
                owner.map(|owner| Ok(Some(owner)))
            }
            Ok(WatchEvent::Bookmark(_)) => None,
            Ok(WatchEvent::Error(status)) => Some(Err(unavailable(status.message.clone()))),
            Err(error) => Some(Err(failed(error))),
        })
    });
    Ok(stream::once(future::ready(Ok(None))).chain(owners).boxed())
}

fn request(
    collection: &Collection,
    accept: &str,
    query: &str,
) -> Result<Request<Vec<u8>>, ClusterError> {
    let Collection { user, api_version, resource, namespace } = collection;
    let root = root(api_version);
    let place = match namespace.as_str() {
        "" => format!("{root}/{resource}"),
        namespace => format!("{root}/namespaces/{namespace}/{resource}"),
    };
    let mut request =
        Request::get(format!("{place}?labelSelector={}&{query}", OWNER.replace('/', "%2F")))
            .header(ACCEPT, accept);
    for (name, value) in impersonation(user)? {
        request = request.header(name, value);
    }
    request.body(Vec::new()).map_err(unsound)
}
