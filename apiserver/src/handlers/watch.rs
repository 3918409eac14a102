//! GET of a collection as a stream of its changes.
//!
//! A watch is pulled by its connection: a slow client slows nobody down but itself, and is ended
//! by the cache when it falls too far behind.

mod encode;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use rand::RngExt as _;
use storage::{Cache, Entry, Prefix, Revision, Watcher};
use tokio::time::{Instant, sleep_until};

use self::encode::Encoder;
use super::Call;
use crate::codec::negotiate;
use crate::options::{ListOptions, Wanted};
use crate::response::{Response, ResponseBody};
use crate::status::Error;
use crate::store::{Store, storage_error};

/// The time between bookmarks.
const BOOKMARK_PERIOD: Duration = Duration::from_secs(60);
/// How long before its end a watch gets a last bookmark, from which the client resumes.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);
/// A watch of unlimited time ends after this long, or up to twice as long.
const LEAST_DURATION: u64 = 30 * 60;
/// Roughly how many bytes of initial events go into one piece.
const PIECE: usize = 64 * 1024;

impl Call<'_> {
    /// Answers the changes of a collection.
    pub(super) async fn watch(&self) -> Result<Response, Error> {
        let accepted = negotiate::negotiate_stream(self.wish())?;
        let options = ListOptions::read(&self.info.query, true)?;
        let selector = self.selector()?;
        let scope = self.scope(&selector)?;
        let wanted = Wanted::of_list(&options)?;
        let encoder = Encoder::new(self, accepted, selector)?;
        let deadline = Instant::now() + duration(&options);
        let next_bookmark = options.allow_bookmarks.then(|| first_bookmark(&options, deadline));
        let watching = Watching {
            begun: Instant::now(),
            store: self.store.clone(),
            encoder,
            state: State::Start { scope, wanted, options },
            deadline,
            next_bookmark: next_bookmark.flatten(),
        };
        let events = stream::unfold(watching, Watching::next);
        let mut response = Response::new(ResponseBody::from_stream(events));
        *response.status_mut() = StatusCode::OK;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        Ok(response)
    }
}

/// How long the watch lasts. Without a wish it is left to chance, so that not all end at once.
fn duration(options: &ListOptions) -> Duration {
    let seconds = match options.timeout_seconds {
        None | Some(0) => rand::rng().random_range(LEAST_DURATION..2 * LEAST_DURATION),
        // A negative time is over before it begins.
        Some(seconds) => u64::try_from(seconds).unwrap_or(0),
    };
    Duration::from_secs(seconds)
}

/// None for a watch that is over before a bookmark is of use.
fn first_bookmark(options: &ListOptions, deadline: Instant) -> Option<Instant> {
    const SHORT: i64 = 5;
    if options.timeout_seconds.is_some_and(|seconds| seconds != 0 && seconds <= SHORT) {
        return None;
    }
    Some((Instant::now() + BOOKMARK_PERIOD).min(deadline - LAST_BOOKMARK))
}

/// A watch that is being read.
struct Watching {
    begun: Instant,
    store: Store,
    encoder: Encoder,
    state: State,
    deadline: Instant,
    next_bookmark: Option<Instant>,
}

enum State {
    /// Nothing has been said.
    Start { scope: Prefix, wanted: Wanted, options: ListOptions },
    /// The present state is being told, then a bookmark if one is due, then what follows.
    Initial { entries: VecDeque<Entry>, bookmark: Option<Revision>, watcher: Watcher },
    /// Changes are told as they come.
    Live(Watcher),
    /// Nothing more will be said.
    Over,
}

type Piece = Result<Bytes, std::convert::Infallible>;

impl Watching {
    /// The next piece of the body; none at the end.
    async fn next(mut self) -> Option<(Piece, Self)> {
        loop {
            let state = std::mem::replace(&mut self.state, State::Over);
            let (piece, state) = match state {
                State::Over => return None,
                State::Start { scope, wanted, options } => {
                    let begun = tokio::select! {
                        begun = begin(&self.store, &scope, wanted, &options) => begun,
                        () = sleep_until(self.deadline) => return None,
                    };
                    match begun {
                        Ok(state) => (Ok(Vec::new()), state),
                        Err(error) => (Err(error), State::Over),
                    }
                }
                State::Initial { entries, bookmark, watcher } => {
                    self.tell_initial(entries, bookmark, watcher)
                }
                State::Live(watcher) => self.tell_change(watcher).await?,
            };
            self.state = state;
            let piece = match piece {
                Ok(piece) => piece,
                Err(error) => {
                    self.state = State::Over;
                    self.encoder.error(&error)
                }
            };
            if !piece.is_empty() {
                return Some((Ok(piece.into()), self));
            }
        }
    }

