//! Faulty sinks between the pages and the target.

use litepress::Sink;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Linux's error number for a full disk.
pub const ENOSPC: i32 = 28;
/// Linux's error number for a failing disk.
pub const EIO: i32 = 5;

/// A sink that counts writes, reads, syncs and changes of length, and fails one of them, or all from one on.
pub struct FaultySink {
    inner: Box<dyn Sink>,
    calls: Arc<AtomicU64>,
    plan: FaultPlan,
}

/// The calls that fail.
#[derive(Clone, Copy, Debug)]
pub struct FaultPlan {
    /// Number of the call that fails, counted from 0.
    pub call: u64,
    /// Whether every later call fails too.
    pub lasts: bool,
    /// The error number.
    pub errno: i32,
}

impl FaultPlan {
    /// No call fails.
    pub const NONE: Self = Self { call: u64::MAX, lasts: false, errno: EIO };
}

impl FaultySink {
    /// Wraps a sink. `calls` counts the calls.
    #[must_use]
    pub fn new(inner: Box<dyn Sink>, plan: FaultPlan, calls: Arc<AtomicU64>) -> Self {
        Self { inner, calls, plan }
    }

    fn call(&self) -> io::Result<()> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        if call == self.plan.call || (self.plan.lasts && call > self.plan.call) {
            return Err(io::Error::from_raw_os_error(self.plan.errno));
        }
        Ok(())
    }
}

impl Sink for FaultySink {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.call()?;
        self.inner.write_at(bytes, offset)
    }

    fn can_read(&self) -> bool {
        self.inner.can_read()
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.call()?;
        self.inner.read_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.call()?;
        self.inner.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.call()?;
        self.inner.sync()
    }

    fn take_bytes(&self) -> Option<Vec<u8>> {
        self.inner.take_bytes()
    }
}

/// A sink that drops writes that end below an offset, except for page 1: the file has a hole there and takes no room.
pub struct HoleSink {
    inner: Box<dyn Sink>,
    keep_from: u64,
}

impl HoleSink {
    /// Keeps writes that end behind `keep_from`.
    #[must_use]
    pub fn new(inner: Box<dyn Sink>, keep_from: u64) -> Self {
        Self { inner, keep_from }
    }
}

impl Sink for HoleSink {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if offset == 0 || offset + bytes.len() as u64 > self.keep_from {
            self.inner.write_at(bytes, offset)?;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}
