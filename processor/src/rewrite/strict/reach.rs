//! Where a template's labels go, by kind.
//!
//! The proposal wants two instances of a template in one namespace to stay apart, so labels must
//! reach the pods and whatever selects them, together. The rule for every entry: a label is added
//! where the object stays valid and keeps selecting its own pods, and nowhere else.
//!
//! | kind | besides `metadata.labels` |
//! |---|---|
//! | Service | `spec.selector`; not of type ExternalName, which selects nothing |
//! | ReplicationController, DeploymentConfig | `spec.selector`, `spec.template` |
//! | Deployment, ReplicaSet, StatefulSet, DaemonSet | `spec.selector.matchLabels`, `spec.template` |
//! | Job | `spec.template`; with `manualSelector` also `spec.selector.matchLabels`, which is otherwise the server's |
//! | CronJob | `spec.jobTemplate` and its `spec.template`; jobs of a CronJob have no selector of their own |
//! | PodTemplate | `template` |
//! | PodDisruptionBudget | `spec.selector.matchLabels` |
//! | NetworkPolicy | `spec.podSelector.matchLabels`, the pods that it is for |
//!
//! A template of pods or jobs gets them in its `metadata.labels`. A selector gets them only if it
//! selects by something already: without a selector a Service has endpoints of its own and a
//! controller takes its template's labels; an empty one means all pods.
//!
//! Left alone on purpose: peers in a NetworkPolicy's rules and terms of affinity or spreading, which
//! may mean pods of others; `volumeClaimTemplates`, whose claims get the labels of the selector from
//! the controller; selectors of volumes and of Services (ServiceMonitor and its like); targets by
//! name (HorizontalPodAutoscaler); every kind that is not in the table.

/// What labels do to a value.
#[derive(Debug)]
pub(super) enum Reach {
    /// A map whose members are reached.
    Fields(Fields),
    /// A map that has `metadata`, where they go, and members that are reached.
    Labelled(Fields),
    /// A map of labels that selects.
    Selector,
    /// A selector with `matchLabels` and `matchExpressions`.
    LabelSelector,
    /// A map that is reached in one way if a member says something, else in another.
    Either { member: &'static str, says: &'static str, then: Fields, otherwise: Fields },
    /// A list of objects, each with a reach of its own.
    Items,
}

/// Members by name.
pub(super) type Fields = &'static [(&'static str, Reach)];

const POD_TEMPLATE: (&str, Reach) = ("template", Reach::Labelled(&[]));

/// By group and kind; the version makes no difference.
pub(super) fn of(group: &str, kind: &str) -> Fields {
    match (group, kind) {
        ("", "Service") => &[(
            "spec",
            Reach::Either {
                member: "type",
                says: "ExternalName",
                then: &[],
                otherwise: &[("selector", Reach::Selector)],
            },
        )],
        // The second kind had no group in OpenShift 3.
        ("", "ReplicationController" | "DeploymentConfig")
        | ("apps.openshift.io", "DeploymentConfig") => {
            &[("spec", Reach::Fields(&[("selector", Reach::Selector), POD_TEMPLATE]))]
        }
        ("apps" | "extensions", "Deployment" | "ReplicaSet" | "DaemonSet")
        | ("apps", "StatefulSet") => {
            &[("spec", Reach::Fields(&[("selector", Reach::LabelSelector), POD_TEMPLATE]))]
        }
        ("batch", "Job") => &[(
            "spec",
            Reach::Either {
                member: "manualSelector",
                says: "true",
                then: &[("selector", Reach::LabelSelector), POD_TEMPLATE],
                otherwise: &[POD_TEMPLATE],
            },
        )],
        ("batch", "CronJob") => &[(
            "spec",
            Reach::Fields(&[(
                "jobTemplate",
                Reach::Labelled(&[("spec", Reach::Fields(&[POD_TEMPLATE]))]),
            )]),
        )],
        ("", "PodTemplate") => &[POD_TEMPLATE],
        ("policy", "PodDisruptionBudget") => {
            &[("spec", Reach::Fields(&[("selector", Reach::LabelSelector)]))]
        }
        ("networking.k8s.io" | "extensions", "NetworkPolicy") => {
            &[("spec", Reach::Fields(&[("podSelector", Reach::LabelSelector)]))]
        }
        _ => &[],
    }
}
