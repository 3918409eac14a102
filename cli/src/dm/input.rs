//! What is to be expanded or deployed: a configuration with its files, or a type with its properties.
//!
//! An argument that is a file is a configuration, as in the original; any other is a type, unless it looks like the path
//! of a configuration that is not there.

use std::io::{self, Read as _};
use std::path::Path;

use anyhow::{Context, bail};
use expansion::{Map, Value};

use super::archive::{self, Piped};
use super::flags::Line;
use super::properties;
use crate::expand::collect::{self, Collected};
use crate::failure::Failure;

/// What stands for an input on the command line.
#[derive(Debug)]
pub(super) struct Given {
    /// `--name`.
    name: Option<String>,
    /// The file or the type, as it was given.
    argument: String,
    /// Whether the argument only names what standard input has.
    piped: bool,
    pub(super) input: Input,
}

#[derive(Debug)]
pub(super) enum Input {
    /// A text, and the files that it imports.
    Configuration { text: String, collected: Collected },
    /// A single resource.
    Type { kind: String, properties: Map },
}

impl Given {
    /// Reads what the arguments behind the command name.
    ///
    /// # Errors
    /// When there are none, or a file cannot be read.
    pub(super) fn read(line: &Line, arguments: &[String]) -> anyhow::Result<Self> {
        let [argument, imports @ ..] = arguments else {
            let text = "No template name or configuration(s) supplied".to_owned();
            return Err(Failure::Several(vec![text]).into());
        };
        let piped = line.switch("stdin") == Some(true);
        let input = if piped {
            from_stdin(argument, imports)?
        } else if Path::new(argument).is_file() {
            from_file(argument, imports)?
        } else {
            a_type(line, argument, imports)?
        };
        if matches!(input, Input::Configuration { .. })
            && (line.text("properties").is_some() || line.text("properties-file").is_some())
        {
            eprintln!("Warning: properties are for a type; those of a configuration stand in it");
        }
        let name = line.text("name").map(str::to_owned);
        Ok(Given { name, argument: argument.clone(), piped, input })
    }

    /// The name of the deployment as the original has it: of a file the last part of its path, of all else all of it.
    pub(super) fn original_name(&self) -> &str {
        let of_file = || Path::new(&self.argument).file_name().and_then(|name| name.to_str());
        let default = match self.input {
            Input::Configuration { .. } if !self.piped => of_file().unwrap_or(&self.argument),
            _ => &self.argument,
        };
        self.name.as_deref().unwrap_or(default)
    }

    /// The name of the deployment as an object in a cluster can have it. Only a name that is given stays as it is.
    pub(super) fn object_name(&self) -> String {
        let stem = || Path::new(&self.argument).file_stem().and_then(|name| name.to_str());
        match (&self.name, &self.input) {
            (Some(name), _) => name.clone(),
            (None, Input::Configuration { .. }) => label(stem().unwrap_or(&self.argument)),
            (None, Input::Type { kind, .. }) => label(kind),
        }
    }
}

impl Input {
    /// The text of a configuration of one resource of that type, as the original wrote it.
    pub(super) fn of_type(name: &str, kind: &str, properties: &Map) -> String {
        let mut resource = Map::new();
        resource.insert("name".to_owned(), Value::from(name));
        resource.insert("type".to_owned(), Value::from(kind));
        if !properties.is_empty() {
            resource.insert("properties".to_owned(), Value::Map(properties.clone()));
        }
        let resources = Value::List(vec![Value::Map(resource)]);
        let json = Value::Map([("resources".to_owned(), resources)].into()).to_json();
        yaml::from_json(&json).expect("a small map has a form in YAML")
    }
}

fn from_stdin(name: &str, imports: &[String]) -> anyhow::Result<Input> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).context("reading standard input")?;
    let beside = collect::named(imports, Path::new(""))?;
    let (text, files) = match archive::read(name, bytes)? {
        Piped::Text(text) => (text, Vec::new()),
        Piped::Archive(text, files) => (text, files),
    };
    let collected = collect::of([beside.files, files].concat())?;
    Ok(Input::Configuration { text, collected })
}

