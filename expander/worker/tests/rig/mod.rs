//! A worker to speak with: the real program, on a control socket, as the expander starts it.

use std::collections::BTreeMap;
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use expansion::{Call, Fault, Import, Language, Map, Value};
use protocol::{Answer, Ask, Bounds, Ended, HEADER, Mode, Notice, Order};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

/// Bytes of an answer that tests allow.
pub const OUTPUT: usize = 4 << 20;

pub struct Worker {
    pub process: Child,
    control: OwnedFd,
    pub layers: u32,
    next: u64,
}

impl Worker {
    pub fn start(options: &[&str]) -> Self {
        let (ours, theirs) = pair(SocketType::SEQPACKET);
        let process = Command::new(env!("CARGO_BIN_EXE_formwork-expander"))
            .arg("--worker")
            .args(options)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .spawn()
            .unwrap();
        let mut worker = Self { process, control: ours, layers: 0, next: 0 };
        match worker.notice().0 {
            Notice::Ready { layers, .. } => worker.layers = layers,
            other => panic!("{other:?} before it was ready"),
        }
        worker
    }

    pub fn order(&self, order: Order, along: Option<&OwnedFd>) {
        let descriptors: Vec<_> = along.iter().map(|one| one.as_fd()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if along.is_some() {
            ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        let packet = order.encode();
        sendmsg(&self.control, &[IoSlice::new(&packet)], &mut ancillary, SendFlags::NOSIGNAL)
            .unwrap();
    }

    pub fn notice(&self) -> (Notice, Option<OwnedFd>) {
        self.try_notice().unwrap().expect("the worker is there")
    }

    /// `None`: the worker is gone.
    pub fn try_notice(&self) -> io::Result<Option<(Notice, Option<OwnedFd>)>> {
        let mut packet = [0; 64];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut along = RecvAncillaryBuffer::new(&mut space);
        let into = &mut [IoSliceMut::new(&mut packet)];
        let received = recvmsg(&self.control, into, &mut along, RecvFlags::CMSG_CLOEXEC)?;
        if received.bytes == 0 {
            return Ok(None);
        }
        let descriptor = along.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        Ok(Some((Notice::decode(&packet[..received.bytes]).unwrap(), descriptor)))
    }

    /// A child that runs: its channel and its pidfd.
    pub fn child(&mut self, session: bool) -> (UnixStream, OwnedFd) {
        let (ours, theirs) = pair(SocketType::STREAM);
        let id = self.next;
        self.next += 1;
        self.order(Order::Start { id, session }, Some(&theirs));
        drop(theirs);
        let (notice, pidfd) = self.notice();
        assert_eq!(notice, Notice::Started { id });
        let ours = UnixStream::from(ours);
        ours.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        (ours, pidfd.expect("a pidfd"))
    }

    pub fn ended(&self) -> Ended {
        match self.notice().0 {
            Notice::Ended(ended) => ended,
            other => panic!("{other:?} and not the end"),
        }
    }

    /// One call in a child of its own, and how that ended.
    pub fn call(&mut self, ask: &Ask) -> (Option<Answer>, Ended) {
        let (mut channel, _pidfd) = self.child(false);
        let answer = exchange(&mut channel, ask);
        drop(channel);
        (answer, self.ended())
    }

    pub fn answer(&mut self, ask: &Ask) -> Answer {
        match self.call(ask) {
            (Some(answer), ended) => {
                assert_eq!(ended.code, Some(0), "{ended:?}");
                answer
            }
            (None, ended) => panic!("no answer: {ended:?}"),
        }
    }

    pub fn fault(&mut self, source: &str) -> Fault {
        match self.answer(&python(source)) {
            Answer::Fault(fault) => fault,
            other => panic!("{source} gives {other:?}"),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn pair(kind: SocketType) -> (OwnedFd, OwnedFd) {
    socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).unwrap()
}

/// Asks and waits for the answer; `None` when the channel is closed instead.
pub fn exchange(channel: &mut UnixStream, ask: &Ask) -> Option<Answer> {
    let body = serde_json::to_vec(ask).unwrap();
    channel.write_all(&protocol::encode(&body, 1 << 30).unwrap()).ok()?;
    let mut header = [0; HEADER];
    channel.read_exact(&mut header).ok()?;
    let mut body = vec![0; protocol::length(header, OUTPUT).unwrap()];
    channel.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).unwrap())
}

/// An ask for a Python template.
pub fn python(source: &str) -> Ask {
    ask(Language::Python, &[("t.py", source)])
}

/// An ask for the first of these files.
pub fn ask(language: Language, files: &[(&str, &str)]) -> Ask {
    let imports = files
        .iter()
        .map(|(name, content)| {
            ((*name).to_owned(), Import { path: String::new(), content: (*content).into() })
        })
        .collect();
    let template = files[0].0.to_owned();
    let text = |text: &str| Value::String(text.to_owned());
    let properties = Value::from_json(r#"{"size": 2}"#).unwrap();
    let resource = Map::from_iter([
        ("name".to_owned(), text("n")),
        ("type".to_owned(), text(&template)),
        ("properties".to_owned(), properties),
    ]);
    let env =
        Map::from_iter([("deployment".to_owned(), text("d")), ("name".to_owned(), text("n"))]);
    Ask {
        mode: Mode::Render,
        call: Call { id: 1, language, template, resource, env, imports: Arc::new(imports) },
        code: BTreeMap::new(),
        bounds: Bounds { fuel: 100_000, output: OUTPUT },
        now: 1_451_606_400,
        seed: 7,
    }
}

/// The source of a template that does this and returns what `result` says.
pub fn template(body: &str) -> String {
    let body = body.replace('\n', "\n  ");
    format!("def GenerateConfig(context):\n  {body}\n")
}
