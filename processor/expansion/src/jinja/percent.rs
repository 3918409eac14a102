//! Python's `%`: text with values in it, or the rest of a division.

use minijinja::formatting::{FormatStyle, format};
use minijinja::value::Value;
use minijinja::{Error, ErrorKind};

/// The filter that stands for `%`.
pub(super) fn percent(left: &Value, right: &Value) -> Result<Value, Error> {
    let Some(text) = left.as_str() else {
        return remainder(left, right);
    };
    let values = if right.is_tuple() { right.try_iter()?.collect() } else { vec![right.clone()] };
    format(FormatStyle::Printf, text, &values).map(Value::from)
}

/// With the sign of the divisor, as Python has it.
fn remainder(left: &Value, right: &Value) -> Result<Value, Error> {
    let failed = |what: String| Error::new(ErrorKind::InvalidOperation, what);
    let by_zero = || failed(format!("unable to calculate {left} % {right}"));
    if let (Ok(a), Ok(b)) = (i128::try_from(left.clone()), i128::try_from(right.clone())) {
        let rest = a.checked_rem_euclid(b).ok_or_else(by_zero)?;
        let rest = if b < 0 && rest != 0 { rest + b } else { rest };
        return Ok(i64::try_from(rest).map_or_else(|_| Value::from(rest), Value::from));
    }
    if let (Ok(a), Ok(b)) = (f64::try_from(left.clone()), f64::try_from(right.clone())) {
        if b == 0.0 {
            return Err(by_zero());
        }
        let rest = a % b;
        return Ok(Value::from(if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
            rest + b
        } else {
            rest
        }));
    }
    let (a, b) = (left.kind(), right.kind());
    Err(failed(format!("tried to use % operator on unsupported types {a} and {b}")))
}
