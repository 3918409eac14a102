//! What is planned, and what cannot be.

use super::*;
use crate::twin::{TwinCluster, expanded};

async fn plan(configuration: &str) -> Result<Plan, PlanError> {
    Plan::make(&expanded(configuration).unwrap(), "demo", &TwinCluster::new()).await
}

/// Everything that is wrong.
async fn refused(resources: &str) -> Vec<String> {
    plan(&format!("resources: [{resources}]")).await.unwrap_err().problems
}

#[tokio::test]
async fn a_resource_is_the_object_that_its_properties_say() {
    let plan = plan(
        r"
resources:
- { name: one, type: ConfigMap, properties: { apiVersion: v1 } }
- { name: two, type: anything, properties: { apiVersion: apps/v1, kind: Deployment, metadata: { name: web, namespace: other } } }
- { name: 3, type: Namespace, properties: { apiVersion: v1, metadata: { namespace: ignored, name: three } } }
",
    )
    .await
    .unwrap();
    let shown =
        plan.resources.iter().map(|planned| format!("{}: {}", planned.name, planned.target));
    let want = ["one: ConfigMap demo/one", "two: Deployment other/web", "3: Namespace three"];
    assert_eq!(shown.collect::<Vec<_>>(), want);
    assert_eq!(plan.resources[1].target.resource, "deployments");
}

#[tokio::test]
async fn a_namespace_and_a_definition_come_before_what_needs_them() {
    let plan = plan(
        r"
resources:
- { name: object, type: Crontab, properties: { apiVersion: example.com/v1, metadata: { namespace: new } } }
- { name: new, type: Namespace, properties: { apiVersion: v1 } }
- name: crontabs.example.com
  type: CustomResourceDefinition
  properties:
    apiVersion: apiextensions.k8s.io/v1
    spec: { group: example.com, scope: Namespaced, names: { kind: Crontab, plural: crontabs }, versions: [{ name: v1 }] }
- { name: beside, type: ConfigMap, properties: { apiVersion: v1 } }
",
    )
    .await
    .unwrap();
    let waves: Vec<_> = plan.resources.iter().map(|planned| planned.wave).collect();
    assert_eq!((waves, plan.waves()), (vec![1, 0, 0, 0], 2));
    assert_eq!(plan.resources[0].target.to_string(), "Crontab new/object");
}

#[tokio::test]
async fn everything_that_is_no_object_is_said_at_once() {
    let found = refused(
        "{name: a, type: ConfigMap}, {name: b, type: List, properties: {apiVersion: v1}}, \
         {name: c, type: ConfigMap, properties: {apiVersion: 1}}, \
         {name: d, type: ConfigMap, properties: {apiVersion: v1, metadata: x}}, \
         {name: e, type: ConfigMap, properties: x}, \
         {name: f, type: ConfigMap, properties: {apiVersion: v1, metadata: {name: $(ref.a.b)}}}",
    )
    .await;
    assert_eq!(
        found,
        [
            "resource a: properties.apiVersion: Required value",
            "resource b: properties.kind: a List is several objects; make each a resource",
            "resource c: properties.apiVersion: must be a string",
            "resource d: properties.metadata: must be a map",
            "resource e: properties: must be an object of Kubernetes",
            "resource f: properties.metadata.name: has to be known before anything is applied",
        ]
    );
}

#[tokio::test]
async fn what_means_something_else_in_a_path_is_no_name() {
    for name in ["..", ".", "a/b", "%2e%2e", "a?b", "a#b", "a b", r"a\\b", r"a\nb"] {
        for (properties, field) in [
            (format!("{{apiVersion: v1, metadata: {{name: \"{name}\"}}}}"), "metadata.name"),
            (
                format!("{{apiVersion: v1, metadata: {{namespace: \"{name}\"}}}}"),
                "metadata.namespace",
            ),
            (format!("{{apiVersion: \"{name}/v1/x\"}}"), "apiVersion"),
        ] {
            let found =
                refused(&format!("{{name: x, type: ConfigMap, properties: {properties}}}")).await;
            let want = format!("resource x: properties.{field}: cannot stand in a path");
            assert!(found.len() == 1 && found[0].starts_with(&want), "{name}: {found:?}");
        }
    }
    let expanded =
        expanded("resources: [{name: x, type: ConfigMap, properties: {apiVersion: v1}}]");
    let error = Plan::make(&expanded.unwrap(), "..", &TwinCluster::new()).await.unwrap_err();
    assert!(error.to_string().contains("spec.targetNamespace"), "{error}");
}

