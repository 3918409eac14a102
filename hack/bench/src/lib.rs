//! What the measurements of servers share: connections, closed loops of requests, watchers, and what the kernel says
//! of a process.

pub mod body;
pub mod client;
pub mod load;
pub mod print;
pub mod process;
pub mod server;
pub mod watchers;
