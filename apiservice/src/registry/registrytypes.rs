//! `registries/NAME/types`: what a Registry has, or where one template of it is.
//!
//! The Registry is asked now, and as whoever wants to know: what it refers to is read as that user.

use apiserver::object::Object;
use apiserver::request::Query;
use apiserver::resource::{Action, Context, Get, Parameter, Subresource};
use apiserver::status::{Error, Reason, Subject};
use expander::Offered;
use futures::future::BoxFuture;
use processor::pattern::{self, Regex};
use serde::Serialize;

use super::registries::spec::Spec;
use super::{deployments, kinds};
use crate::engine::Engine;
use crate::sources::{Sources, Unread};

struct Types {
    engine: Engine,
    sources: Option<Sources>,
}

/// The subresource. `engine` asks, for those who may use what `sources` has.
pub(super) fn subresource(engine: &Engine, sources: Option<&Sources>) -> Subresource {
    let types = Types { engine: engine.clone(), sources: sources.cloned() };
    Subresource {
        name: "types",
        definition: kinds::registry_types(),
        action: Action::Get(Box::new(types)),
    }
}

const PARAMETERS: [Parameter; 2] = [
    Parameter::text(
        "regex",
        "A regular expression: types are told if it is found in '[COLLECTION/]NAME[:VERSION]'.",
    ),
    Parameter::text(
        "type",
        "A type as '[COLLECTION/]NAME[:VERSION]': it alone is told, with the URLs of its files and its schema.",
    ),
];

/// What is wanted.
#[derive(Debug)]
enum Asked<'a> {
    All,
    Matching(Regex),
    One(&'a str),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    kind: &'static str,
    api_version: String,
    metadata: Metadata<'a>,
    items: Vec<Item>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    name: &'a str,
    namespace: &'a str,
}

/// A template in one version.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Item {
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    collection: Option<String>,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    urls: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<String>,
}

impl Get for Types {
    fn parameters(&self) -> &'static [Parameter] {
        &PARAMETERS
    }

    fn get<'a>(
        &'a self,
        cx: &'a Context<'a>,
        parent: Object,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let asked = Asked::read(query)?;
            let spec = Spec::of(&parent).map_err(Error::internal)?;
            let items = self.items(cx, &spec, &asked).await?;
            let definition = kinds::registry_types();
            let answer = Answer {
                kind: definition.kind,
                api_version: definition.api_version(),
                metadata: Metadata { name: cx.name, namespace: cx.namespace },
                items,
            };
            serde_json::to_string(&answer).map_err(Error::internal)
        })
    }
}

impl Types {
    async fn items(
        &self,
        cx: &Context<'_>,
        spec: &Spec,
        asked: &Asked<'_>,
    ) -> Result<Vec<Item>, Error> {
        let nobody = || Error::unavailable("no registries");
        let sources = self.sources.as_ref().ok_or_else(nobody)?;
        let requester = deployments::requester(cx.user);
        let known = sources.one(spec.clone(), cx.namespace, &requester);
        let registry = known.ready(spec).await.map_err(|why| refused(why, cx.name))?;
        if let Asked::One(rest) = *asked {
            let (urls, schema) = self.engine.located(&registry, rest, &known).await?;
            return Ok(vec![Item { urls, schema, ..Item::named(spec.prefix(), rest) }]);
        }
        let offered = self.engine.offered(&registry).await?;
        let wanted = |it: &&Offered| asked.matches(&it.to_string());
        let item = |it: &Offered| Item::named(spec.prefix(), &it.to_string());
        Ok(offered.iter().filter(wanted).map(item).collect())
    }
}

impl<'a> Asked<'a> {
    /// # Errors
    /// 400 for a pattern that is none, and for both at once.
    fn read(query: &'a Query) -> Result<Self, Error> {
        match (query.get("regex"), query.get("type")) {
            (None | Some(""), None) => Ok(Self::All),
            (Some(regex), None) => pattern::compile(regex)
                .map(Self::Matching)
                .map_err(|why| Error::bad_request(format!("regex: {regex:?} {why}"))),
            (None, Some(rest)) => Ok(Self::One(rest)),
            (Some(_), Some(_)) => Err(Error::bad_request("regex and type exclude each other")),
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Matching(regex) => regex.is_match(text),
            Self::All | Self::One(_) => true,
        }
    }
}

impl Item {
    /// `rest` is `[COLLECTION/]NAME[:VERSION]`.
    fn named(prefix: &str, rest: &str) -> Self {
        let (path, version) = rest.split_once(':').map_or((rest, None), |(a, b)| (a, Some(b)));
        let (collection, name) = path.rsplit_once('/').map_or((None, path), |(a, b)| (Some(a), b));
        Self {
            r#type: format!("{prefix}/{rest}"),
            collection: collection.map(str::to_owned),
            name: name.to_owned(),
            version: version.map(str::to_owned),
            ..Self::default()
        }
    }
}

/// Who may not read what a Registry refers to may not use it; without it nobody can.
fn refused(why: Unread, name: &str) -> Error {
    let subject = Subject { group: kinds::DEPLOYMENT_MANAGER.0, kind: "registries" };
    match why {
        Unread::Forbidden(why) => Error::forbidden(subject, name, &why),
        Unread::Unusable(why) => Error::new(Reason::ServiceUnavailable, why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_found_anywhere_and_one_that_is_none_is_refused() {
        let matches = |query: &str, text: &str| {
            Asked::read(&Query::parse(query)).map(|asked| asked.matches(text))
        };
        for (query, want) in
            [("", true), ("regex=", true), ("regex=dis:v1", true), ("regex=^redis", false)]
        {
            assert_eq!(matches(query, "storage/redis:v1.0.2"), Ok(want), "{query}");
        }
        for (query, why) in [
            ("regex=((", "regex: \"((\" is not a regular expression: unclosed group"),
            ("regex=a&type=b", "regex and type exclude each other"),
        ] {
            let error = matches(query, "").unwrap_err();
            assert_eq!((error.reason(), error.message()), (Reason::BadRequest, why));
        }
    }

    #[test]
    fn a_type_is_the_prefix_and_its_name_in_the_registry() {
        let item = Item::named("h.example/lib", "c/t:v1");
        assert_eq!(
            serde_json::to_string(&item).unwrap(),
            r#"{"type":"h.example/lib/c/t:v1","collection":"c","name":"t","version":"v1"}"#
        );
        let plain = Item::named("h.example/lib", "t");
        assert_eq!((plain.collection, plain.version), (None, None));
    }
}
