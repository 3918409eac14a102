//! The APIServices that send a group's requests to us: what they say, and whose they are.
//!
//! One that leads to another service is left alone, for it is somebody's API: a cluster may serve
//! `template.openshift.io` already, and taking its APIService would take that API away. Whoever
//! wants ours instead deletes the other one, and ours is published in its place.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::{
    APIService, APIServiceSpec, ServiceReference,
};

use super::{GroupVersion, MANAGED_BY, MANAGER, Service};

/// Which service of which namespace an APIService of ours leads to. It tells installations apart,
/// and stays when somebody edits the reference itself.
const SERVICE: &str = "formwork.dev/service";
/// When a server came back to an APIService that had been given up.
const RETURNED: &str = "formwork.dev/returned";
/// Makes cert-manager write `caBundle`.
const INJECT_CA_FROM: &str = "cert-manager.io/inject-ca-from";

/// Where the last of our groups stands among the groups of the cluster: behind the built-in ones,
/// where clients are free to choose. Groups of one priority are ordered by their names, so that
/// each of ours has its own.
const GROUP_PRIORITY_MINIMUM: i32 = 1000;
/// Where a version stands within its group.
const VERSION_PRIORITY: i32 = 15;

/// Who says which authority the aggregator trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// We do: these certificates in PEM.
    Bundle(String),
    /// cert-manager does, from its Certificate `NAMESPACE/NAME`.
    CertManager(String),
    /// Somebody else does.
    Elsewhere,
}

/// What is to be said of an APIService that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// There is none.
    Absent,
    /// It is as it should be.
    Same,
    /// It is ours, and something about it is not as it should be.
    Drifted,
    /// It leads somewhere else.
    Foreign(String),
}

/// The APIService as it should be: the fields that we own, and no others.
pub(super) fn wanted(
    served: &GroupVersion,
    service: &Service,
    trust: &Trust,
    owner: Option<&OwnerReference>,
) -> APIService {
    let mut annotations = BTreeMap::from([(SERVICE.to_owned(), service.to_string())]);
    if let Trust::CertManager(certificate) = trust {
        annotations.insert(INJECT_CA_FROM.to_owned(), certificate.clone());
    }
    let ca_bundle = match trust {
        Trust::Bundle(bundle) => Some(ByteString(bundle.clone().into_bytes())),
        Trust::CertManager(_) | Trust::Elsewhere => None,
    };
    APIService {
        metadata: ObjectMeta {
            name: Some(served.name()),
            labels: Some([(MANAGED_BY.to_owned(), MANAGER.to_owned())].into()),
            annotations: Some(annotations),
            owner_references: owner.map(|owner| vec![owner.clone()]),
            ..ObjectMeta::default()
        },
        spec: Some(APIServiceSpec {
            ca_bundle,
            group: Some(served.group.to_owned()),
            group_priority_minimum: GROUP_PRIORITY_MINIMUM + i32::from(served.precedes),
            // Said, or it could not be taken back from somebody who set it: a bundle beside it is
            // refused.
            insecure_skip_tls_verify: Some(false),
            service: Some(ServiceReference {
                name: Some(service.name.clone()),
                namespace: Some(service.namespace.clone()),
                port: Some(i32::from(service.port)),
            }),
            version: Some(served.version.to_owned()),
            version_priority: VERSION_PRIORITY,
        }),
        status: None,
    }
}

/// The owner that an APIService has from us: the ClusterRole that is called as the Service.
pub(super) fn owner_of<'a>(found: &'a APIService, service: &Service) -> Option<&'a OwnerReference> {
    let mut owners = found.metadata.owner_references.iter().flatten();
    owners.find(|owner| owner.kind == "ClusterRole" && owner.name == service.name)
}

/// Compares what was found with what is wanted.
pub(super) fn judge(found: Option<&APIService>, wanted: &APIService, service: &Service) -> Verdict {
    let Some(found) = found else { return Verdict::Absent };
    if !is_ours(found, service) {
        return Verdict::Foreign(destination(found));
    }
    if is_as_wanted(found, wanted) { Verdict::Same } else { Verdict::Drifted }
}

