//! Work in a thread, while the host is asked whether to stop it.

use crate::sqlite::{Failure, Host};
use litepress::{Progress, Result};
use std::panic::resume_unwind;
use std::sync::mpsc;
use std::time::Duration;

/// Time between two questions.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// Runs a job in a thread of its own. Stops it if the host's query is interrupted.
///
/// # Errors
/// As the job; a thread that cannot be started.
pub fn watched<T: Send>(host: Host, progress: &Progress, job: impl FnOnce() -> Result<T> + Send) -> Result<T, Failure> {
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel::<()>();
        let work = move || {
            let done = job();
            drop(sender);
            done
        };
        let thread = std::thread::Builder::new().name("litepress".to_owned()).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| Failure::new(format!("a thread cannot be started: {error}")))?;
        while receiver.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            if host.is_interrupted() {
                progress.stop();
            }
        }
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?)
    })
}
