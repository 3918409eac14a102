//! What a plain scalar means, and how numbers are printed.
//!
//! The rules are those of Go's YAML 1.1 library, in its order: a table of words, then integers with
//! every prefix that Go knows, then floats. The same rules say which texts must be quoted when written.

/// The meaning of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    /// The text itself.
    Text,
}

/// What `text` means without quotes.
pub(super) fn resolve(text: &str) -> Plain {
    let Some(&first) = text.as_bytes().first() else { return Plain::Null };
    match text {
        "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Plain::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Plain::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return Plain::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Plain::Float(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return Plain::Float(f64::NEG_INFINITY),
        _ => {}
    }
    match first {
        b'.' => float(text).map_or(Plain::Text, Plain::Float),
        b'+' | b'-' | b'0'..=b'9' => number(text),
        _ => Plain::Text,
    }
}

/// Whether text would be read as something else without quotes, here or by other YAML 1.1 readers.
pub(super) fn needs_quotes(text: &str) -> bool {
    resolve(text) != Plain::Text || is_timestamp(text) || is_base60(text)
}

fn number(text: &str) -> Plain {
    let plain: std::borrow::Cow<'_, str> =
        if text.contains('_') { text.replace('_', "").into() } else { text.into() };
    let (negative, digits) = match plain.as_bytes().first() {
        Some(b'-') => (true, &plain[1..]),
        Some(b'+') => (false, &plain[1..]),
        _ => (false, &plain[..]),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    // A second sign is no digit, though Rust would take it.
    let magnitude =
        if digits.starts_with(['+', '-']) { None } else { u64::from_str_radix(digits, radix).ok() };
    let signed = magnitude.and_then(|magnitude| {
        if negative { 0_i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
    });
    match (signed, magnitude) {
        (Some(signed), _) => Plain::Int(signed),
        // Go reads the upper half without a sign only.
        (None, Some(magnitude)) if !plain.starts_with(['+', '-']) => Plain::Uint(magnitude),
        _ => float(&plain).map_or(Plain::Text, Plain::Float),
    }
}

/// Decimal digits with at most one point and an exponent; too large is no number.
fn float(text: &str) -> Option<f64> {
    let decimal =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    if !text.bytes().all(decimal) {
        return None;
    }
    text.parse().ok().filter(|float: &f64| float.is_finite())
}

/// The four forms of a date that Go's library knows, `2006-1-2` with or without a time.
fn is_timestamp(text: &str) -> bool {
    let mut rest = text;
    let Some(year) = digits(&mut rest, 4..=4) else { return false };
    let day = (|| {
        let month = literal(&mut rest, '-').and_then(|()| digits(&mut rest, 1..=2))?;
        let day = literal(&mut rest, '-').and_then(|()| digits(&mut rest, 1..=2))?;
        ((1..=12).contains(&month) && (1..=days_in(month, year)).contains(&day)).then_some(())
    })();
    if day.is_none() {
        return false;
    }
    let zoned = match rest.chars().next() {
        None => return true,
        Some('T' | 't') => true,
        Some(' ') => false,
        Some(_) => return false,
    };
    rest = &rest[1..];
    is_time(&mut rest).is_some() && if zoned { is_zone(rest) } else { rest.is_empty() }
}

fn is_time(rest: &mut &str) -> Option<()> {
    let hour = digits(rest, 1..=2)?;
    let minute = literal(rest, ':').and_then(|()| digits(rest, 1..=2))?;
    let second = literal(rest, ':').and_then(|()| digits(rest, 1..=2))?;
    let fraction = rest.strip_prefix(['.', ',']);
    if let Some(fraction) = fraction.filter(|text| text.starts_with(|c: char| c.is_ascii_digit())) {
        *rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    (hour < 24 && minute < 60 && second < 60).then_some(())
}

fn is_zone(zone: &str) -> bool {
    match zone.as_bytes() {
        [b'Z'] => true,
        [b'+' | b'-', hours @ .., b':', m, n] => {
            let two = |pair: [u8; 2]| pair.iter().all(u8::is_ascii_digit);
            hours.len() == 2
                && two([hours[0], hours[1]])
                && two([*m, *n])
                && zone[1..3] <= *"24"
                && zone[4..6] < *"60"
        }
        _ => false,
    }
}

fn days_in(month: u32, year: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Takes as many digits as there are, within `count`.
fn digits(rest: &mut &str, count: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let found = rest.bytes().take(*count.end()).take_while(u8::is_ascii_digit).count();
    let (digits, behind) = rest.split_at(found);
    *rest = behind;
    count.contains(&found).then(|| digits.parse().ok()).flatten()
}

fn literal(rest: &mut &str, expected: char) -> Option<()> {
    *rest = rest.strip_prefix(expected)?;
    Some(())
}

/// `190:20:30`: a number to readers that took YAML 1.1 at its word.
fn is_base60(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut places = whole.split(':');
    let first = places.next().unwrap_or_default();
    let numeric = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let mut places = places.peekable();
    first.starts_with(|c: char| c.is_ascii_digit())
        && numeric(first)
        && numeric(fraction)
        && places.peek().is_some()
        && places.all(|place| match place.as_bytes() {
            [one] => one.is_ascii_digit(),
            [ten, one] => matches!(ten, b'0'..=b'5') && one.is_ascii_digit(),
            _ => false,
        })
}

// === Floats as Go prints them ===

/// A float in JSON. It must be finite.
pub(super) fn json_float(float: f64) -> String {
    let magnitude = float.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        exponential(&format!("{float:e}"), 1)
    } else {
        float.to_string()
    }
}

/// A float in YAML.
pub(super) fn yaml_float(float: f64) -> String {
    general(float, &format!("{float:e}"), &float.to_string())
}

/// A float as a map's key: sigs.k8s.io/yaml prints those in single precision.
pub(super) fn key_float(float: f64) -> String {
    #[allow(clippy::cast_possible_truncation)] // that is the rule
    let single = float as f32;
    general(f64::from(single), &format!("{single:e}"), &single.to_string())
}

/// With an exponent where there are more than six places before the point, or four zeros behind it.
fn general(float: f64, exponent: &str, plain: &str) -> String {
    if float.is_nan() {
        return ".nan".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    match exponent.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok()) {
        Some(-4..=5) | None => plain.to_owned(),
        Some(_) => exponential(exponent, 2),
    }
}

/// Rust writes `1e-7` and `1e21`; Go writes a sign always, and up to two digits.
fn exponential(text: &str, width: usize) -> String {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, exponent) =
        exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_mean_what_yaml_1_1_says() {
        use Plain::{Bool, Float, Int, Null, Text, Uint};
        for (text, meaning) in [
            ("", Null),
            ("~", Null),
            ("Null", Null),
            ("nULL", Text),
            ("y", Bool(true)),
            ("Off", Bool(false)),
            ("yEs", Text),
            ("<<", Text),
            ("0", Int(0)),
            ("-0", Int(0)),
            ("+5", Int(5)),
            ("0755", Int(493)),
            ("08", Float(8.0)),
            ("0o17", Int(15)),
            ("0x1F", Int(31)),
            ("-0b11", Int(-3)),
            ("1_000", Int(1000)),
            ("_1", Text),
            ("-9223372036854775808", Int(i64::MIN)),
            ("18446744073709551615", Uint(u64::MAX)),
            ("+18446744073709551615", Float(18446744073709551615.0)),
            ("18446744073709551616", Float(18446744073709551616.0)),
            ("1.", Float(1.0)),
            (".5", Float(0.5)),
            ("1e3", Float(1000.0)),
            ("1e999", Text),
            (".", Text),
            ("0x", Text),
            ("1:20", Text),
            ("1.2.3", Text),
            ("--1", Text),
            ("0b2", Text),
            ("infinity", Text),
            ("+", Text),
            ("2001-01-01", Text),
        ] {
            assert_eq!(resolve(text), meaning, "{text:?}");
        }
        assert!(matches!(resolve(".NaN"), Float(nan) if nan.is_nan()));
    }

    #[test]
    fn dates_and_base_60_are_quoted() {
        for text in [
            "2001-01-01",
            "2001-1-2",
            "2001-12-14t21:59:43.10-05:00",
            "2001-12-14 21:59:43.1",
            "2001-12-14T1:2:3Z",
            "2000-2-29",
            "190:20:30",
            "-1:0",
            "1_0:59.5",
        ] {
            assert!(needs_quotes(text), "{text}");
        }
        for text in [
            "2001-13-01",
            "2001-02-29",
            "2001-1",
            "2001-12-14T21:59:43",
            "2001-12-14 21:59:43Z",
            "12:60",
            "20011-1-1",
            "a:1",
            "1:",
            "2001-12-14T21:59Z",
            "plain",
        ] {
            assert!(!needs_quotes(text), "{text}");
        }
    }

    #[test]
    fn floats_are_printed_as_go_does() {
        for (float, json, yaml) in [
            (1.0, "1", "1"),
            (-0.0, "-0", "-0"),
            (1.5, "1.5", "1.5"),
            (123456.0, "123456", "123456"),
            (1234567.0, "1234567", "1.234567e+06"),
            (1e20, "100000000000000000000", "1e+20"),
            (1e21, "1e+21", "1e+21"),
            (0.0001, "0.0001", "0.0001"),
            (0.00001, "0.00001", "1e-05"),
            (1.5e-7, "1.5e-7", "1.5e-07"),
            (1e100, "1e+100", "1e+100"),
            (12345678901234567890123.0, "1.2345678901234568e+22", "1.2345678901234568e+22"),
        ] {
            assert_eq!((json_float(float).as_str(), yaml_float(float).as_str()), (json, yaml));
        }
        assert_eq!(key_float(1.1), "1.1");
        assert_eq!(key_float(0.1 + 0.2), "0.3");
        assert_eq!(yaml_float(f64::NEG_INFINITY), "-.inf");
    }
}
