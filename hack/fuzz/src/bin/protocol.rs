//! What the expander and its worker say to each other, read by both sides: packets, frames and their bodies.

#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::claims;

fuzz_target!(|input: &[u8]| {
    claims::packet(input);
    claims::frames(input);
    claims::body(input);
});
