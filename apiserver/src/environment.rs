//! Time and chance, as arguments: what makes two runs of the server differ.

use jiff::Timestamp;
use rand::RngExt as _;

/// Where the server takes the time and random values from.
pub trait Environment: Send + Sync + 'static {
    /// The present time.
    fn now(&self) -> Timestamp;

    /// A uid that no object had before.
    fn uid(&self) -> String;

    /// `length` random characters for the end of a name.
    fn name_suffix(&self, length: usize) -> String;
}

/// The system's clock and random numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

/// Without vowels and look-alikes, so that no suffix is a word or misread (apimachinery `util/rand`).
const SUFFIX_ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

impl Environment for System {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn uid(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }

    fn name_suffix(&self, length: usize) -> String {
        let mut rng = rand::rng();
        (0..length)
            .map(|_| char::from(SUFFIX_ALPHABET[rng.random_range(0..SUFFIX_ALPHABET.len())]))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_made_of_the_alphabet() {
        let suffix = System.name_suffix(5);
        assert_eq!(suffix.len(), 5);
        assert!(suffix.bytes().all(|byte| SUFFIX_ALPHABET.contains(&byte)));
    }
}
