//! What the placeholders of a scenario stand for on this server.
//!
//! A placeholder is bound where an answer shows it first, must fit ever after, and is filled into later requests.
//! Revisions are ranks: only their order and equality are recorded.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use regex::Regex;
use serde_json::Value;

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"<(?:(uid|rv|rand|gen|continue):(\d+)|(time|etag|hash|httpdate|rvnum))>")
        .expect("the pattern is a constant")
});

/// How a revision is to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revision {
    /// Of an object: equal ranks are equal numbers.
    Object,
    /// Of a list, Table or bookmark: the recorded server shared its store, so its number may be further on.
    Collection,
}

/// The bindings of one scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    /// Placeholder, such as `uid:1`, → text.
    texts: BTreeMap<String, String>,
    revisions: BTreeMap<u64, (u64, Revision)>,
    /// Placeholder → generator expression, of the exchange at hand.
    pub generated: BTreeMap<String, String>,
    /// Placeholder → what the token holds, of the exchange at hand.
    pub tokens: BTreeMap<String, Value>,
}

impl Bindings {
    /// `text` with every bound placeholder replaced.
    pub(crate) fn fill(&self, text: &str) -> String {
        PLACEHOLDER
            .replace_all(text, |found: &regex::Captures<'_>| {
                let name = &found[0][1..found[0].len() - 1];
                let bound = match name.strip_prefix("rv:").and_then(|rank| rank.parse().ok()) {
                    Some(rank) => {
                        self.revisions.get(&rank).map(|(revision, _)| revision.to_string())
                    }
                    None => self.texts.get(name).cloned(),
                };
                bound.unwrap_or_else(|| found[0].to_owned())
            })
            .into_owned()
    }

    /// Whether `got` is what `want` says, binding what `want` shows for the first time.
    pub(crate) fn fits(&mut self, want: &str, got: &str, revision: Revision) -> bool {
        if !PLACEHOLDER.is_match(want) {
            return want == got;
        }
        let Some(parts) = Pattern::of(want, &self.generated).captures(got) else { return false };
        parts.into_iter().all(|(name, text)| self.bind(&name, &text, revision))
    }

    fn bind(&mut self, name: &str, got: &str, revision: Revision) -> bool {
        if let Some(rank) = name.strip_prefix("rv:").and_then(|rank| rank.parse().ok()) {
            return got.parse().is_ok_and(|got| self.bind_revision(rank, got, revision));
        }
        if name.starts_with("continue:") {
            // The same position may be spelt anew; what it holds is compared.
            self.texts.insert(name.to_owned(), got.to_owned());
            return self.token_fits(name, got);
        }
        if !name.contains(':') {
            return true;
        }
        if let Some(bound) = self.texts.get(name) {
            return bound == got;
        }
        // Two identities are two values.
        let fresh = !name.starts_with("uid:")
            || !self.texts.iter().any(|(other, text)| other.starts_with("uid:") && text == got);
        self.texts.insert(name.to_owned(), got.to_owned());
        fresh
    }

    fn bind_revision(&mut self, rank: u64, got: u64, revision: Revision) -> bool {
        match (self.revisions.get(&rank), revision) {
            (Some(&(bound, Revision::Object)), Revision::Object) => return bound == got,
            (Some(&(bound, _)), Revision::Collection) => return got >= bound,
            _ => {}
        }
        let strict = |other: Revision| other == Revision::Object && revision == Revision::Object;
        let fits = self.revisions.iter().all(|(&other, &(bound, kind))| match other.cmp(&rank) {
            std::cmp::Ordering::Less => bound < got || !strict(kind) && bound == got,
            std::cmp::Ordering::Greater => got < bound || !strict(kind) && bound == got,
            std::cmp::Ordering::Equal => true,
        });
        self.revisions.insert(rank, (got, revision));
        fits
    }

    fn token_fits(&mut self, name: &str, got: &str) -> bool {
        let Some(want) = self.tokens.get(&format!("<{name}>")).cloned() else { return true };
        let Some(held) = BASE64_URL_SAFE_NO_PAD
            .decode(got)
            .ok()
            .and_then(|json| serde_json::from_slice::<Value>(&json).ok())
        else {
            return false;
        };
        let revision = want["rv"].as_str().unwrap_or_default().to_owned();
        held["v"] == want["v"]
            && held["start"] == want["start"]
            && self.fits(&revision, &held["rv"].to_string(), Revision::Collection)
    }
}

