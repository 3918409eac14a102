//! Filters and tests of Jinja2 2.8 that the engine lacks or has in a later form.
//!
//! A few that came after 2.8 stay, since Deployment Manager's successor had them. Filters that need chance are refused:
//! an expansion gives the same result each time.

mod data;
mod items;
mod markup;
mod number;
mod tests;
mod text;

use minijinja::value::{ArgType, Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind};
use minijinja_contrib::filters as contrib;

use super::{fault, percent, print, source};

/// Puts them into the environment.
pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter(source::PERCENT, percent::percent);
    environment.add_filter("center", text::center);
    environment.add_filter("filesizeformat", contrib::filesizeformat);
    environment.add_filter("indent", text::indent);
    environment.add_filter("join", items::join);
    environment.add_filter("replace", text::replace);
    environment.add_filter("string", |value: &Value| print::text(value));
    environment.add_filter("striptags", contrib::striptags);
    environment.add_filter("title", text::title);
    environment.add_filter("truncate", text::truncate);
    environment.add_filter("wordcount", text::wordcount);
    environment.add_filter("wordwrap", text::wordwrap);
    environment.add_filter("batch", items::batch);
    environment.add_filter("slice", items::slice);
    environment.add_filter("dictsort", items::dictsort);
    environment.add_filter("first", items::first);
    environment.add_filter("last", items::last);
    environment.add_filter("length", items::length);
    environment.add_filter("count", items::length);
    environment.add_filter("random", refused);
    environment.add_filter("sort", items::sort);
    environment.add_filter("float", number::float);
    environment.add_filter("int", number::int);
    environment.add_filter("e", markup::escape);
    environment.add_filter("escape", markup::escape);
    environment.add_filter("forceescape", markup::escape);
    environment.add_filter("urlencode", markup::urlencode);
    environment.add_filter("xmlattr", markup::xmlattr);
    environment.add_filter("pprint", data::pprint);
    environment.add_filter("tojson", data::tojson);
    environment.add_filter("yaml", data::yaml);
    environment.add_test("callable", tests::callable);
    environment.add_test("divisibleby", tests::divisibleby);
    environment.add_test("sequence", tests::sequence);
}

fn refused(_: &Value) -> Result<Value, Error> {
    Err(failed(fault::NO_CHANCE))
}

fn failed(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, what.into())
}

/// The text of a value that has to be there: these filters fail on what is undefined, where others take it for nothing.
fn defined(value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        // The engine's own error knows what is undefined.
        value.get_attr("splitlines")?;
    }
    Ok(print::text(value))
}

/// An argument that is given by its place or by its name.
fn given<'a, T>(by_place: Option<T>, named: &'a Kwargs, name: &'a str) -> Result<Option<T>, Error>
where
    T: ArgType<'a, Output = T>,
{
    match by_place {
        Some(value) => Ok(Some(value)),
        None => named.get(name),
    }
}
