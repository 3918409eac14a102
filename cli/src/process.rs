//! `process`: a template and values in, objects out, as `oc process` does it.
//!
//! The order of the checks is `oc`'s, and so are the texts; scripts that were written for it keep
//! working. One difference: the notice that further templates in a file are left alone goes to
//! standard error, where it does not spoil what is piped into `kubectl create`.

use std::collections::BTreeMap;

use anyhow::{anyhow, bail};
use processor::{Dialect, Overrides, Template, Values};

use crate::args::{Connection, Process};
use crate::body::Body;
use crate::client::Client;
use crate::failure::Failure;
use crate::output::{self, Format, Wrapping};
use crate::random::SystemRandom;
use crate::source::Source;
use crate::{describe, parameters};

const COMMAND: &str = "process";

/// Runs the command.
///
/// # Errors
/// Whatever stops it, with a text for the user.
pub(crate) async fn run(args: Process, connection: &Connection) -> anyhow::Result<()> {
    let arguments = Arguments::read(&args)?;
    check_flags(&args)?;
    let format = Format::parse(args.output.as_deref().unwrap_or_default())?;
    let values = arguments.values(&args)?;
    let source = arguments.source(&args)?;

    let needs_server = !args.local.is_local && !args.parameters;
    let client = if needs_server || matches!(source, Source::Stored { .. }) {
        Some(Client::new(connection).await?)
    } else {
        None
    };
    let found = source.read(client.as_ref()).await?;
    for notice in &found.notices {
        eprintln!("{notice}");
    }
    let template = found.template()?;
    if args.parameters {
        return output::to_stdout(&describe::parameters(template.parameters()));
    }
    if args.local.is_local {
        // The server says these itself.
        let strays = template.strays().iter().map(ToString::to_string);
        for warning in strays.chain(template.warnings().iter().cloned()) {
            eprintln!("Warning: {warning}");
        }
    }

    let mut body = edited(found.body, &args, values)?;
    let processed = match client {
        Some(client) => {
            body.set_namespace(client.namespace());
            client.process(body.dialect(), body.to_json()).await?
        }
        None => process_here(&body)?,
    };
    let wrapping = if args.raw == Some(true) { Wrapping::Single } else { Wrapping::List };
    output::print(&Body::read(&processed)?, format, wrapping)
}

/// The arguments, told apart: at most one template, and assignments.
struct Arguments {
    template: Option<String>,
    /// Those of `-p` first, as `oc` orders them.
    assignments: Vec<String>,
}

impl Arguments {
    fn read(args: &Process) -> anyhow::Result<Self> {
        let (assignments, mut templates): (Vec<String>, Vec<String>) =
            args.arguments.iter().cloned().partition(|argument| argument.contains('='));
        if let Some(second) = templates.get(1) {
            return Err(usage(format!("template name must be specified only once: {second}")));
        }
        Ok(Arguments {
            template: templates.pop(),
            assignments: [args.param.clone(), assignments].concat(),
        })
    }

    /// The values given, or what is wrong with them, which is not told before the template is
    /// read. Values that do not count are warned of.
    fn values(&self, args: &Process) -> anyhow::Result<Result<parameters::Values, String>> {
        let mut warnings = Vec::new();
        if !args.param.is_empty() {
            warnings = parameters::comma_warnings(&self.assignments);
        }
        let given = parameters::combine(&self.assignments, &args.param_file);
        warnings.extend(given.warnings);
        for warning in warnings {
            eprintln!("{warning}");
        }
        if given.repeated.is_empty() {
            return Ok(given.values);
        }
        let keys = given.repeated.into_iter().collect::<Vec<_>>().join(", ");
        Err(usage(format!("The following parameters were provided more than once: {keys}")))
    }

    fn source(&self, args: &Process) -> anyhow::Result<Source> {
        match (self.template.as_deref(), args.filename.as_deref()) {
            (None | Some(""), None | Some("")) => {
                Err(usage("Must pass a filename or name of stored template".to_owned()))
            }
            (None | Some(""), Some(filename)) => Ok(Source::from_filename(filename)),
            (Some(argument), None | Some("")) if args.local.is_local => {
                Ok(Source::from_filename(argument))
            }
            (Some(argument), None | Some("")) => Source::from_argument(argument),
            (Some(_), Some(_)) if args.local.is_local => Err(usage(
                "You may only specify a local template file via -f when running this command with --local"
                    .to_owned(),
            )),
            // oc would silently leave the file alone.
            (Some(_), Some(_)) => Err(usage(
                "Pass either a filename or the name of a stored template, not both".to_owned(),
            )),
        }
    }
}

