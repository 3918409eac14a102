//! Processing: a template and its values in, objects out.

mod proposal;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::error::{Errors, FieldError};
use crate::json::string::push_string;
use crate::reference::whole;
use crate::rewrite::{Labels, Rewriter, TooLong, What, substitute};
use crate::values::{Value, Values};
use crate::{Dialect, Json, Parameter, Template};

pub(crate) use proposal::check;

/// How much text references and labels may bring into one template, in bytes: the parameters'
/// values together, message and labels together, and the objects together.
///
/// A body of 3 MiB can refer half a million times to a value of a megabyte; upstream would try.
pub const MAX_PROCESSED: usize = 64 << 20;

/// A processed template.
pub struct Processed<'a> {
    template: &'a Template<'a>,
    values: &'a Values<'a>,
    message: Cow<'a, str>,
    labels: Option<Labels>,
    /// The objects with a comma after each but the last.
    objects: String,
    /// Where each object ends.
    ends: Vec<usize>,
}

/// Substitutes `values` into the message, the labels and the objects of `template`.
///
/// Every reference is replaced once; what a value brings in is never searched again. Objects keep
/// their key order, white space and number spelling. Of keys that are or become equal the last one
/// stays (upstream's winner depends on Go's map order when substitution made them equal); the
/// proposal refuses them.
///
/// # Errors
/// All faulty objects, each with its index; an object that would make the result too large ends
/// the work. With the proposal everything that is wrong with every object, each with its path, a
/// label that Kubernetes would refuse, and a parameter that nothing refers to.
pub fn process<'a>(
    template: &'a Template<'a>,
    values: &'a Values<'a>,
) -> Result<Processed<'a>, Errors> {
    match template.dialect() {
        Dialect::OpenShift => openshift(template, values),
        Dialect::Proposal => proposal::process(template, values),
    }
}

fn openshift<'a>(
    template: &'a Template<'a>,
    values: &'a Values<'a>,
) -> Result<Processed<'a>, Errors> {
    let mut budget = MAX_PROCESSED;
    let message = text(template.message(), values, &mut budget).map_err(too_long("message"))?;
    let labels = template.labels().map(|labels| substitute_labels(labels, values, &mut budget));
    let labels = labels.transpose().map_err(too_long("labels"))?;
    let labels = labels.as_ref().map(Labels::new);
    let mut errors = Errors::default();
    let (objects, ends) = objects(template, values, labels.as_ref(), &mut errors);
    errors.or(Processed { template, values, message, labels, objects, ends })
}

fn objects<'a>(
    template: &'a Template<'a>,
    values: &'a Values<'a>,
    labels: Option<&'a Labels>,
    errors: &mut Errors,
) -> (String, Vec<usize>) {
    let objects = template.objects().unwrap_or_default();
    let mut rewriter = Rewriter::new(Some(values), labels, room(objects));
    let mut ends = Vec::with_capacity(objects.len());
    for (index, &object) in objects.iter().enumerate() {
        if index > 0 {
            rewriter.out().push(',');
        }
        if let Err(fault) = rewriter.object(object, template.outline(index)) {
            let is_last = matches!(fault.what(), What::TooLong);
            errors.push_with(|| fault.into_error(index, object, labels));
            if is_last {
                break;
            }
        }
        ends.push(rewriter.out().len());
    }
    (rewriter.into_out(), ends)
}

/// Room for the processed objects: ample, as growing would copy all of them, and memory that is not
/// written to costs nothing. It also makes this the largest block by far, which is how much the
/// common allocators keep for the next template instead of returning it page by page.
fn room(objects: &[Json]) -> usize {
    objects.iter().map(|object| 2 * (object.as_str().len() + 64)).sum()
}

/// Labels by their substituted names. Names that become equal: the last in the order of the
/// unsubstituted names counts.
fn substitute_labels<'a>(
    labels: &'a BTreeMap<Cow<'_, str>, Cow<'_, str>>,
    values: &'a Values<'a>,
    budget: &mut usize,
) -> Result<BTreeMap<Cow<'a, str>, Cow<'a, str>>, TooLong> {
    let label = |(name, value): (&'a Cow<str>, &'a Cow<str>)| {
        Ok((text(name, values, budget)?, text(value, values, budget)?))
    };
    labels.iter().map(label).collect()
}

