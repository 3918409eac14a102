//! Where a template comes from: a file, standard input, or the server's store.
//!
//! `oc` takes files only with `-f` and any other argument as a name. Here an argument that looks
//! like a file is one too (see [`Source::from_argument`]); how it looks decides, not what lies in
//! the current directory, so that a command means the same everywhere.

use std::fmt;
use std::fs;
use std::io::{self, Read};

use anyhow::{Context, anyhow, bail};
use processor::{Dialect, Template};
use yaml::Converted;

use crate::body::{Body, NotATemplate};
use crate::client::{self, Client};

/// Where to read a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A file, by its path.
    File(String),
    /// A file on the web, by its URL.
    Url(String),
    /// Standard input.
    Stdin,
    /// A template stored in the server.
    Stored {
        /// The namespace it is in; the current one if absent.
        namespace: Option<String>,
        /// Its name.
        name: String,
        /// Which API it is in; the first that has the name if absent.
        dialect: Option<Dialect>,
    },
}

/// A template that was read, and what to tell about the reading.
#[derive(Debug)]
pub(crate) struct Found {
    /// The template.
    pub(crate) body: Body,
    /// Its JSON as it was found, before anything is edited.
    pub(crate) json: String,
    /// Notices for the user.
    pub(crate) notices: Vec<String>,
}

impl Source {
    /// A file named with `-f`.
    pub(crate) fn from_filename(filename: &str) -> Self {
        match filename {
            "-" => Source::Stdin,
            url if is_url(url) => Source::Url(url.to_owned()),
            path => Source::File(path.to_owned()),
        }
    }

    /// An argument: `-`, a URL, what starts with `/`, `./` or `../` and what ends in `.json`, `.yaml` or
    /// `.yml` is a file, unless it has the stored form `NAMESPACE//NAME`. All else is a name. The
    /// resource may have its group, as `kubectl get -o name` prints it.
    ///
    /// # Errors
    /// When it is neither; in the words of `oc`.
    pub(crate) fn from_argument(argument: &str) -> anyhow::Result<Self> {
        let is_path = ["/", "./", "../"].iter().any(|start| argument.starts_with(start));
        let is_document = [".json", ".yaml", ".yml"].iter().any(|end| argument.ends_with(end));
        if argument == "-" || is_url(argument) || is_path || is_document && !argument.contains("//")
        {
            return Ok(Source::from_filename(argument));
        }
        let parts: Vec<&str> = argument.trim().split('/').collect();
        let (namespace, resource, name) = match parts[..] {
            [name] => (None, "", name),
            [resource, name] => (None, resource, name),
            [namespace, resource, name] => (Some(namespace.to_owned()), resource, name),
            _ => bail!("invalid argument {argument:?}"),
        };
        let dialect = match resource.split_once('.').unwrap_or((resource, "")) {
            ("", "") | ("template" | "templates", "") => None,
            ("template" | "templates", "template.openshift.io") => Some(Dialect::OpenShift),
            ("template" | "templates", "formwork.dev") => Some(Dialect::Proposal),
            _ => bail!("unable to process invalid resource {resource:?}"),
        };
        if name.is_empty() {
            bail!("invalid value syntax {argument:?}");
        }
        Ok(Source::Stored { namespace, name: name.to_owned(), dialect })
    }

    /// Reads the template. Only a stored one needs `client`.
    ///
    /// # Errors
    /// When there is none, or what is there is no Template.
    pub(crate) async fn read(&self, client: Option<&Client>) -> anyhow::Result<Found> {
        match self {
            Source::File(path) => self.first(&read_file(path)?),
            Source::Url(url) => self.first(&client::download(url).await?),
            Source::Stdin => {
                let mut text = String::new();
                io::stdin().read_to_string(&mut text).context("reading standard input")?;
                self.first(&text)
            }
            Source::Stored { namespace, name, dialect } => {
                let client = client.ok_or_else(|| anyhow!("a stored template needs a server"))?;
                let json = client.stored_template(namespace.as_deref(), name, *dialect).await?;
                let body = Body::read(&json).map_err(|error| self.refusal(&error))?;
                Ok(Found { body, json, notices: Vec::new() })
            }
        }
    }

    /// The first document of `text` as a template.
    fn first(&self, text: &str) -> anyhow::Result<Found> {
        let documents = yaml::documents(text).map_err(|error| {
            anyhow!(
                "failed to read input object (not a Template?): error parsing {self}: \
                 error converting YAML to JSON: {error}"
            )
        })?;
        let count = documents.len();
        let Converted { json, duplicates } = documents.into_iter().next().ok_or_else(|| {
            anyhow!("failed to read input object (not a Template?): no objects in {self}")
        })?;
        let mut notices: Vec<String> =
            duplicates.iter().map(|sentence| format!("Warning: {sentence}")).collect();
        if count > 1 {
            notices.push(format!(
                "{count} input templates found, but only the first will be processed"
            ));
        }
        let body = Body::read(&json).map_err(|error| self.refusal(&error))?;
        Ok(Found { body, json, notices })
    }

    fn refusal(&self, error: &NotATemplate) -> anyhow::Error {
        match error {
            NotATemplate::Other { .. } => anyhow!("unable to parse \"{self}\", {error}"),
            _ => anyhow!(
                "failed to read input object (not a Template?): unable to decode \"{self}\": {error}"
            ),
        }
    }
}