    fn tell_initial(
        &mut self,
        mut entries: VecDeque<Entry>,
        bookmark: Option<Revision>,
        watcher: Watcher,
    ) -> (Result<Vec<u8>, Error>, State) {
        let mut out = Vec::new();
        while out.len() < PIECE {
            let Some(entry) = entries.pop_front() else {
                let told = match bookmark {
                    Some(revision) => {
                        if let Some(sent) = &self.encoder.sent {
                            sent.list(self.begun.elapsed());
                        }
                        self.encoder.bookmark(revision, true, &mut out)
                    }
                    None => Ok(()),
                };
                return (told.map(|()| out), State::Live(watcher));
            };
            if let Err(error) = self.encoder.initial(&entry, &mut out) {
                return (Err(error), State::Over);
            }
        }
        (Ok(out), State::Initial { entries, bookmark, watcher })
    }

    /// Waits for a change, a bookmark's time, or the end. None is the end.
    async fn tell_change(
        &mut self,
        mut watcher: Watcher,
    ) -> Option<(Result<Vec<u8>, Error>, State)> {
        let bookmark_at = self.next_bookmark.unwrap_or(self.deadline);
        let mut out = Vec::new();
        tokio::select! {
            biased;
            () = sleep_until(self.deadline) => return None,
            events = watcher.next() => match events {
                Ok(events) => {
                    for event in &events {
                        if let Err(error) = self.encoder.event(event, &mut out) {
                            return Some((Err(error), State::Over));
                        }
                    }
                }
                // The server stops: the stream just ends, and the client comes back.
                Err(storage::Error::Closed) => return None,
                Err(error) => return Some((Err(storage_error(error)), State::Over)),
            },
            () = sleep_until(bookmark_at), if self.next_bookmark.is_some() => {
                let told = self.encoder.bookmark(watcher.progress(), false, &mut out);
                if let Err(error) = told {
                    return Some((Err(error), State::Over));
                }
                self.next_bookmark = self.bookmark_after(Instant::now());
            }
        }
        Some((Ok(out), State::Live(watcher)))
    }

    fn bookmark_after(&self, now: Instant) -> Option<Instant> {
        let last = self.deadline - LAST_BOOKMARK;
        (now < last).then(|| (now + BOOKMARK_PERIOD).min(last))
    }
}

/// Finds the place in history where the watch begins.
async fn begin(
    store: &Store,
    scope: &Prefix,
    wanted: Wanted,
    options: &ListOptions,
) -> Result<State, Error> {
    let cache = store.cache();
    // Without a revision, a watch has always begun with the present state.
    let initial = options.send_initial_events.unwrap_or(!matches!(wanted, Wanted::At(_)));
    if !initial {
        return Ok(State::Live(resume(cache, scope, wanted).await?));
    }
    reach(store, wanted).await?;
    let (snapshot, watcher) = cache.watch_current(scope);
    let entries = snapshot.list(scope).cloned().collect();
    let bookmark = options.allow_bookmarks.then(|| snapshot.revision());
    Ok(State::Initial { entries, bookmark, watcher })
}

/// Waits for the state that a watch begins with. A revision of the future is refused at once: the
/// client has a list to fall back on, and a watch holds its connection for nothing.
async fn reach(store: &Store, wanted: Wanted) -> Result<(), Error> {
    let Wanted::At(revision) = wanted else { return store.reach(wanted).await };
    store.reach(Wanted::Newest).await?;
    let current = store.cache().revision();
    if revision > current {
        return Err(Error::revision_too_large(revision.get(), current.get()));
    }
    Ok(())
}

/// Follows the changes after a revision; one of the future is waited for.
async fn resume(cache: &Arc<Cache>, scope: &Prefix, wanted: Wanted) -> Result<Watcher, Error> {
    let from = match wanted {
        Wanted::At(revision) => revision,
        Wanted::Newest | Wanted::Any => cache.revision(),
    };
    // The caller gives up at the watch's own deadline.
    let forever = Instant::now() + Duration::from_secs(2 * LEAST_DURATION);
    cache.wait_until(from, forever).await.map_err(storage_error)?;
    cache.watch(scope, from).await.map_err(storage_error)
}
