//! `kill -9` at random moments while clients write: what was acknowledged is there, nothing is half there, revisions
//! never go back, and a watch goes on or is told that it is too late.
//!
//! Each writer owns its objects, so that it knows by itself what must be there: the checker needs no clock and no lock.

use std::collections::BTreeMap;
use std::time::Duration;

use ::tests::client::{Answer, Client, Request};
use ::tests::server::Server;
use anyhow::{Context, Result, ensure};
use futures::future::join_all;
use http::Method;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

const ROUNDS: u64 = 50;
const WRITERS: u64 = 4;
/// Objects of each writer.
const NAMES: u64 = 6;
/// A round's writes go on for at most this long before the kill.
const LONGEST: Duration = Duration::from_millis(150);
/// How long a watch may take to show what is known to have happened.
const PATIENCE: Duration = Duration::from_secs(20);

const COLLECTION: &str = "/apis/template.openshift.io/v1/namespaces/crash/templates";

/// What a writer knows of one object: what was acknowledged last, and a write that may or may not have happened.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    /// `None`: it is not there.
    acknowledged: Option<Stored>,
    /// Sent, and never answered.
    unanswered: Option<Attempt>,
}

#[derive(Clone, Debug, PartialEq)]
struct Stored {
    serial: u64,
    revision: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Attempt {
    Write(u64),
    Delete,
}

type Model = BTreeMap<String, Known>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_kills_lose_nothing_that_was_acknowledged() -> Result<()> {
    let folder: TempDir = tempfile::tempdir()?;
    let mut models: Vec<Model> = (0..WRITERS).map(|_| Model::new()).collect();
    let (mut newest, mut acknowledged, mut resumed) = (0, 0, 0);
    // What a client knew when the round before began, and at which revision.
    let mut known = None;
    for round in 0..ROUNDS {
        let server = start(&folder).await?;
        let client = server.target()?.administrator();
        let (list, revision) = listed(&client).await?;
        for model in &mut models {
            settle(model, &list).with_context(|| format!("after {round} kills"))?;
        }
        ensure!(revision >= newest, "revision {revision} after {newest} was acknowledged");
        if let Some((known, before)) = &known
            && watch_resumes(&client, *known, before, &list).await?
        {
            resumed += 1;
        }
        known = Some((revision, list));

        let mut random = StdRng::seed_from_u64(round);
        let kill_after = random.random_range(Duration::ZERO..LONGEST);
        let first = Notify::new();
        let writers = join_all(models.iter_mut().enumerate().map(|(writer, model)| {
            write_until_it_breaks(client.clone(), round, writer as u64, model, &first)
        }));
        let kill = async {
            // Now and then among the very first writes; otherwise there are some before, however slow the disk is.
            if round % 5 != 0 {
                first.notified().await;
            }
            tokio::time::sleep(kill_after).await;
            tokio::task::spawn_blocking(move || server.kill()).await?
        };
        let (counts, killed) = tokio::join!(writers, kill);
        killed?;
        for count in counts {
            acknowledged += count?;
        }
        newest = models
            .iter()
            .flat_map(Model::values)
            .filter_map(revision_of)
            .max()
            .unwrap_or(0)
            .max(revision);
    }
    println!(
        "{acknowledged} writes were acknowledged over {ROUNDS} kills; {resumed} watches went on"
    );
    assert!(acknowledged >= ROUNDS * 4 / 5, "the kills left time for no writes");

    let server = start(&folder).await?;
    let (list, _) = listed(&server.target()?.administrator()).await?;
    for model in &mut models {
        settle(model, &list)?;
    }
    assert!(server.stop()?.success(), "SIGTERM ends it cleanly");
    Ok(())
}

fn revision_of(known: &Known) -> Option<u64> {
    known.acknowledged.as_ref().map(|stored| stored.revision)
}

async fn start(folder: &TempDir) -> Result<Server> {
    let path = folder.path().to_owned();
    tokio::task::spawn_blocking(move || Server::start_on(&path)).await?
}

/// Holds the list against what the writer knows, and takes over what it could not know.
fn settle(model: &mut Model, list: &BTreeMap<String, Stored>) -> Result<()> {
    for (name, known) in model {
        let found = list.get(name);
        let as_acknowledged = found == known.acknowledged.as_ref();
        let as_attempted = match (known.unanswered, found) {
            (Some(Attempt::Write(serial)), Some(found)) => {
                let before = known.acknowledged.as_ref().map_or(0, |stored| stored.revision);
                found.serial == serial && found.revision > before
            }
            (Some(Attempt::Delete), None) => true,
            _ => false,
        };
        ensure!(as_acknowledged || as_attempted, "{name} is {found:?}, known is {known:?}");
        *known = Known { acknowledged: found.cloned(), unanswered: None };
    }
    Ok(())
}

/// Every object of the collection, each whole, and the list's revision.
async fn listed(client: &Client) -> Result<(BTreeMap<String, Stored>, u64)> {
    let list = client.send(&Request::get(COLLECTION)).await?.json()?;
    let mut found = BTreeMap::new();
    for item in list["items"].as_array().into_iter().flatten() {
        let name = item["metadata"]["name"].as_str().context("an object has a name")?;
        found.insert(name.to_owned(), stored(item)?);
    }
    Ok((found, number(&list["metadata"]["resourceVersion"])?))
}

/// The serial number that a writer put at both ends of the object, so that half of it would show.
fn stored(object: &Value) -> Result<Stored> {
    let serial = number(&object["message"])?;
    let objects = object["objects"].as_array().context("it has objects")?;
    ensure!(
        objects.len() == 40 && objects.iter().all(|each| each["data"]["serial"] == serial),
        "half an object: {object}"
    );
    Ok(Stored { serial, revision: number(&object["metadata"]["resourceVersion"])? })
}

fn number(value: &Value) -> Result<u64> {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .with_context(|| format!("{value} is a number"))
}

fn body(name: &str, serial: u64) -> Value {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"},
                        "data": {"serial": serial}});
    json!({"apiVersion": "template.openshift.io/v1", "kind": "Template",
           "metadata": {"name": name}, "message": serial.to_string(),
           "objects": vec![object; 40]})
}

