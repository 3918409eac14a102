//! How long ago something was, in few characters: apimachinery's `duration.HumanDuration`.

use jiff::Timestamp;

use crate::meta::Time;

/// The age of something created at that time, or `<unknown>`.
pub(super) fn age(created: Option<Time>, now: Timestamp) -> String {
    match created {
        None => "<unknown>".to_owned(),
        Some(created) => human(now.as_second() - created.as_second()),
    }
}

/// Two units at most, and the smaller only while it says something.
fn human(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    let two = |large: i64, unit: &str, small: i64, rest: &str| match seconds % large / small {
        0 => format!("{}{unit}", seconds / large),
        more => format!("{}{unit}{more}{rest}", seconds / large),
    };
    match seconds {
        // Clocks of two machines may be a second apart.
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(MINUTE, "m", 1, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => two(HOUR, "h", MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(DAY, "d", HOUR, "h"),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => two(YEAR, "y", DAY, "d"),
        252_288_000.. => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_kubectl_prints_them() {
        for (seconds, expected) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (10_860, "3h1m"),
            (172_799, "47h"),
            (176_400, "2d1h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
            (63_158_400, "2y1d"),
            (252_288_000, "8y"),
        ] {
            assert_eq!(human(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn what_was_never_created_has_no_age() {
        assert_eq!(age(None, Timestamp::UNIX_EPOCH), "<unknown>");
    }
}
