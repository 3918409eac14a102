//! One template that is to be rendered, and what came of it.
//!
//! These types cross the wall to the process that renders: they serialize, and whatever comes back may have been made
//! by somebody hostile.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::value::{Map, Value};

/// In which language a template is written. The suffix of its path says so: `.jinja` and `.yaml`, or `.py`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Jinja, rendered to YAML text.
    Jinja,
    /// Python with a `GenerateConfig` or `generate_config`.
    Python,
}

/// A file that templates may read, include or import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// Where it comes from; its suffix decides the language. Shown in errors. Empty: the name stands for it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The text.
    pub content: Text,
}

/// Text that many calls share.
pub type Text = Arc<str>;

/// All files of an expansion by name, which is what `type`, `include` and `context.imports` say.
pub type Imports = BTreeMap<String, Import>;

/// One template to be rendered for one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Which call of this expansion it is; goes back with the answer.
    pub id: u64,
    /// What the template is written in.
    pub language: Language,
    /// Name of the import that is the template; its text is found in `imports`.
    pub template: String,
    /// The resource: `name`, `type`, `properties` with defaults filled in, and whatever else stands there.
    pub resource: Map,
    /// `env`: deployment, project, current_time and so on of the caller; name and type of this resource.
    pub env: Map,
    /// Everything that may be imported.
    pub imports: Arc<Imports>,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The template was rendered.
    Rendered(Rendered),
    /// The template is at fault.
    Failed(Fault),
}

/// What a template gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Rendered {
    /// Text that is still to be read as YAML: all of Jinja, and Python that returns a string.
    Text {
        /// The text.
        text: String,
        /// `properties` as the template left them: Python may change them, and the layout shows it.
        properties: Option<Value>,
        /// Instructions that were used up.
        fuel: u64,
    },
    /// Data: Python that returns a dictionary. Not yet known to be one.
    Data {
        /// The value.
        value: Value,
        /// As in `Text`.
        properties: Option<Value>,
    },
}

/// What is wrong with a template, in the words of its language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The kind of error, such as `ZeroDivisionError`, `UndefinedError`, `TemplateSyntaxError`; for limits `TimeLimit`,
    /// `MemoryLimit`, `OutputLimit`; for what the walls refuse `Forbidden`.
    pub kind: String,
    /// One sentence; control characters are escaped.
    pub message: String,
    /// File and line where it happened, outermost first; files are import names, never paths of a machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// What to do about it, where that is known: "this looks like Python 2".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A place in a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Name of the import, or `<python:yaml.parser>` for library code.
    pub file: String,
    /// From 1; 0 is unknown.
    pub line: u32,
    /// Function, macro or block; empty at the top.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// The line of source, where it is the caller's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}
