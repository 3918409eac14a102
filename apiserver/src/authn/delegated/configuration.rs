//! The data of the ConfigMap `extension-apiserver-authentication`, read.

use std::collections::BTreeMap;

use super::super::{BadHeaderName, IdentityHeaders};

/// What kube-apiserver says of its front proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Proxy<'a> {
    pub(super) authorities: &'a str,
    pub(super) allowed_names: Vec<String>,
    pub(super) headers: IdentityHeaders,
}

/// A value that is not what kube-apiserver writes there.
#[derive(Debug, thiserror::Error)]
pub(super) enum Malformed {
    #[error("{0} is no JSON list of texts")]
    List(&'static str, #[source] serde_json::Error),
    #[error(transparent)]
    Header(#[from] BadHeaderName),
}

/// The authorities of users' certificates; `None` if kube-apiserver knows users by other means alone.
pub(super) fn client_ca(data: &BTreeMap<String, String>) -> Option<&str> {
    data.get("client-ca-file").map(String::as_str)
}

/// The front proxy; `None` if kube-apiserver has none.
pub(super) fn proxy(data: &BTreeMap<String, String>) -> Result<Option<Proxy<'_>>, Malformed> {
    let Some(authorities) = data.get("requestheader-client-ca-file") else { return Ok(None) };
    let headers = IdentityHeaders::new(
        &list(data, "requestheader-username-headers")?,
        &list(data, "requestheader-group-headers")?,
        &list(data, "requestheader-extra-headers-prefix")?,
        &list(data, "requestheader-uid-headers")?,
    )?;
    let allowed_names = list(data, "requestheader-allowed-names")?;
    Ok(Some(Proxy { authorities, allowed_names, headers }))
}

/// All but the authorities are JSON in a text. What is missing is empty.
fn list(data: &BTreeMap<String, String>, key: &'static str) -> Result<Vec<String>, Malformed> {
    match data.get(key).map(String::as_str) {
        None | Some("") => Ok(Vec::new()),
        Some(text) => serde_json::from_str(text).map_err(|error| Malformed::List(key, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn everything_that_kube_apiserver_writes_is_read() {
        let data = data(&[
            ("client-ca-file", "users"),
            ("requestheader-client-ca-file", "proxies"),
            ("requestheader-allowed-names", r#"["front-proxy-client"]"#),
            ("requestheader-username-headers", r#"["X-Remote-User"]"#),
            ("requestheader-group-headers", r#"["X-Remote-Group"]"#),
            ("requestheader-extra-headers-prefix", r#"["X-Remote-Extra-"]"#),
            ("requestheader-uid-headers", r#"["X-Remote-Uid"]"#),
        ]);
        let one = |name: &str| vec![name.to_owned()];
        let headers = IdentityHeaders::new(
            &one("x-remote-user"),
            &one("x-remote-group"),
            &one("x-remote-extra-"),
            &one("x-remote-uid"),
        );
        let want = Proxy {
            authorities: "proxies",
            allowed_names: one("front-proxy-client"),
            headers: headers.unwrap(),
        };
        assert_eq!(proxy(&data).unwrap(), Some(want));
        assert_eq!(client_ca(&data), Some("users"));
    }

    #[test]
    fn a_cluster_without_aggregation_has_no_proxy() {
        assert_eq!(proxy(&data(&[("client-ca-file", "users")])).unwrap(), None);
    }

    #[test]
    fn a_list_that_is_none_is_not_taken_for_an_empty_one() {
        for allowed in ["front-proxy-client", "{}", "[1]", "[", "null"] {
            let data = data(&[
                ("requestheader-client-ca-file", "proxies"),
                ("requestheader-allowed-names", allowed),
            ]);
            assert!(proxy(&data).is_err(), "{allowed}");
        }
    }
}