#[tokio::test]
async fn what_is_longer_than_any_name_is_not_looked_for() {
    let long = "x".repeat(400);
    for (properties, field) in [
        (format!("{{apiVersion: v1, metadata: {{name: {long}}}}}"), "metadata.name"),
        (format!("{{apiVersion: v1, metadata: {{namespace: {long}}}}}"), "metadata.namespace"),
        (format!("{{apiVersion: {long}/v1}}"), "apiVersion"),
        (format!("{{apiVersion: v1, kind: {long}}}"), "kind"),
    ] {
        let found =
            refused(&format!("{{name: x, type: ConfigMap, properties: {properties}}}")).await;
        let want = format!("resource x: properties.{field}: must have at most 317 bytes");
        assert_eq!(found, [want]);
    }
}

#[tokio::test]
async fn a_kind_that_the_cluster_does_not_have_may_come() {
    let error = plan("resources: [{name: a, type: Nothing, properties: {apiVersion: v9}}]").await;
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "resource a: the cluster has no kind v9 Nothing");
    assert!(error.passes);
}

#[tokio::test]
async fn what_is_unclear_is_said_with_its_place() {
    let error = plan(
        r"
resources:
- { name: a, type: ConfigMap, properties: { apiVersion: v1, metadata: { name: same } } }
- { name: b, type: ConfigMap, properties: { apiVersion: v1, metadata: { name: same } } }
- name: c
  type: ConfigMap
  metadata: { dependsOn: [nobody] }
  properties: { apiVersion: v1, data: { x: $(ref.nobody.y) } }
outputs:
- { name: o, value: $(ref.nowhere.y) }
",
    )
    .await
    .unwrap_err();
    assert_eq!(
        error.problems,
        [
            "resources a and b are both ConfigMap demo/same",
            "resource c: $(ref.nobody.y) is about a resource that is not there",
            "resource c: metadata.dependsOn: there is no resource nobody",
            "output o: $(ref.nowhere.y) is about a resource that is not there",
        ]
    );
    assert!(!error.passes);
}

#[tokio::test]
async fn the_same_object_in_two_versions_is_the_same() {
    let cluster = TwinCluster::new();
    cluster.serve("v2", "ConfigMap", "configmaps");
    let configuration = "resources: [{name: a, type: ConfigMap, properties: {apiVersion: v1}}, \
         {name: b, type: ConfigMap, properties: {apiVersion: v2, metadata: {name: a}}}]";
    let error = Plan::make(&expanded(configuration).unwrap(), "demo", &cluster).await.unwrap_err();
    assert_eq!(error.to_string(), "resources a and b are both ConfigMap demo/a");
}

#[test]
fn what_the_cluster_writes_is_no_wish() {
    let resource = serde_json::json!({ "properties": {
        "metadata": {
            "uid": "x", "resourceVersion": "1", "generateName": "g", "managedFields": [],
            "labels": { "dm.formwork.dev/deployment-uid": "another", "a": "b" }, "annotations": 5,
            "namespace": "elsewhere", "name": "other",
        },
        "status": { "a": 1 }, "kind": "Secret", "data": { "a": "b" },
    }});
    let deployment = crate::types::Deployment {
        namespace: "demo".to_owned(),
        name: "app".to_owned(),
        uid: "uid".to_owned(),
        generation: 1,
        resource_version: "1".to_owned(),
        deleting: false,
        spec: crate::types::Spec::default(),
        status: crate::types::Status::default(),
    };
    let target = crate::twin::target("ConfigMap", "demo", "c");
    let Placed(object) = Placed::new(&resource, "r", &target, &deployment);
    assert_eq!(
        object,
        serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": { "a": "b" },
            "metadata": {
                "name": "c", "namespace": "demo",
                "labels": { "dm.formwork.dev/deployment-uid": "uid", "a": "b" },
                "annotations": {
                    "dm.formwork.dev/deployment": "demo/app", "dm.formwork.dev/resource": "r",
                },
            },
        })
    );
}

#[tokio::test]
async fn what_could_not_be_read_back_is_refused() {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let one = |levels| {
        format!(
            "{{name: a, type: ConfigMap, properties: {{apiVersion: v1, data: {}}}}}",
            nested(levels)
        )
    };
    assert_eq!(
        refused(&one(85)).await,
        ["resource a: properties: more than 80 lists and maps are in one another"]
    );
    plan(&format!("resources: [{}]", one(70))).await.unwrap();
    let output = format!("resources: []\noutputs: [{{name: o, value: {}}}]", nested(85));
    let problems = plan(&output).await.unwrap_err().problems;
    assert_eq!(problems, ["output o: more than 80 lists and maps are in one another"]);
}
