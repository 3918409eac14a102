//! The reader of configurations, and whole expansions whose templates give what the input says.

#![no_main]

use expansion::claims;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    // A part is a text of its own as well: each is read, and all together are an expansion.
    input.split(claims::SEPARATOR).for_each(claims::configuration);
    claims::expansion(input);
});