/// Whether it leads to `service`, or did when it was published.
pub(super) fn is_ours(found: &APIService, service: &Service) -> bool {
    let reference = found.spec.as_ref().and_then(|spec| spec.service.as_ref());
    let leads_here = reference.is_some_and(|reference| {
        reference.name.as_ref() == Some(&service.name)
            && reference.namespace.as_ref() == Some(&service.namespace)
    });
    let annotations = found.metadata.annotations.as_ref();
    let published = annotations.and_then(|annotations| annotations.get(SERVICE));
    leads_here || published.is_some_and(|published| *published == service.to_string())
}

/// Whether the aggregator has found that nobody answers.
pub(super) fn is_unavailable(found: &APIService) -> bool {
    let conditions = found.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|known| known.type_ == "Available" && known.status == "False")
}

/// Changes `wanted` in what nobody reads, so that the aggregator looks at it again now. It would by
/// itself, but within half a minute, and no namespace of the cluster can be deleted until then.
pub(super) fn call_attention(wanted: &mut APIService, now: Timestamp) {
    let annotations = wanted.metadata.annotations.get_or_insert_default();
    annotations.insert(RETURNED.to_owned(), now.to_string());
}

/// Whether the aggregator trusts every certificate of `bundle` when it follows `found`.
pub(super) fn carries(found: &APIService, bundle: &str) -> bool {
    const END: &str = "-----END CERTIFICATE-----";
    let carried = found.spec.as_ref().and_then(|spec| spec.ca_bundle.as_ref());
    let carried = carried.map(|ByteString(bytes)| String::from_utf8_lossy(bytes));
    carried.is_some_and(|carried| {
        let mut certificates = bundle.split_inclusive(END).map(str::trim);
        certificates.all(|certificate| carried.contains(certificate))
    })
}

fn destination(found: &APIService) -> String {
    match found.spec.as_ref().and_then(|spec| spec.service.as_ref()) {
        Some(ServiceReference { name, namespace, .. }) => {
            let [namespace, name] = [namespace, name].map(|part| part.as_deref().unwrap_or("?"));
            format!("service {namespace}/{name}")
        }
        None => "kube-apiserver itself, as those of custom resources do".to_owned(),
    }
}

