//! How the process is told to stop.

use std::future::Future;
use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// The first SIGTERM or SIGINT asks to stop in order, the second at once.
///
/// # Errors
/// When the process cannot listen to signals.
pub(crate) fn stop()
-> io::Result<(impl Future<Output = ()>, impl Future<Output = ()> + Send + 'static)> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (first, told_first) = oneshot::channel();
    let (second, told_second) = oneshot::channel();
    tokio::spawn(async move {
        for told in [first, second] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            // Nobody listens any more when the server has stopped by itself.
            let _ = told.send(());
        }
    });
    let wait = |told: oneshot::Receiver<()>| async move {
        let _ = told.await;
    };
    Ok((wait(told_first), wait(told_second)))
}
