//! A credential for registries, from flags or the environment.

use std::fs;

use anyhow::{Context, anyhow};
use expander::manager::{BasicAuth, Credential};

use super::flags::Line;

/// The credential of the flags: a token, else a user, else the file of a service account; and the web server that it is
/// for.
///
/// # Errors
/// When there is none.
pub(super) fn read(line: &Line) -> anyhow::Result<Credential> {
    of(line, |name| std::env::var(name).ok())
}

fn of(line: &Line, environment: impl Fn(&str) -> Option<String>) -> anyhow::Result<Credential> {
    let trimmed = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let url = line.text("url").and_then(trimmed);
    // What is in the environment is for GitHub.
    let environment = |variable: &str| environment(variable).filter(|_| url.is_none());
    let given = |flag: &str, variable: &str| match line.text(flag) {
        Some(text) => trimmed(text),
        None => environment(variable).as_deref().and_then(trimmed),
    };
    let mut credential = Credential::default();
    if let Some(apitoken) = given("apitoken", "GITHUB_API_TOKEN") {
        credential.apitoken = apitoken;
    } else if let Some(username) = given("username", "GITHUB_USERNAME") {
        let password = given("password", "GITHUB_PASSWORD").unwrap_or_default();
        credential.basicauth = BasicAuth { username, password };
    } else {
        let file = line.text("serviceaccount");
        let file =
            file.ok_or_else(|| anyhow!("Failed to create a credential from flags/arguments"))?;
        credential.serviceaccount =
            fs::read_to_string(file).with_context(|| format!("service account file {file}"))?;
    }
    credential.url = url.unwrap_or_default();
    Ok(credential)
}

/// The credential as it is sent.
pub(super) fn to_yaml(credential: &Credential) -> anyhow::Result<String> {
    Ok(yaml::from_json(&serde_json::to_string(credential)?)?)
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
        let credential = of(&line, variable).ok()?;
        assert_eq!(format!("{credential:?}"), "Credential(<redacted>)");
        Some(to_yaml(&credential).unwrap())
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
    fn a_credential_for_a_server_has_nothing_of_what_is_for_github() {
        let github = [("GITHUB_API_TOKEN", "T"), ("GITHUB_PASSWORD", "P")];
        let of_server = "basicauth:\n  password: \"\"\n  username: U\nurl: https://h\n";
        assert_eq!(sent(&["--url=https://h", "--username=U"], &github).unwrap(), of_server);
        assert_eq!(sent(&["--url=https://h"], &github), None);
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