impl Found {
    /// The template as the processor reads it, for its parameters.
    ///
    /// # Errors
    /// When a field has the wrong JSON type.
    pub(crate) fn template(&self) -> anyhow::Result<Template<'_>> {
        Template::parse(&self.json, self.body.dialect())
            .context("failed to read input object (not a Template?)")
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(place) | Source::Url(place) => f.write_str(place),
            Source::Stdin => f.write_str("STDIN"),
            Source::Stored { namespace: Some(namespace), name, .. } => {
                write!(f, "{namespace}/{name}")
            }
            Source::Stored { namespace: None, name, .. } => f.write_str(name),
        }
    }
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

fn read_file(path: &str) -> anyhow::Result<String> {
    let unreadable = |what: &str| {
        anyhow!("failed to read input object (not a Template?): the path {path:?} {what}")
    };
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| unreadable("is not UTF-8")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(unreadable("does not exist")),
        Err(error) => Err(unreadable(&format!("cannot be read: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(argument: &str, namespace: Option<&str>, name: &str) {
        let namespace = namespace.map(str::to_owned);
        let expected = Source::Stored { namespace, name: name.to_owned(), dialect: None };
        assert_eq!(Source::from_argument(argument).unwrap(), expected, "{argument}");
    }

    #[test]
    fn a_stored_template_has_four_forms() {
        stored("foo", None, "foo");
        stored("template/foo", None, "foo");
        stored("templates/foo", None, "foo");
        stored("ns//foo", Some("ns"), "foo");
        stored("ns/template/foo", Some("ns"), "foo");
        stored("ns//foo.yaml", Some("ns"), "foo.yaml");
    }

    #[test]
    fn the_api_may_be_named() {
        for (argument, expected) in [
            ("templates.formwork.dev/a", Dialect::Proposal),
            ("ns/template.template.openshift.io/a", Dialect::OpenShift),
        ] {
            match Source::from_argument(argument).unwrap() {
                Source::Stored { dialect, .. } => assert_eq!(dialect, Some(expected)),
                other => panic!("{other:?}"),
            }
        }
        assert!(Source::from_argument("templates.example.com/a").is_err());
    }

    #[test]
    fn other_forms_are_refused_in_the_words_of_oc() {
        let error = |argument| Source::from_argument(argument).unwrap_err().to_string();
        assert_eq!(error("pod/foo"), "unable to process invalid resource \"pod\"");
        assert_eq!(error("ns/pod/foo"), "unable to process invalid resource \"pod\"");
        assert_eq!(error("template/"), "invalid value syntax \"template/\"");
        assert_eq!(error("a/b/c/d"), "invalid argument \"a/b/c/d\"");
    }

    #[test]
    fn what_looks_like_a_file_is_one() {
        for path in ["a.yaml", "dir/a.json", "./a", "../a", "/a/b", "templates/a.yml"] {
            assert_eq!(Source::from_argument(path).unwrap(), Source::File(path.to_owned()));
        }
        assert_eq!(Source::from_argument("-").unwrap(), Source::Stdin);
        let url = "https://example.com//t";
        assert_eq!(Source::from_argument(url).unwrap(), Source::Url(url.to_owned()));
    }

    fn first(text: &str) -> anyhow::Result<Found> {
        Source::File("f".to_owned()).first(text)
    }

    #[test]
    fn the_first_of_several_templates_counts() {
        let json = r#"{"apiVersion":"v1","kind":"Template","message":"one"}"#;
        let found = first(&format!("{json}\n{json}")).unwrap();
        assert_eq!(
            found.notices,
            ["2 input templates found, but only the first will be processed"]
        );
        let found = first("# c\n---\nkind: Template\napiVersion: v1\n---\nkind: Pod\n").unwrap();
        assert_eq!(
            found.notices,
            ["2 input templates found, but only the first will be processed"]
        );
        assert_eq!(found.json, r#"{"apiVersion":"v1","kind":"Template"}"#);
    }

    #[test]
    fn a_template_is_read_as_the_server_reads_it() {
        let found = first("kind: Template\napiVersion: v1\non: [0_8, 1e400, 0755]\n").unwrap();
        assert_eq!(found.json, r#"{"apiVersion":"v1","kind":"Template","true":[8,"1e400",493]}"#);
        let found = first("kind: Pod\napiVersion: v1\nkind: Template\n").unwrap();
        assert_eq!(found.notices, [r#"Warning: line 3: key "kind" already set in map"#]);
    }

    #[test]
    fn json_keeps_its_text() {
        let json = r#"{"kind":"Template", "apiVersion":"v1", "n":1.0}"#;
        assert_eq!(first(&format!("\u{feff}{json}\n")).unwrap().json, json);
    }

    #[test]
    fn flow_style_yaml_is_not_mistaken_for_json() {
        assert_eq!(
            first("{kind: Template, apiVersion: v1}").unwrap().json,
            r#"{"apiVersion":"v1","kind":"Template"}"#
        );
    }

    #[test]
    fn what_is_no_template_is_refused() {
        let error = |text| format!("{:#}", first(text).unwrap_err());
        assert_eq!(
            error("kind: Pod\napiVersion: v1"),
            "unable to parse \"f\", not a valid Template but v1 Pod"
        );
        assert_eq!(
            error("a: 1"),
            "failed to read input object (not a Template?): unable to decode \"f\": Object 'Kind' is missing"
        );
        assert_eq!(error(""), "failed to read input object (not a Template?): no objects in f");
        assert!(error("{").starts_with(
            "failed to read input object (not a Template?): error parsing f: \
             error converting YAML to JSON: yaml: line 1: "
        ));
    }
}