/// Creates, replaces and deletes until the connection breaks, and says so when the first is acknowledged; the number of
/// acknowledged writes.
async fn write_until_it_breaks(
    client: Client,
    round: u64,
    writer: u64,
    model: &mut Model,
    first: &Notify,
) -> Result<u64> {
    let mut random = StdRng::seed_from_u64(round * WRITERS + writer);
    let mut acknowledged = 0;
    for serial in (round * 1_000_000 + 1).. {
        let name = format!("w{writer}-{}", random.random_range(0..NAMES));
        let known = model.entry(name.clone()).or_default();
        let path = format!("{COLLECTION}/{name}");
        let (attempt, request) = match &known.acknowledged {
            None => {
                (Attempt::Write(serial), Request::post(COLLECTION, body(&name, serial).to_string()))
            }
            Some(_) if random.random_bool(0.2) => {
                (Attempt::Delete, Request::new(Method::DELETE, path))
            }
            Some(stored) => {
                let mut body = body(&name, serial);
                body["metadata"]["resourceVersion"] = json!(stored.revision.to_string());
                let request =
                    Request::new(Method::PUT, path).json("application/json", body.to_string());
                (Attempt::Write(serial), request)
            }
        };
        known.unanswered = Some(attempt);
        let Ok(answer) = client.send(&request).await else { break };
        acknowledge(known, attempt, &answer)?;
        acknowledged += 1;
        first.notify_one();
    }
    Ok(acknowledged)
}

fn acknowledge(known: &mut Known, attempt: Attempt, answer: &Answer) -> Result<()> {
    ensure!(
        answer.status == 200 || answer.status == 201,
        "{attempt:?} of {known:?}: {} {}",
        answer.status,
        answer.text()
    );
    let before = known.acknowledged.as_ref().map_or(0, |stored| stored.revision);
    known.unanswered = None;
    known.acknowledged = match attempt {
        Attempt::Delete => None,
        Attempt::Write(serial) => {
            let stored = stored(&answer.json()?)?;
            ensure!(
                stored.serial == serial && stored.revision > before,
                "{stored:?} after {known:?}"
            );
            Some(stored)
        }
    };
    Ok(())
}

