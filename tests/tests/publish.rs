//! The conditions for a target, and the state of the target after a refusal.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress::{Database, Error, ErrorKind, Options, PageSize, Result, Schema, Target};
use litepress_conformance::case::{Into, Route};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{assert_verified, integer};
use rusqlite::Connection;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::{Barrier, Mutex};
use std::time::Duration;

fn begin(path: &Path, replace: bool) -> Result<Database> {
    let schema = Schema::from_sql("CREATE TABLE new(a)", "<publish>")?;
    let mut options = Route { threads: 1, into: Into::CachedFile }.options(PageSize::DEFAULT);
    options.overwrite = replace;
    Database::create(&Target::File(path.to_owned()), schema, &options)
}

fn build(path: &Path, replace: bool) -> Result<()> {
    begin(path, replace)?.finish().map(drop)
}

/// Writes to a target that must be refused with this kind of error. Nothing may change in its folder.
fn refuse(folder: &Folder, path: &Path, replace: bool, kind: ErrorKind) -> Error {
    let before = snapshot(folder);
    let error = build(path, replace).expect_err("a target to be refused");
    assert_eq!(error.kind(), kind, "{error}");
    assert_eq!(snapshot(folder), before, "{error}");
    error
}

fn snapshot(folder: &Folder) -> Vec<(String, Option<Vec<u8>>)> {
    let content = |name: String| (name.clone(), fs::read(folder.join(&name)).ok());
    folder.names().into_iter().map(content).collect()
}

/// Creates a database with the table `old` of one row.
fn old(path: &Path) -> Connection {
    let sqlite = Connection::open(path).unwrap();
    sqlite.execute_batch("CREATE TABLE old(x); INSERT INTO old VALUES (1)").unwrap();
    sqlite
}

fn assert_is_new(path: &Path) {
    assert_verified(path, "the new database");
    assert_eq!(integer(&Connection::open(path).unwrap(), "SELECT count(*) FROM new"), 0);
}

#[test]
fn a_target_that_exists_is_replaced_on_demand_only() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    drop(old(&path));
    let error = refuse(&folder, &path, false, ErrorKind::Exists);
    assert!(error.to_string().contains("exists"), "{error}");
    build(&path, true).unwrap();
    assert_is_new(&path);
    assert_eq!(folder.names(), ["t.db"]);
}

/// To SQLite, an empty file is a database without tables. But it is a file that exists.
#[test]
fn an_empty_file_is_replaced_on_demand_only() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    fs::write(&path, "").unwrap();
    refuse(&folder, &path, false, ErrorKind::Exists);
    build(&path, true).unwrap();
    assert_is_new(&path);
}

/// All mode bits were copied: a set-uid database of another user became a set-uid file of the user who replaced it, in the
/// worst case of root.
#[test]
fn a_new_file_is_never_set_uid() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    drop(old(&path));
    fs::set_permissions(&path, Permissions::from_mode(0o6755)).unwrap();
    build(&path, true).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o755);
}

/// The temporary file of a private database could be read by every user until the end of the run.
#[test]
fn a_temporary_file_is_no_more_open_than_its_target() {
    for mode in [0o600, 0o640, 0o644] {
        let folder = Folder::new();
        let path = folder.join("t.db");
        drop(old(&path));
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let database = begin(&path, true).unwrap();
        let temporaries = folder.temporaries();
        let [temporary] = &temporaries[..] else { panic!("{temporaries:?}") };
        assert_eq!(fs::metadata(folder.join(temporary)).unwrap().mode() & 0o7777 & !mode, 0, "{mode:o}");
        database.finish().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode);
    }
}

/// When root replaced the database of an application, the new file belonged to root: the application could not read it.
#[test]
fn owner_and_group_are_kept_where_the_user_may() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    drop(old(&path));
    if chown(&path, Some(1234), Some(2345)).is_err() {
        println!("skipped: this user may not give files away");
        return;
    }
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    build(&path, true).unwrap();
    let new = fs::metadata(&path).unwrap();
    assert_eq!((new.uid(), new.gid(), new.mode() & 0o7777), (1234, 2345, 0o640));
    assert_is_new(&path);
}

