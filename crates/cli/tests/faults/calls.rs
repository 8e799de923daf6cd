//! Each call of the system fails in turn.

use crate::scene::{OPERATIONS, Operation, SPILLING, Scene, State};
use crate::{is_long, thread_had_no_memory};
use litepress_crashlab::preload::{Failure, FaultLibrary, Faulted, ProgramCall, ProgramFault};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

const EIO: Failure = Failure::Errno(5);
const EINTR: Failure = Failure::Errno(4);
const EAGAIN: Failure = Failure::Errno(11);
const ENOMEM: Failure = Failure::Errno(12);
const EMFILE: Failure = Failure::Errno(24);
const ENOSPC: Failure = Failure::Errno(28);
const ENOLCK: Failure = Failure::Errno(37);
const EDQUOT: Failure = Failure::Errno(122);

/// Time after which a run hangs.
const PATIENCE: Duration = Duration::from_secs(60);

static LIBRARY: LazyLock<FaultLibrary> = LazyLock::new(|| FaultLibrary::build().expect("a C compiler"));

/// Returns the ways in which calls of a kind fail.
fn failures(call: ProgramCall) -> &'static [Failure] {
    match call {
        ProgramCall::Read | ProgramCall::ReadAt => &[EIO, EINTR, Failure::Short],
        ProgramCall::Write | ProgramCall::WriteAt => &[ENOSPC, EIO, EDQUOT, EINTR, Failure::Short],
        ProgramCall::Sync | ProgramCall::SyncData => &[EIO, ENOSPC, EDQUOT],
        ProgramCall::Truncate => &[EIO, EINTR, ENOSPC],
        ProgramCall::Rename => &[EIO, ENOSPC, EDQUOT],
        ProgramCall::Unlink => &[EIO],
        ProgramCall::Open => &[EMFILE, ENOSPC, EINTR, EIO],
        ProgramCall::Map | ProgramCall::LargeAllocation | ProgramCall::SmallAllocation => &[ENOMEM],
        ProgramCall::Lock => &[ENOLCK, EAGAIN, EIO],
        ProgramCall::Thread => &[EAGAIN],
    }
}

/// Returns whether a program must go on as if nothing had happened.
fn is_survived(failure: Failure) -> bool {
    matches!(failure, EINTR | Failure::Short)
}

/// Returns the faults of one kind, for a program that makes `calls` calls of it: at each call, or at about `places` of them.
fn faults(call: ProgramCall, calls: u64, places: Option<u64>, seed: u64) -> Vec<ProgramFault> {
    let mut faults = Vec::new();
    let places = if call == ProgramCall::SmallAllocation { places.or(Some(60)) } else { places };
    let step = places.map_or(1, |places| 1 + calls / places);
    for failure in failures(call) {
        for number in (0..calls).step_by(usize::try_from(step).expect("a small number")) {
            faults.push(ProgramFault::once(call, *failure, number));
            if !is_survived(*failure) && call != ProgramCall::SmallAllocation {
                faults.push(ProgramFault::lasting(call, *failure, number));
            }
        }
        if is_survived(*failure) && calls > 0 {
            faults.push(ProgramFault::every_second(call, *failure));
        }
    }
    if !is_long() && !faults.is_empty() {
        let chosen = usize::try_from(seed).expect("a small number").wrapping_mul(7919) % faults.len();
        faults = vec![faults[chosen]];
    }
    faults
}

/// Judges a run, and returns the outcome in a word.
fn judge(scene: &Scene, fault: ProgramFault, run: &Faulted) -> Result<&'static str, String> {
    let output = run.output.as_ref().ok_or("it hangs")?;
    let told = String::from_utf8_lossy(&output.stderr);
    let thread_had_no_memory = thread_had_no_memory(&told);
    if told.contains("panicked") && !thread_had_no_memory {
        return Err(format!("it panics: {told}"));
    }
    let state = scene.state()?;
    let is_clean = scene.check_files(state)?;
    match output.status.code() {
        Some(0) if state == State::Before => Err("it ends well, but nothing has changed".to_owned()),
        Some(0) if !is_clean && fault.call != ProgramCall::Unlink => Err("it ends well and leaves files".to_owned()),
        Some(0) => Ok("done"),
        Some(1) if run.failed == 0 => Err(format!("it fails without a fault: {told}")),
        Some(1) if is_survived(fault.failure) => Err(format!("it does not survive this: {told}")),
        Some(1) if is_blamed_by_sqlite(fault) && String::from_utf8_lossy(&output.stdout).contains("SQLite says") => {
            Ok("SQLite's verdict")
        }
        Some(1) if !told.contains("error: ") => Err(format!("no error is told: {told}")),
        Some(1) if (told.contains("corrupt") || told.contains("malformed")) && !is_blamed_by_sqlite(fault) => {
            Err(format!("it blames the file: {told}"))
        }
        Some(1) if !is_clean && !leaves_files(fault.call) => Err(format!("it fails and leaves files: {told}")),
        Some(1) if state == State::After => Ok("failed after the change"),
        Some(1) => Ok("failed"),
        None if thread_had_no_memory => Ok("aborted"),
        code => Err(format!("exit code {code:?}: {told}")),
    }
}

/// Returns whether SQLite calls a database malformed after such a fault: to it, a read beyond the end of a bad disk is one.
fn is_blamed_by_sqlite(fault: ProgramFault) -> bool {
    fault.call == ProgramCall::ReadAt && fault.failure == EIO
}

/// Returns whether a fault may keep the program from removing its files.
fn leaves_files(call: ProgramCall) -> bool {
    // SQLite cannot roll back what it cannot read: the journal stays, and the next program applies it.
    use ProgramCall::{LargeAllocation, Map, Open, ReadAt, SmallAllocation, Unlink};
    matches!(call, Unlink | Open | Map | ReadAt | LargeAllocation | SmallAllocation)
}

