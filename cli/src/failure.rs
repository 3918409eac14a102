//! How the commands fail: texts as `oc` and kubectl print them, always exit code 1.
//!
//! Most errors are plain `anyhow` ones, printed as `error: …`. The ones here have a form of their
//! own in kubectl, without that prefix, and scripts look for it.

use std::process::ExitCode;

use kube::core::Status;

/// A failure that is printed in a form of its own.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command was called wrongly.
    #[error("error: {what}\nSee 'kubectl formwork {command} -h' for help and examples")]
    Usage {
        /// The sentence, without a period.
        what: String,
        /// Name of the command.
        command: &'static str,
    },
    /// The server's answer is an error that no command has better words for.
    #[error("{}", server_words(.0))]
    Server(Box<Status>),
    /// Several things are wrong: one line each.
    #[error("{}", .0.join("\n"))]
    Several(Vec<String>),
    /// A template that was processed here was refused.
    #[error("{}", invalid_words(name, errors))]
    Invalid {
        /// Name of the template.
        name: String,
        /// Each `field: body`.
        errors: Vec<String>,
    },
}

/// Prints `error` to standard error.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        // Whoever read the output has read enough.
        return ExitCode::FAILURE;
    }
    match error.downcast_ref::<Failure>() {
        Some(failure) => eprintln!("{failure}"),
        None => eprintln!("error: {error:#}"),
    }
    ExitCode::FAILURE
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

fn server_words(status: &Status) -> String {
    match status.reason.as_str() {
        "Unauthorized" => {
            format!("error: You must be logged in to the server ({})", status.message)
        }
        "" => format!("Error from server: {}", status.message),
        reason => format!("Error from server ({reason}): {}", status.message),
    }
}

fn invalid_words(name: &str, errors: &[String]) -> String {
    match errors {
        [one] => format!("The Template \"{name}\" is invalid: {one}"),
        several => {
            several.iter().fold(format!("The Template \"{name}\" is invalid: "), |text, error| {
                text + "\n* " + error
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_error_names_its_reason() {
        let status = Status::failure("templates \"a\" is forbidden", "Forbidden");
        assert_eq!(
            Failure::Server(status.boxed()).to_string(),
            "Error from server (Forbidden): templates \"a\" is forbidden"
        );
        assert_eq!(
            Failure::Server(Status::failure("boom", "").boxed()).to_string(),
            "Error from server: boom"
        );
        assert_eq!(
            Failure::Server(Status::failure("Unauthorized", "Unauthorized").boxed()).to_string(),
            "error: You must be logged in to the server (Unauthorized)"
        );
    }

    #[test]
    fn a_refused_template_is_named() {
        let invalid = |errors: &[&str]| {
            let errors = errors.iter().map(ToString::to_string).collect();
            Failure::Invalid { name: "t".into(), errors }.to_string()
        };
        assert_eq!(invalid(&["a: b"]), "The Template \"t\" is invalid: a: b");
        assert_eq!(invalid(&["a: b", "c: d"]), "The Template \"t\" is invalid: \n* a: b\n* c: d");
    }
}
