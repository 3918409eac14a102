//! Says which rule of RBAC is missing when a call is refused: the one thing that whoever installs a
//! server has to know, and that a bare 403 does not tell.

use anyhow::anyhow;
use kube::Error;
use kube::core::Status;

/// A call to kube-apiserver, as RBAC sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) verb: &'static str,
    pub(super) group: &'static str,
    pub(super) resource: &'static str,
    pub(super) namespace: Option<&'a str>,
    pub(super) name: &'a str,
}

impl Call<'_> {
    /// Puts what was being done in front of `error`, and behind a refusal what would allow it.
    pub(super) fn failed(&self, error: Error) -> anyhow::Error {
        let Self { verb, resource, name, .. } = self;
        let Error::Api(status) = error else {
            return anyhow::Error::new(error).context(format!("{verb} {resource} {name}"));
        };
        let missing = status.is_forbidden() && !is_terminating(&status);
        let rule = if missing { self.rule() } else { String::new() };
        // The client's own text of it has everything twice.
        anyhow!("{}", status.message).context(format!("{verb} {resource} {name}{rule}"))
    }

    fn rule(&self) -> String {
        let Self { verb, group, resource, namespace, name } = self;
        let place = match namespace {
            Some(namespace) => format!("a Role in namespace {namespace}"),
            None => "a ClusterRole".to_owned(),
        };
        // A name that is about to be created cannot be asked for in a rule.
        let names = match *verb {
            "create" => String::new(),
            _ => format!(", resourceNames: [{name:?}]"),
        };
        format!(
            " (missing in {place}: apiGroups: [{group:?}], resources: [{resource:?}]{names}, \
             verbs: [{verb:?}])"
        )
    }
}

/// Whether nothing may be created because the namespace is going away, which no rule would change.
fn is_terminating(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.into_iter().any(|cause| cause.reason == "NamespaceTerminating")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> Error {
        Error::Api(Status::failure("no", "Forbidden").with_code(403).boxed())
    }

    #[test]
    fn a_refusal_names_the_missing_rule() {
        let call = Call {
            verb: "patch",
            group: "apiregistration.k8s.io",
            resource: "apiservices",
            namespace: None,
            name: "v1.a",
        };
        let want = "patch apiservices v1.a (missing in a ClusterRole: \
                    apiGroups: [\"apiregistration.k8s.io\"], resources: [\"apiservices\"], \
                    resourceNames: [\"v1.a\"], verbs: [\"patch\"])";
        assert_eq!(call.failed(refused()).to_string(), want);
        let call = Call {
            verb: "create",
            group: "",
            resource: "secrets",
            namespace: Some("ns"),
            name: "s",
        };
        let want = "create secrets s (missing in a Role in namespace ns: apiGroups: [\"\"], \
                    resources: [\"secrets\"], verbs: [\"create\"])";
        assert_eq!(call.failed(refused()).to_string(), want);
        let conflict = Error::Api(Status::failure("no", "Conflict").with_code(409).boxed());
        assert_eq!(call.failed(conflict).to_string(), "create secrets s");
    }
}
