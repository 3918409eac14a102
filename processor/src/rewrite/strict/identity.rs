//! What an object says it is: `apiVersion` and `kind`, after substitution.
//!
//! Where labels go depends on both, so they are looked up before the walk. They are nearly always
//! the first two members, and the look ends when both are found.

use super::super::Rewriter;
use super::invalid;
use crate::error::{Reason, go_compact, go_quote};
use crate::json::{Defect, Quoted, Scanner, Syntax};
use crate::values::Form;

/// An object's `apiVersion` and `kind`.
pub(super) struct Identity {
    api_version: Said,
    kind: Said,
}

/// What a member says.
enum Said {
    /// It is not there, or null.
    Nothing,
    Text(String),
    /// JSON that is no string.
    Other(String),
    /// It refers to parameters that have no value yet.
    Unknown,
}

impl Identity {
    /// Reads the map under the cursor.
    pub(super) fn read(rewriter: &mut Rewriter) -> Self {
        let mut identity = Identity { api_version: Said::Nothing, kind: Said::Nothing };
        let mut scanner = Scanner::new(&rewriter.text[rewriter.at..]);
        // Leaving early looks like an error to the scanner.
        let _ = scanner.members(|scanner, key| {
            let said = match &*key.decode() {
                "apiVersion" => &mut identity.api_version,
                "kind" => &mut identity.kind,
                _ => return scanner.value().map(drop),
            };
            *said = Said::read(rewriter, scanner)?;
            match (&identity.api_version, &identity.kind) {
                (Said::Nothing, _) | (_, Said::Nothing) => Ok(()),
                _ => Err(scanner.syntax(Defect::Trailing)),
            }
        });
        identity
    }

    pub(super) fn kind(&self) -> &str {
        self.kind.text()
    }

    /// The API group; empty for the core group.
    pub(super) fn group(&self) -> &str {
        self.api_version.text().split_once('/').map_or("", |(group, _)| group)
    }
}

impl Said {
    fn read(rewriter: &mut Rewriter, scanner: &mut Scanner) -> std::result::Result<Self, Syntax> {
        let json = scanner.value()?;
        let text = json.as_str();
        Ok(match json.kind() {
            "null" => Said::Nothing,
            "string" => {
                if rewriter.is_check() && text.contains(['$', '\\']) {
                    return Ok(Said::Unknown);
                }
                match rewriter.outcome_of(json) {
                    Form::Text(content) => Said::Text(Quoted::proven(&content).decode().into()),
                    Form::Json(json) => Said::Other(json),
                    Form::Null | Form::TooDeep => Said::Nothing,
                }
            }
            _ => Said::Other(go_compact(text)),
        })
    }

    fn text(&self) -> &str {
        match self {
            Said::Text(text) => text,
            _ => "",
        }
    }
}

impl Rewriter<'_> {
    /// Whether the map under the cursor is a list of objects: by the convention that all of the API
    /// keeps its kind says so, and it has `items`.
    pub(super) fn is_list(&self, identity: &Identity) -> bool {
        let mut has_items = false;
        if identity.kind().ends_with("List") {
            let read = Scanner::new(&self.text[self.at..]).members(|scanner, key| {
                has_items |= key.decode() == "items" && scanner.peek() == b'[';
                scanner.value().map(drop)
            });
            read.expect("an object's text is proven JSON");
        }
        has_items
    }

    /// Complains unless the object under the cursor says what it is.
    pub(super) fn check_identity(&mut self, identity: &Identity) {
        let at = self.at;
        for (member, said) in [("apiVersion", &identity.api_version), ("kind", &identity.kind)] {
            match said {
                Said::Text(text) if !text.is_empty() => {}
                Said::Unknown => {}
                Said::Other(json) => {
                    self.complain(at, member, invalid(json.clone()), "must be a string".to_owned());
                }
                Said::Nothing | Said::Text(_) => {
                    let detail = "an object needs its apiVersion and its kind".to_owned();
                    self.complain(at, member, Reason::Required, detail);
                }
            }
        }
        let api_version = identity.api_version.text();
        if api_version.matches('/').count() > 1 {
            let detail = "must be a version, or a group, '/' and a version".to_owned();
            self.complain(at, "apiVersion", invalid(go_quote(api_version)), detail);
        }
    }
}
