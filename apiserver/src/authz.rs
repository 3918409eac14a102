//! May they: the authorizers, and what a refusal says.
//!
//! Every request is decided here again, whatever was decided in front of this server. Authorizers
//! are asked in order; the first that allows or denies wins, and when none does, or one fails, the
//! request is refused.

mod access_reviews;
mod selectors;

use std::borrow::Cow;

use futures::future::{BoxFuture, ready};

use crate::authn::{AUTHENTICATED, MASTERS, User};
use crate::field::quote;
use crate::request::{RequestInfo, Verb};
use crate::status::{Error, Subject};

pub use access_reviews::{AccessReviews, DecisionTtl};

/// Who wants to do what to what.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// Who.
    pub user: &'a User,
    /// What is to be done, e.g. `get`.
    pub verb: &'a str,
    /// Whether it is about a resource; otherwise only `path` says what it is about.
    pub is_resource_request: bool,
    /// The path, decoded.
    pub path: &'a str,
    /// The API group.
    pub group: &'a str,
    /// The API version.
    pub version: &'a str,
    /// The namespace; empty for all of them and for what has none.
    pub namespace: &'a str,
    /// The resource, e.g. `templates`.
    pub resource: &'a str,
    /// The subresource.
    pub subresource: &'a str,
    /// The object's name.
    pub name: &'a str,
    /// `fieldSelector` of a request for a collection, as it was sent.
    pub field_selector: &'a str,
    /// `labelSelector` of a request for a collection, as it was sent.
    pub label_selector: &'a str,
}

impl<'a> Attributes<'a> {
    /// What a request as a whole wants.
    pub fn of(user: &'a User, info: &'a RequestInfo) -> Self {
        let is_collection = matches!(info.verb, Verb::List | Verb::Watch | Verb::DeleteCollection);
        let selector = |name| match is_collection {
            true => info.query.get(name).unwrap_or_default(),
            false => "",
        };
        Self {
            user,
            verb: info.verb.as_str(),
            is_resource_request: info.is_resource_request,
            path: &info.path,
            group: &info.group,
            version: &info.version,
            namespace: &info.namespace,
            resource: &info.resource,
            subresource: &info.subresource,
            name: &info.name,
            field_selector: selector("fieldSelector"),
            label_selector: selector("labelSelector"),
        }
    }

    /// What a user wants to do to an object that no request names, such as impersonating a user.
    pub fn on(user: &'a User, verb: &'a str, subject: Subject<'a>, name: &'a str) -> Self {
        Self {
            user,
            verb,
            is_resource_request: true,
            path: "",
            group: subject.group,
            version: "",
            namespace: "",
            resource: subject.kind,
            subresource: "",
            name,
            field_selector: "",
            label_selector: "",
        }
    }

    /// The same with another verb: an update that turns out to create is checked for that too.
    #[must_use]
    pub fn with_verb(mut self, verb: &'a Verb) -> Self {
        self.verb = verb.as_str();
        self
    }

    /// The 403 for these attributes. `reason` is appended when there is one.
    pub fn forbidden(&self, reason: &str) -> Error {
        let mut why = escape(&self.sentence());
        if !reason.is_empty() {
            why = format!("{why}: {reason}");
        }
        if self.resource.is_empty() {
            return Error::forbidden_path(&why);
        }
        Error::forbidden(Subject { group: self.group, kind: self.resource }, self.name, &why)
    }

    fn sentence(&self) -> String {
        let (user, verb) = (quote(&self.user.name), self.verb);
        if !self.is_resource_request {
            return format!("User {user} cannot {verb} path {}", quote(self.path));
        }
        let resource = match self.subresource {
            "" => quote(self.resource),
            subresource => quote(&format!("{}/{subresource}", self.resource)),
        };
        let scope = match self.namespace {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {}", quote(namespace)),
        };
        let group = quote(self.group);
        format!("User {user} cannot {verb} resource {resource} in API group {group} {scope}")
    }
}

/// What the client sent comes back in the message; it must not look like HTML.
fn escape(text: &str) -> String {
    if !text.contains(['&', '<', '>']) {
        return text.to_owned();
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// What an authorizer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may be done, and nobody else is asked. The reason goes to the audit log.
    Allow(Cow<'static, str>),
    /// It may not be done, and nobody else is asked. The reason goes to the client.
    Deny(Cow<'static, str>),
    /// Somebody else decides; when nobody does, it may not be done.
    NoOpinion(Cow<'static, str>),
}

impl Decision {
    const ABSTAIN: Self = Self::NoOpinion(Cow::Borrowed(""));

    fn allow_if(condition: bool) -> Self {
        if condition { Self::Allow(Cow::Borrowed("")) } else { Self::ABSTAIN }
    }
}

/// The authorizer could not find out. It fails closed: the request is answered with 500.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undecided(pub String);

/// Decides what may be done.
pub trait Authorizer: Send + Sync + 'static {
    /// Decides about one thing. An error is not an opinion: others are still asked.
    fn authorize<'a>(
        &'a self,
        attributes: &'a Attributes<'a>,
    ) -> BoxFuture<'a, Result<Decision, Undecided>>;
}

/// Members of `system:masters` may do everything. It comes first, so that the availability probe
/// of the aggregation layer is answered even when nobody else can be asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Masters;

impl Authorizer for Masters {
    fn authorize<'a>(
        &'a self,
        attributes: &'a Attributes<'a>,
    ) -> BoxFuture<'a, Result<Decision, Undecided>> {
        Box::pin(ready(Ok(Decision::allow_if(attributes.user.is_in(MASTERS)))))
    }
}

