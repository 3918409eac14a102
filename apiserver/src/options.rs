//! The options of a request, read from its query and checked: `CreateOptions`, `UpdateOptions`,
//! `PatchOptions`, `ListOptions`. (`DeleteOptions` come in a body: [`crate::handlers::delete`].)

use http::HeaderMap;
use http::header::USER_AGENT;
use storage::Revision;

use crate::field::{self, quote};
use crate::request::Query;
use crate::resource::FieldValidation;
use crate::status::{Error, Subject};

/// The longest name of a field manager, in bytes.
const FIELD_MANAGER_LIMIT: usize = 128;

/// What every write may carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether nothing may be changed (`dryRun=All`).
    pub dry_run: bool,
    /// Who owns the fields that the write sets: `fieldManager`, or the client's name.
    pub manager: String,
    /// What happens to unknown and repeated fields.
    pub field_validation: FieldValidation,
}

impl WriteOptions {
    /// Reads and checks the options of one `kind`, e.g. `CreateOptions`.
    ///
    /// # Errors
    /// 422 with every option that is wrong.
    pub fn read(kind: &str, query: &Query, headers: &HeaderMap) -> Result<Self, Error> {
        let mut errors = Vec::new();
        if kind == "PatchOptions" && query.has("force") {
            errors
                .push(field::Error::forbidden("force", "may not be specified for non-apply patch"));
        }
        let given = query.get("fieldManager").unwrap_or_default();
        errors.extend(field_manager_problem(given));
        let dry_run = dry_run(query.all("dryRun"), &mut errors);
        let field_validation = match query.get("fieldValidation") {
            None | Some("" | "Warn") => FieldValidation::Warn,
            Some("Ignore") => FieldValidation::Ignore,
            Some("Strict") => FieldValidation::Strict,
            Some(other) => {
                let supported = ["", "Ignore", "Strict", "Warn"];
                errors.push(field::Error::not_supported(
                    "fieldValidation",
                    quote(other),
                    &supported,
                ));
                FieldValidation::Warn
            }
        };
        refuse(kind, &errors)?;
        let manager =
            if given.is_empty() { manager_from_user_agent(headers) } else { given.to_owned() };
        Ok(Self { dry_run, manager, field_validation })
    }
}

/// 422 for the options of a request, if any is wrong.
pub(crate) fn refuse(kind: &str, errors: &[field::Error]) -> Result<(), Error> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Error::invalid(Subject { group: "meta.k8s.io", kind }, "", errors))
}

/// Reads `dryRun`, which may stand repeatedly and knows one value.
pub(crate) fn dry_run<'a>(
    values: impl Iterator<Item = &'a str>,
    errors: &mut Vec<field::Error>,
) -> bool {
    let values: Vec<&str> = values.collect();
    if values.iter().any(|value| *value != "All") {
        let list = serde_json::to_string(&values).unwrap_or_default();
        errors.push(field::Error::not_supported("dryRun", list, &["All"]));
    }
    !values.is_empty()
}

fn field_manager_problem(name: &str) -> Option<field::Error> {
    if name.len() > FIELD_MANAGER_LIMIT {
        return Some(field::Error::too_long("fieldManager", FIELD_MANAGER_LIMIT));
    }
    let (position, character) =
        name.char_indices().find(|(_, character)| is_unprintable(*character))?;
    let detail =
        format!("invalid character U+{:04X} (at position {position})", u32::from(character));
    Some(field::Error::invalid("fieldManager", quote(name), detail))
}

fn is_unprintable(character: char) -> bool {
    character != ' ' && (character.is_control() || character.is_whitespace())
}

/// The client's name: its User-Agent up to the first slash, at most 128 bytes, printable.
fn manager_from_user_agent(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let agent = agent.split('/').next().unwrap_or_default();
    let mut name = String::new();
    for character in agent.chars().filter(|character| !is_unprintable(*character)) {
        if name.len() + character.len_utf8() > FIELD_MANAGER_LIMIT {
            break;
        }
        name.push(character);
    }
    if name.is_empty() { "unknown".to_owned() } else { name }
}

/// How the revision of a list is meant (`resourceVersionMatch`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// Not said.
    Unset,
    /// At that revision, no other.
    Exact,
    /// At that revision or a newer one.
    NotOlderThan,
}

/// A resourceVersion in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Absent or empty: the newest state.
    Newest,
    /// `0`: any state.
    Any,
    /// That revision.
    At(Revision),
}

impl Wanted {
    /// Reads a resourceVersion. The error is Go's sentence, without a code.
    pub fn parse(text: &str) -> Result<Self, String> {
        match parse_uint(text) {
            _ if text.is_empty() => Ok(Self::Newest),
            Ok(0) => Ok(Self::Any),
            Ok(number) => Ok(Self::At(Revision::new(number))),
            Err(why) => {
                let text = quote(text);
                Err(format!(
                    "resourceVersion: Invalid value: {text}: strconv.ParseUint: parsing {text}: {why}"
                ))
            }
        }
    }
}

impl Wanted {
    /// The revision that a list or a watch asks for.
    ///
    /// # Errors
    /// 400 for what is none.
    pub(crate) fn of_list(options: &ListOptions) -> Result<Self, Error> {
        Self::parse(&options.resource_version)
            .map_err(|why| Error::bad_request(format!("invalid resource version: {why}")))
    }
}

