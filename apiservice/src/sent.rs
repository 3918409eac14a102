//! What is sent to be expanded, and where in it a problem lies.

use std::collections::BTreeMap;

use apiserver::field;
use expansion::imports::{self, File, Misnamed};
use expansion::{Input, Options, Problem, Text, Value};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;

/// What the configuration calls itself in problems.
const CONFIGURATION: &str = "config";

/// How many resources a Deployment may have. Its status names each of them, and while it is updated
/// those of before too, and its Manifest has all of each: etcd takes 1.5 MiB for either.
const MOST_DEPLOYED: usize = 1_000;

/// `spec`, as its schema has proven it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Spec {
    pub(crate) configuration: String,
    #[serde(default)]
    pub(crate) imports: Vec<Sent>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    #[serde(default = "yes")]
    pub(crate) validate_schemas: bool,
}

/// A file that is sent.
#[derive(Deserialize)]
pub(crate) struct Sent {
    /// What it is called.
    #[serde(default)]
    pub(crate) name: String,
    /// Where it comes from.
    #[serde(default)]
    pub(crate) path: String,
    /// Its text.
    pub(crate) content: Text,
}

fn yes() -> bool {
    true
}

/// What a Deployment expands, and the files that it is made from.
///
/// # Errors
/// Everything that is wrong with it before anything is read.
pub(crate) fn of_deployment(
    spec: &deployer::types::Spec,
    defaults: &Defaults<'_>,
) -> Result<(Input, Files), Vec<field::Error>> {
    let sent = |file: &deployer::types::ImportFile| Sent {
        name: file.name.clone().unwrap_or_default(),
        path: file.path.clone().unwrap_or_default(),
        content: file.content.as_str().into(),
    };
    let spec = Spec {
        configuration: configuration(spec, defaults.name),
        imports: spec.imports.iter().map(sent).collect(),
        env: spec.env.clone(),
        validate_schemas: spec.validate_schemas.unwrap_or(true),
    };
    let (mut input, files) = spec.into_input(defaults)?;
    input.options.limits.resources = MOST_DEPLOYED;
    Ok((input, files))
}

/// The configuration of a Deployment: the one that is given, or that of the one resource that is.
/// JSON is YAML.
pub(crate) fn configuration(spec: &deployer::types::Spec, name: &str) -> String {
    let Some(template) = &spec.template else {
        return spec.configuration.clone().unwrap_or_default();
    };
    let mut resource = json!({
        "name": template.name.as_deref().unwrap_or(name),
        "type": template.kind,
    });
    if let Some(properties) = &template.properties {
        resource["properties"] = properties.clone().into();
    }
    json!({ "resources": [resource] }).to_string()
}

/// What `env` holds unless it is given.
pub(crate) struct Defaults<'a> {
    /// The name of the object; may be empty.
    pub(crate) name: &'a str,
    /// Its namespace.
    pub(crate) namespace: &'a str,
    /// The time of the request.
    pub(crate) now: Timestamp,
}

/// The files that were sent, as far as problems speak of them.
pub(crate) struct Files(Vec<File>);

impl Spec {
    /// What is expanded, and the files that it is made from.
    ///
    /// # Errors
    /// Everything that is wrong with it before anything is read.
    pub(crate) fn into_input(
        self,
        defaults: &Defaults<'_>,
    ) -> Result<(Input, Files), Vec<field::Error>> {
        let mut errors = Vec::new();
        if self.configuration.is_empty() {
            errors.push(field::Error::required("spec.configuration", ""));
        }
        let env = env(&self, defaults);
        let to_file = |Sent { name, path, content }| File { name, path, content };
        let files = Files(self.imports.into_iter().map(to_file).collect());
        let imports = imports::named(&files.0).unwrap_or_else(|misnamed| {
            errors.extend(misnamed.iter().map(misnamed_error));
            expansion::Imports::new()
        });
        if !errors.is_empty() {
            return Err(errors);
        }
        let options = Options { validate_schemas: self.validate_schemas, ..Options::default() };
        Ok((Input { configuration: self.configuration, imports, env, options }, files))
    }

    /// Whether any file says `word`.
    fn says(&self, word: &str) -> bool {
        let mut contents = self.imports.iter().map(|file| &*file.content);
        self.configuration.contains(word) || contents.any(|content| content.contains(word))
    }
}

