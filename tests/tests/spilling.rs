//! Sorts that do not fit the memory write the same file as sorts that do, and leave nothing behind after any failure.

use litepress::{Database, ErrorKind, MIN_MEMORY_BYTES, PageSize, Result, Schema, Sink, Target};
use litepress_conformance::case::{Into, Route};
use litepress_conformance::faults::{EIO, ENOSPC, FaultPlan, FaultySink};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{self, OldSqlite, assert_verified};
use litepress_conformance::spilling::{ROWS, SCHEMA, rows};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn options(threads: usize, memory_bytes: u64, temp_dir: &Path) -> litepress::Options {
    let mut options = Route { threads, into: Into::CachedFile }.options(PageSize::DEFAULT);
    options.memory_bytes = memory_bytes;
    options.temp_dir = Some(temp_dir.to_owned());
    options
}

fn build_through(
    target: &Target,
    options: &litepress::Options,
    wrap: impl FnOnce(Box<dyn Sink>) -> Box<dyn Sink>,
) -> Result<Option<Vec<u8>>> {
    let schema = Schema::from_sql(SCHEMA, "<spilling>")?;
    let mut database = Database::create_with_sink(target, schema, options, wrap)?;
    database.fill(0, &rows(ROWS))?;
    Ok(database.finish()?.bytes)
}

fn build(threads: usize, memory_bytes: u64, temp_dir: &Path) -> Result<Vec<u8>> {
    let options = options(threads, memory_bytes, temp_dir);
    Ok(build_through(&Target::Memory, &options, |sink| sink)?.expect("a database in memory has bytes"))
}

/// That nothing was spilled with room enough is seen by a folder that takes no file.
#[test]
fn spilled_or_not_the_file_is_the_same() {
    let (folder, nowhere) = (Folder::new(), Path::new("/proc"));
    let whole = build(2, 4 << 30, nowhere).expect("nothing is spilled");
    oracle::assert_sound(&whole, "not spilled");
    oracle::assert_reindexed(&whole, "not spilled");
    for threads in [1, 2, 7] {
        let spilled = build(threads, MIN_MEMORY_BYTES, folder.path()).unwrap();
        assert!(spilled == whole, "{threads} threads, spilled: other bytes");
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
    for threads in [1, 7] {
        assert!(build(threads, 4 << 30, nowhere).unwrap() == whole, "{threads} threads: other bytes");
    }
    if let Some(old) = OldSqlite::find() {
        let path = folder.join("whole.db");
        fs::write(&path, whole).unwrap();
        old.assert_sound(&[path]);
    }
}

/// The error names the folder and the remedy. The target is absent.
#[test]
fn a_temporary_folder_that_cannot_be_used() {
    let folder = Folder::new();
    let file = folder.join("a file");
    fs::write(&file, "no folder").unwrap();
    // Not even root can write there.
    for temp_dir in [folder.join("missing"), file, "/proc".into()] {
        for threads in [1, 7] {
            let target = folder.target("t.db");
            let error =
                build_through(&target, &options(threads, MIN_MEMORY_BYTES, &temp_dir), |sink| sink).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Io, "{error}");
            assert_eq!(error.place().file.as_deref(), Some(temp_dir.as_path()), "{error}");
            assert!(error.message().contains("temporary file"), "{error}");
            assert!(
                error.advice().is_some_and(|advice| advice.contains("another folder for temporary files")),
                "{error}"
            );
            assert_eq!(folder.names(), ["a file"]);
        }
    }
}

