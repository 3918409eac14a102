//! Code of Python templates, compiled once and sent along with later calls: CPython takes longer to compile a template
//! than to run it.
//!
//! Code is never taken from a child that has run a template, which could give what it likes to whoever has the same
//! template. It comes from one that has seen nothing but the source, and goes only where that source goes: who writes a
//! source that breaks the compiler gains what the template could do anyway. It is made behind the second call, since
//! many a template is rendered once.

use std::collections::BTreeMap;
use std::sync::Arc;

use expansion::{Call, Import, Imports, Language, Map, Text};
use moka::sync::Cache;
use sha2::{Digest as _, Sha256};

/// How many bytes are kept of all code.
const KEPT: u64 = 16 << 20;
/// Shorter sources are compiled sooner than anything is kept, in bytes.
const SHORTEST: usize = 512;
/// How many bytes of sources are looked up for a call: beyond that, reading the call takes longest.
const LONGEST: usize = 256 << 10;
/// How many bytes of code go with a call.
const SENT: usize = 512 << 10;

type Key = [u8; 32];

/// The code that is known.
pub(super) struct Compiled {
    kept: Cache<Key, Code>,
}

#[derive(Clone)]
enum Code {
    /// Its source was seen in one call.
    Seen,
    /// Somebody has it compiled, or it cannot be.
    Claimed,
    /// As a child wrote it down, and will read it.
    Known(Text),
}

/// What is known of a call's sources.
#[derive(Default)]
pub(super) struct Found {
    /// Code by the name of the import.
    pub(super) code: BTreeMap<String, Text>,
    /// What is to be compiled. No later call is told so; one at the very same moment may be, which only takes time.
    pub(super) wanted: Vec<Source>,
}

/// A source that is worth compiling.
pub(super) struct Source {
    key: Key,
    name: String,
    import: Import,
}

impl Source {
    /// A call in which there is nothing else.
    pub(super) fn call(&self) -> Call {
        let imports = Imports::from([(self.name.clone(), self.import.clone())]);
        Call {
            id: 0,
            language: Language::Python,
            template: self.name.clone(),
            resource: Map::new(),
            env: Map::new(),
            imports: Arc::new(imports),
        }
    }
}

impl Compiled {
    pub(super) fn new() -> Self {
        let weigh = |_: &Key, code: &Code| {
            let length = if let Code::Known(text) = code { text.len() } else { 0 };
            u32::try_from(size_of::<Key>() + size_of::<Code>() + length).unwrap_or(u32::MAX)
        };
        Self { kept: Cache::builder().max_capacity(KEPT).weigher(weigh).build() }
    }

    /// The code of a Python call.
    pub(super) fn find(&self, call: &Call) -> Found {
        let mut found = Found::default();
        let python = |(name, import): &(&String, &Import)| {
            *name == &call.template || name.ends_with(".py") || import.path.ends_with(".py")
        };
        let (mut read, mut sent) = (0, 0);
        for (name, import) in call.imports.iter().filter(python) {
            read += import.content.len();
            if read > LONGEST {
                break;
            }
            if import.content.len() < SHORTEST {
                continue;
            }
            let key = key(name, &import.content);
            match self.kept.get(&key) {
                None => self.kept.insert(key, Code::Seen),
                Some(Code::Claimed) => {}
                Some(Code::Seen) => {
                    self.kept.insert(key, Code::Claimed);
                    found.wanted.push(Source { key, name: name.clone(), import: import.clone() });
                }
                Some(Code::Known(text)) => {
                    sent += text.len();
                    if sent <= SENT {
                        found.code.insert(name.clone(), text);
                    }
                }
            }
        }
        found
    }

    /// Leaves a source for another call to want: this one's template failed, and may have done so for its source.
    pub(super) fn leave(&self, source: &Source) {
        self.kept.insert(source.key, Code::Seen);
    }

    /// Keeps what came of a source.
    pub(super) fn keep(&self, source: &Source, code: &str) {
        self.kept.insert(source.key, Code::Known(code.into()));
    }
}

/// Names stand in code, for the sake of errors.
fn key(name: &str, content: &str) -> Key {
    let mut hasher = Sha256::new();
    hasher.update(name.len().to_le_bytes());
    hasher.update(name);
    hasher.update(content);
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(template: &str, files: &[(&str, &str)]) -> Call {
        let import = |(name, content): &(&str, &str)| {
            let content = format!("{content}{}", "#".repeat(SHORTEST)).into();
            ((*name).to_owned(), Import { path: String::new(), content })
        };
        let imports = Arc::new(files.iter().map(import).collect());
        let (language, template) = (Language::Python, template.to_owned());
        Call { id: 1, language, template, resource: Map::new(), env: Map::new(), imports }
    }

    fn wanted(found: &Found) -> Vec<&str> {
        found.wanted.iter().map(|source| source.name.as_str()).collect()
    }

    #[test]
    fn a_source_is_wanted_once_at_the_second_call_and_known_from_then_on() {
        let compiled = Compiled::new();
        let call = call("t", &[("t", "1"), ("h.py", "2"), ("readme.txt", "3")]);
        assert!(wanted(&compiled.find(&call)).is_empty());
        let second = compiled.find(&call);
        assert_eq!(wanted(&second), ["h.py", "t"]);
        assert!(wanted(&compiled.find(&call)).is_empty());
        compiled.leave(&second.wanted[0]);
        assert_eq!(wanted(&compiled.find(&call)), ["h.py"]);
        compiled.keep(&second.wanted[1], "code of t");
        let third = compiled.find(&call);
        assert_eq!(third.code, BTreeMap::from([("t".to_owned(), "code of t".into())]));
        assert!(third.wanted.is_empty());
    }

    #[test]
    fn code_is_only_for_the_same_source_of_the_same_name() {
        let compiled = Compiled::new();
        let first = call("t", &[("t", "1")]);
        compiled.find(&first);
        compiled.keep(&compiled.find(&first).wanted[0], "code");
        assert_eq!(compiled.find(&first).code.len(), 1);
        for other in [call("t", &[("t", "2")]), call("u", &[("u", "1")])] {
            assert!(compiled.find(&other).code.is_empty());
        }
    }

    #[test]
    fn a_call_to_compile_has_nothing_but_the_source() {
        let compiled = Compiled::new();
        let mut call = call("t", &[("t", "1"), ("secret.txt", "2")]);
        call.env.insert("project".into(), "p".into());
        compiled.find(&call);
        let alone = compiled.find(&call).wanted[0].call();
        assert_eq!(alone.imports.keys().collect::<Vec<_>>(), ["t"]);
        assert!(alone.env.is_empty() && alone.resource.is_empty());
    }

    #[test]
    fn what_is_short_or_much_is_left_alone() {
        let compiled = Compiled::new();
        let mut short = call("t", &[("t", "")]);
        Arc::get_mut(&mut short.imports).unwrap().get_mut("t").unwrap().content = "x = 1".into();
        let much = call("t", &[("t", "x".repeat(LONGEST).as_str())]);
        for call in [short, much] {
            for _ in 0..3 {
                assert!(wanted(&compiled.find(&call)).is_empty());
            }
        }
    }
}