fn from_file(argument: &str, imports: &[String]) -> anyhow::Result<Input> {
    let path = Path::new(argument);
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let text = collect::read(path).with_context(|| argument.to_owned())?;
    // As in the original, whoever names imports names all of them.
    let collected = match imports {
        [] => collect::collect(&text, path, folder)?,
        named => collect::named(named, folder)?,
    };
    Ok(Input::Configuration { text, collected })
}

fn a_type(line: &Line, argument: &str, imports: &[String]) -> anyhow::Result<Input> {
    let starts = ["/", "./", "../"].iter().any(|start| argument.starts_with(start));
    let ends = [".yaml", ".yml", ".json"].iter().any(|end| argument.ends_with(end));
    if starts || ends && !argument.contains("://") {
        bail!("{argument}: there is no such file");
    }
    if !imports.is_empty() {
        bail!("{argument} is no file, and a type has no imports");
    }
    let file = line.path("properties-file");
    let properties = properties::read(line.text("properties"), file.as_deref())?;
    Ok(Input::Type { kind: argument.to_owned(), properties })
}

/// `text` as the name of an object: lower case, and with dashes for what a name may not have.
fn label(text: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let dashed: String = text.chars().map(allowed).collect();
    let parts: Vec<&str> = dashed.split('-').filter(|part| !part.is_empty()).collect();
    // The names of what templates make of it are longer still, and a label's end at 63.
    parts.join("-").chars().take(50).collect::<String>().trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(args: &[&str]) -> anyhow::Result<Given> {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let line = Line::read(&args).unwrap();
        Given::read(&line, &line.arguments[1..])
    }

    #[test]
    fn a_type_becomes_a_configuration_of_one_resource() {
        let given = given(&["expand", "Pod", "--properties", "a=1,b=x,c=1.5"]).unwrap();
        let Input::Type { kind, properties } = &given.input else { panic!("{given:?}") };
        assert_eq!(
            Input::of_type("Pod", kind, properties),
            "resources:\n- name: Pod\n  properties:\n    a: 1\n    b: x\n    c: \"1.5\"\n  type: Pod\n"
        );
        assert_eq!(Input::of_type("a", "T", &Map::new()), "resources:\n- name: a\n  type: T\n");
    }

    #[test]
    fn a_file_that_is_not_there_is_no_type() {
        for argument in ["a.yaml", "./x", "dir/b.json", "/x"] {
            let error = given(&["deploy", argument]).unwrap_err().to_string();
            assert_eq!(error, format!("{argument}: there is no such file"));
        }
        for argument in ["Pod", "storage/redis:v1", "github.com/o/r/c/t:v1", "https://h/t.yaml"] {
            assert!(given(&["deploy", argument]).is_ok(), "{argument}");
        }
        assert!(given(&["deploy", "Pod", "a.jinja"]).is_err());
    }

    #[test]
    fn a_deployment_is_called_as_it_is_told_or_after_its_file_or_type() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Guest_Book.v1.yaml");
        std::fs::write(&path, "resources: []").unwrap();
        let path = path.to_str().unwrap();
        for (args, original, object) in [
            (&["deploy", path][..], "Guest_Book.v1.yaml", "guest-book-v1"),
            (&["deploy", path, "--name", "foo"], "foo", "foo"),
            (&["deploy", "storage/redis:v1"], "storage/redis:v1", "storage-redis-v1"),
            (&["deploy", "Pod", "--name=A b"], "A b", "A b"),
        ] {
            let given = given(args).unwrap();
            assert_eq!((given.original_name(), &*given.object_name()), (original, object));
        }
    }

    #[test]
    fn imports_that_are_named_are_all_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let configuration = file("a.yaml", "imports: [{path: lib/t.jinja}, {path: u.py, name: v}]");
        let template = file("lib/t.jinja", "1");
        file("lib/t.jinja.schema", "info: {}");
        file("u.py", "2");
        let names = |args: &[&str]| match given(args).unwrap().input {
            Input::Configuration { collected, .. } => {
                collected.imports.keys().cloned().collect::<Vec<_>>()
            }
            Input::Type { .. } => panic!("a type"),
        };
        let all = ["lib/t.jinja", "lib/t.jinja.schema", "t.jinja", "t.jinja.schema", "v"];
        assert_eq!(names(&["deploy", &configuration]), all);
        assert_eq!(names(&["deploy", &configuration, &template]), all[..4]);
    }
}
