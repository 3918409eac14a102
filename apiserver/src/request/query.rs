//! The query string as Kubernetes reads it: repeated parameters, unknown ones ignored, and Go's
//! own ideas of what a boolean, an integer and a duration are.

use std::time::Duration;

use crate::field::quote;
use crate::status::Error;

/// The parameters of a request, in the order sent.
///
/// Broken pairs (`%zz`, a `;`) are left out rather than refused, as Go's `URL.Query()` does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Reads the part of a URI after the `?`.
    pub fn parse(raw: &str) -> Self {
        let mut pairs = Vec::new();
        for pair in raw.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let (Some(name), Some(value)) = (unescape(name, true), unescape(value, true)) {
                pairs.push((name, value));
            }
        }
        Self { pairs }
    }

    /// The first value of a parameter; `Some("")` when it stands without one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Every value of a parameter.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The parameters whose names are known, without the others.
    pub(crate) fn only(&self, known: impl Fn(&str) -> bool) -> Self {
        Self { pairs: self.pairs.iter().filter(|(name, _)| known(name)).cloned().collect() }
    }

    /// Whether the parameter is there, with or without a value.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A boolean option: absent, `false` (in any case) and `0` are false, everything else, even
    /// the empty text, is true.
    pub fn flag(&self, name: &str) -> bool {
        self.optional_flag(name).unwrap_or(false)
    }

    /// As [`Query::flag`], telling absence from `false`.
    pub fn optional_flag(&self, name: &str) -> Option<bool> {
        self.get(name).map(|value| !(value.eq_ignore_ascii_case("false") || value == "0"))
    }

    /// A strict boolean, as Go's `strconv.ParseBool`: what it does not know is `None`.
    pub fn strict_bool(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
            _ => None,
        }
    }

    /// A 64-bit integer.
    ///
    /// # Errors
    /// 400 with the text of Go's `strconv.ParseInt`.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, Error> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match parse_int(text) {
            Ok(number) => Ok(Some(number)),
            Err(why) => {
                Err(Error::bad_request(format!("strconv.ParseInt: parsing {}: {why}", quote(text))))
            }
        }
    }

    /// The `timeout` parameter: `None` when absent or empty.
    ///
    /// # Errors
    /// 400 with the text of Go's `time.ParseDuration`.
    pub fn timeout(&self) -> Result<Option<SignedDuration>, Error> {
        match self.get("timeout") {
            None | Some("") => Ok(None),
            Some(text) => SignedDuration::parse(text).map(Some).map_err(|why| {
                let message = format!("invalid timeout specified in the request URL - {why}");
                Error::bad_request(message)
            }),
        }
    }
}

/// Go's base-10 `ParseInt`: a sign and digits, nothing else.
fn parse_int(text: &str) -> Result<i64, &'static str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("invalid syntax");
    }
    text.parse().map_err(|_| "value out of range")
}

/// A Go duration: nanoseconds, with a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignedDuration(i64);

impl SignedDuration {
    /// Reads `1h15m30.5s`, `-5s`, `0`. The error is the sentence that Go's `time.ParseDuration` gives.
    fn parse(text: &str) -> Result<Self, String> {
        let invalid = || format!("time: invalid duration {}", quote(text));
        let (negative, mut rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        if rest == "0" {
            return Ok(Self(0));
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut total: u128 = 0;
        while !rest.is_empty() {
            let number =
                &rest[..rest.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(rest.len())];
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
                return Err(invalid());
            }
            rest = &rest[number.len()..];
            let unit =
                &rest[..rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len())];
            if unit.is_empty() {
                return Err(format!("time: missing unit in duration {}", quote(text)));
            }
            let Some(scale) = nanoseconds_in(unit) else {
                let (unit, text) = (quote(unit), quote(text));
                return Err(format!("time: unknown unit {unit} in duration {text}"));
            };
            rest = &rest[unit.len()..];
            total = spell(whole, fraction, scale)
                .and_then(|part| total.checked_add(part))
                .ok_or_else(invalid)?;
        }
        let nanos = i64::try_from(total).map_err(|_| invalid())?;
        Ok(Self(if negative { -nanos } else { nanos }))
    }

