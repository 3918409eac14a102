//! How many bytes may be fetched together.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::Uri;

use super::client::{Ask, Client};

/// How many bytes all of it may have.
const BYTES: usize = 16 << 20;

/// A client for one errand, which counts whatever is brought on it.
pub(crate) struct Counted<'a> {
    client: &'a Client,
    bytes: AtomicUsize,
}

impl<'a> Counted<'a> {
    /// One that has brought nothing yet.
    pub(crate) fn new(client: &'a Client) -> Self {
        Self { client, bytes: AtomicUsize::new(0) }
    }

    /// The text at a URL; none when there is none.
    ///
    /// # Errors
    /// As [`Client::get`], and when it is too much.
    pub(crate) async fn get(&self, url: &Uri, ask: Ask<'_>) -> Result<Option<String>, String> {
        let text = self.client.get(url, ask).await?;
        self.count(text.as_deref().unwrap_or_default())?;
        Ok(text)
    }

    /// Counts a text that was at hand.
    ///
    /// # Errors
    /// When it is too much.
    pub(crate) fn count(&self, text: &str) -> Result<(), String> {
        let more = text.len();
        if self.bytes.fetch_add(more, Ordering::Relaxed) + more > BYTES {
            return Err(format!("with it, files of more than {BYTES} bytes are fetched"));
        }
        Ok(())
    }
}
