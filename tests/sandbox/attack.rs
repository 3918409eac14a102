//! A row: what is tried, and what exactly has to come of it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use expander::{Bounds, ExpandError, NoFetch, Pool, Terms};
use expansion::{Call, Import, Imports, Input, Language, Limits, Map, Outcome, Rendered, Value};
use tokio::time::Instant;

/// How long a row may take in all; none comes near it.
const PATIENCE: Duration = Duration::from_secs(300);
/// Bytes of an answer.
const OUTPUT: usize = 1 << 20;

/// Where templates in Python that walk round the guards begin: `sys` is a module's module away, and with it all that is
/// loaded. `load` brings what is built into the interpreter and was never loaded.
const PAST_THE_GUARD: &str = "\
import json
sys = json.codecs.sys
modules = sys.modules
posix = modules['posix']
def load(name):
  class spec: origin = None
  spec.name = name
  module = modules['_imp'].create_builtin(spec)
  modules['_imp'].exec_builtin(module)
  return module
";

/// An attack, and its outcome.
pub(crate) struct Attack {
    /// What it tries.
    pub(crate) name: String,
    what: What,
    want: Want,
}

enum What {
    /// One template, rendered by the pool.
    Template { language: Language, files: Vec<(String, String)> },
    /// A configuration, expanded to its end.
    Configuration { text: String, files: Vec<(String, String)> },
}

/// What has to come of an attack.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Want {
    /// The template is at fault: the kind, and a part of the message.
    Fault(&'static str, &'static str),
    /// It ends well and has gained nothing: data, as JSON.
    Data(&'static str),
    /// It ends well and has gained nothing: text.
    Text(&'static str),
    /// The expansion fails; part of what is said.
    Fails(&'static str),
    /// The expansion succeeds and has gained nothing: part of its resources, as JSON.
    Expands(&'static str),
}

/// The filter's answer to a system call. Another error number would be another wall's.
pub(crate) const REFUSED: Want =
    Want::Fault("PermissionError", "[Errno 1] Operation not permitted");
/// A forbidden system call.
pub(crate) const FORBIDDEN: Want = Want::Fault("Forbidden", "made a system call that is forbidden");
/// The timer on processor time.
pub(crate) const TOO_SLOW: Want = Want::Fault("TimeLimit", "processor time");
/// The limit on address space, met by Python.
pub(crate) const TOO_MUCH: Want = Want::Fault("MemoryLimit", "more memory than it may have");
/// The interpreter ended itself.
pub(crate) const CRASH: Want = Want::Fault("Crash", "crashed the interpreter (signal ");

/// A template in Python as its author would write it; `body` is that of its entry.
pub(crate) fn guarded(name: &str, body: &str, want: Want) -> Attack {
    source(name, &function(body), want)
}

/// A template in Python that has left the guards behind it.
pub(crate) fn walk(name: &str, body: &str, want: Want) -> Attack {
    source(name, &format!("{PAST_THE_GUARD}{}", function(body)), want)
}

/// A whole file of Python.
pub(crate) fn source(name: &str, source: &str, want: Want) -> Attack {
    files(name, Language::Python, &[("attack.py", source)], want)
}

/// A template in Jinja.
pub(crate) fn jinja(name: &str, source: &str, want: Want) -> Attack {
    files(name, Language::Jinja, &[("attack.jinja", source)], want)
}

/// A template, the first of these files.
pub(crate) fn files(name: &str, language: Language, files: &[(&str, &str)], want: Want) -> Attack {
    Attack { name: name.into(), what: What::Template { language, files: owned(files) }, want }
}

/// A configuration and its imports.
pub(crate) fn configuration(name: &str, text: &str, files: &[(&str, &str)], want: Want) -> Attack {
    let what = What::Configuration { text: text.into(), files: owned(files) };
    Attack { name: name.into(), what, want }
}

/// A configuration of one resource, whose type is the first of these files.
pub(crate) fn expanded(name: &str, files: &[(&str, &str)], want: Want) -> Attack {
    let text = format!("resources:\n- name: a\n  type: {}\n", files[0].0);
    configuration(name, &text, files, want)
}

fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect()
}

/// The entry of a template.
pub(crate) fn function(body: &str) -> String {
    format!("def generate_config(context):\n  {}\n", body.trim_end().replace('\n', "\n  "))
}

impl Attack {
    /// The same with the name of its family before its own.
    pub(crate) fn of(self, family: &str) -> Self {
        Self { name: format!("{family}: {}", self.name), ..self }
    }

    /// Whether a clock has to end it, that of the processor or that on the wall.
    pub(crate) fn is_to_run_out_of_time(&self) -> bool {
        matches!(self.want, Want::Fault("TimeLimit", part) if part.contains("time"))
    }

    /// Tries it, and says what came of it; an error is one that had not to. `@CANARY@` and `@PID@` in templates are a folder of ours
    /// and this process.
    pub(crate) async fn attempt(&self, pool: &Pool, canary: &Path) -> Result<String, String> {
        let fill = |text: &String| {
            let pid = std::process::id().to_string();
            text.replace("@CANARY@", &canary.to_string_lossy()).replace("@PID@", &pid)
        };
        let fill_all = |files: &[(String, String)]| {
            let file = |(name, content): &(String, String)| {
                let import = Import { path: String::new(), content: fill(content).into() };
                (name.clone(), import)
            };
            files.iter().map(file).collect::<Imports>()
        };
        let got = match &self.what {
            What::Template { language, files } => {
                let call = call(*language, &files[0].0, fill_all(files));
                render(pool, call).await
            }
            What::Configuration { text, files } => expand(pool, fill(text), fill_all(files)).await,
        };
        let seen = format!("{got:?}");
        if self.want.is_met_by(&got) {
            return Ok(seen);
        }
        let shown: String = seen.chars().take(600).collect();
        Err(format!("{}\n    wanted {:?}\n    got    {shown}", self.name, self.want))
    }
}

/// What came of an attack, all in text.
#[derive(Debug, PartialEq)]
pub(crate) enum Got {
    /// Kind, message, and the files of the trace.
    Fault(String, String, Vec<String>),
    Data(String),
    Text(String),
    Fails(String),
    Expands(String),
    /// No template is to blame: something of ours broke.
    Broke(String),
}

impl Want {
    fn is_met_by(&self, got: &Got) -> bool {
        let says = |message: &str, part: &str| !part.is_empty() && message.contains(part);
        match (self, got) {
            (Want::Fault(kind, part), Got::Fault(is, message, files)) => {
                let is_ours = |file: &String| !file.contains("/etc") && !file.contains("/usr");
                kind == is
                    && says(message, part)
                    && is_printable(message)
                    && files.iter().all(is_ours)
            }
            (Want::Data(want), Got::Data(got)) | (Want::Text(want), Got::Text(got)) => want == got,
            (Want::Fails(part), Got::Fails(message)) => {
                says(message, part) && is_printable(message)
            }
            (Want::Expands(part), Got::Expands(resources)) => says(resources, part),
            _ => false,
        }
    }
}

/// No message may redraw a terminal; a line for each problem is all right. Nor may it be a book.
fn is_printable(message: &str) -> bool {
    message.chars().all(|c| c == '\n' || !c.is_control()) && message.len() < 64 << 10
}

/// A call of the first template among `imports` with that name.
pub(crate) fn call(language: Language, template: &str, imports: Imports) -> Call {
    let text = |pairs: &[(&str, &str)]| {
        let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), Value::from(*value));
        pairs.iter().map(pair).collect::<Map>()
    };
    let mut resource = text(&[("name", "a"), ("type", template)]);
    resource.insert("properties".into(), Value::Map(text(&[("zone", "north")])));
    let env = text(&[("deployment", "d"), ("project", "p"), ("name", "a"), ("type", template)]);
    let (template, imports) = (template.to_owned(), Arc::new(imports));
    Call { id: 1, language, template, resource, env, imports }
}

