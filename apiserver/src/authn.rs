//! Who is asking: the authenticators, the order they are asked in, and the anonymous user.
//!
//! An authenticator that finds nothing of its own in a request says so and the next one is asked;
//! one that finds a credential and cannot accept it makes the request fail unless another accepts.
//! So an invalid token is a 401, never a quiet fall to anonymous.

mod bearer;
mod delegated;
mod peer;
mod request_headers;
mod subject;
mod token_reviews;
mod tokens;
mod trust;
mod x509;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use http::HeaderMap;

pub use delegated::{Delegated, DelegatedError, DelegatedOptions, Lookup, ProxyFlags};
pub use peer::Peer;
pub(crate) use request_headers::extra_key;
pub use request_headers::{BadHeaderName, FrontProxy, IdentityHeaders, RequestHeaders};
pub use token_reviews::TokenReviews;
pub use tokens::{StaticTokens, TokenFileError};
pub use trust::{CaBundle, CaBundleError};
pub use x509::ClientCertificates;

/// The group of everybody who proved an identity.
pub const AUTHENTICATED: &str = "system:authenticated";
/// The group of everybody who did not.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The name of whoever presents no credential.
pub const ANONYMOUS: &str = "system:anonymous";
/// The group that may do everything.
pub const MASTERS: &str = "system:masters";

/// Who asks, as authorization and the handlers see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name, unique among users.
    pub name: String,
    /// The identity behind the name; empty when the authenticator knows none.
    pub uid: String,
    /// The groups, in the order the authenticator gave them.
    pub groups: Vec<String>,
    /// What else the authenticator knows, such as the credential's id.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// A user who proved an identity: the groups get `system:authenticated`.
    pub fn authenticated(name: impl Into<String>, groups: Vec<String>) -> Self {
        let mut user = Self { name: name.into(), groups, ..Self::default() };
        user.join_authenticated();
        user
    }

    /// Whoever presents no credential.
    pub fn anonymous() -> Self {
        let groups = vec![UNAUTHENTICATED.to_owned()];
        Self { name: ANONYMOUS.to_owned(), groups, ..Self::default() }
    }

    /// Whether the user is a member of `group`.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|member| member == group)
    }

    /// Whether this is the user without a credential, by name as upstream decides it.
    pub fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS
    }

    fn join_authenticated(&mut self) {
        if !self.is_anonymous() && !self.is_in(AUTHENTICATED) && !self.is_in(UNAUTHENTICATED) {
            self.groups.push(AUTHENTICATED.to_owned());
        }
    }
}

/// A credential was presented and is not accepted. The why is for the log, never for the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Rejected(pub String);

/// What an authenticator says: this user, nothing of mine in the request, or a bad credential.
pub type Verdict = Result<Option<Arc<User>>, Rejected>;

/// Finds out who sent a request.
pub trait Authenticator: Send + Sync + 'static {
    /// Looks for a credential of this authenticator's kind.
    ///
    /// `headers` are those the client sent, before any is stripped. `peer` is the other end of
    /// the connection and keeps what was found out about its certificates.
    fn authenticate<'a>(&'a self, headers: &'a HeaderMap, peer: &'a Peer)
    -> BoxFuture<'a, Verdict>;

    /// Takes away the headers that only this authenticator reads. It is asked for every request that
    /// passes, whoever recognized the sender. `Authorization` and `X-Remote-*` go without asking.
    fn strip(&self, _headers: &mut HeaderMap) {}
}

/// What becomes of a request without any credential.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anonymous {
    /// It is `system:anonymous`, so that probes can ask for health. The default, as upstream.
    #[default]
    Allowed,
    /// It is refused with 401.
    Refused,
}

impl Anonymous {
    /// From a flag.
    pub fn allowed_if(allowed: bool) -> Self {
        if allowed { Self::Allowed } else { Self::Refused }
    }
}

/// Several authenticators, asked in order; the first that knows the user wins.
pub struct Union {
    members: Vec<Box<dyn Authenticator>>,
    anonymous: Option<Arc<User>>,
}

impl Union {
    /// Asks `members` in their order, and then treats whoever is left as `anonymous` says.
    pub fn new(members: Vec<Box<dyn Authenticator>>, anonymous: Anonymous) -> Self {
        let anonymous = match anonymous {
            Anonymous::Allowed => Some(Arc::new(User::anonymous())),
            Anonymous::Refused => None,
        };
        Self { members, anonymous }
    }

    async fn ask(&self, headers: &HeaderMap, peer: &Peer) -> Verdict {
        let mut rejected = None;
        for member in &self.members {
            match member.authenticate(headers, peer).await {
                Ok(Some(user)) => return Ok(Some(with_authenticated(user))),
                Ok(None) => {}
                Err(why) => rejected = rejected.or(Some(why)),
            }
        }
        match rejected {
            Some(why) => Err(why),
            None => Ok(self.anonymous.clone()),
        }
    }
}

impl Authenticator for Union {
    fn authenticate<'a>(
        &'a self,
        headers: &'a HeaderMap,
        peer: &'a Peer,
    ) -> BoxFuture<'a, Verdict> {
        Box::pin(self.ask(headers, peer))
    }

    fn strip(&self, headers: &mut HeaderMap) {
        self.members.iter().for_each(|member| member.strip(headers));
    }
}

/// Authenticators of this crate hand out users who are in the group already; others may forget.
fn with_authenticated(mut user: Arc<User>) -> Arc<User> {
    if !user.is_in(AUTHENTICATED) {
        Arc::make_mut(&mut user).join_authenticated();
    }
    user
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    struct Says(Verdict);

    impl Authenticator for Says {
        fn authenticate<'a>(&'a self, _: &'a HeaderMap, _: &'a Peer) -> BoxFuture<'a, Verdict> {
            Box::pin(std::future::ready(self.0.clone()))
        }
    }

    fn ask(members: Vec<Verdict>, anonymous: Anonymous) -> Verdict {
        let members = members.into_iter().map(|says| Box::new(Says(says)) as _).collect();
        let union = Union::new(members, anonymous);
        union.authenticate(&HeaderMap::new(), &Peer::default()).now_or_never().unwrap()
    }

    fn user(name: &str) -> Verdict {
        Ok(Some(Arc::new(User { name: name.into(), ..User::default() })))
    }

    fn bad() -> Verdict {
        Err(Rejected("bad".into()))
    }

    #[test]
    fn the_first_authenticator_that_knows_the_user_wins() {
        let found = ask(vec![Ok(None), user("a"), user("b")], Anonymous::Allowed);
        let found = found.unwrap().unwrap();
        assert_eq!(
            (found.name.as_str(), found.groups.as_slice()),
            ("a", &[AUTHENTICATED.to_owned()][..])
        );
    }

    #[test]
    fn a_rejected_credential_is_forgiven_only_by_an_accepted_one() {
        assert_eq!(ask(vec![bad(), user("a")], Anonymous::Allowed).unwrap().unwrap().name, "a");
        assert!(ask(vec![bad(), Ok(None)], Anonymous::Allowed).is_err());
    }

    #[test]
    fn without_a_credential_one_is_anonymous_where_that_is_allowed() {
        let anonymous = ask(vec![Ok(None)], Anonymous::Allowed).unwrap().unwrap();
        assert_eq!(*anonymous, User::anonymous());
        assert_eq!(ask(vec![Ok(None)], Anonymous::Refused), Ok(None));
    }
}
