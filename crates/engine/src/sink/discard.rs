//! A sink that discards everything, for measurements.

use super::Sink;
use std::io;

/// Discards all writes.
pub(crate) struct DiscardSink;

impl Sink for DiscardSink {
    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Ok(())
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