/// The time is given only to those who ask for it, since what depends on it is never the same twice.
fn env(spec: &Spec, defaults: &Defaults<'_>) -> expansion::Map {
    let Defaults { name, namespace, now } = *defaults;
    let deployment = if name.is_empty() { namespace } else { name };
    let mut env = expansion::Map::new();
    env.insert("deployment".to_owned(), deployment.into());
    env.insert("project".to_owned(), namespace.into());
    if spec.says(TIME) {
        env.insert(TIME.to_owned(), Value::Number(now.as_second().into()));
    }
    for (key, value) in &spec.env {
        // As Deployment Manager's successor gives it: a number.
        let value = match value.parse::<i64>() {
            Ok(seconds) if key == TIME => Value::Number(seconds.into()),
            _ => value.as_str().into(),
        };
        env.insert(key.clone(), value);
    }
    env
}

/// The member of `env` that says when the expansion began.
const TIME: &str = "current_time";

fn misnamed_error(misnamed: &Misnamed) -> field::Error {
    match misnamed {
        Misnamed::Nameless(place) => {
            field::Error::required(format!("spec.imports[{place}].name"), "or a path")
        }
        Misnamed::Twice(place, name) => field::Error {
            field: format!("spec.imports[{place}].name"),
            problem: field::Problem::Duplicate(field::quote(name)),
            detail: String::new(),
        },
    }
}

impl Files {
    /// Problems of an expansion as errors of the fields that were sent.
    pub(crate) fn to_field_errors(&self, problems: &[Problem]) -> Vec<field::Error> {
        problems.iter().map(|problem| self.error(problem)).collect()
    }

    /// `spec.imports[lib/t.py].content: Invalid value: "lib/t.py:3": no (in config > a (lib/t.py))`.
    fn error(&self, problem: &Problem) -> field::Error {
        let Problem { file, line, message, path, place, trace, hint, .. } = problem;
        let file = file.as_deref().unwrap_or(CONFIGURATION);
        let value = match line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        };
        let mut detail = match path {
            Some(path) => format!("{path}: {message} (in {place})"),
            None => format!("{message} (in {place})"),
        };
        // One frame is the place that is named already.
        if trace.len() > 1 {
            let frames = trace.iter().map(|frame| match frame.function.as_str() {
                "" => format!("{}:{}", frame.file, frame.line),
                function => format!("{}:{} ({function})", frame.file, frame.line),
            });
            detail.push_str(&format!(", by way of {}", frames.collect::<Vec<_>>().join(", ")));
        }
        if let Some(hint) = hint {
            detail.push_str(&format!("; {hint}"));
        }
        field::Error::invalid(self.field(file), field::quote(&value), printable(&detail))
    }

    /// The field that a file was sent in. What was fetched is the business of whoever refers to it.
    fn field(&self, file: &str) -> String {
        let known = |sent: &&File| sent.known_as() == file || sent.path == file;
        let ends = |sent: &&File| sent.known_as().rsplit('/').next() == Some(file);
        let sent = self.0.iter().find(known).or_else(|| self.0.iter().find(ends));
        match sent {
            Some(sent) => format!("spec.imports[{}].content", sent.known_as()),
            None => "spec.configuration".to_owned(),
        }
    }
}

