//! In which form an answer is wanted (`Accept`, `pretty`), and in which form a body came
//! (`Content-Type`).
//!
//! Two encodings are served, JSON and YAML. A clause of `Accept` may also ask for another object: a
//! Table, metadata alone, or the aggregated discovery document. Clauses that ask for what an endpoint
//! does not have (protobuf, say) are skipped, as clients name several in order of preference.

use http::{HeaderMap, HeaderName, header};

use crate::status::{Details, Error, Reason};

/// An encoding that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `application/json`.
    Json,
    /// `application/yaml`.
    Yaml,
}

/// The version of meta/v1 that a transformed answer carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaVersion {
    /// `meta.k8s.io/v1`.
    V1,
    /// `meta.k8s.io/v1beta1`, for clients from before 2019.
    V1beta1,
}

/// Another object in place of the one that the endpoint stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// None: the object itself.
    None,
    /// Rows and columns, as kubectl prints them.
    Table(MetaVersion),
    /// The metadata of an object.
    PartialObjectMetadata(MetaVersion),
    /// The metadata of every object of a list.
    PartialObjectMetadataList(MetaVersion),
    /// All groups, versions and resources in one document (`apidiscovery.k8s.io/v2`).
    AggregatedDiscovery,
}

/// The form in which an answer is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The encoding.
    pub media: Media,
    /// The object.
    pub transform: Transform,
    /// Whether JSON is indented. YAML always is.
    pub pretty: bool,
}

/// What an endpoint can answer besides its own object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Nothing, such as discovery of one version.
    Plain,
    /// Metadata alone: an object that has no Table.
    Metadata,
    /// Metadata and Tables: an object of a stored resource.
    Object,
    /// As [`Offer::Object`], and a watch: a collection.
    Collection,
    /// The aggregated discovery document: the list of groups.
    Groups,
}

/// What a client said of the answer it wants. Borrowed from its headers and query.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish<'a> {
    accept: &'a str,
    user_agent: &'a str,
    pretty: &'a str,
}

/// An operation on an object, in the words of a PATCH request's `Content-Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
}

const MEDIA_TYPES: [&str; 2] = ["application/json", "application/yaml"];
const STREAM_MEDIA_TYPES: [&str; 1] = ["application/json;stream=watch"];
const PATCH_TYPES: [&str; 2] = ["application/json-patch+json", "application/merge-patch+json"];
const AGGREGATED_DISCOVERY: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The form of the answer to a request.
///
/// # Errors
/// 406 when no clause can be served.
pub fn negotiate(wish: Wish<'_>, offer: Offer) -> Result<Accepted, Error> {
    wish.check_route(offer)?;
    wish.choose(offer).ok_or_else(|| Error::not_acceptable(&MEDIA_TYPES))
}

/// The form of the events of a watch. They are JSON, one to a line, never indented.
///
/// # Errors
/// 406 when no clause can be served, or the preferred one is YAML.
pub fn negotiate_stream(wish: Wish<'_>) -> Result<Accepted, Error> {
    wish.check_route(Offer::Collection)?;
    match wish.choose(Offer::Collection) {
        Some(Accepted { media: Media::Json, transform, .. }) => {
            Ok(Accepted { media: Media::Json, transform, pretty: false })
        }
        _ => Err(Error::not_acceptable(&STREAM_MEDIA_TYPES)),
    }
}

/// The form of a failure's `Status`. It cannot fail: where nothing was accepted, a person is likely
/// to look at the answer, so it is indented JSON.
pub fn negotiate_status(wish: Wish<'_>) -> Accepted {
    let fallback = Accepted { media: Media::Json, transform: Transform::None, pretty: true };
    wish.choose(Offer::Plain).unwrap_or(fallback)
}

/// The encoding of a request's body; without `Content-Type` it is JSON.
///
/// # Errors
/// 415 for any other encoding.
pub fn body_media(headers: &HeaderMap) -> Result<Media, Error> {
    match essence(text(headers, header::CONTENT_TYPE)).as_str() {
        "" | "application/json" => Ok(Media::Json),
        "application/yaml" => Ok(Media::Yaml),
        _ => Err(Error::unsupported_media_type(&MEDIA_TYPES)),
    }
}

