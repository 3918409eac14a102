//! An answer, as the layers hand it on.

/// The body of an answer.
pub use axum::body::Body as ResponseBody;

/// An answer.
pub type Response = http::Response<ResponseBody>;