/// Returns whether `make faults ONLY=...` asks for these calls of an operation: by all its words, or without any.
fn is_asked_for(operation: &Operation, call: ProgramCall) -> bool {
    let named = format!("{} {call:?}", operation.name);
    let only = std::env::var("LITEPRESS_FAULTS_ONLY").unwrap_or_default();
    only.split_whitespace().all(|word| named.contains(word))
}

fn fail_all(operations: &[Operation], places: Option<u64>) {
    let (mut bad, mut total) = (0, 0);
    for (number, operation) in operations.iter().enumerate() {
        let scene = Scene::new(*operation);
        let mut outcomes = BTreeMap::new();
        scene.begin();
        let whole = LIBRARY.run(&mut scene.command(), None, PATIENCE).expect("the program");
        for call in ProgramCall::ALL {
            if !is_asked_for(operation, call) {
                continue;
            }
            for fault in faults(call, whole.calls(call), places, number as u64 + 31 * call as u64) {
                scene.begin();
                let run = LIBRARY.run(&mut scene.command(), Some(fault), PATIENCE).expect("the program");
                let judged = judge(&scene, fault, &run);
                total += 1;
                *outcomes.entry(*judged.as_ref().unwrap_or(&"BAD")).or_insert(0_u64) += 1;
                if let Err(why) = judged {
                    println!("{}: {fault:?}: {why}", operation.name);
                    bad += 1;
                }
            }
        }
        println!("{:24} {outcomes:?}", operation.name);
    }
    println!("{total} faults, {bad} bad");
    assert!(bad == 0, "faults are not survived; see above");
    let is_asked = |operation| ProgramCall::ALL.into_iter().any(|call| is_asked_for(operation, call));
    assert!(total > 0 || !operations.iter().any(is_asked), "no such call is made");
    assert!(OPERATIONS.iter().chain([&SPILLING]).any(is_asked), "no operation has a call with all words of ONLY");
}

#[test]
fn every_call_fails_in_turn() {
    fail_all(&OPERATIONS, None);
}

/// Its reads and writes of temporary files are many, long and alike: some of them fail.
#[test]
fn calls_of_a_run_with_temporary_files_fail() {
    if is_long() {
        fail_all(&[SPILLING], Some(12));
    }
}

/// Faults that were found once, each with its story.
#[test]
fn faults_that_were_not_survived() {
    use ProgramCall::{LargeAllocation, Lock, ReadAt, SmallAllocation, Sync, Thread};
    let stories = [
        ("check panicked without threads", "check", ProgramFault::lasting(Thread, EAGAIN, 1)),
        ("the display of progress panicked without a thread", "generate", ProgramFault::once(Thread, EAGAIN, 1)),
        ("a copy of a database panicked without a thread", "load SQLite", ProgramFault::lasting(Thread, EAGAIN, 2)),
        ("a merge panicked without a thread", "merge", ProgramFault::lasting(Thread, EAGAIN, 1)),
        ("large buffers ended a load by SIGABRT", "load CSV", ProgramFault::once(LargeAllocation, ENOMEM, 0)),
        ("so did small ones", "load NDJSON", ProgramFault::lasting(SmallAllocation, ENOMEM, 2500)),
        ("an interrupted read failed a check", "check", ProgramFault::once(ReadAt, EINTR, 0)),
        ("a short read was a change by another program", "check", ProgramFault::once(ReadAt, Failure::Short, 0)),
        ("locks that never work made files for ever", "generate", ProgramFault::lasting(Lock, EAGAIN, 0)),
        ("a lock that did not work left a file", "load --overwrite", ProgramFault::once(Lock, EAGAIN, 1)),
        (
            "no memory for the buffer of standard output was waited for",
            "compact in place",
            ProgramFault::lasting(SmallAllocation, ENOMEM, 2406),
        ),
        ("a schema that could not be read made a database damaged", "check", ProgramFault::once(ReadAt, EIO, 5)),
        ("so did one for which there was no memory", "check", ProgramFault::once(SmallAllocation, ENOMEM, 1978)),
        ("a COMMIT that failed behind its last write lost its new pages", "index", ProgramFault::once(Sync, EIO, 5)),
        ("so did one that could not unlock", "index", ProgramFault::once(Lock, EIO, 22)),
    ];
    for (story, name, fault) in stories {
        let operation = OPERATIONS.into_iter().find(|operation| operation.name == name).expect(name);
        let scene = Scene::new(operation);
        scene.begin();
        let run = LIBRARY.run(&mut scene.command(), Some(fault), PATIENCE).expect("the program");
        assert!(run.failed > 0, "{story}: the fault was not met");
        judge(&scene, fault, &run).unwrap_or_else(|why| panic!("{story}: {why}"));
    }
}

/// A program that had no memory for the buffer of standard output waited for that buffer as it ended, for ever. Its allocation is
/// among the last ones.
#[test]
fn there_is_no_memory_at_the_end() {
    let scene =
        Scene::new(OPERATIONS.into_iter().find(|operation| operation.name == "compact in place").expect("it is there"));
    scene.begin();
    let whole = LIBRARY.run(&mut scene.command(), None, PATIENCE).expect("the program");
    let calls = whole.calls(ProgramCall::SmallAllocation);
    // Threads meet in another order each time, so their number differs.
    for number in calls - 60..calls + 5 {
        scene.begin();
        let fault = ProgramFault::once(ProgramCall::SmallAllocation, ENOMEM, number);
        let run = LIBRARY.run(&mut scene.command(), Some(fault), PATIENCE).expect("the program");
        judge(&scene, fault, &run).unwrap_or_else(|why| panic!("allocation {number} of {calls}: {why}"));
    }
}
