//! The pool against workers that are played: the real one is as good as its word, these are not.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expansion::{Call, Import, Imports, Language, Map, Outcome, Rendered};
use protocol::Bounds;
use tokio::time::{Instant, sleep};

use super::*;
use crate::config::SelfTest;
use crate::walls::Layer;
use crate::worker::Process;
use crate::worker::fake::{Fake, HANG, LISTEN, MURDER, say};

const ANSWER: &str = r#"{"text": {"text": "resources: []"}}"#;

fn config() -> Config {
    Config { self_test: SelfTest::Skipped, concurrency: Some(2), ..Config::default() }
}

fn pool(config: Config, fake: Fake) -> Pool {
    let fake: Arc<dyn Launch> = Arc::new(fake);
    Pool::launch(config, &fake).unwrap()
}

fn call(language: Language, content: &str) -> Call {
    let import = Import { path: String::new(), content: content.into() };
    let imports = Arc::new(Imports::from([("t".to_owned(), import)]));
    let (resource, env) = (Map::new(), Map::new());
    Call { id: 1, language, template: "t".into(), resource, env, imports }
}

fn terms() -> Terms {
    let bounds = Bounds { fuel: 1000, output: 1000 };
    Terms { bounds, deadline: Instant::now() + Duration::from_secs(60) }
}

async fn python(pool: &Pool) -> Result<Outcome, PoolError> {
    pool.render(call(Language::Python, ""), terms()).await
}

async fn jinja(pool: &Pool) -> String {
    text(pool.render(call(Language::Jinja, ""), terms()).await)
}

fn text(result: Result<Outcome, PoolError>) -> String {
    match result {
        Ok(Outcome::Rendered(Rendered::Text { text, .. })) => text,
        other => panic!("{other:?}"),
    }
}

fn kind(result: Result<Outcome, PoolError>) -> String {
    match result {
        Ok(Outcome::Failed(fault)) => fault.kind,
        other => panic!("{other:?}"),
    }
}

