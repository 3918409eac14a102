//! In which form an answer is wanted (`Accept`, `pretty`), and in which form a body came
//! (`Content-Type`).
//!
//! Two encodings are served, JSON and YAML. A clause of `Accept` may also ask for another object: a
//! Table, metadata alone, or the aggregated discovery document. Clauses that ask for what an endpoint
//! does not have (protobuf, say) are skipped, as clients name several in order of preference.

mod clause;

use std::fmt::Display;

use http::{HeaderMap, HeaderName, header};

use self::clause::clauses;
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
    pub fn for_object(self, what: impl Display) -> Result<Self, Error> {
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
    pub fn for_list(self, what: impl Display) -> Result<Self, Error> {
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

/// A header's first value; empty when it is absent or no ASCII.
fn text(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// A media type without its parameters, in lower case.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
