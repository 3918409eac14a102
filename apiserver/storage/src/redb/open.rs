//! Finding, locking, creating and recognising the file.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use redb::{Builder, Database, Error, ReadableTable};

use super::disk::{Disk, Opener};
use super::read;
use super::tables::{FORMAT, LOG, META, META_FORMAT, Marks, OBJECTS};
use crate::Revision;

const FILE: &str = "store.redb";
const LOCK: &str = "store.lock";

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many bytes of the file are kept in memory. The watch cache answers almost every read, so a little
    /// suffices.
    pub page_cache: usize,
    /// A revision that the store must have reached. A store that was restored from a backup is given one above all
    /// that were handed out before, so that no revision is used twice; its history is forgotten then.
    pub at_least: Revision,
}

impl Default for Options {
    fn default() -> Self {
        Self { page_cache: 8 << 20, at_least: Revision::ZERO }
    }
}

/// Why a store cannot be opened. None of these is mended by trying again, but some by the operator.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("the store in {0} is in use by another process")]
    Locked(PathBuf),
    /// Written by a newer version of this program.
    #[error("the store has format {found}, and this version knows formats up to {FORMAT}")]
    Format {
        /// The format of the file.
        found: u64,
    },
    /// It is not, or no longer, a store.
    #[error("the store in {directory} is damaged: {damage}")]
    Damaged {
        /// Where it is.
        directory: PathBuf,
        /// What is wrong.
        damage: String,
    },
    /// The system refused.
    #[error("cannot {doing} in {directory}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// Where.
        directory: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Opens the store in `directory`, or makes one there.
pub(super) fn open(directory: &Path, options: &Options) -> Result<(Disk, Marks), OpenError> {
    let home = Home { directory };
    let lock = home.lock()?;
    if !home.file().exists() {
        home.create()?;
    }
    let (file, page_cache) = (home.file(), options.page_cache);
    let open: Opener = Box::new(move || Builder::new().set_cache_size(page_cache).open(&file));
    let disk = Disk::open(open, Some(lock)).map_err(|error| home.refused(error.into()))?;
    let format = format(&disk).map_err(|error| home.refused(error))?;
    if format > FORMAT {
        return Err(OpenError::Format { found: format });
    }
    let marks = recognize(&disk, options.at_least).map_err(|error| home.refused(error))?;
    Ok((disk, marks))
}

/// Gives an empty database its tables.
pub(super) fn initialize(database: &Database) -> Result<(), Error> {
    let txn = database.begin_write()?;
    txn.open_table(OBJECTS)?;
    txn.open_table(LOG)?;
    {
        let mut meta = txn.open_table(META)?;
        meta.insert(META_FORMAT, FORMAT)?;
        Marks::FRESH.write(&mut meta)?;
    }
    txn.commit()?;
    Ok(())
}

/// A directory and what lies in it.
struct Home<'a> {
    directory: &'a Path,
}

impl Home<'_> {
    fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// Locks the directory, which is made where missing.
    fn lock(&self) -> Result<File, OpenError> {
        // Values may be secrets: nobody else may look.
        let made = DirBuilder::new().recursive(true).mode(0o700).create(self.directory);
        made.map_err(self.failed("make the store's directory"))?;
        let lock = private().create(true).truncate(false).open(self.directory.join(LOCK));
        let lock = lock.map_err(self.failed("open the lock file"))?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => Err(OpenError::Locked(self.directory.into())),
            Err(TryLockError::Error(error)) => Err(self.failed("lock the store")(error)),
        }
    }

    /// Makes an empty store. It gets its name when it is complete, so that a crash leaves a whole one or none.
    fn create(&self) -> Result<(), OpenError> {
        let draft = self.file().with_extension("new");
        let file = private().create(true).truncate(true).open(&draft);
        let file = file.map_err(self.failed("create the store"))?;
        let database = Builder::new().create_file(file);
        let database = database.map_err(|error| self.refused(error.into()))?;
        initialize(&database).map_err(|error| self.refused(error))?;
        drop(database);
        self.keep(&draft).map_err(self.failed("name the store"))
    }

    /// Gives the draft its name, which is on the disk when this returns, as is that of the directory.
    fn keep(&self, draft: &Path) -> io::Result<()> {
        fs::rename(draft, self.file())?;
        let directory = self.directory.canonicalize()?;
        for directory in directory.ancestors().take(2) {
            File::open(directory)?.sync_all()?;
        }
        Ok(())
    }

    fn failed(&self, doing: &'static str) -> impl FnOnce(io::Error) -> OpenError {
        move |source| OpenError::Io { doing, directory: self.directory.into(), source }
    }

    fn refused(&self, error: Error) -> OpenError {
        use io::ErrorKind::{InvalidData, UnexpectedEof};
        match error {
            Error::DatabaseAlreadyOpen => OpenError::Locked(self.directory.into()),
            Error::Io(error) if !matches!(error.kind(), InvalidData | UnexpectedEof) => {
                self.failed("read the store")(error)
            }
            damage => {
                OpenError::Damaged { directory: self.directory.into(), damage: damage.to_string() }
            }
        }
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

fn format(disk: &Disk) -> Result<u64, Error> {
    let format = disk.begin_read()?.open_table(META)?.get(META_FORMAT)?;
    format.map(|format| format.value()).ok_or_else(|| Error::Corrupted("it has no format".into()))
}

/// Reads where the history stands, and moves on to `at_least`.
pub(super) fn recognize(disk: &Disk, at_least: Revision) -> Result<Marks, Error> {
    let txn = disk.begin_read()?;
    let marks = read::marks(&txn)?;
    let newest = txn.open_table(LOG)?.last()?.map(|(revision, _)| Revision::new(revision.value()));
    if newest.is_some_and(|newest| newest > marks.revision) || marks.compacted > marks.revision {
        return Err(Error::Corrupted(format!("{newest:?} is beyond {marks:?}")));
    }
    if at_least <= marks.revision {
        return Ok(marks);
    }
    let marks = Marks { revision: at_least, compacted: at_least };
    let txn = disk.begin_write()?;
    marks.write(&mut txn.open_table(META)?)?;
    txn.commit()?;
    Ok(marks)
}
