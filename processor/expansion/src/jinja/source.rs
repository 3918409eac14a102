//! From the text of a template as it was written to the text that the engine reads.
//!
//! Three things differ. Jinja2 takes every line end for `\n`. A sign `+` before a value means nothing. And Python's `%`
//! formats text, which the engine's does not, so `a % b` becomes the filter `a|__mod__(b)` where that binds alike.
//! Lines stay where they are, so that errors name the right ones.

use std::borrow::Cow;

/// The name of the filter that stands for `%`; Python's own name of the operator.
pub(super) const PERCENT: &str = "__mod__";

/// What is put after the name of a tag that Jinja2 does not know without an extension, and the engine does.
pub(super) const UNKNOWN: &str = "__";

/// How many operators, attributes, filters and calls may stand in one chain, and how many `elif` in one `if`. The engine
/// goes into each of them one call deeper, and its stack ends.
const LONGEST_CHAIN: usize = 1000;

/// The text for the engine.
///
/// # Errors
/// When a chain in it is too long.
pub(super) fn prepare(text: &str) -> Result<Cow<'_, str>, TooLong> {
    let text = if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    };
    let scanned = Scanner::new(&text).scan();
    if scanned.too_long {
        return Err(TooLong);
    }
    let edits = scanned.edits;
    Ok(if edits.is_empty() { text } else { Cow::Owned(apply(&text, &edits)) })
}

/// An expression or an `if` is a chain of too many links.
#[derive(Debug, thiserror::Error)]
#[error("an expression or an 'if' has more than {LONGEST_CHAIN} parts in a chain")]
pub(super) struct TooLong;

/// Something to be put in the place of a piece of text.
struct Edit {
    at: usize,
    length: usize,
    text: &'static str,
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let mut result = String::with_capacity(text.len() + 16 * edits.len());
    let mut done = 0;
    for edit in edits {
        result.push_str(&text[done..edit.at]);
        result.push_str(edit.text);
        done = edit.at + edit.length;
    }
    result.push_str(&text[done..]);
    result
}

