//! Applies the [`rules`](super::rules) to an object.

use serde_json::{Map, Value};

use super::rules::{ANNOTATIONS, ANY, ELEMENTS, FIELDS, LABELS, METADATA, Of, SKIPPED};

/// Why `object` is left out, if it is. It must have its `kind`.
pub(super) fn reason_to_skip(group: &str, object: &Value) -> Option<&'static str> {
    let skip = SKIPPED.iter().find(|skip| is_of(skip.of, group, object) && (skip.when)(object));
    skip.map(|skip| skip.why)
}

/// Takes everything out of `object` that its user did not write.
pub(super) fn clean(group: &str, object: &mut Value) {
    // All rules look at the object as it was, so that their order does not matter.
    let original = object.clone();
    for fields in FIELDS.iter().filter(|fields| is_of(fields.of, group, &original)) {
        if (fields.when)(&original) {
            fields.paths.iter().for_each(|path| remove(object, path));
        }
    }
    for element in ELEMENTS.iter().filter(|element| is_of(element.of, group, &original)) {
        remove_elements(object, element.path, &|one| (element.when)(&original, one));
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|key, _| METADATA.contains(&key.as_str()));
        drop_keys(metadata, "annotations", &ANNOTATIONS);
        drop_keys(metadata, "labels", &LABELS);
    }
}

fn is_of((group, kind): Of, of_group: &str, object: &Value) -> bool {
    (group, kind) == ANY || group == of_group && object["kind"] == kind
}

fn drop_keys(metadata: &mut Map<String, Value>, field: &str, keys: &[&str]) {
    let Some(map) = metadata.get_mut(field).and_then(Value::as_object_mut) else {
        return;
    };
    map.retain(|key, _| !keys.contains(&key.as_str()));
    if map.is_empty() {
        metadata.remove(field);
    }
}

fn remove(value: &mut Value, path: &[&str]) {
    match (path, value) {
        (["*", rest @ ..], Value::Array(items)) => {
            items.iter_mut().for_each(|item| remove(item, rest));
        }
        ([last], Value::Object(fields)) => {
            fields.remove(*last);
        }
        ([first, rest @ ..], Value::Object(fields)) => {
            if let Some(value) = fields.get_mut(*first) {
                remove(value, rest);
            }
        }
        _ => {}
    }
}

