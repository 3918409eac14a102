//! Expansions driven with a renderer and a fetcher that are played: what is asked at once, what is kept, what is passed on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use expander::{
    Cache, ExpandError, Fetch, FetchError, Fetching, NoFetch, PoolError, Render, Rendering, Terms,
    expand,
};
use expansion::{Call, Fault, Import, Imports, Input, Outcome, Rendered, Wanted};
use tokio::time::{Instant, sleep};

/// What the renderer does to each call.
#[derive(Clone, Copy)]
enum Play {
    Render,
    Fail,
    Busy,
    Hang,
}

/// Renders every template to one primitive resource of the name of its own, and counts.
struct Played {
    play: Play,
    width: usize,
    now: AtomicUsize,
    most: AtomicUsize,
    all: AtomicUsize,
}

impl Played {
    fn new(play: Play, width: usize) -> Self {
        let zero = AtomicUsize::default;
        Self { play, width, now: zero(), most: zero(), all: zero() }
    }

    fn all(&self) -> usize {
        self.all.load(Ordering::SeqCst)
    }
}

impl Render for Played {
    fn width(&self) -> usize {
        self.width
    }

    fn render(&self, call: Call, _: Terms) -> Rendering<'_> {
        Box::pin(async move {
            self.all.fetch_add(1, Ordering::SeqCst);
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            // The later a call was asked for, the earlier it ends.
            sleep(Duration::from_millis(1000 - call.id.min(900))).await;
            self.now.fetch_sub(1, Ordering::SeqCst);
            let name = call.resource.get("name").and_then(|name| name.as_str()).unwrap_or_default();
            match self.play {
                Play::Render => Ok(Outcome::Rendered(Rendered::Text {
                    text: format!("resources:\n- name: {name}-pod\n  type: Pod\n"),
                    properties: None,
                    fuel: 1,
                })),
                Play::Fail => {
                    let (kind, message) = ("E".to_owned(), "no".to_owned());
                    Ok(Outcome::Failed(Fault { kind, message, ..Fault::default() }))
                }
                Play::Busy => Err(PoolError::Busy { retry_after: Duration::from_secs(1) }),
                Play::Hang => std::future::pending().await,
            }
        })
    }
}

