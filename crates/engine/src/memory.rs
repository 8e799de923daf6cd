//! Memory of the system: how much this process may use, and zeroed pages.

pub(crate) mod zeroed_pages;

use std::sync::OnceLock;

/// Returns the memory that this process may use, in bytes: the machine's, or less if a container or `ulimit -v` allows
/// less. Returns `None` if the system does not tell, as in a sandbox without `/proc`. The files of the system are read
/// only once, however many databases are made.
pub(crate) fn memory_bytes() -> Option<u64> {
    static BYTES: OnceLock<Option<u64>> = OnceLock::new();
    *BYTES.get_or_init(find_memory_bytes)
}

/// Returns the limit on addresses (`ulimit -v`).
#[cfg(unix)]
fn address_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

/// Answers that there is no such limit.
#[cfg(windows)]
fn address_limit() -> Option<u64> {
    None
}

fn find_memory_bytes() -> Option<u64> {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let of_machine = Some(system.total_memory()).filter(|&bytes| bytes > 0);
    // Without the machine's memory, sysinfo panics when it is asked for the container's.
    let in_container = of_machine.and_then(|_| system.cgroup_limits()).map(|limits| limits.total_memory);
    // Code, stacks and memory that is reserved but never touched use up addresses, too.
    let by_addresses = address_limit().map(|bytes| bytes / 2);
    [of_machine, in_container, by_addresses].into_iter().flatten().min()
}