/// A decimal number as Go's `strconv.ParseUint` reads it: digits and nothing else.
pub(crate) fn parse_uint(text: &str) -> Result<u64, &'static str> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("invalid syntax");
    }
    text.parse().map_err(|_| "value out of range")
}

/// The options of list, watch and deletecollection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListOptions {
    /// The revision that is asked for, as text.
    pub resource_version: String,
    /// How it is meant.
    pub version_match: Match,
    /// At most so many items; 0 for all.
    pub limit: usize,
    /// Where the page before ended.
    pub continuation: String,
    /// End a watch after so many seconds; 0 leaves it to the server.
    pub timeout_seconds: Option<i64>,
    /// Whether a watch may hold bookmarks.
    pub allow_bookmarks: bool,
    /// Whether a watch begins with the present state.
    pub send_initial_events: Option<bool>,
}

impl ListOptions {
    /// Reads and checks the options.
    ///
    /// # Errors
    /// 400 for what is no number, 422 for options that do not go together.
    pub fn read(query: &Query, is_watch: bool) -> Result<Self, Error> {
        let limit = query.integer("limit")?.unwrap_or(0).max(0);
        let timeout_seconds = query.integer("timeoutSeconds")?;
        let options = Self {
            resource_version: query.get("resourceVersion").unwrap_or_default().to_owned(),
            version_match: match query.get("resourceVersionMatch") {
                Some("Exact") => Match::Exact,
                Some("NotOlderThan") => Match::NotOlderThan,
                _ => Match::Unset,
            },
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            continuation: query.get("continue").unwrap_or_default().to_owned(),
            timeout_seconds,
            allow_bookmarks: query.flag("allowWatchBookmarks"),
            send_initial_events: query.optional_flag("sendInitialEvents"),
        };
        let stated = query.get("resourceVersionMatch").unwrap_or_default();
        let errors =
            if is_watch { options.watch_problems(stated) } else { options.list_problems(stated) };
        refuse("ListOptions", &errors)?;
        Ok(options)
    }

    fn list_problems(&self, stated: &str) -> Vec<field::Error> {
        let path = "resourceVersionMatch";
        let mut errors = Vec::new();
        if !stated.is_empty() {
            if self.resource_version.is_empty() {
                let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                errors.push(field::Error::forbidden(path, why));
            }
            if !self.continuation.is_empty() {
                let why = "resourceVersionMatch is forbidden when continue is provided";
                errors.push(field::Error::forbidden(path, why));
            }
            if self.version_match == Match::Unset {
                let supported = ["Exact", "NotOlderThan", ""];
                errors.push(field::Error::not_supported(path, quote(stated), &supported));
            }
            if self.version_match == Match::Exact && self.resource_version == "0" {
                let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                errors.push(field::Error::forbidden(path, why));
            }
        }
        if self.send_initial_events.is_some() {
            let why = "sendInitialEvents is forbidden for list";
            errors.push(field::Error::forbidden("sendInitialEvents", why));
        }
        errors
    }

    fn watch_problems(&self, stated: &str) -> Vec<field::Error> {
        let path = "resourceVersionMatch";
        let mut errors = Vec::new();
        if self.send_initial_events.is_some() {
            if self.version_match != Match::NotOlderThan {
                let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
                errors.push(field::Error::forbidden(path, why));
            }
        } else if !stated.is_empty() {
            let why =
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.push(field::Error::forbidden(path, why));
        }
        if !stated.is_empty() && stated != "NotOlderThan" {
            errors.push(field::Error::not_supported(path, quote(stated), &["NotOlderThan"]));
        }
        if !self.continuation.is_empty() {
            let why = "resourceVersionMatch is forbidden when continue is provided";
            errors.push(field::Error::forbidden(path, why));
        }
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(query: &str) -> Result<WriteOptions, Error> {
        WriteOptions::read("CreateOptions", &Query::parse(query), &HeaderMap::new())
    }

    #[test]
    fn dry_run_knows_one_value() {
        assert!(write("dryRun=All&dryRun=All").unwrap().dry_run);
        assert_eq!(
            write("dryRun=x").unwrap_err().message(),
            "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"x\"]: supported values: \"All\""
        );
    }

    #[test]
    fn the_manager_is_the_client_when_none_is_named() {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, "kubectl/v1.36".parse().unwrap());
        let read =
            |query| WriteOptions::read("CreateOptions", &Query::parse(query), &headers).unwrap();
        assert_eq!(read("").manager, "kubectl");
        assert_eq!(read("fieldManager=me").manager, "me");
        assert_eq!(write("").unwrap().manager, "unknown");
    }

    #[test]
    fn every_wrong_option_is_named() {
        let error = write("fieldManager=a%00b&dryRun=x&fieldValidation=y").unwrap_err();
        assert_eq!(error.details().unwrap().causes.len(), 3);
    }

    #[test]
    fn a_watch_of_the_initial_state_says_how_old_it_may_be() {
        let read = |query| ListOptions::read(&Query::parse(query), true);
        assert!(read("sendInitialEvents=true").is_err());
        assert!(read("sendInitialEvents=true&resourceVersionMatch=NotOlderThan").is_ok());
        assert!(read("resourceVersionMatch=NotOlderThan").is_err());
    }
}
