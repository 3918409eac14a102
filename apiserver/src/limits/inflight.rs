//! How many requests are worked on at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::authn::{MASTERS, User};
use crate::request::RequestInfo;
use crate::status::Error;

use super::Limits;

/// The requests at work, readers and changers apart, so that neither can crowd out the other.
#[derive(Debug)]
pub(crate) struct InFlight {
    reading: Arc<Lane>,
    mutating: Arc<Lane>,
}

#[derive(Debug)]
struct Lane {
    now: AtomicUsize,
    most: usize,
}

/// A place among the requests at work; given back when dropped.
#[derive(Debug)]
pub(crate) struct Place(Option<Arc<Lane>>);

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(lane) = &self.0 {
            lane.now.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl InFlight {
    pub(crate) fn new(limits: &Limits) -> Self {
        let lane = |most| {
            let most = if most == 0 { usize::MAX } else { most };
            Arc::new(Lane { now: AtomicUsize::new(0), most })
        };
        Self { reading: lane(limits.reading), mutating: lane(limits.mutating) }
    }

    /// Takes a place. Watches need none, nor does what is no resource: health, discovery and OpenAPI
    /// are answered from memory, and a cluster whose discovery fails deletes no namespace any more.
    /// `system:masters` never wait for one: the probe that decides whether this server is available
    /// must get its answer.
    ///
    /// # Errors
    /// 429 when all places are taken.
    pub(crate) fn enter(&self, info: &RequestInfo, user: &User) -> Result<Place, Error> {
        if info.is_long_running() || !info.is_resource_request {
            return Ok(Place(None));
        }
        let lane = if info.verb.is_read_only() { &self.reading } else { &self.mutating };
        let place = Place(Some(lane.clone()));
        let before = lane.now.fetch_add(1, Ordering::Relaxed);
        if before < lane.most || user.is_in(MASTERS) {
            return Ok(place);
        }
        Err(Error::too_many_requests())
    }

    /// Requests at work now: readers, changers.
    pub(crate) fn now(&self) -> (usize, usize) {
        (self.reading.now.load(Ordering::Relaxed), self.mutating.now.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(method: &str, query: &str) -> RequestInfo {
        let uri = format!("/apis/g/v/namespaces/n/t{query}");
        RequestInfo::new(&method.parse().unwrap(), &uri.parse().unwrap())
    }

    #[test]
    fn a_full_lane_turns_away_all_but_masters_watches_and_what_is_no_resource() {
        let inflight = InFlight::new(&Limits { reading: 1, mutating: 1, ..Limits::default() });
        let (alice, list) = (User::authenticated("alice", vec![]), info("GET", ""));
        let first = inflight.enter(&list, &alice).unwrap();
        assert_eq!(inflight.enter(&list, &alice).unwrap_err().retry_after_seconds(), Some(1));
        assert!(inflight.enter(&info("GET", "?watch=1"), &alice).is_ok());
        assert!(inflight.enter(&info("POST", ""), &alice).is_ok());
        for path in ["/readyz", "/apis", "/apis/g/v", "/openapi/v3/apis/g/v"] {
            let discovery = RequestInfo::new(&http::Method::GET, &path.parse().unwrap());
            assert!(inflight.enter(&discovery, &alice).is_ok(), "{path}");
        }
        let admin = User::authenticated("admin", vec![MASTERS.into()]);
        assert!(inflight.enter(&list, &admin).is_ok());
        drop(first);
        assert!(inflight.enter(&list, &alice).is_ok());
        assert_eq!(inflight.now(), (0, 0));
    }
}
