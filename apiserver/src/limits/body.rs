//! A request body that ends with an error where the limit is passed.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt as _;

use crate::status::Error;

/// The body of a request, at most so many bytes of it.
///
/// The limit holds while the body streams in, so a client that sends more than it declared, or
/// declares nothing, costs no more than one that is honest.
#[derive(Debug)]
pub struct Body {
    source: Source,
    limit: usize,
    seen: usize,
}

#[derive(Debug)]
enum Source {
    Wire(hyper::body::Incoming),
    Memory(http_body_util::Full<Bytes>),
}

impl Body {
    /// A body as it comes from a connection.
    pub fn new(incoming: hyper::body::Incoming, limit: usize) -> Self {
        Self { source: Source::Wire(incoming), limit, seen: 0 }
    }

    /// The whole body.
    ///
    /// # Errors
    /// 413 when it is longer than the limit, 400 when the client breaks off.
    pub async fn read(self) -> Result<Bytes, Error> {
        if self.size_hint().lower() > self.limit as u64 {
            return Err(Error::too_large(self.limit));
        }
        match self.source {
            // Nothing to wait for, and nothing to copy.
            Source::Memory(full) => match full.collect().await {
                Ok(collected) => Ok(collected.to_bytes()),
                Err(never) => match never {},
            },
            Source::Wire(_) => Ok(self.collect().await?.to_bytes()),
        }
    }
}

/// A body in memory: for tests, and for callers without a connection. The limit is its length.
impl<T: Into<Bytes>> From<T> for Body {
    fn from(content: T) -> Self {
        let content = content.into();
        let limit = content.len();
        Self { source: Source::Memory(http_body_util::Full::new(content)), limit, seen: 0 }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = match &mut self.source {
            Source::Memory(full) => Pin::new(full).poll_frame(cx).map_err(|never| match never {}),
            Source::Wire(incoming) => Pin::new(incoming).poll_frame(cx).map_err(|error| {
                Error::bad_request(format!("the body of the request could not be read: {error}"))
            }),
        };
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            self.seen += frame.data_ref().map_or(0, Bytes::len);
            if self.seen > self.limit {
                return Poll::Ready(Some(Err(Error::too_large(self.limit))));
            }
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Memory(full) => full.is_end_stream(),
            Source::Wire(incoming) => incoming.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Memory(full) => full.size_hint(),
            Source::Wire(incoming) => incoming.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_up_to_the_limit_is_read_and_a_longer_one_refused() {
        let mut body = Body::from("four");
        assert_eq!(Body::from("four").read().await.unwrap(), "four");
        body.limit = 3;
        assert_eq!(body.read().await.unwrap_err(), Error::too_large(3));
    }
}