/// Brings every name as a template, or says why not.
struct Library(Result<(), &'static str>);

impl Fetch for Library {
    fn fetch<'a>(&'a self, wanted: &'a [Wanted]) -> Fetching<'a> {
        let brought = wanted.iter().map(|Wanted { name }| match self.0 {
            Ok(()) => Ok((name.clone(), Import { path: String::new(), content: "x".into() })),
            Err(message) => Err(FetchError { name: name.clone(), message: message.into() }),
        });
        let brought: Result<Imports, FetchError> = brought.collect();
        Box::pin(async { brought })
    }
}

fn input(resources: usize, template: &str) -> Input {
    let mut configuration = String::from("resources:\n");
    for at in 0..resources {
        configuration.push_str(&format!("- name: r{at}\n  type: {template}\n"));
    }
    let import = Import { path: "t.jinja".into(), content: "x".into() };
    let imports = Imports::from([("t.jinja".to_owned(), import)]);
    Input { configuration, imports, ..Input::default() }
}

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

const URL: &str = "https://example.com/u.jinja";

#[tokio::test(start_paused = true)]
async fn a_level_is_rendered_beside_each_other_within_the_renderers_width() {
    let renderer = Played::new(Play::Render, 4);
    let expanded = expand(input(20, "t.jinja"), &renderer, &NoFetch, deadline()).await.unwrap();
    let names: Vec<_> =
        expanded.resources.iter().map(|r| r.get("name").unwrap().as_str().unwrap()).collect();
    let want: Vec<_> = (0..20).map(|at| format!("r{at}-pod")).collect();
    assert_eq!(names, want, "in order, whichever was done first");
    assert_eq!((renderer.all(), renderer.most.load(Ordering::SeqCst)), (20, 4));
}

#[tokio::test(start_paused = true)]
async fn an_expansion_ends_at_its_deadline() {
    let begun = Instant::now();
    let deadline = begun + Duration::from_secs(30);
    let renderer = Played::new(Play::Hang, 1);
    let result = expand(input(1, "t.jinja"), &renderer, &NoFetch, deadline).await;
    assert_eq!(result, Err(ExpandError::Timeout));
    assert_eq!(begun.elapsed(), Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn what_the_pool_refuses_is_no_fault_of_the_template() {
    let busy = Played::new(Play::Busy, 1);
    let result = expand(input(1, "t.jinja"), &busy, &NoFetch, deadline()).await;
    assert!(matches!(result, Err(ExpandError::Pool(PoolError::Busy { .. }))), "{result:?}");
    let failing = Played::new(Play::Fail, 1);
    let result = expand(input(1, "t.jinja"), &failing, &NoFetch, deadline()).await;
    assert!(matches!(result, Err(ExpandError::Failure(_))), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_fetched_is_a_problem_that_names_it() {
    let renderer = Played::new(Play::Render, 1);
    let refused = Library(Err("the host is not allowed"));
    let result = expand(input(1, URL), &renderer, &refused, deadline()).await;
    let Err(ExpandError::Failure(failure)) = result else { panic!("{result:?}") };
    assert_eq!(failure.problems[0].file.as_deref(), Some(URL));
    assert_eq!(failure.problems[0].message, "the host is not allowed");
    let result = expand(input(1, URL), &renderer, &NoFetch, deadline()).await;
    assert!(matches!(result, Err(ExpandError::Failure(_))), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn big_inputs_expand_as_small_ones_do() {
    let renderer = Played::new(Play::Render, 1);
    let mut big = input(3, "t.jinja");
    let padding = Import { path: String::new(), content: "x".repeat(2 << 20).into() };
    big.imports.insert("padding".into(), padding);
    let small = expand(input(3, "t.jinja"), &renderer, &NoFetch, deadline()).await.unwrap();
    assert_eq!(expand(big, &renderer, &NoFetch, deadline()).await.unwrap(), small);
}

#[tokio::test(start_paused = true)]
async fn equal_requests_are_expanded_once() {
    let cache = Cache::new(1 << 20);
    let renderer = Played::new(Play::Render, 1);
    let one = || cache.expand(input(1, "t.jinja"), &renderer, &NoFetch, deadline());
    let (first, second) = tokio::join!(one(), one());
    let (first, second, third) = (first.unwrap(), second.unwrap(), one().await.unwrap());
    assert_eq!(renderer.all(), 1);
    assert!(Arc::ptr_eq(&first.expanded, &second.expanded));
    assert!(Arc::ptr_eq(&first.expanded, &third.expanded));
    assert_eq!(first.digest, expander::digest(&input(1, "t.jinja")));
    let other = cache.expand(input(2, "t.jinja"), &renderer, &NoFetch, deadline()).await.unwrap();
    assert_ne!(other.digest, first.digest);
    assert_eq!(renderer.all(), 3);
}

#[tokio::test(start_paused = true)]
async fn neither_failures_nor_what_was_fetched_is_kept() {
    let cache = Cache::new(1 << 20);
    let failing = Played::new(Play::Fail, 1);
    let renderer = Played::new(Play::Render, 1);
    for times in 1..3 {
        let failed = cache.expand(input(1, "t.jinja"), &failing, &NoFetch, deadline()).await;
        assert!(matches!(failed, Err(ExpandError::Failure(_))));
        assert_eq!(failing.all(), times);
        let fetched = cache.expand(input(1, URL), &renderer, &Library(Ok(())), deadline()).await;
        assert_eq!(fetched.unwrap().expanded.resources.len(), 1);
        assert_eq!(renderer.all(), times);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_fetched_is_told_and_is_part_of_the_digest() {
    let cache = Cache::new(1 << 20);
    let renderer = Played::new(Play::Render, 1);
    let library = Library(Ok(()));
    let fetched = cache.expand(input(1, URL), &renderer, &library, deadline()).await.unwrap();
    let names: Vec<_> = fetched.fetched.keys().map(String::as_str).collect();
    assert_eq!(names, [URL]);
    // Whoever brings the same along has the same result, and the same digest.
    let mut whole = input(1, URL);
    whole.imports.extend((*fetched.fetched).clone());
    assert_eq!(fetched.digest, expander::digest(&whole));
    let given = cache.expand(whole, &renderer, &NoFetch, deadline()).await.unwrap();
    assert_eq!((given.digest, given.fetched.len()), (fetched.digest, 0));
    assert_eq!(given.expanded.resources, fetched.expanded.resources);
}

#[tokio::test(start_paused = true)]
async fn what_comes_of_files_for_one_is_shared_with_nobody() {
    let cache = Cache::new(1 << 20);
    let renderer = Played::new(Play::Render, 2);
    let (one, nothing) = (Library(Ok(())), Library(Err("not for you")));
    let (mine, others) = tokio::join!(
        cache.expand_apart(input(1, URL), &renderer, &one, deadline()),
        cache.expand_apart(input(1, URL), &renderer, &nothing, deadline()),
    );
    assert_eq!(mine.unwrap().fetched.len(), 1);
    assert!(matches!(others.unwrap_err(), ExpandError::Failure(_)));
    // What needs no file is the same for all.
    let all = renderer.all();
    for _ in 0..2 {
        cache.expand_apart(input(1, "t.jinja"), &renderer, &one, deadline()).await.unwrap();
        cache.expand(input(1, "t.jinja"), &renderer, &nothing, deadline()).await.unwrap();
    }
    assert_eq!(renderer.all(), all + 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_has_time_does_not_share_the_timeout_of_another() {
    let cache = Cache::new(1 << 20);
    let renderer = Played::new(Play::Render, 1);
    let soon = Instant::now() + Duration::from_millis(10);
    let (hasty, patient) = tokio::join!(
        cache.expand(input(1, "t.jinja"), &renderer, &NoFetch, soon),
        cache.expand(input(1, "t.jinja"), &renderer, &NoFetch, deadline()),
    );
    assert_eq!(hasty.unwrap_err(), ExpandError::Timeout);
    assert_eq!(patient.unwrap().expanded.resources.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cache_of_no_size_keeps_nothing() {
    let cache = Cache::new(0);
    let renderer = Played::new(Play::Render, 1);
    for times in 1..3 {
        cache.expand(input(1, "t.jinja"), &renderer, &NoFetch, deadline()).await.unwrap();
        assert_eq!(renderer.all(), times);
    }
}

/// Gives so many bytes for every call.
struct Verbose(usize, AtomicUsize);

impl Render for Verbose {
    fn width(&self) -> usize {
        2
    }

    fn render(&self, _: Call, _: Terms) -> Rendering<'_> {
        Box::pin(async {
            self.1.fetch_add(1, Ordering::SeqCst);
            let text = format!("resources: []\n#{}", "x".repeat(self.0));
            Ok(Outcome::Rendered(Rendered::Text { text, properties: None, fuel: 0 }))
        })
    }
}

#[tokio::test]
async fn no_more_is_kept_of_a_level_than_the_expansion_may_have() {
    let renderer = Verbose(1 << 20, AtomicUsize::default());
    let result = expand(input(1000, "t.jinja"), &renderer, &NoFetch, deadline()).await;
    assert!(result.unwrap_err().to_string().contains("(limit: output)"));
    let rendered = renderer.1.load(Ordering::SeqCst);
    assert!((16..=18).contains(&rendered), "{rendered} of 1000 templates were rendered");
}

#[tokio::test(start_paused = true)]
async fn only_so_many_expansions_run_at_once() {
    let cache = Cache::new(0).at_once(1);
    let (begun, hour) = (Instant::now(), deadline());
    let (hanging, renderer) = (Played::new(Play::Hang, 1), Played::new(Play::Render, 1));
    let soon = begun + Duration::from_secs(20);
    let (first, second) = tokio::join!(
        cache.expand(input(1, "t.jinja"), &hanging, &NoFetch, soon),
        cache.expand(input(2, "t.jinja"), &renderer, &NoFetch, hour),
    );
    assert_eq!(first.unwrap_err(), ExpandError::Timeout);
    let busy = PoolError::Busy { retry_after: Duration::from_secs(1) };
    assert_eq!(second.unwrap_err(), busy.into(), "it does not wait for ever");
    assert!(cache.expand(input(2, "t.jinja"), &renderer, &NoFetch, hour).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn two_big_expansions_leave_small_ones_their_room() {
    let cache = Cache::new(0).at_once(8);
    let big = |resources| {
        let mut input = input(resources, "t.jinja");
        input.configuration.push_str(&format!("# {}\n", "x".repeat(600 << 10)));
        input
    };
    let (hanging, renderer) = (Played::new(Play::Hang, 1), Played::new(Play::Render, 1));
    let (hour, soon) = (deadline(), Instant::now() + Duration::from_secs(20));
    let late = async |input| {
        // Behind the two that hang.
        sleep(Duration::from_secs(1)).await;
        cache.expand(input, &renderer, &NoFetch, hour).await
    };
    let (_, _, third, small) = tokio::join!(
        cache.expand(big(1), &hanging, &NoFetch, soon),
        cache.expand(big(2), &hanging, &NoFetch, soon),
        late(big(3)),
        late(input(3, "t.jinja")),
    );
    let busy = PoolError::Busy { retry_after: Duration::from_secs(1) };
    assert_eq!(third.unwrap_err(), busy.into());
    assert!(small.is_ok());
    assert!(cache.expand(big(3), &renderer, &NoFetch, hour).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_an_expansion_that_is_given_up_runs_it() {
    let cache = Arc::new(Cache::new(1 << 20).at_once(1));
    let leader = tokio::spawn({
        let cache = Arc::clone(&cache);
        async move {
            let hanging = Played::new(Play::Hang, 1);
            cache.expand(input(1, "t.jinja"), &hanging, &NoFetch, deadline()).await
        }
    });
    let renderer = Played::new(Play::Render, 1);
    let follower = cache.expand(input(1, "t.jinja"), &renderer, &NoFetch, deadline());
    let (_, followed) = tokio::join!(
        async {
            sleep(Duration::from_secs(5)).await;
            leader.abort();
        },
        async {
            // Behind the one that leads.
            sleep(Duration::from_secs(1)).await;
            follower.await
        },
    );
    assert_eq!(followed.unwrap().expanded.resources.len(), 1);
    assert_eq!(renderer.all(), 1);
}
