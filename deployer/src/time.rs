//! Times as Kubernetes writes them: RFC 3339, in UTC, whole seconds.

use jiff::{Timestamp, Unit};

/// The text of a time.
pub(crate) fn written(time: Timestamp) -> String {
    time.round(Unit::Second).unwrap_or(time).to_string()
}

/// The time of a text; none if it is not one.
pub(crate) fn read(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}
