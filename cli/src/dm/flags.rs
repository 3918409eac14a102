//! The flags of `dm`, in the style of Go's: with one dash or two, their values behind `=` or a blank.
//!
//! The original read flags only before the command. Here they may stand anywhere, so that every line that the original
//! understood means the same, and the others what they look like. What follows `--` is no flag.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// A text.
    Text,
    /// A number of seconds.
    Seconds,
    /// Nothing, or `true` or `false` behind `=`.
    Nothing,
}

/// A flag, as the usage shows it.
#[derive(Debug)]
pub(super) struct Flag {
    pub(super) name: &'static str,
    /// Another name.
    pub(super) short: Option<&'static str>,
    pub(super) takes: Takes,
    pub(super) help: &'static str,
}

const fn flag(name: &'static str, takes: Takes, help: &'static str) -> Flag {
    Flag { name, short: None, takes, help }
}

/// All flags. Those before `kubeconfig` are the original's.
pub(super) const FLAGS: &[Flag] = &[
    flag("apitoken", Takes::Text, "Token for GitHub; GITHUB_API_TOKEN if absent"),
    flag("binary", Takes::Text, "Accepted and not used: templates are expanded by the server"),
    flag(
        "name",
        Takes::Text,
        "Name of the deployment to deploy, update or expand; that of the configuration's file, or the type, if absent",
    ),
    flag("password", Takes::Text, "Password for GitHub; GITHUB_PASSWORD if absent"),
    flag(
        "properties",
        Takes::Text,
        "Properties of a type, as k1=v1,k2=v2; what is an integer is one, all else is text",
    ),
    flag(
        "regex",
        Takes::Text,
        "Which templates of a registry to list: those with this in COLLECTION/NAME:VERSION",
    ),
    flag("registry", Takes::Text, "Registry to list or create (application-dm-templates)"),
    flag("registryfile", Takes::Text, "File that describes a registry, in YAML or JSON"),
    flag(
        "service",
        Takes::Text,
        "URL of a service with Deployment Manager's own paths, to use instead of the Kubernetes API",
    ),
    flag("serviceaccount", Takes::Text, "File with the token of a service account"),
    flag("stdin", Takes::Nothing, "Read the configuration from standard input"),
    flag(
        "timeout",
        Takes::Seconds,
        "How long to wait for an answer of --service (20), or for a deployment (720)",
    ),
    flag("username", Takes::Text, "User for GitHub; GITHUB_USERNAME if absent"),
    flag("kubeconfig", Takes::Text, "Path of the kubeconfig"),
    flag("context", Takes::Text, "Context of the kubeconfig"),
    flag("cluster", Takes::Text, "Cluster of the kubeconfig"),
    flag("user", Takes::Text, "User of the kubeconfig"),
    Flag {
        name: "namespace",
        short: Some("n"),
        takes: Takes::Text,
        help: "Namespace; that of the kubeconfig's context if absent",
    },
    flag(
        "certificate-authority",
        Takes::Text,
        "File with the authority of the certificate that --service has",
    ),
    flag("token-file", Takes::Text, "File with the token that --service asks for"),
    flag(
        "url",
        Takes::Text,
        "Web server that a credential is for, or a folder on it; GitHub if absent",
    ),
    flag(
        "properties-file",
        Takes::Text,
        "File of YAML with properties of a type; --properties count before them",
    ),
    flag(
        "wait",
        Takes::Nothing,
        "Wait until a deployment is ready or gone; --wait=false does not (true)",
    ),
    Flag { name: "help", short: Some("h"), takes: Takes::Nothing, help: "Show this" },
    flag("version", Takes::Nothing, "Show the version"),
];

/// A command line, read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    values: BTreeMap<&'static str, String>,
    /// What is no flag: the command, and what it is given.
    pub(super) arguments: Vec<String>,
}

/// What is wrong with a command line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misuse {
    /// There is no such flag.
    #[error("flag provided but not defined: -{0}")]
    Unknown(String),
    /// It takes a value, and there is none.
    #[error("flag needs an argument: -{0}")]
    Missing(&'static str),
    /// Its value is not of its kind.
    #[error("invalid value {1:?} for flag -{0}")]
    Invalid(&'static str, String),
}

impl Line {
    /// Reads the arguments of the program. Of a flag that is given several times, the last one counts.
    ///
    /// # Errors
    /// The first flag that is unknown or has no proper value.
    pub(super) fn read(args: &[String]) -> Result<Self, Misuse> {
        let mut line = Line::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--" {
                line.arguments.extend(args.by_ref().cloned());
                break;
            }
            let Some(text) = dashless(arg) else {
                line.arguments.push(arg.clone());
                continue;
            };
            let (name, given) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (text, None),
            };
            let flag = named(name).ok_or_else(|| Misuse::Unknown(name.to_owned()))?;
            let value = match (given, flag.takes) {
                (Some(value), _) => value,
                (None, Takes::Nothing) => "true".to_owned(),
                (None, _) => args.next().ok_or(Misuse::Missing(flag.name))?.clone(),
            };
            line.values.insert(flag.name, checked(flag, value)?);
        }
        Ok(line)
    }

    /// The value of a flag, unless it is absent or empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        debug_assert!(named(name).is_some(), "{name} is no flag");
        self.values.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The value of a flag as a path.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// The value of a flag that takes seconds.
    pub(super) fn seconds(&self, name: &str) -> Option<u64> {
        self.text(name).and_then(|value| value.parse().ok())
    }

    /// Whether a flag that takes nothing is set; `None` if nobody said so.
    pub(super) fn switch(&self, name: &str) -> Option<bool> {
        self.text(name).map(|value| value == "true")
    }
}

