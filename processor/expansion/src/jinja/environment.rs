//! The engine, set up once and cloned for each call.

use std::sync::{Arc, LazyLock};

use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};

use super::{filters, globals, methods, print, source};
use crate::call::Call;

static BASE: LazyLock<Environment<'static>> = LazyLock::new(base);

/// What all calls have in common. Cloning it copies a handful of pointers.
fn base() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_unknown_method_callback(methods::call);
    environment.set_formatter(print::print);
    filters::add(&mut environment);
    globals::add(&mut environment);
    // Only so that errors name what is undefined.
    environment.set_debug(true);
    environment
}

/// The environment of one call: other templates are its imports, by their names and nothing else.
pub(super) fn environment(call: &Call, fuel: u64) -> Environment<'static> {
    let mut environment = BASE.clone();
    let imports = Arc::clone(&call.imports);
    environment.set_loader(move |name| {
        let Some(import) = imports.get(name) else { return Ok(None) };
        match source::prepare(&import.content) {
            Ok(text) => Ok(Some(text.into_owned())),
            Err(error) => Err(Error::new(ErrorKind::SyntaxError, error.to_string())),
        }
    });
    // The engine counts with a sign.
    environment.set_fuel(Some(fuel.min(i64::MAX.unsigned_abs())));
    environment
}
