//! Which system calls there are.
//!
//! Two filters, of which the stricter decides. The first is installed once, in the zygote: what no honest program here
//! ever calls ends the process with SIGSYS, which is an event for whoever watches. The second is installed in every
//! child: nine calls are left, everything else is refused with EPERM, which templates see as an ordinary exception.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::CHANNEL;

/// The filter of a child, as the kernel takes it.
pub(crate) struct Filter(BpfProgram);

impl Filter {
    /// Nine calls, two of them on the channel alone, and memory that is private and never executable.
    ///
    /// # Errors
    /// When the processor is one for which there are no filters.
    pub(crate) fn of_a_child() -> Result<Self> {
        let channel = || when(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, CHANNEL as u64);
        let protection = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let anonymous = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
        let harmless = (libc::MAP_NORESERVE | libc::MAP_STACK) as u64;
        let rules: BTreeMap<i64, Vec<SeccompRule>> = [
            (libc::SYS_read, vec![all([channel()?])?]),
            (libc::SYS_write, vec![all([channel()?])?]),
            // Refused with an error number, glibc would misread it as the new end of the heap: so always allowed.
            (libc::SYS_brk, vec![]),
            (
                libc::SYS_mmap,
                vec![all([only(2, protection, 0)?, only(3, anonymous | harmless, anonymous)?])?],
            ),
            (libc::SYS_munmap, vec![]),
            (libc::SYS_mremap, vec![all([only(3, libc::MREMAP_MAYMOVE as u64, 0)?])?]),
            (libc::SYS_clock_gettime, vec![]),
            (libc::SYS_exit, vec![]),
            (libc::SYS_exit_group, vec![]),
        ]
        .into();
        let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        compile(rules, refused, SeccompAction::Allow).map(Self)
    }

    /// Installs it. There is no way back.
    ///
    /// # Errors
    /// When the kernel has no seccomp.
    pub(crate) fn install(&self) -> Result<(), seccompiler::Error> {
        apply_filter(&self.0)
    }
}

/// Installs what ends a process that calls it.
///
/// # Errors
/// When the kernel has no seccomp.
pub(crate) fn forbid() -> Result<()> {
    let rules = FORBIDDEN.iter().map(|call| (*call, vec![])).collect();
    let filter = compile(rules, SeccompAction::Allow, SeccompAction::KillProcess)?;
    apply_filter(&filter).context("seccomp")
}

/// Ways to other processes, to other programs, into the kernel, and into other namespaces.
pub(super) const FORBIDDEN: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_personality,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_pivot_root,
    libc::SYS_setns,
    libc::SYS_unshare,
];

fn compile(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    matching: SeccompAction,
) -> Result<BpfProgram> {
    let processor = TargetArch::try_from(std::env::consts::ARCH)?;
    Ok(SeccompFilter::new(rules, otherwise, matching, processor)?.try_into()?)
}

fn all<const N: usize>(conditions: [SeccompCondition; N]) -> Result<SeccompRule> {
    Ok(SeccompRule::new(conditions.into())?)
}

fn when(at: u8, width: SeccompCmpArgLen, is: SeccompCmpOp, value: u64) -> Result<SeccompCondition> {
    Ok(SeccompCondition::new(at, width, is, value)?)
}

/// No bits but `allowed` are set in an argument, and of those all of `needed`. All 64 bits count.
fn only(at: u8, allowed: u64, needed: u64) -> Result<SeccompCondition> {
    let optional = allowed & !needed;
    when(at, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(!optional), needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_of_a_child_is_one_that_the_kernel_takes() {
        let length = Filter::of_a_child().unwrap().0.len();
        assert!((20..500).contains(&length), "{length}");
    }

    #[test]
    fn nothing_is_both_allowed_to_a_child_and_forbidden() {
        for call in [libc::SYS_read, libc::SYS_write, libc::SYS_mmap, libc::SYS_exit_group] {
            assert!(!FORBIDDEN.contains(&call));
        }
    }
}
