//! What a resource says of itself: names, schema, rules. The verbs are written once, in
//! [`crate::handlers`]; here stands only what is peculiar to one resource.

mod column;
mod part;

use std::collections::HashSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;
use merge::managed::ManagedKind;
use schema::{Limits, Schema};

use crate::authn::User;
use crate::field;
use crate::object::Object;
use crate::status::{Error, Subject};

use self::part::ResetFields;

pub use self::column::{Cell, Column};
pub use self::part::Part;

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

/// Who asks, for what, and how.
#[derive(Debug)]
pub struct Context<'a> {
    /// The authenticated user.
    pub user: &'a User,
    /// The namespace of the request; empty where there is none.
    pub namespace: &'a str,
    /// The object's name in the request; empty where there is none.
    pub name: &'a str,
    /// Whether nothing may be changed.
    pub dry_run: bool,
    /// What to do with input that has a second reading.
    pub field_validation: FieldValidation,
    /// The time of the request.
    pub now: Timestamp,
}

impl<'a> Context<'a> {
    /// What the server does of its own accord, such as a controller's write: no request asks for it.
    pub fn of(user: &'a User, namespace: &'a str, name: &'a str, now: Timestamp) -> Self {
        let field_validation = FieldValidation::Ignore;
        Self { user, namespace, name, dry_run: false, field_validation, now }
    }
}

/// What happens to unknown and repeated fields (`fieldValidation`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// They are dropped silently.
    Ignore,
    /// They are dropped, with a `Warning` header each.
    #[default]
    Warn,
    /// They are a 400.
    Strict,
}

/// What is peculiar to a stored resource. The machinery calls these in this order:
/// `prepare_for_create`, `validate`, `warnings`; or `prepare_for_update`, `validate_update`, `warnings`; or,
/// where only the status is written, `validate_status` alone.
pub trait Strategy: Send + Sync + 'static {
    /// Clears what a client may not set. The metadata is in order by then, and a status that has a
    /// path of its own is dropped: an object that begins with one gets it here.
    fn prepare_for_create(&self, cx: &Context<'_>, object: &mut Object) {
        let _ = (cx, object);
    }

    /// Everything that is wrong with an object's fields; it must not change anything.
    fn validate(&self, object: &Object) -> Vec<field::Error>;

    /// Restores what a client may not change.
    fn prepare_for_update(&self, cx: &Context<'_>, object: &mut Object, old: &Object) {
        let _ = (cx, object, old);
    }

    /// Everything that is wrong with an object's fields as a successor of `old`.
    fn validate_update(&self, object: &Object, old: &Object) -> Vec<field::Error> {
        let _ = old;
        self.validate(object)
    }

    /// Everything that is wrong with an object's status as a successor of `old`'s. The rest of the
    /// object is that of `old`.
    fn validate_status(&self, object: &Object, old: &Object) -> Vec<field::Error> {
        let _ = (object, old);
        Vec::new()
    }

    /// Notes on an object what its deletion is to leave there, such as who asked for it. Called when
    /// finalizers keep the object and it is marked for the first time, so that it sees the mark; an
    /// object that goes at once has nobody left to read a note. What is changed here is validated
    /// no more, and does not count as another generation: the mark is one.
    fn prepare_for_delete(&self, cx: &Context<'_>, object: &mut Object) {
        let _ = (cx, object);
    }

    /// Whether a deletion may be held up by the garbage collector, as `propagationPolicy` asks: for
    /// it to orphan the dependents, or to delete them first. Where it may not, whatever policy is
    /// asked for means what `Background` does (upstream's `GarbageCollectionUnsupported`).
    ///
    /// Say no for a kind whose dependents the collector cannot change, as it would try for ever.
    fn waits_for_collector(&self) -> bool {
        true
    }

    /// What the user should hear although the object is accepted.
    fn warnings(&self, object: &Object) -> Vec<String> {
        let _ = object;
        Vec::new()
    }

    /// Whether a PUT may go without a resourceVersion.
    fn allow_unconditional_update(&self) -> bool {
        false
    }

    /// Whether DELETE answers with the deleted object rather than with a `Status`.
    fn returns_deleted(&self) -> bool {
        false
    }

    /// The columns between `Name` and `Age`.
    fn columns(&self) -> &'static [Column] {
        &[]
    }

    /// One cell for every one of [`Strategy::columns`].
    fn cells(&self, object: &Object) -> Vec<Cell> {
        let _ = object;
        Vec::new()
    }
}

