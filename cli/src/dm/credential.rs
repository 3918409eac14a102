//! A credential for registries, from flags or the environment. Its `Debug` shows nothing of it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;

use anyhow::{Context, anyhow};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::flags::Line;

/// The keys of values in a Secret.
const TOKEN: &str = "token";
const USERNAME: &str = "username";
const PASSWORD: &str = "password";
const ACCOUNT: &str = "serviceaccount";

/// A credential as Deployment Manager's service takes it.
#[derive(Default, PartialEq, Eq, Serialize)]
pub(super) struct Credential {
    #[serde(skip_serializing_if = "String::is_empty")]
    apitoken: String,
    basicauth: BasicAuth,
    #[serde(skip_serializing_if = "String::is_empty")]
    serviceaccount: String,
}

/// Sent even if it is empty, as the original did.
#[derive(Default, PartialEq, Eq, Serialize)]
struct BasicAuth {
    username: String,
    password: String,
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(<redacted>)")
    }
}

impl Credential {
    /// The credential of the flags: a token, else a user, else the file of a service account.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn read(line: &Line) -> anyhow::Result<Self> {
        Self::of(line, |name| std::env::var(name).ok())
    }

    fn of(line: &Line, environment: impl Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        let given = |flag: &str, variable: &str| {
            let flag = line.text(flag).map(|text| text.trim().to_owned());
            flag.or_else(|| environment(variable).map(|text| text.trim().to_owned()))
                .filter(|text| !text.is_empty())
        };
        if let Some(apitoken) = given("apitoken", "GITHUB_API_TOKEN") {
            return Ok(Credential { apitoken, ..Credential::default() });
        }
        if let Some(username) = given("username", "GITHUB_USERNAME") {
            let password = given("password", "GITHUB_PASSWORD").unwrap_or_default();
            let basicauth = BasicAuth { username, password };
            return Ok(Credential { basicauth, ..Credential::default() });
        }
        let file = line.text("serviceaccount");
        let file =
            file.ok_or_else(|| anyhow!("Failed to create a credential from flags/arguments"))?;
        let serviceaccount =
            fs::read_to_string(file).with_context(|| format!("service account file {file}"))?;
        Ok(Credential { serviceaccount, ..Credential::default() })
    }

    /// Its values by the keys that they have in a Secret.
    pub(super) fn values(&self) -> BTreeMap<&'static str, &str> {
        let BasicAuth { username, password } = &self.basicauth;
        let all = [
            (TOKEN, &*self.apitoken),
            (USERNAME, username),
            (PASSWORD, password),
            (ACCOUNT, &self.serviceaccount),
        ];
        all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
    }

    /// Of what sort the credential with those keys is, as the service shows it: its members, without their values.
    pub(super) fn shown(has: impl Fn(&str) -> bool) -> Value {
        let mut shown = Map::new();
        if has(TOKEN) {
            shown.insert("apitoken".to_owned(), json!(""));
        }
        if has(USERNAME) || has(PASSWORD) {
            shown.insert("basicauth".to_owned(), json!({USERNAME: "", PASSWORD: ""}));
        }
        if has(ACCOUNT) {
            shown.insert("serviceaccount".to_owned(), json!(""));
        }
        Value::Object(shown)
    }

    /// The credential as it is sent.
    pub(super) fn to_yaml(&self) -> anyhow::Result<String> {
        Ok(yaml::from_json(&serde_json::to_string(self)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(args: &[&str], environment: &[(&str, &str)]) -> Option<String> {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let line = Line::read(&args).unwrap();
        let variable = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let credential = Credential::of(&line, variable).ok()?;
        assert_eq!(format!("{credential:?}"), "Credential(<redacted>)");
        Some(credential.to_yaml().unwrap())
    }

    #[test]
    fn a_token_goes_before_a_user_and_a_flag_before_the_environment() {
        let token = "apitoken: T\nbasicauth:\n  password: \"\"\n  username: \"\"\n";
        let user = "basicauth:\n  password: P\n  username: U\n";
        assert_eq!(sent(&["--apitoken", " T "], &[("GITHUB_API_TOKEN", "E")]).unwrap(), token);
        assert_eq!(sent(&["--username", "U"], &[("GITHUB_API_TOKEN", "T")]).unwrap(), token);
        assert_eq!(sent(&["--username=U"], &[("GITHUB_PASSWORD", "P\n")]).unwrap(), user);
        assert_eq!(sent(&["--password=P"], &[("GITHUB_USERNAME", "U")]).unwrap(), user);
        assert_eq!(sent(&["--password=P"], &[]), None);
    }

    #[test]
    fn a_service_account_is_the_text_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "{}").unwrap();
        let sent = sent(&["--serviceaccount", path.to_str().unwrap()], &[]).unwrap();
        assert!(sent.ends_with("serviceaccount: '{}'\n"), "{sent}");
    }
}
