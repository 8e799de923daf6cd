//! Reads the next blocks of spilled runs in the background while a merge uses the current ones.
//!
//! One thread a merge serves all its runs in the order of their requests, and ends with the merge.

use super::spill::{AlignedMemory, SpillFile};
use crate::Result;
use litepress_rows::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use litepress_rows::sync::thread;
use std::sync::Arc;

/// A handle for read requests; each run of a merge has a clone.
#[derive(Clone, Debug)]
pub(super) struct ReadAhead(Sender<Request>);

/// A block that is being read.
#[derive(Debug)]
pub(super) struct PendingRead(Receiver<Result<AlignedMemory>>);

#[derive(Debug)]
struct Request {
    file: Arc<SpillFile>,
    offset: u64,
    bytes: usize,
    memory: AlignedMemory,
    reply: SyncSender<Result<AlignedMemory>>,
}

impl ReadAhead {
    /// Starts the thread. Returns `None` if the system has no more threads: blocks are then read when they are
    /// needed.
    pub fn start() -> Option<Self> {
        let (sender, requests) = channel();
        let thread = thread::Builder::new().name("litepress-read".to_owned());
        thread.spawn(move || serve(&requests)).ok()?;
        Some(Self(sender))
    }

    /// Requests a read of `bytes` bytes at `offset` into `memory`.
    pub fn request(&self, file: &Arc<SpillFile>, offset: u64, bytes: usize, memory: AlignedMemory) -> PendingRead {
        let (reply, awaited) = sync_channel(1);
        let sent = self.0.send(Request { file: file.clone(), offset, bytes, memory, reply });
        sent.expect("the thread serves as long as there are senders");
        PendingRead(awaited)
    }
}

impl PendingRead {
    pub fn take(self) -> Result<AlignedMemory> {
        self.0.recv().expect("every request is answered")
    }
}

fn serve(requests: &Receiver<Request>) {
    for Request { file, offset, bytes, mut memory, reply } in requests {
        let read = file.read(&mut memory.bytes_mut()[..bytes], offset);
        // A merge that is dropped early does not wait for its replies.
        let _ = reply.send(read.map(|()| memory));
    }
}
