//! What Kubernetes accepts as a name, a label key and a label value, and the sentences that say why
//! it does not. Only syntax: which rule holds for which resource is the resource's business.
//!
//! Every function returns the problems, in apimachinery's words; none means valid.

const QUALIFIED_NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

/// The longest name part of a qualified name, and the longest label value, in bytes.
const PART_LIMIT: usize = 63;
/// The longest DNS subdomain, in bytes.
const SUBDOMAIN_LIMIT: usize = 253;

/// A label or annotation key: `[subdomain/]name`.
pub fn qualified_name(text: &str) -> Vec<String> {
    let must = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let rule = pattern(must, &["MyName", "my.name", "123-abc"], QUALIFIED_NAME);
    let mut problems = Vec::new();
    let name = match text.split_once('/') {
        None => text,
        Some((_, rest)) if rest.contains('/') => {
            return vec![format!(
                "a qualified name {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
        Some(("", name)) => {
            problems.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            let found = dns1123_subdomain(prefix);
            problems.extend(found.iter().map(|problem| format!("prefix part {problem}")));
            name
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > PART_LIMIT {
        problems.push(format!("name part {}", too_long(PART_LIMIT)));
    }
    if !is_part(name) {
        problems.push(format!("name part {rule}"));
    }
    problems
}

/// A label's value: empty, or as the name part of a key.
pub fn label_value(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > PART_LIMIT {
        problems.push(too_long(PART_LIMIT));
    }
    if !text.is_empty() && !is_part(text) {
        let must = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
        problems.push(pattern(must, &["MyValue", "my_value", "12345"], LABEL_VALUE));
    }
    problems
}

/// A DNS subdomain as in RFC 1123, in lower case: the usual rule for object names.
pub fn dns1123_subdomain(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > SUBDOMAIN_LIMIT {
        problems.push(too_long(SUBDOMAIN_LIMIT));
    }
    if !text.split('.').all(is_dns1123_label) {
        let must = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
        problems.push(pattern(must, &["example.com"], SUBDOMAIN));
    }
    problems
}

/// A DNS label as in RFC 1123, in lower case: the rule for namespaces.
pub fn dns1123_label(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > PART_LIMIT {
        problems.push(too_long(PART_LIMIT));
    }
    if !is_dns1123_label(text) {
        let must = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
        problems.push(pattern(must, &["my-name", "123-abc"], LABEL));
    }
    problems
}

/// The beginning of a DNS subdomain, as in `generateName`: it may end in `-`.
pub fn dns1123_subdomain_prefix(text: &str) -> Vec<String> {
    match text.strip_suffix('-') {
        Some(stem) if !stem.is_empty() => dns1123_subdomain(&format!("{stem}a")),
        _ => dns1123_subdomain(text),
    }
}

/// What keeps a name from being one segment of a path.
pub fn path_segment(text: &str) -> Vec<String> {
    match text {
        "." => return vec!["may not be '.'".to_owned()],
        ".." => return vec!["may not be '..'".to_owned()],
        _ => {}
    }
    ['/', '%']
        .into_iter()
        .filter(|character| text.contains(*character))
        .map(|character| format!("may not contain '{character}'"))
        .collect()
}

/// How many random characters follow `generateName`.
pub const GENERATED_SUFFIX: usize = 5;

/// `base`, cut to 58 bytes, and a random `suffix`, as apiserver's `SimpleNameGenerator`.
pub fn generate(base: &str, suffix: &str) -> String {
    let end = base.floor_char_boundary(PART_LIMIT - GENERATED_SUFFIX);
    format!("{}{suffix}", &base[..end])
}

fn is_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = |end: Option<&u8>| end.is_some_and(u8::is_ascii_alphanumeric);
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_dns1123_label(text: &str) -> bool {
    let alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(alphanumeric)
        && bytes.last().is_some_and(alphanumeric)
        && bytes.iter().all(|byte| alphanumeric(byte) || *byte == b'-')
}

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

/// The two blanks after each example's comma are upstream's; clients compare whole sentences.
fn pattern(must: &str, examples: &[&str], regex: &str) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{must} (e.g. {}regex used for validation is '{regex}')", examples.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_that_clusters_hold_are_valid() {
        for key in ["app", "a", "App.kubernetes_io-x", "app.kubernetes.io/name", "1/A"] {
            assert_eq!(qualified_name(key), Vec::<String>::new(), "{key}");
        }
        for value in ["", "a", "A_b.c-d", &"v".repeat(63)] {
            assert_eq!(label_value(value), Vec::<String>::new(), "{value}");
        }
    }

    #[test]
    fn a_generated_name_has_at_most_63_bytes() {
        assert_eq!(generate("a-", "xyz12"), "a-xyz12");
        assert_eq!(generate(&"b".repeat(80), "xyz12").len(), 63);
        assert_eq!(generate(&"é".repeat(40), "xyz12").len(), 63);
    }

    #[test]
    fn a_name_that_ends_in_a_hyphen_may_begin_another() {
        assert_eq!(dns1123_subdomain_prefix("a-"), Vec::<String>::new());
        assert_eq!(dns1123_subdomain_prefix("Bad_").len(), 1);
        assert_eq!(dns1123_subdomain("a-").len(), 1);
    }

    #[test]
    fn a_path_segment_is_one_segment() {
        assert_eq!(path_segment("a%2fb/"), ["may not contain '/'", "may not contain '%'"]);
        assert_eq!(path_segment(".."), ["may not be '..'"]);
    }

    #[test]
    fn every_problem_of_a_key_is_told() {
        let count = |key: &str| qualified_name(key).len();
        assert_eq!(count(""), 2, "empty, and not of the form");
        assert_eq!(count("/a"), 1);
        assert_eq!(count("A/-"), 2, "the prefix and the name");
        assert_eq!(count("a/b/c"), 1);
        assert_eq!(count(&format!("{}/a", "p".repeat(254))), 1);
        assert_eq!(
            qualified_name(&"x".repeat(64)),
            ["name part must be no more than 63 characters"]
        );
    }

    #[test]
    fn a_rule_is_told_with_its_examples() {
        assert_eq!(
            label_value("%"),
            [
                "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            ]
        );
        assert_eq!(
            dns1123_subdomain("a..b"),
            [
                "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            ]
        );
    }
}