/// Waits until it is so.
async fn until(what: impl Fn() -> bool) {
    let since = Instant::now();
    while !what() {
        assert!(since.elapsed() < Duration::from_secs(30), "it never came");
        sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn the_first_frame_counts_and_the_child_is_gone_before_its_slot_is_free() {
    let lies = format!("{}{}{HANG}", say(ANSWER), say(r#"{"text": {"text": "lies"}}"#));
    let pool = pool(config(), Fake::new(move |_, _| lies.clone()));
    for _ in 0..5 {
        assert_eq!(text(python(&pool).await), "resources: []");
    }
    until(|| pool.inner.metrics.in_flight.get() == 0).await;
    assert!(pool.inner.workers().all(|worker| worker.load() == Some(0)));
    pool.stop().await;
    assert_eq!(pool.inner.workers().count(), 0);
}

#[tokio::test]
async fn a_child_that_answers_before_it_has_heard_all_is_heard() {
    let pool = pool(config(), Fake::new(|_, _| format!("{}{HANG}", say(ANSWER))));
    let call = call(Language::Python, &"x".repeat(4 << 20));
    assert_eq!(text(pool.render(call, terms()).await), "resources: []");
}

#[tokio::test]
async fn what_is_no_answer_is_the_templates_fault() {
    let scripts = [
        (format!("printf '\\377\\377\\377\\377'; {HANG}"), "OutputLimit"),
        (format!("printf '\\000\\000\\000\\000'; {HANG}"), "InvalidResult"),
        (say("nonsense"), "InvalidResult"),
        ("printf '\\000\\000\\000\\010abc'".to_owned(), "NoResult"),
        (String::new(), "NoResult"),
        ("exit 3".to_owned(), "NoResult"),
        ("kill -SEGV $$".to_owned(), "Crash"),
        ("kill -SYS $$".to_owned(), "Forbidden"),
        ("kill -XCPU $$".to_owned(), "TimeLimit"),
    ];
    let (played, wanted): (Vec<_>, Vec<_>) = scripts.into_iter().unzip();
    let fake = Fake::new(move |at, _| played[usize::try_from(at).unwrap()].clone());
    let pool = pool(config(), fake);
    for want in wanted {
        assert_eq!(kind(python(&pool).await), want);
    }
}

#[tokio::test]
async fn a_child_that_takes_too_long_is_killed() {
    let wall = Duration::from_millis(100);
    let pool = pool(Config { wall, ..config() }, Fake::new(|_, _| HANG.into()));
    assert_eq!(kind(python(&pool).await), "TimeLimit");
    let terms = Terms { deadline: Instant::now() + wall / 2, ..terms() };
    let late = pool.render(call(Language::Python, ""), terms).await;
    assert_eq!(late, Err(PoolError::Timeout));
    until(|| pool.inner.metrics.in_flight.get() == 0).await;
}

#[tokio::test]
async fn a_child_that_hangs_up_and_lives_on_has_only_itself_to_blame() {
    let wall = Duration::from_millis(100);
    let fake = Fake::new(|_, _| format!("exec </dev/null >/dev/null\n{HANG}"));
    let pool = pool(Config { wall, ..config() }, fake);
    assert_eq!(kind(python(&pool).await), "TimeLimit");
    assert_eq!(pool.inner.metrics.retries.get(), 0);
}

#[tokio::test]
async fn a_caller_who_goes_away_leaves_no_child_behind() {
    let pool = pool(config(), Fake::new(|_, _| HANG.into()));
    let begun = {
        let pool = pool.clone();
        tokio::spawn(async move { python(&pool).await })
    };
    until(|| pool.inner.workers().any(|worker| worker.load() == Some(1))).await;
    begun.abort();
    until(|| pool.inner.metrics.in_flight.get() == 0).await;
    assert!(pool.inner.workers().all(|worker| worker.load() == Some(0)));
}

#[tokio::test]
async fn a_call_whose_worker_dies_is_made_again_on_the_other() {
    let fake = Fake::new(|at, _| if at == 0 { MURDER.into() } else { say(ANSWER) });
    let pool = pool(config(), fake);
    assert_eq!(text(python(&pool).await), "resources: []");
    assert_eq!(pool.inner.metrics.retries.get(), 1);
    until(|| pool.inner.workers().count() == 2).await;
    assert_eq!(pool.inner.metrics.restarts.get(), 1);
}

#[tokio::test]
async fn a_call_whose_workers_die_twice_is_given_up() {
    let pool = pool(config(), Fake::new(|_, _| MURDER.into()));
    assert!(matches!(python(&pool).await, Err(PoolError::Unavailable(_))));
    assert_eq!(pool.inner.metrics.retries.get(), 1);
}

#[tokio::test]
async fn a_template_that_had_no_walls_is_not_to_blame() {
    let pool = pool(config(), Fake::new(|_, _| "kill -42 $$".into()));
    assert!(matches!(python(&pool).await, Err(PoolError::Walls(_))));
}

#[tokio::test]
async fn nothing_runs_behind_fewer_walls_than_were_asked_for() {
    let config = Config { minimum: [Layer::Seccomp, Layer::Namespaces].into(), ..config() };
    let pool = pool(config, Fake::new(|_, _| say(ANSWER)).layers(1 | 2 | 4));
    let error = python(&pool).await.unwrap_err();
    assert_eq!(error.to_string(), "templates are not run: this machine does not offer namespaces");
    assert_eq!(pool.walls(), None);
    assert!(pool.readiness().unwrap_err().contains("namespaces"));
}

#[tokio::test]
async fn nothing_runs_when_an_attack_is_not_contained() {
    let config = Config { self_test: SelfTest::Attacks, ..config() };
    let pool = pool(config, Fake::new(|_, _| say(r#"{"data": {"value": {"resources": [2]}}}"#)));
    let error = python(&pool).await.unwrap_err().to_string();
    assert!(error.starts_with("templates are not run: the self-test failed: "), "{error}");
    assert!(pool.readiness().is_err());
}

/// Workers, and for how many milliseconds those of the self-test may use the processor.
struct Timed(Fake, Arc<Mutex<Vec<String>>>);

impl Launch for Timed {
    fn launch(&self, arguments: &[String], control: OwnedFd) -> io::Result<Box<dyn Process>> {
        let value = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name).unwrap();
            arguments[at + 1].clone()
        };
        if value("--memory") == "64" {
            self.1.lock().unwrap().push(value("--cpu"));
        }
        self.0.launch(arguments, control)
    }
}

#[tokio::test]
async fn attacks_that_the_clock_ends_are_tried_again_with_more_time() {
    // Less than the attacks have: how long templates may take says nothing of how fast the machine is.
    let cpu = Duration::from_millis(100);
    let config = Config { self_test: SelfTest::Attacks, cpu, memory: 100, ..config() };
    let times = Arc::default();
    let timed = Timed(Fake::new(|_, _| "kill -XCPU $$".into()), Arc::clone(&times));
    let timed: Arc<dyn Launch> = Arc::new(timed);
    let pool = Pool::launch(config, &timed).unwrap();
    let error = python(&pool).await.unwrap_err().to_string();
    assert!(error.starts_with("templates are not run: the self-test failed: "), "{error}");
    assert!(error.ends_with(" took too long"), "{error}");
    let doubled = ["200", "400", "800", "1600", "3200", "6400", "12800"];
    assert_eq!(*times.lock().unwrap(), doubled);
}

#[tokio::test]
async fn a_worker_that_does_not_answer_is_replaced() {
    let health = Duration::from_millis(200);
    let pool = pool(Config { health, ..config() }, Fake::new(|_, _| say(ANSWER)).deaf(2));
    until(|| pool.inner.metrics.restarts.get() >= 2).await;
    assert_eq!(text(python(&pool).await), "resources: []");
}

/// Sessions that answer with their own number, so that it shows who answered; only the first call of each when `once`.
fn sessions(once: bool) -> Fake {
    Fake::new(move |at, session| {
        assert!(session);
        let answer = say(&format!(r#"{{"text": {{"text": "{at}"}}}}"#));
        let body = format!("{LISTEN}{answer}");
        if once {
            format!("{body}{LISTEN}kill -SEGV $$")
        } else {
            format!("while :; do\n{body}done")
        }
    })
}

#[tokio::test]
async fn jinja_calls_share_a_child_until_it_has_had_its_share() {
    let pool = pool(Config { session_calls: 3, ..config() }, sessions(false));
    let mut answers = Vec::new();
    for _ in 0..7 {
        answers.push(jinja(&pool).await);
        until(|| pool.inner.metrics.in_flight.get() == 0).await;
    }
    assert_eq!(answers, ["0", "0", "0", "1", "1", "1", "2"]);
}

#[tokio::test]
async fn a_kept_child_that_dies_blames_no_template() {
    let pool = pool(config(), sessions(true));
    for want in ["0", "1", "2"] {
        assert_eq!(jinja(&pool).await, want);
        until(|| pool.inner.metrics.in_flight.get() == 0).await;
    }
    assert_eq!(pool.inner.metrics.retries.get(), 2);
}

#[tokio::test]
async fn sessions_of_a_dead_worker_are_not_asked() {
    let pool = pool(config(), sessions(false));
    assert_eq!(jinja(&pool).await, "0");
    for worker in pool.inner.workers() {
        worker.end();
    }
    assert_eq!(jinja(&pool).await, "1");
}

/// Workers that cannot be started until they are mended.
struct Broken {
    fake: Fake,
    mended: Arc<AtomicBool>,
}

impl Launch for Broken {
    fn launch(&self, arguments: &[String], control: OwnedFd) -> io::Result<Box<dyn Process>> {
        if self.mended.load(Ordering::Relaxed) {
            return self.fake.launch(arguments, control);
        }
        Err(io::Error::other("broken"))
    }
}

#[tokio::test]
async fn nobody_waits_for_workers_that_cannot_be_started() {
    let mended = Arc::new(AtomicBool::new(false));
    let fake = Fake::new(|_, _| format!("{}{HANG}", say(ANSWER)));
    let broken: Arc<dyn Launch> = Arc::new(Broken { fake, mended: Arc::clone(&mended) });
    let pool = Pool::launch(config(), &broken).unwrap();
    match python(&pool).await {
        Err(PoolError::Unavailable(reason)) => assert!(reason.contains("cannot be started")),
        other => panic!("{other:?}"),
    }
    assert!(pool.readiness().is_err());
    mended.store(true, Ordering::Relaxed);
    until(|| pool.readiness().is_ok()).await;
    assert_eq!(text(python(&pool).await), "resources: []");
}

#[tokio::test]
async fn a_full_queue_turns_calls_away() {
    let ordered = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&ordered);
    let fake = Fake::new(move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        HANG.into()
    });
    let pool = pool(Config { concurrency: Some(1), queue: 1, ..config() }, fake);
    let begin = |pool: &Pool| {
        let pool = pool.clone();
        tokio::spawn(async move { python(&pool).await })
    };
    let running = begin(&pool);
    until(|| ordered.load(Ordering::Relaxed) == 1).await;
    let waiting = begin(&pool);
    until(|| pool.inner.metrics.waiting.get() == 1).await;
    assert!(matches!(python(&pool).await, Err(PoolError::Busy { .. })));
    running.abort();
    until(|| ordered.load(Ordering::Relaxed) == 2).await;
    waiting.abort();
}
