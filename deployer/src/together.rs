//! Several requests at once, but not too many.

use futures::future::BoxFuture;
use futures::{StreamExt as _, stream};

/// How many requests of one pass the cluster has at a time.
const AT_ONCE: usize = 8;

/// The answers, in the order of the requests.
pub(crate) async fn together<'a, T: Send + 'a>(
    requests: impl IntoIterator<Item = BoxFuture<'a, T>>,
) -> Vec<T> {
    let requests: Vec<_> = requests.into_iter().collect();
    stream::iter(requests).buffered(AT_ONCE).collect().await
}