/// Everybody may ask for some paths that are no resources, exactly as given or, with a trailing
/// `*`, below them.
#[derive(Clone, Debug)]
pub struct AllowedPaths(Vec<String>);

impl AllowedPaths {
    /// These paths.
    pub fn new<P: Into<String>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self(paths.into_iter().map(Into::into).collect())
    }

    fn allows(&self, attributes: &Attributes<'_>) -> bool {
        !attributes.is_resource_request
            && self.0.iter().any(|allowed| covers(allowed, attributes.path))
    }
}

/// The paths that kubelets and load balancers probe without a credential. The single checks
/// below them are not among them: they say more.
impl Default for AllowedPaths {
    fn default() -> Self {
        Self::new(["/healthz", "/livez", "/readyz"])
    }
}

impl Authorizer for AllowedPaths {
    fn authorize<'a>(
        &'a self,
        attributes: &'a Attributes<'a>,
    ) -> BoxFuture<'a, Result<Decision, Undecided>> {
        Box::pin(ready(Ok(Decision::allow_if(self.allows(attributes)))))
    }
}

/// What a new cluster lets people read without any rule of its own: the version by everybody
/// (`system:public-info-viewer`), discovery and OpenAPI by whoever proved an identity
/// (`system:discovery`). For servers without a cluster behind them.
#[derive(Clone, Copy, Debug, Default)]
pub struct PublicInfo;

impl PublicInfo {
    const EVERYBODY: [&str; 2] = ["/version", "/version/"];
    const AUTHENTICATED: [&str; 7] =
        ["/", "/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"];

    fn allows(attributes: &Attributes<'_>) -> bool {
        let any = |paths: &[&str]| paths.iter().any(|allowed| covers(allowed, attributes.path));
        !attributes.is_resource_request
            && attributes.verb == "get"
            && (any(&Self::EVERYBODY)
                || (attributes.user.is_in(AUTHENTICATED) && any(&Self::AUTHENTICATED)))
    }
}

impl Authorizer for PublicInfo {
    fn authorize<'a>(
        &'a self,
        attributes: &'a Attributes<'a>,
    ) -> BoxFuture<'a, Result<Decision, Undecided>> {
        Box::pin(ready(Ok(Decision::allow_if(Self::allows(attributes)))))
    }
}

fn covers(allowed: &str, path: &str) -> bool {
    match allowed.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => path == allowed,
    }
}

/// Several authorizers, asked in order.
pub struct Union(Vec<Box<dyn Authorizer>>);

impl Union {
    /// Asks `members` in their order.
    pub fn new(members: Vec<Box<dyn Authorizer>>) -> Self {
        Self(members)
    }

    /// The rules of a server that stands alone: `system:masters` may do everything, probes and
    /// the version are for everybody, discovery for everybody known, and that is all.
    pub fn standalone() -> Self {
        Self::new(vec![Box::new(Masters), Box::new(AllowedPaths::default()), Box::new(PublicInfo)])
    }

    /// The rules of a server in a cluster: `system:masters` may do everything, `paths` are for
    /// everybody, and for the rest kube-apiserver is asked.
    pub fn delegated(paths: AllowedPaths, reviews: AccessReviews) -> Self {
        Self::new(vec![Box::new(Masters), Box::new(paths), Box::new(reviews)])
    }

    async fn ask(&self, attributes: &Attributes<'_>) -> Result<Decision, Undecided> {
        let mut reasons = String::new();
        let mut undecided = None;
        for member in &self.0 {
            match member.authorize(attributes).await {
                Ok(Decision::NoOpinion(reason)) if reason.is_empty() => {}
                Ok(Decision::NoOpinion(reason)) => {
                    let separator = if reasons.is_empty() { "" } else { ", " };
                    reasons.push_str(separator);
                    reasons.push_str(&reason);
                }
                Ok(decided) => return Ok(decided),
                Err(error) => undecided = undecided.or(Some(error)),
            }
        }
        undecided.map_or_else(|| Ok(Decision::NoOpinion(reasons.into())), Err)
    }
}

