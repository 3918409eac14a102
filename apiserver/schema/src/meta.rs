//! The definitions of `meta/v1` and `runtime` that kinds and OpenAPI documents refer to.
//!
//! Names and structure are upstream's: the aggregation layer merges the documents of all servers by
//! name, and a definition that differs would be renamed or would rename the others. Descriptions
//! are our own.

use crate::definition::{Field, Presence, Schema, Text};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";

fn meta(name: &str) -> Text {
    Text::from(format!("{META}{name}"))
}

pub(crate) fn type_meta_fields() -> [Field; 2] {
    let field = |name: &'static str, description: &'static str| Field {
        name: name.into(),
        schema: Schema::string(description),
        presence: Presence::Optional,
    };
    [
        field(
            "kind",
            "The kind of the object, in CamelCase. Defaults to the kind of the endpoint and cannot be changed.",
        ),
        field(
            "apiVersion",
            "The group and version of this representation of the object. Defaults to those of the endpoint.",
        ),
    ]
}

fn with_type_meta(mut schema: Schema) -> Schema {
    for field in type_meta_fields() {
        schema = schema.optional(field.name, field.schema);
    }
    schema
}

/// `Time`: RFC 3339, stored in UTC and whole seconds.
pub fn time() -> Schema {
    Schema::string("A point in time in RFC 3339, to the second.")
        .format("date-time")
        .named(meta("Time"))
}

/// `FieldsV1`: a set of field paths, kept as it came.
pub fn fields_v1() -> Schema {
    Schema::opaque("A set of fields as a JSON tree of field names and item keys.")
        .named(meta("FieldsV1"))
}

/// `RawExtension`: any JSON value, kept as it came. It takes every JSON value, though OpenAPI says
/// object.
pub fn raw_extension() -> Schema {
    Schema::opaque("An object of any kind, kept as it is.")
        .named("io.k8s.apimachinery.pkg.runtime.RawExtension")
}

/// `ObjectMeta`, in the order in which Go writes it. An empty `managedFields` is kept: it asks for
/// ownership to be cleared.
pub fn object_meta() -> Schema {
    Schema::object(meta("ObjectMeta"), "Metadata that every stored object has.")
        .optional("name", Schema::string("Unique within the namespace; cannot be changed."))
        .optional(
            "generateName",
            Schema::string(
                "A prefix from which the server makes a unique name when name is empty.",
            ),
        )
        .optional(
            "namespace",
            Schema::string("The namespace in which the name is unique; cannot be changed."),
        )
        .optional("selfLink", Schema::string("Deprecated; no longer set."))
        .optional("uid", Schema::string("Unique in time and space; set by the server."))
        .optional(
            "resourceVersion",
            Schema::string(
                "The version of the stored object, to detect changes. Opaque to clients.",
            ),
        )
        .optional(
            "generation",
            Schema::int64("A number that grows with each change of the desired state."),
        )
        .optional(
            "creationTimestamp",
            time().described("When the object was created; set by the server."),
        )
        .optional(
            "deletionTimestamp",
            time().described("When deletion was asked for; set by the server.").pointer(),
        )
        .optional(
            "deletionGracePeriodSeconds",
            Schema::int64("Seconds until the object is removed, once deletion was asked for.")
                .pointer(),
        )
        .optional(
            "labels",
            Schema::map(Schema::string(""))
                .described("Keys and values by which objects are selected."),
        )
        .optional(
            "annotations",
            Schema::map(Schema::string(""))
                .described("Keys and values that tools store with the object."),
        )
        .optional(
            "ownerReferences",
            Schema::list(owner_reference())
                .map_by(&["uid"])
                .extension("x-kubernetes-patch-merge-key", "uid")
                .extension("x-kubernetes-patch-strategy", "merge")
                .described(
                    "The objects this one depends on. It is removed when all of them are gone.",
                ),
        )
        .optional(
            "finalizers",
            Schema::list(Schema::string(""))
                .set()
                .extension("x-kubernetes-patch-strategy", "merge")
                .described("Names of those who must act before the object is removed."),
        )
        .optional_or_empty(
            "managedFields",
            Schema::list(managed_fields_entry())
                .atomic()
                .described("Who manages which fields; kept by the server."),
        )
}

/// `OwnerReference`: atomic, so that it is replaced as a whole.
pub fn owner_reference() -> Schema {
    Schema::object(
        meta("OwnerReference"),
        "A reference to an object that owns this one, in the same namespace or cluster-wide.",
    )
    .required("apiVersion", Schema::string("Group and version of the owner."))
    .required("kind", Schema::string("Kind of the owner."))
    .required("name", Schema::string("Name of the owner."))
    .required("uid", Schema::string("UID of the owner."))
    .optional(
        "controller",
        Schema::boolean("Whether the owner is the managing controller.").pointer(),
    )
    .optional(
        "blockOwnerDeletion",
        Schema::boolean("Whether a foreground deletion of the owner waits for this object.")
            .pointer(),
    )
    .atomic()
}

