//! What the machine lets this process have.

use rustix::process::{Resource, getrlimit};
use std::sync::OnceLock;

/// Returns the bytes of memory that there are for this process: the machine's, or fewer if a container or `ulimit -v`
/// allows fewer. `None` if nothing tells, as in a sandbox without `/proc`. Several files of the system are asked: they
/// are read once, however many databases are made.
pub(crate) fn memory_bytes() -> Option<u64> {
    static BYTES: OnceLock<Option<u64>> = OnceLock::new();
    *BYTES.get_or_init(find_memory_bytes)
}

fn find_memory_bytes() -> Option<u64> {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let of_machine = Some(system.total_memory()).filter(|&bytes| bytes > 0);
    // Without the machine's memory, sysinfo panics when it is asked for the container's.
    let in_container = of_machine.and_then(|_| system.cgroup_limits()).map(|limits| limits.total_memory);
    // Addresses are also used up by code, stacks, and memory that is set aside and never touched.
    let by_addresses = getrlimit(Resource::As).current.map(|bytes| bytes / 2);
    [of_machine, in_container, by_addresses].into_iter().flatten().min()
}
