//! Addresses that nobody outside has: what is fetched for a stranger must not come from the inside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether the address belongs to the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b, c) {
        // This network; shared by carriers; of protocols; for benchmarks; relays of 6to4.
        (0, _, _) | (100, 64..=127, _) | (192, 0, 0) | (198, 18..=19, _) | (192, 88, 99) => true,
        // Multicast, reserved, broadcast.
        (224..=255, _, _) => true,
        _ => false,
    };
    let inside = address.is_private() || address.is_loopback() || address.is_link_local();
    !(special || inside || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Only 2000::/3 is given out. What of it carries an address of version 4 or is for documents is taken out as well:
    // 2001::/23 with Teredo in it, 2001:db8::/32, 2002::/16, 3fff::/20. Translated ones, 64:ff9b::, are outside of it.
    match address.segments() {
        [0x2001, 0x0000..=0x01ff, ..] | [0x2001, 0x0db8, ..] | [0x2002, ..] => false,
        [0x3fff, 0x0000..=0x0fff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        for text in [
            "8.8.8.8",
            "140.82.121.4",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "192.1.0.1",
            "2606:50c0:8000::154",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "127.0.0.1",
            "127.255.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "192.88.99.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "fec0::1",
            "ff02::1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "100::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }
}