/// An argument without its dashes, if it is a flag. A dash alone is none.
fn dashless(arg: &str) -> Option<&str> {
    let text = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'))?;
    (!text.is_empty()).then_some(text)
}

fn named(name: &str) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.name == name || flag.short == Some(name))
}

/// `value`, which is what `flag` takes; that of a switch as `true` or `false`, in all the spellings that Go knows.
fn checked(flag: &Flag, value: String) -> Result<String, Misuse> {
    match (flag.takes, value.as_str()) {
        (Takes::Nothing, "1" | "t" | "T" | "true" | "TRUE" | "True") => Ok("true".to_owned()),
        (Takes::Nothing, "0" | "f" | "F" | "false" | "FALSE" | "False") => Ok("false".to_owned()),
        (Takes::Seconds, text) if text.parse::<u64>().is_ok() => Ok(value),
        (Takes::Text, _) => Ok(value),
        (Takes::Nothing | Takes::Seconds, _) => Err(Misuse::Invalid(flag.name, value)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(line: &str) -> Result<Line, Misuse> {
        Line::read(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_flag_has_one_dash_or_two_and_its_value_behind_either() {
        let want = read("--name foo deploy a.yaml").unwrap();
        for line in
            ["-name foo deploy a.yaml", "--name=foo deploy a.yaml", "-name=foo deploy a.yaml"]
        {
            assert_eq!(read(line).unwrap(), want, "{line}");
        }
        assert_eq!(want.text("name"), Some("foo"));
        assert_eq!(want.arguments, ["deploy", "a.yaml"]);
    }

    #[test]
    fn a_switch_takes_no_value_but_behind_an_equals_sign() {
        let line = read("--stdin expand x.yaml --wait=F").unwrap();
        assert_eq!(line.arguments, ["expand", "x.yaml"]);
        assert_eq!((line.switch("stdin"), line.switch("wait")), (Some(true), Some(false)));
        assert_eq!(line.switch("help"), None);
    }

    #[test]
    fn values_may_look_like_flags_and_arguments_need_not() {
        let line = read("--properties a=-1,b=c=d -n ns get - -- --name").unwrap();
        assert_eq!(line.text("properties"), Some("a=-1,b=c=d"));
        assert_eq!(line.text("namespace"), Some("ns"));
        assert_eq!(line.arguments, ["get", "-", "--name"]);
    }

    #[test]
    fn what_is_wrong_is_said_as_go_says_it() {
        for (line, want) in [
            ("list --nmae x", "flag provided but not defined: -nmae"),
            ("list -name", "flag needs an argument: -name"),
            ("list --timeout soon", "invalid value \"soon\" for flag -timeout"),
            ("list --stdin=maybe", "invalid value \"maybe\" for flag -stdin"),
        ] {
            assert_eq!(read(line).unwrap_err().to_string(), want);
        }
    }

    /// A flag with a value, in one of the ways to write it.
    fn written() -> impl Strategy<Value = (usize, Vec<String>)> {
        (0..FLAGS.len(), "[a-z=,-]{0,8}", 0..4000u16, 0..2usize, any::<bool>()).prop_map(
            |(index, text, seconds, dashes, apart)| {
                let flag = &FLAGS[index];
                let value = match flag.takes {
                    Takes::Text => text,
                    Takes::Seconds => seconds.to_string(),
                    Takes::Nothing => (seconds % 2 == 0).to_string(),
                };
                let name = format!("{}{}", ["-", "--"][dashes], flag.name);
                let written = match apart && flag.takes != Takes::Nothing {
                    true => vec![name, value],
                    false => vec![format!("{name}={value}")],
                };
                (index, written)
            },
        )
    }

    proptest! {
        #[test]
        fn where_a_flag_stands_does_not_matter(
            flags in prop::collection::vec(written(), 0..6),
            arguments in prop::collection::vec("[a-z][a-z.:/-]{0,8}", 0..4),
            places in prop::collection::vec(0..4usize, 6),
        ) {
            // Of several of one kind the last counts, so each comes once.
            let mut flags = flags;
            flags.sort_by_key(|(index, _)| *index);
            flags.dedup_by_key(|(index, _)| *index);
            let before: Vec<String> =
                flags.iter().flat_map(|(_, written)| written.clone()).chain(arguments.clone()).collect();
            let mut pieces: Vec<Vec<String>> = arguments.iter().map(|one| vec![one.clone()]).collect();
            for ((_, written), place) in flags.into_iter().zip(places) {
                // Only arguments must keep their order, and they do.
                pieces.insert(place.min(pieces.len()), written);
            }
            let among: Vec<String> = pieces.into_iter().flatten().collect();
            let line = Line::read(&among).unwrap();
            prop_assert_eq!(&line, &Line::read(&before).unwrap());
            prop_assert_eq!(line.arguments, arguments);
        }
    }
}
