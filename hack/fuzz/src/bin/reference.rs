//! The parser of references, and the paths in them.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| expansion::claims::reference(input));