/// Some calls of the target's sink fail while runs are in the temporary folder.
#[test]
fn a_failing_target_while_runs_are_spilled() {
    let (folder, temporary) = (Folder::new(), Folder::new());
    let options = options(2, MIN_MEMORY_BYTES, temporary.path());
    let build = |plan: FaultPlan| {
        let calls = Arc::new(AtomicU64::new(0));
        let counted = calls.clone();
        let wrap = move |sink: Box<dyn Sink>| -> Box<dyn Sink> { Box::new(FaultySink::new(sink, plan, counted)) };
        let result = build_through(&folder.target("t.db"), &options, wrap);
        (calls.load(Ordering::SeqCst), result)
    };
    let (calls, unharmed) = build(FaultPlan::NONE);
    unharmed.unwrap();
    assert_verified(&folder.join("t.db"), "unharmed");
    fs::remove_file(folder.join("t.db")).unwrap();
    for (call, errno, kind) in [
        (0, EIO, ErrorKind::Io),
        (1, ENOSPC, ErrorKind::NoSpace),
        (calls / 2, EIO, ErrorKind::Io),
        (calls - 1, ENOSPC, ErrorKind::NoSpace),
    ] {
        let (_, result) = build(FaultPlan { call, lasts: true, errno });
        let error = result.expect_err("a call fails");
        assert_eq!(error.kind(), kind, "call {call} of {calls}: {error}");
        assert!(folder.names().is_empty() && temporary.names().is_empty(), "call {call} of {calls}: something is left");
    }
}

fn command(target: &Path, temp_dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_build_indexed"));
    command.arg(target).arg(ROWS.to_string()).arg(temp_dir).stdout(Stdio::piped());
    command
}

/// Returns the number of bytes in files without a name that the process has in the folder, if there are any.
fn spilled_bytes(child: &Child, temp_dir: &Path) -> Option<u64> {
    let open = fs::read_dir(format!("/proc/{}/fd", child.id())).ok()?;
    let is_spilled = |path: &Path| {
        let file = fs::read_link(path).unwrap_or_default();
        file.starts_with(temp_dir) && file.to_string_lossy().ends_with(" (deleted)")
    };
    let files = open.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_spilled(path));
    files.map(|path| fs::metadata(path).map_or(0, |metadata| metadata.len())).reduce(|sum, bytes| sum + bytes)
}

/// Leaves no file if the process is killed after some bytes are spilled.
#[test]
fn killed_while_runs_are_spilled() {
    let mut killed = 0;
    for bytes in [0, 1, 100 << 10, 3 << 20] {
        let (folder, temporary) = (Folder::new(), Folder::new());
        let target = folder.join("t.db");
        let mut child = command(&target, temporary.path()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        let deadline = Instant::now() + Duration::from_secs(60);
        while spilled_bytes(&child, temporary.path()).is_none_or(|spilled| spilled < bytes) {
            assert!(Instant::now() < deadline, "{bytes} bytes were never spilled");
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(temporary.names().is_empty(), "{bytes} bytes spilled: {:?}", temporary.names());
        if folder.temporaries().is_empty() {
            assert_verified(&target, "the run had ended");
            continue;
        }
        assert!(!target.exists(), "killed after {bytes} bytes");
        assert!(command(&target, temporary.path()).status().unwrap().success(), "the next run");
        assert_eq!(folder.names(), ["t.db"], "the next run cleans up");
        assert!(temporary.names().is_empty(), "{:?}", temporary.names());
        assert_verified(&target, "the next run");
    }
    assert!(killed >= 3, "{killed} of four runs were killed");
}

/// A temporary file that cannot grow, as on a full disk: the error names the place.
#[test]
fn a_temporary_file_that_cannot_grow() {
    let temporary = Folder::new();
    for blocks in [0, 16, 128] {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg("trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"").arg("sh").arg(blocks.to_string());
        shell.arg(env!("CARGO_BIN_EXE_build_indexed")).arg("-").arg(ROWS.to_string()).arg(temporary.path());
        let output = shell.output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{blocks} blocks: {printed}");
        assert!(
            printed.contains("temporary file") && printed.contains("another folder for temporary files"),
            "{blocks} blocks: {printed}"
        );
        assert!(printed.contains(&*temporary.path().to_string_lossy()), "{blocks} blocks: {printed}");
        assert!(temporary.names().is_empty(), "{:?}", temporary.names());
    }
}
