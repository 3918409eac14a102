//! From parameters to values: what the caller gave, what the template says, what is generated.
//!
//! The rules here are OpenShift's; [`proposal`] has those of typed parameters.

mod proposal;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use crate::error::{Errors, FieldError, Reason, go_compact, go_quote};
use crate::generator::{self, Random};
use crate::json::{Defect, Quoted, Scanner, number, string};
use crate::template::{Parameter, Template};
use crate::{Dialect, Json, MAX_PROCESSED, rewrite};

/// Values that a caller gives to a template's parameters, by name.
///
/// A given value replaces the template's and switches its generator off, also when it is empty.
/// Where a template has a name twice, every one of them gets the value.
#[derive(Clone, Default)]
pub struct Overrides {
    values: BTreeMap<String, String>,
    ignore_unknown: bool,
}

impl Overrides {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a value; a later one for the same name replaces it.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values.insert(name.into(), value.into());
    }

    /// Accepts names that the template does not have, as `--ignore-unknown-parameters` and the
    /// Secret of a TemplateInstance do.
    #[must_use]
    pub fn ignoring_unknown(mut self) -> Self {
        self.ignore_unknown = true;
        self
    }

    fn check(&self, template: &Template, errors: &mut Errors) {
        if self.ignore_unknown || self.values.is_empty() {
            return;
        }
        let mut names: Vec<&str> = template.parameters().iter().map(|p| &*p.name).collect();
        names.sort_unstable();
        for name in self.values.keys() {
            if names.binary_search(&name.as_str()).is_err() {
                errors.push(FieldError {
                    field: String::new(),
                    reason: Reason::UnknownParameter { name: name.clone() },
                    detail: String::new(),
                });
            }
        }
    }
}

/// The names only: values may be secrets.
impl fmt::Debug for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Overrides {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        let mut overrides = Overrides::new();
        for (name, value) in values {
            overrides.set(name, value);
        }
        overrides
    }
}

/// A value for every parameter of one template. Never logged: values are often secrets.
pub struct Values<'t> {
    /// One for each parameter of the template, in its order.
    list: Vec<Value<'t>>,
    /// By [`fingerprint`] and name, with indices into `list`. A name that stands twice means the
    /// last one.
    names: Vec<(u64, usize)>,
}

impl<'t> Values<'t> {
    /// Settles every parameter: the override, else the template's value, else a generated one.
    ///
    /// # Errors
    /// All of them together: a required parameter that stays empty, a generator or an expression
    /// that does not exist, and an override for a name that the template does not have. With the
    /// proposal also every value that its parameter does not allow, and everything that
    /// [`validate`] says: there is no need to call that first.
    pub fn resolve(
        template: &'t Template,
        overrides: &Overrides,
        random: &mut dyn Random,
    ) -> Result<Self, Errors> {
        if template.dialect() == Dialect::Proposal {
            return proposal::resolve(template, overrides, random);
        }
        let mut errors = Errors::default();
        overrides.check(template, &mut errors);
        let mut list = Vec::with_capacity(template.parameters().len());
        let mut size = 0;
        for (index, parameter) in template.parameters().iter().enumerate() {
            let given = overrides.values.get(&*parameter.name);
            match settle(index, parameter, given, random) {
                Ok(text) => {
                    size += text.len();
                    list.push(Value::new(&parameter.name, text, given.is_some()));
                }
                Err(error) => errors.push(error),
            }
            // One large override may meet a hundred thousand parameters of its name.
            if size > MAX_PROCESSED {
                errors.push(FieldError::too_long(format!("template.parameters[{index}]")));
                break;
            }
        }
        errors.or(Values::new(list))
    }

    fn new(list: Vec<Value<'t>>) -> Self {
        let mut names: Vec<_> = list.iter().map(|value| fingerprint(value.name)).zip(0..).collect();
        names.sort_unstable_by_key(|&(print, index)| (print, list[index].name, Reverse(index)));
        names.dedup_by_key(|&mut (_, index)| list[index].name);
        Values { list, names }
    }

    /// Empty values for all parameters, in place of those that could not be settled.
    pub(crate) fn blank(template: &'t Template) -> Self {
        proposal::blank(template)
    }

    /// The value that a reference to `name` stands for.
    pub(crate) fn get(&self, name: &str) -> Option<&Value<'t>> {
        self.index(name).map(|index| &self.list[index])
    }

    /// Which parameter a reference to `name` means.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        let sought = fingerprint(name);
        let order = |&(print, index): &(u64, usize)| {
            print.cmp(&sought).then_with(|| self.list[index].name.cmp(name))
        };
        self.names.binary_search_by(order).ok().map(|place| self.names[place].1)
    }

    /// The value of the parameter with that index.
    pub(crate) fn at(&self, index: usize) -> &Value<'t> {
        &self.list[index]
    }

    /// The values in the order of the template's parameters.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Value<'t>> {
        self.list.iter()
    }
}

