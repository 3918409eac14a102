//! `templates`: stored Templates.

use apiserver::field;
use apiserver::meta::{self, ObjectMeta};
use apiserver::object::Object;
use apiserver::resource::{Cell, Column};
use apiserver::resource::{Resource, Serves, Strategy};
use processor::{Dialect, Parameter};

use super::{kinds, processed, processing, schema};

struct Templates(Dialect);

/// The resource in the API group of a dialect.
pub fn resource(dialect: Dialect) -> Resource {
    let definition = kinds::template(dialect, "templates");
    Resource::new(definition, Serves::Stored(Box::new(Templates(dialect))))
        .with(processed::subresource(dialect))
        .with(schema::subresource(dialect))
}

const COLUMNS: [Column; 3] = [
    Column::text("Description", "Template description."),
    Column::text(
        "Parameters",
        "parameters is an optional array of Parameters used during the Template to Config transformation.",
    ),
    Column::text("Objects", "Number of resources in this template."),
];

impl Strategy for Templates {
    /// OpenShift's: only the names of parameters; objects, references and labels are looked at when
    /// they are processed. Unlike upstream, an update is looked at as well. The proposal's: all that
    /// would be wrong with any values.
    fn validate(&self, object: &Object) -> Vec<field::Error> {
        let validated = processing::with_template(self.0, object, |template| {
            Ok(processing::to_field_errors(&processor::validate(template)))
        });
        validated.unwrap_or_else(|error| vec![field::Error::invalid("", "", error.message())])
    }

    fn validate_update(&self, object: &Object, old: &Object) -> Vec<field::Error> {
        let mut errors = match self.0 {
            Dialect::OpenShift => repeated(&object.meta, &old.meta),
            Dialect::Proposal => Vec::new(),
        };
        errors.extend(self.validate(object));
        errors
    }

    fn returns_deleted(&self) -> bool {
        true
    }

    fn columns(&self) -> &'static [Column] {
        &COLUMNS
    }

    fn cells(&self, object: &Object) -> Vec<Cell> {
        let description = object.meta.annotations.get("description").map_or("", String::as_str);
        let counts = processing::with_template(self.0, object, |template| {
            let objects = template.objects().map_or(0, <[_]>::len);
            Ok((parameters_cell(template.parameters()), objects))
        });
        let (parameters, objects) = counts.unwrap_or_default();
        vec![description_cell(description).into(), parameters.into(), objects.into()]
    }
}

/// Upstream's strategy validates the metadata again, once as an update and once as if it were new,
/// so that a `Status` has some causes two or three times. The message says each once.
fn repeated(new: &ObjectMeta, old: &ObjectMeta) -> Vec<field::Error> {
    let told = meta::validate_update(new, old);
    let format = |error: &&field::Error| {
        error.field.starts_with("metadata.finalizers")
            && matches!(error.problem, field::Problem::Invalid(_))
    };
    let of_new = |error: &&field::Error| {
        ["metadata.labels", "metadata.annotations", "metadata.ownerReferences"]
            .iter()
            .any(|path| error.field.starts_with(path))
    };
    let as_update = told.iter().filter(|error| !format(error));
    as_update.chain(told.iter().filter(of_new)).cloned().collect()
}

/// The first line, cut to 80 bytes. Like upstream it is cut between bytes: half a character shows
/// as U+FFFD.
fn description_cell(description: &str) -> String {
    const LONGEST: usize = 80;
    const DOTS: &str = "...";
    let shown = match description.split_once('\n') {
        Some((first, _)) => format!("{first}{DOTS}"),
        None => description.to_owned(),
    };
    if shown.len() <= LONGEST {
        return shown;
    }
    let cut = shown.as_bytes()[..LONGEST - DOTS.len()].trim_ascii_end();
    format!("{}{DOTS}", String::from_utf8_lossy(cut))
}

/// How many there are, and how many of them need a value, or else will get one.
fn parameters_cell(parameters: &[Parameter<'_>]) -> String {
    let valueless = || parameters.iter().filter(|parameter| parameter.value.is_empty());
    let generated = valueless().filter(|parameter| !parameter.generate.is_empty()).count();
    let blank = valueless().count() - generated;
    let total = parameters.len();
    match (blank, generated) {
        (0, 0) => format!("{total} (all set)"),
        (0, generated) => format!("{total} ({generated} generated)"),
        (blank, _) => format!("{total} ({blank} blank)"),
    }
}

#[cfg(test)]
mod tests {
    use apiserver::object::Fields;

    use super::*;

    #[test]
    fn a_long_description_is_cut_to_80_bytes() {
        assert_eq!(description_cell("short"), "short");
        assert_eq!(description_cell("one\ntwo"), "one...");
        let cut = description_cell(&"é".repeat(60));
        assert_eq!(cut, format!("{}\u{fffd}...", "é".repeat(38)));
    }

    #[test]
    fn blank_parameters_count_before_generated_ones() {
        let parameter = |value: &'static str, generate: &'static str| Parameter {
            value: value.into(),
            generate: generate.into(),
            ..Parameter::default()
        };
        assert_eq!(parameters_cell(&[]), "0 (all set)");
        assert_eq!(parameters_cell(&[parameter("", "expression")]), "1 (1 generated)");
        let mixed = [parameter("", "expression"), parameter("", ""), parameter("x", "")];
        assert_eq!(parameters_cell(&mixed), "3 (1 blank)");
    }

    fn stored(dialect: Dialect, fields: &str) -> Vec<String> {
        let object = Object { meta: ObjectMeta::default(), fields: Fields::new(fields.to_owned()) };
        Templates(dialect).validate(&object).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_template_of_the_proposal_that_no_values_could_mend_is_not_stored() {
        let fields = r#""objects":[{"apiVersion":"v1","kind":"K","v":["$(A)","$(NO)"]},{"kind":"$(B)"}],
            "parameters":[{"name":"A","type":"int","value":"x","minimum":2,"maximum":1},{"name":"B","pattern":"("},
                {"name":"B"},{"name":"C","type":"no"}]"#;
        assert_eq!(
            stored(Dialect::Proposal, fields),
            [
                "parameters[2].name: Duplicate value: \"B\"",
                "parameters[0].minimum: Invalid value: 2: must not be more than the maximum, 1",
                "parameters[0].value: Invalid value: \"x\": must be an integer of 64 bits",
                "parameters[1].pattern: Invalid value: \"(\": is not a regular expression: unclosed group",
                "parameters[3].type: Unsupported value: \"no\": supported values: \"base64\", \"bool\", \"int\", \"string\"",
                "objects[0].v[1]: Not found: \"$(NO)\": the template has no such parameter",
                "objects[1].apiVersion: Required value: an object needs its apiVersion and its kind",
                "parameters[3].name: Invalid value: \"C\": nothing refers to this parameter",
            ]
        );
    }

    #[test]
    fn what_only_values_decide_is_stored() {
        let fields = r#""objects":[{"apiVersion":"v1","kind":"$(A)","$(A)":1,"$(B)":2}],"labels":{"$(A)":"$(B)"},
            "parameters":[{"name":"A","required":true},{"name":"B","type":"bool"}]"#;
        assert_eq!(stored(Dialect::Proposal, fields), [""; 0]);
        let fields = r#""objects":[{"v":"${NO}"}],"parameters":[{"name":"A"},{"name":"A"}]"#;
        assert_eq!(stored(Dialect::OpenShift, fields), [""; 0]);
    }
}
