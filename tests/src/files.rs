//! Files that are served on loopback in plain HTTP, for whoever fetches templates.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;

/// What a server was asked for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The path, with the query.
    pub path: String,
    /// The headers; their names are in lower case.
    pub headers: BTreeMap<String, String>,
}

/// A code with its phrase, and a body.
pub type Answer = (&'static str, String);

/// A server of files. It serves as long as the process lives, one request on each connection.
#[derive(Clone, Debug)]
pub struct Files {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Files {
    /// Serves these files, by their paths.
    ///
    /// # Errors
    /// When there is no port.
    pub fn serve(files: &[(&str, String)]) -> Result<Self> {
        Self::serve_after(Duration::ZERO, |_| files.to_vec())
    }

    /// Serves files that may name the server's own address, such as `http://127.0.0.1:1234`, each after a while.
    ///
    /// # Errors
    /// As [`Files::serve`].
    pub fn serve_after<'a>(
        delay: Duration,
        files: impl FnOnce(&str) -> Vec<(&'a str, String)>,
    ) -> Result<Self> {
        Self::serve_by(|host| {
            let files = files(host).into_iter();
            let files: BTreeMap<_, _> = files.map(|(path, text)| (path.to_owned(), text)).collect();
            move |asked: &Asked| {
                std::thread::sleep(delay);
                match files.get(&asked.path) {
                    Some(text) => ("200 OK", text.clone()),
                    None => ("404 Not Found", String::new()),
                }
            }
        })
    }

    /// Serves whatever `answers` makes of the server's own address.
    ///
    /// # Errors
    /// As [`Files::serve`].
    pub fn serve_by<A>(answers: impl FnOnce(&str) -> A) -> Result<Self>
    where
        A: Fn(&Asked) -> Answer + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let served = Self { address: listener.local_addr()?, asked: Arc::default() };
        let (answers, log) = (Arc::new(answers(&served.host())), served.asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, log) = (answers.clone(), log.clone());
                // Whoever asks and goes away is no error of this server.
                std::thread::spawn(move || answer(stream, &*answers, &log));
            }
        });
        Ok(served)
    }

    /// `http://HOST:PORT`.
    pub fn host(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The URL of the file at `path`.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.host())
    }

    /// The paths that were asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn answer(
    mut stream: TcpStream,
    answers: &impl Fn(&Asked) -> Answer,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let lines = BufReader::new(stream.try_clone()?).lines();
    let head: Vec<String> =
        lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let request = head.first().map(String::as_str).unwrap_or_default();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    log.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
    let headers = head.iter().skip(1).filter_map(|line| line.split_once(": "));
    let headers =
        headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    let (code, body) = answers(&Asked { path, headers });
    let length = body.len();
    write!(stream, "HTTP/1.1 {code}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}
