//! What stands in the frames of a channel.

use std::collections::BTreeMap;

use expansion::{Call, Fault, Outcome, Rendered, Text, Value};
use serde::{Deserialize, Serialize};

/// What a child is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// What to do with the call.
    #[serde(default)]
    pub mode: Mode,
    /// The template and what it is rendered with.
    pub call: Call,
    /// What [`Mode::Compile`] answered for some of the imports, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub code: BTreeMap<String, Text>,
    /// How much it may take.
    pub bounds: Bounds,
    /// Seconds since 1970: what every clock says in there.
    pub now: i64,
    /// What randomness is seeded with. The same call gets the same seed.
    pub seed: u64,
}

/// What to do with a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Render the template.
    #[default]
    Render,
    /// Translate the template from Python 2 to Python 3, and answer the text.
    Convert,
    /// Compile the template, which is not run, and answer its code as text that only a later call understands.
    Compile,
}

/// How much a call may take, as far as the child itself looks after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Instructions of Jinja.
    pub fuel: u64,
    /// Bytes of an answer.
    pub output: usize,
}

/// What a child answers. All of it is a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Text that is still to be read as YAML.
    Text {
        /// The text.
        text: String,
        /// `properties` after a Python template had them.
        #[serde(default)]
        properties: Option<Value>,
        /// Instructions of Jinja that were used up.
        #[serde(default)]
        fuel: u64,
    },
    /// Data that a Python template returned.
    Data {
        /// The value.
        value: Value,
        /// As above.
        #[serde(default)]
        properties: Option<Value>,
    },
    /// The template is at fault.
    Fault(Fault),
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Text { text, properties, fuel } => {
                Outcome::Rendered(Rendered::Text { text, properties, fuel })
            }
            Answer::Data { value, properties } => {
                Outcome::Rendered(Rendered::Data { value, properties })
            }
            Answer::Fault(fault) => Outcome::Failed(fault),
        }
    }
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Rendered(Rendered::Text { text, properties, fuel }) => {
                Answer::Text { text, properties, fuel }
            }
            Outcome::Rendered(Rendered::Data { value, properties }) => {
                Answer::Data { value, properties }
            }
            Outcome::Failed(fault) => Answer::Fault(fault),
        }
    }
}
