//! `Warning` headers: what a client should hear although its request succeeded.
//!
//! They are text in quotes under code 299 (RFC 7234 §5.5). A header section is no place for a novel, so
//! texts are told once, and many long ones are cut, by the rule of kube-apiserver.

use std::collections::BTreeSet;

use http::HeaderValue;

/// Up to this many characters in all, nothing is cut.
const TOTAL: usize = 4096;
/// What a text is cut to when the sum exceeds [`TOTAL`].
const CUT: usize = 256;

/// The warnings of one answer, in the order in which they came up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    texts: Vec<String>,
    /// The same: a body of a few megabytes may be odd in a hundred thousand places.
    told: BTreeSet<String>,
}

impl Warnings {
    /// Remembers a warning. One that was told already is not repeated; one that is empty or holds
    /// control characters cannot stand in a header and is dropped.
    pub fn add(&mut self, text: impl Into<String>) {
        let text = text.into();
        if text.is_empty() || text.contains(char::is_control) || !self.told.insert(text.clone()) {
            return;
        }
        self.texts.push(text);
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The texts as they came, uncut.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The values of the `Warning` headers.
    pub fn headers(&self) -> Vec<HeaderValue> {
        let length = |text: &str| text.chars().count();
        let limit = if self.texts.iter().map(|text| length(text)).sum::<usize>() > TOTAL {
            CUT
        } else {
            TOTAL
        };
        let mut written = 0;
        let mut headers = Vec::with_capacity(self.texts.len());
        for text in &self.texts {
            if written >= TOTAL {
                break;
            }
            let end = text.char_indices().nth(limit).map_or(text.len(), |(end, _)| end);
            let text = &text[..end];
            written += length(text);
            headers.extend(header(text));
        }
        headers
    }
}

impl<S: Into<String>> Extend<S> for Warnings {
    fn extend<I: IntoIterator<Item = S>>(&mut self, texts: I) {
        texts.into_iter().for_each(|text| self.add(text));
    }
}

fn header(text: &str) -> Option<HeaderValue> {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    HeaderValue::from_bytes(format!("299 - \"{text}\"").as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(texts: &[&str]) -> Vec<String> {
        let mut warnings = Warnings::default();
        warnings.extend(texts.iter().copied());
        let text = |value: &HeaderValue| String::from_utf8(value.as_bytes().to_vec()).unwrap();
        warnings.headers().iter().map(text).collect()
    }

    #[test]
    fn quotes_and_backslashes_are_escaped() {
        assert_eq!(
            headers(&[r#"unknown field "a\b""#, "é"]),
            [r#"299 - "unknown field \"a\\b\"""#, "299 - \"é\""]
        );
    }

    #[test]
    fn a_text_is_told_once_and_in_order() {
        assert_eq!(headers(&["b", "a", "b"]), ["299 - \"b\"", "299 - \"a\""]);
    }

    #[test]
    fn what_cannot_stand_in_a_header_is_dropped() {
        assert_eq!(headers(&["", "a\nb", "c\u{7f}", "ok"]), ["299 - \"ok\""]);
    }

    #[test]
    fn texts_are_cut_only_when_they_are_too_much_together() {
        let long = "é".repeat(4096);
        assert_eq!(headers(&[&long])[0].chars().count(), 4096 + 8);
        let cut = headers(&[&long, "b"]);
        assert_eq!(cut, [format!("299 - \"{}\"", "é".repeat(256)), "299 - \"b\"".into()]);
    }

    #[test]
    fn no_more_than_the_limit_is_said() {
        let texts: Vec<String> = (0..100).map(|n| format!("{n:0300}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(headers(&texts).len(), 4096 / 256);
    }
}
