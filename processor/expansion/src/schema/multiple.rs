//! `multipleOf` with Python's arithmetic, which is that of binary floats: 0.3 is no multiple of 0.1.
//!
//! The `jsonschema` crate reckons in decimals instead, and takes values that Deployment Manager refused.

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Number, Value};

/// What a number has to be a multiple of; more than 0.
struct MultipleOf(Number);

/// The keyword of a schema that is valid.
pub(super) fn compile<'a>(
    _schema: &'a Map<String, Value>,
    factor: &'a Value,
    _place: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    match factor {
        Value::Number(factor) => Ok(Box::new(MultipleOf(factor.clone()))),
        other => Err(ValidationError::custom(format!("{other} is not of type 'number'"))),
    }
}

impl<'i> Keyword<'i> for MultipleOf {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        match value {
            Value::Number(number) if !holds(number, &self.0) => {
                Err(ValidationError::custom(format!("{number} is not a multiple of {}", self.0)))
            }
            _ => Ok(()),
        }
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        value.as_number().is_none_or(|number| holds(number, &self.0))
    }
}

/// As Python has it: the quotient by a float is whole, or nothing remains of a division by an integer.
fn holds(number: &Number, factor: &Number) -> bool {
    if let (Some(number), Some(factor)) = (number.as_i128(), factor.as_i128()) {
        return number.checked_rem(factor) == Some(0);
    }
    let (Some(number), Some(divisor)) = (number.as_f64(), factor.as_f64()) else { return false };
    let rest = if factor.is_f64() { (number / divisor).fract() } else { number % divisor };
    // A quotient beyond all floats has no fraction, not even 0.
    rest == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_those_of_binary_floats() {
        let holds = |number: &str, factor: &str| {
            holds(&serde_json::from_str(number).unwrap(), &serde_json::from_str(factor).unwrap())
        };
        for (number, factor) in [
            ("6", "3"),
            ("-6", "3"),
            ("0", "7"),
            ("6.0", "3"),
            ("4.5", "1.5"),
            ("0.5", "0.1"),
            ("18446744073709551615", "5"),
        ] {
            assert!(holds(number, factor), "{number} {factor}");
        }
        for (number, factor) in [
            ("7", "3"),
            ("6.5", "3"),
            ("0.3", "0.1"),
            ("1e300", "1e-300"),
            ("18446744073709551615", "2"),
            ("1", "0"),
        ] {
            assert!(!holds(number, factor), "{number} {factor}");
        }
    }
}