    /// The duration, if it is longer than nothing.
    pub fn positive(self) -> Option<Duration> {
        u64::try_from(self.0).ok().filter(|&nanos| nanos > 0).map(Duration::from_nanos)
    }
}

fn nanoseconds_in(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// `whole.fraction` units of `scale` nanoseconds; digits finer than a nanosecond are dropped.
fn spell(whole: &str, fraction: &str, scale: u64) -> Option<u128> {
    let scale = u128::from(scale);
    let mut nanos = match whole {
        "" => 0,
        digits => u128::from(digits.parse::<u64>().ok()?) * scale,
    };
    let mut place = scale;
    for digit in fraction.bytes().take(18) {
        place /= 10;
        nanos += u128::from(digit - b'0') * place;
    }
    Some(nanos)
}

/// Undoes percent-encoding; in a query, `+` is a blank. `None` for a broken escape or for bytes
/// that are no UTF-8.
pub fn unescape(text: &str, in_query: bool) -> Option<String> {
    if !text.bytes().any(|byte| byte == b'%' || (in_query && byte == b'+')) {
        return Some(text.to_owned());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' if in_query => b' ',
            b'%' => hex(bytes.next()?)? << 4 | hex(bytes.next()?)?,
            plain => plain,
        });
    }
    String::from_utf8(out).ok()
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_repeated_parameters_kept() {
        let query = Query::parse("a=1+2&a=3%204&b&c=%zz&d=x;y&labelSelector=a%3Db%2Cc");
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1 2", "3 4"]);
        assert_eq!(query.get("b"), Some(""));
        assert_eq!(query.get("c"), None);
        assert_eq!(query.get("d"), None);
        assert_eq!(query.get("labelSelector"), Some("a=b,c"));
    }

    #[test]
    fn only_absence_false_and_zero_are_false() {
        let query = Query::parse("a=false&b=0&c=FALSE&d=&e=yes&f&g=no");
        for name in ["a", "b", "c", "z"] {
            assert!(!query.flag(name), "{name}");
        }
        for name in ["d", "e", "f", "g"] {
            assert!(query.flag(name), "{name}");
        }
        assert_eq!(query.optional_flag("z"), None);
    }

    #[test]
    fn pretty_is_a_strict_boolean() {
        assert_eq!(Query::parse("pretty=1").strict_bool("pretty"), Some(true));
        assert_eq!(Query::parse("pretty=banana").strict_bool("pretty"), None);
    }

    #[test]
    fn a_bad_integer_is_refused_in_gos_words() {
        let check = |raw: &str, want: &str| {
            let error = Query::parse(raw).integer("limit").unwrap_err();
            assert_eq!(error.message(), want);
        };
        check("limit=abc", r#"strconv.ParseInt: parsing "abc": invalid syntax"#);
        check("limit=", r#"strconv.ParseInt: parsing "": invalid syntax"#);
        check(
            "limit=9223372036854775808",
            r#"strconv.ParseInt: parsing "9223372036854775808": value out of range"#,
        );
        assert_eq!(Query::parse("limit=-1").integer("limit").unwrap(), Some(-1));
        assert_eq!(Query::parse("").integer("limit").unwrap(), None);
    }

    #[test]
    fn a_timeout_is_a_go_duration() {
        let check = |text: &str, want: i64| {
            let got = Query::parse(&format!("timeout={text}")).timeout().unwrap();
            assert_eq!(got, Some(SignedDuration(want)), "{text}");
        };
        check("10s", 10_000_000_000);
        check("1h1m1.5s", 3_661_500_000_000);
        check("-5s", -5_000_000_000);
        check("0", 0);
        check("1.5ms", 1_500_000);
        assert_eq!(Query::parse("timeout=").timeout().unwrap(), None);
    }

    #[test]
    fn a_bad_timeout_is_refused_in_gos_words() {
        let check = |text: &str, want: &str| {
            let error = Query::parse(&format!("timeout={text}")).timeout().unwrap_err();
            let want = format!("invalid timeout specified in the request URL - time: {want}");
            assert_eq!(error.message(), want);
        };
        check("abc", r#"invalid duration "abc""#);
        check("5", r#"missing unit in duration "5""#);
        check("5x", r#"unknown unit "x" in duration "5x""#);
        check("-", r#"invalid duration "-""#);
        check("9999999h", r#"invalid duration "9999999h""#);
    }
}