/// A number by which names are searched: it settles most comparisons, as names of one template
/// mostly end differently, however alike they begin.
fn fingerprint(name: &str) -> u64 {
    match name.as_bytes().last_chunk() {
        Some(end) => u64::from_le_bytes(*end),
        None => name.bytes().fold(0, |print, byte| print << 8 | u64::from(byte)),
    }
}

fn settle<'t>(
    index: usize,
    parameter: &'t Parameter,
    given: Option<&String>,
    random: &mut dyn Random,
) -> Result<Cow<'t, str>, FieldError> {
    let field = || format!("template.parameters[{index}]");
    let mut value = match given {
        Some(given) => Cow::Owned(given.clone()),
        None => Cow::Borrowed(&*parameter.value),
    };
    if value.is_empty() && given.is_none() && !parameter.generate.is_empty() {
        let Parameter { name, generate, from, .. } = parameter;
        if generate != "expression" {
            let detail = format!("Unknown generator name '{generate}' for parameter {name}");
            return Err(FieldError::invalid(field(), go_quote(generate), detail));
        }
        value = match generator::generate(from, random) {
            Ok(text) => Cow::Owned(text),
            Err(text) => {
                let mut shown = String::new();
                parameter.write(&mut shown, parameter.value.as_ref(), generate);
                return Err(FieldError::invalid(field(), go_compact(&shown), text));
            }
        };
    }
    if value.is_empty() && parameter.required {
        let (field, name) = (field(), &parameter.name);
        let detail = format!("{field}: parameter {name} is required and must be specified");
        return Err(FieldError::required(field, detail));
    }
    Ok(value)
}

/// What one parameter stands for, in the forms that references need.
pub(crate) struct Value<'t> {
    name: &'t str,
    text: Cow<'t, str>,
    /// The parameter's value, where `text` is an encoding of it.
    plain: Option<Cow<'t, str>>,
    /// `text` as the content of a JSON string, where that differs.
    escaped: Option<String>,
    /// `text` as an unquoted reference reads it; made when first asked for.
    form: OnceLock<Form>,
    given: bool,
}

/// What a string becomes that is an unquoted reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// The content of a JSON string: the value is none, or is no JSON and stands for itself.
    Text(String),
    /// `null`; in OpenShift's dialect it removes the member that holds it.
    Null,
    /// A number, bool, map or list, free of duplicate keys and lone surrogates.
    Json(String),
    /// JSON that nests deeper than any object may.
    TooDeep,
}

impl<'t> Value<'t> {
    fn new(name: &'t str, text: Cow<'t, str>, given: bool) -> Self {
        let escaped = match string::escape(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(escaped) => Some(escaped),
        };
        Value { name, text, plain: None, escaped, form: OnceLock::new(), given }
    }

    pub(crate) fn name(&self) -> &'t str {
        self.name
    }

    /// The parameter's value, as it was given or generated.
    pub(crate) fn plain(&self) -> &str {
        self.plain.as_ref().unwrap_or(&self.text)
    }

    /// The text as it is.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text as the content of a JSON string.
    pub(crate) fn escaped(&self) -> &str {
        self.escaped.as_deref().unwrap_or(&self.text)
    }

    /// Whether the caller gave it, which switches the generator off.
    pub(crate) fn is_given(&self) -> bool {
        self.given
    }

    /// What a whole-string reference of OpenShift becomes.
    pub(crate) fn form(&self) -> &Form {
        self.form.get_or_init(|| Form::read(&self.text))
    }

    /// What a whole-string reference of the proposal becomes.
    pub(crate) fn scalar(&self) -> &Form {
        self.form.get_or_init(|| Form::scalar(&self.text))
    }
}

impl Form {
    /// Text that is JSON becomes that JSON, any other text stays text.
    fn read(text: &str) -> Form {
        let mut scanner = Scanner::new(text);
        let json = match scanner.value().and_then(|json| scanner.end().map(|()| json)) {
            Ok(json) => json,
            Err(syntax) if syntax.defect == Defect::Depth => return Form::TooDeep,
            Err(_) => return Form::itself(text),
        };
        match Form::of_scalar(json) {
            Some(form) => form,
            // A number beyond every float makes Go refuse the whole text; so it stands for itself.
            None => rewrite::canonical(json).map_or_else(|| Form::itself(text), Form::Json),
        }
    }

