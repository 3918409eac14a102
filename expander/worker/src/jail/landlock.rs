//! Landlock: no file, no port, no signal to anybody, and no abstract socket.
//!
//! Every child makes a domain of its own, so that siblings are strangers to each other; a domain of the zygote's would
//! be shared. A second lock behind seccomp, and the only one that not every kernel has.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetError, RulesetStatus, Scope,
};

/// Which version the kernel has, as far as it is known here; 0 is none.
pub(crate) fn version() -> u32 {
    const VERSION: libc::c_uint = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: asked for its version, the kernel reads no attributes.
    let answer =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0usize, VERSION) };
    // Newer kernels are restricted as far as the newest version that is known here goes.
    let newest = libc::c_long::from(ABI::V9 as i32);
    u32::try_from(answer.min(newest)).unwrap_or(0)
}

/// Takes everything away that `version` can take away. Needs a free descriptor while it does so.
///
/// # Errors
/// When any part of it is not enforced.
pub(crate) fn restrict(version: u32) -> Result<bool, RulesetError> {
    let version = ABI::from(version.cast_signed());
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(version))?;
    if version >= ABI::V4 {
        rules = rules.handle_access(AccessNet::from_all(version))?;
    }
    if version >= ABI::V6 {
        rules = rules.scope(Scope::from_all(version))?;
    }
    Ok(rules.create()?.restrict_self()?.ruleset == RulesetStatus::FullyEnforced)
}
