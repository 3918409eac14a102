//! What a resource says of itself: names, schema, rules. The verbs are written once, in
//! [`crate::handlers`]; here stands only what is peculiar to one resource.

mod column;
mod compute;
mod definition;
mod kinds;
mod parameter;
mod part;
mod strategy;

use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;
use merge::managed::ManagedKind;
use schema::Limits;

use crate::authn::User;
use crate::object::Object;
use crate::request::Query;
use crate::status::Error;

use self::part::ResetFields;

pub use self::column::{Cell, Column};
pub use self::compute::Compute;
pub use self::definition::{Definition, Scope};
pub use self::kinds::Kinds;
pub use self::parameter::Parameter;
pub use self::part::Part;
pub use self::strategy::Strategy;

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
    /// What it heeds in the query. Of all else there [`Get::get`] hears nothing.
    fn parameters(&self) -> &'static [Parameter] {
        &[]
    }

    /// The document, as JSON text. It may take its time: the request's deadline ends it.
    ///
    /// # Errors
    /// Whatever keeps the parent from having one.
    fn get<'a>(
        &'a self,
        cx: &'a Context<'a>,
        parent: Object,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<String, Error>>;
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
    /// Made of other objects when they are read, and not stored.
    Computed(Box<dyn Compute>),
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
    selectable: &'static [&'static str],
}

impl Resource {
    /// A resource without subresources and status.
    pub fn new(definition: Definition, serves: Serves) -> Self {
        let (api_version, head) = (definition.api_version(), definition.head());
        let empty = schema::decode(&definition.schema, "{}", Limits::default())
            .map(|decoded| decoded.stored_fields().into_owned())
            .unwrap_or_default();
        let managed = ManagedKind::new(&definition.schema);
        Self {
            definition,
            serves,
            subresources: Vec::new(),
            api_version,
            head,
            empty,
            managed,
            reset_fields: None,
            selectable: &[],
        }
    }

    /// The same with fields that a `fieldSelector` may name besides `metadata.name` and
    /// `metadata.namespace`: paths such as `spec.type`. Their values are strings, numbers or truth
    /// values; one that is absent, or anything else, is selected by as the empty text.
    ///
    /// # Panics
    /// If a path does not begin with a field of the schema.
    #[must_use]
    pub fn selectable_by(mut self, paths: &'static [&'static str]) -> Self {
        let fields = || self.definition.schema.as_object().into_iter().flat_map(|it| it.fields());
        let known = |path: &str| fields().any(|field| path.split('.').next() == Some(&field.name));
        let stranger = paths.iter().find(|path| !known(path));
        assert_eq!(stranger, None, "no field of {}", self.definition.kind);
        self.selectable = paths;
        self
    }

    /// The fields that a `fieldSelector` may name besides those of the metadata.
    pub fn selectable(&self) -> &'static [&'static str] {
        self.selectable
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
            Serves::Computed(_) => &["get", "list"],
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
            Serves::Created(_) | Serves::Computed(_) => None,
        }
    }

    /// What makes the objects of a computed resource.
    pub fn compute(&self) -> Option<&dyn Compute> {
        match &self.serves {
            Serves::Computed(compute) => Some(compute.as_ref()),
            Serves::Stored(_) | Serves::Kept(_) | Serves::Created(_) => None,
        }
    }

    /// The columns of a Table between `Name` and `Age`.
    pub fn columns(&self) -> &'static [Column] {
        match &self.serves {
            Serves::Stored(strategy) | Serves::Kept(strategy) => strategy.columns(),
            Serves::Computed(compute) => compute.columns(),
            Serves::Created(_) => &[],
        }
    }

    /// One cell for every one of [`Resource::columns`].
    pub fn cells(&self, object: &Object) -> Vec<Cell> {
        match &self.serves {
            Serves::Stored(strategy) | Serves::Kept(strategy) => strategy.cells(object),
            Serves::Computed(compute) => compute.cells(object),
            Serves::Created(_) => Vec::new(),
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

#[cfg(test)]
mod tests;
