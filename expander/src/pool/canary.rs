//! Attacks of our own, to see that the walls hold: what is tried, and what exactly has to come of it.

use std::sync::Arc;

use expansion::{Call, Fault, Import, Imports, Language, Map, Outcome, Rendered, Value};

/// A template that is tried.
pub(super) struct Canary {
    /// What it tries.
    pub(super) name: &'static str,
    /// Whether it is tried every minute.
    pub(super) often: bool,
    language: Language,
    source: String,
    contained: fn(&Outcome) -> bool,
}

/// The way past the guards of the language, which are no walls: from an allowed module to the system calls.
const PAST_THE_GUARD: &str =
    "import json\nmodules = json.codecs.sys.modules\nposix = modules['posix']\n";

impl Canary {
    /// The call that is rendered.
    pub(super) fn call(&self) -> Call {
        let name = match self.language {
            Language::Jinja => "canary.jinja",
            Language::Python => "canary.py",
        };
        let import = Import { path: String::new(), content: self.source.as_str().into() };
        let resource = [("name", "canary"), ("type", name)];
        let resource = resource.map(|(key, value)| (key.to_owned(), Value::from(value)));
        let mut resource = Map::from(resource);
        resource.insert("properties".into(), Value::Map(Map::new()));
        let env =
            [("deployment", "canary"), ("project", "canary"), ("name", "canary"), ("type", name)];
        Call {
            id: 0,
            language: self.language,
            template: name.into(),
            resource,
            env: env.map(|(key, value)| (key.to_owned(), Value::from(value))).into(),
            imports: Arc::new(Imports::from([(name.to_owned(), import)])),
        }
    }

    /// Whether that came of it which has to.
    pub(super) fn is_contained(&self, outcome: &Outcome) -> bool {
        (self.contained)(outcome)
    }
}

/// Whether a clock ended it, of which only the canary that spins may say that this contained it.
pub(super) fn is_late(outcome: &Outcome) -> bool {
    kind(outcome) == "TimeLimit"
}

/// All of them. `memory` is what a child may have, in MiB.
pub(super) fn all(memory: u64) -> Vec<Canary> {
    let python = |name, body: &str, contained| Canary {
        name,
        often: false,
        language: Language::Python,
        source: format!("{PAST_THE_GUARD}def generate_config(context):\n{}\n", indented(body)),
        contained,
    };
    let jinja = |name, source: &str, contained| Canary {
        name,
        often: false,
        language: Language::Jinja,
        source: source.to_owned(),
        contained,
    };
    let too_much = (memory + 64) << 20;
    let mut canaries = vec![
        python("a Python template", "return {'resources': [1 + 1]}", renders_data),
        python("open", "posix.open('/etc/passwd', 0)", is_refused),
        python("fork", "posix.fork()", is_refused),
        // To the own group, without a signal: nothing but a wall refuses that.
        python("signal", "posix.kill(0, 0)", is_refused),
        python("socket", SOCKET, is_refused_or_missing),
        python("execute", "posix.execv('/', ['canary'])", is_forbidden),
        python(
            "memory",
            &format!("return {{'resources': [len(bytearray({too_much}))]}}"),
            is_memory,
        ),
        python("spin", "while True: pass", is_time),
        jinja("a Jinja template", "resources: [{{ 1 + 1 }}]", renders_text),
        jinja("Jinja memory", JINJA_BOMB, is_memory),
    ];
    for canary in &mut canaries[..2] {
        canary.often = true;
    }
    canaries
}

/// A built-in module that was not loaded is loaded past the sealed import system.
const SOCKET: &str = "\
imp = modules['_imp']
class spec: name = '_socket'; origin = None
if '_socket' not in json.codecs.sys.builtin_module_names: raise LookupError('no sockets')
module = imp.create_builtin(spec)
imp.exec_builtin(module)
module.socket(2, 1, 0)";

/// 64 bytes, doubled 32 times, are 256 GiB.
const JINJA_BOMB: &str = "{% set bomb = namespace(text='0123456789abcdef' * 4) %}\
{% for _ in range(32) %}{% set bomb.text = bomb.text ~ bomb.text %}{% endfor %}{{ bomb.text }}";

fn indented(body: &str) -> String {
    body.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn kind(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Failed(fault) => &fault.kind,
        Outcome::Rendered(_) => "",
    }
}

fn renders_data(outcome: &Outcome) -> bool {
    let want = r#"{"resources":[2]}"#;
    matches!(outcome, Outcome::Rendered(Rendered::Data { value, .. }) if value.to_json() == want)
}

fn renders_text(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Rendered(Rendered::Text { text, .. }) if text == "resources: [2]")
}

/// `EPERM` is what the filter answers; another error would be another layer's, with this one missing.
fn is_refused(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(fault)
        if fault.kind == "PermissionError" && fault.message.contains("[Errno 1]"))
}

/// An interpreter without the module cannot try.
fn is_refused_or_missing(outcome: &Outcome) -> bool {
    let missing = matches!(outcome, Outcome::Failed(fault)
        if fault.message.contains("no sockets"));
    missing || is_refused(outcome)
}

/// The other filter kills, so nothing but the end of the child can tell.
fn is_forbidden(outcome: &Outcome) -> bool {
    let verdict = |fault: &Fault| fault.kind == "Forbidden" && fault.frames.is_empty();
    matches!(outcome, Outcome::Failed(fault) if verdict(fault))
}

fn is_memory(outcome: &Outcome) -> bool {
    matches!(kind(outcome), "MemoryError" | "MemoryLimit")
}

fn is_time(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(fault)
        if fault.kind == "TimeLimit" && fault.message.contains("processor"))
}
