//! The open database, which can be closed and opened again under its users.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{PoisonError, RwLock};

use redb::{
    Database, DatabaseError, Error, ReadTransaction, ReadableDatabase, StorageError,
    WriteTransaction,
};

/// Opens the database anew; it exists.
pub(super) type Opener = Box<dyn Fn() -> Result<Database, DatabaseError> + Send + Sync>;

/// A database that refuses everything after an I/O error until it is opened again, which `reopen` does.
pub(super) struct Disk {
    open: Opener,
    held: RwLock<Held>,
}

struct Held {
    database: Option<Database>,
    /// Keeps other processes out for as long as this one may open the file again.
    lock: Option<File>,
}

impl Disk {
    pub(super) fn open(open: Opener, lock: Option<File>) -> Result<Self, DatabaseError> {
        let database = Some(guarded(&open)?);
        Ok(Self { open, held: RwLock::new(Held { database, lock }) })
    }

    pub(super) fn begin_read(&self) -> Result<ReadTransaction, Error> {
        self.with(|database| Ok(database.begin_read()?))
    }

    pub(super) fn begin_write(&self) -> Result<WriteTransaction, Error> {
        self.with(|database| Ok(database.begin_write()?))
    }

    /// Closes the database and opens it again, which repairs it where that is needed. Reads that are under way fail.
    pub(super) fn reopen(&self) -> Result<(), Error> {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        drop(held.database.take());
        held.database = Some(guarded(&self.open)?);
        Ok(())
    }

    /// Reads the whole file and compares the checksums of all its pages.
    pub(super) fn verify(&self) -> Result<(), Error> {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        let database = held.database.as_mut().ok_or(Error::DatabaseClosed)?;
        if database.check_integrity()? {
            return Ok(());
        }
        Err(Error::Corrupted(
            "checksums did not match, and the last sound state was restored".into(),
        ))
    }

    /// Closes the database for good, also for those who still hold on to this.
    pub(super) fn close(&self) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        drop(held.database.take());
        if let Some(lock) = held.lock.take() {
            // Not only closed: a process that is just being started may hold on to the file for a moment.
            let _ = lock.unlock();
        }
    }

    fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T, Error>) -> Result<T, Error> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        work(held.database.as_ref().ok_or(Error::DatabaseClosed)?)
    }
}

/// A file that is damaged in certain ways makes the database panic instead of refusing it.
fn guarded(open: &Opener) -> Result<Database, DatabaseError> {
    catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|_| {
        let damage = "the database stumbled over its contents".into();
        Err(DatabaseError::Storage(StorageError::Corrupted(damage)))
    })
}
