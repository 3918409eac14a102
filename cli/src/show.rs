//! `parameters`: what values a template takes, as a table for people or a JSON Schema for forms.

use crate::args::{Connection, Parameters, SchemaFormat};
use crate::client::Client;
use crate::failure::Failure;
use crate::source::Source;
use crate::{describe, json_text, output};

/// Runs the command.
///
/// # Errors
/// Whatever stops it, with a text for the user.
pub(crate) async fn run(args: Parameters, connection: &Connection) -> anyhow::Result<()> {
    let source = match (args.argument.as_deref(), args.filename.as_deref()) {
        (_, Some(filename)) => Source::from_filename(filename),
        (Some(argument), None) if args.local.is_local => Source::from_filename(argument),
        (Some(argument), None) => Source::from_argument(argument)?,
        (None, None) => {
            let what = "Must pass a filename or name of stored template".to_owned();
            return Err(Failure::Usage { what, command: "parameters" }.into());
        }
    };
    let client = match source {
        Source::Stored { .. } => Some(Client::new(connection).await?),
        Source::File(_) | Source::Url(_) | Source::Stdin => None,
    };
    let found = source.read(client.as_ref()).await?;
    for notice in &found.notices {
        eprintln!("{notice}");
    }
    let template = found.template()?;
    let schema = match (args.output, &source, &client) {
        (None, _, _) => {
            return output::to_stdout(&describe::parameters(template.parameters()));
        }
        (Some(SchemaFormat::Json), Source::Stored { namespace, name, .. }, Some(client)) => {
            client.schema(namespace.as_deref(), name, found.body.dialect()).await?
        }
        (Some(SchemaFormat::Json), _, _) => processor::form::json_schema(&template),
    };
    output::to_stdout(&json_text::indent(&schema))
}
