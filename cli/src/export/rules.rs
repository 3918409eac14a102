//! What is left out of an export: tables of objects and of fields.
//!
//! An object is left out when making another one, or a namespace, makes it too. A field is left
//! out when the server, a controller or an admission plugin wrote it, so that the same field may
//! get another value elsewhere. Defaults are kept: they are true of the object wherever it is.

use serde_json::Value;

/// Of `metadata`, only what a user writes; all else there is the server's.
pub(super) const METADATA: [&str; 3] = ["name", "labels", "annotations"];

/// Annotations written by clients and controllers about one object in one cluster.
pub(super) const ANNOTATIONS: [&str; 15] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deployment.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
    "batch.kubernetes.io/job-tracking",
    "autoscaling.alpha.kubernetes.io/conditions",
    "autoscaling.alpha.kubernetes.io/current-metrics",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/selected-node",
    "endpoints.kubernetes.io/last-change-trigger-time",
    "openshift.io/host.generated",
    "image.openshift.io/dockerLayersOrder",
    "openshift.io/image.dockerRepositoryCheck",
];

/// Labels that mark the owner of an object.
pub(super) const LABELS: [&str; 1] = ["template.openshift.io/template-instance-owner"];

/// The kind that a rule is about: its group and name; [`ANY`] for all.
pub(super) type Of = (&'static str, &'static str);

pub(super) const ANY: Of = ("*", "*");

/// Why most objects are left out.
pub(super) const CONTROLLED: &str = "a controller made it for another object";

/// Whole objects.
pub(super) struct Skip {
    pub(super) of: Of,
    pub(super) when: fn(&Value) -> bool,
    pub(super) why: &'static str,
}

/// The way to a field; `*` is each element of a list.
pub(super) type Path = &'static [&'static str];

/// Fields that go when the object says so.
pub(super) struct Fields {
    pub(super) of: Of,
    pub(super) paths: &'static [Path],
    pub(super) when: fn(&Value) -> bool,
}

/// Elements of lists: the path of the list, and which elements of it go.
pub(super) struct Element {
    pub(super) of: Of,
    pub(super) path: Path,
    /// Decides by the object and the element.
    pub(super) when: fn(&Value, &Value) -> bool,
}

pub(super) const SKIPPED: [Skip; 11] = [
    Skip { of: ANY, when: is_controlled, why: CONTROLLED },
    Skip { of: ANY, when: is_being_deleted, why: "it is being deleted" },
    Skip {
        of: ANY,
        when: |object| has_annotation(object, "control-plane.alpha.kubernetes.io/leader"),
        why: "it records a leader election",
    },
    Skip {
        of: ("", "ConfigMap"),
        when: |object| is_named(object, &["kube-root-ca.crt", "openshift-service-ca.crt"]),
        why: "every namespace has it",
    },
    Skip {
        of: ("", "ServiceAccount"),
        when: |object| is_named(object, &["default", "builder", "deployer"]),
        why: "every namespace has it",
    },
    Skip {
        of: ("rbac.authorization.k8s.io", "RoleBinding"),
        when: |object| {
            is_named(object, &["system:deployers", "system:image-builders", "system:image-pullers"])
        },
        why: "every namespace has it",
    },
    Skip {
        of: ("authorization.openshift.io", "RoleBinding"),
        when: |object| {
            is_named(object, &["system:deployers", "system:image-builders", "system:image-pullers"])
        },
        why: "every namespace has it",
    },
    Skip {
        of: ("", "Secret"),
        when: is_service_accounts,
        why: "it was made for a service account",
    },
    Skip {
        of: ("", "Secret"),
        when: |object| object["type"] == "helm.sh/release.v1",
        why: "it is a record of Helm's",
    },
    Skip {
        of: ("", "Endpoints"),
        when: |object| {
            has_annotation(object, "endpoints.kubernetes.io/last-change-trigger-time")
                || !object["metadata"]["labels"]["endpoints.kubernetes.io/managed-by"].is_null()
        },
        why: CONTROLLED,
    },
    Skip {
        of: ("", "Pod"),
        when: |object| has_annotation(object, "kubernetes.io/config.mirror"),
        why: "it mirrors a static pod",
    },
];

