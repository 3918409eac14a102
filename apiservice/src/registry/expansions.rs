//! `expansions`: a configuration of Deployment Manager goes in and comes back expanded; nothing is stored.

mod answered;

use apiserver::limits::heavy;
use apiserver::object::{Fields, Object};
use apiserver::resource::{Context, Create, Resource, Serves};
use apiserver::status::{Error, Subject};
use expander::Registries;
use expansion::Imports;
use futures::future::BoxFuture;

use super::{deployments, kinds};
use crate::engine::{Engine, Refused};
use crate::sent::{Defaults, Spec};
use crate::sources::Sources;

struct Expansions {
    engine: Engine,
    sources: Option<Sources>,
}

/// The resource. Its templates run on `engine`; those of Registries come from `sources`.
pub(crate) fn resource(engine: &Engine, sources: Option<&Sources>) -> Resource {
    let expansions = Expansions { engine: engine.clone(), sources: sources.cloned() };
    Resource::new(kinds::expansion(), Serves::Created(Box::new(expansions)))
}

impl Create for Expansions {
    fn create<'a>(
        &'a self,
        cx: &'a Context<'a>,
        object: Object,
    ) -> BoxFuture<'a, Result<(Object, Vec<String>), Error>> {
        Box::pin(async move {
            let invalid = |errors: &[_]| {
                let subject = Subject { group: kinds::DEPLOYMENT_MANAGER.0, kind: "Expansion" };
                Error::invalid(subject, &object.meta.name, errors)
            };
            let text = object.fields.get("spec").unwrap_or("{}").to_owned();
            let spec: Spec = serde_json::from_str(&text).map_err(Error::internal)?;
            let (name, namespace) = (&object.meta.name, cx.namespace);
            let (input, files) = spec
                .into_input(&Defaults { name, namespace, now: cx.now })
                .map_err(|errors| invalid(&errors))?;
            let requester = deployments::requester(cx.user);
            let known = match &self.sources {
                Some(sources) => sources.of(namespace, &requester).await?,
                None => None,
            };
            let registries = known.as_ref().map(|known| known as &dyn Registries);
            let expanded = self.engine.expand(input, &Imports::new(), registries).await;
            let done = expanded.map_err(|refused| match refused {
                Refused::Failure(failure) => invalid(&files.to_field_errors(&failure.problems)),
                Refused::Request(error) => error,
            })?;
            let size = done.size();
            let warnings = done.expanded.warnings.iter().map(ToString::to_string).collect();
            let write = move || answered::status(&done.expanded, &done.digest);
            let status = heavy(size, write).await?;
            let fields = Fields::new(format!("\"spec\":{text},\"status\":{status}"));
            Ok((Object { fields, ..object }, warnings))
        })
    }
}

#[cfg(test)]
mod tests {
    use apiserver::authn::User;
    use apiserver::meta::ObjectMeta;
    use apiserver::resource::FieldValidation;
    use apiserver::schema::{self, Limits};
    use apiserver::status::Reason;
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::*;

