//! What an error of etcd or of the way there says about the request: whether it was made, and may be made again.

use std::time::Duration;

use etcd_client::Error as Client;
use tonic::{Code, ConnectError, Status};

use crate::Error;

/// Why an attempt brought no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Nothing came.
    #[error("etcd did not answer within {0:?}")]
    Silent(Duration),
    /// An error came, from etcd or from the connection.
    #[error(transparent)]
    Client(#[from] Client),
}

/// What is known of a request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// etcd has read it and will not do it. It would say so again.
    Refused,
    /// It was not done and will not be: it never arrived, or was turned away at the door.
    Undone,
    /// It may have been done, or be done yet.
    Unknown,
}

/// What etcd says when it turns a request away unread, for a reason that passes.
const TURNED_AWAY: &[&str] = &["etcdserver: no leader", "etcdserver: too many requests"];

const COMPACTED: &str = "etcdserver: mvcc: required revision has been compacted";
const FUTURE: &str = "etcdserver: mvcc: required revision is a future revision";
const NO_SPACE: &str = "etcdserver: mvcc: database space exceeded";

impl Failure {
    pub(super) fn verdict(&self) -> Verdict {
        let Self::Client(Client::GRpcStatus(status)) = self else { return Verdict::Unknown };
        if TURNED_AWAY.contains(&status.message()) || never_connected(status) {
            return Verdict::Undone;
        }
        match status.code() {
            Code::InvalidArgument
            | Code::OutOfRange
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::FailedPrecondition
            | Code::ResourceExhausted
            | Code::Unimplemented => Verdict::Refused,
            _ => Verdict::Unknown,
        }
    }

    /// The history that was asked for is gone.
    pub(super) fn is_compacted(&self) -> bool {
        self.says(COMPACTED)
    }

    /// The history that was asked for is not there yet.
    pub(super) fn is_future(&self) -> bool {
        self.says(FUTURE)
    }

    /// The request is larger than etcd takes, or than its connection does.
    fn is_too_large(&self) -> bool {
        let Self::Client(Client::GRpcStatus(status)) = self else { return false };
        match status.code() {
            Code::InvalidArgument => status.message() == "etcdserver: request is too large",
            // Sizes follow, so this is known by what it is not: etcd itself means its disk by this code.
            Code::ResourceExhausted => {
                status.message() != NO_SPACE && status.message().contains("larger than max")
            }
            _ => false,
        }
    }

    fn says(&self, message: &str) -> bool {
        matches!(self, Self::Client(Client::GRpcStatus(status)) if status.message() == message)
    }

    /// What the caller of a store is told who asked for `doing`.
    pub(super) fn while_doing(self, doing: &'static str) -> Error {
        if self.is_too_large() { Error::TooLarge } else { Error::unavailable(doing, self) }
    }
}

/// Whether the request was lost because there was no connection to send it on.
fn never_connected(status: &Status) -> bool {
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        if error.is::<ConnectError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(status: Status) -> Verdict {
        Failure::from(Client::from(status)).verdict()
    }

    #[test]
    fn what_may_have_happened_is_not_known_to_be_undone() {
        let timeout = "etcdserver: request timed out, possibly due to previous leader failure";
        assert_eq!(verdict(Status::unavailable(timeout)), Verdict::Unknown);
        assert_eq!(verdict(Status::unavailable("etcdserver: leader changed")), Verdict::Unknown);
        assert_eq!(verdict(Status::unavailable("error reading a body")), Verdict::Unknown);
        assert_eq!(verdict(Status::cancelled("h2 went away")), Verdict::Unknown);
        assert_eq!(Failure::Silent(Duration::ZERO).verdict(), Verdict::Unknown);
    }

    #[test]
    fn what_was_turned_away_was_not_done() {
        assert_eq!(verdict(Status::unavailable("etcdserver: no leader")), Verdict::Undone);
        let busy = Status::resource_exhausted("etcdserver: too many requests");
        assert_eq!(verdict(busy), Verdict::Undone);
        let refused = ConnectError(Box::new(std::io::Error::other("refused")));
        assert_eq!(verdict(Status::from_error(Box::new(refused))), Verdict::Undone);
    }

    #[test]
    fn size_is_told_from_a_full_disk() {
        let told = |status: Status| Failure::from(Client::from(status)).while_doing("write");
        let large = Status::invalid_argument("etcdserver: request is too large");
        assert!(matches!(told(large), Error::TooLarge));
        let larger = Status::resource_exhausted("grpc: received message larger than max (5 vs. 4)");
        assert!(matches!(told(larger), Error::TooLarge));
        let full = Status::resource_exhausted(NO_SPACE);
        assert!(matches!(told(full), Error::Unavailable { .. }));
    }
}
