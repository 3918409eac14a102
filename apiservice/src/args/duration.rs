//! Durations as Go's flags take them.

use std::time::Duration;

use jiff::SignedDuration;

/// Reads `5m`, `1m30s`, `500ms`; a bare number is seconds. Not negative.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let invalid = |_| format!("{text:?} is no duration such as 10s, 1m30s or 500ms");
    let signed: SignedDuration =
        text.parse().map_err(|error: jiff::Error| invalid(error.to_string()))?;
    Duration::try_from(signed).map_err(|_| format!("{text:?} is negative"))
}

/// The same, and more than nothing.
pub(super) fn positive(text: &str) -> Result<Duration, String> {
    match parse(text)? {
        Duration::ZERO => Err("must be more than nothing".to_owned()),
        given => Ok(given),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_as_go_writes_it() {
        let check = |text: &str, milliseconds: u64| {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        };
        check("0", 0);
        check("5", 5_000);
        check("10s", 10_000);
        check("500ms", 500);
        check("1m30s", 90_000);
        check("5m0s", 300_000);
        for wrong in ["", "five", "5 parsecs", "-1s"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
