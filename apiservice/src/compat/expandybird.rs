//! Expandybird's `POST /expand`: a Template in, in JSON; configuration and layout out, each as YAML text in JSON or XML.

use apiserver::limits::{Limits, heavy};
use apiserver::status::{Error, Reason};
use apiserver::yaml;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use expansion::{Map, Value};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, Method, StatusCode};

use super::answer::{Fault, answer, code, text};
use super::template::{Failed, Template, whole};
use crate::engine::{Done, Engine};

/// What an answer is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Xml,
}

/// Answers 200, or 400 with the reason.
pub(super) async fn expand(
    engine: &Engine,
    method: &Method,
    headers: &HeaderMap,
    body: Body,
) -> Response {
    if *method != Method::POST {
        return refused(Reason::MethodNotAllowed, "405: Method Not Allowed");
    }
    if !is_json(headers) {
        return refused(Reason::UnsupportedMediaType, "415: Unsupported Media Type");
    }
    let Some(form) = accepted(headers) else {
        return refused(Reason::NotAcceptable, "406: Not Acceptable");
    };
    let body = match whole(body, Limits::default().body).await {
        Ok(body) => body,
        Err(fault) => return fault.into_response(),
    };
    let template = match Template::from_json(&body) {
        Ok(template) => template,
        Err(why) => return refused(Reason::BadRequest, &why),
    };
    match template.expand(engine, None).await {
        Ok(done) => {
            let size = done.size();
            let written = heavy(size, move || written(form, &template, done))
                .await
                .and_then(|written| written);
            written.unwrap_or_else(|error| Fault::from(error).into_response())
        }
        Err(Failed::Template(why)) => {
            let name = &template.name;
            let message =
                format!("error expanding template: error expanding template {name}: {why}\n");
            refused(Reason::BadRequest, &message)
        }
        Err(Failed::Request(error)) => Fault::from(error).into_response(),
    }
}

fn refused(reason: Reason, message: &str) -> Response {
    text(code(reason), message.to_owned())
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    given.is_some_and(|given| media(given) == "application/json")
}

/// The first of what the client accepts that there is.
fn accepted(headers: &HeaderMap) -> Option<Form> {
    let Some(accept) = headers.get(ACCEPT) else { return Some(Form::Json) };
    let ranges = accept.to_str().unwrap_or_default().split(',');
    ranges.map(media).find_map(|range| match range.as_str() {
        "" | "*/*" | "application/*" | "application/json" => Some(Form::Json),
        "application/xml" => Some(Form::Xml),
        _ => None,
    })
}

/// A media type without its parameters.
fn media(text: &str) -> String {
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn written(form: Form, template: &Template, done: Done) -> Result<Response, Error> {
    let (mut config, mut layout) = ("null\n".to_owned(), "null\n".to_owned());
    if !template.content.trim().is_empty() {
        let expanded = done.expanded;
        config = to_yaml(expanded.resources.clone(), Vec::new())?;
        let outputs = expanded.outputs.iter().map(|output| {
            let name = Value::from(output.name.as_str());
            let members = [("name".to_owned(), name), ("value".to_owned(), output.value.clone())];
            Value::Map(members.into_iter().collect())
        });
        layout = to_yaml(expanded.layout.clone(), outputs.collect())?;
    }
    Ok(match form {
        Form::Json => answer(StatusCode::OK, "application/json", json(&config, &layout)),
        Form::Xml => answer(StatusCode::OK, "application/xml", xml(&config, &layout)),
    })
}

fn to_yaml(resources: Vec<Value>, outputs: Vec<Value>) -> Result<String, Error> {
    let mut map = Map::from_iter([("resources".to_owned(), Value::List(resources))]);
    if !outputs.is_empty() {
        map.insert("outputs".to_owned(), Value::List(outputs));
    }
    yaml::from_json(&Value::Map(map).to_json()).map_err(Error::internal)
}

/// As Go indents what it prints for people.
fn json(config: &str, layout: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    format!("{{\n  \"config\": {},\n  \"layout\": {}\n }}", quoted(config), quoted(layout))
}

fn xml(config: &str, layout: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n <ExpansionResponse>\n  <Config>{}</Config>\n  \
         <Layout>{}</Layout>\n </ExpansionResponse>",
        escaped(config),
        escaped(layout)
    )
}

/// As Go writes text in XML. What XML has no place for becomes the character for what is not known.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '\t' => out.push_str("&#x9;"),
            '\n' => out.push_str("&#xA;"),
            '\r' => out.push_str("&#xD;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            plain => out.push(plain),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_form_that_there_is_wins() {
        let check = |accept: &'static str, want: Option<Form>| {
            let headers = HeaderMap::from_iter([(ACCEPT, http::HeaderValue::from_static(accept))]);
            assert_eq!(accepted(&headers), want, "{accept}");
        };
        check("*/*", Some(Form::Json));
        check("application/xml", Some(Form::Xml));
        check("text/html, application/xml;q=0.9, */*;q=0.8", Some(Form::Xml));
        check("application/x-yaml", None);
        assert_eq!(accepted(&HeaderMap::new()), Some(Form::Json));
    }

    #[test]
    fn both_forms_are_laid_out_as_go_does_it() {
        assert_eq!(json("a\n", "é\n"), "{\n  \"config\": \"a\\n\",\n  \"layout\": \"é\\n\"\n }");
        let want = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n <ExpansionResponse>\n  \
                    <Config>a: &lt;&#39;&#xA;</Config>\n  <Layout>b\u{fffd}</Layout>\n </ExpansionResponse>";
        assert_eq!(xml("a: <'\n", "b\u{1}"), want);
    }
}
