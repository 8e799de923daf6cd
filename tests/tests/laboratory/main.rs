//! Changes of databases that exist, in the crash laboratory, which becomes the VFS of the process.

mod live_faults;
mod power_cuts;
