//! Where a request came from: apimachinery's `SourceIPs`.

use std::net::IpAddr;

use http::HeaderMap;

/// The addresses that proxies claim to have seen, and last the one that is certain: the other end of
/// the connection.
pub(super) fn source_ips(headers: &HeaderMap, remote: Option<IpAddr>) -> Vec<String> {
    let mut found: Vec<IpAddr> = Vec::new();
    let forwarded = headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
    for part in forwarded.unwrap_or_default().split(',') {
        found.extend(address(part));
    }
    let real = headers.get("x-real-ip").and_then(|value| value.to_str().ok()).and_then(address);
    if let Some(real) = real.filter(|real| !found.contains(real)) {
        found.push(real);
    }
    if let Some(remote) = remote.filter(|remote| found.last() != Some(remote)) {
        found.push(remote);
    }
    found.iter().map(ToString::to_string).collect()
}

fn address(text: &str) -> Option<IpAddr> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(headers: &[(&'static str, &str)], want: &[&str]) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        assert_eq!(source_ips(&map, address("127.0.0.1")), want, "{headers:?}");
    }

    #[test]
    fn proxies_come_first_and_what_is_certain_last() {
        check(&[], &["127.0.0.1"]);
        check(&[("x-forwarded-for", "10.0.0.1, nonsense,::1")], &["10.0.0.1", "::1", "127.0.0.1"]);
        check(&[("x-forwarded-for", "10.0.0.1,127.0.0.1")], &["10.0.0.1", "127.0.0.1"]);
        check(
            &[("x-forwarded-for", "10.0.0.1"), ("x-real-ip", "10.0.0.2")],
            &["10.0.0.1", "10.0.0.2", "127.0.0.1"],
        );
        check(
            &[("x-forwarded-for", "10.0.0.1"), ("x-real-ip", "10.0.0.1")],
            &["10.0.0.1", "127.0.0.1"],
        );
    }
}
