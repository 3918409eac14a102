//! The hosts that templates may come from.

use http::uri::{Authority, Scheme, Uri};

/// An allow-list. Empty, it allows none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts(Vec<Entry>);

/// `HOST`, `HOST:PORT`, or with `http://` before it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    plain: bool,
    /// In lower case.
    host: String,
    port: u16,
}

impl Hosts {
    /// Reads the entries of an allow-list.
    ///
    /// # Errors
    /// The first entry that is none.
    pub(crate) fn parse<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let entry = |text: &'a str| Entry::parse(text.trim()).ok_or_else(|| text.to_owned());
        entries.into_iter().map(entry).collect::<Result<_, _>>().map(Self)
    }

    /// The same and this one.
    pub(crate) fn with(mut self, url: &Uri) -> Option<Self> {
        let plain = url.scheme() == Some(&Scheme::HTTP);
        self.0.push(Entry::of(plain, url.authority()?)?);
        Some(self)
    }

    /// Whether nothing is allowed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this may be fetched. Only what is listed with `http://` may come in the clear, since anybody on the way could
    /// change it; a port counts unless it is the scheme's own.
    pub(crate) fn allow(&self, url: &Uri) -> bool {
        let plain = match url.scheme_str() {
            Some("https") => false,
            Some("http") => true,
            _ => return false,
        };
        let wanted = url.authority().and_then(|authority| Entry::of(plain, authority));
        wanted.is_some_and(|wanted| self.0.contains(&wanted))
    }

    /// Whether this host is listed, for `https` on its own port.
    pub(crate) fn allow_host(&self, host: &str) -> bool {
        self.0.iter().any(|entry| !entry.plain && entry.port == 443 && entry.host == host)
    }
}

impl Entry {
    fn parse(text: &str) -> Option<Self> {
        let (plain, rest) = match text.split_once("://") {
            None => (false, text),
            Some(("https", rest)) => (false, rest),
            Some(("http", rest)) => (true, rest),
            Some(_) => return None,
        };
        Self::of(plain, &rest.strip_suffix('/').unwrap_or(rest).parse().ok()?)
    }

    fn of(plain: bool, authority: &Authority) -> Option<Self> {
        let host = authority.host().to_ascii_lowercase();
        let port = authority.port_u16();
        // Neither a user nor a port that is none; a name with a point at its end is the same name.
        let written = port.map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
        let host = host.strip_suffix('.').map_or_else(|| host.clone(), str::to_owned);
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        let whole = authority.as_str().eq_ignore_ascii_case(&written)
            && !host.is_empty()
            && host.chars().all(is_name);
        whole.then(|| Self { plain, host, port: port.unwrap_or(if plain { 80 } else { 443 }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(list: &[&str], url: &str) -> bool {
        Hosts::parse(list.iter().copied()).unwrap().allow(&url.parse().unwrap())
    }

    #[test]
    fn only_what_is_listed_is_allowed() {
        let list =
            ["Example.com", "https://b.org:8443", "http://c.net", "http://127.0.0.1:9000", "[::1]"];
        for url in [
            "https://example.com/t.py",
            "https://EXAMPLE.com:443/t.py",
            "https://example.com./t.py",
            "https://b.org:8443/",
            "http://c.net/",
            "http://127.0.0.1:9000/x",
            "https://[::1]/",
        ] {
            assert!(allowed(&list, url), "{url}");
        }
        for url in [
            "http://example.com/t.py",
            "https://example.com:444/t.py",
            "https://sub.example.com/",
            "https://example.com.evil.org/",
            "https://evil.org@example.com/",
            "https://example.com@evil.org/",
            "https://b.org/",
            "https://c.net/",
            "http://127.0.0.1:9001/",
            "https://127.0.0.1:9000/",
            "http://127.0.0.1/",
            "ftp://example.com/",
            "/t.py",
        ] {
            assert!(!allowed(&list, url), "{url}");
        }
        assert!(!allowed(&[], "https://example.com/"));
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for entry in
            ["", "a b", "ftp://x", "https://x/path", "u@x", "x:y", "*.example.com/", "http://"]
        {
            assert_eq!(Hosts::parse([entry]).unwrap_err(), entry);
        }
    }
}
