//! Bounds on what one request may take: the body's size, its time, and the number of requests
//! that are worked on at once.

mod body;
mod heavy;
mod inflight;

use std::time::Duration;

use crate::request::RequestInfo;
use crate::status::Error;

pub use body::Body;
pub use heavy::heavy;
pub(crate) use inflight::{InFlight, Place};

/// The bounds, with kube-apiserver's values as the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest body in bytes: 3 MiB.
    pub body: usize,
    /// Requests that only read, at once: 400. Zero means no bound.
    pub reading: usize,
    /// Requests that change something, at once: 200. Zero means no bound.
    pub mutating: usize,
    /// The time for any request that is not a watch: 60 s. Clients may ask for less.
    pub request: Duration,
    /// The time for a change of one object: 34 s.
    pub mutation: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 3 * 1024 * 1024,
            reading: 400,
            mutating: 200,
            request: Duration::from_secs(60),
            mutation: Duration::from_secs(34),
        }
    }
}

/// When a request must be answered, and what it is told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deadline {
    /// After so much time.
    pub(crate) after: Duration,
    /// With this sentence.
    message: &'static str,
}

impl Deadline {
    /// The 504.
    pub(crate) fn passed(&self) -> Error {
        Error::timeout(format!("Timeout: {}", self.message)).with_details(Default::default())
    }
}

impl Limits {
    /// The deadline of a request; a watch has none. `timeout=0`, a negative one and one beyond the
    /// maximum mean the maximum.
    ///
    /// # Errors
    /// 400 for a `timeout` that is no duration.
    pub(crate) fn deadline(&self, info: &RequestInfo) -> Result<Option<Deadline>, Error> {
        if info.is_long_running() {
            return Ok(None);
        }
        let asked = info.query.timeout()?.and_then(|timeout| timeout.positive());
        let after = asked.unwrap_or(self.request).min(self.request);
        if info.is_resource_request && info.verb.is_bounded_mutation() && self.mutation < after {
            let message =
                "request did not complete within requested timeout - context deadline exceeded";
            return Ok(Some(Deadline { after: self.mutation, message }));
        }
        let message = "request did not complete within the allotted timeout";
        Ok(Some(Deadline { after, message }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(method: &str, uri: &str) -> Option<u64> {
        let info = RequestInfo::new(&method.parse().unwrap(), &uri.parse().unwrap());
        let deadline = Limits::default().deadline(&info).unwrap();
        deadline.map(|deadline| deadline.after.as_secs())
    }

    #[test]
    fn changes_have_less_time_than_the_rest_and_watches_no_bound() {
        let check = |method: &str, query: &str, want: Option<u64>| {
            assert_eq!(seconds(method, &format!("/apis/g/v/namespaces/n/t{query}")), want);
        };
        check("GET", "", Some(60));
        check("POST", "", Some(34));
        check("DELETE", "/a", Some(34));
        check("DELETE", "", Some(60));
        check("GET", "?watch=1", None);
        check("GET", "?timeout=5s", Some(5));
        check("GET", "?timeout=1h", Some(60));
        check("GET", "?timeout=-5s", Some(60));
        check("POST", "?timeout=50s", Some(34));
        assert_eq!(seconds("POST", "/openapi/v3"), Some(60));
    }
}
