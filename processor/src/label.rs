//! What Kubernetes accepts as the name and the value of a label.
//!
//! Only the proposal's labels are checked here: OpenShift's server lets any through, and leaves it
//! to whoever creates the objects to refuse them.

/// The longest name or value.
const MAX: usize = 63;
/// The longest prefix of a name.
const MAX_PREFIX: usize = 253;

/// What is wrong with the name of a label.
pub(crate) fn name_fault(name: &str) -> Option<&'static str> {
    let (prefix, name) = match name.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, name),
    };
    if prefix.is_some_and(|prefix| !is_subdomain(prefix)) {
        return Some("the prefix before '/' must be a DNS subdomain of at most 253 characters");
    }
    if !name.is_empty() && is_word(name) {
        return None;
    }
    Some(
        "a label's name must be 1 to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends",
    )
}

/// What is wrong with the value of a label.
pub(crate) fn value_fault(value: &str) -> Option<&'static str> {
    if is_word(value) {
        return None;
    }
    Some(
        "a label's value must be empty or at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends",
    )
}

fn is_word(text: &str) -> bool {
    let ends_well = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= MAX
        && ends_well(bytes.first())
        && ends_well(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_subdomain(text: &str) -> bool {
    let is_inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        bytes.first().is_some_and(is_inner)
            && bytes.last().is_some_and(is_inner)
            && bytes.iter().all(|byte| is_inner(byte) || *byte == b'-')
    };
    text.len() <= MAX_PREFIX && text.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_qualified_names() {
        let long = "a".repeat(63);
        for good in ["a", "A.b-c_9", "app.kubernetes.io/name", "x/y", &long] {
            assert_eq!(name_fault(good), None, "{good}");
        }
        let longer = "a".repeat(64);
        for bad in ["", "-a", "a-", "a b", "é", "/a", "a/", "A/b", "a..b/c", "a/b/c", &longer] {
            assert!(name_fault(bad).is_some(), "{bad}");
        }
        assert!(name_fault(&format!("{}/a", "a".repeat(254))).is_some());
    }

    #[test]
    fn a_value_may_be_empty() {
        let longer = "a".repeat(64);
        for good in ["", "a", "1.2-3_x"] {
            assert_eq!(value_fault(good), None, "{good}");
        }
        for bad in [" ", "a/b", ".a", "a_", "é", &longer] {
            assert!(value_fault(bad).is_some(), "{bad}");
        }
    }
}
