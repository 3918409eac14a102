//! Hundreds of watches, which kube-apiserver sends through one connection.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ::tests::client::{Connection, PATIENCE, Protocol, Request, Stream};
use ::tests::cluster::Component;
use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use serde_json::Value;

use super::{Pressed, template};
use crate::door::{Door, templates};

const WATCHES: usize = 500;
/// How many on one connection of a client: kube-apiserver allows a hundred streams.
const EACH: usize = 50;
/// Which of the open watches are those of this test: nobody else watches one namespace here.
const OPEN: (&str, &[&str]) = (
    "apiserver_longrunning_requests",
    &["group=\"template.openshift.io\"", "resource=\"templates\"", "scope=\"namespace\""],
);

#[tokio::test]
async fn five_hundred_watches_share_one_connection_and_give_everything_back() -> Result<()> {
    let Pressed { door, _turn } = Pressed::take().await?;
    let kubectl = door.namespace_of_alice().await?;
    let collection = templates(&kubectl.namespace);
    let mut alice = door.alice()?.connect(Protocol::Http2).await?;
    let before = connections(&door)?;
    ensure!(!before.is_empty(), "kube-apiserver has no connection to us");

    let mut watches = Vec::new();
    let mut clients = Vec::new();
    for index in 0..WATCHES {
        if index % EACH == 0 {
            clients.push(door.alice()?.connect(Protocol::Http2).await?);
        }
        let alice = clients.last_mut().context("a connection")?;
        watches.push(Watch::open(alice, &collection).await?);
    }
    door.until(OPEN.0, OPEN.1, |open| open == WATCHES as f64).await?;
    let more = connections(&door)?.difference(&before).count();
    // Some may be for what it asks on its own account at that moment.
    assert!(more <= 2, "{more} more connections, {} before", before.len());

    assert_eq!(alice.send(&Request::get(&collection)).await?.status, 200);
    let processed = collection.replace("/templates", "/processedtemplates");
    let answer = alice.send(&Request::post(processed, template("other", 0))).await?;
    assert_eq!(answer.status, 201, "{}", answer.text());
    kubectl.ok_with(&["create", "-f", "-"], &template("news", 0))?;
    try_join_all(watches.iter_mut().map(|watch| watch.tells("news"))).await?;

    drop(watches);
    door.until(OPEN.0, OPEN.1, |open| open == 0.0).await?;
    assert_eq!(alice.send(&Request::get(&collection)).await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn a_watcher_that_stops_reading_holds_up_nobody_and_misses_nothing() -> Result<()> {
    // More than the client, kube-apiserver and the connection between it and us hold ready together.
    const WRITES: usize = 14;
    const SIZE: usize = 500 << 10;
    let Pressed { door, _turn } = Pressed::take().await?;
    let kubectl = door.namespace_of_alice().await?;
    let collection = templates(&kubectl.namespace);
    let mut stuck =
        Watch::open(&mut door.alice()?.connect(Protocol::Http2).await?, &collection).await?;
    let mut alice = door.alice()?.connect(Protocol::Http2).await?;
    let mut others = Vec::new();
    for _ in 0..4 {
        others.push(Watch::open(&mut alice, &collection).await?);
    }
    let names: Vec<_> = (0..WRITES).map(|index| format!("large-{index}")).collect();
    for name in &names {
        let answer = alice.send(&Request::post(&collection, template(name, SIZE))).await?;
        assert_eq!(answer.status, 201, "{}", answer.text());
        try_join_all(others.iter_mut().map(|watch| watch.tells(name))).await?;
    }
    for name in &names {
        stuck.tells(name).await?;
    }
    Ok(())
}

/// An open watch, and what was read of it.
struct Watch {
    stream: Stream,
    read: Vec<u8>,
}

impl Watch {
    async fn open(connection: &mut Connection, collection: &str) -> Result<Self> {
        let stream = connection.open_stream(&Request::get(format!("{collection}?watch=1"))).await?;
        ensure!(stream.status == 200, "{}", stream.status);
        Ok(Self { stream, read: Vec::new() })
    }

    /// Reads one event, and makes sure that it is the creation of `name`.
    async fn tells(&mut self, name: &str) -> Result<()> {
        let end = loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                break end + 1;
            }
            let piece = self.stream.next(PATIENCE).await?.context("the watch ended")?;
            self.read.extend_from_slice(&piece);
        };
        let line: Vec<u8> = self.read.drain(..end).collect();
        let event: Value = serde_json::from_slice(&line)?;
        let told = &event["object"]["metadata"]["name"];
        ensure!(event["type"] == "ADDED" && told == name, "{} {told}, not {name}", event["type"]);
        Ok(())
    }
}

/// The connections that kube-apiserver has to us, by the addresses they come from.
fn connections(door: &Door) -> Result<BTreeSet<String>> {
    const ESTABLISHED: &str = "01";
    let apiserver = door.cluster().pid(Component::Apiserver)?.as_raw_pid();
    let files = fs::read_dir(Path::new("/proc").join(apiserver.to_string()).join("fd"))?;
    let sockets: BTreeSet<_> = files
        .filter_map(|file| fs::read_link(file.ok()?.path()).ok()?.to_str().map(str::to_owned))
        .collect();
    let port = format!(":{:04X}", door.serving.address().port());
    let table = fs::read_to_string("/proc/net/tcp")?;
    Ok(table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|row| row.len() > 9 && row[2].ends_with(&port) && row[3] == ESTABLISHED)
        .filter(|row| sockets.contains(&format!("socket:[{}]", row[9])))
        .map(|row| row[1].to_owned())
        .collect())
}