/// `ManagedFieldsEntry`.
pub fn managed_fields_entry() -> Schema {
    Schema::object(
        meta("ManagedFieldsEntry"),
        "The fields that one manager has set, by which operation and in which version.",
    )
    .optional("manager", Schema::string("Who manages these fields."))
    .optional("operation", Schema::string("How they were set: Apply or Update."))
    .optional("apiVersion", Schema::string("The version in which the field names are meant."))
    .optional("time", time().described("When the set of fields last changed.").pointer())
    .optional("fieldsType", Schema::string("The format of the set of fields: FieldsV1."))
    .optional("fieldsV1", fields_v1().described("The set of fields."))
    .optional("subresource", Schema::string("The subresource through which they were set, if any."))
}

/// `ListMeta`.
pub fn list_meta() -> Schema {
    Schema::object(meta("ListMeta"), "Metadata that every list has.")
        .optional("selfLink", Schema::string("Deprecated; no longer set."))
        .optional(
            "resourceVersion",
            Schema::string("The version of the store at which the list was made."),
        )
        .optional("continue", Schema::string("A token for the rest of the list, if there is more."))
        .optional(
            "remainingItemCount",
            Schema::int64("How many more items there are, where that is known.").pointer(),
        )
}

/// `DeleteOptions`, published for the core group. Add the groups of a server with [`Schema::also`].
pub fn delete_options() -> Schema {
    with_type_meta(Schema::object(meta("DeleteOptions"), "Options of a deletion."))
        .optional(
            "gracePeriodSeconds",
            Schema::int64("Seconds before the object is removed; 0 means now.").pointer(),
        )
        .optional(
            "preconditions",
            preconditions().described("What must hold for the deletion to happen, else 409."),
        )
        .optional(
            "orphanDependents",
            Schema::boolean(
                "Deprecated: use propagationPolicy. Whether dependents stay without an owner.",
            )
            .pointer(),
        )
        .optional(
            "propagationPolicy",
            Schema::string("What happens to dependents: Orphan, Background or Foreground.")
                .pointer(),
        )
        .optional(
            "dryRun",
            Schema::list(Schema::string(""))
                .atomic()
                .described("All: go through every stage but remove nothing."),
        )
        .optional(
            "ignoreStoreReadErrorWithClusterBreakingPotential",
            Schema::boolean(
                "Whether an object that cannot be read from storage is removed all the same.",
            )
            .pointer(),
        )
        .also("", "v1", "DeleteOptions")
}

/// `Preconditions`.
pub fn preconditions() -> Schema {
    Schema::object(meta("Preconditions"), "What must hold before a change is made.")
        .optional("uid", Schema::string("The expected UID.").pointer())
        .optional("resourceVersion", Schema::string("The expected resource version.").pointer())
}

/// `Patch`: a document for OpenAPI only.
pub fn patch() -> Schema {
    Schema::opaque("A patch, in the format that the content type names.").named(meta("Patch"))
}

/// `Status`.
pub fn status() -> Schema {
    with_type_meta(Schema::object(
        meta("Status"),
        "The outcome of a request that returns no other object.",
    ))
    .by_value("metadata", list_meta().described("Empty."))
    .optional("status", Schema::string("Success or Failure."))
    .optional("message", Schema::string("The outcome, for people."))
    .optional("reason", Schema::string("Why it failed, for programs."))
    // The marker has no effect on a struct, but upstream publishes it.
    .optional(
        "details",
        status_details()
            .extension("x-kubernetes-list-type", "atomic")
            .described("More about the reason."),
    )
    .optional("code", Schema::int32("The suggested HTTP status code."))
    .also("", "v1", "Status")
}

/// `StatusDetails`.
pub fn status_details() -> Schema {
    Schema::object(meta("StatusDetails"), "More about the reason of a Status.")
        .optional("name", Schema::string("Name of the resource in question."))
        .optional("group", Schema::string("Its group."))
        .optional("kind", Schema::string("Its kind, or the resource."))
        .optional("uid", Schema::string("Its UID."))
        .optional(
            "causes",
            Schema::list(status_cause()).atomic().described("Every single cause of the failure."),
        )
        .optional("retryAfterSeconds", Schema::int32("Seconds after which to try again."))
}

