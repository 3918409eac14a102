//! The shape of the repository: what ARCHITECTURE.md calls invariants, checked on the sources and manifests.
//!
//! Each check is a function of its inputs, with a test beside it that shows it fail when provoked.

mod codes;
mod documents;
mod examples;
mod layers;
mod orphans;
mod purity;
mod source;
mod words;
