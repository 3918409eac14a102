//! What a plain scalar means to PyYAML's safe loader, and how Python prints a float.
//!
//! It is YAML 1.1 with the peculiarities of that library: `1e3` is a text for want of a point and of a sign, `-.5` is one
//! as well, `018` too, and `1:30` is 90. Dates are left alone; they stay texts.

use super::scalar::Plain;

/// What `text` means without quotes.
///
/// # Errors
/// A sentence, when PyYAML knows what is meant and cannot make it, or JSON cannot say it.
pub(super) fn resolve(text: &str) -> Result<Plain, String> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Plain::Null),
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Plain::Bool(true));
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Plain::Bool(false));
        }
        "=" => return Err(no_constructor("tag:yaml.org,2002:value")),
        "<<" => return Err(no_constructor("tag:yaml.org,2002:merge")),
        ".nan" | ".NaN" | ".NAN" => return Ok(Plain::Float(f64::NAN)),
        _ => {}
    }
    if !text.starts_with(['+', '-', '.']) && !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Plain::Text);
    }
    if let Some(plain) = integer(text).transpose()? {
        return Ok(plain);
    }
    Ok(float(text).map_or(Plain::Text, Plain::Float))
}

/// What PyYAML says of a tag that its safe loader does not know.
pub(super) fn no_constructor(tag: &str) -> String {
    format!("could not determine a constructor for the tag '{tag}'")
}

/// An integer in one of the five notations. `None` is none of them.
pub(super) fn integer(text: &str) -> Option<Result<Plain, String>> {
    let (negative, digits) = signed(text);
    let made = match digits.as_bytes() {
        [b'0', b'b', rest @ ..] if all(rest, |byte| matches!(byte, b'0' | b'1')) => {
            radix(&digits[2..], 2)
        }
        [b'0', b'x', rest @ ..] if all(rest, |byte| byte.is_ascii_hexdigit()) => {
            radix(&digits[2..], 16)
        }
        b"0" => Ok(0),
        [b'0', rest @ ..] if all(rest, |byte| matches!(byte, b'0'..=b'7')) => radix(digits, 8),
        [b'1'..=b'9', ..] => {
            let (first, sixtieths) = places(digits)?;
            sixtieths.into_iter().try_fold(radix(first, 10), |value, place| {
                Some(value.and_then(|value| base60(value, place)))
            })?
        }
        _ => return None,
    };
    let signed = made.and_then(|magnitude| {
        let magnitude = i128::try_from(magnitude).map_err(|_| beyond(text))?;
        let value = if negative { -magnitude } else { magnitude };
        match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => Ok(Plain::Int(value)),
            (_, Ok(value)) => Ok(Plain::Uint(value)),
            _ => Err(beyond(text)),
        }
    });
    Some(signed.map_err(|message| if message.is_empty() { beyond(text) } else { message }))
}

