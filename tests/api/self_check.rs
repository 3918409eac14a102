//! The comparison, held against the recording itself: every recorded answer, with plain values in place of its
//! placeholders, has to be equal to itself.

use std::sync::LazyLock;

use ::tests::corpus;
use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use regex::{Captures, Regex};
use serde_json::Value;

use crate::binding::Bindings;
use crate::compare::Answer;
use crate::recording::{self, Kind, Record};
use crate::rules::{Verdict, judge};
use crate::transcripts::SCENARIOS;

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"<(uid|rv|rand|gen|continue|time|etag|rvnum)(?::(\d+))?>").expect("a constant")
});

#[test]
fn every_recorded_answer_is_equal_to_itself() -> Result<()> {
    let Some(path) = corpus::find("openshift/transcripts/api.ndjson.gz") else { return Ok(()) };
    let records = recording::read(&corpus::lines(&path)?, SCENARIOS)?;
    for scenario in SCENARIOS {
        let mut bindings = Bindings::default();
        for record in records.iter().filter(|record| record.group == *scenario) {
            if record.kind == Kind::Env {
                continue;
            }
            bindings.generated.clone_from(&record.generated);
            bindings.tokens.clone_from(&record.response()?.continue_decoded);
            let verdict = judge(record, &as_answered(record)?, &mut bindings)?;
            // A digest of a body is not a body, so nothing can be made to fit it.
            let digested = record.response()?.body_filtered.is_some();
            assert!(digested || matches!(verdict, Verdict::Equal), "{}: {verdict:?}", record.id);
        }
    }
    Ok(())
}

/// The recorded answer as a server would have sent it.
fn as_answered(record: &Record) -> Result<Answer> {
    let want = record.response()?;
    let plain = |text: &str| plain(text, record);
    let mut text = want.text.as_deref().map(plain).unwrap_or_default();
    if let Some(body) = &want.body {
        text = plain(&if want.pretty {
            serde_json::to_string_pretty(body)?
        } else {
            body.to_string()
        });
    }
    let events = want.events.iter().flatten();
    Ok(Answer {
        status: want.status,
        media: want.content_type.clone().unwrap_or_default(),
        warnings: want.warnings.clone(),
        headers: Vec::new(),
        body: serde_json::from_str(&text).ok(),
        events: events
            .map(|event| serde_json::from_str(&plain(&event.to_string())).context("an event"))
            .collect::<Result<Vec<Value>>>()?,
        length: text.len(),
        text,
    })
}

fn plain(text: &str, record: &Record) -> String {
    let value = |found: &Captures<'_>| {
        let number = found.get(2).map_or("0", |number| number.as_str());
        match &found[1] {
            "uid" => format!("00000000-0000-0000-0000-{number:0>12}"),
            "rv" => format!("10{number:0>3}"),
            "rvnum" => "10999".to_owned(),
            "rand" => "bcdfg".to_owned(),
            "time" => "2026-11-20T06:51:43Z".to_owned(),
            "gen" => sample(&record.generated[&found[0]]),
            "continue" => token(&found[0], record),
            _ => "\\\"0A\\\"".to_owned(),
        }
    };
    PLACEHOLDER.replace_all(text, value).into_owned()
}

fn token(placeholder: &str, record: &Record) -> String {
    let held = record.response.as_ref().and_then(|want| want.continue_decoded.get(placeholder));
    let Some(held) = held else { return "e30".to_owned() };
    let text = plain(&held.to_string(), record).replace("\"rv\":\"", "\"rv\":");
    // The revision is a number in the token, a placeholder's text in the recording.
    let text = Regex::new(r#""rv":(\d+)""#).expect("a constant").replace(&text, "\"rv\":$1");
    BASE64_URL_SAFE_NO_PAD.encode(text.as_bytes())
}

/// One value of a generator expression: the first character of each class, repeated.
fn sample(from: &str) -> String {
    let class = Regex::new(r"\[\\?([^\]])[^\]]*\]\{(\d+)\}").expect("a constant");
    let first = |class: &Captures<'_>| {
        let c = match &class[1] {
            "d" => "0",
            "A" if class[0].starts_with(r"[\A") => "~",
            c => c,
        };
        c.repeat(class[2].parse().unwrap_or(0))
    };
    class.replace_all(from, first).into_owned()
}