/// The kind of a patch. There is no default, as the bodies look alike.
///
/// # Errors
/// 415 for any other kind: the garbage collector and kubectl then try the next that they know.
pub fn patch_type(headers: &HeaderMap) -> Result<PatchType, Error> {
    match essence(text(headers, header::CONTENT_TYPE)).as_str() {
        "application/json-patch+json" => Ok(PatchType::Json),
        "application/merge-patch+json" => Ok(PatchType::Merge),
        _ => Err(Error::unsupported_media_type(&PATCH_TYPES)),
    }
}

impl Media {
    /// The media type without parameters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => MEDIA_TYPES[0],
            Self::Yaml => MEDIA_TYPES[1],
        }
    }
}

impl MetaVersion {
    /// The `apiVersion` of the answer.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

impl Accepted {
    /// The `Content-Type` of the answer.
    pub fn content_type(self) -> &'static str {
        match self.transform {
            // Aggregators believe only the full spelling.
            Transform::AggregatedDiscovery => AGGREGATED_DISCOVERY,
            _ => self.media.as_str(),
        }
    }

    /// Refuses metadata of a list where one object is answered. `what` names the object.
    ///
    /// # Errors
    /// 406 with upstream's sentence.
    pub fn for_object(self, what: &str) -> Result<Self, Error> {
        match self.transform {
            Transform::PartialObjectMetadataList(_) => Err(mismatch(format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list ({what})"
            ))),
            _ => Ok(self),
        }
    }

    /// Refuses metadata of one object where a list is answered. `what` names the list.
    ///
    /// # Errors
    /// 406 with upstream's sentence.
    pub fn for_list(self, what: &str) -> Result<Self, Error> {
        match self.transform {
            Transform::PartialObjectMetadata(_) => Err(mismatch(format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({what})"
            ))),
            _ => Ok(self),
        }
    }
}

fn mismatch(message: String) -> Error {
    Error::new(Reason::NotAcceptable, message)
}

// === impl Wish ===

impl<'a> Wish<'a> {
    /// Reads the headers. `pretty` is the query parameter of that name.
    pub fn new(headers: &'a HeaderMap, pretty: Option<&'a str>) -> Self {
        Self {
            accept: text(headers, header::ACCEPT),
            user_agent: text(headers, header::USER_AGENT),
            pretty: pretty.unwrap_or_default(),
        }
    }

    /// The router's check, which knows neither parameters nor half wildcards: `application/*` is
    /// refused here with a text of its own.
    fn check_route(self, offer: Offer) -> Result<(), Error> {
        let routed = |clause: &str| {
            let media = clause.split(';').next().unwrap_or_default().trim_matches(' ');
            media == "*/*" || MEDIA_TYPES.contains(&media)
        };
        if self.accept.is_empty() || self.accept.split(',').any(routed) {
            return Ok(());
        }
        let mut available = MEDIA_TYPES.join(", ");
        if offer == Offer::Collection {
            available = format!("{available}, {}", STREAM_MEDIA_TYPES.join(", "));
        }
        let message = format!("406: Not Acceptable\n\nAvailable representations: {available}");
        Err(Error::new(Reason::NotAcceptable, message).with_details(Details::default()))
    }

    fn choose(self, offer: Offer) -> Option<Accepted> {
        if self.accept.is_empty() {
            return Some(self.accepted(Media::Json, Transform::None, false));
        }
        let clauses = clauses(self.accept);
        let serve = |offer: Offer| {
            clauses.iter().find_map(|clause| {
                let media = [Media::Json, Media::Yaml]
                    .into_iter()
                    .find(|media| clause.matches(*media) && clause.may_stream(*media))?;
                let transform = clause.transform(media, offer)?;
                Some(self.accepted(media, transform, clause.parameter("pretty") == Some("1")))
            })
        };
        match offer {
            // Whoever knows the aggregated document wants it, wherever it stands in the list.
            Offer::Groups => serve(Offer::Groups).or_else(|| serve(Offer::Plain)),
            _ => serve(offer),
        }
    }

