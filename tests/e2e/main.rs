//! The server as its users meet it: through the real kubectl, under malformed input, and over crashes.

mod kubectl;
mod reading;
mod templates;
mod watching;
mod writing;
