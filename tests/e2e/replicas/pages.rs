//! Lists in pages, each page from another replica than the one before, while others write.

use std::collections::BTreeMap;

use ::tests::client::Request;
use anyhow::{Context, Result, ensure};
use http::Method;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use super::pair::{PATIENCE, Pair, Route};

/// Templates that are there at any time, about.
const KEPT: u64 = 40;
const LISTS: usize = 25;
/// Few enough for many pages.
const LIMIT: usize = 7;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_of_a_list_are_one_state_whichever_replica_they_are_from() -> Result<()> {
    let pair = Pair::turn().await?;
    let (routes, collection) = (pair.routes()?, pair.collection()?);
    for number in 0..KEPT {
        create(&routes[0], &collection, number).await?;
    }
    let (writes, mut written) = watch::channel(0);
    let churn = tokio::spawn(churn(routes.clone(), collection.clone(), writes));
    let (mut pages, mut states) = (0, BTreeMap::new());
    for start in 0..LISTS {
        // Each list is of a state of its own.
        timeout(PATIENCE, written.changed()).await.context("nothing is written any more")??;
        let ways: Vec<&Route> = routes.iter().cycle().skip(start).take(routes.len()).collect();
        let (revision, listed, count) = list(&ways, &collection).await?;
        let exact = format!("{collection}?resourceVersion={revision}&resourceVersionMatch=Exact");
        for way in ways {
            let whole = way.client.send(&Request::get(&exact)).await?.json()?;
            ensure!(whole["metadata"]["resourceVersion"] == revision, "{}", whole["metadata"]);
            let whole = items(&whole)?;
            ensure!(
                whole == listed,
                "at {revision}: pages {listed:?}, the {}: {whole:?}",
                way.name
            );
        }
        pages += count;
        states.insert(revision, listed);
    }
    let writes = *written.borrow();
    drop(written);
    churn.await??;
    println!("{pages} pages of {} states while {writes} writes were made", states.len());
    assert!(states.len() > LISTS / 2, "hardly anything was written meanwhile");
    Ok(())
}

/// The revision of a list, what it lists, and in how many pages, each asked by the next of `ways`.
async fn list(ways: &[&Route], collection: &str) -> Result<(String, Vec<(String, String)>, usize)> {
    let (mut listed, mut revision, mut token) = (Vec::new(), None, String::new());
    for (page, way) in ways.iter().cycle().enumerate() {
        let path = format!("{collection}?limit={LIMIT}&continue={token}");
        let answer = way.client.send(&Request::get(path)).await?;
        ensure!(answer.status == 200, "page {page} by the {}: {}", way.name, answer.text());
        let list = answer.json()?;
        let of = list["metadata"]["resourceVersion"].as_str().context("a list has a revision")?;
        let first = revision.get_or_insert_with(|| of.to_owned());
        ensure!(first == of, "page {page} by the {} is of {of}, not {first}", way.name);
        listed.extend(items(&list)?);
        token = list["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
        if token.is_empty() {
            return Ok((of.to_owned(), listed, page + 1));
        }
    }
    unreachable!("there is always a next way")
}

/// Names and revisions.
fn items(list: &Value) -> Result<Vec<(String, String)>> {
    let text = |value: &Value| value.as_str().map(str::to_owned).context("a text");
    let items = list["items"].as_array().context("a list has items")?;
    let read = |item: &Value| {
        let metadata = &item["metadata"];
        Ok((text(&metadata["name"])?, text(&metadata["resourceVersion"])?))
    };
    items.iter().map(read).collect()
}

/// Creates one and deletes another, by one way after the other, for as long as somebody wants to know how often it wrote.
async fn churn(routes: [Route; 3], collection: String, written: watch::Sender<u64>) -> Result<()> {
    let mut numbers = (KEPT..).zip(routes.iter().cycle());
    while !written.is_closed() {
        let (number, route) = numbers.next().context("numbers do not end")?;
        create(route, &collection, number).await?;
        // Spread over all of the pages.
        let path = format!("{collection}/{}", name(number - KEPT));
        let answer = route.client.send(&Request::new(Method::DELETE, path)).await?;
        ensure!(answer.status == 200, "{}", answer.text());
        written.send_modify(|written| *written += 2);
    }
    Ok(())
}

async fn create(route: &Route, collection: &str, number: u64) -> Result<()> {
    let body = json!({
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": { "name": name(number) },
        "objects": [],
    });
    let answer = route.client.send(&Request::post(collection, body.to_string())).await?;
    ensure!(answer.status == 201, "{}", answer.text());
    Ok(())
}

/// Not in the order of the numbers, so that what comes and goes does so on every page.
fn name(number: u64) -> String {
    format!("t{:02}-{number}", number * 37 % 100)
}
