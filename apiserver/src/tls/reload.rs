//! Files that are read again when they change: certificates rotate while the server runs.
//!
//! Their contents are compared at intervals. A mounted Secret changes by a symbolic link several
//! directories up, which notifications of the file itself do not show.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Looks at `files` every `interval`, forever, and hands their contents to `apply` when any of them
/// differs from what was last applied. What `apply` refuses is logged and tried again at the next
/// look, for a certificate and its key are not replaced in the same moment.
///
/// It starts from what the files hold now: apply that yourself first.
pub async fn reload_when_changed<E: Display>(
    files: Vec<PathBuf>,
    interval: Duration,
    mut apply: impl FnMut(&[Vec<u8>]) -> Result<(), E>,
) {
    let mut applied = read(&files).await.ok();
    loop {
        tokio::time::sleep(interval).await;
        let contents = match read(&files).await {
            Ok(contents) => contents,
            Err((file, error)) => {
                tracing::warn!(file = %file.display(), %error, "cannot read; keeping what is in use");
                continue;
            }
        };
        if applied.as_ref() == Some(&contents) {
            continue;
        }
        let first = files.first().map(|file| file.display().to_string());
        match apply(&contents) {
            Ok(()) => {
                tracing::info!(file = first, "reloaded");
                applied = Some(contents);
            }
            Err(error) => {
                tracing::warn!(file = first, %error, "cannot use; keeping what is in use");
            }
        }
    }
}

async fn read(files: &[PathBuf]) -> Result<Vec<Vec<u8>>, (&Path, std::io::Error)> {
    let mut contents = Vec::with_capacity(files.len());
    for file in files {
        contents.push(tokio::fs::read(file).await.map_err(|error| (file.as_path(), error))?);
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    /// With a clock that stands still while a file is read, so that the first contents are those.
    #[tokio::test(start_paused = true)]
    async fn a_changed_file_is_applied_and_a_refused_one_tried_again() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("f");
        std::fs::write(&file, "one").unwrap();
        let (tell, mut told) = mpsc::unbounded_channel();
        let mut refusals = 1;
        let task = tokio::spawn(reload_when_changed(
            vec![file.clone()],
            Duration::from_millis(5),
            move |contents| {
                tell.send(contents[0].clone()).unwrap();
                refusals -= 1;
                if refusals == 0 { Err("not yet") } else { Ok(()) }
            },
        ));
        tokio::time::sleep(Duration::from_millis(20)).await;
        // Renamed into place, as a rotation does it: never half there.
        std::fs::write(directory.path().join("new"), "two").unwrap();
        std::fs::rename(directory.path().join("new"), &file).unwrap();
        assert_eq!(told.recv().await.unwrap(), b"two");
        assert_eq!(told.recv().await.unwrap(), b"two");
        task.abort();
    }
}