    fn accepted(self, media: Media, transform: Transform, pretty: bool) -> Accepted {
        let pretty = media == Media::Json
            && transform != Transform::AggregatedDiscovery
            && (pretty || self.is_for_people());
        Accepted { media, transform, pretty }
    }

    /// What `?pretty=` says; else whether a person's tool is asking.
    fn is_for_people(self) -> bool {
        match self.pretty {
            "" => {
                ["curl", "Wget", "Mozilla/5.0"].iter().any(|tool| self.user_agent.starts_with(tool))
            }
            value => matches!(value, "1" | "t" | "T" | "TRUE" | "true" | "True"),
        }
    }
}

// === Clauses of Accept ===

struct Clause<'a> {
    kind: &'a str,
    subtype: &'a str,
    quality: f32,
    parameters: Vec<(&'a str, &'a str)>,
}

/// The clauses in order of preference; of equal ones, first the more specific, then the earlier.
fn clauses(header: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = header.split(',').filter_map(Clause::parse).collect();
    clauses.sort_by(|a, b| {
        let wildcards = |clause: &Clause<'_>| (clause.kind == "*", clause.subtype == "*");
        b.quality.total_cmp(&a.quality).then_with(|| wildcards(a).cmp(&wildcards(b)))
    });
    clauses
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let blank = |text: &'a str| text.trim_matches(' ');
        let mut parts = blank(text).split(';');
        let media = parts.next()?;
        let (kind, subtype) = match media.split_once('/') {
            Some((kind, subtype)) if !subtype.contains('/') => (blank(kind), blank(subtype)),
            None if blank(media) == "*" => ("*", "*"),
            _ => return None,
        };
        let mut clause = Self { kind, subtype, quality: 1.0, parameters: Vec::new() };
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match blank(name) {
                "q" => clause.quality = blank(value).parse().unwrap_or(0.0),
                name => clause.parameters.push((name, blank(value))),
            }
        }
        Some(clause)
    }

    fn parameter(&self, name: &str) -> Option<&'a str> {
        // The last of several, as in Go's map.
        self.parameters.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn matches(&self, media: Media) -> bool {
        let Some((kind, subtype)) = media.as_str().split_once('/') else { return false };
        match (self.kind, self.subtype) {
            ("*", "*") => true,
            (mine, "*") => mine == kind,
            (mine, also_mine) => mine == kind && also_mine == subtype,
        }
    }

    /// `stream=watch` is known and, outside a watch, without effect; it exists in JSON only.
    fn may_stream(&self, media: Media) -> bool {
        match self.parameter("stream") {
            None | Some("") => true,
            Some(stream) => stream == "watch" && media == Media::Json,
        }
    }

    /// What the clause asks for; `None` when the endpoint does not offer it.
    fn transform(&self, media: Media, offer: Offer) -> Option<Transform> {
        let [kind, group, version] = ["as", "g", "v"].map(|name| self.parameter(name));
        if offer == Offer::Groups {
            let aggregated = media == Media::Json
                && group == Some("apidiscovery.k8s.io")
                && version == Some("v2")
                && kind == Some("APIGroupDiscoveryList");
            return aggregated.then_some(Transform::AggregatedDiscovery);
        }
        if (kind, group, version) == (None, None, None) {
            return Some(Transform::None);
        }
        let version = match (group?, version?) {
            ("meta.k8s.io", "v1") => MetaVersion::V1,
            ("meta.k8s.io", "v1beta1") => MetaVersion::V1beta1,
            _ => return None,
        };
        match (kind?, offer) {
            (_, Offer::Plain | Offer::Groups) => None,
            ("PartialObjectMetadata", _) => Some(Transform::PartialObjectMetadata(version)),
            ("PartialObjectMetadataList", _) => Some(Transform::PartialObjectMetadataList(version)),
            ("Table", Offer::Object | Offer::Collection) => Some(Transform::Table(version)),
            _ => None,
        }
    }
}