/// A recorded text as a pattern of what may stand in its place.
struct Pattern {
    expression: Option<Regex>,
    names: Vec<String>,
}

impl Pattern {
    fn of(want: &str, generated: &BTreeMap<String, String>) -> Self {
        let (mut expression, mut names, mut end) = (String::from(r"\A(?s)"), Vec::new(), 0);
        for found in PLACEHOLDER.find_iter(want) {
            expression.push_str(&regex::escape(&want[end..found.start()]));
            let name = &found.as_str()[1..found.len() - 1];
            expression.push_str(&format!("({})", shape(name, generated)));
            names.push(name.to_owned());
            end = found.end();
        }
        expression.push_str(&regex::escape(&want[end..]));
        expression.push_str(r"\z");
        Self { expression: Regex::new(&expression).ok(), names }
    }

    fn captures(&self, got: &str) -> Option<Vec<(String, String)>> {
        let captures = self.expression.as_ref()?.captures(got)?;
        let texts = captures.iter().skip(1).map(|text| text.map_or("", |text| text.as_str()));
        Some(self.names.iter().cloned().zip(texts.map(str::to_owned)).collect())
    }
}

/// The form of the value that a placeholder stands for.
fn shape(name: &str, generated: &BTreeMap<String, String>) -> String {
    let kind = name.split(':').next().unwrap_or(name);
    match kind {
        "uid" => "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}".to_owned(),
        "rv" | "rvnum" => "[0-9]+".to_owned(),
        "rand" => "[bcdfghjklmnpqrstvwxz2456789]{5}".to_owned(),
        "gen" => generated
            .get(&format!("<{name}>"))
            .map_or_else(|| ".*".to_owned(), |from| generator(from)),
        "time" => r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z".to_owned(),
        "etag" => r#""[0-9A-F]+""#.to_owned(),
        "hash" => "[0-9A-F]+".to_owned(),
        "continue" => "[A-Za-z0-9_-]+".to_owned(),
        _ => ".*".to_owned(),
    }
}

/// What a generator expression can yield, ranges with their last character.
pub(crate) fn generator(from: &str) -> String {
    static CLASS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\[([a-zA-Z0-9\-\\]+)\]\{([0-9]+)\}").expect("the pattern is a constant")
    });
    let (mut expression, mut end) = (String::new(), 0);
    for found in CLASS.captures_iter(from) {
        let whole = found.get(0).expect("group 0 is the match");
        expression.push_str(&regex::escape(&from[end..whole.start()]));
        let count: usize = found[2].parse().unwrap_or(0);
        expression.push_str(&format!("[{}]{{{count}}}", alphabet(&found[1])));
        end = whole.end();
    }
    expression.push_str(&regex::escape(&from[end..]));
    expression
}

