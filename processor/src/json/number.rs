//! Numbers that come out of parameters.
//!
//! A number literal inside an object keeps its text. One that `${{NAME}}` puts there was typed as
//! text: an integer that 64 bits hold is kept exactly (upstream rounds it through a float), any
//! other number is written the shortest way that reads back as the same float, so that `1e3` and
//! `1.0` satisfy an integer field.

use std::borrow::Cow;

/// Canonical text of a valid JSON number; none when it is beyond the range of a float.
pub(crate) fn canonical(number: &str) -> Option<Cow<'_, str>> {
    let exact = if number.starts_with('-') {
        number.parse::<i64>().is_ok()
    } else {
        number.parse::<u64>().is_ok()
    };
    if exact {
        return Some(Cow::Borrowed(number));
    }
    let float: f64 = number.parse().ok()?;
    float.is_finite().then(|| Cow::Owned(short(float)))
}

/// The shortest text of a finite float, in the form that Go's encoder gives it: an exponent only
/// below 1e-6 and from 1e21.
fn short(float: f64) -> String {
    let size = float.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{float:e}");
        return match text.split_once('e') {
            Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
            _ => text,
        };
    }
    format!("{float}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(number: &str, want: &str) {
        assert_eq!(canonical(number).as_deref(), Some(want), "{number}");
    }

    #[test]
    fn integers_of_64_bits_are_exact() {
        for number in
            ["0", "1", "-1", "9007199254740993", "18446744073709551615", "-9223372036854775808"]
        {
            check(number, number);
        }
    }

    #[test]
    fn other_numbers_are_written_the_short_way() {
        check("1.0", "1");
        check("1e3", "1000");
        check("1.50", "1.5");
        check("0.10", "0.1");
        check("18446744073709551616", "18446744073709552000");
        check("12345678901234567890123", "1.2345678901234568e+22");
        check("1e21", "1e+21");
        check("1e-7", "1e-7");
        check("0.000001", "0.000001");
        check("0.0", "0");
    }

    #[test]
    fn a_number_that_no_float_holds_has_no_canonical_text() {
        assert_eq!(canonical("1e999"), None);
        assert_eq!(canonical("-1e999"), None);
    }
}
