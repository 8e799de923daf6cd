//! Reads the blocks of spilled runs that a merge will want next, while it merges what it has.
//!
//! One thread for each merge serves all its runs in the order of their requests, and ends with the merge.

use super::spill::{AlignedMemory, SpillFile};
use crate::Result;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Takes requests; cloned for each run of a merge.
#[derive(Clone, Debug)]
pub(super) struct ReadAhead(Sender<Request>);

/// A block on its way.
#[derive(Debug)]
pub(super) struct Awaited(Receiver<Result<AlignedMemory>>);

struct Request {
    file: Arc<SpillFile>,
    offset: u64,
    bytes: usize,
    memory: AlignedMemory,
    reply: SyncSender<Result<AlignedMemory>>,
}

impl ReadAhead {
    /// `None` where there can be no more threads: runs are then read when their blocks are wanted.
    pub fn start() -> Option<Self> {
        let (sender, requests) = channel();
        let thread = std::thread::Builder::new().name("litepress-read".to_owned());
        thread.spawn(move || serve(&requests)).ok()?;
        Some(Self(sender))
    }

    /// Begins to read `bytes` bytes at `offset` into `memory`.
    pub fn request(&self, file: &Arc<SpillFile>, offset: u64, bytes: usize, memory: AlignedMemory) -> Awaited {
        let (reply, awaited) = sync_channel(1);
        let sent = self.0.send(Request { file: file.clone(), offset, bytes, memory, reply });
        sent.expect("the thread serves as long as there are senders");
        Awaited(awaited)
    }
}

impl Awaited {
    pub fn take(self) -> Result<AlignedMemory> {
        self.0.recv().expect("every request is answered")
    }
}

fn serve(requests: &Receiver<Request>) {
    for Request { file, offset, bytes, mut memory, reply } in requests {
        let read = file.read(&mut memory.bytes_mut()[..bytes], offset);
        // A merge that is dropped before its end does not wait for its answers.
        let _ = reply.send(read.map(|()| memory));
    }
}