fn is_as_wanted(found: &APIService, wanted: &APIService) -> bool {
    let mut spec = found.spec.clone().unwrap_or_default();
    let wanted_spec = wanted.spec.clone().unwrap_or_default();
    // `false` is not stored, and a bundle of somebody else's is not compared.
    spec.insecure_skip_tls_verify.get_or_insert(false);
    if wanted_spec.ca_bundle.is_none() {
        spec.ca_bundle = None;
    }
    let holds = |found: &Option<BTreeMap<String, String>>, wanted: &Option<BTreeMap<_, _>>| {
        let wanted = wanted.iter().flatten();
        let found = found.as_ref();
        wanted.into_iter().all(|(key, value)| found.is_some_and(|map| map.get(key) == Some(value)))
    };
    let owners = found.metadata.owner_references.as_deref().unwrap_or_default();
    let wanted_owners = wanted.metadata.owner_references.as_deref().unwrap_or_default();
    spec == wanted_spec
        && holds(&found.metadata.labels, &wanted.metadata.labels)
        && holds(&found.metadata.annotations, &wanted.metadata.annotations)
        && wanted_owners.iter().all(|wanted| owners.iter().any(|owner| owner.uid == wanted.uid))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVED: GroupVersion =
        GroupVersion { group: "template.openshift.io", version: "v1", precedes: 1 };

    fn service() -> Service {
        Service { namespace: "formwork-system".into(), name: "formwork".into(), port: 443 }
    }

    fn bundle() -> Trust {
        Trust::Bundle("one".into())
    }

    fn ours(trust: &Trust) -> APIService {
        wanted(&SERVED, &service(), trust, None)
    }

    #[track_caller]
    fn check(trust: &Trust, change: fn(&mut APIService), want: &Verdict) {
        let mut found = ours(trust);
        change(&mut found);
        assert_eq!(judge(Some(&found), &ours(trust), &service()), *want);
    }

    fn spec(found: &mut APIService) -> &mut APIServiceSpec {
        found.spec.as_mut().unwrap()
    }

    #[test]
    fn what_somebody_edits_is_drift_and_what_others_add_is_not() {
        check(&bundle(), |_| (), &Verdict::Same);
        check(&bundle(), |found| spec(found).insecure_skip_tls_verify = None, &Verdict::Same);
        check(&bundle(), |found| spec(found).ca_bundle = None, &Verdict::Drifted);
        check(&bundle(), |found| spec(found).version_priority = 1, &Verdict::Drifted);
        let insecure = |found: &mut APIService| spec(found).insecure_skip_tls_verify = Some(true);
        check(&bundle(), insecure, &Verdict::Drifted);
        check(&bundle(), |found| found.metadata.labels = None, &Verdict::Drifted);
        let label = |found: &mut APIService| {
            found.metadata.labels.as_mut().unwrap().insert("a".into(), "b".into());
        };
        check(&bundle(), label, &Verdict::Same);
        assert_eq!(judge(None, &ours(&bundle()), &service()), Verdict::Absent);
    }

    #[test]
    fn an_api_service_that_led_here_is_led_back_and_another_left_alone() {
        fn lead_away(found: &mut APIService) {
            spec(found).service.as_mut().unwrap().namespace = Some("elsewhere".into());
        }
        check(&bundle(), lead_away, &Verdict::Drifted);
        let foreign = |found: &mut APIService| {
            lead_away(found);
            found.metadata.annotations = None;
        };
        check(&bundle(), foreign, &Verdict::Foreign("service elsewhere/formwork".into()));
        // Another installation of ours says of itself that it is.
        let other = Service { namespace: "elsewhere".into(), ..service() };
        let theirs = wanted(&SERVED, &other, &bundle(), None);
        let verdict = judge(Some(&theirs), &ours(&bundle()), &service());
        assert_eq!(verdict, Verdict::Foreign("service elsewhere/formwork".into()));
        let local = |found: &mut APIService| {
            spec(found).service = None;
            found.metadata.annotations = None;
        };
        let itself = "kube-apiserver itself, as those of custom resources do";
        check(&bundle(), local, &Verdict::Foreign(itself.into()));
    }

    #[test]
    fn a_bundle_of_cert_manager_is_not_compared_and_its_annotation_is() {
        let trust = Trust::CertManager("ns/name".into());
        let injected = |found: &mut APIService| {
            spec(found).ca_bundle = Some(ByteString(b"theirs".to_vec()));
        };
        check(&trust, injected, &Verdict::Same);
        check(&Trust::Elsewhere, injected, &Verdict::Same);
        let bare = ours(&Trust::Elsewhere);
        assert_eq!(judge(Some(&bare), &ours(&trust), &service()), Verdict::Drifted);
        assert_eq!(ours(&trust).spec.unwrap().ca_bundle, None);
    }

    #[test]
    fn an_owner_is_looked_for_by_its_uid() {
        let owner = |uid: &str| OwnerReference { uid: uid.into(), ..OwnerReference::default() };
        let wanted = |uid| wanted(&SERVED, &service(), &bundle(), Some(&owner(uid)));
        assert_eq!(judge(Some(&wanted("a")), &wanted("a"), &service()), Verdict::Same);
        assert_eq!(judge(Some(&wanted("a")), &wanted("b"), &service()), Verdict::Drifted);
        assert_eq!(judge(Some(&wanted("a")), &ours(&bundle()), &service()), Verdict::Same);
    }

    #[test]
    fn the_owner_that_we_gave_is_told_from_those_of_others() {
        let owner = |kind: &str, name: &str| OwnerReference {
            kind: kind.into(),
            name: name.into(),
            ..OwnerReference::default()
        };
        let mut found = ours(&bundle());
        assert_eq!(owner_of(&found, &service()), None);
        let given = owner("ClusterRole", "formwork");
        let others = [owner("ConfigMap", "formwork"), owner("ClusterRole", "another")];
        found.metadata.owner_references =
            Some([&others[..], std::slice::from_ref(&given)].concat());
        assert_eq!(owner_of(&found, &service()), Some(&given));
    }

    #[test]
    fn a_bundle_is_carried_when_every_certificate_of_it_is() {
        let pem = |name: &str| {
            format!("-----BEGIN CERTIFICATE-----\n{name}\n-----END CERTIFICATE-----\n")
        };
        let both = pem("a") + &pem("b");
        let found = ours(&Trust::Bundle(pem("b") + &pem("a")));
        assert!(carries(&found, &both) && carries(&found, &pem("a")));
        assert!(!carries(&ours(&Trust::Bundle(pem("a"))), &both));
        assert!(!carries(&ours(&Trust::Elsewhere), &both));
    }
}
