//! What is counted of expansions, and what they cost: memory that does not grow.

use ::tests::family::{descendants, memory};
use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::own::{ENDLESS, IN_FLIGHT, Own, WAITING, one, with};

/// So many expansions come before anything is measured: caches fill, sessions begin.
const WARM: u64 = 100;
const EXPANSIONS: u64 = 500;
/// By how much any process may grow over so many, in KiB. Their results, which are kept, take a third of it.
const GROWTH: u64 = 8 << 10;

/// Two resources, one of Python's and one of Jinja's, that are unlike those of every other `n`.
fn mixed(n: u64) -> Value {
    let python = "
def generate_config(context):
    return {'resources': [{'name': 'pod-%d' % context.properties['n'], 'type': 'Pod'}]}
";
    let jinja = "resources: [{name: 'service-{{ properties.n }}', type: Service}]";
    let resource =
        |name: &str, kind: &str| json!({ "name": name, "type": kind, "properties": { "n": n } });
    let resources = [resource("p", "p.py"), resource("j", "j.jinja")];
    json!({ "spec": {
        "configuration": json!({ "resources": resources }).to_string(),
        "imports": [{ "name": "p.py", "content": python }, { "name": "j.jinja", "content": jinja }],
    }})
}

#[tokio::test]
async fn memory_stays_what_it_was_over_five_hundred_expansions() -> Result<()> {
    let own = Own::start(&[]).await?;
    let run = async |numbers: std::ops::Range<u64>| -> Result<()> {
        for n in numbers {
            let answer = own.expand(&mixed(n)).await?;
            ensure!(answer.status == 201, "{n}: {}", answer.text());
        }
        Ok(())
    };
    run(0..WARM).await?;
    own.until(IN_FLIGHT, |calls| calls == 0.0).await?;
    let server = own.server.id();
    // Children that are kept for Jinja come and go; whoever is there all the time must not grow.
    let family: Vec<_> = descendants(server)?
        .into_iter()
        .filter_map(|member| Some((member, memory(member.pid).ok()?)))
        .collect();
    let before = memory(server)?;
    run(WARM..WARM + EXPANSIONS).await?;
    own.until(IN_FLIGHT, |calls| calls == 0.0).await?;
    let check = |who: &str, before: u64, after: u64| {
        println!("{who}: {before} KiB before, {after} KiB after {EXPANSIONS} expansions");
        ensure!(after <= before + GROWTH, "{who}: {before} KiB have become {after} KiB");
        Ok(())
    };
    check("the server", before, memory(server)?)?;
    let workers = own.workers()?;
    assert_eq!(workers.len(), 2);
    assert!(workers.iter().all(|worker| family.iter().any(|(known, _)| known == worker)));
    for (member, before) in family {
        // One that was kept for Jinja may be gone, or go now.
        if member.is_there()
            && let Ok(after) = memory(member.pid)
        {
            check(&format!("process {}", member.pid), before, after)?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_is_counted_is_what_happened() -> Result<()> {
    let own = Own::start(&["--expander-cpu=300ms"]).await?;
    let count = async |language: &str, outcome: &str| {
        let labels = format!("{{language=\"{language}\",outcome=\"{outcome}\"}}");
        own.metric(&format!("formwork_expander_calls_total{labels}")).await
    };
    // The self-test has run templates already. It runs some more each minute, which is longer than this takes.
    let kinds = [
        ("python", "rendered"),
        ("jinja", "rendered"),
        ("python", "failed"),
        ("jinja", "failed"),
        ("python", "limit"),
    ];
    let mut before = Vec::new();
    for (language, outcome) in kinds {
        before.push(count(language, outcome).await?);
    }
    let durations = "formwork_expander_call_duration_seconds_count{language=\"python\"}";
    let timed = own.metric(durations).await?;
    let (hits, misses) =
        ("formwork_expander_cache_hits_total", "formwork_expander_cache_misses_total");
    let (hit, missed) = (own.metric(hits).await?, own.metric(misses).await?);

    for (body, code) in [
        (mixed(1), 201),
        (mixed(2), 201),
        (mixed(1), 201),
        (one("x.py", "def generate_config(context): return 1 / 0"), 422),
        (one("x.jinja", "{{ 1 // 0 }}"), 422),
        (with("endless.py", ENDLESS, &json!({})), 422),
    ] {
        let answer = own.expand(&body).await?;
        assert_eq!(answer.status, code, "{}", answer.text());
    }
    for ((language, outcome), (before, more)) in
        kinds.into_iter().zip(before.into_iter().zip([2.0, 2.0, 1.0, 1.0, 1.0]))
    {
        let now = count(language, outcome).await?;
        assert_eq!(now - before, more, "{language} {outcome}");
    }
    assert_eq!(own.metric(durations).await? - timed, 4.0);
    assert_eq!(own.metric(hits).await? - hit, 1.0);
    assert_eq!(own.metric(misses).await? - missed, 5.0);
    own.until(IN_FLIGHT, |calls| calls == 0.0).await?;
    assert_eq!(own.metric(WAITING).await?, 0.0);
    assert_eq!(own.metric("formwork_expander_worker_restarts_total").await?, 0.0);
    Ok(())
}