    /// Text that is a JSON number, bool, string or null becomes that, any other text stays text:
    /// to place maps and lists is no aim of the proposal. No text is null, as in YAML.
    pub(crate) fn scalar(text: &str) -> Form {
        if text.is_empty() {
            return Form::Null;
        }
        let scalar = Json::parse(text).ok().and_then(Form::of_scalar);
        scalar.unwrap_or_else(|| Form::itself(text))
    }

    /// None for maps, lists and numbers that no float holds.
    fn of_scalar(json: Json) -> Option<Form> {
        let text = json.as_str();
        match json.kind() {
            "null" => Some(Form::Null),
            "string" => Some(Form::itself(&Quoted::proven(&text[1..text.len() - 1]).decode())),
            "number" => Some(Form::Json(number::canonical(text)?.into_owned())),
            "bool" => Some(Form::Json(text.to_owned())),
            _ => None,
        }
    }

    fn itself(text: &str) -> Form {
        Form::Text(string::escape(text).into_owned())
    }
}

impl Parameter<'_> {
    /// About how much [`Parameter::write`] appends besides the value.
    pub(crate) fn size(&self) -> usize {
        let texts = [&self.name, &self.display_name, &self.description, &self.generate, &self.from];
        texts.into_iter().map(|text| text.len()).sum::<usize>() + 128
    }

    /// Appends the parameter as JSON, empty fields left out, in the order of the Go type.
    pub(crate) fn write(&self, out: &mut String, value: &str, generate: &str) {
        out.push_str("{\"name\":");
        string::push_string(out, &self.name);
        let texts = [
            ("displayName", &*self.display_name),
            ("description", &*self.description),
            ("value", value),
            ("generate", generate),
            ("from", &*self.from),
        ];
        for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            out.push_str(",\"");
            out.push_str(key);
            out.push_str("\":");
            string::push_string(out, text);
        }
        out.push_str(if self.required { ",\"required\":true" } else { "" });
        self.constraints.write(out);
        out.push('}');
    }
}

/// Checks what the API server checks when a Template is stored or processed.
///
/// With OpenShift that is parameter names; everything else waits until it is processed. The
/// proposal is strict: it is all that can be wrong whatever the values are, such as a default that
/// is not of its type, an undefined reference, or a parameter that nothing refers to.
///
/// # Errors
/// All of them, each with its field; an empty list when all is well.
pub fn validate(template: &Template) -> Errors {
    if template.dialect() == Dialect::Proposal {
        return proposal::validate(template);
    }
    let mut errors = Errors::default();
    check_names(template, &mut errors);
    errors
}

/// `parameters[i].name` for every name that is empty or no name.
fn check_names(template: &Template, errors: &mut Errors) {
    for (index, parameter) in template.parameters().iter().enumerate() {
        let field = || format!("parameters[{index}].name");
        if parameter.name.is_empty() {
            errors.push(FieldError::required(field(), String::new()));
        } else if !crate::reference::is_name(&parameter.name) {
            let detail = "does not match ^[a-zA-Z0-9_]+$".to_owned();
            errors.push(FieldError::invalid(field(), go_quote(&parameter.name), detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &Form) {
        assert_eq!(Form::read(text), *want, "{text}");
    }

    #[test]
    fn text_that_is_json_becomes_json() {
        check("1", &Form::Json("1".into()));
        check(" 1e3 ", &Form::Json("1000".into()));
        check("true", &Form::Json("true".into()));
        check("null", &Form::Null);
        check(r#""q\u0041""#, &Form::Text("qA".into()));
        check(r#" {"a": 1.0, "a": [2.50]} "#, &Form::Json(r#"{"a": [2.5]}"#.into()));
        check(r#"{"s":"\ud800"}"#, &Form::Json("{\"s\":\"\u{fffd}\"}".into()));
    }

    #[test]
    fn text_that_is_no_json_stands_for_itself() {
        for text in [
            "", "abc", "007", "0x10", "+1", "True", "NaN", "'x'", "1e999", "[1e999]", "{\"a\"",
            "1 2",
        ] {
            check(text, &Form::itself(text));
        }
    }

    #[test]
    fn a_scalar_is_no_map_and_no_list() {
        let scalar = |text: &str| Form::scalar(text);
        for text in ["1", "1e3", "true", "null", "\"s\"", "BAR", "007", "1e999", "True"] {
            assert_eq!(scalar(text), Form::read(text), "{text}");
        }
        for text in ["{}", "[1]", "{\"a\":1}"] {
            assert_eq!(scalar(text), Form::itself(text), "{text}");
        }
        assert_eq!(scalar(""), Form::Null);
    }

    #[test]
    fn json_beyond_the_depth_limit_is_no_silent_string() {
        check(&format!("{}{}", "[".repeat(600), "]".repeat(600)), &Form::TooDeep);
    }
}
