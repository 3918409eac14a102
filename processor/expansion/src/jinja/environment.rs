//! The engine, set up once and cloned for all calls with the same imports.

use std::sync::{Arc, LazyLock};

use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};

use super::{filters, globals, methods, print, source};
use crate::call::Imports;

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

/// The environment of calls with these imports: they are its other templates, by their names and nothing else.
pub(super) fn environment(imports: &Arc<Imports>) -> Environment<'static> {
    let mut environment = BASE.clone();
    let imports = Arc::clone(imports);
    environment.set_loader(move |name| {
        let Some(import) = imports.get(name) else { return Ok(None) };
        match source::prepare(&import.content) {
            Ok(text) => Ok(Some(text.into_owned())),
            Err(error) => Err(Error::new(ErrorKind::SyntaxError, error.to_string())),
        }
    });
    environment
}
