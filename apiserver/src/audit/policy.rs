//! The policy: which requests are logged, and how much of them. The first rule that fits decides.

use std::sync::LazyLock;

use schema::{Limits, Schema, Stray};
use serde::{Deserialize, Serialize};

use crate::authz::Attributes;
use crate::field::{self, quote};
use crate::names;

/// How much of a request is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Level {
    /// Nothing.
    #[default]
    None,
    /// Who, what, when, and how it ended.
    Metadata,
    /// That, and what was sent.
    Request,
    /// That, and what was answered.
    RequestResponse,
}

impl Level {
    const ALL: [Self; 4] = [Self::None, Self::Metadata, Self::Request, Self::RequestResponse];

    /// Its word in policies and events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Metadata => "Metadata",
            Self::Request => "Request",
            Self::RequestResponse => "RequestResponse",
        }
    }
}

/// When an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Stage {
    /// The request is there.
    RequestReceived,
    /// An answer that lasts has begun.
    ResponseStarted,
    /// The answer is complete.
    ResponseComplete,
    /// The request made the server panic.
    Panic,
}

impl Stage {
    const ALL: [Self; 4] =
        [Self::RequestReceived, Self::ResponseStarted, Self::ResponseComplete, Self::Panic];

    fn as_str(self) -> &'static str {
        match self {
            Self::RequestReceived => "RequestReceived",
            Self::ResponseStarted => "ResponseStarted",
            Self::ResponseComplete => "ResponseComplete",
            Self::Panic => "Panic",
        }
    }
}

/// Some stages.
#[derive(Clone, Copy, Debug, Default)]
struct Stages(u8);

impl Stages {
    fn insert(&mut self, stage: Stage) {
        self.0 |= 1 << stage as u8;
    }

    fn contains(self, stage: Stage) -> bool {
        self.0 & (1 << stage as u8) != 0
    }
}

/// Why a policy cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// It is no YAML.
    #[error("the audit policy is no YAML: {0}")]
    Yaml(String),
    /// It is no Policy of audit.k8s.io/v1.
    #[error("the audit policy cannot be read: {0}")]
    Shape(String),
    /// Some of its fields are wrong; all of them are named.
    #[error("the audit policy is invalid: {}", field::aggregate(.0))]
    Fields(Vec<field::Error>),
}

/// A `Policy` of audit.k8s.io/v1, checked.
#[derive(Debug)]
pub struct Policy {
    rules: Vec<Rule>,
    omit_stages: Stages,
    omit_managed_fields: bool,
}