/// A resource that is answered and not stored, such as a review or a processed template.
pub trait Create: Send + Sync + 'static {
    /// Answers the object that was sent, changed; it becomes a 201. The second value are warnings.
    ///
    /// # Errors
    /// Whatever is wrong with the object, with every field's path.
    fn create<'a>(
        &'a self,
        cx: &'a Context<'a>,
        object: Object,
    ) -> BoxFuture<'a, Result<(Object, Vec<String>), Error>>;
}

/// A subresource that takes a POST and answers an object of its resource's kind.
pub trait Post: Send + Sync + 'static {
    /// Answers `parent` as `body` asks; it becomes a 201. The second value are warnings.
    ///
    /// # Errors
    /// Whatever is wrong with the body, with every field's path.
    fn post<'a>(
        &'a self,
        cx: &'a Context<'a>,
        parent: Object,
        body: Object,
    ) -> BoxFuture<'a, Result<(Object, Vec<String>), Error>>;
}

/// A subresource that is read: a document about its parent.
pub trait Get: Send + Sync + 'static {
    /// The document, as JSON text.
    ///
    /// # Errors
    /// Whatever keeps the parent from having one.
    fn get(&self, cx: &Context<'_>, parent: &Object) -> Result<String, Error>;
}

/// How a resource is served.
pub enum Serves {
    /// Stored, with all eight verbs.
    Stored(Box<dyn Strategy>),
    /// Stored, and written by the server alone, through [`Store`](crate::store::Store): clients read,
    /// watch and delete. Nobody could take a finalizer off such an object, so the garbage collector
    /// never puts one on: see [`Strategy::waits_for_collector`], which is not asked.
    Kept(Box<dyn Strategy>),
    /// Answered on create, and gone.
    Created(Box<dyn Create>),
}

/// How a subresource is served.
pub enum Action {
    /// POST with a body of the subresource's own kind.
    Post(Box<dyn Post>),
    /// GET.
    Get(Box<dyn Get>),
    /// GET, PUT and PATCH of the object itself, of which only the status is written:
    /// [`Resource::with_status`].
    Status,
}

/// A subresource, `/RESOURCE/NAME/SUBRESOURCE`.
pub struct Subresource {
    /// Its name in the URL.
    pub name: &'static str,
    /// The kind of the body, for a POST; of the answer, for a GET. Its plural is the resource's
    /// and its own name, as `templates/processed`. The status has its resource's definition.
    pub definition: Definition,
    /// What it does.
    pub action: Action,
}

/// A resource of an API version.
pub struct Resource {
    /// Names and schema.
    pub definition: Definition,
    /// What is done with its objects.
    pub serves: Serves,
    /// What stands below its objects' names.
    pub subresources: Vec<Subresource>,
    api_version: String,
    head: String,
    empty: String,
    managed: ManagedKind,
    reset_fields: Option<ResetFields>,
}

impl Resource {
    /// A resource without subresources and status.
    pub fn new(definition: Definition, serves: Serves) -> Self {
        let (api_version, head) = (definition.api_version(), definition.head());
        let empty = schema::decode(&definition.schema, "{}", Limits::default())
            .map(|decoded| decoded.stored_fields().into_owned())
            .unwrap_or_default();
        let managed = ManagedKind::new(&definition.schema);
        let (subresources, reset_fields) = (Vec::new(), None);
        Self { definition, serves, subresources, api_version, head, empty, managed, reset_fields }
    }

    /// The same with one more subresource.
    #[must_use]
    pub fn with(mut self, subresource: Subresource) -> Self {
        self.subresources.push(subresource);
        self
    }

