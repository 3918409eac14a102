//! Keeps one worker alive: starts it, serves it, waits for its death, and starts the next.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep};

use super::backoff::Backoff;
use super::launch::Launch;
use super::{Worker, control};

/// What happens to the worker of a keeper.
pub(crate) enum Event {
    /// It is ready.
    Ready(Arc<Worker>),
    /// It could not be started, or is dead; the reason is for the log.
    Died(String),
}

/// A thread that starts processes and waits for them. It does nothing else, and it lives as long as they do.
pub(crate) struct Keeper {
    jobs: mpsc::Sender<Job>,
}

struct Job {
    control: OwnedFd,
    started: oneshot::Sender<io::Result<Started>>,
}

struct Started {
    pidfd: OwnedFd,
    exit: oneshot::Receiver<String>,
}

impl Keeper {
    pub(crate) fn new(launch: Arc<dyn Launch>, arguments: Vec<String>) -> io::Result<Self> {
        let (jobs, queue) = mpsc::channel();
        let thread = std::thread::Builder::new().name("expander".into());
        thread.spawn(move || work(&queue, &*launch, &arguments))?;
        Ok(Self { jobs })
    }

    /// Runs workers one after the other until `stop` says so, and tells what happens to them.
    pub(crate) async fn keep(
        &self,
        health: Duration,
        mut stop: watch::Receiver<bool>,
        tell: impl Fn(Event),
    ) {
        let mut backoff = Backoff::default();
        while !*stop.borrow() {
            let reason = match self.life(health, &mut stop, &tell).await {
                Ok(reason) => reason,
                Err(error) => format!("it cannot be started: {error}"),
            };
            if *stop.borrow() {
                break;
            }
            tell(Event::Died(reason));
            let pause = backoff.died(Instant::now());
            tokio::select! {
                () = sleep(pause) => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
        }
    }

    /// One worker, from its start to its end.
    async fn life(
        &self,
        health: Duration,
        stop: &mut watch::Receiver<bool>,
        tell: &impl Fn(Event),
    ) -> io::Result<String> {
        let (ours, theirs) = control::pair()?;
        let (started, starting) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts workers is gone");
        self.jobs.send(Job { control: theirs, started }).map_err(|_| gone())?;
        let Started { pidfd, exit } = starting.await.map_err(|_| gone())??;
        let reason = serve(ours, pidfd, health, stop, tell).await?;
        // Dead or killed by now; the next one must not be started before this one has been waited for.
        let status = exit.await.map_err(|_| gone())?;
        Ok(format!("{reason} ({status})"))
    }
}

async fn serve(
    control: OwnedFd,
    pidfd: OwnedFd,
    health: Duration,
    stop: &mut watch::Receiver<bool>,
    tell: &impl Fn(Event),
) -> io::Result<String> {
    let spare = pidfd.try_clone()?;
    let ready = tokio::select! {
        ready = Worker::ready(control, pidfd) => ready,
        _ = stop.wait_for(|stop| *stop) => Err("it is not needed any more".into()),
    };
    match ready {
        Ok(worker) => {
            let worker = Arc::new(worker);
            tell(Event::Ready(Arc::clone(&worker)));
            tokio::select! {
                reason = worker.serve(health) => Ok(reason),
                _ = stop.wait_for(|stop| *stop) => {
                    worker.end();
                    Ok("it is not needed any more".into())
                }
            }
        }
        Err(reason) => {
            // It may be dead already, which is as good.
            let _ = rustix::process::pidfd_send_signal(&spare, rustix::process::Signal::KILL);
            Ok(reason)
        }
    }
}

fn work(queue: &mpsc::Receiver<Job>, launch: &dyn Launch, arguments: &[String]) {
    while let Ok(Job { control, started }) = queue.recv() {
        let process = launch.launch(arguments, control);
        let process =
            process.and_then(|process| Ok((process.pidfd().try_clone_to_owned()?, process)));
        let (pidfd, mut process) = match process {
            Ok(running) => running,
            Err(error) => {
                let _ = started.send(Err(error));
                continue;
            }
        };
        let (exited, exit) = oneshot::channel();
        if started.send(Ok(Started { pidfd, exit })).is_err() {
            // Whoever wanted it is gone, and its control socket with them: it ends by itself.
        }
        let _ = exited.send(process.wait());
    }
}
