//! From objects of the API to the processor and back.

use apiserver::field;
use apiserver::limits::heavy;
use apiserver::object::{Fields, Object};
use apiserver::status::{Error, Subject};
use processor::{Dialect, Errors, Overrides, Random, Template, Values};
use rand::TryRng as _;
use rand::rngs::SysRng;

use super::kinds;

/// Reads the fields of an object as a template and hands it on.
///
/// # Errors
/// 500, when an object that its schema accepted is not a template after all; those of `with`.
pub(super) fn with_template<T>(
    dialect: Dialect,
    object: &Object,
    with: impl FnOnce(&Template<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let body = object.fields.to_json();
    let template = Template::parse(&body, dialect)
        .map_err(|error| Error::bad_request(format!("the template is not readable: {error}")))?;
    with(&template)
}

/// Processes an object with `overrides`: the same object with other fields, and warnings.
///
/// # Errors
/// 422 with everything that is wrong with parameters and objects.
pub(super) async fn process(
    dialect: Dialect,
    object: Object,
    overrides: Overrides,
) -> Result<(Object, Vec<String>), Error> {
    let size = object.fields.as_str().len();
    heavy(size, move || process_now(dialect, object, &overrides)).await?
}

fn process_now(
    dialect: Dialect,
    object: Object,
    overrides: &Overrides,
) -> Result<(Object, Vec<String>), Error> {
    let (fields, warnings) = with_template(dialect, &object, |template| {
        let refuse = |errors: &Errors| invalid(dialect, &object.meta.name, errors);
        // The proposal's values settle all that is wrong at once, names too.
        if dialect == Dialect::OpenShift {
            let names = processor::validate(template);
            if !names.is_empty() {
                return Err(refuse(&names));
            }
        }
        let values = Values::resolve(template, overrides, &mut OsRandom::default())
            .map_err(|errors| refuse(&errors))?;
        let processed = processor::process(template, &values).map_err(|errors| refuse(&errors))?;
        let mut out = Vec::new();
        processed.write_fields(&mut out);
        let fields = String::from_utf8(out).map_err(Error::internal)?;
        Ok((Fields::new(fields), processed.warnings().to_vec()))
    })?;
    Ok((Object { fields, ..object }, warnings))
}

fn invalid(dialect: Dialect, name: &str, errors: &Errors) -> Error {
    let (group, _, _) = kinds::api(dialect);
    Error::invalid(Subject { group, kind: "Template" }, name, &to_field_errors(errors))
}

/// The processor's errors in the words of the API.
pub(super) fn to_field_errors(errors: &Errors) -> Vec<field::Error> {
    errors.iter().map(to_field_error).collect()
}

fn to_field_error(error: &processor::FieldError) -> field::Error {
    use processor::Reason;
    let problem = match &error.reason {
        Reason::Required => field::Problem::Required,
        Reason::Invalid { value } => field::Problem::Invalid(value.clone()),
        Reason::NotSupported { value, supported } => {
            field::Problem::NotSupported(value.clone(), supported.clone())
        }
        Reason::Forbidden => field::Problem::Forbidden,
        Reason::NotFound { value } => field::Problem::NotFound(value.clone()),
        Reason::Duplicate { value } => field::Problem::Duplicate(value.clone()),
        Reason::UnknownParameter { name } => {
            return field::Error {
                field: format!("values[{name}]"),
                problem: field::Problem::NotFound(field::quote(name)),
                detail: "the template has no such parameter".to_owned(),
            };
        }
        Reason::TooLong => field::Problem::TooLong(processor::MAX_PROCESSED),
    };
    field::Error { field: error.field.clone(), problem, detail: error.detail.clone() }
}

/// The operating system's random numbers: generated values are passwords. They are fetched a few
/// dozen at a time, as each visit to the kernel costs more than a character is worth.
#[derive(Default)]
pub(super) struct OsRandom {
    numbers: [u32; 32],
    left: usize,
}

impl OsRandom {
    fn next(&mut self) -> u32 {
        if self.left == 0 {
            let mut bytes = [0; 4 * 32];
            SysRng.try_fill_bytes(&mut bytes).expect("the system has random numbers");
            let (words, _) = bytes.as_chunks::<4>();
            for (number, word) in self.numbers.iter_mut().zip(words) {
                *number = u32::from_ne_bytes(*word);
            }
            self.left = self.numbers.len();
        }
        self.left -= 1;
        self.numbers[self.left]
    }
}

impl Random for OsRandom {
    fn below(&mut self, bound: u32) -> u32 {
        // Numbers past the last whole multiple of the bound would favour the small remainders.
        let limit = u32::MAX - u32::MAX % bound;
        loop {
            let number = self.next();
            if number < limit {
                return number % bound;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use apiserver::meta::ObjectMeta;

    use super::*;

    #[test]
    fn random_numbers_stay_below_their_bound_and_reach_it() {
        let mut random = OsRandom::default();
        let mut seen = [false; 3];
        for _ in 0..200 {
            seen[random.below(3) as usize] = true;
        }
        assert_eq!(seen, [true; 3]);
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn everything_wrong_with_template_and_values_is_a_cause_of_one_answer() {
        let fields = r#""objects":[{"apiVersion":"v1","kind":"K","spec":{"containers":[
                {"env":[{"name":"A"}],"args":["x","$(A)"]}]},"v":"$(B)"}],"labels":{"l":"a b"},
            "parameters":[{"name":"A","type":"int"},{"name":"B","enum":["x"],"required":true},{"name":"U"}]"#;
        let object = Object { meta: ObjectMeta::default(), fields: Fields::new(fields.to_owned()) };
        let overrides = [("A", "1.5"), ("B", "y"), ("NO", "1")].into_iter().collect();
        let error = process_now(Dialect::Proposal, object, &overrides).unwrap_err();
        let causes = error.details().unwrap().causes.iter();
        let causes: Vec<_> = causes.map(|cause| (&*cause.field, &*cause.reason)).collect();
        assert_eq!(
            causes,
            [
                ("values[NO]", "FieldValueNotFound"),
                ("values[A]", "FieldValueInvalid"),
                ("values[B]", "FieldValueNotSupported"),
                ("labels[l]", "FieldValueInvalid"),
                ("objects[0].spec.containers[0].args[1]", "FieldValueInvalid"),
                ("parameters[2].name", "FieldValueInvalid"),
            ]
        );
    }
}