    /// `group/version`: [`Definition::api_version`], made once.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// The beginning of every object: [`Definition::head`], made once.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// The fields of an object that has none: those that are always written.
    pub(crate) fn empty_fields(&self) -> &str {
        &self.empty
    }

    /// What field management knows of the kind.
    pub(crate) fn managed(&self) -> &ManagedKind {
        &self.managed
    }

    /// The verbs that work, in alphabetical order, as discovery lists them.
    pub fn verbs(&self) -> &'static [&'static str] {
        match self.serves {
            Serves::Stored(_) => {
                &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
            }
            Serves::Kept(_) => &["delete", "deletecollection", "get", "list", "watch"],
            Serves::Created(_) => &["create"],
        }
    }

    /// Whether a verb is one of [`Resource::verbs`].
    pub fn allows(&self, verb: &str) -> bool {
        self.verbs().contains(&verb)
    }

    /// Whether a deletion may be held up by the garbage collector.
    pub(crate) fn waits_for_collector(&self) -> bool {
        matches!(&self.serves, Serves::Stored(strategy) if strategy.waits_for_collector())
    }

    /// The rules of a stored resource.
    pub fn strategy(&self) -> Option<&dyn Strategy> {
        match &self.serves {
            Serves::Stored(strategy) | Serves::Kept(strategy) => Some(strategy.as_ref()),
            Serves::Created(_) => None,
        }
    }

    /// A subresource by its name.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }
}

impl Subresource {
    /// The verbs that work.
    pub fn verbs(&self) -> &'static [&'static str] {
        match self.action {
            Action::Post(_) => &["create"],
            Action::Get(_) => &["get"],
            Action::Status => &["get", "patch", "update"],
        }
    }
}

/// A version of an API group.
pub struct ApiVersion {
    /// The version, e.g. `v1`.
    pub name: &'static str,
    /// Its resources.
    pub resources: Vec<Arc<Resource>>,
}

/// An API group; its first version is the preferred one.
pub struct ApiGroup {
    /// The group, e.g. `template.openshift.io`.
    pub name: &'static str,
    /// Its versions, the preferred one first.
    pub versions: Vec<ApiVersion>,
}

/// Every resource of every version of every group.
pub fn all(groups: &[ApiGroup]) -> impl Iterator<Item = &Arc<Resource>> {
    groups.iter().flat_map(|group| &group.versions).flat_map(|version| &version.resources)
}

/// Finds a resource among all groups.
pub fn find<'a>(
    groups: &'a [ApiGroup],
    group: &str,
    version: &str,
    resource: &str,
) -> Option<&'a Arc<Resource>> {
    groups
        .iter()
        .find(|candidate| candidate.name == group)?
        .versions
        .iter()
        .find(|candidate| candidate.name == version)?
        .resources
        .iter()
        .find(|candidate| candidate.definition.plural == resource)
}

/// The kinds that the server knows, as a body may name them: those of its resources, their lists,
/// and some of everybody's. A body of such a kind at the wrong place is told so in other words than
/// one of a kind that does not exist.
#[derive(Debug, Default)]
pub struct Kinds(HashSet<(String, String)>);

impl Kinds {
    /// The kinds of these groups.
    pub fn of(groups: &[ApiGroup]) -> Self {
        let mut kinds: HashSet<_> =
            ["Status", "List"].map(|kind| ("v1".to_owned(), kind.to_owned())).into();
        for resource in all(groups) {
            let definition = &resource.definition;
            kinds.insert((definition.api_version(), definition.kind.to_owned()));
            if resource.allows("list") {
                kinds.insert((definition.api_version(), format!("{}List", definition.kind)));
            }
        }
        Self(kinds)
    }

    /// Whether a kind is known.
    pub fn contains(&self, api_version: &str, kind: &str) -> bool {
        self.0.contains(&(api_version.to_owned(), kind.to_owned()))
    }
}

#[cfg(test)]
mod tests;
