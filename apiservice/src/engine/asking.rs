//! Asking registries what they have. That takes as long as somebody else takes to answer, so it is done for a few at a
//! time: requests that wait hold places that others want.

use std::time::Duration;

use apiserver::status::{Error, Reason};
use expander::{Offered, Registries, Registry, Web};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::{Engine, TIME};

/// How many registries are asked at once.
const AT_ONCE: usize = 16;
/// How long a request waits to be one of those that ask.
const PATIENCE: Duration = Duration::from_secs(10);

/// Places for those that ask.
pub(super) struct Places(Semaphore);

impl Default for Places {
    fn default() -> Self {
        Self(Semaphore::new(AT_ONCE))
    }
}

impl Places {
    /// What a registry answers: 429 while too many ask, 504 if it takes too long, and 503 if it refuses or there is no way
    /// to it. Another try is for whoever reads why to decide.
    async fn ask<T>(&self, answer: impl Future<Output = Result<T, String>>) -> Result<T, Error> {
        let place = timeout(PATIENCE, self.0.acquire()).await;
        let busy = || Error::busy("too many registries are being asked", 1);
        let _place = place.map_err(|_| busy())?.map_err(Error::internal)?;
        match timeout(TIME, answer).await {
            Ok(answer) => answer.map_err(|why| Error::new(Reason::ServiceUnavailable, why)),
            Err(_) => {
                Err(Error::timeout("Timeout: the registry took longer to answer than it may"))
            }
        }
    }
}

impl Engine {
    /// What a registry has, sorted.
    ///
    /// # Errors
    /// When it does not say: 429, 503 or 504.
    pub(crate) async fn offered(&self, registry: &Registry) -> Result<Vec<Offered>, Error> {
        let web = self.web()?;
        self.0.asking.ask(web.offered(registry)).await
    }

    /// Where the files of a type are, `PREFIX/REST`, and the text of its schema, if it has one. `registries` knows
    /// `registry` and no other.
    ///
    /// # Errors
    /// 404 if the registry does not have it, and as [`Engine::offered`].
    pub(crate) async fn located(
        &self,
        registry: &Registry,
        rest: &str,
        registries: &dyn Registries,
    ) -> Result<(Vec<String>, Option<String>), Error> {
        let web = self.web()?;
        let name = format!("{}/{rest}", registry.prefix);
        let answer = async {
            let urls = web.located(registry, rest).await?;
            Ok((urls, self.schema(&name, Some(registries)).await?))
        };
        match self.0.asking.ask(answer).await {
            // A registry that lists its types can be asked: so it is this type that is not to be had.
            Err(error)
                if error.reason() == Reason::ServiceUnavailable
                    && self.offered(registry).await.is_ok() =>
            {
                Err(Error::new(Reason::NotFound, format!("{name}: {}", error.message())))
            }
            answer => answer,
        }
    }

    fn web(&self) -> Result<&Web, Error> {
        let absent = || Error::new(Reason::ServiceUnavailable, "this server fetches nothing");
        self.0.web.as_ref().ok_or_else(absent)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_for_a_registry_is_told_after_a_while() {
        let places = Places::default();
        let error = places.ask(pending::<Result<(), _>>()).await.unwrap_err();
        assert_eq!(error.reason(), Reason::Timeout);
        let refused = ready(Err::<(), _>("no such repository".to_owned()));
        let error = places.ask(refused).await.unwrap_err();
        assert_eq!(error.reason(), Reason::ServiceUnavailable);
        assert_eq!(error.message(), "no such repository");
        assert_eq!(error.retry_after_seconds(), None, "clients would try again by themselves");
    }

    #[tokio::test(start_paused = true)]
    async fn one_too_many_waits_for_a_place_and_not_for_ever() {
        let places = Places::default();
        let slow = (0..AT_ONCE).map(|_| places.ask(pending::<Result<(), _>>()));
        let all = async { futures::future::join_all(slow).await };
        let late = async {
            tokio::task::yield_now().await;
            places.ask(ready(Ok(()))).await
        };
        let (_, late) = tokio::join!(all, late);
        assert_eq!(late.unwrap_err().reason(), Reason::TooManyRequests);
        assert_eq!(places.ask(ready(Ok(()))).await, Ok(()));
    }
}
