//! What the expander and its worker say to each other.
//!
//! Two conversations. On the *control* socket (SEQPACKET, the worker's standard input) one message is one packet: the
//! expander asks for children, the worker reports their lives. On a *channel*, one stream socket for each child, there
//! are frames: a length of four bytes, big end first, and that many bytes of JSON. The worker's side of a channel belongs
//! to code that nobody trusts: every length, number and text in it is a claim.

#[cfg(any(test, fuzzing))]
pub mod claims;
mod control;
mod frame;
mod message;

pub use control::{Ended, Notice, Order, Unreadable, WALLS};
pub use frame::{FrameError, HEADER, encode, length};
pub use message::{Answer, Ask, Bounds, Mode};