/// `--parameters` goes with nothing that only processing has a use for.
fn check_flags(args: &Process) -> anyhow::Result<()> {
    let flags = [
        ("param", !args.param.is_empty()),
        ("labels", args.labels.is_some()),
        ("output", args.output.is_some()),
        ("raw", args.raw.is_some()),
    ];
    match flags.into_iter().find(|&(_, is_given)| args.parameters && is_given) {
        None => Ok(()),
        Some((flag, _)) => Err(usage(format!(
            "The --parameters flag does not process the template, can't be used with --{flag}"
        ))),
    }
}

/// The template with the user's labels and values in it.
fn edited(
    mut body: Body,
    args: &Process,
    values: Result<parameters::Values, String>,
) -> anyhow::Result<Body> {
    if let Some(labels) = args.labels.as_deref().filter(|labels| !labels.is_empty()) {
        let labels =
            parse_labels(labels).map_err(|error| anyhow!("error parsing labels: {error}"))?;
        body.add_labels(&labels);
    }
    let values = values.map_err(|error| anyhow!(error))?;
    let unknown = body.set_parameters(&values);
    if unknown.is_empty() || args.ignore_unknown_parameters {
        Ok(body)
    } else {
        Err(unknown_parameters(&unknown))
    }
}

/// What the server does, without one.
fn process_here(body: &Body) -> anyhow::Result<String> {
    let json = body.to_json();
    let template = Template::parse(&json, body.dialect())?;
    let refused = |errors: processor::Errors| Failure::Invalid {
        name: body.name(),
        errors: errors.iter().map(ToString::to_string).collect(),
    };
    // The proposal's values settle all that is wrong at once, names too.
    if body.dialect() == Dialect::OpenShift {
        let names = processor::validate(&template);
        if !names.is_empty() {
            return Err(refused(names).into());
        }
    }
    // The user's values are in the body already.
    let overrides = Overrides::new();
    let values = Values::resolve(&template, &overrides, &mut SystemRandom).map_err(refused)?;
    let processed = processor::process(&template, &values).map_err(refused)?;
    let mut out = Vec::new();
    processed.write_template(&mut out);
    Ok(String::from_utf8(out)?)
}

/// Labels as `key=value,key=value`. As in `oc`, only the server knows what a valid label is.
fn parse_labels(text: &str) -> anyhow::Result<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    for label in text.split(',') {
        match label.split('=').collect::<Vec<_>>()[..] {
            ["", _] => bail!("unexpected empty label key"),
            [key, value] => labels.insert(key.to_owned(), value.to_owned()),
            _ => bail!("unexpected label spec: {label}"),
        };
    }
    Ok(labels)
}

fn unknown_parameters(names: &[String]) -> anyhow::Error {
    let mut texts: Vec<String> =
        names.iter().map(|name| format!("unknown parameter name {name:?}")).collect();
    match texts.len() {
        1 => anyhow!(texts.remove(0)),
        _ => Failure::Several(texts).into(),
    }
}

fn usage(what: String) -> anyhow::Error {
    Failure::Usage { what, command: COMMAND }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_pairs() {
        let labels = parse_labels("a=b,c=").unwrap();
        assert_eq!(
            labels.into_iter().collect::<Vec<_>>(),
            [("a".to_owned(), "b".to_owned()), ("c".to_owned(), String::new())]
        );
        assert_eq!(parse_labels("=====").unwrap_err().to_string(), "unexpected label spec: =====");
        assert_eq!(parse_labels("=x").unwrap_err().to_string(), "unexpected empty label key");
        assert_eq!(parse_labels("a=b,").unwrap_err().to_string(), "unexpected label spec: ");
    }

    #[test]
    fn a_template_is_processed_without_a_server() {
        let body = Body::read(
            r#"{"apiVersion":"v1","kind":"Template","parameters":[{"name":"A","value":"x"},{"name":"G","generate":"expression","from":"[a-a]{2}"}],
            "objects":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"${A}-${G}"}}]}"#,
        );
        let processed = process_here(&body.unwrap()).unwrap();
        assert!(processed.contains(r#""name":"x-aa""#), "{processed}");
    }

    #[test]
    fn bad_parameter_names_are_refused_as_in_the_server() {
        let body = Body::read(
            r#"{"apiVersion":"v1","kind":"Template","metadata":{"name":"t"},"parameters":[{"name":"a-b"}]}"#,
        );
        assert_eq!(
            process_here(&body.unwrap()).unwrap_err().to_string(),
            "The Template \"t\" is invalid: parameters[0].name: Invalid value: \"a-b\": does not match ^[a-zA-Z0-9_]+$"
        );
    }
}
