//! Processing in the proposal's dialect: everything that is wrong is said, all at once.
//!
//! The same walk checks a template that is only stored. Then the values are empty placeholders,
//! and what depends on them (a label's value, a kind, keys that become equal) is not judged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Processed, room};
use crate::error::{Errors, FieldError, Reason, go_quote};
use crate::label;
use crate::rewrite::{Labels, Rewriter, Scope, TooLong};
use crate::values::Values;
use crate::{MAX_PROCESSED, Template};

/// Substitutes `values`, or says everything that is wrong with objects and labels.
pub(super) fn process<'a>(
    template: &'a Template<'a>,
    values: &'a Values<'a>,
) -> Result<Processed<'a>, Errors> {
    let (processed, errors) = walk(template, values, false);
    errors.or(processed)
}

/// What is wrong with objects and labels, whatever the values are.
pub(crate) fn check(template: &Template) -> Errors {
    let values = Values::blank(template);
    let (_, errors) = walk(template, &values, true);
    errors
}

fn walk<'a>(
    template: &'a Template<'a>,
    values: &'a Values<'a>,
    is_check: bool,
) -> (Processed<'a>, Errors) {
    let mut errors = Errors::default();
    let mut scope = Scope::new(values, is_check);
    let (labels, mut is_complete) = match labels(template, &mut scope, &mut errors) {
        Ok(labels) => (labels, true),
        Err(TooLong) => {
            errors.push(FieldError::too_long("labels".to_owned()));
            (None, false)
        }
    };

    let objects = template.objects().unwrap_or_default();
    let mut rewriter = Rewriter::strict(values, scope, labels.as_ref(), room(objects));
    let mut ends = Vec::with_capacity(objects.len());
    for (index, &object) in objects.iter().enumerate() {
        if index > 0 {
            rewriter.out().push(',');
        }
        if rewriter.strict_object(index, object, &mut errors).is_err() {
            errors.push(FieldError::too_long(format!("objects[{index}]")));
            is_complete = false;
            break;
        }
        ends.push(rewriter.out().len());
    }
    let (objects, scope) = rewriter.into_out_and_scope();
    if is_complete && let Some(scope) = scope {
        for index in scope.unused() {
            errors.push_with(|| unused(template, index));
        }
    }
    let message = Cow::Borrowed("");
    (Processed { template, values, message, labels, objects, ends }, errors)
}

fn unused(template: &Template, index: usize) -> FieldError {
    let value = go_quote(&template.parameters()[index].name);
    let detail = "nothing refers to this parameter".to_owned();
    FieldError::invalid(format!("parameters[{index}].name"), value, detail)
}

fn undefined_in(field: String, written: &str) -> FieldError {
    let reason = Reason::NotFound { value: go_quote(written) };
    FieldError { field, reason, detail: "the template has no such parameter".to_owned() }
}

/// The labels by their substituted names; none when there are none.
fn labels(
    template: &Template,
    scope: &mut Scope,
    errors: &mut Errors,
) -> Result<Option<Labels>, TooLong> {
    let mut labels = BTreeMap::new();
    let mut budget = MAX_PROCESSED;
    for (name, value) in template.labels().into_iter().flatten() {
        let field = format!("labels[{name}]");
        let mut text = |text: &str| {
            let replaced = scope.replace(text, budget)?;
            budget = budget.checked_sub(replaced.text.len()).ok_or(TooLong)?;
            let is_open = replaced.is_changed && scope.is_check();
            let is_settled = !is_open && replaced.undefined.is_empty();
            for undefined in replaced.undefined {
                errors.push_with(|| undefined_in(field.clone(), undefined));
            }
            Ok((replaced.text, is_settled))
        };
        let (name, is_name_settled) = text(name)?;
        let (value, is_value_settled) = text(value)?;
        let mut refuse = |text: &str, fault: &str| {
            errors
                .push_with(|| FieldError::invalid(field.clone(), go_quote(text), fault.to_owned()));
        };
        if let Some(fault) = label::name_fault(&name).filter(|_| is_name_settled) {
            refuse(&name, fault);
        }
        if let Some(fault) = label::value_fault(&value).filter(|_| is_value_settled) {
            refuse(&value, fault);
        }
        if is_name_settled && labels.contains_key(&*name) {
            errors.push_with(|| FieldError::duplicate(field, go_quote(&name)));
        }
        labels.insert(Cow::Owned(name), Cow::Owned(value));
    }
    Ok((!labels.is_empty()).then(|| Labels::new(&labels)))
}
