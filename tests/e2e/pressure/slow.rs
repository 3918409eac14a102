//! Clients that take their time, before a replica with the timeouts that it has for users.

use std::time::Duration;

use ::tests::client::{PATIENCE, Protocol, Request};
use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, interval, timeout};

use crate::door::{Door, templates};

/// How long they may take: 10 s for TLS, 32 s for headers, and as much again before this counts as never.
const HANDSHAKE: Duration = Duration::from_secs(10);
const HEADERS: Duration = Duration::from_secs(32);

#[tokio::test]
async fn who_is_too_slow_is_cut_off_and_others_are_served() -> Result<()> {
    let door = Door::new()?;
    let client = door.client(None)?;
    let mut slow = Vec::new();
    for _ in 0..50 {
        let silent = TcpStream::connect(&door.address).await?;
        slow.push(tokio::spawn(cut_off(silent, b"", HANDSHAKE)));
        // A record that says it has 512 bytes more.
        let half = TcpStream::connect(&door.address).await?;
        slow.push(tokio::spawn(cut_off(
            half,
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            HANDSHAKE,
        )));
    }
    for _ in 0..10 {
        let trickling = client.clone().speaking(Protocol::Http1).dial().await?;
        slow.push(tokio::spawn(cut_off(trickling, b"GET /livez HTTP/1.1\r\nx: ", HEADERS)));
        let silent = client.clone().speaking(Protocol::Http1).dial().await?;
        slow.push(tokio::spawn(cut_off(silent, b"", HEADERS)));
    }
    let list = Request::get(templates("default"));
    let mut quick = door.master()?.connect(Protocol::Http2).await?;
    while !slow.iter().all(tokio::task::JoinHandle::is_finished) {
        assert_eq!(quick.send(&list).await?.status, 200);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    for client in slow {
        client.await??;
    }
    Ok(())
}

/// Says `first`, then, if that is something, a byte more every second, until the server closes.
async fn cut_off<S>(stream: S, first: &'static [u8], longest: Duration) -> Result<()>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let begun = Instant::now();
    let (mut reader, mut writer) = tokio::io::split(stream);
    writer.write_all(first).await?;
    let trickle = async {
        let mut seconds = interval(Duration::from_secs(1));
        loop {
            seconds.tick().await;
            let piece: &[u8] = if first.is_empty() { b"" } else { b"a" };
            if writer.write_all(piece).await.is_err() || writer.flush().await.is_err() {
                return std::future::pending::<()>().await;
            }
        }
    };
    let mut said = Vec::new();
    let closed = timeout(longest + PATIENCE, reader.read_to_end(&mut said));
    tokio::select! {
        closed = closed => { let _ = closed.context("a slow client is served for ever")?; }
        () = trickle => {}
    }
    ensure!(begun.elapsed() >= longest / 2, "cut off after {:?}", begun.elapsed());
    Ok(())
}