    fn context(user: &User) -> Context<'_> {
        Context {
            user,
            namespace: "demo",
            name: "",
            dry_run: false,
            field_validation: FieldValidation::Strict,
            now: Timestamp::UNIX_EPOCH,
        }
    }

    /// What is answered to `spec`, and the warnings.
    async fn create(engine: &Engine, spec: &Value) -> Result<(Value, Vec<String>), Error> {
        let body = json!({ "spec": spec }).to_string();
        let decoded = schema::decode(&kinds::expansion().schema, &body, Limits::default()).unwrap();
        let meta = ObjectMeta { name: "x".to_owned(), ..ObjectMeta::default() };
        let fields = Fields::new(decoded.fields);
        let user = User::default();
        let cx = context(&user);
        let expansions = Expansions { engine: engine.clone(), sources: None };
        let (object, warnings) = expansions.create(&cx, Object { meta, fields }).await?;
        Ok((serde_json::from_str(&object.fields.to_json()).unwrap(), warnings))
    }

    fn jinja(content: &str) -> Value {
        json!({
            "configuration": "resources: [{name: a, type: t.jinja, properties: {b: 1}}]",
            "imports": [{ "path": "lib/t.jinja", "content": content }],
        })
    }

    #[tokio::test]
    async fn the_object_comes_back_with_its_status() {
        let sent = jinja("resources: [{name: '{{ env.deployment }}-{{ name }}', type: T}]");
        let (answer, warnings) = create(&Engine::in_process(), &sent).await.unwrap();
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(answer["spec"]["imports"], sent["imports"]);
        let digest = &answer["status"]["digest"];
        let want = json!({
            "config": { "resources": [{ "name": "x-a", "type": "T" }] },
            "layout": { "resources": [{
                "name": "a", "type": "t.jinja", "properties": { "b": 1 },
                "resources": [{ "name": "x-a", "type": "T" }],
            }] },
            "digest": digest,
        });
        assert_eq!(answer["status"], want);
    }

    #[tokio::test]
    async fn a_template_that_fails_is_a_cause_at_the_field_of_its_file() {
        let sent = jinja("\nresources: {{ a.b.c }}");
        let error = create(&Engine::in_process(), &sent).await.unwrap_err();
        assert_eq!(error.reason(), Reason::Invalid);
        let details = error.details().unwrap();
        assert_eq!((&*details.group, &*details.kind), ("dm.formwork.dev", "Expansion"));
        let [cause] = details.causes.as_slice() else { panic!("{details:?}") };
        assert_eq!(cause.field, "spec.imports[lib/t.jinja].content");
        for part in ["t.jinja:2", "(in config > a (t.jinja))"] {
            assert!(cause.message.contains(part), "{part} is not in {}", cause.message);
        }
    }

    #[tokio::test]
    async fn nothing_that_a_client_writes_is_an_error_of_the_server() {
        for spec in [
            r#"{"configuration":null}"#,
            r#"{"configuration":"","imports":[null]}"#,
            r#"{"configuration":"resources: []","imports":null,"env":null,"validateSchemas":null}"#,
            r#"{"configuration":"resources: []","env":{"a":null,"b":1.5,"c":true}}"#,
            r#"{"configuration":"resources: []","imports":[{"name":"a","content":null}]}"#,
            r#"{"configuration":"\ud800: \udc00","imports":[{"name":"\ud800","content":"\udfff"}]}"#,
            r#"{"configuration":"a","configuration":"resources: []"}"#,
        ] {
            let body = format!(r#"{{"spec":{spec}}}"#);
            let schema = &kinds::expansion().schema;
            let Ok(decoded) = schema::decode(schema, &body, Limits::default()) else { continue };
            let fields = Fields::new(decoded.fields);
            let sent = Object { meta: ObjectMeta::default(), fields };
            let user = User::default();
            let cx = context(&user);
            let expansions = Expansions { engine: Engine::in_process(), sources: None };
            let answered = expansions.create(&cx, sent).await;
            let reason = answered.err().map(|error| error.reason());
            assert!(matches!(reason, None | Some(Reason::Invalid)), "{spec}: {reason:?}");
        }
    }

    #[tokio::test]
    async fn without_walls_templates_are_refused_and_primitives_are_not() {
        let error = create(&Engine::absent(), &jinja("resources: []")).await.unwrap_err();
        assert_eq!(error.reason(), Reason::ServiceUnavailable);
        assert_eq!(error.retry_after_seconds(), None, "another try would not help");
        let sent = json!({ "configuration": "resources: [{name: a, type: T}]" });
        let (answer, _) = create(&Engine::absent(), &sent).await.unwrap();
        assert_eq!(answer["status"]["config"]["resources"], json!([{ "name": "a", "type": "T" }]));
    }
}
