//! What the tests of the whole share: servers and a real control plane, clients, and the corpora.
//!
//! It knows nothing of templates but under which names they are registered, and holds no assertion of its own.

pub mod authority;
pub mod client;
pub mod clients;
pub mod cluster;
pub mod corpus;
pub mod exchanges;
pub mod family;
pub mod files;
pub mod github;
pub mod installation;
pub mod kubectl;
pub mod kubelet;
pub mod load;
pub mod process;
pub mod replica;
pub mod server;