impl Authorizer for Union {
    fn authorize<'a>(
        &'a self,
        attributes: &'a Attributes<'a>,
    ) -> BoxFuture<'a, Result<Decision, Undecided>> {
        Box::pin(self.ask(attributes))
    }
}

/// Lets something pass or says why not. Handlers use it for what a request turns out to need
/// besides what it says.
///
/// # Errors
/// 403 when it may not be done, 500 when nobody could find out.
pub async fn check(authorizer: &dyn Authorizer, attributes: &Attributes<'_>) -> Result<(), Error> {
    settle(authorizer.authorize(attributes).await, attributes)
}

/// What follows from a decision, as [`check`].
pub(crate) fn settle(
    decided: Result<Decision, Undecided>,
    attributes: &Attributes<'_>,
) -> Result<(), Error> {
    match decided {
        Ok(Decision::Allow(_)) => Ok(()),
        Ok(Decision::Deny(reason) | Decision::NoOpinion(reason)) => {
            Err(attributes.forbidden(&reason))
        }
        Err(error) => {
            tracing::error!(%error, user = attributes.user.name, "authorization undecided");
            Err(Error::internal("authorization could not be decided"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    fn refusal(user: &User, method: &str, uri: &str) -> Option<String> {
        let info = RequestInfo::new(&method.parse().unwrap(), &uri.parse().unwrap());
        let attributes = Attributes::of(user, &info);
        let checked = check(&Union::standalone(), &attributes).now_or_never().unwrap();
        checked.err().map(|error| error.message().to_owned())
    }

    fn alice() -> User {
        User::authenticated("alice", vec!["dev".into()])
    }

    #[test]
    fn standing_alone_masters_may_everything_and_others_read_what_is_public() {
        let allowed = |user: &User, method, uri| assert_eq!(refusal(user, method, uri), None);
        let refused = |user: &User, method, uri| assert!(refusal(user, method, uri).is_some());
        let admin = User::authenticated("admin", vec![MASTERS.into()]);
        allowed(&admin, "DELETE", "/apis/g/v1/namespaces/n/things/a");
        allowed(&admin, "GET", "/metrics");
        for path in ["/healthz", "/livez", "/readyz?verbose", "/version"] {
            allowed(&User::anonymous(), "GET", path);
        }
        for path in ["/", "/apis", "/apis/g/v1", "/openapi/v3", "/readyz/ping", "/metrics"] {
            refused(&User::anonymous(), "GET", path);
        }
        for path in ["/", "/apis", "/apis/g/v1", "/openapi/v3/apis/g/v1"] {
            allowed(&alice(), "GET", path);
        }
        for path in ["/metrics", "/nosuch", "/readyz/ping", "/apis/g/v1/things"] {
            refused(&alice(), "GET", path);
        }
    }

    #[test]
    fn a_refusal_says_who_may_not_do_what_to_what() {
        let check = |user: &User, method: &str, uri: &str, want: &str| {
            assert_eq!(refusal(user, method, uri).as_deref(), Some(want));
        };
        check(
            &alice(),
            "POST",
            "/apis/g.example/v1/namespaces/n/things",
            r#"things.g.example is forbidden: User "alice" cannot create resource "things" in API group "g.example" in the namespace "n""#,
        );
        check(
            &alice(),
            "GET",
            "/apis/g.example/v1/things/a/status",
            r#"things.g.example "a" is forbidden: User "alice" cannot get resource "things/status" in API group "g.example" at the cluster scope"#,
        );
        check(
            &User::anonymous(),
            "GET",
            "/%3Cb%3E",
            r#"forbidden: User "system:anonymous" cannot get path "/&lt;b&gt;""#,
        );
    }

    struct Says(Result<Decision, Undecided>);

    impl Authorizer for Says {
        fn authorize<'a>(
            &'a self,
            _: &'a Attributes<'a>,
        ) -> BoxFuture<'a, Result<Decision, Undecided>> {
            Box::pin(ready(self.0.clone()))
        }
    }

    #[test]
    fn a_failing_authorizer_never_lets_anything_pass() {
        let ask = |members: Vec<Result<Decision, Undecided>>| {
            let members = members.into_iter().map(|says| Box::new(Says(says)) as _).collect();
            let info = RequestInfo::new(&http::Method::GET, &"/x".parse().unwrap());
            let user = alice();
            let union = Union::new(members);
            let checked = check(&union, &Attributes::of(&user, &info)).now_or_never().unwrap();
            checked.map_err(|error| error.reason().code())
        };
        let failed = || Err(Undecided("no answer".into()));
        assert_eq!(ask(vec![failed(), Ok(Decision::Allow("".into()))]), Ok(()));
        assert_eq!(ask(vec![failed(), Ok(Decision::ABSTAIN)]), Err(500));
        assert_eq!(
            ask(vec![Ok(Decision::Deny("no".into())), Ok(Decision::Allow("".into()))]),
            Err(403)
        );
        assert_eq!(ask(vec![]), Err(403));
    }
}
