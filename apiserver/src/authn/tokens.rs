//! Static bearer tokens, from a file in the format of kube-apiserver's `--token-auth-file`.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::{BoxFuture, ready};
use http::HeaderMap;

use super::bearer::{Digest, Digests, bearer};
use super::{Authenticator, Peer, Rejected, User, Verdict};

/// The users behind a fixed set of tokens.
pub struct StaticTokens {
    digests: Digests,
    users: HashMap<Digest, Arc<User>>,
}

/// A token file that cannot be read as one.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFileError {
    /// A line has fewer than token, user and uid.
    #[error("line {0}: want token,user,uid and perhaps groups")]
    TooFewColumns(usize),
    /// A quoted column does not end.
    #[error("line {0}: a quote is not closed")]
    OpenQuote(usize),
}

impl StaticTokens {
    /// These tokens and their users.
    pub fn new(tokens: impl IntoIterator<Item = (String, User)>) -> Self {
        let mut this = Self { digests: Digests::new(), users: HashMap::new() };
        for (token, mut user) in tokens {
            user.join_authenticated();
            this.users.insert(this.digests.of(&token), Arc::new(user));
        }
        this
    }

    /// Reads `token,user,uid,"group1,group2"` lines. Lines without a token are skipped; of two
    /// lines with the same token the later counts, as upstream.
    ///
    /// # Errors
    /// When a line has too few columns or an open quote.
    pub fn from_csv(text: &str) -> Result<Self, TokenFileError> {
        let mut tokens = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let number = index + 1;
            let columns = columns(line).ok_or(TokenFileError::OpenQuote(number))?;
            let [token, name, uid, rest @ ..] = columns.as_slice() else {
                return Err(TokenFileError::TooFewColumns(number));
            };
            if token.is_empty() {
                tracing::warn!(line = number, "empty token in the token file");
                continue;
            }
            let groups = rest.first().map(String::as_str).unwrap_or_default();
            let groups = groups.split(',').map(str::trim).filter(|group| !group.is_empty());
            let mut user = User::authenticated(name, groups.map(str::to_owned).collect());
            user.uid.clone_from(uid);
            tokens.push((token.clone(), user));
        }
        Ok(Self::new(tokens))
    }

    fn judge(&self, headers: &HeaderMap) -> Verdict {
        let Some(token) = bearer(headers) else { return Ok(None) };
        match self.users.get(&self.digests.of(token)) {
            Some(user) => Ok(Some(user.clone())),
            None => Err(Rejected("invalid bearer token".into())),
        }
    }
}

impl Authenticator for StaticTokens {
    fn authenticate<'a>(&'a self, headers: &'a HeaderMap, _: &'a Peer) -> BoxFuture<'a, Verdict> {
        Box::pin(ready(self.judge(headers)))
    }
}

/// The columns of one line of CSV; a quoted one may hold commas and doubled quotes.
fn columns(line: &str) -> Option<Vec<String>> {
    let mut columns = vec![String::new()];
    let mut characters = line.trim().chars().peekable();
    let mut quoted = false;
    while let Some(character) = characters.next() {
        let column = columns.last_mut().expect("there is one column from the start");
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => column.push('"'),
            '"' if quoted || column.is_empty() => quoted = !quoted,
            ',' if !quoted => columns.push(String::new()),
            other => column.push(other),
        }
    }
    (!quoted).then_some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::AUTHORIZATION;

    const FILE: &str = "t1,alice,u1,\"dev,ops\"\n\n  t2,bob,u2\nt3,\"q\"\"x\",u3,one\n,nobody,u4\n";

    fn ask(authorization: &str) -> Verdict {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, authorization.parse().unwrap());
        StaticTokens::from_csv(FILE).unwrap().judge(&headers)
    }

    #[test]
    fn a_token_names_its_user_and_groups() {
        let check = |token: &str, name: &str, groups: &[&str]| {
            let user = ask(&format!("Bearer {token}")).unwrap().unwrap();
            assert_eq!(
                (user.name.as_str(), user.groups.as_slice()),
                (name, &groups.iter().map(|&group| group.to_owned()).collect::<Vec<_>>()[..])
            );
        };
        check("t1", "alice", &["dev", "ops", "system:authenticated"]);
        check("t2", "bob", &["system:authenticated"]);
        check("t3", "q\"x", &["one", "system:authenticated"]);
        assert_eq!(ask("bearer t1").unwrap().unwrap().uid, "u1");
    }

    #[test]
    fn an_unknown_token_is_rejected_and_another_scheme_not_ours() {
        assert!(ask("Bearer t9").is_err());
        assert_eq!(ask("Basic dDE="), Ok(None));
        assert_eq!(ask("Bearer"), Ok(None));
        assert_eq!(StaticTokens::new([]).judge(&HeaderMap::new()), Ok(None));
    }

    #[test]
    fn a_broken_file_is_refused_with_its_line() {
        let check = |text: &str, want: TokenFileError| {
            assert_eq!(StaticTokens::from_csv(text).err(), Some(want));
        };
        check("a,b,c\nx,y", TokenFileError::TooFewColumns(2));
        check("a,\"b,c", TokenFileError::OpenQuote(1));
    }
}
