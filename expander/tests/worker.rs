//! The pool with the real worker: templates are rendered, and what they may not do ends in a clear error.

#[path = "worker/setup.rs"]
mod setup;

use anyhow::Result;
use expander::{Layer, NoFetch, PoolError, Terms, expand};
use expansion::{Import, Input, Language, Limits, Outcome, Rendered, Value};
use setup::{call, pool, terms};
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test]
async fn the_walls_stand_and_every_attack_of_the_self_test_is_contained() -> Result<()> {
    let pool = pool(|_| {})?;
    let walls = pool.ready(Instant::now() + Duration::from_secs(60)).await?;
    for layer in [Layer::Seccomp, Layer::NoNewPrivs, Layer::Rlimits] {
        assert!(walls.holds(layer), "{layer}");
    }
    let readiness = pool.readiness().unwrap();
    assert!(readiness.contains("seccomp=on"), "{readiness}");
    let mut registry = prometheus_client::registry::Registry::default();
    pool.register(&mut registry);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry)?;
    for line in [
        "formwork_expander_wall{layer=\"seccomp\"} 1",
        "formwork_expander_calls_total{language=\"python\",outcome=\"rendered\"} 1",
        "formwork_expander_worker_restarts_total 0",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    pool.stop().await;
    Ok(())
}