pub(super) const FIELDS: [Fields; 13] = [
    Fields { of: ANY, paths: &[&["status"]], when: always },
    // Pod templates are typed in the server: the creation time that they never have is printed.
    Fields {
        of: ANY,
        paths: &[
            &["spec", "template", "metadata", "creationTimestamp"],
            &["spec", "jobTemplate", "metadata", "creationTimestamp"],
            &["spec", "jobTemplate", "spec", "template", "metadata", "creationTimestamp"],
            &["spec", "volumeClaimTemplates", "*", "metadata", "creationTimestamp"],
            &["spec", "volumeClaimTemplates", "*", "status"],
        ],
        when: always,
    },
    // Addresses. A headless service says so by `None`, which is its user's word.
    Fields {
        of: ("", "Service"),
        paths: &[&["spec", "clusterIP"], &["spec", "clusterIPs"]],
        when: |service| service["spec"]["clusterIP"] != "None",
    },
    Fields {
        of: ("", "Service"),
        paths: &[&["spec", "clusterIPs"]],
        when: |service| service["spec"]["clusterIP"] == "None",
    },
    Fields {
        of: ("", "Service"),
        paths: &[&["spec", "ipFamilies"], &["spec", "ipFamilyPolicy"]],
        when: |service| service["spec"]["ipFamilyPolicy"] == "SingleStack",
    },
    Fields { of: ("", "Service"), paths: &[&["spec", "healthCheckNodePort"]], when: always },
    Fields {
        of: ("", "Service"),
        paths: &[&["spec", "ports", "*", "nodePort"]],
        when: |service| service["spec"]["type"] != "NodePort",
    },
    Fields {
        of: ("", "PersistentVolumeClaim"),
        paths: &[&["spec", "volumeName"]],
        when: |claim| has_annotation(claim, "pv.kubernetes.io/bound-by-controller"),
    },
    // A job selects its pods by its uid, unless its user chose a selector.
    Fields {
        of: ("batch", "Job"),
        paths: &[
            &["spec", "selector"],
            &["spec", "template", "metadata", "labels", "controller-uid"],
            &["spec", "template", "metadata", "labels", "batch.kubernetes.io/controller-uid"],
            &["spec", "template", "metadata", "labels", "job-name"],
            &["spec", "template", "metadata", "labels", "batch.kubernetes.io/job-name"],
            &["metadata", "labels", "controller-uid"],
            &["metadata", "labels", "batch.kubernetes.io/controller-uid"],
            &["metadata", "labels", "job-name"],
            &["metadata", "labels", "batch.kubernetes.io/job-name"],
        ],
        when: |job| job["spec"]["manualSelector"] != true,
    },
    // The scheduler's and admission's part of a pod.
    Fields {
        of: ("", "Pod"),
        paths: &[
            &["spec", "nodeName"],
            &["spec", "serviceAccount"],
            &["spec", "priority"],
            &["spec", "preemptionPolicy"],
        ],
        when: always,
    },
    Fields {
        of: ("route.openshift.io", "Route"),
        paths: &[&["spec", "host"]],
        when: |route| route["metadata"]["annotations"]["openshift.io/host.generated"] == "true",
    },
    Fields {
        of: ("apps.openshift.io", "DeploymentConfig"),
        paths: &[&["spec", "triggers", "*", "imageChangeParams", "lastTriggeredImage"]],
        when: always,
    },
    Fields {
        of: ("build.openshift.io", "BuildConfig"),
        paths: &[&["spec", "triggers", "*", "imageChange", "lastTriggeredImageID"]],
        when: always,
    },
];

pub(super) const ELEMENTS: [Element; 6] = [
    Element {
        of: ("", "Pod"),
        path: &["spec", "volumes"],
        when: |_, volume| is_token_volume(volume),
    },
    Element {
        of: ("", "Pod"),
        path: &["spec", "containers", "*", "volumeMounts"],
        when: |_, mount| is_token_volume(mount),
    },
    Element {
        of: ("", "Pod"),
        path: &["spec", "initContainers", "*", "volumeMounts"],
        when: |_, mount| is_token_volume(mount),
    },
    Element {
        of: ("", "Pod"),
        path: &["spec", "tolerations"],
        when: |_, toleration| is_default_toleration(toleration),
    },
    Element { of: ("", "ServiceAccount"), path: &["secrets"], when: is_own_secret },
    Element { of: ("", "ServiceAccount"), path: &["imagePullSecrets"], when: is_own_secret },
];

fn always(_: &Value) -> bool {
    true
}

fn has_annotation(object: &Value, key: &str) -> bool {
    !object["metadata"]["annotations"][key].is_null()
}

fn is_named(object: &Value, names: &[&str]) -> bool {
    object["metadata"]["name"].as_str().is_some_and(|name| names.contains(&name))
}

fn is_controlled(object: &Value) -> bool {
    let owners = object["metadata"]["ownerReferences"].as_array();
    owners.into_iter().flatten().any(|owner| owner["controller"] == true)
}

fn is_being_deleted(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// Tokens and pull secrets that are made for every service account.
fn is_service_accounts(secret: &Value) -> bool {
    secret["type"] == "kubernetes.io/service-account-token"
        || secret["type"] == "kubernetes.io/dockercfg"
            && has_annotation(secret, "kubernetes.io/service-account.name")
}

/// The volume that admission mounts into every pod, and its mounts.
fn is_token_volume(volume_or_mount: &Value) -> bool {
    let name = volume_or_mount["name"].as_str();
    name.is_some_and(|name| name.starts_with("kube-api-access-"))
}

/// The two that admission adds to every pod.
fn is_default_toleration(toleration: &Value) -> bool {
    let keys = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
    toleration["key"].as_str().is_some_and(|key| keys.contains(&key))
        && toleration["effect"] == "NoExecute"
        && toleration["tolerationSeconds"] == 300
}

/// A reference from a service account to a secret that was made for it.
fn is_own_secret(account: &Value, reference: &Value) -> bool {
    let account = account["metadata"]["name"].as_str().unwrap_or_default();
    let name = reference["name"].as_str().unwrap_or_default();
    let rest = name.strip_prefix(account).unwrap_or_default();
    rest.starts_with("-token-") || rest.starts_with("-dockercfg-")
}
