//! What a request asks for, read from its method, path and query: apimachinery's `RequestInfo`.
//!
//! Authorization, routing, limits and metrics all go by this one reading, so that none of them
//! can be talked into another resource than the one that is served. Nothing is refused here: a
//! path that means nothing is a request for no resource.

mod query;

use std::borrow::Cow;

use http::{Method, Uri};

use crate::selector::{FieldSelector, LabelSelector};
use crate::status::Error;

pub use query::{Query, SignedDuration, unescape};

/// What is to be done, in the words of authorization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    /// GET or HEAD of one object, or GET of a path that is no resource.
    Get,
    /// GET of a collection.
    List,
    /// GET of a collection or object as a stream of events.
    Watch,
    /// POST to a resource.
    Create,
    /// PUT to a resource.
    Update,
    /// PATCH.
    Patch,
    /// DELETE of one object.
    Delete,
    /// DELETE of a collection.
    DeleteCollection,
    /// Anything else: a method in lower case on a path that is no resource, `proxy`, or nothing.
    Other(String),
}

impl Verb {
    /// The word that authorizers compare.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Other(verb) => verb,
        }
    }

    /// Whether the request only reads, as max-in-flight counts: get, list and watch.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::Get | Self::List | Self::Watch)
    }

    /// Whether the request changes a resource and so gets the shorter deadline of a mutation.
    /// A collection may take its time to be deleted.
    pub fn is_bounded_mutation(&self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Patch | Self::Delete)
    }

    fn of_path(method: &Method) -> Self {
        match *method {
            Method::GET => Self::Get,
            Method::PATCH => Self::Patch,
            Method::DELETE => Self::Delete,
            _ => Self::Other(method.as_str().to_ascii_lowercase()),
        }
    }

    fn of_resource(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD => Self::Get,
            Method::POST => Self::Create,
            Method::PUT => Self::Update,
            Method::PATCH => Self::Patch,
            Method::DELETE => Self::Delete,
            _ => Self::Other(String::new()),
        }
    }
}

/// A request, taken apart. Of a request for no resource only `verb`, `path` and `query` are set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestInfo {
    /// What is to be done.
    pub verb: Verb,
    /// The whole path, percent-decoded.
    pub path: String,
    /// The query.
    pub query: Query,
    /// Whether the path names a resource.
    pub is_resource_request: bool,
    /// `api` or `apis`.
    pub api_prefix: String,
    /// The API group; empty for `api`.
    pub group: String,
    /// The API version.
    pub version: String,
    /// The namespace; empty for all of them and for what has none.
    pub namespace: String,
    /// The resource, in the plural as in the path.
    pub resource: String,
    /// The subresource, such as `status`.
    pub subresource: String,
    /// The object's name, from the path or, for list and watch, from a field selector that lets
    /// only one name through.
    pub name: String,
    /// Path segments from the resource on. More than three mean that no route fits.
    pub segments: usize,
    /// The verb came from a path of the form `/apis/G/V/watch/…`, deprecated since 1.11.
    pub verb_in_path: bool,
}

impl RequestInfo {
    /// Reads a request line.
    pub fn new(method: &Method, uri: &Uri) -> Self {
        // A path that is no UTF-8 names nothing that exists: the raw text is then as good as any.
        let path = unescape(uri.path(), false).unwrap_or_else(|| uri.path().to_owned());
        let mut info = Self {
            verb: Verb::of_path(method),
            path: String::new(),
            query: uri.query().map(Query::parse).unwrap_or_default(),
            is_resource_request: false,
            api_prefix: String::new(),
            group: String::new(),
            version: String::new(),
            namespace: String::new(),
            resource: String::new(),
            subresource: String::new(),
            name: String::new(),
            segments: 0,
            verb_in_path: false,
        };
        info.read_path(&path, method);
        info.path = path;
        info
    }

    /// `/api/V/…` or `/apis/G/V/…`, then `[watch/][namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE]]`.
    fn read_path(&mut self, path: &str, method: &Method) {
        let mut rest = path.trim_matches('/').split('/').peekable();
        let (prefix, group) = match (rest.next(), rest.next()) {
            (Some("api"), version) => ("api", version),
            (Some("apis"), group) => ("apis", group),
            _ => return,
        };
        let (group, version) = match prefix {
            "api" => (Some(""), group),
            _ => (group, rest.next()),
        };
        let (Some(group), Some(version), true) = (group, version, rest.peek().is_some()) else {
            return;
        };
        self.is_resource_request = true;
        self.api_prefix = prefix.to_owned();
        self.group = group.to_owned();
        self.version = version.to_owned();
        self.verb = match rest.next_if(|&segment| segment == "watch" || segment == "proxy") {
            None => Verb::of_resource(method),
            Some(special) => {
                self.verb_in_path = true;
                if special == "watch" { Verb::Watch } else { Verb::Other(special.to_owned()) }
            }
        };
        self.read_resource(&rest.collect::<Vec<_>>());
        self.settle_verb();
    }