#[tokio::test]
async fn python_and_jinja_are_rendered() -> Result<()> {
    let pool = pool(setup::unprobed)?;
    let source =
        "def generate_config(context):\n  return {'resources': [context.env['deployment']]}";
    let python = pool.render(call(Language::Python, source), terms()).await?;
    let Outcome::Rendered(Rendered::Data { value, .. }) = python else { panic!("{python:?}") };
    assert_eq!(value.to_json(), r#"{"resources":["d"]}"#);

    let source = "resources: [{{ env['deployment'] }}]";
    for _ in 0..3 {
        let jinja = pool.render(call(Language::Jinja, source), terms()).await?;
        let Outcome::Rendered(Rendered::Text { text, .. }) = jinja else { panic!("{jinja:?}") };
        assert_eq!(text, "resources: [d]");
    }
    Ok(())
}

#[tokio::test]
async fn a_fault_says_where_it_is() -> Result<()> {
    let pool = pool(setup::unprobed)?;
    let source = "def generate_config(context):\n  return 1 / 0";
    let outcome = pool.render(call(Language::Python, source), terms()).await?;
    let Outcome::Failed(fault) = outcome else { panic!("{outcome:?}") };
    assert_eq!(fault.kind, "ZeroDivisionError");
    let last = fault.frames.last().unwrap();
    assert_eq!((last.file.as_str(), last.line), ("t.py", 2));
    Ok(())
}

#[tokio::test]
async fn the_clock_and_randomness_are_the_calls_own() -> Result<()> {
    let source = "import random, time\n\
        def generate_config(context):\n  return {'resources': [int(time.time()), random.random()]}";
    let mut seen = Vec::new();
    for _ in 0..2 {
        let pool = pool(setup::unprobed)?;
        let outcome = pool.render(call(Language::Python, source), terms()).await?;
        let Outcome::Rendered(Rendered::Data { value, .. }) = outcome else {
            panic!("{outcome:?}")
        };
        seen.push(value.to_json());
        pool.stop().await;
    }
    assert_eq!(seen[0], seen[1], "another pool, the same numbers");
    assert!(seen[0].contains("[1700000000,"), "{}", seen[0]);
    Ok(())
}

async fn kind(pool: &expander::Pool, language: Language, source: &str) -> String {
    match pool.render(call(language, source), terms()).await {
        Ok(Outcome::Failed(fault)) => fault.kind,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn limits_and_walls_are_told_apart() -> Result<()> {
    let pool = pool(|config| {
        setup::unprobed(config);
        config.cpu = Duration::from_secs(3);
        config.wall = Duration::from_secs(60);
        config.memory = 64;
    })?;
    let python = |body: &str| {
        let past = "import json\nmodules = json.codecs.sys.modules\nposix = modules['posix']";
        format!("{past}\ndef generate_config(context):\n  {body}")
    };
    let cases = [
        ("while True: pass", "TimeLimit"),
        ("posix.execv('/', ['x'])", "Forbidden"),
        ("posix._exit(0)", "NoResult"),
        ("return 'x' * (2 << 20)", "OutputLimit"),
        ("return {'resources': ['\\ud800']}", "NotData"),
    ];
    for (body, want) in cases {
        let terms = Terms { bounds: expander::Bounds { fuel: 1000, output: 1 << 20 }, ..terms() };
        let outcome = pool.render(call(Language::Python, &python(body)), terms).await?;
        let Outcome::Failed(fault) = outcome else { panic!("{body}: {outcome:?}") };
        assert_eq!(fault.kind, want, "{body}: {fault:?}");
    }
    let memory = kind(&pool, Language::Python, &python("return len(bytearray(1 << 30))")).await;
    assert!(["MemoryError", "MemoryLimit"].contains(&memory.as_str()), "{memory}");
    let bomb = "{% set b = namespace(t='0123456789abcdef' * 4) %}\
        {% for _ in range(32) %}{% set b.t = b.t ~ b.t %}{% endfor %}{{ b.t }}";
    assert_eq!(kind(&pool, Language::Jinja, bomb).await, "MemoryLimit");
    Ok(())
}

#[tokio::test]
async fn a_deadline_is_kept() -> Result<()> {
    let pool = pool(setup::unprobed)?;
    pool.ready(Instant::now() + Duration::from_secs(60)).await?;
    let source = "def generate_config(context):\n  while True: pass";
    let deadline = Instant::now() + Duration::from_millis(300);
    let terms = Terms::new(&Limits::default(), deadline);
    let result = pool.render(call(Language::Python, source), terms).await;
    assert_eq!(result, Err(PoolError::Timeout));
    Ok(())
}

const CONFIGURATION: &str = "
resources:
- name: front
  type: service.py
  properties: {ports: {a: 80, b: 443}, labels: [x, y]}
- name: back
  type: disk.jinja
  properties: {size: 7}
";

/// A set, a dictionary, a clock and randomness: whatever could come out otherwise the next time.
const SERVICE: &str = "
import random, time
def generate_config(context):
  names = set(['p%d' % n for n in range(20)]) | set(context.properties['labels'])
  disk = {'name': 'inner', 'type': 'disk.jinja', 'properties': {'size': 1}}
  made = {'name': context.env['name'], 'type': 'Service', 'properties': {
    'order': list(names), 'ports': context.properties['ports'],
    'at': time.time(), 'secret': random.randint(0, 1 << 40)}}
  return {'resources': [made, disk]}
";

const DISK: &str = "
resources:
- name: {{ env['name'] }}-disk
  type: Disk
  properties: {sizeGb: {{ properties['size'] * 10 }}}
";

#[tokio::test]
async fn an_expansion_gives_the_same_bytes_in_other_processes() -> Result<()> {
    let file = |content: &str| Import { path: String::new(), content: content.into() };
    let files = [("service.py", SERVICE), ("disk.jinja", DISK)];
    let input = Input {
        configuration: CONFIGURATION.into(),
        imports: files.map(|(name, content)| (name.to_owned(), file(content))).into(),
        env: call(Language::Python, "").env,
        ..Input::default()
    };
    let mut results = Vec::new();
    for _ in 0..2 {
        let pool = pool(setup::unprobed)?;
        let expanded = expand(input.clone(), &pool, &NoFetch, terms().deadline).await?;
        let names: Vec<_> =
            expanded.resources.iter().map(|r| r.get("name").map(Value::to_json)).collect();
        let names: Vec<_> = names.iter().flatten().map(String::as_str).collect();
        assert_eq!(names, ["\"front\"", "\"inner-disk\"", "\"back-disk\""]);
        let text: Vec<_> =
            expanded.resources.iter().chain(&expanded.layout).map(Value::to_json).collect();
        results.push(text.join("\n"));
        pool.stop().await;
    }
    assert_eq!(results[0], results[1]);
    Ok(())
}

#[tokio::test]
async fn a_template_is_compiled_once_whatever_its_calls_do() -> Result<()> {
    // With one slot, a call finds what was done behind the one before it.
    let pool = pool(|config| {
        setup::unprobed(config);
        config.concurrency = Some(1);
    })?;
    // What a call does to the modules of its process is not what the next one's code is made with.
    let source = format!(
        "import json\ndef generate_config(context):\n  modules = json.codecs.sys.modules\n  \
         modules['marshal'].dumps = modules['formwork_code'].pack = lambda *_: b'else'\n  \
         return {{'resources': [context.env['deployment']]}}\n# {}",
        "long ".repeat(200)
    );
    for _ in 0..5 {
        let outcome = pool.render(call(Language::Python, &source), terms()).await?;
        let Outcome::Rendered(Rendered::Data { value, .. }) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(value.to_json(), r#"{"resources":["d"]}"#);
    }
    let mut registry = prometheus_client::registry::Registry::default();
    pool.register(&mut registry);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry)?;
    assert!(text.contains("formwork_expander_compilations_total 1\n"), "{text}");
    Ok(())
}