/// Has the pool render a call.
pub(crate) async fn render(pool: &Pool, call: Call) -> Got {
    let bounds = Bounds { fuel: Limits::default().fuel, output: OUTPUT };
    let terms = Terms { bounds, deadline: Instant::now() + PATIENCE };
    match pool.render(call, terms).await {
        Ok(Outcome::Failed(fault)) => {
            let files = fault.frames.into_iter().map(|frame| frame.file).collect();
            Got::Fault(fault.kind, fault.message, files)
        }
        Ok(Outcome::Rendered(Rendered::Text { text, .. })) => Got::Text(text),
        Ok(Outcome::Rendered(Rendered::Data { value, .. })) => Got::Data(value.to_json()),
        Err(error) => Got::Broke(error.to_string()),
    }
}

/// Expands a configuration.
pub(crate) async fn expand(pool: &Pool, configuration: String, imports: Imports) -> Got {
    let env = [("deployment", "d"), ("project", "p")];
    let env = env.map(|(key, value)| (key.to_owned(), Value::from(value))).into();
    let input = Input { configuration, imports, env, ..Input::default() };
    match expander::expand(input, pool, &NoFetch, Instant::now() + PATIENCE).await {
        Ok(expanded) => Got::Expands(Value::List(expanded.resources).to_json()),
        Err(ExpandError::Failure(failure)) => Got::Fails(failure.to_string()),
        Err(error) => Got::Broke(error.to_string()),
    }
}