    fn read_resource(&mut self, mut parts: &[&str]) {
        if let ["namespaces", namespace, tail @ ..] = parts {
            (*namespace).clone_into(&mut self.namespace);
            // `namespaces/NS` and its own subresources are about the namespace itself.
            if tail.first().is_some_and(|&part| part != "status" && part != "finalize") {
                parts = tail;
            }
        }
        self.segments = parts.len();
        let takes_subresource = !matches!(&self.verb, Verb::Other(verb) if verb == "proxy");
        if let [resource, ..] = parts {
            (*resource).clone_into(&mut self.resource);
        }
        if let [_, name, ..] = parts {
            (*name).clone_into(&mut self.name);
        }
        if let ([_, _, subresource, ..], true) = (parts, takes_subresource) {
            (*subresource).clone_into(&mut self.subresource);
        }
    }

    /// Without a name, get is list or watch and delete is deletecollection.
    fn settle_verb(&mut self) {
        if !self.name.is_empty() {
            return;
        }
        match self.verb {
            Verb::Get => {
                let watch = self.query.flag("watch");
                self.verb = if watch { Verb::Watch } else { Verb::List };
                if let Some(name) = self.selected_name() {
                    self.name = name;
                }
            }
            Verb::Delete => self.verb = Verb::DeleteCollection,
            _ => {}
        }
    }

    /// The name that `fieldSelector=metadata.name=…` asks for. Where another option cannot be read,
    /// the request will be refused; until then it names nothing, as upstream.
    fn selected_name(&self) -> Option<String> {
        let selector = FieldSelector::parse_any(self.query.get("fieldSelector")?).ok()?;
        let name = selector.required_name()?;
        let is_one_segment = !name.is_empty() && segment_problem(name).is_none();
        (is_one_segment && self.has_readable_options()).then(|| name.to_owned())
    }

    fn has_readable_options(&self) -> bool {
        let labels = self.query.get("labelSelector").unwrap_or_default();
        ["limit", "timeoutSeconds"].iter().all(|option| self.query.integer(option).is_ok())
            && LabelSelector::parse(labels).is_ok()
    }

    /// The object's name, for routes that need one.
    ///
    /// # Errors
    /// 400 for a missing name and for one that cannot be part of a path.
    pub fn required_name(&self) -> Result<&str, Error> {
        if self.name.is_empty() {
            return Err(Error::bad_request("name must be provided"));
        }
        match segment_problem(&self.name) {
            None => Ok(&self.name),
            Some(why) => {
                let name = crate::field::quote(&self.name);
                Err(Error::bad_request(format!("Name parameter invalid: {name}: {why}")))
            }
        }
    }

    /// Whether the request may stay open for as long as the client likes: a watch.
    pub fn is_long_running(&self) -> bool {
        self.is_resource_request && self.verb == Verb::Watch
    }
}

