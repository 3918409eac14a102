//! A disk in memory that can lose its power, fill up and be slow.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use ::redb::{Builder, StorageBackend};

use crate::redb::disk::{Disk, Opener};
use crate::redb::open::{initialize, recognize};
use crate::redb::{Redb, Revision};

/// What a disk writes as a whole or not at all.
const SECTOR: usize = 512;

#[derive(Clone, Debug, Default)]
pub(super) struct SimulatedDisk(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    /// What readers see.
    content: Vec<u8>,
    /// What survives the loss of power for certain.
    durable: Vec<u8>,
    /// What may or may not survive, each for itself.
    pending: Vec<Pending>,
    syncs: usize,
    /// No sync returns from this one on.
    held_at: Option<usize>,
    /// Whether one waits for that.
    waiting: bool,
    /// The next sync fails, and has or has not done its work.
    failing: Option<Fate>,
    /// How many more bytes can be written or added.
    room: Option<usize>,
    dead: bool,
}

/// What a sync that reports failure has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Kept,
    Lost,
}

#[derive(Clone, Debug)]
enum Pending {
    Write(usize, Vec<u8>),
    Length(usize),
}

impl SimulatedDisk {
    /// A disk with an empty store.
    pub(super) fn formatted() -> Self {
        let disk = Self::default();
        initialize(&Builder::new().create_with_backend(disk.clone()).unwrap()).unwrap();
        disk
    }

    pub(super) fn open(&self) -> Redb {
        let disk = self.clone();
        // As small a page cache as it takes, so that the file is really read.
        let open: Opener = Box::new(move || {
            Builder::new().set_cache_size(64 << 10).create_with_backend(disk.clone())
        });
        let disk = Disk::open(open, None).unwrap();
        let marks = recognize(&disk, Revision::ZERO).unwrap();
        Redb::start(disk, marks).unwrap()
    }

    /// The disk as it is found if the power is lost now. `dice(n)` picks below `n`.
    pub(super) fn after_power_loss(&self, dice: &mut impl FnMut(usize) -> usize) -> Self {
        let state = self.lock();
        let mut content = state.durable.clone();
        for pending in &state.pending {
            match pending {
                Pending::Length(length) if dice(2) == 0 => content.resize(*length, 0),
                Pending::Write(offset, data) => {
                    for (index, sector) in data.chunks(SECTOR).enumerate() {
                        if dice(2) == 0 {
                            store(&mut content, offset + index * SECTOR, sector);
                        }
                    }
                }
                Pending::Length(_) => {}
            }
        }
        Self::holding(content)
    }

    /// The disk as it is found if the process is killed now: the system keeps what it was given.
    pub(super) fn after_kill(&self) -> Self {
        Self::holding(self.lock().content.clone())
    }

    fn holding(content: Vec<u8>) -> Self {
        let state = State { durable: content.clone(), content, ..State::default() };
        Self(Arc::new((Mutex::new(state), Condvar::new())))
    }

    /// Lets nothing reach the disk any more, as if it had been unplugged.
    pub(super) fn unplug(&self) {
        self.lock().dead = true;
        self.0.1.notify_all();
    }

    /// Lets every sync from now on wait.
    pub(super) fn hold_syncs(&self) {
        let mut state = self.lock();
        state.held_at = Some(state.syncs);
    }

    /// Whether a sync waits to be released.
    pub(super) fn holds_a_sync(&self) -> bool {
        self.lock().waiting
    }

    pub(super) fn release_syncs(&self) {
        self.lock().held_at = None;
        self.0.1.notify_all();
    }

    /// Leaves room for so many more bytes, or any number.
    pub(super) fn set_room(&self, room: Option<usize>) {
        self.lock().room = room;
    }

    /// Lets the next sync report a failure.
    pub(super) fn fail_sync(&self, fate: Fate) {
        self.lock().failing = Some(fate);
    }

    pub(super) fn syncs(&self) -> usize {
        self.lock().syncs
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap()
    }

    fn working(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.lock();
        if state.dead { Err(io::Error::other("the disk is gone")) } else { Ok(state) }
    }
}

impl State {
    fn take_room(&mut self, bytes: usize) -> io::Result<()> {
        let Some(room) = &mut self.room else { return Ok(()) };
        *room = room.checked_sub(bytes).ok_or(io::ErrorKind::StorageFull)?;
        Ok(())
    }
}

/// Writes what lies within the file; the rest is lost with the file's length.
fn store(content: &mut [u8], offset: usize, data: &[u8]) {
    let end = content.len().min(offset + data.len());
    if offset < end {
        content[offset..end].copy_from_slice(&data[..end - offset]);
    }
}

impl StorageBackend for SimulatedDisk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.working()?.content.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (state, offset) = (self.working()?, usize::try_from(offset).unwrap());
        let data = state.content.get(offset..offset + out.len());
        out.copy_from_slice(data.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let (mut state, length) = (self.working()?, usize::try_from(length).unwrap());
        let more = length.saturating_sub(state.content.len());
        state.take_room(more)?;
        state.content.resize(length, 0);
        state.pending.push(Pending::Length(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.working()?;
        while !state.dead && state.held_at.is_some_and(|held| state.syncs >= held) {
            state.waiting = true;
            state = self.0.1.wait(state).unwrap();
        }
        state.waiting = false;
        if state.dead {
            return Err(io::Error::other("the disk is gone"));
        }
        state.syncs += 1;
        let fate = state.failing.take();
        if fate != Some(Fate::Lost) {
            state.durable = state.content.clone();
            state.pending.clear();
        }
        fate.map_or(Ok(()), |_| Err(io::Error::other("the sync failed")))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let (mut state, offset) = (self.working()?, usize::try_from(offset).unwrap());
        state.take_room(data.len())?;
        state.content[offset..offset + data.len()].copy_from_slice(data);
        state.pending.push(Pending::Write(offset, data.to_vec()));
        Ok(())
    }
}