/// Text outside the objects: a whole-string `${{NAME}}` stands for the value's text, never JSON.
fn text<'a>(
    text: &'a str,
    values: &'a Values<'a>,
    budget: &mut usize,
) -> Result<Cow<'a, str>, TooLong> {
    let text = match whole(text).and_then(|name| values.get(name)) {
        Some(value) => Cow::Borrowed(value.text()),
        None => substitute(text, values, Value::text, *budget)?,
    };
    *budget = budget.checked_sub(text.len()).ok_or(TooLong)?;
    Ok(text)
}

fn too_long(field: &str) -> impl FnOnce(TooLong) -> Errors {
    let field = field.to_owned();
    move |_| {
        let mut errors = Errors::default();
        errors.push(FieldError::too_long(field));
        errors
    }
}

impl<'a> Processed<'a> {
    /// The processed objects in order.
    pub fn objects(&self) -> impl Iterator<Item = Json<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| end + 1));
        starts.zip(&self.ends).map(|(start, &end)| Json::proven(&self.objects[start..end]))
    }

    /// The substituted message; empty when there is none.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the template got away with, see [`Template::warnings`].
    pub fn warnings(&self) -> &[String] {
        self.template.warnings()
    }

    /// Appends the fields of the processed Template except `apiVersion`, `kind` and `metadata`,
    /// without braces: `"message":..,"objects":[..],"parameters":[..],"labels":{..}`. Empty ones
    /// are left out, but `objects` is always there, `null` if the template has none.
    pub fn write_fields(&self, out: &mut Vec<u8>) {
        let mut before = String::with_capacity(self.message.len() + 64);
        let mut behind = String::with_capacity(self.tail_size());
        if !self.message.is_empty() {
            before.push_str("\"message\":");
            push_string(&mut before, &self.message);
            before.push(',');
        }
        self.push_parameters(&mut behind);
        if let Some(labels) = self.labels.as_ref().filter(|labels| !labels.is_empty()) {
            behind.push_str(",\"labels\":");
            labels.push_json(&mut behind);
        }
        // Growing step by step would copy the objects again.
        out.reserve(before.len() + self.objects.len() + behind.len() + 32);
        out.extend_from_slice(before.as_bytes());
        out.extend_from_slice(b"\"objects\":");
        match self.template.objects() {
            Some(_) => self.write_objects(out),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(behind.as_bytes());
    }

    /// About how long parameters and labels are, without what their texts need for escapes.
    fn tail_size(&self) -> usize {
        let values = self.values.iter().map(|value| value.plain().len());
        let parameters = self.template.parameters().iter().map(Parameter::size);
        let labels = self.labels.as_ref().map_or(0, Labels::size);
        values.chain(parameters).sum::<usize>() + labels + 64
    }

    fn write_objects(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        out.extend_from_slice(self.objects.as_bytes());
        out.push(b']');
    }

    fn push_parameters(&self, out: &mut String) {
        let mut before = ",\"parameters\":[";
        for (parameter, value) in self.template.parameters().iter().zip(self.values.iter()) {
            out.push_str(before);
            let generate = if value.is_given() { "" } else { &parameter.generate };
            parameter.write(out, value.plain(), generate);
            before = ",";
        }
        if before == "," {
            out.push(']');
        }
    }

    /// Appends the processed Template, with `metadata` as the body said it.
    pub fn write_template(&self, out: &mut Vec<u8>) {
        let metadata = self.template.metadata().map_or("{}", |metadata| metadata.as_str());
        out.reserve(
            self.objects.len() + metadata.len() + self.message.len() + self.tail_size() + 256,
        );
        out.extend_from_slice(b"{\"kind\":\"Template\",\"apiVersion\":\"");
        out.extend_from_slice(self.template.dialect().api_version().as_bytes());
        out.extend_from_slice(b"\",\"metadata\":");
        out.extend_from_slice(metadata.as_bytes());
        out.push(b',');
        self.write_fields(out);
        out.push(b'}');
    }

    /// Appends the objects as the `v1` List that `oc process` prints.
    pub fn write_list(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(
            b"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":",
        );
        self.write_objects(out);
        out.push(b'}');
    }
}