/// Why a text cannot be one segment of a path.
fn segment_problem(name: &str) -> Option<Cow<'static, str>> {
    match name {
        "." => return Some("may not be '.'".into()),
        ".." => return Some("may not be '..'".into()),
        _ => {}
    }
    match (name.contains('/'), name.contains('%')) {
        (false, false) => None,
        (true, false) => Some("may not contain '/'".into()),
        (false, true) => Some("may not contain '%'".into()),
        (true, true) => Some("may not contain '/';may not contain '%'".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(method: &str, uri: &str) -> RequestInfo {
        RequestInfo::new(&method.parse().unwrap(), &uri.parse().unwrap())
    }

    /// verb, namespace, resource, name, subresource
    fn check(method: &str, path: &str, want: [&str; 5]) {
        let info = info(method, &format!("/apis/g.example/v1/{path}"));
        assert!(info.is_resource_request, "{path}");
        assert_eq!((info.group.as_str(), info.version.as_str()), ("g.example", "v1"));
        let got =
            [info.verb.as_str(), &info.namespace, &info.resource, &info.name, &info.subresource];
        assert_eq!(got, want, "{method} {path}");
    }

    #[test]
    fn verbs_follow_from_method_name_and_watch() {
        check("GET", "namespaces/n/things", ["list", "n", "things", "", ""]);
        check("GET", "things?watch=1", ["watch", "", "things", "", ""]);
        check("GET", "things?watch=", ["watch", "", "things", "", ""]);
        check("GET", "things?watch=0", ["list", "", "things", "", ""]);
        check("GET", "namespaces/n/things/a?watch=1", ["get", "n", "things", "a", ""]);
        check("HEAD", "namespaces/n/things/a", ["get", "n", "things", "a", ""]);
        check("POST", "namespaces/n/things", ["create", "n", "things", "", ""]);
        check("PUT", "namespaces/n/things/a", ["update", "n", "things", "a", ""]);
        check("PATCH", "namespaces/n/things/a", ["patch", "n", "things", "a", ""]);
        check("DELETE", "namespaces/n/things/a", ["delete", "n", "things", "a", ""]);
        check("DELETE", "namespaces/n/things", ["deletecollection", "n", "things", "", ""]);
        check("OPTIONS", "namespaces/n/things", ["", "n", "things", "", ""]);
        check("FOO", "namespaces/n/things", ["", "n", "things", "", ""]);
    }

    #[test]
    fn subresources_and_namespaces_of_their_own_are_told_apart() {
        check("PUT", "namespaces/n/things/a/status", ["update", "n", "things", "a", "status"]);
        check("GET", "things/a/status", ["get", "", "things", "a", "status"]);
        check("GET", "namespaces", ["list", "", "namespaces", "", ""]);
        check("GET", "namespaces/n", ["get", "n", "namespaces", "n", ""]);
        check("PUT", "namespaces/n/finalize", ["update", "n", "namespaces", "n", "finalize"]);
        check("PUT", "namespaces/n/status", ["update", "n", "namespaces", "n", "status"]);
    }

    #[test]
    fn slashes_are_read_as_the_original_reads_them() {
        check("GET", "namespaces/n/things/", ["list", "n", "things", "", ""]);
        check("GET", "namespaces/n/things/a/", ["get", "n", "things", "a", ""]);
        check("GET", "namespaces//things", ["list", "", "things", "", ""]);
        check("GET", "namespaces/n//things", ["get", "n", "", "things", ""]);
        check("GET", "namespaces/n/things//status", ["list", "n", "things", "", "status"]);
        check("GET", "namespaces/n/things/a%2Fb", ["get", "n", "things", "a", "b"]);
        check("GET", "namespaces/n/things/%61", ["get", "n", "things", "a", ""]);
        check("GET", "namespaces/n/things/%C3%A9", ["get", "n", "things", "é", ""]);
        assert_eq!(info("GET", "/apis/g/v/namespaces/n/things/a/b/c").segments, 4);
    }

    #[test]
    fn a_verb_may_stand_in_the_path() {
        check("GET", "watch/namespaces/n/things", ["watch", "n", "things", "", ""]);
        check("GET", "watch/things/a", ["watch", "", "things", "a", ""]);
        check("GET", "proxy/namespaces/n/things/a/b", ["proxy", "n", "things", "a", ""]);
        assert!(info("GET", "/apis/g/v/watch/things").verb_in_path);
    }

    #[test]
    fn list_and_watch_of_one_name_carry_it() {
        let uri = "things?watch=1&fieldSelector=metadata.name%3Da";
        check("GET", uri, ["watch", "", "things", "a", ""]);
        check("GET", "things?fieldSelector=metadata.name==a", ["list", "", "things", "a", ""]);
        check("GET", "things?fieldSelector=metadata.name!=a", ["list", "", "things", "", ""]);
        check("GET", "things?fieldSelector=metadata.name=..", ["list", "", "things", "", ""]);
        let uri = "things?fieldSelector=x=y,metadata.name=a\\,b";
        check("GET", uri, ["list", "", "things", "a,b", ""]);
        let uri = "things?limit=z&watch=1&fieldSelector=metadata.name=a";
        check("GET", uri, ["watch", "", "things", "", ""]);
        let uri = "things?fieldSelector=metadata.name=a";
        check("DELETE", uri, ["deletecollection", "", "things", "", ""]);
    }

    #[test]
    fn shorter_paths_name_no_resource() {
        for path in ["/", "/apis", "/apis/g", "/apis/g/v", "/apis/g/v/", "/api/v1", "/healthz/a/b"]
        {
            let info = info("GET", path);
            assert!(!info.is_resource_request, "{path}");
            assert_eq!((info.verb, info.path.as_str()), (Verb::Get, path));
        }
        assert_eq!(info("POST", "/version").verb, Verb::Other("post".into()));
        let core = info("GET", "/api/v1/namespaces/n/pods");
        assert_eq!((core.group.as_str(), core.version.as_str()), ("", "v1"));
        assert_eq!(core.resource, "pods");
    }

    #[test]
    fn a_name_that_is_no_path_segment_is_refused() {
        let check = |name: &str, want: &str| {
            let info = info("GET", &format!("/apis/g/v/namespaces/n/things/{name}"));
            let error = info.required_name().unwrap_err();
            assert_eq!(error.message(), format!("Name parameter invalid: {want}"));
        };
        check(".", r#"".": may not be '.'"#);
        check("..", r#""..": may not be '..'"#);
        check("a%25b", r#""a%b": may not contain '%'"#);
        let nameless = info("GET", "/apis/g/v/namespaces/n/things//status");
        assert_eq!(nameless.required_name().unwrap_err().message(), "name must be provided");
    }

    proptest::proptest! {
        #[test]
        fn no_path_or_query_makes_the_reading_panic(
            path in "(/(apis?|watch|namespaces|[a-z.%]{0,3}))*/?",
            query in "([a-zA-Z=&%+;,.0-9]|fieldSelector=metadata.name=|watch|timeout=){0,12}",
        ) {
            if let Ok(uri) = format!("/{path}?{query}").parse() {
                let info = RequestInfo::new(&Method::GET, &uri);
                let _ = (info.required_name(), info.query.timeout());
            }
        }
    }
}
