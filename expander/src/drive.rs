//! Drives an expansion to its end: answers what it asks for, with renderings and with files.
//!
//! What an expansion means is none of its business; that is the pure crate's.

use std::panic::resume_unwind;

use expansion::{
    Call, Cause, Expanded, Expansion, Failure, Import, Imports, Input, Outcome, Problem, Step,
};
use futures::stream::{self, StreamExt as _};
use tokio::time::{Instant, timeout_at};

use crate::error::{ExpandError, PoolError};
use crate::fetch::{Fetch, FetchError};
use crate::render::{Render, Terms};
use crate::room::{Place, Room};
use crate::weight;

/// From how many bytes on a step is no work for a thread that serves others.
const HEAVY: usize = 64 << 10;

/// Expands `input`; templates are rendered by `renderer`, and what is lacking is brought by `fetch`.
///
/// # Errors
/// When the input is at fault, templates cannot be rendered now, or `deadline` passes.
pub async fn expand(
    input: Input,
    renderer: &dyn Render,
    fetch: &dyn Fetch,
    deadline: Instant,
) -> Result<Expanded, ExpandError> {
    let room = Room::boundless();
    let place = room.enter().await?;
    run(input, place, renderer, fetch, deadline).await.map(|finished| finished.expanded)
}

/// A result, and the files that went into it beside the input; none, if none were asked for.
pub(crate) struct Finished {
    pub(crate) expanded: Expanded,
    pub(crate) fetched: Option<Imports>,
}

pub(crate) async fn run(
    input: Input,
    place: Place<'_>,
    renderer: &dyn Render,
    fetch: &dyn Fetch,
    deadline: Instant,
) -> Result<Finished, ExpandError> {
    let work = async {
        let terms = Terms::new(&input.options.limits, deadline);
        let mut machine = Machine::start(input, place).await?;
        let mut fetched: Option<Imports> = None;
        loop {
            match machine.step().await? {
                Step::Done(expanded) => return Ok(Finished { expanded, fetched }),
                Step::Import(wanted) => {
                    let files = fetch.fetch(&wanted).await.map_err(unfetched)?;
                    fetched.get_or_insert_default().extend(files.clone());
                    machine.import(files).await?;
                }
                Step::Render(calls) => render(&mut machine, calls, renderer, terms).await?,
            }
        }
    };
    timeout_at(deadline, work).await.unwrap_or(Err(ExpandError::Timeout))
}

/// Renders the calls of a level beside each other, only so many that a wide one does not fill the queue for all others.
async fn render(
    machine: &mut Machine<'_>,
    calls: Vec<Call>,
    renderer: &dyn Render,
    terms: Terms,
) -> Result<(), ExpandError> {
    let rendering = |call: Call| async move { (call.id, renderer.render(call, terms).await) };
    let mut answers = stream::iter(calls).map(rendering).buffer_unordered(renderer.width().max(1));
    while let Some((id, outcome)) = answers.next().await {
        match outcome {
            Ok(outcome) => machine.answer(id, outcome).await?,
            Err(PoolError::Timeout) => return Err(ExpandError::Timeout),
            Err(error) => return Err(error.into()),
        }
        // The next step fails. What is under way is given up with the stream.
        if machine.present().is_exhausted() {
            break;
        }
    }
    Ok(())
}

fn unfetched(FetchError { name, message }: FetchError) -> Failure {
    Problem::new(Cause::Import, message).in_file(name).into()
}

/// How long files are.
fn length(files: &Imports) -> usize {
    files.values().map(|import| import.content.len()).sum()
}

/// How much work they are. A schema of a few lines can be a second's.
fn work(files: &Imports) -> usize {
    let work = |(name, import): (&String, &Import)| {
        if name.ends_with(".schema") { HEAVY } else { import.content.len() }
    };
    files.iter().map(work).sum()
}

/// An expansion, and how much it has been given: steps of big ones go to threads that may take their time.
struct Machine<'a> {
    /// None while another thread has it.
    expansion: Option<Expansion>,
    given: usize,
    place: Place<'a>,
}

impl<'a> Machine<'a> {
    async fn start(input: Input, mut place: Place<'a>) -> Result<Self, ExpandError> {
        let configuration = weight::of_yaml(&input.configuration);
        let given = configuration + work(&input.imports);
        place.grow(configuration + length(&input.imports)).await?;
        let expansion = if given < HEAVY {
            Expansion::new(input)
        } else {
            aside(move || Expansion::new(input)).await
        };
        Ok(Self { expansion: Some(expansion?), given, place })
    }

    async fn step(&mut self) -> Result<Step, Failure> {
        if self.given < HEAVY {
            return self.present().step();
        }
        let mut expansion = self.expansion.take().expect(PRESENT);
        let (expansion, step) = aside(move || {
            let step = expansion.step();
            (expansion, step)
        })
        .await;
        self.expansion = Some(expansion);
        step
    }

    async fn import(&mut self, files: Imports) -> Result<(), PoolError> {
        self.place.grow(length(&files)).await?;
        self.given += work(&files);
        self.present().import(files);
        Ok(())
    }

    async fn answer(&mut self, id: u64, outcome: Outcome) -> Result<(), PoolError> {
        let size = weight::of_outcome(&outcome);
        self.place.grow(size).await?;
        self.given += size;
        if size < HEAVY {
            self.present().answer(id, outcome);
            return Ok(());
        }
        let mut expansion = self.expansion.take().expect(PRESENT);
        let answered = aside(move || {
            expansion.answer(id, outcome);
            expansion
        });
        self.expansion = Some(answered.await);
        Ok(())
    }

    fn present(&mut self) -> &mut Expansion {
        self.expansion.as_mut().expect(PRESENT)
    }
}

const PRESENT: &str = "only work in progress has the expansion, and nothing else happens then";

/// Runs `work` on a thread that may take its time.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => resume_unwind(error.into_panic()),
    }
}