#[test]
fn permissions_of_a_replaced_file_are_kept() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    drop(old(&path));
    for mode in [0o600, 0o640, 0o444, 0o777] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        build(&path, true).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode);
        assert_is_new(&path);
    }
}

#[test]
fn a_journal_or_a_log_beside_the_target_is_not_ours_to_ignore() {
    for (suffix, exists) in [("-wal", false), ("-wal", true), ("-journal", false), ("-journal", true)] {
        let folder = Folder::new();
        let path = folder.join("t.db");
        if exists {
            drop(old(&path));
        }
        fs::write(folder.join(&format!("t.db{suffix}")), "frames").unwrap();
        for replace in [false, true] {
            let error = refuse(&folder, &path, replace, ErrorKind::Target);
            assert!(error.to_string().contains(suffix), "{error}");
        }
    }
}

/// A reader and a writer in another connection, in both journal modes.
#[test]
fn a_target_in_use_is_not_replaced() {
    let transactions = ["BEGIN; SELECT * FROM old", "BEGIN IMMEDIATE; INSERT INTO old VALUES (2)", "BEGIN EXCLUSIVE"];
    for mode in ["DELETE", "WAL"] {
        for transaction in transactions {
            let folder = Folder::new();
            let path = folder.join("t.db");
            let user = old(&path);
            user.execute_batch(&format!("PRAGMA journal_mode = {mode}; {transaction}")).unwrap();
            refuse(&folder, &path, true, ErrorKind::Target);
            user.execute_batch("COMMIT").unwrap();
            drop(user);
            build(&path, true).unwrap();
            assert_is_new(&path);
            assert_eq!(folder.names(), ["t.db"], "{mode}");
        }
    }
}

/// A program with the database open, but without a lock, kept using the old file. In WAL mode it wrote its log beside the new
/// one, and the next program applied it. `integrity_check` then said: row 2 missing from index.
#[test]
fn a_target_that_is_merely_open_is_not_replaced() {
    for mode in ["DELETE", "WAL"] {
        let folder = Folder::new();
        let path = folder.join("t.db");
        old(&path).execute_batch(&format!("PRAGMA journal_mode = {mode}")).unwrap();
        let idle = Connection::open(&path).unwrap();
        let error = refuse(&folder, &path, true, ErrorKind::Target);
        assert!(error.to_string().contains("in this program"), "{error}");
        idle.execute_batch("INSERT INTO old VALUES (2)").unwrap();
        drop(idle);
        let process = Command::new("sleep").arg("60").stdin(fs::File::open(&path).unwrap()).spawn();
        let mut process = process.expect("a program that every system has");
        let error = refuse(&folder, &path, true, ErrorKind::Target);
        assert!(error.to_string().contains(&format!("process {}", process.id())), "{error}");
        process.kill().unwrap();
        process.wait().unwrap();
        build(&path, true).unwrap();
        assert_is_new(&path);
        assert_eq!(folder.names(), ["t.db"], "{mode}");
    }
}

/// A database in WAL mode with two names would have to leave that mode under both.
#[test]
fn a_database_in_wal_mode_with_two_names_is_not_replaced() {
    let folder = Folder::new();
    let (path, other) = (folder.join("t.db"), folder.join("u.db"));
    old(&path).execute_batch("PRAGMA journal_mode = WAL").unwrap();
    fs::hard_link(&path, &other).unwrap();
    let error = refuse(&folder, &path, true, ErrorKind::Target);
    assert!(error.to_string().contains("hard links"), "{error}");
    old_mode(&path, "DELETE");
    build(&path, true).unwrap();
    assert_is_new(&path);
    assert_eq!(integer(&Connection::open(&other).unwrap(), "SELECT count(*) FROM old"), 1);
}

