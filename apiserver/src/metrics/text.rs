//! The text of `/metrics`: OpenMetrics for who asks for it, else the classic format of Prometheus.

use std::fmt::Write as _;

/// The media type of OpenMetrics.
pub(super) const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The media type of the classic format.
pub(super) const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Whether an `Accept` header names OpenMetrics. Whoever does not cannot read it.
pub(super) fn wants_open_metrics(accept: &str) -> bool {
    accept.split(',').any(|clause| {
        let mut parts = clause.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        media.eq_ignore_ascii_case("application/openmetrics-text") && !refused
    })
}

/// The classic format of what OpenMetrics says. Samples are the same in both; what differs is how
/// they are described: a counter's description names it as its samples do, with `_total`, there are no
/// units, and there is no mark at the end.
pub(super) fn classic(open_metrics: &str) -> String {
    let mut out = String::with_capacity(open_metrics.len() + 1024);
    // The help of a metric comes before its type, which decides the name.
    let mut help = None;
    for line in open_metrics.lines() {
        let mut words = line.splitn(4, ' ');
        // Writing to a String cannot fail.
        let _ = match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("EOF" | "UNIT"), ..) => Ok(()),
            (Some("#"), Some("HELP"), Some(name), text) => {
                help = Some((name, text.unwrap_or_default()));
                Ok(())
            }
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => {
                let (suffix, kind) = match kind {
                    "counter" => ("_total", "counter"),
                    "info" => ("_info", "gauge"),
                    "unknown" => ("", "untyped"),
                    kind => ("", kind),
                };
                let described = help.take().filter(|(of, _)| *of == name);
                let told = described
                    .map_or(Ok(()), |(_, text)| writeln!(out, "# HELP {name}{suffix} {text}"));
                told.and_then(|()| writeln!(out, "# TYPE {name}{suffix} {kind}"))
            }
            _ => writeln!(out, "{line}"),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_described_by_the_name_of_their_samples() {
        let open = "# HELP a_b Things.\n# TYPE a_b counter\na_b_total{x=\"# EOF\"} 1\n# HELP s Time.\n# TYPE s histogram\n# UNIT s seconds\ns_sum 1.0\n# TYPE u unknown\nu 2\n# EOF\n";
        let classic_text = "# HELP a_b_total Things.\n# TYPE a_b_total counter\na_b_total{x=\"# EOF\"} 1\n# HELP s Time.\n# TYPE s histogram\ns_sum 1.0\n# TYPE u untyped\nu 2\n";
        assert_eq!(classic(open), classic_text);
    }

    #[test]
    fn open_metrics_is_for_who_asks_for_it() {
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
        assert!(wants_open_metrics(prometheus));
        for accept in ["", "*/*", "text/plain;version=0.0.4", "application/openmetrics-text;q=0"] {
            assert!(!wants_open_metrics(accept), "{accept}");
        }
    }
}
