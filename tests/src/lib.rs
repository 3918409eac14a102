//! Tests of the whole; what they share.
