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

/// Sets a condition. Its time changes only with its status, and nothing does when all is the same.
pub fn set_condition(conditions: &mut Vec<Condition>, new: Condition, now: Timestamp) {
    let time = crate::time::written(now);
    match conditions.iter_mut().find(|condition| condition.kind == new.kind) {
        Some(old) => {
            let last_transition_time =
                if old.status == new.status { old.last_transition_time.clone() } else { time };
            *old = Condition { last_transition_time, ..new };
        }
        None => conditions.push(Condition { last_transition_time: time, ..new }),
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
}
