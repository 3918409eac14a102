//! The names of a kind and its schema, and what follows from them: headings, and places in the store.
//! How its objects are served is not said here.

use schema::Schema;

use crate::status::Subject;

/// Where the objects of a resource live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster as a whole.
    Cluster,
}

/// The names and the schema of a kind, and where it is served.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The API group, e.g. `template.openshift.io`.
    pub group: &'static str,
    /// The version, e.g. `v1`.
    pub version: &'static str,
    /// The kind, e.g. `Template`.
    pub kind: &'static str,
    /// The resource, as in URLs, e.g. `templates`.
    pub plural: &'static str,
    /// The resource in the singular, e.g. `template`.
    pub singular: &'static str,
    /// Where its objects live.
    pub scope: Scope,
    /// Names that kubectl accepts for it.
    pub short_names: &'static [&'static str],
    /// Groups of resources that it belongs to, e.g. `all`.
    pub categories: &'static [&'static str],
    /// Versions and kinds that a body may carry besides its own, e.g. `("v1", "Template")`.
    pub aliases: &'static [(&'static str, &'static str)],
    /// The kind's schema.
    pub schema: Schema,
    /// Where secrets stand in what is sent to this resource and in what it answers: paths such as
    /// `spec.password`, `users[].token` or `data.*`. The audit log does not show what is there.
    pub secrets: &'static [&'static str],
}

impl Definition {
    /// A kind whose objects live in namespaces, without short names, categories, aliases and secrets. The
    /// name of the resource in the singular is the one in the plural without its last letter.
    pub fn namespaced(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
        schema: Schema,
    ) -> Self {
        Self {
            group,
            version,
            kind,
            plural,
            singular: plural.strip_suffix('s').unwrap_or(plural),
            scope: Scope::Namespaced,
            short_names: &[],
            categories: &[],
            aliases: &[],
            schema: schema.kind(group, version, kind),
            secrets: &[],
        }
    }

    /// `group/version`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether `given` is `group/version`.
    pub fn is_api_version(&self, given: &str) -> bool {
        let (group, version) = given.rsplit_once('/').unwrap_or(("", given));
        group == self.group && version == self.version
    }

    /// The resource, as storage errors name it.
    pub fn resource(&self) -> Subject<'_> {
        Subject { group: self.group, kind: self.plural }
    }

    /// The kind, as validation errors name it.
    pub fn subject(&self) -> Subject<'_> {
        Subject { group: self.group, kind: self.kind }
    }

    /// The beginning of every object of this kind, up to its metadata.
    pub fn head(&self) -> String {
        format!(
            "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":",
            self.kind,
            self.api_version()
        )
    }

    /// The beginning of all keys under which objects of this resource are stored, with `/` at its end.
    pub fn key_prefix(&self) -> String {
        format!("/{}/{}/", self.group, self.plural)
    }

    /// Whether the objects live in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }
}
