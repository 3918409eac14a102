//! How long a text may get that is made of a short one, as by padding it. The output has a bound of its own.

use minijinja::{Error, ErrorKind};

/// The longest such text in bytes.
const LONGEST: usize = 16 << 20;

/// Refuses text that would be too long before it is made.
pub(super) fn bounded(length: usize) -> Result<(), Error> {
    if length > LONGEST {
        let message = format!("a text of {length} bytes is too long");
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    Ok(())
}
