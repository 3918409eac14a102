//! What the tests of the whole share: a running server, a client that says exactly what it is told, and the corpora.
//!
//! It knows nothing of templates, and holds no assertion of its own.

pub mod client;
pub mod corpus;
pub mod server;
