//! The process that templates run in.

fn main() {}
