//! What an expansion depends on, as one number.
//!
//! Expansion is hermetic: no clock, network or randomness reaches a template. So two inputs with the same digest have
//! the same result. Files that are fetched on the way are input, too: whoever digests a result has to put them there.

use std::fmt::Write as _;
use std::io;

use expansion::{Input, Limits, Options};
use sha2::{Digest as _, Sha256};

/// Grows whenever the same input may give another result than before.
const VERSION: u32 = 1;

/// `sha256:` and the digest of everything that the result depends on, in hexadecimal.
pub fn digest(input: &Input) -> String {
    let Input { configuration, imports, env, options } = input;
    let mut hasher = Hasher(Sha256::new());
    hasher.field(&(VERSION, env!("CARGO_PKG_VERSION")));
    hasher.field(configuration);
    hasher.field(imports);
    // The order of members counts: a template may iterate over them.
    hasher.field(env);
    hasher.options(options);
    let mut text = String::from("sha256:");
    for byte in hasher.0.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// What a call's randomness is seeded with: deployment, resource and template, so that a second expansion draws the
/// same, and two resources do not.
pub(crate) fn seed(call: &expansion::Call) -> u64 {
    let mut hasher = Hasher(Sha256::new());
    hasher.field(&(call.env.get("deployment"), call.resource.get("name"), &call.template));
    let digest = hasher.0.finalize();
    let (first, _) = digest.split_first_chunk().expect("a digest has 32 bytes");
    u64::from_be_bytes(*first)
}

struct Hasher(Sha256);

impl Hasher {
    /// JSON text says where it ends, so that no two sequences of fields read alike.
    fn field(&mut self, field: &impl serde::Serialize) {
        serde_json::to_writer(&mut *self, field).expect("keys are strings and hashing never fails");
    }

    /// Takes the structs apart, so that a new option cannot be forgotten.
    fn options(&mut self, options: &Options) {
        let Options { validate_schemas, outputs, limits } = options;
        let Limits { depth, resources, calls, rounds, imports, output, input, env, fuel } = limits;
        self.field(&(validate_schemas, outputs));
        self.field(&(depth, resources, calls, rounds, imports, output, input, env, fuel));
    }
}

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use expansion::{Import, Value};

    use super::*;

    fn input() -> Input {
        let import = Import { path: "a/b.py".into(), content: "x".into() };
        let mut input = Input { configuration: "resources: []".into(), ..Input::default() };
        input.imports.insert("b.py".into(), import);
        input.env.insert("deployment".into(), "d".into());
        input
    }

    #[test]
    fn whatever_a_template_may_see_changes_the_digest() {
        let base = digest(&input());
        assert_eq!((base.len(), base.starts_with("sha256:")), (7 + 64, true));
        assert_eq!(base, digest(&input()));
        let changes: [fn(&mut Input); 6] = [
            |input| input.configuration.push('\n'),
            |input| input.imports.get_mut("b.py").unwrap().path.clear(),
            |input| input.imports.get_mut("b.py").unwrap().content = "y".into(),
            |input| drop(input.env.insert("current_time".into(), Value::from("1"))),
            |input| input.options.validate_schemas = false,
            |input| input.options.limits.fuel += 1,
        ];
        for change in changes {
            let mut changed = input();
            change(&mut changed);
            assert_ne!(base, digest(&changed), "{changed:?}");
        }
    }

    #[test]
    fn text_cannot_move_from_one_field_to_the_next() {
        let of = |configuration: &str, name: &str| {
            let mut input = Input { configuration: configuration.into(), ..Input::default() };
            input.env.insert(name.into(), Value::Null);
            digest(&input)
        };
        assert_ne!(of("a", "b"), of("a\"b", ""));
    }
}