fn old_mode(path: &Path, mode: &str) {
    Connection::open(path).unwrap().execute_batch(&format!("PRAGMA journal_mode = {mode}")).unwrap();
}

/// Another program begins to use the target while the new database is being written.
#[test]
fn a_target_that_comes_into_use_meanwhile_is_not_replaced() {
    for (mode, transaction) in [
        ("DELETE", "BEGIN; SELECT * FROM old"),
        ("DELETE", "BEGIN EXCLUSIVE"),
        ("WAL", "BEGIN IMMEDIATE"),
        // The written row is in the log, which would be applied to the new file.
        ("WAL", "INSERT INTO old VALUES (2)"),
        ("WAL", "BEGIN; SELECT * FROM old"),
    ] {
        let folder = Folder::new();
        let path = folder.join("t.db");
        old(&path).execute_batch(&format!("PRAGMA journal_mode = {mode}")).unwrap();
        let database = begin(&path, true).unwrap();
        let user = Connection::open(&path).unwrap();
        user.execute_batch(transaction).unwrap();
        let result = database.finish();
        let error = result.err().unwrap_or_else(|| panic!("{mode}, {transaction}: replaced under its user"));
        assert_eq!(error.kind(), ErrorKind::Target, "{mode}, {transaction}: {error}");
        assert_eq!(folder.temporaries(), [""; 0], "{mode}, {transaction}");
        drop(user);
        let sqlite = Connection::open(&path).unwrap();
        assert!(integer(&sqlite, "SELECT count(*) FROM old") >= 1, "{mode}, {transaction}: the old content");
    }
}

/// Ten threads replaced a target that was absent at first: one of them made it, and the others failed, because it had come into
/// being meanwhile. The last one wins now, and without the wish to replace nothing changes.
#[test]
fn a_target_that_comes_into_being_meanwhile_is_replaced_if_that_is_allowed() {
    for replace in [false, true] {
        let folder = Folder::new();
        let path = folder.join("t.db");
        let database = begin(&path, replace).unwrap();
        drop(old(&path));
        let before = fs::read(&path).unwrap();
        let finished = database.finish();
        if replace {
            finished.unwrap();
            assert_is_new(&path);
        } else {
            assert_eq!(finished.err().unwrap().kind(), ErrorKind::Target);
            assert!(fs::read(&path).unwrap() == before, "the target has changed");
        }
        assert_eq!(folder.names(), ["t.db"]);
    }
}

/// The last one wins, and all succeed. Ten threads failed on a busy machine, because those that waited lost their patience after half a
/// second, in which the others had the target: "the target is open in this program". They take turns now.
#[test]
fn many_threads_replace_one_target() {
    for number in [10, 10, 10, 100] {
        let folder = Folder::new();
        let path = folder.join("t.db");
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..number).map(|_| scope.spawn(|| build(&path, true).map(drop))).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
        });
        assert_is_new(&path);
        assert_eq!(folder.names(), ["t.db"]);
    }
}

/// The file that a link points to is replaced; the link stays.
#[test]
fn a_link_is_followed() {
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    let (link, file) = (folder.join("link.db"), elsewhere.join("file.db"));
    drop(old(&file));
    symlink(&file, &link).unwrap();
    refuse(&folder, &link, false, ErrorKind::Exists);
    build(&link, true).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_is_new(&file);
    assert_eq!((folder.names(), elsewhere.names()), (vec!["link.db".to_owned()], vec!["file.db".to_owned()]));
}

