//! A stream that is closed without taking back what it has just sent.
//!
//! A socket that is closed while data of the client lies unread answers with a reset, and a reset
//! makes the client's kernel forget what the client has not read yet: the last answer. On HTTP/2
//! there is nearly always something on its way, such as the acknowledgement of a GOAWAY. So after
//! its own end the server reads on, for a moment, until the client has ended too.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long the client may take to end. Go waits as long.
const LONGEST: Duration = Duration::from_secs(1);

/// A stream whose shutdown lingers.
pub(super) struct Lingering<S> {
    stream: S,
    /// Set once the server's own end is sent.
    until: Option<Pin<Box<Sleep>>>,
}

impl<S> Lingering<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, until: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, until } = &mut *self;
        if until.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
        }
        let until = until.get_or_insert_with(|| Box::pin(sleep(LONGEST)));
        let mut discarded = [0; 4096];
        loop {
            if until.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut discarded);
            let read = ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    #[tokio::test(start_paused = true)]
    async fn an_end_waits_for_the_other_end_but_not_for_ever() {
        let (ours, mut theirs) = duplex(64);
        let mut ours = Lingering::new(ours);
        let client = tokio::spawn(async move {
            let mut all = String::new();
            theirs.read_to_string(&mut all).await.unwrap();
            theirs.write_all(b"late").await.unwrap();
            all
        });
        ours.write_all(b"answer").await.unwrap();
        let started = tokio::time::Instant::now();
        ours.shutdown().await.unwrap();
        assert!(started.elapsed() < LONGEST);
        assert_eq!(client.await.unwrap(), "answer");

        let (ours, _silent) = duplex(64);
        Lingering::new(ours).shutdown().await.unwrap();
        assert!(started.elapsed() >= LONGEST);
    }
}
