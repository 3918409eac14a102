//! From places in an object's text to the paths that errors name.
//!
//! The walk does not carry paths, which nobody needs when all is well. When something is wrong the
//! object is read once more, and every place gets the path of the innermost value around it. Paths
//! are in the template's own words: keys as they are before substitution.

use std::fmt::Write as _;
use std::iter::Peekable;

use crate::Json;
use crate::error::MAX_ERROR_TEXT;
use crate::json::{Scanner, Syntax};

/// The paths of places in `object`, which are in ascending order. They end early when their text
/// is more than errors may say: keys can be megabytes long.
pub(super) fn paths(object: Json, places: impl Iterator<Item = usize>) -> Vec<String> {
    let mut search =
        Search { places: places.peekable(), path: String::new(), found: Vec::new(), size: 0 };
    let mut scanner = Scanner::new(object.as_str());
    search.value(&mut scanner).expect("an object's text is proven JSON");
    search.found
}

struct Search<I: Iterator<Item = usize>> {
    places: Peekable<I>,
    /// The path of the value being read.
    path: String,
    found: Vec<String>,
    /// How much text that is.
    size: usize,
}

impl<I: Iterator<Item = usize>> Search<I> {
    fn value(&mut self, scanner: &mut Scanner) -> Result<(), Syntax> {
        match scanner.peek() {
            b'{' => scanner.members(|scanner, key| {
                self.child(scanner, |path| push_key(path, &key.decode()))
            })?,
            b'[' => {
                let mut index = 0;
                scanner.elements(|scanner| {
                    let result = self.child(scanner, |path| {
                        write!(path, "[{index}]").expect("a String takes all text");
                    });
                    index += 1;
                    result
                })?;
            }
            _ => drop(scanner.value()?),
        }
        self.claim(scanner.position());
        Ok(())
    }

    fn child(
        &mut self,
        scanner: &mut Scanner,
        step: impl FnOnce(&mut String),
    ) -> Result<(), Syntax> {
        scanner.peek();
        self.claim(scanner.position());
        let length = self.path.len();
        step(&mut self.path);
        let result = self.value(scanner);
        self.path.truncate(length);
        result
    }

    /// All places before `end` that no inner value has claimed are places of this one.
    fn claim(&mut self, end: usize) {
        while self.places.next_if(|&place| place < end).is_some() {
            if self.size <= MAX_ERROR_TEXT {
                self.size += self.path.len();
                self.found.push(self.path.clone());
            }
        }
    }
}

/// `.name`, or `[a.b/c]` for a key that would be mistaken for several.
fn push_key(path: &mut String, key: &str) {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let written = if !key.is_empty() && key.chars().all(is_plain) {
        write!(path, ".{key}")
    } else {
        write!(path, "[{key}]")
    };
    written.expect("a String takes all text");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_the_path_of_the_innermost_value_around_it() {
        let text = r#" {"a": [1, {"x.y/z": "here"}], "b-c" : {"k": null, "there": 2}, "": 3}"#;
        let object = Json::parse(text).unwrap();
        let places = [
            object.as_str().find("1,").unwrap(),
            object.as_str().find("x.y").unwrap(),
            object.as_str().find("\"here").unwrap(),
            object.as_str().find("here").unwrap(),
            object.as_str().find("null").unwrap(),
            object.as_str().find("there").unwrap(),
            object.as_str().find("2}").unwrap() + 1,
            object.as_str().find("3}").unwrap(),
            object.as_str().len() - 1,
        ];
        assert_eq!(
            paths(object, places.into_iter()),
            [".a[0]", ".a[1]", ".a[1][x.y/z]", ".a[1][x.y/z]", ".b-c.k", ".b-c", ".b-c", "[]", ""]
        );
    }
}
