//! Being nobody: no capabilities, no way to gain any, no memory that others may read, no life beyond the parent's.

use std::io;

use rustix::process::{
    DumpableBehavior, Pid, Signal, set_dumpable_behavior, set_parent_process_death_signal,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

/// Dies when the parent does, and with it already if that was quicker.
///
/// The kernel means the parent's *thread*: whoever starts a worker does so from a thread that stays.
///
/// # Errors
/// When `parent` is gone.
pub(crate) fn follow(parent: Option<Pid>) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid() == parent {
        Ok(())
    } else {
        Err(io::Error::other("the parent is gone"))
    }
}

/// No core dumps, no looking into this process from beside it, and nothing to be gained by running a program.
///
/// # Errors
/// When the kernel refuses.
pub(crate) fn lock() -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    set_no_new_privs(true)?;
    Ok(())
}

/// Gives up all capabilities, for good.
///
/// # Errors
/// When the kernel refuses.
pub(crate) fn renounce() -> io::Result<()> {
    for bit in 0..u64::BITS {
        let Some(one) = CapabilitySet::from_bits(1 << bit) else { continue };
        // EINVAL: this kernel has fewer. EPERM: there was nothing to lose, and no_new_privs keeps it so.
        match remove_capability_from_bounding_set(one) {
            Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}
