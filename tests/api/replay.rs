//! Plays one recorded scenario against a fresh server, in file order.
//!
//! What is not served yet by decision (strategic merge patch, apply) is left out, but its effect on the stored objects
//! is brought about by a PUT, so that what follows meets the state it was recorded in.

use std::collections::{BTreeMap, BTreeSet};

use ::tests::client::{Client, Request, Target};
use ::tests::server::Server;
use anyhow::{Context, Result};
use futures::future::join_all;
use http::Method;
use serde_json::Value;

use crate::binding::{Bindings, Revision};
use crate::compare::{Answer, Difference, compare};
use crate::recording::{Answered, Kind, Record};
use crate::rules::{self, Verdict};
use crate::state;
use crate::wire::{collect, perform, whole};

/// For a server's time that was never received.
const SOME_TIME: &str = "2026-01-01T00:00:00Z";

/// One exchange and what became of it.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub id: String,
    pub summary: String,
    pub verdict: Verdict,
    /// Recorded headers that ours differ from, as `name: recorded → ours`. Shown, not judged: they are not the body.
    pub headers: Vec<String>,
}

/// A scenario under way.
struct Replay<'a> {
    records: &'a BTreeMap<&'a str, &'a Record>,
    target: Target,
    bindings: Bindings,
    /// Answers' bodies by exchange, for the requests made from them.
    received: BTreeMap<String, Value>,
    performed: BTreeSet<String>,
    outcomes: Vec<Outcome>,
}

/// Replays `records`, all of one scenario.
pub(crate) async fn replay(records: &[&Record]) -> Result<Vec<Outcome>> {
    let server = tokio::task::spawn_blocking(Server::start).await??;
    let by_id = records.iter().map(|record| (record.id.as_str(), *record)).collect();
    let mut replay = Replay {
        records: &by_id,
        target: server.target()?,
        bindings: Bindings::default(),
        received: BTreeMap::new(),
        performed: BTreeSet::new(),
        outcomes: Vec::new(),
    };
    let mut rest = records;
    while let Some((record, after)) = rest.split_first() {
        // Watches that nothing happens under wait for their timeout: let a row of them wait together.
        let idle = rest.iter().take_while(|record| is_idle_watch(record)).count();
        if idle > 1 {
            replay.watch_together(&rest[..idle]).await?;
            rest = &rest[idle..];
            continue;
        }
        replay.step(record).await?;
        rest = after;
    }
    Ok(replay.outcomes)
}

