//! A server of canned answers, to see what the command asks of a real one.
//!
//! It speaks just enough HTTP/1.1 for one request a connection. That the real server gives such
//! answers is shown where the real server is tested.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as it came in.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    /// Method and path, as in `GET /api`.
    pub(crate) line: String,
    /// Who the client says that it is; empty if it does not.
    pub(crate) authorization: String,
    pub(crate) body: String,
}

/// What a request gets.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    warning: Option<&'static str>,
    body: String,
}

/// What requests get, by method and path.
type Answers = HashMap<String, VecDeque<Answer>>;

/// The server, and a kubeconfig that leads to it with namespace `here`.
pub(crate) struct Server {
    received: Arc<Mutex<Vec<Received>>>,
    pub(crate) kubeconfig: PathBuf,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Answer {
    pub(crate) fn ok(body: &str) -> Self {
        Answer { status: 200, warning: None, body: body.to_owned() }
    }

    pub(crate) fn status(status: u16, body: &str) -> Self {
        Answer { status, warning: None, body: body.to_owned() }
    }

    pub(crate) fn warning(mut self, text: &'static str) -> Self {
        self.warning = Some(text);
        self
    }
}

impl Server {
    /// Serves `answers` by method and path, those of one path one after the other and the last again and again. What
    /// has none is answered as `*`, or else with 404 and no Status.
    pub(crate) fn start(answers: &[(&str, Answer)]) -> Self {
        let mut queues = Answers::new();
        for (line, answer) in answers {
            queues.entry((*line).to_owned()).or_default().push_back(answer.clone());
        }
        let mut answers = queues;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        thread::spawn(move || {
            for stream in listener.incoming() {
                // A connection that ends early is the client's business.
                let _ = serve(&stream.unwrap(), &mut answers, &log);
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("config");
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
             clusters: [{{name: c, cluster: {{server: 'http://{address}'}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, user: u, namespace: here}}}}]\n\
             users: [{{name: u, user: {{}}}}]\n"
        );
        std::fs::write(&kubeconfig, text).unwrap();
        Server { received, kubeconfig, address, _folder: folder }
    }

    /// Where it serves, without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, in order.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

/// Reads one request, notes it and answers it.
fn serve(stream: &TcpStream, answers: &mut Answers, log: &Mutex<Vec<Received>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let line = first.rsplit_once(' ')?.0.to_owned();
    let (mut length, mut authorization) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
        if name.eq_ignore_ascii_case("authorization") {
            authorization = value.trim().to_owned();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    log.lock().unwrap().push(Received { line: line.clone(), authorization, body });
    let missing = Answer::status(404, "404 page not found");
    let line = if answers.contains_key(&line) { &line } else { "*" };
    let answer = match answers.get_mut(line) {
        Some(queue) if queue.len() > 1 => queue.pop_front()?,
        Some(queue) => queue.front()?.clone(),
        None => missing,
    };
    let warning = answer.warning.map(|text| format!("Warning: 299 - \"{text}\"\r\n"));
    let head = format!(
        "HTTP/1.1 {} X\r\nContent-Type: application/json\r\nConnection: close\r\n{}Content-Length: {}\r\n\r\n",
        answer.status,
        warning.unwrap_or_default(),
        answer.body.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(answer.body.as_bytes()).ok()
}
