//! One child: a channel to it, a way to kill it, and its end.

use std::io;
use std::os::fd::OwnedFd;

use protocol::{FrameError, HEADER, length};
use rustix::process::{Signal, pidfd_send_signal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::End;

/// How much memory is taken for bytes that have not arrived yet.
const AHEAD: usize = 64 << 10;

/// A child that was ordered.
pub(crate) struct Child {
    channel: UnixStream,
    pidfd: oneshot::Receiver<OwnedFd>,
    /// The pidfd, when it has come.
    started: Option<OwnedFd>,
    end: oneshot::Receiver<End>,
}

/// What came of a call, as far as the channel goes.
#[derive(Debug)]
pub(crate) enum Said {
    /// A frame's body. Whatever follows it is not read.
    Frame(Vec<u8>),
    /// A header that cannot be true, or not be granted.
    Unacceptable(FrameError),
    /// Nothing, or not all of a frame, and then the end.
    Nothing,
    /// Not enough in time.
    Late,
    /// Nobody wants to know any more.
    Unwanted,
}

impl Child {
    pub(super) fn new(
        channel: UnixStream,
        pidfd: oneshot::Receiver<OwnedFd>,
        end: oneshot::Receiver<End>,
    ) -> Self {
        Self { channel, pidfd, started: None, end }
    }

    /// Sends a call and reads one frame of at most `limit` bytes. Reads while it writes: a child may answer before it
    /// has heard all.
    pub(crate) async fn ask(
        &mut self,
        frame: &[u8],
        limit: usize,
        until: Instant,
        unwanted: impl Future<Output = ()>,
    ) -> Said {
        let (mut reader, mut writer) = self.channel.split();
        let write = async {
            // A child that does not listen has its say, or its end, on the other side.
            let _ = writer.write_all(frame).await;
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            said = read(&mut reader, limit) => said,
            () = write => unreachable!("it waits for ever once it has written"),
            () = sleep_until(until) => Said::Late,
            () = unwanted => Said::Unwanted,
        }
    }

    /// Kills it and waits until it is gone. No end is told when the worker died first.
    pub(crate) async fn kill(mut self) -> Option<End> {
        // Closed first, so that whatever it still writes fails.
        drop(self.channel);
        loop {
            tokio::select! {
                biased;
                end = &mut self.end => {
                    if end.is_err() && let Some(started) = &self.started {
                        signal(started);
                    }
                    return end.ok();
                }
                Ok(pidfd) = &mut self.pidfd, if self.started.is_none() => {
                    signal(&pidfd);
                    self.started = Some(pidfd);
                }
            }
        }
    }

    /// Waits until it is gone by itself, having ended its channel; kills it when it takes longer than `until`.
    pub(crate) async fn end(mut self, until: Instant) -> Option<End> {
        tokio::select! {
            biased;
            end = &mut self.end => end.ok(),
            () = sleep_until(until) => self.kill().await,
        }
    }

    /// Whether it is there still, as far as is known, and has nothing to say unasked.
    pub(crate) fn lives(&mut self) -> bool {
        let quiet = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
        matches!(self.end.try_recv(), Err(oneshot::error::TryRecvError::Empty))
            && self.channel.try_read(&mut [0]).is_err_and(|error| quiet(&error))
    }
}

/// It may be gone already, which is as good.
fn signal(pidfd: &OwnedFd) {
    let _ = pidfd_send_signal(pidfd, Signal::KILL);
}

async fn read(reader: &mut (impl tokio::io::AsyncRead + Unpin), limit: usize) -> Said {
    let mut header = [0; HEADER];
    if reader.read_exact(&mut header).await.is_err() {
        return Said::Nothing;
    }
    let length = match length(header, limit) {
        Ok(length) => length,
        Err(error) => return Said::Unacceptable(error),
    };
    // Memory is taken as bytes arrive, not as they are announced.
    let mut body = Vec::new();
    match read_body(reader, &mut body, length).await {
        Ok(()) => Said::Frame(body),
        Err(_) => Said::Nothing,
    }
}

async fn read_body(
    reader: &mut (impl tokio::io::AsyncRead + Unpin),
    body: &mut Vec<u8>,
    length: usize,
) -> io::Result<()> {
    let mut reader = reader.take(length as u64);
    while body.len() < length {
        body.reserve(AHEAD.min(length - body.len()));
        if reader.read_buf(body).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}
