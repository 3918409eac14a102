//! A recorded request on the wire, and what came back, taken apart for comparison.

use std::io::Read;
use std::time::Duration;

use ::tests::client::{Client, Request, Stream};
use anyhow::Result;
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::compare::Answer;
use crate::recording::{Kind, Record};

/// How long a watch may be silent: longer than any that was recorded.
const GRACE: Duration = Duration::from_secs(15);

/// Sends the request of an exchange or a watch, and takes the answer apart.
pub(crate) async fn perform(client: &Client, record: &Record, request: &Request) -> Result<Answer> {
    if record.kind == Kind::Watch {
        // A watch that the client closed stays open for as long as anyone waits.
        let expected = record.response()?.events.as_ref().map_or(0, Vec::len);
        let enough = (record.closed_by == "client").then_some(expected);
        return collect(client.open(request).await?, enough).await;
    }
    let answer = client.send(request).await?;
    whole(answer.status, &answer.headers, &answer.body, record.kind)
}

/// Reads a stream of events until the server ends it, or until `enough` have come.
pub(crate) async fn collect(mut stream: Stream, enough: Option<usize>) -> Result<Answer> {
    let mut bytes = Vec::new();
    loop {
        if enough.is_some_and(|enough| frames(&bytes).len() >= enough) {
            break;
        }
        match stream.next(GRACE).await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => break,
            // What is missing shows in the comparison.
            Err(_) if enough.is_some() => break,
            Err(problem) => return Err(problem),
        }
    }
    whole(stream.status, &stream.headers, &bytes, Kind::Watch)
}

fn frames(bytes: &[u8]) -> Vec<Value> {
    serde_json::Deserializer::from_slice(bytes).into_iter().map_while(Result::ok).collect()
}

/// An answer taken apart, its body decompressed.
pub(crate) fn whole(
    status: u16,
    headers: &http::HeaderMap,
    body: &[u8],
    kind: Kind,
) -> Result<Answer> {
    let texts = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).iter();
        values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
    };
    let mut text = body.to_vec();
    if texts("content-encoding").iter().any(|encoding| encoding == "gzip") {
        text.clear();
        GzDecoder::new(body).read_to_end(&mut text)?;
    }
    Ok(Answer {
        status,
        media: texts("content-type").join(", "),
        warnings: texts("warning"),
        headers: headers
            .iter()
            .map(|(name, value)| {
                (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            })
            .collect(),
        body: serde_json::from_slice(&text).ok(),
        events: if kind == Kind::Watch { frames(&text) } else { Vec::new() },
        text: String::from_utf8_lossy(&text).into_owned(),
        length: body.len(),
    })
}