/// What is known within one pair of brackets.
#[derive(Default)]
struct Level {
    /// The value after a `%` that became a filter is under way: a bracket is to be closed behind it.
    formatting: bool,
    /// A factor or a negative number came before, which a filter would not take in: `%` stays.
    plain: bool,
    /// Operators, attributes, filters and calls so far.
    links: usize,
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// End of the last token that was no white space.
    end: usize,
    /// A value is expected, not an operator.
    value: bool,
    /// The last token was a number.
    number: bool,
    levels: Vec<Level>,
    edits: Vec<Edit>,
    /// How many `elif` this `if` has.
    alternatives: usize,
    too_long: bool,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            end: 0,
            value: true,
            number: false,
            levels: Vec::new(),
            edits: Vec::new(),
            alternatives: 0,
            too_long: false,
        }
    }

    fn scan(mut self) -> Self {
        while let Some(found) = self.text[self.at..].find('{') {
            self.at += found + 1;
            match self.bytes.get(self.at) {
                Some(b'#') => self.skip_behind("#}"),
                Some(b'{') => {
                    self.at += 1;
                    self.expression(*b"}}");
                }
                Some(b'%') => {
                    self.at += 1;
                    self.tag();
                }
                _ => {}
            }
        }
        self
    }

    fn skip_behind(&mut self, mark: &str) {
        let rest = &self.text[self.at..];
        self.at += rest.find(mark).map_or(rest.len(), |found| found + mark.len());
    }

    fn tag(&mut self) {
        let rest = self.text[self.at..].trim_start_matches(['-', '+']).trim_start();
        self.at = self.text.len() - rest.len();
        let name = &rest[..word(rest)];
        if name == "raw" {
            self.skip_raw();
            return;
        }
        if name == "do" {
            self.edits.push(Edit { at: self.at + name.len(), length: 0, text: UNKNOWN });
        }
        self.alternatives = if name == "elif" { self.alternatives + 1 } else { 0 };
        self.too_long |= self.alternatives > LONGEST_CHAIN;
        self.expression(*b"%}");
    }

    fn skip_raw(&mut self) {
        loop {
            self.skip_behind("{%");
            let rest = self.text[self.at..].trim_start_matches(['-', '+']).trim_start();
            if rest.is_empty() || &rest[..word(rest)] == "endraw" {
                return;
            }
        }
    }

    /// Reads until this mark stands outside all brackets.
    fn expression(&mut self, mark: [u8; 2]) {
        self.levels.clear();
        self.levels.push(Level::default());
        self.value = true;
        self.number = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            if self.levels.len() == 1 && self.bytes[self.at..].starts_with(&mark) {
                self.finish_value();
                self.at += mark.len();
                return;
            }
            if byte.is_ascii_whitespace() {
                self.at += 1;
            } else {
                self.token(byte, mark);
                self.end = self.at;
            }
        }
    }

    fn token(&mut self, byte: u8, mark: [u8; 2]) {
        let number = std::mem::replace(&mut self.number, false);
        match byte {
            b'\'' | b'"' => self.string(byte),
            b'0'..=b'9' => self.digits(),
            b'(' | b'[' | b'{' => {
                self.link();
                self.at += 1;
                self.levels.push(Level::default());
                self.value = true;
            }
            b')' | b']' | b'}' => {
                self.finish_value();
                self.at += 1;
                // One bracket too many is the engine's to complain about.
                if self.levels.len() > 1 {
                    self.levels.pop();
                }
                self.value = false;
            }
            b'.' | b'|' => {
                self.link();
                self.at += 1;
                self.value = false;
            }
            b'%' => self.percent(number),
            b'*' | b'/' => self.factor(byte),
            b'+' | b'-' if self.bytes[self.at + 1..].starts_with(&mark) => {
                self.finish_value();
                self.at += 1;
            }
            b'+' | b'-' if self.value => self.sign(byte),
            _ if word(&self.text[self.at..]) > 0 => self.name(),
            _ => self.operator(),
        }
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("there is one as long as an expression is read")
    }

    fn link(&mut self) {
        let level = self.level();
        level.links += 1;
        self.too_long |= level.links > LONGEST_CHAIN;
    }

    /// An operator, a bracket or the end follows the value that came last.
    fn finish_value(&mut self) {
        if std::mem::take(&mut self.level().formatting) {
            self.edits.push(Edit { at: self.end, length: 0, text: ")" });
        }
    }

    fn string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == quote {
                break;
            }
        }
        self.at = self.text.ceil_char_boundary(self.at);
        self.value = false;
    }

    fn digits(&mut self) {
        let digit = |at: usize| self.bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
        let mut at = self.at;
        while digit(at) || (self.bytes.get(at) == Some(&b'.') && digit(at + 1)) {
            at += 1;
        }
        self.at = at;
        self.value = false;
        self.number = true;
    }

    fn name(&mut self) {
        let rest = &self.text[self.at..];
        let length = word(rest);
        if matches!(&rest[..length], "and" | "or" | "not" | "in" | "is" | "if" | "elif" | "else") {
            self.finish_value();
            self.link();
            self.level().plain = false;
            self.value = true;
        } else {
            self.value = false;
        }
        self.at += length;
    }

    fn percent(&mut self, number: bool) {
        self.link();
        self.finish_value();
        if !self.value && !number && !self.level().plain {
            let text = "|__mod__(";
            self.edits.push(Edit { at: self.at, length: 1, text });
            self.level().formatting = true;
        }
        self.at += 1;
        self.value = true;
    }

    /// `*`, `/`, `//` and the power, which is part of the value that it raises.
    fn factor(&mut self, byte: u8) {
        self.link();
        let double = self.bytes.get(self.at + 1) == Some(&byte);
        let power = double && byte == b'*';
        if !(power && self.level().formatting) {
            self.finish_value();
            self.level().plain = true;
        }
        self.at += if double { 2 } else { 1 };
        self.value = true;
    }

    /// A sign before a value.
    fn sign(&mut self, byte: u8) {
        self.link();
        if byte == b'+' {
            self.edits.push(Edit { at: self.at, length: 1, text: " " });
        } else if !self.level().formatting {
            self.level().plain = true;
        }
        self.at += 1;
    }

    /// Whatever binds less than `%`.
    fn operator(&mut self) {
        self.finish_value();
        self.level().plain = false;
        if self.bytes[self.at] == b',' {
            self.level().links = 0;
        } else {
            self.link();
        }
        let character = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
        self.at += character;
        self.value = true;
    }
}