/// From a revision of before the crash, a watch shows everything since, in order and up to what the list shows, or says
/// 410; whether it went on.
async fn watch_resumes(
    client: &Client,
    known: u64,
    before: &BTreeMap<String, Stored>,
    list: &BTreeMap<String, Stored>,
) -> Result<bool> {
    let path = format!("{COLLECTION}?watch=1&resourceVersion={known}&timeoutSeconds=20");
    let mut stream = client.open(&Request::get(path)).await?;
    if stream.status == 410 {
        return Ok(false);
    }
    ensure!(stream.status == 200, "the watch was answered {}", stream.status);
    let mut bytes = Vec::new();
    // Not up to the revision of the list: the store has entries of its own, whose changes no watch shows. Nobody else
    // writes yet, so that in the end the events come to what the list shows.
    loop {
        let left = follow(&bytes, known)?;
        if shows_all(&left, known, before, list) {
            return Ok(true);
        }
        let missing = || format!("the watch ended with {left:?} of {list:?}");
        bytes.extend_from_slice(&stream.next(PATIENCE).await?.with_context(missing)?);
        if let Some(event) = events(&bytes).find(|event| event["type"] == "ERROR") {
            ensure!(event["object"]["code"] == 410, "{event}");
            return Ok(false);
        }
    }
}

/// Whether events since `known` leave what `list` shows, and leave out nothing that has changed since `before`.
fn shows_all(
    left: &BTreeMap<String, Option<Stored>>,
    known: u64,
    before: &BTreeMap<String, Stored>,
    list: &BTreeMap<String, Stored>,
) -> bool {
    let changed = list.iter().filter(|(_, stored)| stored.revision > known).map(|(name, _)| name);
    let gone = before.keys().filter(|name| !list.contains_key(*name));
    left.iter().all(|(name, left)| list.get(name) == left.as_ref())
        && changed.chain(gone).all(|name| left.contains_key(name))
}

/// What the events, in their order, leave of each object.
fn follow(bytes: &[u8], known: u64) -> Result<BTreeMap<String, Option<Stored>>> {
    let (mut last, mut left) = (known, BTreeMap::new());
    for event in events(bytes) {
        let object = &event["object"];
        let revision = number(&object["metadata"]["resourceVersion"])?;
        ensure!(revision > last, "an event of {revision} after {last}");
        last = revision;
        let name = object["metadata"]["name"].as_str().context("an object has a name")?;
        let kept = if event["type"] == "DELETED" { None } else { Some(stored(object)?) };
        left.insert(name.to_owned(), kept);
    }
    Ok(left)
}

fn events(bytes: &[u8]) -> impl Iterator<Item = Value> {
    serde_json::Deserializer::from_slice(bytes).into_iter().map_while(Result::ok)
}

#[test]
fn the_checker_finds_what_a_crash_could_do() {
    let acknowledged = |serial, revision| Some(Stored { serial, revision });
    let check = |known: Known, found: Option<Stored>| {
        let mut model = Model::from([("a".to_owned(), known)]);
        let list = found.map(|stored| ("a".to_owned(), stored)).into_iter().collect();
        settle(&mut model, &list).is_ok()
    };
    let known = |acknowledged, unanswered| Known { acknowledged, unanswered };
    assert!(check(known(acknowledged(1, 5), None), acknowledged(1, 5)));
    assert!(!check(known(acknowledged(1, 5), None), None), "lost");
    assert!(!check(known(acknowledged(2, 6), None), acknowledged(1, 5)), "gone back");
    assert!(!check(known(None, None), acknowledged(1, 5)), "risen again");
    let write = Some(Attempt::Write(2));
    assert!(check(known(acknowledged(1, 5), write), acknowledged(2, 6)));
    assert!(check(known(acknowledged(1, 5), write), acknowledged(1, 5)));
    assert!(!check(known(acknowledged(1, 5), write), acknowledged(2, 5)), "an old revision");
    assert!(!check(known(acknowledged(1, 5), write), None), "lost");
    assert!(check(known(acknowledged(1, 5), Some(Attempt::Delete)), None));
    let half = json!({"message": "7", "metadata": {"resourceVersion": "3"}, "objects": []});
    assert!(stored(&half).is_err());
}

#[test]
fn a_watch_that_leaves_something_out_is_found() {
    let at = |revision| Stored { serial: 1, revision };
    let named = |name: &str, revision| BTreeMap::from([(name.to_owned(), at(revision))]);
    let left = |name: &str, what: Option<Stored>| BTreeMap::from([(name.to_owned(), what)]);
    let (none, nothing) = (BTreeMap::new(), BTreeMap::new());
    assert!(shows_all(&none, 5, &named("a", 5), &named("a", 5)), "nothing has happened");
    assert!(!shows_all(&none, 5, &nothing, &named("a", 6)), "a change");
    assert!(!shows_all(&none, 5, &named("a", 5), &nothing), "a deletion");
    assert!(!shows_all(&left("a", Some(at(6))), 5, &nothing, &named("a", 7)), "the last change");
    assert!(shows_all(&left("a", None), 5, &named("a", 5), &nothing));
}
