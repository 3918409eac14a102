//! The query parameters of the operations. Their names and types are upstream's; kubectl looks for
//! `fieldValidation` before it relies on the server to find typos.

pub(super) use crate::resource::Parameter;

const fn parameter(name: &'static str, kind: &'static str, description: &'static str) -> Parameter {
    Parameter { name, kind, description }
}

pub(super) const PRETTY: Parameter =
    parameter("pretty", "string", "If 'true', the answer is indented.");

const CONTINUE: Parameter = parameter(
    "continue",
    "string",
    "The token of the last page, to get the next one. It is good for a few minutes, for a query that is otherwise the same.",
);
const DRY_RUN: Parameter = parameter(
    "dryRun",
    "string",
    "'All' runs every stage of the request except storing. Any other value is refused.",
);
const FIELD_MANAGER: Parameter = parameter(
    "fieldManager",
    "string",
    "The name of whoever makes these changes, at most 128 printable characters. By default, what stands before the slash in User-Agent.",
);
const FIELD_SELECTOR: Parameter =
    parameter("fieldSelector", "string", "Restricts the objects by their fields.");
const FIELD_VALIDATION: Parameter = parameter(
    "fieldValidation",
    "string",
    "What to do with unknown and repeated fields: 'Ignore' drops them, 'Warn' (the default) drops them with a warning each, 'Strict' refuses the request.",
);
const GRACE_PERIOD_SECONDS: Parameter = parameter(
    "gracePeriodSeconds",
    "integer",
    "How many seconds the object is given before it is deleted; 0 means at once.",
);
const LABEL_SELECTOR: Parameter =
    parameter("labelSelector", "string", "Restricts the objects by their labels.");
const LIMIT: Parameter = parameter(
    "limit",
    "integer",
    "How many objects to answer at most. If there are more, the list's metadata has a continue token.",
);
const ORPHAN_DEPENDENTS: Parameter = parameter(
    "orphanDependents",
    "boolean",
    "Deprecated, use propagationPolicy. Whether dependents are left behind.",
);
const PROPAGATION_POLICY: Parameter = parameter(
    "propagationPolicy",
    "string",
    "What becomes of dependents: 'Orphan' leaves them, 'Background' deletes them afterwards, 'Foreground' deletes them first.",
);
const RESOURCE_VERSION: Parameter = parameter(
    "resourceVersion",
    "string",
    "The version that the answer is to be based on, as resourceVersionMatch says.",
);
const RESOURCE_VERSION_MATCH: Parameter = parameter(
    "resourceVersionMatch",
    "string",
    "How resourceVersion is meant: 'Exact' or 'NotOlderThan'.",
);
const SEND_INITIAL_EVENTS: Parameter = parameter(
    "sendInitialEvents",
    "boolean",
    "Whether a watch begins with an event for every object there is, followed by a bookmark.",
);
const TIMEOUT_SECONDS: Parameter = parameter(
    "timeoutSeconds",
    "integer",
    "After how many seconds the server ends the request, however active it is.",
);

pub(super) const LIST: &[Parameter] = &[
    parameter(
        "allowWatchBookmarks",
        "boolean",
        "Whether a watch may send events that only tell the version reached.",
    ),
    CONTINUE,
    FIELD_SELECTOR,
    LABEL_SELECTOR,
    LIMIT,
    RESOURCE_VERSION,
    RESOURCE_VERSION_MATCH,
    SEND_INITIAL_EVENTS,
    TIMEOUT_SECONDS,
    parameter(
        "watch",
        "boolean",
        "Whether to answer with a stream of changes, from resourceVersion on, rather than a list.",
    ),
];

/// Of what is computed, and neither watched nor cut into pages.
pub(super) const LIST_COMPUTED: &[Parameter] =
    &[FIELD_SELECTOR, LABEL_SELECTOR, RESOURCE_VERSION, RESOURCE_VERSION_MATCH];

/// Of creations, replacements and patches.
pub(super) const WRITE: &[Parameter] = &[DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];

pub(super) const DELETE: &[Parameter] =
    &[DRY_RUN, GRACE_PERIOD_SECONDS, ORPHAN_DEPENDENTS, PROPAGATION_POLICY];

pub(super) const DELETE_COLLECTION: &[Parameter] = &[
    CONTINUE,
    DRY_RUN,
    FIELD_SELECTOR,
    GRACE_PERIOD_SECONDS,
    LABEL_SELECTOR,
    LIMIT,
    ORPHAN_DEPENDENTS,
    PROPAGATION_POLICY,
    RESOURCE_VERSION,
    RESOURCE_VERSION_MATCH,
    SEND_INITIAL_EVENTS,
    TIMEOUT_SECONDS,
];