impl Replay<'_> {
    async fn step(&mut self, record: &Record) -> Result<()> {
        if record.kind == Kind::Env || self.performed.contains(&record.id) {
            return Ok(());
        }
        if let Some(reason) = state::left_out(record) {
            self.settle(record).await?;
            self.conclude(record, Verdict::LeftOut(reason), Vec::new());
            return Ok(());
        }
        if record.kind == Kind::Watch && !record.during.is_empty() {
            let answer = self.watch_while_things_happen(record).await?;
            return self.judge(record, answer);
        }
        let request = self.request(record)?;
        let answer = perform(&self.client(&record.user), record, &request).await;
        let next = match &answer {
            Ok(answer) => state::aftermath(record, &request, answer)?,
            Err(_) => None,
        };
        self.judge(record, answer)?;
        if let Some(request) = next {
            let answer = perform(&self.client("admin"), record, &request).await;
            self.remember(record, &answer)?;
            if let Some(body) = answer?.body {
                self.received.insert(record.id.clone(), body);
            }
        }
        Ok(())
    }

    async fn watch_together(&mut self, watches: &[&Record]) -> Result<()> {
        let mut waiting = Vec::new();
        for &record in watches {
            let (client, request) = (self.client(&record.user), self.request(record)?);
            waiting.push(async move { perform(&client, record, &request).await });
        }
        for (record, answer) in watches.iter().zip(join_all(waiting).await) {
            self.judge(record, answer)?;
        }
        Ok(())
    }

    /// Opens the watch, performs what was recorded under it, then reads the events.
    async fn watch_while_things_happen(&mut self, record: &Record) -> Result<Result<Answer>> {
        let request = self.request(record)?;
        let client = self.client(&record.user);
        let expected = record.response()?.events.as_ref().map_or(0, Vec::len);
        let opened = client.open(&request).await;
        let mut answers = Vec::new();
        for id in &record.during {
            let record = *self.records.get(id.as_str()).context("a watch names its exchanges")?;
            let request = self.request(record)?;
            let answer = perform(&self.client(&record.user), record, &request).await;
            // Later requests use what earlier answers bind; the verdict comes after the watch's.
            self.remember(record, &answer)?;
            answers.push((record, answer));
        }
        let answer = match opened {
            Err(problem) => Err(problem),
            Ok(stream) => collect(stream, Some(expected)).await,
        };
        for (during, answer) in answers {
            self.performed.insert(during.id.clone());
            self.judge(during, answer)?;
        }
        Ok(answer)
    }

    fn client(&self, user: &str) -> Client {
        match user {
            "none" => self.target.anonymous(),
            "badtoken" => self.target.bearer("no-such-token"),
            user => self.target.bearer(&format!("{user}-token")),
        }
    }

    fn request(&self, record: &Record) -> Result<Request> {
        let asked = record.request()?;
        let mut path = self.bindings.fill(&asked.path);
        if state::leaves_no_trace(record) {
            path.push_str("?dryRun=All");
        }
        let mut request = Request::new(Method::from_bytes(asked.method.as_bytes())?, path);
        for (name, value) in &asked.headers {
            request = request.header(name, value);
        }
        request.body = self.body(record)?.into();
        Ok(request)
    }

    fn body(&self, record: &Record) -> Result<Vec<u8>> {
        let asked = record.request()?;
        if let Some(bytes) = asked.text()? {
            // Placeholders are text; bytes that are none go as they are.
            return Ok(match std::str::from_utf8(&bytes) {
                Ok(text) => self.bindings.fill(text).into_bytes(),
                Err(_) => bytes,
            });
        }
        let from =
            asked.body_from.as_ref().context("a body without text is made from an answer")?;
        let patch = self.bindings.fill(&from.json_patch.to_string());
        if let Some(mut body) = self.received.get(&from.exchange).cloned()
            && body["kind"] != "Status"
            && json_patch::patch(&mut body, &serde_json::from_str::<json_patch::Patch>(&patch)?)
                .is_ok()
        {
            return Ok(serde_json::to_vec(&body)?);
        }
        // That answer was a refusal, so the recorded one stands in for it.
        Ok(self.bindings.fill(&asked.shown()).replace("<time>", SOME_TIME).into_bytes())
    }

    /// Binds what the answer shows, before its verdict.
    fn remember(&mut self, record: &Record, answer: &Result<Answer>) -> Result<()> {
        if let Ok(answer) = answer {
            self.expect(record)?;
            compare(record.response()?, answer, &mut self.bindings);
        }
        Ok(())
    }

    fn expect(&mut self, record: &Record) -> Result<()> {
        self.bindings.generated.clone_from(&record.generated);
        self.bindings.tokens.clone_from(&record.response()?.continue_decoded);
        Ok(())
    }

    fn judge(&mut self, record: &Record, answer: Result<Answer>) -> Result<()> {
        self.expect(record)?;
        let mut headers = Vec::new();
        let verdict = match answer {
            Ok(answer) => {
                headers = other_headers(record.response()?, &answer, &mut self.bindings);
                if let Some(body) = &answer.body {
                    self.received.insert(record.id.clone(), body.clone());
                }
                rules::judge(record, &answer, &mut self.bindings)?
            }
            Err(problem) => Verdict::Unexplained(vec![Difference {
                path: "connection".to_owned(),
                want: None,
                got: Some(Value::from(format!("{problem:#}"))),
            }]),
        };
        self.conclude(record, verdict, headers);
        Ok(())
    }

    fn conclude(&mut self, record: &Record, verdict: Verdict, headers: Vec<String>) {
        let asked = record
            .request
            .as_ref()
            .map_or_else(String::new, |asked| format!("{} {}", asked.method, asked.path));
        let summary = format!("[{}] {asked} — {}", record.user, record.note);
        self.outcomes.push(Outcome { id: record.id.clone(), summary, verdict, headers });
    }

    /// Stores what a left-out write was recorded to have stored.
    async fn settle(&mut self, record: &Record) -> Result<()> {
        let (asked, want) = (record.request()?, record.response()?);
        let Some(body) = want.body.as_ref().filter(|_| want.status == 200) else { return Ok(()) };
        if asked.path.contains("dryRun") {
            return Ok(());
        }
        let client = self.client("admin");
        let path = self.bindings.fill(&asked.path);
        let stored = client.send(&Request::get(&path)).await?.json()?;
        let mut body: Value = serde_json::from_str(&self.bindings.fill(&body.to_string()))?;
        let metadata = body["metadata"].as_object_mut().context("an object has metadata")?;
        metadata.remove("managedFields");
        for field in ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"] {
            if let Some(value) = stored["metadata"].get(field) {
                metadata.insert(field.to_owned(), value.clone());
            }
        }
        state::make_names_valid(&mut body);
        let mut request = Request::new(Method::PUT, path)
            .header("accept", "application/json")
            .json("application/json", serde_json::to_vec(&body)?);
        if let Some(agent) = asked.headers.get("User-Agent") {
            request = request.header("User-Agent", agent);
        }
        let answer = client.send(&request).await?;
        let answer = whole(answer.status, &answer.headers, &answer.body, Kind::Exchange);
        self.remember(record, &answer)
    }
}

fn is_idle_watch(record: &Record) -> bool {
    record.kind == Kind::Watch && record.during.is_empty() && state::left_out(record).is_none()
}

fn other_headers(want: &Answered, got: &Answer, bindings: &mut Bindings) -> Vec<String> {
    let mut others = Vec::new();
    for (name, value) in &want.headers {
        let ours = got.header(name).unwrap_or("(absent)");
        if !bindings.fits(value, ours, Revision::Object) {
            others.push(format!("{name}: {value} → {ours}"));
        }
    }
    others
}