/// How long the name is with which this text begins.
fn word(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(text: &str, want: &str) {
        assert_eq!(prepare(text).unwrap(), want);
    }

    #[test]
    fn what_needs_no_change_is_not_copied() {
        for text in [
            "",
            "{",
            "100% {{ a }}{% if b %}{% endif %}",
            "{{ 7 % 3 }}",
            "{{ 'a % b' }}",
            "{# a % b #}",
        ] {
            assert!(matches!(prepare(text), Ok(Cow::Borrowed(_))), "{text}");
        }
    }

    #[test]
    fn a_percent_sign_becomes_a_filter_where_it_binds_like_one() {
        becomes("{{ '%s' % a.b[1](c)|f }}", "{{ '%s' |__mod__( a.b[1](c)|f) }}");
        becomes("{{ a % (b % c) ~ d }}", "{{ a |__mod__( (b |__mod__( c))) ~ d }}");
        becomes("{% if a % 2 == 1 -%}", "{% if a |__mod__( 2) == 1 -%}");
        becomes("{{ f(x=a % b, y=[c % d]) }}", "{{ f(x=a |__mod__( b), y=[c |__mod__( d)]) }}");
        becomes(
            "{{ a % -b ** c + d % e % g }}",
            "{{ a |__mod__( -b ** c) + d |__mod__( e) |__mod__( g) }}",
        );
        becomes(
            "{{ a % b}}{%- set x = a % b -%}",
            "{{ a |__mod__( b)}}{%- set x = a |__mod__( b) -%}",
        );
        becomes("{{ {'a': b % c}}}", "{{ {'a': b |__mod__( c)}}}");
    }

    #[test]
    fn a_percent_sign_after_factors_and_signs_stays() {
        for text in ["{{ a * b % c }}", "{{ -a % b }}", "{{ a ** 2 % b }}", "{{ 2 % a }}"] {
            becomes(text, text);
        }
        becomes("{{ a * b + c % d }}", "{{ a * b + c |__mod__( d) }}");
    }

    #[test]
    fn raw_text_and_comments_stay() {
        let text = "{% raw %}{{ a % b }}{% x %}{%- endraw %}{# {{ a % b }} #}";
        becomes(text, text);
        becomes("{% raw %}{% endraw %}{{ a % b }}", "{% raw %}{% endraw %}{{ a |__mod__( b) }}");
    }

    #[test]
    fn line_ends_signs_and_tags_are_as_jinja_takes_them() {
        becomes("a\r\nb\rc\n", "a\nb\nc\n");
        becomes("{{ +a - +b }}", "{{  a -  b }}");
        becomes("{%- do x %}{% done %}", "{%- do__ x %}{% done %}");
    }

    #[test]
    fn broken_text_is_left_to_the_engine() {
        for text in
            ["{{", "{{ 'a", "{{ 'a\\", "{{ ) }}", "{% raw %}", "{#", "{{ a) % b }}", "{{ é", "{%-"]
        {
            prepare(text).unwrap();
        }
    }

    #[test]
    fn chains_have_an_end() {
        for (link, most) in
            [(" + 1", 1000), (".a", 1000), ("|f", 1000), ("[0]", 1000), (" and a", 1000)]
        {
            let chain = |links: usize| format!("{{{{ a{} }}}}", link.repeat(links));
            assert!(prepare(&chain(most)).is_ok(), "{link}");
            assert!(prepare(&chain(most + 1)).is_err(), "{link}");
        }
        let alternatives =
            |count: usize| format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}".repeat(count));
        assert!(prepare(&alternatives(1000)).is_ok());
        assert!(prepare(&alternatives(1001)).is_err());
        assert!(prepare(&format!("{{{{ [{}] }}}}", "a.b, ".repeat(9000))).is_ok());
    }
}
