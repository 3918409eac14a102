//! The log's file, or standard output: lines that are written at once, and files that are put aside
//! when they are full.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// The time in the name of a file that was put aside, as upstream's logs have it.
const ASIDE: &str = "%Y-%m-%dT%H-%M-%S.%3f";

/// When a file is full, and how long it is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rotation {
    /// The size in bytes that no file exceeds; 0 for no bound. A longer line has a file for itself.
    pub size: u64,
    /// How many full files are kept; 0 for all.
    pub backups: usize,
    /// For how many days full files are kept; 0 for ever.
    pub days: u32,
}

/// Where events go.
pub struct Log(Mutex<Output>);

enum Output {
    Stdout,
    File(Rotating),
}

struct Rotating {
    path: PathBuf,
    rotation: Rotation,
    file: File,
    size: u64,
    /// A write broke off in the middle of a line.
    torn: bool,
}

impl Log {
    /// Writes to standard output.
    pub fn stdout() -> Self {
        Self(Mutex::new(Output::Stdout))
    }

    /// Appends to a file, which only its owner may read: it says who does what.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn file(path: &Path, rotation: Rotation) -> io::Result<Self> {
        Ok(Self(Mutex::new(Output::File(Rotating::open(path, rotation)?))))
    }

    /// Writes a line, which ends with its line feed.
    pub(super) fn write(&self, line: &[u8], now: Timestamp) -> io::Result<()> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Output::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(line)?;
                stdout.flush()
            }
            Output::File(file) => file.write(line, now),
        }
    }

    /// Makes what was written durable.
    pub(super) fn flush(&self) -> io::Result<()> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Output::Stdout => Ok(()),
            // What is no regular file, such as a pipe, has nothing to make durable.
            Output::File(file) if !file.file.metadata()?.is_file() => Ok(()),
            Output::File(file) => file.file.sync_all(),
        }
    }
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

impl Rotating {
    fn open(path: &Path, rotation: Rotation) -> io::Result<Self> {
        let file = append(path)?;
        let size = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), rotation, file, size, torn: false })
    }

    fn write(&mut self, line: &[u8], now: Timestamp) -> io::Result<()> {
        let length = line.len() as u64;
        if self.rotation.size > 0 && self.size > 0 && self.size + length > self.rotation.size {
            self.put_aside(now)?;
        }
        if std::mem::replace(&mut self.torn, true) {
            self.file.write_all(b"\n")?;
        }
        self.file.write_all(line)?;
        self.torn = false;
        self.size += length;
        Ok(())
    }

    /// Renames the full file and begins a new one.
    fn put_aside(&mut self, now: Timestamp) -> io::Result<()> {
        fs::rename(&self.path, self.aside(now))?;
        *self = Self::open(&self.path, self.rotation)?;
        // The event matters more than an old file that will not go.
        if let Err(error) = self.clear_away(now) {
            tracing::warn!(%error, "cannot remove old audit logs");
        }
        Ok(())
    }

    /// The next free name: two files may be full in one millisecond.
    fn aside(&self, now: Timestamp) -> PathBuf {
        let (stem, extension) = self.name();
        let mut at = now;
        loop {
            let path =
                self.path.with_file_name(format!("{stem}-{}{extension}", at.strftime(ASIDE)));
            if !path.exists() {
                return path;
            }
            at += SignedDuration::from_millis(1);
        }
    }

    /// The file's name without and with its extension, e.g. `audit` and `.log`.
    fn name(&self) -> (String, String) {
        let text = |part: Option<&std::ffi::OsStr>| {
            part.unwrap_or_default().to_string_lossy().into_owned()
        };
        let extension = self.path.extension().map(|_| format!(".{}", text(self.path.extension())));
        (text(self.path.file_stem()), extension.unwrap_or_default())
    }

    fn clear_away(&self, now: Timestamp) -> io::Result<()> {
        let Rotation { backups, days, .. } = self.rotation;
        let oldest = now - SignedDuration::from_hours(24 * i64::from(days));
        for (index, (time, path)) in self.backups()?.into_iter().enumerate() {
            if (backups > 0 && index >= backups) || (days > 0 && time < oldest) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// The files that were put aside, the newest first.
    fn backups(&self) -> io::Result<Vec<(Timestamp, PathBuf)>> {
        let (stem, extension) = self.name();
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut found = Vec::new();
        for entry in fs::read_dir(folder.unwrap_or_else(|| Path::new(".")))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let time = name.strip_prefix(&stem).and_then(|rest| rest.strip_prefix('-'));
            let time = time.and_then(|rest| rest.strip_suffix(&extension));
            let time = time.and_then(|time| {
                jiff::civil::DateTime::strptime("%Y-%m-%dT%H-%M-%S%.f", time).ok()
            });
            let time = time.and_then(|time| time.to_zoned(jiff::tz::TimeZone::UTC).ok());
            found.extend(time.map(|time| (time.timestamp(), path.clone())));
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn lines_are_appended_and_only_the_owner_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        for line in ["a\n", "b\n"] {
            let log = Log::file(&path, Rotation::default()).unwrap();
            log.write(line.as_bytes(), at(0)).unwrap();
            log.flush().unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nb\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_full_file_is_put_aside_and_an_old_one_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let rotation = Rotation { size: 4, backups: 2, days: 0 };
        let log = Log::file(&path, rotation).unwrap();
        for second in 0..5 {
            log.write(b"123\n", at(second)).unwrap();
        }
        log.write(b"5\n", at(5)).unwrap();
        let kept =
            ["audit-1970-01-01T00-00-04.000.log", "audit-1970-01-01T00-00-05.000.log", "audit.log"];
        assert_eq!(names(folder.path()), kept);
        assert_eq!(fs::read_to_string(&path).unwrap(), "5\n");
    }

    #[test]
    fn files_full_in_the_same_moment_do_not_replace_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let log =
            Log::file(&folder.path().join("audit"), Rotation { size: 1, ..Rotation::default() })
                .unwrap();
        for _ in 0..4 {
            log.write(b"x\n", at(0)).unwrap();
        }
        assert_eq!(names(folder.path()).len(), 4);
    }

    #[test]
    fn files_are_kept_for_so_many_days() {
        let folder = tempfile::tempdir().unwrap();
        let rotation = Rotation { size: 1, backups: 0, days: 1 };
        let log = Log::file(&folder.path().join("audit.log"), rotation).unwrap();
        for hour in [0, 1, 2, 26] {
            log.write(b"x\n", at(hour * 3600)).unwrap();
        }
        let kept =
            ["audit-1970-01-01T02-00-00.000.log", "audit-1970-01-02T02-00-00.000.log", "audit.log"];
        assert_eq!(names(folder.path()), kept);
    }
}
