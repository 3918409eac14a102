//! `env`: what templates are told about their deployment.

use expansion::{Map, Value};

/// The environment of `given`, each `KEY=VALUE`, with what Deployment Manager's templates expect to find there:
/// `deployment`, `project` and `current_time`, the seconds since 1970 at which the expansion began.
///
/// Values are text, but for the time: templates calculate with it.
///
/// # Errors
/// When one of `given` is no assignment, or a key is given twice.
pub(crate) fn read(given: &[String], deployment: &str, now: u64) -> Result<Map, String> {
    let mut env = Map::new();
    for assignment in given {
        let (key, value) = match assignment.split_once('=') {
            Some((key, value)) if !key.is_empty() => (key, value),
            _ => return Err(format!("invalid argument for --env, not KEY=VALUE: {assignment:?}")),
        };
        let value = match (key, value.parse::<u64>()) {
            ("current_time", Ok(seconds)) => Value::Number(seconds.into()),
            ("current_time", Err(_)) => {
                return Err(format!("current_time must be seconds since 1970, not {value:?}"));
            }
            _ => Value::from(value),
        };
        if env.insert(key.to_owned(), value).is_some() {
            return Err(format!("--env was given more than once for {key}"));
        }
    }
    let defaults = [
        ("deployment", Value::from(deployment)),
        ("project", Value::from("")),
        ("current_time", Value::Number(now.into())),
    ];
    for (key, value) in defaults {
        env.entry(key.to_owned()).or_insert(value);
    }
    Ok(env)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[&str]) -> Result<String, String> {
        let given: Vec<_> = given.iter().map(ToString::to_string).collect();
        super::read(&given, "app", 7).map(|env| Value::Map(env).to_json())
    }

    #[test]
    fn what_templates_expect_is_there() {
        assert_eq!(read(&[]).unwrap(), r#"{"deployment":"app","project":"","current_time":7}"#);
    }

    #[test]
    fn what_is_given_counts() {
        assert_eq!(
            read(&["project=p=1", "n=1", "current_time=5"]).unwrap(),
            r#"{"project":"p=1","n":"1","current_time":5,"deployment":"app"}"#
        );
    }

    #[test]
    fn what_is_no_assignment_is_refused() {
        for (given, part) in [
            (&["a"][..], "not KEY=VALUE"),
            (&["=a"], "not KEY=VALUE"),
            (&["a=1", "a=2"], "more than once for a"),
            (&["current_time=noon"], "seconds since 1970"),
        ] {
            let error = read(given).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
