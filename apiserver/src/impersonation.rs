//! Acting as somebody else: `Impersonate-User` and the headers that go with it.
//!
//! Behind the aggregation layer kube-apiserver does this, and forwards requests as the one who is
//! impersonated. Here it is for those who ask this server directly. Every part of the identity that
//! is asked for must be allowed to the requester, by the verb `impersonate`. Nothing is taken over from the
//! requester, and a request that asks in a way that is not understood is refused: it must not run as
//! the one who asks.

#[cfg(test)]
mod tests;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::authn::{ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User, extra_key};
use crate::authz::{Attributes, Authorizer, check};
use crate::names;
use crate::status::{Error, Subject};

const PREFIX: &str = "impersonate-";
const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";

/// The group of the API that uids and extras belong to.
const AUTHENTICATION: &str = "authentication.k8s.io";

const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";

/// Whom a request is to run as, if it asks for somebody else than `requester` and that is allowed.
/// The headers that ask for it are gone afterwards.
///
/// # Errors
/// 400 for headers that do not make an identity, 403 when `requester` may not act so, 500 when nobody
/// could find out.
pub(crate) async fn impersonated(
    headers: &mut HeaderMap,
    requester: &User,
    authorizer: &dyn Authorizer,
) -> Result<Option<User>, Error> {
    let asks: Vec<HeaderName> =
        headers.keys().filter(|name| name.as_str().starts_with(PREFIX)).cloned().collect();
    if asks.is_empty() {
        return Ok(None);
    }
    let asked = Asked::read(headers, &asks)?;
    asked.check(requester, authorizer).await?;
    asks.iter().for_each(|name| drop(headers.remove(name)));
    let user = asked.into_user();
    tracing::info!(requester = requester.name, user = user.name, "impersonates");
    Ok(Some(user))
}

/// The identity that is asked for.
#[derive(Debug, Default)]
struct Asked {
    user: String,
    groups: Vec<String>,
    uid: String,
    /// Keys and values in the order of the headers.
    extra: Vec<(String, String)>,
}

impl Asked {
    fn read(headers: &HeaderMap, asks: &[HeaderName]) -> Result<Self, Error> {
        let mut asked = Self::default();
        for name in asks {
            let values = headers.get_all(name).iter().map(|value| text(name, value));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            match name.as_str() {
                USER => asked.user = only(name, values)?,
                GROUP => asked.groups = values,
                UID => asked.uid = only(name, values)?,
                other => {
                    let key = other.strip_prefix(EXTRA).map(extra_key).ok_or_else(|| {
                        Error::bad_request(format!("the header {name} is not understood"))
                    })?;
                    asked.extra.extend(values.into_iter().map(|value| (key.clone(), value)));
                }
            }
        }
        if asked.user.is_empty() {
            let names = asks.iter().map(HeaderName::as_str).collect::<Vec<_>>().join(", ");
            return Err(Error::bad_request(format!("{names} without impersonating a user")));
        }
        Ok(asked)
    }

    /// Namespace and name, if the user is a service account.
    fn service_account(&self) -> Option<(&str, &str)> {
        let (namespace, name) = self.user.strip_prefix(SERVICE_ACCOUNT)?.split_once(':')?;
        let is_one =
            names::dns1123_label(namespace).is_empty() && names::dns1123_subdomain(name).is_empty();
        is_one.then_some((namespace, name))
    }

    /// Every part by itself, in upstream's order.
    async fn check(&self, requester: &User, authorizer: &dyn Authorizer) -> Result<(), Error> {
        let on = |group, kind, name| {
            let subject = Subject { group, kind };
            let version = if group.is_empty() { "" } else { "v1" };
            Attributes { version, ..Attributes::on(requester, "impersonate", subject, name) }
        };
        let user = match self.service_account() {
            Some((namespace, name)) => Attributes { namespace, ..on("", "serviceaccounts", name) },
            None => on("", "users", &self.user),
        };
        check(authorizer, &user).await?;
        for group in &self.groups {
            check(authorizer, &on("", "groups", group)).await?;
        }
        for (key, value) in &self.extra {
            let extra = on(AUTHENTICATION, "userextras", value);
            check(authorizer, &Attributes { subresource: key, ..extra }).await?;
        }
        if !self.uid.is_empty() {
            check(authorizer, &on(AUTHENTICATION, "uids", &self.uid)).await?;
        }
        Ok(())
    }

    /// Groups that are asked for are all there are, but for the one that says whether the user is
    /// known. A service account has its own if none are.
    fn into_user(self) -> User {
        let mut groups = match self.service_account() {
            Some((namespace, _)) if self.groups.is_empty() => {
                vec![SERVICE_ACCOUNTS.to_owned(), format!("{SERVICE_ACCOUNTS}:{namespace}")]
            }
            _ => self.groups,
        };
        let has = |group: &str| groups.iter().any(|known| known == group);
        let missing = match self.user == ANONYMOUS {
            true => (!has(UNAUTHENTICATED)).then_some(UNAUTHENTICATED),
            false => (!has(AUTHENTICATED) && !has(UNAUTHENTICATED)).then_some(AUTHENTICATED),
        };
        groups.extend(missing.map(str::to_owned));
        let mut user = User { name: self.user, uid: self.uid, groups, ..User::default() };
        for (key, value) in self.extra {
            user.extra.entry(key).or_default().push(value);
        }
        user
    }
}

fn text(name: &HeaderName, value: &HeaderValue) -> Result<String, Error> {
    let text = std::str::from_utf8(value.as_bytes());
    let text = text.map_err(|_| Error::bad_request(format!("the header {name} is not UTF-8")))?;
    Ok(text.to_owned())
}

/// Of several values upstream takes the first. Which one a proxy on the way looked at, nobody knows.
fn only(name: &HeaderName, mut values: Vec<String>) -> Result<String, Error> {
    match (values.pop(), values.is_empty()) {
        (Some(value), true) => Ok(value),
        _ => Err(Error::bad_request(format!("the header {name} stands there more than once"))),
    }
}
