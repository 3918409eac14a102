//! What the answers of a level come to while more of them are awaited.
//!
//! They are judged when all of them are there, so that it does not matter which came first; but ten thousand of them may
//! be too much to keep until then, and that shows in time.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::{Fault, Language, Outcome, Rendered};
use crate::error::NAMED;
use crate::value::Value;

/// What the answers of a level come to so far; it is judged when all of them are there.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Bytes, as the budget will count them.
    pub(super) output: usize,
    /// Instructions.
    pub(super) fuel: u64,
    /// The calls with the first faults, in the order of the tree.
    faults: BTreeSet<u64>,
}

impl Heard {
    /// Puts an answer among the others, and counts it. It is [`of_use`].
    pub(super) fn take(&mut self, id: u64, outcome: Outcome, answers: &mut BTreeMap<u64, Outcome>) {
        let (size, properties) = match &outcome {
            Outcome::Rendered(Rendered::Text { text, properties, fuel }) => {
                self.fuel = self.fuel.saturating_add(*fuel);
                (text.len(), properties)
            }
            Outcome::Rendered(Rendered::Data { value, properties }) => (value.size(), properties),
            Outcome::Failed(_) => {
                self.faults.insert(id);
                (0, &None)
            }
        };
        self.output += size + properties.as_ref().map_or(0, Value::size);
        answers.insert(id, outcome);
        // A fault has a trace and lines of source. Those behind the last that is named are counted, and nothing is kept.
        if self.faults.len() > NAMED
            && let Some(last) = self.faults.pop_last()
        {
            answers.insert(last, Outcome::Failed(Fault::default()));
        }
    }
}

/// An answer without properties that are as they were: they would be in memory once more for each call. Jinja cannot change
/// them, whatever the answer says, and where there are none, none are shown.
pub(super) fn of_use(mut outcome: Outcome, language: Language, known: Option<&Value>) -> Outcome {
    if let Outcome::Rendered(
        Rendered::Text { properties, .. } | Rendered::Data { properties, .. },
    ) = &mut outcome
    {
        let changed = |properties: &mut Value| {
            language == Language::Python && known.is_some_and(|known| known != properties)
        };
        *properties = properties.take_if(changed);
    }
    outcome
}
