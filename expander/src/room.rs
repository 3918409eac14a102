//! How many expansions run at once, and how many of those may be big.
//!
//! What an expansion is given takes many times its length in memory, which its own limits bound and those of all others
//! together do not. So most have to be small, and one that has grown beyond that waits for a place among the few.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::error::PoolError;

/// Up to how many bytes an expansion may be given and is small.
const SMALL: usize = 512 << 10;
/// How long an expansion waits for a place.
const PATIENCE: Duration = Duration::from_secs(10);
/// What a caller who is turned away is told to wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Places for expansions.
pub(crate) struct Room {
    all: Semaphore,
    big: Semaphore,
}

impl Room {
    /// So many in all, and so many big ones of them.
    pub(crate) fn new(all: usize, big: usize) -> Self {
        Self { all: Semaphore::new(all), big: Semaphore::new(big) }
    }

    /// As many as there may be.
    pub(crate) fn boundless() -> Self {
        Self::new(Semaphore::MAX_PERMITS, Semaphore::MAX_PERMITS)
    }

    /// Waits for a place.
    ///
    /// # Errors
    /// `Busy`, when there is none for ten seconds.
    pub(crate) async fn enter(&self) -> Result<Place<'_>, PoolError> {
        let all = take(&self.all).await?;
        Ok(Place { room: self, _all: all, big: None, given: 0 })
    }
}

/// The place of one expansion.
pub(crate) struct Place<'a> {
    room: &'a Room,
    _all: SemaphorePermit<'a>,
    big: Option<SemaphorePermit<'a>>,
    given: usize,
}

impl Place<'_> {
    /// To be called before the expansion is given so many bytes more.
    ///
    /// # Errors
    /// `Busy`, when it would be big, and there is no place for a big one for ten seconds.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Result<(), PoolError> {
        self.given = self.given.saturating_add(bytes);
        if self.given > SMALL && self.big.is_none() {
            self.big = Some(take(&self.room.big).await?);
        }
        Ok(())
    }
}

async fn take(places: &Semaphore) -> Result<SemaphorePermit<'_>, PoolError> {
    match timeout(PATIENCE, places.acquire()).await {
        Ok(place) => Ok(place.expect("nobody closes it")),
        Err(_) => Err(PoolError::Busy { retry_after: RETRY_AFTER }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn small_ones_go_on_while_big_ones_wait() {
        let room = Room::new(4, 1);
        let (mut first, mut second, mut third) =
            (room.enter().await.unwrap(), room.enter().await.unwrap(), room.enter().await.unwrap());
        for _ in 0..3 {
            first.grow(SMALL / 2 + 1).await.unwrap();
        }
        third.grow(SMALL).await.unwrap();
        let busy = PoolError::Busy { retry_after: RETRY_AFTER };
        assert_eq!(second.grow(SMALL + 1).await, Err(busy));
        drop(first);
        second.grow(1).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_is_waited_for() {
        let room = Room::new(1, 1);
        let place = room.enter().await.unwrap();
        assert!(room.enter().await.is_err());
        drop(place);
        assert!(room.enter().await.is_ok());
    }
}