fn remove_elements(value: &mut Value, path: &[&str], is_removed: &dyn Fn(&Value) -> bool) {
    match (path, value) {
        (["*", rest @ ..], Value::Array(items)) => {
            items.iter_mut().for_each(|item| remove_elements(item, rest, is_removed));
        }
        ([last], Value::Object(fields)) => {
            let Some(items) = fields.get_mut(*last).and_then(Value::as_array_mut) else {
                return;
            };
            items.retain(|item| !is_removed(item));
            if items.is_empty() {
                fields.remove(*last);
            }
        }
        ([first, rest @ ..], Value::Object(fields)) => {
            if let Some(value) = fields.get_mut(*first) {
                remove_elements(value, rest, is_removed);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(group: &str, mut object: Value, expected: &Value) {
        assert_eq!(reason_to_skip(group, &object), None);
        clean(group, &mut object);
        assert_eq!(object, *expected);
    }

    fn check_skipped(group: &str, object: &Value) {
        assert!(reason_to_skip(group, object).is_some(), "{object}");
    }

    #[test]
    fn only_the_users_metadata_stays() {
        check(
            "apps",
            json!({"kind": "Deployment", "status": {"replicas": 1}, "metadata": {
                "name": "a", "namespace": "n", "uid": "u", "resourceVersion": "1", "generation": 2, "selfLink": "/",
                "creationTimestamp": "now", "managedFields": [], "finalizers": ["f"], "generateName": "a-",
                "ownerReferences": [{"kind": "App"}], "labels": {"app": "a"},
                "annotations": {"deployment.kubernetes.io/revision": "3", "note": "x"}},
                "spec": {"template": {"metadata": {"creationTimestamp": null, "labels": {"app": "a"}}}}}),
            &json!({"kind": "Deployment", "metadata": {"name": "a", "labels": {"app": "a"}, "annotations": {"note": "x"}},
                "spec": {"template": {"metadata": {"labels": {"app": "a"}}}}}),
        );
    }

    #[test]
    fn a_map_that_becomes_empty_goes() {
        check(
            "",
            json!({"kind": "ConfigMap", "metadata": {"name": "a",
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}}}),
            &json!({"kind": "ConfigMap", "metadata": {"name": "a"}}),
        );
    }

    #[test]
    fn a_service_loses_its_addresses() {
        let service =
            |spec: Value| json!({"kind": "Service", "metadata": {"name": "s"}, "spec": spec});
        check(
            "",
            service(
                json!({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ipFamilies": ["IPv4"],
                "ipFamilyPolicy": "SingleStack", "type": "LoadBalancer", "healthCheckNodePort": 3,
                "ports": [{"port": 80, "nodePort": 30000}]}),
            ),
            &service(json!({"type": "LoadBalancer", "ports": [{"port": 80}]})),
        );
        check(
            "",
            service(
                json!({"clusterIP": "None", "clusterIPs": ["None"], "ipFamilyPolicy": "PreferDualStack"}),
            ),
            &service(json!({"clusterIP": "None", "ipFamilyPolicy": "PreferDualStack"})),
        );
        check(
            "",
            service(json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30000}]})),
            &service(json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30000}]})),
        );
    }

    #[test]
    fn rules_of_a_kind_are_rules_of_its_group_only() {
        let object =
            json!({"kind": "Service", "metadata": {"name": "s"}, "spec": {"clusterIP": "x"}});
        check("serving.knative.dev", object.clone(), &object);
    }

    #[test]
    fn a_job_loses_the_selector_that_the_server_made() {
        let job = |manual: Value| {
            json!({"kind": "Job", "metadata": {"name": "j", "labels": {"job-name": "j", "app": "a"}},
                "spec": {"manualSelector": manual, "selector": {"matchLabels": {"controller-uid": "u"}},
                    "template": {"metadata": {"labels": {"controller-uid": "u", "batch.kubernetes.io/job-name": "j"}}}}})
        };
        check(
            "batch",
            job(json!(false)),
            &json!({"kind": "Job", "metadata": {"name": "j", "labels": {"app": "a"}},
                "spec": {"manualSelector": false, "template": {"metadata": {"labels": {}}}}}),
        );
        check("batch", job(json!(true)), &job(json!(true)));
    }

    #[test]
    fn a_pod_loses_what_admission_and_the_scheduler_gave_it() {
        check(
            "",
            json!({"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "n", "serviceAccount": "s",
                "serviceAccountName": "s", "priority": 0, "preemptionPolicy": "PreemptLowerPriority",
                "volumes": [{"name": "kube-api-access-x"}, {"name": "data"}],
                "containers": [{"name": "c", "volumeMounts": [{"name": "kube-api-access-x"}]}],
                "tolerations": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute", "tolerationSeconds": 300},
                    {"key": "mine"}]}}),
            &json!({"kind": "Pod", "metadata": {"name": "p"}, "spec": {"serviceAccountName": "s",
                "volumes": [{"name": "data"}], "containers": [{"name": "c"}], "tolerations": [{"key": "mine"}]}}),
        );
    }

    #[test]
    fn a_claim_loses_the_volume_that_a_controller_chose() {
        check(
            "",
            json!({"kind": "PersistentVolumeClaim", "metadata": {"name": "c",
                "annotations": {"pv.kubernetes.io/bound-by-controller": "yes", "pv.kubernetes.io/bind-completed": "yes"}},
                "spec": {"volumeName": "pvc-1"}}),
            &json!({"kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": {}}),
        );
        let chosen = json!({"kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": {"volumeName": "mine"}});
        check("", chosen.clone(), &chosen);
    }

    #[test]
    fn a_service_account_loses_its_generated_secrets() {
        check(
            "",
            json!({"kind": "ServiceAccount", "metadata": {"name": "a"}, "secrets": [{"name": "a-token-x"}, {"name": "mine"}],
                "imagePullSecrets": [{"name": "a-dockercfg-x"}]}),
            &json!({"kind": "ServiceAccount", "metadata": {"name": "a"}, "secrets": [{"name": "mine"}]}),
        );
    }

    #[test]
    fn openshift_kinds_lose_what_their_controllers_wrote() {
        check(
            "route.openshift.io",
            json!({"kind": "Route", "metadata": {"name": "r", "annotations": {"openshift.io/host.generated": "true"}},
                "spec": {"host": "r-n.apps", "to": {}}, "status": {}}),
            &json!({"kind": "Route", "metadata": {"name": "r"}, "spec": {"to": {}}}),
        );
        check(
            "apps.openshift.io",
            json!({"kind": "DeploymentConfig", "metadata": {"name": "d"},
                "spec": {"triggers": [{"imageChangeParams": {"lastTriggeredImage": "x", "automatic": true}}]}}),
            &json!({"kind": "DeploymentConfig", "metadata": {"name": "d"},
                "spec": {"triggers": [{"imageChangeParams": {"automatic": true}}]}}),
        );
    }

    #[test]
    fn what_is_made_anyway_is_left_out() {
        check_skipped(
            "apps",
            &json!({"kind": "ReplicaSet", "metadata": {"ownerReferences": [{"controller": true}]}}),
        );
        check_skipped("", &json!({"kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"}}));
        check_skipped("", &json!({"kind": "ServiceAccount", "metadata": {"name": "default"}}));
        check_skipped(
            "",
            &json!({"kind": "Secret", "type": "kubernetes.io/service-account-token"}),
        );
        check_skipped(
            "",
            &json!({"kind": "Secret", "type": "kubernetes.io/dockercfg",
                "metadata": {"annotations": {"kubernetes.io/service-account.name": "builder"}}}),
        );
        check_skipped("", &json!({"kind": "Secret", "type": "helm.sh/release.v1"}));
        check_skipped("", &json!({"kind": "Pod", "metadata": {"deletionTimestamp": "now"}}));
        check_skipped(
            "",
            &json!({"kind": "Endpoints", "metadata": {"labels": {"endpoints.kubernetes.io/managed-by": "x"}}}),
        );
    }

    #[test]
    fn what_only_resembles_it_stays() {
        let own = json!({"kind": "Secret", "type": "kubernetes.io/dockercfg", "metadata": {"name": "pull"}});
        check("", own.clone(), &own);
        assert_eq!(
            reason_to_skip(
                "apps",
                &json!({"metadata": {"ownerReferences": [{"controller": false}]}})
            ),
            None
        );
    }
}
