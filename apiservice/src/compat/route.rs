//! From method and path to what is asked for, as Deployment Manager's router had it.
//!
//! Names in paths are escaped twice: the router undoes one escape before it looks for slashes, and whoever handles the
//! request another one. A name with a slash or a colon arrives whole only so, and that is how its clients send it.

use apiserver::request::unescape;
use http::Method;

/// What is asked for. The texts are names, unescaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Healthz,
    Expand,
    Deployments,
    Create,
    Deployment(String),
    Update(String),
    Delete(String),
    Manifests(String),
    Manifest(String, String),
    Types,
    Instances(String),
    Metadata(String),
    RegistryOf(String),
    Registries,
    Registry(String),
    CreateRegistry(String),
    RegistryTypes(String),
    RegistryType(String, String),
    Download(String),
    Credential(String),
    SetCredential(String),
}

/// What is found at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Route(Route),
    /// It is at this path, without a slash at its end.
    Moved(String),
    Nowhere,
    /// An escape is broken.
    Malformed(String),
}

impl Route {
    /// Whether a body is read, which has to be announced as JSON.
    pub(super) fn takes_json(&self) -> bool {
        use Route::{Create, CreateRegistry, SetCredential, Update};
        matches!(self, Create | Update(_) | CreateRegistry(_) | SetCredential(_))
    }
}

/// Finds what is asked for. `path` is as it was sent.
pub(super) fn find(method: &Method, path: &str) -> Found {
    let Some(decoded) = unescape(path, false) else { return malformed(path) };
    if let Some(found) = route(method, &decoded) {
        return found;
    }
    let shorter = path.strip_suffix('/').zip(decoded.strip_suffix('/'));
    let shorter = shorter.filter(|(_, decoded)| route(method, decoded).is_some());
    shorter.map_or(Found::Nowhere, |(path, _)| Found::Moved(path.to_owned()))
}

fn route(method: &Method, path: &str) -> Option<Found> {
    let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    if parts.contains(&"") {
        return None;
    }
    let (first, rest) = parts.split_first()?;
    let names: Option<Vec<String>> = rest.iter().map(|part| unescape(part, true)).collect();
    let Some(names) = names else { return Some(malformed(path)) };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let route = match *method {
        Method::GET => read(first, &names),
        Method::POST => match (*first, names.as_slice()) {
            ("expand", []) => Some(Route::Expand),
            ("deployments", []) => Some(Route::Create),
            ("registries", [name]) => Some(Route::CreateRegistry((*name).to_owned())),
            ("credentials", [name]) => Some(Route::SetCredential((*name).to_owned())),
            _ => None,
        },
        Method::PUT | Method::DELETE => match (*first, names.as_slice()) {
            ("deployments", [name]) if method == Method::PUT => {
                Some(Route::Update((*name).to_owned()))
            }
            ("deployments", [name]) => Some(Route::Delete((*name).to_owned())),
            _ => None,
        },
        _ => None,
    };
    route.map(Found::Route)
}

fn read(first: &str, names: &[&str]) -> Option<Route> {
    let own = |name: &str| name.to_owned();
    Some(match (first, names) {
        ("healthz", []) => Route::Healthz,
        ("deployments", []) => Route::Deployments,
        ("deployments", [name]) => Route::Deployment(own(name)),
        ("deployments", [name, "manifests"]) => Route::Manifests(own(name)),
        ("deployments", [name, "manifests", of]) => Route::Manifest(own(name), own(of)),
        ("types", []) => Route::Types,
        ("types", [name, "instances"]) => Route::Instances(own(name)),
        ("types", [name, "metadata"]) => Route::Metadata(own(name)),
        ("types", [name, "registry"]) => Route::RegistryOf(own(name)),
        ("registries", []) => Route::Registries,
        ("registries", [name]) => Route::Registry(own(name)),
        ("registries", [name, "types"]) => Route::RegistryTypes(own(name)),
        ("registries", [name, "types", of]) => Route::RegistryType(own(name), own(of)),
        ("registries", [name, "download"]) => Route::Download(own(name)),
        ("credentials", [name]) => Route::Credential(own(name)),
        _ => return None,
    })
}

fn malformed(path: &str) -> Found {
    Found::Malformed(format!("invalid URL escape in {path:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(path: &str) -> Found {
        find(&Method::GET, path)
    }

    #[test]
    fn every_path_of_the_manager_is_found() {
        let name = || "a".to_owned();
        for (path, route) in [
            ("/healthz", Route::Healthz),
            ("/deployments", Route::Deployments),
            ("/deployments/a", Route::Deployment(name())),
            ("/deployments/a/manifests", Route::Manifests(name())),
            ("/deployments/a/manifests/b", Route::Manifest(name(), "b".to_owned())),
            ("/types", Route::Types),
            ("/types/a/instances", Route::Instances(name())),
            ("/types/a/metadata", Route::Metadata(name())),
            ("/types/a/registry", Route::RegistryOf(name())),
            ("/registries", Route::Registries),
            ("/registries/a", Route::Registry(name())),
            ("/registries/a/types", Route::RegistryTypes(name())),
            ("/registries/a/types/b", Route::RegistryType(name(), "b".to_owned())),
            ("/registries/a/download", Route::Download(name())),
            ("/credentials/a", Route::Credential(name())),
        ] {
            assert_eq!(get(path), Found::Route(route), "{path}");
        }
        for (method, path, route) in [
            (Method::POST, "/expand", Route::Expand),
            (Method::POST, "/deployments", Route::Create),
            (Method::PUT, "/deployments/a", Route::Update(name())),
            (Method::DELETE, "/deployments/a", Route::Delete(name())),
            (Method::POST, "/registries/a", Route::CreateRegistry(name())),
            (Method::POST, "/credentials/a", Route::SetCredential(name())),
        ] {
            assert_eq!(find(&method, path), Found::Route(route), "{path}");
        }
    }

    #[test]
    fn another_method_or_path_is_nowhere() {
        for path in ["", "/", "//", "/expand", "/expand/", "/deployments/a/b", "/types/a", "/x"] {
            assert_eq!(get(path), Found::Nowhere, "{path}");
        }
        for path in ["/deployments//manifests", "//deployments", "/deployments//"] {
            assert_eq!(get(path), Found::Nowhere, "{path}");
        }
        for method in [Method::PATCH, Method::HEAD, Method::OPTIONS, Method::POST] {
            assert_eq!(find(&method, "/deployments/a"), Found::Nowhere, "{method}");
        }
        assert_eq!(find(&Method::DELETE, "/credentials/a"), Found::Nowhere);
    }

    #[test]
    fn a_slash_at_the_end_is_one_too_many() {
        assert_eq!(get("/deployments/d1/"), Found::Moved("/deployments/d1".to_owned()));
        assert_eq!(
            get("/types/a%252Fb/instances/"),
            Found::Moved("/types/a%252Fb/instances".to_owned())
        );
    }

    #[test]
    fn names_are_escaped_twice() {
        let whole = Found::Route(Route::Instances("github.com/o/r:v1 x".to_owned()));
        assert_eq!(get("/types/github.com%252Fo%252Fr%253Av1+x/instances"), whole);
        assert_eq!(get("/types/a%2Fb/instances"), Found::Nowhere);
        assert!(matches!(get("/types/a%25zz/instances"), Found::Malformed(_)));
        assert_eq!(get("/deployments/d1%2F"), Found::Nowhere);
        assert!(matches!(get("/types/a%"), Found::Malformed(_)));
        assert!(matches!(get("/deployments/%25ff"), Found::Malformed(_)));
    }
}