/// A header's first value; empty when it is absent or no ASCII.
fn text(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// A media type without its parameters, in lower case.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTIAL: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    const LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

    fn wish(accept: &str) -> Wish<'_> {
        Wish { accept, user_agent: "kubectl/v1", pretty: "" }
    }

    fn check(accept: &str, offer: Offer, media: Media, transform: Transform) {
        let accepted = negotiate(wish(accept), offer).unwrap_or_else(|e| panic!("{accept}: {e}"));
        assert_eq!((accepted.media, accepted.transform), (media, transform), "{accept}");
    }

    fn refusal(accept: &str, offer: Offer) -> String {
        let error = negotiate(wish(accept), offer).expect_err(accept);
        assert_eq!(error.reason(), Reason::NotAcceptable);
        error.message().to_owned()
    }

    #[test]
    fn the_preferred_encoding_is_served() {
        for (accept, media) in [
            ("", Media::Json),
            ("*/*", Media::Json),
            ("application/json", Media::Json),
            ("application/yaml", Media::Yaml),
            ("application/json;q=0.5,application/yaml;q=0.9", Media::Yaml),
            ("text/html,application/json", Media::Json),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Media::Json),
            ("application/vnd.kubernetes.protobuf,application/yaml", Media::Yaml),
            ("*/*,application/yaml", Media::Yaml),
            ("*/*,application/yaml;q=0.5", Media::Json),
            (" application/json ; charset=utf-8", Media::Json),
            ("application/json;foo=bar", Media::Json),
            ("application/json;stream=watch", Media::Json),
            ("application/yaml;stream=watch,*/*", Media::Json),
        ] {
            check(accept, Offer::Object, media, Transform::None);
        }
    }

    #[test]
    fn another_object_is_served_where_it_is_offered() {
        let table = Transform::Table(MetaVersion::V1);
        let partial = Transform::PartialObjectMetadata(MetaVersion::V1);
        check(TABLE, Offer::Object, Media::Json, table);
        check("application/yaml;as=Table;v=v1;g=meta.k8s.io", Offer::Object, Media::Yaml, table);
        check(&format!("{TABLE},application/json"), Offer::Metadata, Media::Json, Transform::None);
        check(PARTIAL, Offer::Metadata, Media::Json, partial);
        check(
            &format!(
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{PARTIAL},application/json"
            ),
            Offer::Object,
            Media::Json,
            partial,
        );
        check(
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1",
            Offer::Collection,
            Media::Json,
            Transform::PartialObjectMetadataList(MetaVersion::V1beta1),
        );
    }

    #[test]
    fn whoever_knows_aggregated_discovery_gets_it() {
        let v2beta1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
        let all = format!("{AGGREGATED_DISCOVERY},{v2beta1},application/json");
        let late = format!("application/json,{AGGREGATED_DISCOVERY};profile=nopeer");
        for accept in [AGGREGATED_DISCOVERY, &all, &late] {
            check(accept, Offer::Groups, Media::Json, Transform::AggregatedDiscovery);
        }
        let accepted = negotiate(wish(&all), Offer::Groups).unwrap();
        assert_eq!(accepted.content_type(), AGGREGATED_DISCOVERY);
        check("application/yaml", Offer::Groups, Media::Yaml, Transform::None);
        check(&all, Offer::Plain, Media::Json, Transform::None);
        refusal(v2beta1, Offer::Groups);
    }

    #[test]
    fn there_are_two_ways_to_be_refused() {
        let routing =
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml";
        for accept in ["text/html", "application/*", "text/yaml", "!!!", "*", "application/JSON"] {
            assert_eq!(refusal(accept, Offer::Object), routing, "{accept}");
        }
        assert_eq!(
            refusal("text/html", Offer::Collection),
            format!("{routing}, application/json;stream=watch")
        );
        for accept in [
            "application/json;as=PartialObjectMetadata",
            "application/json;as=Nope;g=meta.k8s.io;v=v1",
            "application/json;as=PartialObjectMetadata;g=apps;v=v1",
            "application/json;as=Table;v=v2;g=meta.k8s.io",
            "application/json;stream=other",
        ] {
            assert_eq!(
                refusal(accept, Offer::Object),
                "only the following media types are accepted: application/json, application/yaml",
                "{accept}"
            );
        }
        let error = negotiate(wish("text/html"), Offer::Object).unwrap_err();
        assert_eq!(error.details(), Some(&Details::default()));
        let error = negotiate(wish("application/json;as=x"), Offer::Object).unwrap_err();
        assert_eq!(error.details(), None);
        refusal(TABLE, Offer::Metadata);
    }

    #[test]
    fn metadata_must_have_the_shape_of_the_answer() {
        let of = |accept: &str| negotiate(wish(accept), Offer::Collection).unwrap();
        assert_eq!(
            of(PARTIAL).for_list("*x.KList").unwrap_err().message(),
            "you requested PartialObjectMetadata, but the requested object is a list (*x.KList)"
        );
        assert_eq!(
            of(LIST).for_object("*x.K").unwrap_err().message(),
            "you requested PartialObjectMetadataList, but the requested object is not a list (*x.K)"
        );
        assert!(of(PARTIAL).for_object("*x.K").is_ok() && of(TABLE).for_list("*x.KList").is_ok());
    }

    #[test]
    fn a_watch_is_json_and_never_indented() {
        let curl = Wish { accept: TABLE, user_agent: "curl/8", pretty: "true" };
        let accepted = negotiate_stream(curl).unwrap();
        assert_eq!(
            (accepted.transform, accepted.pretty),
            (Transform::Table(MetaVersion::V1), false)
        );
        assert_eq!(
            negotiate_stream(wish("application/yaml")).unwrap_err().message(),
            "only the following media types are accepted: application/json;stream=watch"
        );
    }

    #[test]
    fn people_get_indented_json() {
        let pretty = |accept, user_agent, pretty| {
            negotiate(Wish { accept, user_agent, pretty }, Offer::Object).unwrap().pretty
        };
        for tool in ["curl/8.0", "Wget/1.0", "Mozilla/5.0"] {
            assert!(pretty("application/json", tool, ""));
            assert!(!pretty("application/json", tool, "false"));
            assert!(!pretty("application/yaml", tool, "true"));
        }
        assert!(pretty("application/json", "", "true"));
        assert!(!pretty("application/json", "", "0"));
        assert!(pretty("application/json;pretty=1", "", "0"));
        assert!(!pretty("", "kubectl/v1.36", ""));
    }

    #[test]
    fn a_failure_is_always_told() {
        let status = |accept| {
            let accepted = negotiate_status(wish(accept));
            (accepted.media, accepted.pretty)
        };
        assert_eq!(status("application/yaml"), (Media::Yaml, false));
        assert_eq!(status("application/*"), (Media::Json, false));
        assert_eq!(status("text/html"), (Media::Json, true));
        assert_eq!(status(PARTIAL), (Media::Json, true));
    }

    #[test]
    fn bodies_are_json_unless_they_say_yaml() {
        let of = |content_type: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, content_type.parse().unwrap());
            (body_media(&headers).ok(), patch_type(&headers).ok())
        };
        assert_eq!(body_media(&HeaderMap::new()).unwrap(), Media::Json);
        assert_eq!(of("application/json; charset=utf-8"), (Some(Media::Json), None));
        assert_eq!(of("Application/YAML"), (Some(Media::Yaml), None));
        assert_eq!(of("application/json-patch+json"), (None, Some(PatchType::Json)));
        assert_eq!(
            of("application/merge-patch+json; charset=utf-8"),
            (None, Some(PatchType::Merge))
        );
        for other in ["text/plain", "application/vnd.kubernetes.protobuf", "application/cbor"] {
            assert_eq!(of(other), (None, None));
        }
        let mut protobuf = HeaderMap::new();
        protobuf
            .insert(header::CONTENT_TYPE, "application/vnd.kubernetes.protobuf".parse().unwrap());
        assert_eq!(
            body_media(&protobuf).unwrap_err().message(),
            "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml"
        );
        assert!(patch_type(&HeaderMap::new()).is_err());
    }
}
