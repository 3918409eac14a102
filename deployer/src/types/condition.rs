//! Conditions, as every kind of Kubernetes has them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// `True`, `False`, or not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Truth {
    /// It is so.
    True,
    /// It is not so.
    False,
    /// Nobody knows yet.
    #[default]
    Unknown,
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}

/// One of the things that are true of a Deployment or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// Which: `Expanded`, `Planned`, `Authorized`, `Applied`, `Ready` or `Drifted`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it is so.
    pub status: Truth,
    /// Why, in one word.
    pub reason: String,
    /// Why, for people.
    pub message: String,
    /// When the status last became another.
    pub last_transition_time: String,
    /// Of which generation this is said.
    pub observed_generation: i64,
}

/// The conditions, in the order in which they come to be and are written.
const ORDER: [&str; 6] = ["Expanded", "Planned", "Authorized", "Applied", "Ready", "Drifted"];

/// Sets a condition. Its time changes only with its status, and nothing does when all is the same.
pub fn set_condition(conditions: &mut Vec<Condition>, new: Condition, now: Timestamp) {
    let time = crate::time::written(now);
    match conditions.iter_mut().find(|condition| condition.kind == new.kind) {
        Some(old) => {
            let last_transition_time =
                if old.status == new.status { old.last_transition_time.clone() } else { time };
            *old = Condition { last_transition_time, ..new };
        }
        None => {
            conditions.push(Condition { last_transition_time: time, ..new });
            conditions.sort_by_key(|condition| {
                ORDER.iter().position(|kind| *kind == condition.kind).unwrap_or(ORDER.len())
            });
        }
    }
}

/// What was so before and is so now has been so since then, whatever was said in between.
pub(crate) fn keep_times(conditions: &mut [Condition], before: &[Condition]) {
    for condition in conditions {
        let old = before.iter().find(|old| old.kind == condition.kind);
        if let Some(old) = old.filter(|old| old.status == condition.status) {
            condition.last_transition_time.clone_from(&old.last_transition_time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(status: bool, reason: &str) -> Condition {
        let (kind, reason) = ("Ready".to_owned(), reason.to_owned());
        Condition { kind, reason, status: status.into(), ..Condition::default() }
    }

    #[test]
    fn the_time_is_that_of_the_last_change_of_the_status() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut conditions = Vec::new();
        set_condition(&mut conditions, condition(false, "A"), at(1));
        set_condition(&mut conditions, condition(false, "B"), at(2));
        assert_eq!(conditions[0].last_transition_time, "1970-01-01T00:00:01Z");
        assert_eq!(conditions[0].reason, "B");
        set_condition(&mut conditions, condition(true, "B"), at(3));
        assert_eq!(conditions[0].last_transition_time, "1970-01-01T00:00:03Z");
        assert_eq!(conditions.len(), 1);
    }

    #[test]
    fn what_is_said_only_in_between_is_no_transition() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut before = Vec::new();
        set_condition(&mut before, condition(false, "A"), at(1));
        let mut now = before.clone();
        set_condition(&mut now, condition(true, "A"), at(2));
        set_condition(&mut now, condition(false, "A"), at(2));
        keep_times(&mut now, &before);
        assert_eq!(now, before);
        set_condition(&mut now, condition(true, "A"), at(3));
        keep_times(&mut now, &before);
        assert_eq!(now[0].last_transition_time, "1970-01-01T00:00:03Z");
    }

    #[test]
    fn conditions_stand_in_the_order_of_the_work() {
        let mut conditions = Vec::new();
        for kind in ["Ready", "Expanded", "Drifted", "Applied"] {
            let new = Condition { kind: kind.to_owned(), ..Condition::default() };
            set_condition(&mut conditions, new, Timestamp::UNIX_EPOCH);
        }
        let kinds: Vec<_> = conditions.iter().map(|condition| &*condition.kind).collect();
        assert_eq!(kinds, ["Expanded", "Applied", "Ready", "Drifted"]);
    }
}
