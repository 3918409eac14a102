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
    assert_eq!((accepted.transform, accepted.pretty), (Transform::Table(MetaVersion::V1), false));
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
    assert_eq!(of("application/merge-patch+json; charset=utf-8"), (None, Some(PatchType::Merge)));
    for other in ["text/plain", "application/vnd.kubernetes.protobuf", "application/cbor"] {
        assert_eq!(of(other), (None, None));
    }
    let mut protobuf = HeaderMap::new();
    protobuf.insert(header::CONTENT_TYPE, "application/vnd.kubernetes.protobuf".parse().unwrap());
    assert_eq!(
        body_media(&protobuf).unwrap_err().message(),
        "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml"
    );
    assert!(patch_type(&HeaderMap::new()).is_err());
}
