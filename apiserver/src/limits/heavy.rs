//! Work that would hold up a thread which serves other requests, too.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;

use crate::status::Error;

/// Less input than this is worked on at once: the way to another thread costs more.
const THRESHOLD: usize = 64 * 1024;

/// As many at once as there are processors; more would only take turns.
static PLACES: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, usize::from)));

/// Does `work` on `size` bytes of input: here if that is little, else on a thread for such work, as
/// soon as one of few places is free.
///
/// # Errors
/// 500, when the work panics.
pub async fn heavy<T: Send + 'static>(
    size: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    if size < THRESHOLD {
        return Ok(work());
    }
    let place = PLACES.acquire().await.map_err(Error::internal)?;
    let done = tokio::task::spawn_blocking(work).await;
    drop(place);
    done.map_err(|_| Error::internal("the request could not be worked on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_work_is_done_elsewhere_and_its_panic_is_an_error() {
        let here = std::thread::current().id();
        assert_eq!(heavy(1, || std::thread::current().id()).await, Ok(here));
        assert_ne!(heavy(THRESHOLD, || std::thread::current().id()).await, Ok(here));
        assert!(heavy(THRESHOLD, || panic!("as the test wants it")).await.is_err());
    }
}
