//! `metav1.Time`: RFC 3339 in, UTC whole seconds out. Only what a decoder needs; there is no clock
//! here.

/// The element names of Go's layout for RFC 3339, which its error texts quote.
const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";

/// Reads an RFC 3339 time and writes it as Kubernetes stores it: `2006-01-02T15:04:05Z`, fraction
/// cut off.
///
/// # Errors
/// The text of Go's `time.Parse`, for example `parsing time "x" as "2006-01-02T15:04:05Z07:00":
/// cannot parse "x" as "2006"`.
pub fn normalize_time(text: &str) -> Result<String, String> {
    let mut reader = Reader { whole: text, rest: text };
    let year = reader.digits("2006", 4, 0..=9999, "year")?;
    reader.literal("-")?;
    let month = reader.digits("01", 2, 1..=12, "month")?;
    reader.literal("-")?;
    let day_rest = reader.rest;
    let day = reader.digits("02", 2, 0..=31, "day")?;
    reader.literal("T")?;
    let hour = reader.digits("15", 2, 0..=23, "hour")?;
    reader.literal(":")?;
    let minute = reader.digits("04", 2, 0..=59, "minute")?;
    reader.literal(":")?;
    let second = reader.digits("05", 2, 0..=59, "second")?;
    reader.fraction();
    let offset = reader.offset()?;
    if !reader.rest.is_empty() {
        return Err(format!(
            "parsing time {}: extra text: {}",
            crate::go_quote(text),
            crate::go_quote(reader.rest)
        ));
    }
    if day < 1 || day > days_in(year, month) {
        debug_assert!(!day_rest.is_empty());
        return Err(reader.out_of_range("day"));
    }
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        - offset * 60;
    let (year, month, day) = date_of(seconds.div_euclid(86_400));
    let clock = seconds.rem_euclid(86_400);
    Ok(format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        clock / 3600,
        clock / 60 % 60,
        clock % 60
    ))
}

struct Reader<'a> {
    whole: &'a str,
    rest: &'a str,
}

impl Reader<'_> {
    fn digits(
        &mut self,
        element: &str,
        count: usize,
        range: std::ops::RangeInclusive<i64>,
        name: &str,
    ) -> Result<i64, String> {
        let digits =
            self.rest.get(..count).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let value =
            digits.and_then(|text| text.parse().ok()).ok_or_else(|| self.cannot_parse(element))?;
        if !range.contains(&value) {
            return Err(self.out_of_range(name));
        }
        self.rest = &self.rest[count..];
        Ok(value)
    }

    fn literal(&mut self, literal: &str) -> Result<(), String> {
        self.rest = self.rest.strip_prefix(literal).ok_or_else(|| self.cannot_parse(literal))?;
        Ok(())
    }

    fn fraction(&mut self) {
        if let Some(rest) = self.rest.strip_prefix(['.', ',']) {
            let digits = rest.len()
                - rest.trim_start_matches(|character: char| character.is_ascii_digit()).len();
            if digits > 0 {
                self.rest = &rest[digits..];
            }
        }
    }

    /// Minutes east of UTC.
    fn offset(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let sign = match self.rest.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(self.cannot_parse("Z07:00")),
        };
        let bytes = self.rest.as_bytes();
        let shape = bytes.len() >= 6
            && bytes[3] == b':'
            && [1, 2, 4, 5].iter().all(|&index| bytes[index].is_ascii_digit());
        if !shape {
            return Err(self.cannot_parse("Z07:00"));
        }
        let two = |at: usize| i64::from(bytes[at] - b'0') * 10 + i64::from(bytes[at + 1] - b'0');
        let (hours, minutes) = (two(1), two(4));
        if hours > 24 || minutes > 60 {
            return Err(self.out_of_range(if hours > 24 {
                "time zone offset hour"
            } else {
                "time zone offset minute"
            }));
        }
        self.rest = &self.rest[6..];
        Ok(sign * (hours * 60 + minutes))
    }

    fn cannot_parse(&self, element: &str) -> String {
        let (whole, rest) = (crate::go_quote(self.whole), crate::go_quote(self.rest));
        format!("parsing time {whole} as \"{LAYOUT}\": cannot parse {rest} as \"{element}\"")
    }

    fn out_of_range(&self, name: &str) -> String {
        format!("parsing time {}: {name} out of range", crate::go_quote(self.whole))
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar, counted in years that begin in March
/// so that the leap day comes last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) = (
        day_of_year - (153 * shifted + 2) / 5 + 1,
        if shifted < 10 { shifted + 3 } else { shifted - 9 },
    );
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::normalize_time;

    #[test]
    fn a_time_is_stored_in_utc_whole_seconds() {
        for (given, stored) in [
            ("2001-01-01T00:00:00Z", "2001-01-01T00:00:00Z"),
            ("2001-01-01T01:30:00.999+01:30", "2001-01-01T00:00:00Z"),
            ("2000-02-29T23:00:00-02:00", "2000-03-01T01:00:00Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(normalize_time(given).as_deref(), Ok(stored));
        }
    }

    #[test]
    fn a_bad_time_is_explained_as_go_does() {
        for (given, message) in [
            (
                "abc",
                r#"parsing time "abc" as "2006-01-02T15:04:05Z07:00": cannot parse "abc" as "2006""#,
            ),
            ("", r#"parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006""#),
            ("2001-13-01T00:00:00Z", r#"parsing time "2001-13-01T00:00:00Z": month out of range"#),
            ("2001-02-29T00:00:00Z", r#"parsing time "2001-02-29T00:00:00Z": day out of range"#),
            (
                "2001-01-01",
                r#"parsing time "2001-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T""#,
            ),
            ("2001-01-01T00:00:00Zx", r#"parsing time "2001-01-01T00:00:00Zx": extra text: "x""#),
        ] {
            assert_eq!(normalize_time(given).unwrap_err(), message);
        }
    }
}