#[derive(Debug)]
struct Rule {
    level: Level,
    wire: WireRule,
    omit_stages: Stages,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wire {
    rules: Vec<WireRule>,
    omit_stages: Vec<String>,
    omit_managed_fields: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireRule {
    level: String,
    users: Vec<String>,
    user_groups: Vec<String>,
    verbs: Vec<String>,
    resources: Vec<GroupResources>,
    namespaces: Vec<String>,
    #[serde(rename = "nonResourceURLs")]
    non_resource_urls: Vec<String>,
    omit_stages: Vec<String>,
    omit_managed_fields: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GroupResources {
    group: String,
    resources: Vec<String>,
    resource_names: Vec<String>,
}

/// What the policy wants of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Treatment {
    pub(super) level: Level,
    pub(super) omits_managed_fields: bool,
    omit_stages: Stages,
}

impl Treatment {
    pub(super) fn omits(&self, stage: Stage) -> bool {
        self.omit_stages.contains(stage)
    }
}

impl Policy {
    /// Reads a policy, YAML or JSON. Unlike upstream, which warns and goes on without them, unknown
    /// fields are refused: a rule that is misspelt would log less than was meant.
    ///
    /// # Errors
    /// What is wrong with it, by its fields.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let yaml = yaml::to_json(text).map_err(|error| PolicyError::Yaml(error.to_string()))?;
        if let Some(twice) = yaml.duplicates.first() {
            return Err(PolicyError::Yaml(twice.clone()));
        }
        let shape = |error: &dyn ToString| PolicyError::Shape(error.to_string());
        let decoded = schema::decode(&SCHEMA, &yaml.json, Limits::default())
            .map_err(|error| shape(&error))?;
        let named = (decoded.api_version.as_deref(), decoded.kind.as_deref());
        if named != (Some("audit.k8s.io/v1"), Some("Policy")) {
            return Err(shape(&"it must be a Policy of audit.k8s.io/v1"));
        }
        if !decoded.strays.is_empty() {
            let strays: Vec<_> = decoded.strays.iter().map(Stray::to_string).collect();
            return Err(shape(&strays.join(", ")));
        }
        let wire: Wire = serde_json::from_str(&format!("{{{}}}", decoded.fields))
            .map_err(|error| shape(&error))?;
        Self::check(wire).map_err(PolicyError::Fields)
    }

    fn check(wire: Wire) -> Result<Self, Vec<field::Error>> {
        let mut errors = Vec::new();
        if wire.rules.is_empty() {
            errors.push(field::Error::required("rules", "a policy without rules logs nothing"));
        }
        let omit_stages = stages(&wire.omit_stages, "omitStages", &mut errors);
        let rules = wire.rules.into_iter().enumerate();
        let rules = rules.map(|(index, rule)| rule.check(&format!("rules[{index}]"), &mut errors));
        let rules = rules.collect();
        let omit_managed_fields = wire.omit_managed_fields;
        if errors.is_empty() {
            Ok(Self { rules, omit_stages, omit_managed_fields })
        } else {
            Err(errors)
        }
    }

    /// What is to be done with a request.
    pub(super) fn treatment(&self, attributes: &Attributes<'_>) -> Treatment {
        let rule = self.rules.iter().find(|rule| rule.wire.covers(attributes));
        let more = rule.map(|rule| rule.omit_stages).unwrap_or_default();
        let own = rule.and_then(|rule| rule.wire.omit_managed_fields);
        Treatment {
            level: rule.map_or(Level::None, |rule| rule.level),
            omits_managed_fields: own.unwrap_or(self.omit_managed_fields),
            omit_stages: Stages(self.omit_stages.0 | more.0),
        }
    }
}

fn stages(words: &[String], path: &str, errors: &mut Vec<field::Error>) -> Stages {
    let mut stages = Stages::default();
    for (index, word) in words.iter().enumerate() {
        match Stage::ALL.into_iter().find(|stage| stage.as_str() == word) {
            Some(stage) => stages.insert(stage),
            None => {
                let supported = Stage::ALL.map(Stage::as_str);
                let path = format!("{path}[{index}]");
                errors.push(field::Error::not_supported(path, quote(word), &supported));
            }
        }
    }
    stages
}

impl WireRule {
    fn check(self, path: &str, errors: &mut Vec<field::Error>) -> Rule {
        let level = Level::ALL.into_iter().find(|level| level.as_str() == self.level);
        if level.is_none() {
            let (path, supported) = (format!("{path}.level"), Level::ALL.map(Level::as_str));
            errors.push(match self.level.as_str() {
                "" => field::Error::required(path, ""),
                other => field::Error::not_supported(path, quote(other), &supported),
            });
        }
        self.check_urls(&format!("{path}.nonResourceURLs"), errors);
        for (index, resources) in self.resources.iter().enumerate() {
            resources.check(&format!("{path}.resources[{index}]"), errors);
        }
        let omit_stages = stages(&self.omit_stages, &format!("{path}.omitStages"), errors);
        Rule { level: level.unwrap_or_default(), wire: self, omit_stages }
    }

    fn check_urls(&self, path: &str, errors: &mut Vec<field::Error>) {
        for (index, url) in self.non_resource_urls.iter().enumerate() {
            let mut wrong = |why| {
                errors.push(field::Error::invalid(format!("{path}[{index}]"), quote(url), why));
            };
            if url != "*" && !url.starts_with('/') {
                wrong("non-resource URL rules must begin with a '/' character");
            }
            if url.find('*').is_some_and(|at| at + 1 < url.len()) {
                wrong("non-resource URL wildcards '*' must be the final character of the rule");
            }
        }
        let has_resources = !self.resources.is_empty() || !self.namespaces.is_empty();
        if has_resources && !self.non_resource_urls.is_empty() {
            let why = "rules cannot apply to both regular resources and non-resource URLs";
            errors.push(field::Error::invalid(path, quote(&self.non_resource_urls.join(",")), why));
        }
    }

