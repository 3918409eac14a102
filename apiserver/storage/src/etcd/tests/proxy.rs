//! A line to etcd that can be cut after a request has gone through and before its answer has.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(super) struct Proxy {
    pub(super) url: String,
    cut: Arc<AtomicBool>,
}

impl Proxy {
    /// A line to the etcd at `url`.
    pub(super) async fn to(url: &str) -> Self {
        let etcd: SocketAddr = url.strip_prefix("http://").unwrap().parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let cut = Arc::new(AtomicBool::new(false));
        let cutter = cut.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let etcd = TcpStream::connect(etcd).await.unwrap();
                tokio::spawn(carry(client, etcd, cutter.clone()));
            }
        });
        Self { url, cut }
    }

    /// Loses the next large answer, and the connection with it; lines made later are whole.
    pub(super) fn cut_next_answer(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }
}

async fn carry(client: TcpStream, etcd: TcpStream, cut: Arc<AtomicBool>) {
    let ((mut asks, mut hears), (mut answers, mut listens)) =
        (client.into_split(), etcd.into_split());
    let there = async { tokio::io::copy(&mut asks, &mut listens).await.map(drop) };
    let back = async {
        let mut buffer = vec![0; 64 << 10];
        let mut lost = 0;
        loop {
            let count = answers.read(&mut buffer).await?;
            let cuts = cut.load(Ordering::Relaxed);
            if count == 0 || lost > 0 && !cuts {
                return Ok(());
            }
            if !cuts {
                hears.write_all(&buffer[..count]).await?;
                continue;
            }
            // Frames about the connection are no answers: those carry headers and data, and are longer, be it in pieces.
            lost += count;
            if lost > 60 {
                cut.store(false, Ordering::Relaxed);
                return Ok(());
            }
        }
    };
    let _: Result<(), std::io::Error> = tokio::select! {
        ended = there => ended,
        ended = back => ended,
    };
}