#[test]
fn a_link_that_leads_nowhere_is_refused_or_followed_and_never_replaced() {
    let folder = Folder::new();
    let link = folder.join("link.db");
    symlink(folder.join("missing.db"), &link).unwrap();
    if build(&link, true).is_ok() {
        assert_is_new(&folder.join("missing.db"));
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(folder.temporaries(), [""; 0]);
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = Folder::new();
    fs::create_dir(folder.join("folder")).unwrap();
    for replace in [false, true] {
        refuse(&folder, &folder.join("folder"), replace, ErrorKind::Target);
        refuse(&folder, Path::new("/dev/null"), replace, ErrorKind::Target);
    }
    // Without the check for a slash, the whole database was written before the rename failed.
    for name in ["..", "/", "missing/"] {
        refuse(&folder, &folder.join(name), true, ErrorKind::Usage);
    }
}

#[test]
fn what_is_no_database_is_not_replaced() {
    let folder = Folder::new();
    let letter = "Dear Sir or Madam\n".repeat(300);
    for (name, len) in [("letter.txt", letter.len()), ("note.txt", 600), ("line.txt", 500), ("short.txt", 18)] {
        fs::write(folder.join(name), &letter[..len]).unwrap();
        let error = refuse(&folder, &folder.join(name), true, ErrorKind::Target);
        assert!(error.to_string().contains("not a SQLite database"), "{error}");
    }
}

/// A database that is corrupt beyond reading may be replaced.
#[test]
fn a_corrupt_database_is_replaced() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    drop(old(&path));
    let mut bytes = fs::read(&path).unwrap();
    bytes[100..4000].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    build(&path, true).unwrap();
    assert_is_new(&path);
}

#[test]
fn a_missing_folder_and_one_that_takes_no_files() {
    let folder = Folder::new();
    let error = refuse(&folder, &folder.join("missing/t.db"), false, ErrorKind::Io);
    assert!(error.to_string().contains("missing/t.db"), "{error}");
    // Not even root can create files here.
    refuse(&folder, Path::new("/proc/t.db"), false, ErrorKind::Io);
    fs::write(folder.join("file"), "").unwrap();
    refuse(&folder, &folder.join("file/t.db"), false, ErrorKind::Io);
}

