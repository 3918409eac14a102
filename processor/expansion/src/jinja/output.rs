//! Where rendered text goes: a buffer that refuses to grow beyond its bound.

use std::io::{Error, Write};

/// Text of at most so many bytes.
pub(super) struct Bounded {
    text: Vec<u8>,
    most: usize,
}

impl Bounded {
    pub(super) fn new(most: usize) -> Self {
        Self { text: Vec::new(), most }
    }

    pub(super) fn into_text(self) -> String {
        String::from_utf8(self.text).expect("the engine writes text")
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        if bytes.len() > self.most - self.text.len() {
            return Err(Error::other("the text is too long"));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
