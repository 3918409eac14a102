//! Attempts to be somebody else, each with the identity that comes of it.

use std::time::Duration;

use futures::FutureExt as _;
use http::{HeaderName, HeaderValue};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, date_time_ymd,
};

use super::super::{ANONYMOUS, Anonymous, CaBundle, ClientCertificates, StaticTokens, Union};
use super::*;

/// A certificate authority.
struct Authority {
    pem: String,
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let (params, key) = (Self::params(name), KeyPair::generate().unwrap());
        let certificate = params.self_signed(&key).unwrap();
        Self { pem: certificate.pem(), certificate, issuer: Issuer::new(params, key) }
    }

    /// An authority below this one.
    fn intermediate(&self, name: &str) -> Self {
        let (params, key) = (Self::params(name), KeyPair::generate().unwrap());
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Self { pem: certificate.pem(), certificate, issuer: Issuer::new(params, key) }
    }

    fn params(name: &str) -> CertificateParams {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        params
    }

    fn sign(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Certificate {
        let mut params = CertificateParams::default();
        if !name.is_empty() {
            params.distinguished_name.push(DnType::CommonName, name);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        change(&mut params);
        params.signed_by(&KeyPair::generate().unwrap(), &self.issuer).unwrap()
    }

    fn peer(&self, name: &str) -> Peer {
        peer(&[&self.sign(name, |_| {})])
    }
}

fn peer(chain: &[&Certificate]) -> Peer {
    Peer::new(chain.iter().map(|certificate| certificate.der().clone()).collect())
}

/// A server with both authorities and a token file.
struct Server {
    proxies: Authority,
    clients: Authority,
    proxy: Arc<FrontProxy>,
    union: Union,
}

impl Server {
    fn new(allowed_names: &[&str]) -> Self {
        Self::reading(allowed_names, IdentityHeaders::default())
    }

    fn reading(allowed_names: &[&str], headers: IdentityHeaders) -> Self {
        let (proxies, clients) = (Authority::new("proxies"), Authority::new("clients"));
        let proxy = Arc::new(FrontProxy::default());
        let allowed = allowed_names.iter().map(|&name| name.to_owned()).collect();
        proxy.replace(proxies.pem.as_bytes(), allowed, headers).unwrap();
        let client_ca = Arc::new(CaBundle::from_pem(clients.pem.as_bytes()).unwrap());
        let jane = User::authenticated("jane", vec![]);
        let union = Union::new(
            vec![
                Box::new(RequestHeaders::new(proxy.clone())),
                Box::new(ClientCertificates::new(client_ca)),
                Box::new(StaticTokens::new([("secret".to_owned(), jane)])),
            ],
            Anonymous::Allowed,
        );
        Self { proxies, clients, proxy, union }
    }

    /// Who a request is from; `None` for a 401.
    fn ask(&self, peer: &Peer, lines: &[(&str, &str)]) -> Option<String> {
        let headers = headers(lines);
        let verdict = self.union.authenticate(&headers, peer).now_or_never().unwrap();
        verdict.ok().flatten().map(|user| user.name.clone())
    }

    #[track_caller]
    fn check(&self, peer: &Peer, lines: &[(&str, &str)], want: Option<&str>) {
        assert_eq!(self.ask(peer, lines).as_deref(), want, "{lines:?}");
    }
}

fn headers(lines: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        let name: HeaderName = name.parse().unwrap();
        headers.append(name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

const ADMIN: &[(&str, &str)] = &[("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters")];
const PROXY: &str = "front-proxy-client";
const UNKNOWN: Option<&str> = None;

#[test]
fn only_the_proxy_names_users() {
    let server = Server::new(&[PROXY]);
    server.check(&server.proxies.peer(PROXY), ADMIN, Some("admin"));
    server.check(&server.proxies.peer(PROXY), &[("x-remote-USER", "jane")], Some("jane"));
    let chained = server.proxies.intermediate("below");
    let leaf = chained.sign(PROXY, |_| {});
    server.check(&peer(&[&leaf, &chained.certificate]), ADMIN, Some("admin"));
}

#[test]
fn headers_without_a_certificate_name_nobody() {
    let server = Server::new(&[PROXY]);
    let nobody = Peer::default();
    server.check(&nobody, ADMIN, Some(ANONYMOUS));
    server.check(&nobody, &[("x-remote-user", "admin"), ("X-REMOTE-USER", "b")], Some(ANONYMOUS));
    let with_token = [ADMIN[0], ADMIN[1], ("authorization", "Bearer secret")];
    server.check(&nobody, &with_token, Some("jane"));
    server.check(&nobody, &[ADMIN[0], ("authorization", "Bearer wrong")], UNKNOWN);
}

#[test]
fn a_users_own_certificate_is_its_own_whatever_the_headers_say() {
    let server = Server::new(&[]);
    server.check(&server.clients.peer("jane"), ADMIN, Some("jane"));
    // Not even with the name of the proxy: it is the authority that counts.
    let server = Server::new(&[PROXY]);
    server.check(&server.clients.peer(PROXY), ADMIN, Some(PROXY));
    let both = server.clients.sign("jane", |_| {});
    server.check(&peer(&[&both, &server.proxies.sign(PROXY, |_| {})]), ADMIN, Some("jane"));
    server.check(&peer(&[&both, &server.proxies.certificate]), ADMIN, Some("jane"));
}

#[test]
fn a_certificate_that_proves_nothing_is_refused_with_headers_and_without() {
    let server = Server::new(&[PROXY]);
    let foreign = Authority::new("proxies");
    let proxies = &server.proxies;
    let self_signed = Authority::new(PROXY).certificate;
    let server_only = |params: &mut CertificateParams| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    };
    let expired = |params: &mut CertificateParams| {
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
    };
    let not_yet = |params: &mut CertificateParams| {
        params.not_before = date_time_ymd(4000, 1, 1);
        params.not_after = date_time_ymd(4001, 1, 1);
    };
    // A leaf that signs is no authority.
    let leaf_key = KeyPair::generate().unwrap();
    let mut leaf_params = CertificateParams::default();
    leaf_params.distinguished_name.push(DnType::CommonName, "jane");
    let leaf = leaf_params.signed_by(&leaf_key, &proxies.issuer).unwrap();
    let leaf_issuer = Issuer::new(leaf_params, leaf_key);
    let mut below = CertificateParams::default();
    below.distinguished_name.push(DnType::CommonName, PROXY);
    below.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let below_leaf = below.signed_by(&KeyPair::generate().unwrap(), &leaf_issuer).unwrap();

    let attempts = [
        ("another authority of the same name", peer(&[&foreign.sign(PROXY, |_| {})])),
        (
            "another authority, brought along",
            peer(&[&foreign.sign(PROXY, |_| {}), &foreign.certificate]),
        ),
        (
            "the true authority, brought along",
            peer(&[&foreign.sign(PROXY, |_| {}), &proxies.certificate]),
        ),
        ("signed by itself", peer(&[&self_signed])),
        ("the authority itself", peer(&[&proxies.certificate])),
        ("another name", proxies.peer("jane")),
        ("the name in another case", proxies.peer("Front-Proxy-Client")),
        ("more than the name", proxies.peer("front-proxy-client ")),
        ("no name", proxies.peer("")),
        (
            "the name as an organization",
            peer(&[&proxies.sign("", |params| {
                params.distinguished_name.push(DnType::OrganizationName, PROXY);
            })]),
        ),
        (
            "the name as a DNS name",
            peer(&[&proxies.sign("jane", |params| {
                params.subject_alt_names = vec![rcgen::SanType::DnsName(PROXY.try_into().unwrap())];
            })]),
        ),
        ("for servers", peer(&[&proxies.sign(PROXY, server_only)])),
        ("expired", peer(&[&proxies.sign(PROXY, expired)])),
        ("not valid yet", peer(&[&proxies.sign(PROXY, not_yet)])),
        ("signed by a leaf", peer(&[&below_leaf, &leaf])),
        ("an intermediate left out", {
            peer(&[&proxies.intermediate("below").sign(PROXY, |_| {})])
        }),
        ("the proxy's certificate second", {
            peer(&[&foreign.sign("jane", |_| {}), &proxies.sign(PROXY, |_| {})])
        }),
        ("no certificate at all", Peer::new(vec![b"nonsense".to_vec().into()])),
        ("an empty certificate", Peer::new(vec![Vec::new().into()])),
    ];
    for (attempt, peer) in attempts {
        assert_eq!(server.ask(&peer, ADMIN), None, "{attempt}");
        assert_eq!(server.ask(&peer, &[]), None, "{attempt}");
        let with_token = [ADMIN[0], ("authorization", "Bearer secret")];
        assert_eq!(server.ask(&peer, &with_token).as_deref(), Some("jane"), "{attempt}");
    }
}

#[test]
fn the_proxy_is_no_user_itself() {
    let server = Server::new(&[PROXY]);
    let proxy = || server.proxies.peer(PROXY);
    server.check(&proxy(), &[], UNKNOWN);
    server.check(&proxy(), &[("x-remote-user", "")], UNKNOWN);
    server.check(&proxy(), &[ADMIN[1]], UNKNOWN);
    server.check(&proxy(), &[("x-remote-extra-user", "admin")], UNKNOWN);
}

#[test]
fn without_allowed_names_every_certificate_of_that_authority_will_do_and_of_no_other() {
    let server = Server::new(&[]);
    server.check(&server.proxies.peer("whoever"), ADMIN, Some("admin"));
    server.check(&server.proxies.peer(""), ADMIN, Some("admin"));
    server.check(&server.clients.peer("whoever"), ADMIN, Some("whoever"));
    server.check(&Authority::new("proxies").peer("whoever"), ADMIN, UNKNOWN);
}

#[test]
fn names_that_look_like_the_headers_are_not_the_headers() {
    let server = Server::new(&[PROXY]);
    for name in [
        "x_remote_user",
        "x-remote_user",
        "x.remote.user",
        "x-remote-user-",
        "remote-user",
        "x-remote-users",
        "http-x-remote-user",
        "x-forwarded-user",
        "x-remote-user%00",
    ] {
        server.check(&server.proxies.peer(PROXY), &[(name, "admin")], UNKNOWN);
        server.check(&Peer::default(), &[(name, "admin")], Some(ANONYMOUS));
        let beside = [("x-remote-user", "jane"), (name, "admin")];
        server.check(&server.proxies.peer(PROXY), &beside, Some("jane"));
    }
}

#[test]
fn the_standard_headers_say_nothing_where_others_are_configured() {
    let list = |name: &str| vec![name.to_owned()];
    let headers = IdentityHeaders::new(&list("X-Who"), &list("X-Group"), &list("X-More-"), &[]);
    let server = Server::reading(&[PROXY], headers.unwrap());
    let proxy = server.proxies.peer(PROXY);
    server.check(&proxy, ADMIN, UNKNOWN);
    server.check(&proxy, &[("x-who", "jane"), ADMIN[0], ADMIN[1]], Some("jane"));
    let mut sent =
        self::headers(&[("x-who", "a"), ("x-group", "b"), ("X-More-c", "d"), ("e", "f")]);
    server.union.strip(&mut sent);
    assert_eq!(sent.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["e"]);
}

#[test]
fn a_proxy_whose_authority_was_replaced_is_refused_on_its_open_connection() {
    let server = Server::new(&[PROXY]);
    let connection = server.proxies.peer(PROXY);
    server.check(&connection, ADMIN, Some("admin"));
    let next = Authority::new("next");
    let headers = IdentityHeaders::default;
    let allowed = || vec![PROXY.to_owned()];
    // Both, while the proxy changes its certificate.
    let both = format!("{}{}", server.proxies.pem, next.pem);
    server.proxy.replace(both.as_bytes(), allowed(), headers()).unwrap();
    server.check(&connection, ADMIN, Some("admin"));
    server.check(&next.peer(PROXY), ADMIN, Some("admin"));
    server.proxy.replace(next.pem.as_bytes(), allowed(), headers()).unwrap();
    server.check(&connection, ADMIN, UNKNOWN);
    server.check(&next.peer(PROXY), ADMIN, Some("admin"));
    // A bundle that is none changes nothing.
    server.proxy.replace(b"nonsense", Vec::new(), headers()).unwrap_err();
    server.check(&next.peer("another"), ADMIN, UNKNOWN);
    // Names are taken away at once too.
    server.proxy.replace(next.pem.as_bytes(), vec!["x".to_owned()], headers()).unwrap();
    server.check(&next.peer(PROXY), ADMIN, UNKNOWN);
}

#[test]
fn a_proxys_certificate_that_expires_is_noticed_on_its_open_connection() {
    let server = Server::new(&[PROXY]);
    let connection = server.proxies.peer(PROXY);
    let authenticator = RequestHeaders::new(server.proxy);
    let judge = |now| authenticator.judge(&headers(ADMIN), &connection, now);
    assert!(judge(UnixTime::now()).unwrap().is_some());
    let far = Duration::from_secs(100_000_000_000);
    assert!(judge(UnixTime::since_unix_epoch(far)).is_err());
}

#[test]
fn an_authority_for_users_makes_no_proxy_when_none_is_known() {
    let server = Server::new(&[PROXY]);
    let none = RequestHeaders::new(Arc::default());
    let ask = |peer: &Peer| none.judge(&headers(ADMIN), peer, UnixTime::now());
    assert_eq!(ask(&server.clients.peer(PROXY)), Ok(None));
    assert_eq!(ask(&server.proxies.peer(PROXY)), Ok(None));
}

#[test]
fn a_connection_is_vouched_for_once_some_authority_does() {
    let server = Server::new(&[PROXY]);
    let vouched = |peer: Peer| {
        server.ask(&peer, ADMIN);
        peer.is_vouched_for()
    };
    assert!(vouched(server.proxies.peer(PROXY)));
    assert!(vouched(server.clients.peer("jane")));
    assert!(!vouched(Authority::new("foreign").peer(PROXY)));
    assert!(!vouched(Peer::default()));
}