#[test]
fn a_read_only_folder_is_refused() {
    let folder = Folder::new();
    let locked = folder.join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, Permissions::from_mode(0o555)).unwrap();
    if fs::write(locked.join("probe"), "").is_ok() {
        println!("skipped: this user may write to every folder");
        fs::remove_file(locked.join("probe")).unwrap();
        assert_eq!(fs::read_dir(&locked).unwrap().count(), 0);
        return;
    }
    let error = refuse(&folder, &locked.join("t.db"), false, ErrorKind::Io);
    assert!(error.advice().is_some(), "{error}");
    fs::set_permissions(&locked, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_disk_that_is_too_small_is_noticed_before_the_first_write() {
    let folder = Folder::new();
    let mut options = Options::default();
    options.expected_bytes = 1 << 60;
    let schema = Schema::from_sql("CREATE TABLE new(a)", "<publish>").unwrap();
    let error = Database::create(&folder.target("t.db"), schema, &options).err().expect("an exabyte");
    assert_eq!(error.kind(), ErrorKind::NoSpace, "{error}");
    assert_eq!(folder.names(), [""; 0]);
}

/// Names with spaces, quotes, percent signs, other alphabets, and a long one.
#[test]
fn odd_file_names() {
    let folder = Folder::new();
    let long = format!("{}.db", "n".repeat(220));
    for name in ["a b.db", "it's \"odd\".db", "50%20.db?mode=ro", "file:x.db", "-wal", "Größe.db", "名.db", &long] {
        let path = folder.join(name);
        build(&path, false).unwrap_or_else(|error| panic!("{name}: {error}"));
        build(&path, true).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_is_new(&path);
        assert_eq!(folder.names(), [name]);
        fs::remove_file(&path).unwrap();
    }
}

/// Temporary files of a target do not belong to another target with a common prefix of the name.
#[test]
fn a_target_whose_name_begins_like_anothers() {
    let folder = Folder::new();
    let one = begin(&folder.join("t.db"), false).unwrap();
    let other = begin(&folder.join("t.db.litepress-1"), false).unwrap();
    build(&folder.join("t"), false).unwrap();
    assert_eq!(folder.temporaries().len(), 2);
    one.finish().unwrap();
    other.finish().unwrap();
    assert_eq!(folder.names(), ["t", "t.db", "t.db.litepress-1"]);
}

/// One of many runs that begin at the same moment gets the name. All others report that, and nothing is left.
#[test]
fn runs_that_race_for_one_name() {
    const RUNS: usize = 8;
    for round in 0..60 {
        let folder = Folder::new();
        let path = folder.join("t.db");
        let results = race(&path, RUNS, false);
        let kinds: Vec<Option<ErrorKind>> =
            results.iter().map(|result| result.as_ref().err().map(Error::kind)).collect();
        let won = kinds.iter().filter(|kind| kind.is_none()).count();
        assert_eq!(won, 1, "round {round}: {}", odd_ones(&results));
        let lost = kinds.iter().flatten().all(|kind| matches!(kind, ErrorKind::Exists | ErrorKind::Target));
        assert!(lost, "round {round}: {}", odd_ones(&results));
        assert_eq!(folder.names(), ["t.db"], "round {round}");
        assert_is_new(&path);
    }
}

/// If replacement is allowed, some runs succeed and others may find the target in use. In the end the target is whole. Two runs
/// that checked the target at the same moment refused each other, so that sometimes all were refused.
#[test]
fn runs_that_race_to_replace_one_file() {
    for round in 0..60 {
        let mode = if round % 2 == 0 { "DELETE" } else { "WAL" };
        let folder = Folder::new();
        let path = folder.join("t.db");
        old(&path).execute_batch(&format!("PRAGMA journal_mode = {mode}")).unwrap();
        let results = race(&path, 8, true);
        assert!(results.iter().any(Result::is_ok), "round {round}, {mode}: {results:?}");
        let failed = results.iter().filter_map(|result| result.as_ref().err());
        let told = failed.map(Error::kind).all(|kind| kind == ErrorKind::Target);
        assert!(told, "round {round}, {mode}: {}", odd_ones(&results));
        assert_eq!(folder.names(), ["t.db"], "round {round}, {mode}");
        assert_is_new(&path);
    }
}

/// A short access to the target by any program does not cost a run its work.
#[test]
fn a_short_use_of_the_target_is_waited_for() {
    let folder = Folder::new();
    let path = folder.join("t.db");
    drop(old(&path));
    let database = begin(&path, true).unwrap();
    let user = Connection::open(&path).unwrap();
    user.execute_batch("BEGIN EXCLUSIVE").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(user);
        });
        database.finish().unwrap();
    });
    assert_is_new(&path);
}

/// The target was removed or replaced while the new database was being written: the removal cost the run its work.
#[test]
fn a_target_that_goes_or_changes_meanwhile_is_replaced() {
    for another in [false, true] {
        let folder = Folder::new();
        let path = folder.join("t.db");
        drop(old(&path));
        let database = begin(&path, true).unwrap();
        fs::remove_file(&path).unwrap();
        if another {
            drop(old(&path));
        }
        database.finish().unwrap();
        assert_is_new(&path);
        assert_eq!(folder.names(), ["t.db"]);
    }
}

fn race(path: &Path, runs: usize, replace: bool) -> Vec<Result<()>> {
    let (start, results) = (Barrier::new(runs), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..runs {
            scope.spawn(|| {
                start.wait();
                let result = build(path, replace);
                results.lock().unwrap().push(result);
            });
        }
    });
    results.into_inner().unwrap()
}

/// Describes the results that are neither a success nor a refusal of the target, and counts all.
fn odd_ones(results: &[Result<()>]) -> String {
    let errors: Vec<&Error> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    let odd: Vec<String> = errors
        .iter()
        .filter(|error| !matches!(error.kind(), ErrorKind::Exists | ErrorKind::Target))
        .map(ToString::to_string)
        .collect();
    format!("{} succeeded, {} failed, among them {odd:?}", results.len() - errors.len(), errors.len())
}
