//! Formwork API groups.
