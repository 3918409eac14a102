//! The clauses of an `Accept` header, as goautoneg reads them.

use super::{Media, MetaVersion, Offer, Transform};

/// One form of the answer that the client would take.
pub(super) struct Clause<'a> {
    kind: &'a str,
    subtype: &'a str,
    quality: f32,
    parameters: Vec<(&'a str, &'a str)>,
}

/// The clauses in order of preference; of equal ones, first the more specific, then the earlier.
pub(super) fn clauses(header: &str) -> Vec<Clause<'_>> {
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

    pub(super) fn parameter(&self, name: &str) -> Option<&'a str> {
        // The last of several, as in Go's map.
        self.parameters.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    pub(super) fn matches(&self, media: Media) -> bool {
        let Some((kind, subtype)) = media.as_str().split_once('/') else { return false };
        match (self.kind, self.subtype) {
            ("*", "*") => true,
            (mine, "*") => mine == kind,
            (mine, also_mine) => mine == kind && also_mine == subtype,
        }
    }

    /// `stream=watch` is known and, outside a watch, without effect; it exists in JSON only.
    pub(super) fn may_stream(&self, media: Media) -> bool {
        match self.parameter("stream") {
            None | Some("") => true,
            Some(stream) => stream == "watch" && media == Media::Json,
        }
    }

    /// What the clause asks for; `None` when the endpoint does not offer it.
    pub(super) fn transform(&self, media: Media, offer: Offer) -> Option<Transform> {
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
