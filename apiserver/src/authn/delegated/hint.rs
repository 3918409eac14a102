//! What to do when the ConfigMap may not be read: the command that mends it.

/// A rolebinding that lets whoever was refused read the ConfigMap. `refusal` is the message of the
/// 403, which names the user.
pub(super) fn rolebinding(refusal: &str) -> String {
    let subject = refused(refusal).map_or_else(
        || "--serviceaccount=YOUR_NAMESPACE:YOUR_SERVICEACCOUNT".to_owned(),
        |user| match user.strip_prefix("system:serviceaccount:") {
            Some(account) => format!("--serviceaccount={account}"),
            None => format!("--user={user}"),
        },
    );
    let role = "extension-apiserver-authentication-reader";
    format!("kubectl create rolebinding {role} -n kube-system --role={role} {subject}")
}

/// The user of `… is forbidden: User "NAME" cannot …`, if the name can stand in a command as it is.
fn refused(refusal: &str) -> Option<&str> {
    let (_, rest) = refusal.split_once("User \"")?;
    let (user, _) = rest.split_once("\" cannot")?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":._-@".contains(&byte);
    (!user.is_empty() && user.bytes().all(is_plain)).then_some(user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_whoever_was_refused() {
        let check = |user: &str, want: &str| {
            let refusal = format!("configmaps \"x\" is forbidden: User \"{user}\" cannot list it");
            assert!(rolebinding(&refusal).ends_with(want), "{}", rolebinding(&refusal));
        };
        check("system:serviceaccount:ns:sa", " --serviceaccount=ns:sa");
        check("jane@example.com", " --user=jane@example.com");
        check("a b", "YOUR_SERVICEACCOUNT");
        check("$(rm)", "YOUR_SERVICEACCOUNT");
    }
}