    fn covers(&self, attributes: &Attributes<'_>) -> bool {
        let user = attributes.user;
        let fits = |wanted: &[String], given: &str| wanted.is_empty() || holds(wanted, given);
        fits(&self.users, &user.name)
            && (self.user_groups.is_empty()
                || user.groups.iter().any(|group| holds(&self.user_groups, group)))
            && fits(&self.verbs, attributes.verb)
            && self.covers_target(attributes)
    }

    fn covers_target(&self, attributes: &Attributes<'_>) -> bool {
        if !self.namespaces.is_empty() || !self.resources.is_empty() {
            return attributes.is_resource_request
                && (self.namespaces.is_empty() || holds(&self.namespaces, attributes.namespace))
                && (self.resources.is_empty()
                    || self.resources.iter().any(|resources| resources.cover(attributes)));
        }
        self.non_resource_urls.is_empty()
            || (!attributes.is_resource_request
                && self.non_resource_urls.iter().any(|url| match url.strip_suffix('*') {
                    Some(prefix) => attributes.path.starts_with(prefix),
                    None => attributes.path == url,
                }))
    }
}

impl GroupResources {
    fn check(&self, path: &str, errors: &mut Vec<field::Error>) {
        if !matches!(self.group.as_str(), "" | "*") {
            for why in names::dns1123_subdomain(&self.group) {
                errors.push(field::Error::invalid(
                    format!("{path}.group"),
                    quote(&self.group),
                    why,
                ));
            }
        }
        if !self.resource_names.is_empty() && self.resources.is_empty() {
            let names = quote(&self.resource_names.join(","));
            let why = "using resourceNames requires at least one resource";
            errors.push(field::Error::invalid(format!("{path}.resourceNames"), names, why));
        }
    }

    fn cover(&self, attributes: &Attributes<'_>) -> bool {
        if self.group != "*" && self.group != attributes.group {
            return false;
        }
        if self.resources.is_empty() {
            return true;
        }
        let named = self.resource_names.is_empty() || holds(&self.resource_names, attributes.name);
        let (resource, subresource) = (attributes.resource, attributes.subresource);
        named
            && self.resources.iter().any(|wanted| match wanted.split_once('/') {
                None => wanted == "*" || (subresource.is_empty() && wanted == resource),
                Some(("*", below)) => !subresource.is_empty() && below == subresource,
                Some((wanted, "*")) => wanted == resource,
                Some((wanted, below)) => wanted == resource && below == subresource,
            })
    }
}

fn holds(list: &[String], word: &str) -> bool {
    list.iter().any(|item| item == word)
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let words = |description| Schema::list(Schema::string("")).atomic().described(description);
    let resources = Schema::object("io.k8s.audit.v1.GroupResources", "Resources of a group.")
        .optional("group", Schema::string("The group; * for all, empty for core."))
        .optional("resources", words("Resources, as pods, pods/log, */scale; none for all."))
        .optional("resourceNames", words("Names of objects."));
    let rule =
        Schema::object("io.k8s.audit.v1.PolicyRule", "Which requests, and how much of them.")
            .required("level", Schema::string("None, Metadata, Request or RequestResponse."))
            .optional("users", words("Names of users."))
            .optional("userGroups", words("Groups, of which the user is in one."))
            .optional("verbs", words("Verbs, as get."))
            .optional("resources", Schema::list(resources).atomic().described("Resources."))
            .optional("namespaces", words("Namespaces; the empty one is the cluster."))
            .optional("nonResourceURLs", words("Paths that are no resources."))
            .optional("omitStages", words("Stages at which nothing is written."))
            .optional("omitManagedFields", Schema::boolean("Without managedFields.").pointer());
    Schema::object("io.k8s.audit.v1.Policy", "What is logged.")
        .required("rules", Schema::list(rule).atomic().described("The first that fits decides."))
        .optional("omitStages", words("Stages at which nothing is written."))
        .optional("omitManagedFields", Schema::boolean("Without managedFields."))
        .kind("audit.k8s.io", "v1", "Policy")
});

#[cfg(test)]
mod tests;
