//! Converts panics of decoders to errors.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// Runs a decoder and converts its panics to errors. The decoders of Parquet, Arrow and workbooks check their input, but a
/// broken file can still reach code that indexes or unwraps.
pub(crate) fn guard<T>(decode: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    silence_guarded_panics();
    let was_guarded = IS_GUARDED.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    IS_GUARDED.set(was_guarded);
    decoded.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(format!("the decoder gave up: {}", message.unwrap_or("no reason known")))
    })
}

thread_local! {
    /// A guarded decoder runs on this thread.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Silences guarded panics, which are reported by their error. The previous hook still gets all others. Hooks belong to the whole
/// process, so the hook is wrapped once and stays.
fn silence_guarded_panics() {
    static WRAP: Once = Once::new();
    WRAP.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                hook(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::guard;

    const HELPER: &str = "guard::tests::a_decoder_gives_up";

    /// Damaged files were refused, as they should be. But beside the error, `thread panicked at` and a backtrace appeared on
    /// standard error.
    #[test]
    fn a_decoder_that_gives_up_says_so_in_its_error_only() {
        let arguments = ["--exact", HELPER, "--ignored", "--nocapture"];
        let run = std::process::Command::new(std::env::current_exe().unwrap()).args(arguments).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        let told = String::from_utf8_lossy(&run.stderr);
        assert!(!told.contains("index out of bounds") && told.contains("not a decoder's"), "{told}");
    }

    #[test]
    #[ignore = "it is run by the test above"]
    fn a_decoder_gives_up() {
        let nothing: [u8; 0] = std::hint::black_box([]);
        let index = std::hint::black_box(3);
        let error = guard(|| Ok(nothing[index])).unwrap_err();
        assert!(error.starts_with("the decoder gave up: index out of bounds"), "{error}");
        drop(std::panic::catch_unwind(|| panic!("not a decoder's")));
    }
}
