//! More expansions than there is room for, and those that take too long.

use std::time::Duration;

use ::tests::files::Files;
use ::tests::kubectl::Kubectl;
use ::tests::server::Server;
use anyhow::Result;
use serde_json::json;

use super::own::{ENDLESS, IN_FLIGHT, Own, SLOW, WAITING, one, with};

#[tokio::test]
async fn who_finds_the_queue_full_is_told_when_to_come_again() -> Result<()> {
    let own = Own::start(&["--expander-concurrency=1", "--expander-queue=1", "--expander-cpu=20s"])
        .await?;
    let running = own.begin(&one("endless.py", ENDLESS));
    own.until(IN_FLIGHT, |calls| calls == 1.0).await?;
    let waiting = own.begin(&with("slow.py", SLOW, &json!({ "rounds": 10 })));
    own.until(WAITING, |calls| calls == 1.0).await?;

    let turned_away = own.expand(&with("slow.py", SLOW, &json!({ "rounds": 11 }))).await?;
    assert_eq!(turned_away.status, 429, "{}", turned_away.text());
    assert_eq!(turned_away.header("retry-after"), "1");
    let status = turned_away.json()?;
    assert_eq!(status["reason"], "TooManyRequests", "{status}");
    assert_eq!(status["message"], "too many templates wait to be rendered", "{status}");
    // What needs no template needs no place.
    let none = json!({ "spec": { "configuration": "resources: [{name: a, type: T}]" } });
    assert_eq!(own.expand(&none).await?.status, 201);
    assert_eq!(own.note().await?.matches("2 of 2 workers ready").count(), 1);

    let running = running.await??;
    assert_eq!(running.status, 422, "{}", running.text());
    // It has its turn or has waited too long, according to how long the first one could go on.
    let waiting = waiting.await??;
    assert!([201, 429].contains(&waiting.status), "{}", waiting.text());
    assert_eq!(
        own.metric("formwork_expander_calls_total{language=\"python\",outcome=\"busy\"").await?,
        if waiting.status == 429 { 2.0 } else { 1.0 }
    );
    own.until(IN_FLIGHT, |calls| calls == 0.0).await?;
    assert_eq!(own.expand(&with("slow.py", SLOW, &json!({ "rounds": 12 }))).await?.status, 201);
    Ok(())
}

#[tokio::test]
async fn a_template_without_end_is_ended_and_named() -> Result<()> {
    let own = Own::start(&["--expander-cpu=300ms"]).await?;
    let refused = own.expand(&one("endless.py", ENDLESS)).await?;
    assert_eq!(refused.status, 422, "{}", refused.text());
    let causes = refused.json()?["details"]["causes"].clone();
    let message = causes[0]["message"].as_str().unwrap_or_default().to_owned();
    assert_eq!(causes[0]["field"], "spec.imports[endless.py].content", "{causes}");
    assert!(message.contains("processor time"), "{causes}");
    assert!(message.contains("(in config > a (endless.py))"), "{causes}");
    assert_eq!(own.expand(&with("slow.py", SLOW, &json!({ "rounds": 1 }))).await?.status, 201);
    Ok(())
}

/// Each template is quick enough; all of them together are not.
#[test]
fn an_expansion_that_takes_too_long_is_given_up_with_a_timeout() -> Result<()> {
    let chain = |host: &str| -> Vec<(&str, String)> {
        let next = |n: u32| format!("resources: [{{name: next, type: '{host}/{n}.jinja'}}]\n");
        vec![
            ("/1.jinja", next(2)),
            ("/2.jinja", next(3)),
            ("/3.jinja", next(4)),
            ("/4.jinja", next(5)),
        ]
    };
    // Eight seconds for each, since its schema is asked for as well.
    let files = Files::serve_after(Duration::from_secs(4), chain)?;
    let server = Server::start_with(&[
        "--template-allowed-hosts",
        &files.host(),
        "--template-allow-private-addresses",
    ])?;
    let kubectl = Kubectl::of(&server.kubeconfig())?;
    let first = files.url("/1.jinja");
    let body = json!({
        "apiVersion": "dm.formwork.dev/v1alpha1", "kind": "Expansion",
        "metadata": { "name": "chain" },
        "spec": { "configuration": format!("resources: [{{name: a, type: '{first}'}}]") },
    });
    let refused = kubectl.refused(&["create", "-f", "-"], &body.to_string())?;
    assert!(refused.contains("Timeout: the expansion took longer than it may"), "{refused}");
    Ok(())
}