/// A generator's class as the class of a regular expression.
fn alphabet(class: &str) -> String {
    // The order that ranges run in: `a-Z` is every letter, `a-9` every letter and digit.
    const ORDER: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let at = |c: char| ORDER.find(c);
    let characters: Vec<char> = class.chars().collect();
    let (mut set, mut i) = (String::new(), 0);
    while i < characters.len() {
        match (characters[i], characters.get(i + 1).copied(), characters.get(i + 2).copied()) {
            ('\\', Some('A'), _) => {
                set.push_str(r##"~`!@#$%\^&*()\-_+={}\[\]\\|<,>.?/"';:"##);
                i += 2;
            }
            ('\\', Some(escape), _) => {
                set.push_str(match escape {
                    'd' => "0-9",
                    'a' => "a-zA-Z0-9",
                    _ => "a-zA-Z0-9_",
                });
                i += 2;
            }
            (first, Some('-'), Some(last)) if at(first) <= at(last) => {
                if let (Some(from), Some(to)) = (at(first), at(last)) {
                    set.push_str(&ORDER[from..=to]);
                }
                i += 3;
            }
            ('-', _, _) => {
                set.push_str(r"\-");
                i += 1;
            }
            (single, _, _) => {
                set.push(single);
                i += 1;
            }
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    const UID: &str = "8a0f5f5e-0b0c-4c7d-9a59-8f3f0f3b6d11";
    const OTHER: &str = "8a0f5f5e-0b0c-4c7d-9a59-8f3f0f3b6d12";

    fn fits(bindings: &mut Bindings, want: &str, got: &str) -> bool {
        bindings.fits(want, got, Revision::Object)
    }

    #[test]
    fn an_identity_is_bound_once_and_filled_into_requests() {
        let mut bindings = Bindings::default();
        assert!(fits(&mut bindings, "<uid:1>", UID));
        assert!(fits(&mut bindings, "<uid:1>", UID));
        assert!(!fits(&mut bindings, "<uid:1>", OTHER));
        assert_eq!(bindings.fill("/x/<uid:1>?<uid:9>"), format!("/x/{UID}?<uid:9>"));
    }

    #[test]
    fn two_identities_are_not_one() {
        let mut bindings = Bindings::default();
        assert!(fits(&mut bindings, "<uid:1>", UID));
        assert!(!fits(&mut bindings, "<uid:2>", UID));
    }

    #[test]
    fn revisions_keep_order_and_equality() {
        let mut bindings = Bindings::default();
        assert!(fits(&mut bindings, "<rv:2>", "10"));
        assert!(fits(&mut bindings, "<rv:3>", "11"));
        assert!(!fits(&mut bindings.clone(), "<rv:3>", "12"), "equal ranks are equal");
        assert!(!fits(&mut bindings.clone(), "<rv:4>", "11"), "a later rank is greater");
        assert!(!fits(&mut bindings.clone(), "<rv:1>", "10"), "an earlier rank is smaller");
        assert!(fits(&mut bindings, "<rv:1>", "3"));
    }

    #[test]
    fn the_revision_of_a_list_may_be_that_of_the_newest_object() {
        let mut bindings = Bindings::default();
        assert!(fits(&mut bindings, "<rv:6>", "10"));
        assert!(bindings.fits("<rv:7>", "10", Revision::Collection));
        assert!(!bindings.clone().fits("<rv:7>", "9", Revision::Collection));
        assert!(fits(&mut bindings, "<rv:8>", "11"));
    }

    #[test]
    fn placeholders_inside_texts_are_matched_by_their_form() {
        let mut bindings = Bindings::default();
        assert!(fits(&mut bindings, "gen-<rand:1>", "gen-x7k2q"));
        assert!(!fits(&mut bindings.clone(), "gen-<rand:2>", "gen-x7k"));
        assert!(fits(&mut bindings, "current: <rvnum>", "current: 17"));
        assert!(fits(&mut bindings, "t: \"<time>\"\n", "t: \"2026-11-20T06:51:43Z\"\n"));
        assert!(!fits(&mut bindings, "<time>", "yesterday"));
        assert!(fits(&mut bindings, "<first> a literal", "<first> a literal"));
    }

    #[test]
    fn generated_values_match_their_expression() {
        let check = |from: &str, good: &str, bad: &str| {
            let mut bindings = Bindings::default();
            bindings.generated.insert("<gen:1>".to_owned(), from.to_owned());
            assert!(fits(&mut bindings.clone(), "<gen:1>", good), "{from}: {good}");
            assert!(!fits(&mut bindings, "<gen:1>", bad), "{from}: {bad}");
        };
        check("[a-z]{3}", "abz", "ab1");
        check("user[A-Z0-9]{2}", "userZ9", "userz9");
        check("[a-Z]{2}", "aZ", "a1");
        check("[a-9]{3}", "aZ9", "a_9");
        check(r"[\A]{2}", "~:", "a:");
        check(r"[\w]{2}", "_a", "-a");
        check("[-a-z]{2}", "-a", "A-");
    }

    #[test]
    fn a_continue_token_holds_what_was_recorded() {
        let token =
            BASE64_URL_SAFE_NO_PAD.encode(r#"{"v":"meta.k8s.io/v1","rv":12,"start":"/b\u0000"}"#);
        let mut bindings = Bindings::default();
        bindings.tokens.insert(
            "<continue:1>".to_owned(),
            serde_json::json!({"v": "meta.k8s.io/v1", "rv": "<rv:7>", "start": "/b\u{0}"}),
        );
        assert!(fits(&mut bindings.clone(), "<continue:1>", &token));
        bindings.tokens.insert("<continue:1>".to_owned(), serde_json::json!({"start": "/c\u{0}"}));
        assert!(!fits(&mut bindings, "<continue:1>", &token));
    }
}
