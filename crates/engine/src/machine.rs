//! What the machine lets this process have.

use rustix::process::{Resource, getrlimit};
use std::sync::OnceLock;

/// Bytes of memory that there are for this process: the machine's, or fewer where a container or `ulimit -v` allows
/// fewer. Several files of the system tell it: they are read once, however many databases are made.
pub(crate) fn memory_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(find_memory_bytes)
}

fn find_memory_bytes() -> u64 {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let in_container = system.cgroup_limits().map(|limits| limits.total_memory);
    // Addresses are also used up by code, stacks, and memory that is set aside and never touched.
    let by_addresses = getrlimit(Resource::As).current.map(|bytes| bytes / 2);
    [in_container, by_addresses].into_iter().flatten().fold(system.total_memory(), u64::min)
}
