//! kubectl-formwork.
fn main() {}