/// Nothing that a terminal would take for an order; some messages of libraries have several lines.
fn printable(text: &str) -> String {
    let lines: Vec<_> =
        text.split('\n').map(|line| expansion::printable(line, usize::MAX)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use expansion::{Cause, Frame, Place};

    use super::*;

    fn spec(json: &str) -> Spec {
        serde_json::from_str(json).unwrap()
    }

    fn defaults(name: &str) -> Defaults<'_> {
        let now = Timestamp::from_second(1_700_000_000).unwrap();
        Defaults { name, namespace: "demo", now }
    }

    fn env_of(json: &str, name: &str) -> String {
        let (input, _) = spec(json).into_input(&defaults(name)).ok().unwrap();
        Value::Map(input.env).to_json()
    }

    #[test]
    fn env_has_defaults_and_the_time_only_if_somebody_speaks_of_it() {
        assert_eq!(
            env_of(r#"{"configuration":"a"}"#, "web"),
            r#"{"deployment":"web","project":"demo"}"#
        );
        assert_eq!(
            env_of(r#"{"configuration":"a","env":{"deployment":"d","x":"1"}}"#, ""),
            r#"{"deployment":"d","project":"demo","x":"1"}"#
        );
        let speaks =
            r#"{"configuration":"a","imports":[{"name":"t","content":"env.current_time"}]"#;
        assert_eq!(
            env_of(&format!("{speaks}}}"), ""),
            r#"{"deployment":"demo","project":"demo","current_time":1700000000}"#
        );
        assert_eq!(
            env_of(&format!(r#"{speaks},"env":{{"current_time":"5"}}}}"#), ""),
            r#"{"deployment":"demo","project":"demo","current_time":5}"#
        );
    }

    #[test]
    fn all_that_is_wrong_with_names_is_told_at_once() {
        let sent = r#"{"configuration":"","imports":[{"content":"a"},{"name":"x","content":"b"},{"path":"x","content":"c"}]}"#;
        let errors = spec(sent).into_input(&defaults("")).err().unwrap();
        let told: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "spec.configuration: Required value",
                "spec.imports[0].name: Required value: or a path",
                "spec.imports[2].name: Duplicate value: \"x\"",
            ]
        );
    }

    fn problem(file: Option<&str>, line: Option<u32>) -> Problem {
        let place = Place { steps: vec![("a".to_owned(), Some("t.py".to_owned()))] };
        let file = file.map(str::to_owned);
        Problem { file, line, ..Problem::new(Cause::Template, "no").at(place) }
    }

    #[test]
    fn a_problem_is_one_of_the_field_that_the_file_was_sent_in() {
        let sent = r#"{"configuration":"a","imports":[{"path":"lib/t.py","content":"x"},{"name":"n","path":"p.jinja","content":"y"}]}"#;
        let (_, files) = spec(sent).into_input(&defaults("")).ok().unwrap();
        let check = |problem: &Problem, want: &str| {
            assert_eq!(files.to_field_errors(std::slice::from_ref(problem))[0].to_string(), want);
        };
        let rest = "no (in config > a (t.py))";
        let config = format!("spec.configuration: Invalid value: \"config\": {rest}");
        check(&problem(None, None), &config);
        let lib = format!("spec.imports[lib/t.py].content: Invalid value: \"t.py:3\": {rest}");
        check(&problem(Some("t.py"), Some(3)), &lib);
        let named = format!("spec.imports[n].content: Invalid value: \"p.jinja\": {rest}");
        check(&problem(Some("p.jinja"), None), &named);
        let fetched = format!("spec.configuration: Invalid value: \"https://h/x.py\": {rest}");
        check(&problem(Some("https://h/x.py"), None), &fetched);
    }

    #[test]
    fn paths_calls_and_hints_are_told() {
        let (_, files) = spec(r#"{"configuration":"a"}"#).into_input(&defaults("")).ok().unwrap();
        let frame = |file: &str, line, function: &str| Frame {
            file: file.to_owned(),
            line,
            function: function.to_owned(),
            text: String::new(),
        };
        let problem = Problem {
            path: Some("properties.port".to_owned()),
            trace: vec![frame("t.py", 1, ""), frame("h.py", 7, "f")],
            hint: Some("this looks like Python 2".to_owned()),
            ..problem(Some("h.py"), Some(7))
        };
        assert_eq!(
            files.to_field_errors(&[problem])[0].detail,
            "properties.port: no (in config > a (t.py)), by way of t.py:1, h.py:7 (f); this looks like Python 2"
        );
    }

    #[test]
    fn a_deployment_may_have_fewer_resources_than_an_expansion() {
        let spec = deployer::types::Spec {
            configuration: Some("resources: []".to_owned()),
            ..deployer::types::Spec::default()
        };
        let (input, _) = of_deployment(&spec, &defaults("web")).ok().unwrap();
        assert_eq!(input.options.limits.resources, MOST_DEPLOYED);
        assert!(MOST_DEPLOYED < Options::default().limits.resources);
    }

    #[test]
    fn no_order_reaches_a_terminal() {
        assert_eq!(printable("a\u{1b}[2J\nb"), "a\\u{1b}[2J\nb");
    }
}
