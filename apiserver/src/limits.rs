//! Bounds on what one request may take: the body's size, its time, and the number of requests
//! that are worked on at once.

mod body;

pub use body::Body;