/// `StatusCause`.
pub fn status_cause() -> Schema {
    Schema::object(meta("StatusCause"), "One cause of a failure.")
        .optional("reason", Schema::string("What is wrong, for programs."))
        .optional("message", Schema::string("What is wrong, for people."))
        .optional("field", Schema::string("The field that is to blame, as in items[0].name."))
}

/// `WatchEvent`.
pub fn watch_event() -> Schema {
    Schema::object(meta("WatchEvent"), "One event of a watch.")
        .required("type", Schema::string("ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."))
        .required("object", raw_extension().described("The object, or a Status in case of ERROR."))
        .also("", "v1", "WatchEvent")
}

/// `APIResource`.
pub fn api_resource() -> Schema {
    let words = |description: &'static str| {
        Schema::list(Schema::string("")).atomic().described(description)
    };
    Schema::object(meta("APIResource"), "A resource and how it is served.")
        .required("name", Schema::string("Name in the plural."))
        .required("singularName", Schema::string("Name in the singular."))
        .required("namespaced", Schema::boolean("Whether its objects live in namespaces."))
        .optional(
            "group",
            Schema::string("Group of the kind, where it differs from that of the list."),
        )
        .optional(
            "version",
            Schema::string("Version of the kind, where it differs from that of the list."),
        )
        .required("kind", Schema::string("Kind of its objects."))
        .required("verbs", Schema::list(Schema::string("")).described("What can be done with it."))
        .optional("shortNames", words("Short names."))
        .optional("categories", words("Categories it belongs to, as all."))
        .optional(
            "storageVersionHash",
            Schema::string("Hash of the version in which it is stored."),
        )
}

/// `APIResourceList`.
pub fn api_resource_list() -> Schema {
    with_type_meta(Schema::object(meta("APIResourceList"), "The resources of a group and version."))
        .required("groupVersion", Schema::string("The group and version."))
        .required("resources", Schema::list(api_resource()).atomic().described("The resources."))
        .also("", "v1", "APIResourceList")
}

/// `GroupVersionForDiscovery`.
pub fn group_version_for_discovery() -> Schema {
    Schema::object(meta("GroupVersionForDiscovery"), "A version of a group.")
        .required("groupVersion", Schema::string("Group and version."))
        .required("version", Schema::string("The version alone."))
}

/// `ServerAddressByClientCIDR`.
pub fn server_address_by_client_cidr() -> Schema {
    Schema::object(
        meta("ServerAddressByClientCIDR"),
        "The address under which clients of a network reach the server.",
    )
    .required("clientCIDR", Schema::string("The network of the client."))
    .required("serverAddress", Schema::string("The address to use."))
}

/// `APIGroup`.
pub fn api_group() -> Schema {
    with_type_meta(Schema::object(meta("APIGroup"), "A group and its versions."))
        .required("name", Schema::string("Name of the group."))
        .required(
            "versions",
            Schema::list(group_version_for_discovery()).atomic().described("The versions served."),
        )
        .by_value(
            "preferredVersion",
            group_version_for_discovery().described("The version to prefer."),
        )
        .optional(
            "serverAddressByClientCIDRs",
            Schema::list(server_address_by_client_cidr())
                .atomic()
                .described("Addresses by network of the client."),
        )
        .also("", "v1", "APIGroup")
}

/// `APIGroupList`.
pub fn api_group_list() -> Schema {
    with_type_meta(Schema::object(meta("APIGroupList"), "The groups of a server."))
        .required("groups", Schema::list(api_group()).atomic().described("The groups."))
        .also("", "v1", "APIGroupList")
}

/// `ObjectReference` of the core group, which many kinds embed.
pub fn object_reference() -> Schema {
    Schema::object(
        "io.k8s.api.core.v1.ObjectReference",
        "A reference to an object or a part of one.",
    )
    .optional("kind", Schema::string("Kind of the object."))
    .optional("namespace", Schema::string("Namespace of the object."))
    .optional("name", Schema::string("Name of the object."))
    .optional("uid", Schema::string("UID of the object."))
    .optional("apiVersion", Schema::string("Group and version of the object."))
    .optional("resourceVersion", Schema::string("The version of the object that is meant, if any."))
    .optional(
        "fieldPath",
        Schema::string("The part of the object that is meant, as a JSONPath-like expression."),
    )
    .atomic()
}

/// `LocalObjectReference` of the core group: a name in the same namespace.
pub fn local_object_reference() -> Schema {
    Schema::object(
        "io.k8s.api.core.v1.LocalObjectReference",
        "A reference to an object in the same namespace by its name.",
    )
    .optional("name", Schema::string("Name of the object."))
    .atomic()
}