/// A float: with a point, and if with an exponent, then one with a sign.
fn float(text: &str) -> Option<f64> {
    let (negative, unsigned) = signed(text);
    let (whole, rest) = unsigned.split_once('.')?;
    if whole.is_empty() && matches!(rest, "inf" | "Inf" | "INF") {
        return Some(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    let (fraction, exponent) =
        rest.find(['e', 'E']).map_or((rest, ""), |at| (&rest[..at], &rest[at..]));
    let digits_fit = fraction.is_empty() || all(fraction.as_bytes(), |byte| byte.is_ascii_digit());
    if !digits_fit || !is_exponent(exponent) {
        return None;
    }
    let value = if whole.is_empty() {
        let bare = unsigned.len() == text.len() && fraction.starts_with(|c: char| c != '_');
        (bare && !fraction.is_empty()).then(|| decimal(unsigned))??
    } else {
        let (first, sixtieths) = places(whole)?;
        match sixtieths.split_last() {
            None => decimal(unsigned)?,
            Some(_) if !exponent.is_empty() => return None,
            Some((last, between)) => {
                let whole = between.iter().try_fold(decimal(first)?, |value, place| {
                    Some(value * 60.0 + decimal(place)?)
                })?;
                whole * 60.0 + decimal(&format!("{last}.{fraction}"))?
            }
        }
    };
    Some(if negative { -value } else { value })
}

/// A finite float as Python's and Rust's readers get it back as a float, and PyYAML's as well: with a point always.
pub(super) fn print_float(float: f64) -> String {
    let text = format!("{float:?}");
    match text.split_once('e') {
        None => text,
        Some((digits, exponent)) => {
            let point = if digits.contains('.') { "" } else { ".0" };
            let plus = if exponent.starts_with('-') { "" } else { "+" };
            format!("{digits}{point}e{plus}{exponent}")
        }
    }
}

/// What `!!float` makes of any notation of a number.
pub(super) fn decimal(text: &str) -> Option<f64> {
    let number = text.replace('_', "");
    let fits = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    if number.bytes().all(fits) { number.parse().ok() } else { None }
}

fn signed(text: &str) -> (bool, &str) {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    (text.starts_with('-'), unsigned)
}

/// Whether these are such digits and underscores, and at least one of either.
fn all(digits: &[u8], is_digit: impl Fn(&u8) -> bool) -> bool {
    !digits.is_empty() && digits.iter().all(|byte| *byte == b'_' || is_digit(byte))
}

/// `1_0:30:59`: what stands before the first colon, and the places of base 60 behind it.
fn places(text: &str) -> Option<(&str, Vec<&str>)> {
    let mut places = text.split(':');
    let first = places.next().filter(|first| {
        first.starts_with(|c: char| c.is_ascii_digit()) && all(first.as_bytes(), u8::is_ascii_digit)
    })?;
    let sixtieths: Vec<&str> = places.collect();
    let fits = |place: &&str| match place.as_bytes() {
        [one] => one.is_ascii_digit(),
        [ten, one] => matches!(ten, b'0'..=b'5') && one.is_ascii_digit(),
        _ => false,
    };
    sixtieths.iter().all(fits).then_some((first, sixtieths))
}

/// An empty message stands for a number that is too large.
fn radix(digits: &str, radix: u32) -> Result<u128, String> {
    let digits = digits.replace('_', "");
    if digits.is_empty() {
        return Err("an integer without digits".to_owned());
    }
    u128::from_str_radix(&digits, radix).map_err(|_| String::new())
}

fn base60(value: u128, place: &str) -> Result<u128, String> {
    let place: u128 = place.parse().map_err(|_| String::new())?;
    value.checked_mul(60).and_then(|value| value.checked_add(place)).ok_or_else(String::new)
}

fn beyond(text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    format!("{shown} is beyond the integers of 64 bits")
}

fn is_exponent(text: &str) -> bool {
    match text.as_bytes() {
        [] => true,
        [_, b'+' | b'-', digits @ ..] => {
            !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_mean_what_pyyaml_says() {
        use Plain::{Bool, Float, Int, Null, Text, Uint};
        for (text, meaning) in [
            ("", Null),
            ("~", Null),
            ("NULL", Null),
            ("yes", Bool(true)),
            ("OFF", Bool(false)),
            ("y", Text),
            ("N", Text),
            ("yEs", Text),
            ("010", Int(8)),
            ("018", Text),
            ("0o17", Text),
            ("0x1f", Int(31)),
            ("0X1f", Text),
            ("0b101", Int(5)),
            ("0b2", Text),
            ("-0b11", Int(-3)),
            ("1_000", Int(1000)),
            ("_1", Text),
            ("0_", Int(0)),
            ("0_7", Int(7)),
            ("-0", Int(0)),
            ("+5", Int(5)),
            ("1:30", Int(90)),
            ("-1:30", Int(-90)),
            ("190:20:30", Int(685_230)),
            ("1_:30", Int(90)),
            ("1:60", Text),
            ("0:30", Text),
            ("1:", Text),
            ("9223372036854775807", Int(i64::MAX)),
            ("-9223372036854775808", Int(i64::MIN)),
            ("18446744073709551615", Uint(u64::MAX)),
            ("1.", Float(1.0)),
            ("1.0", Float(1.0)),
            (".5", Float(0.5)),
            ("-.5", Text),
            ("+.5", Text),
            ("._5", Text),
            (".", Text),
            ("1_000.5_", Float(1000.5)),
            ("-1.5", Float(-1.5)),
            ("1e3", Text),
            ("1.5e3", Text),
            ("1.5e+3", Float(1500.0)),
            ("1.e-3", Float(0.001)),
            ("1.5e+", Text),
            ("12e03", Text),
            ("1:30.5", Float(90.5)),
            ("1:30.", Float(90.0)),
            ("1:30.5e+3", Text),
            ("1.2.3", Text),
            ("-", Text),
            ("+-1", Text),
            ("2001-01-01", Text),
            ("2001-12-14t21:59:43.10-05:00", Text),
            ("infinity", Text),
            ("é", Text),
        ] {
            assert_eq!(resolve(text), Ok(meaning), "{text:?}");
        }
        assert_eq!(resolve("-.inf"), Ok(Float(f64::NEG_INFINITY)));
    }

    #[test]
    fn what_cannot_be_made_is_told() {
        for (text, message) in [
            ("=", "the tag 'tag:yaml.org,2002:value'"),
            ("<<", "the tag 'tag:yaml.org,2002:merge'"),
            ("0b_", "without digits"),
            ("18446744073709551616", "beyond the integers of 64 bits"),
            ("-9223372036854775809", "beyond the integers of 64 bits"),
            ("9223372036854775807:59:59", "beyond the integers of 64 bits"),
            ("0xfffffffffffffffffffffffffffffffffff", "beyond the integers of 64 bits"),
        ] {
            let error = resolve(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn floats_are_printed_so_that_they_stay_floats() {
        for (float, text) in
            [(1.0, "1.0"), (0.1, "0.1"), (1e16, "1.0e+16"), (1.5e-7, "1.5e-7"), (-0.0, "-0.0")]
        {
            assert_eq!(print_float(float), text);
            assert_eq!(resolve(text), Ok(Plain::Float(float)));
        }
    }
}
