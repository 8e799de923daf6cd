//! A VFS over that of the system. It passes every call on, and tells the laboratories of the calls to their files.
#![expect(unsafe_code, reason = "a VFS is a table of C functions")]
#![expect(clippy::multiple_unsafe_ops_per_block, reason = "each function does one thing: it passes a call on")]

use crate::faults::CallKind;
use crate::laboratory::{Bench, BenchState};
use crate::recording::Event;
use rusqlite::ffi::{self, sqlite3_file, sqlite3_io_methods, sqlite3_vfs};
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The laboratories of the process.
static BENCHES: Mutex<Vec<Arc<Bench>>> = Mutex::new(Vec::new());
/// The VFS of the system, once the shim is registered above it.
static SYSTEM: OnceLock<System> = OnceLock::new();

struct System(*mut sqlite3_vfs);

// SAFETY: SQLite's VFS objects are never freed, and are used by all threads.
unsafe impl Send for System {}
// SAFETY: as above.
unsafe impl Sync for System {}

/// Tells the shim of a laboratory. The first one registers the shim as the default VFS.
pub(crate) fn watch(bench: &Arc<Bench>) {
    SYSTEM.get_or_init(|| {
        // SAFETY: a null name asks for the default VFS, which always exists.
        let system = unsafe { ffi::sqlite3_vfs_find(std::ptr::null()) };
        // SAFETY: it is valid for ever. Its methods use nothing of the object but what is copied with it.
        let mut shim = unsafe { *system };
        shim.zName = c"crashlab".as_ptr();
        shim.pNext = std::ptr::null_mut();
        shim.szOsFile += c_int::try_from(size_of::<ShimFile>()).expect("16 bytes");
        shim.xOpen = Some(open);
        shim.xDelete = Some(delete);
        // SAFETY: the object is never freed.
        let code = unsafe { ffi::sqlite3_vfs_register(Box::into_raw(Box::new(shim)), 1) };
        assert_eq!(code, ffi::SQLITE_OK, "SQLite takes the shim");
        System(system)
    });
    BENCHES.lock().unwrap_or_else(PoisonError::into_inner).push(bench.clone());
}

/// Ends the watch of a laboratory. Files that are open stay with it.
pub(crate) fn forget(bench: &Arc<Bench>) {
    BENCHES.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| !Arc::ptr_eq(other, bench));
}

/// Returns the laboratory of a file, and its name there.
fn bench_of(path: *const c_char) -> Option<(Arc<Bench>, String)> {
    if path.is_null() {
        return None;
    }
    // SAFETY: SQLite passes a string that ends with zero.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    let folder = path.parent()?;
    let benches = BENCHES.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = benches.iter().find(|bench| bench.folder == folder)?;
    Some((bench.clone(), path.file_name()?.to_string_lossy().into_owned()))
}

/// A file of a laboratory. The file of the system lies behind it.
#[repr(C)]
struct ShimFile {
    base: sqlite3_file,
    watched: *mut Watched,
}

struct Watched {
    bench: Arc<Bench>,
    name: String,
    /// Whether the next sync is the first one of a new journal.
    is_new_journal: bool,
}

/// An open file, as the functions below get it.
struct Call {
    watched: *mut Watched,
    file: *mut sqlite3_file,
}

impl Call {
    /// REQUIRES: SQLite passes a file that [`open`] has opened.
    fn of(file: *mut sqlite3_file) -> Self {
        // SAFETY: the file begins with a `ShimFile`, and the file of the system lies behind it.
        unsafe { Self { watched: (*file.cast::<ShimFile>()).watched, file: system_file(file) } }
    }

    fn watched(&mut self) -> &mut Watched {
        // SAFETY: it lives until the file is closed, and SQLite uses a file in one thread at a time.
        unsafe { &mut *self.watched }
    }

    fn methods(&self) -> &'static sqlite3_io_methods {
        // SAFETY: the file of the system is open, and its methods are static.
        unsafe { &*(*self.file).pMethods }
    }

    /// Counts the call, and passes it on unless it fails. `record` follows a call that succeeded, before any other call.
    fn run(
        mut self,
        kind: CallKind,
        pass_on: impl FnOnce(&sqlite3_io_methods, *mut sqlite3_file) -> c_int,
        record: impl FnOnce(&mut BenchState, &mut Watched),
    ) -> c_int {
        let bench = self.watched().bench.clone();
        let mut state = bench.state();
        if let Some(code) = state.begin_call(kind) {
            return code;
        }
        let code = pass_on(self.methods(), self.file);
        if code == ffi::SQLITE_OK {
            record(&mut state, self.watched());
        }
        code
    }
}

/// Returns the file of the system behind a `ShimFile`.
fn system_file(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: SQLite allocates `szOsFile` bytes for a file, which is the sum of both.
    unsafe { file.cast::<ShimFile>().add(1).cast() }
}

fn system() -> &'static sqlite3_vfs {
    let system = SYSTEM.get().expect("the shim is registered");
    // SAFETY: it is never freed.
    unsafe { &*system.0 }
}

unsafe extern "C" fn open(
    _vfs: *mut sqlite3_vfs,
    path: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let pass_on = |file| {
        let open = system().xOpen.expect("every VFS opens files");
        // SAFETY: the arguments are those of SQLite, and `file` has room for a file of the system.
        unsafe { open(std::ptr::from_ref(system()).cast_mut(), path, file, flags, out_flags) }
    };
    let Some((bench, name)) = bench_of(path) else { return pass_on(file) };
    // SAFETY: SQLite allocated the file. Without methods it counts as closed.
    unsafe { (*file).pMethods = std::ptr::null() };
    let mut state = bench.state();
    if let Some(code) = state.begin_call(CallKind::Open) {
        return code;
    }
    let is_new = !bench.folder.join(&name).exists();
    let code = pass_on(system_file(file));
    // SAFETY: a VFS sets the methods, or leaves null if the file is not open.
    if code != ffi::SQLITE_OK || unsafe { (*system_file(file)).pMethods.is_null() } {
        return code;
    }
    if is_new {
        state.event(|| Event::Create { name: name.clone() });
    }
    state.open_files += 1;
    drop(state);
    const JOURNALS: c_int = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;
    let is_new_journal = flags & ffi::SQLITE_OPEN_CREATE != 0 && flags & JOURNALS != 0;
    let watched = Box::into_raw(Box::new(Watched { bench, name, is_new_journal }));
    // SAFETY: SQLite allocated the file, which begins with a `ShimFile`.
    unsafe { *file.cast() = ShimFile { base: sqlite3_file { pMethods: &raw const METHODS }, watched } };
    code
}

unsafe extern "C" fn delete(_vfs: *mut sqlite3_vfs, path: *const c_char, sync_folder: c_int) -> c_int {
    let pass_on = |sync_folder| {
        let delete = system().xDelete.expect("every VFS deletes files");
        // SAFETY: the arguments are those of SQLite.
        unsafe { delete(std::ptr::from_ref(system()).cast_mut(), path, sync_folder) }
    };
    let Some((bench, name)) = bench_of(path) else { return pass_on(sync_folder) };
    let mut state = bench.state();
    if let Some(code) = state.begin_call(CallKind::Delete) {
        return code;
    }
    let code = pass_on(if state.skips_syncs { 0 } else { sync_folder });
    if code == ffi::SQLITE_OK {
        state.event(|| Event::Delete { name, and_sync: sync_folder != 0 });
    }
    code
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let mut call = Call::of(file);
    call.watched().bench.state().open_files -= 1;
    let close = call.methods().xClose.expect("every file is closed");
    // SAFETY: the file is open.
    let code = unsafe { close(call.file) };
    // SAFETY: `open` made it, and SQLite closes a file once.
    drop(unsafe { Box::from_raw(call.watched) });
    code
}

unsafe extern "C" fn read(file: *mut sqlite3_file, to: *mut c_void, amount: c_int, offset: i64) -> c_int {
    Call::of(file).run(
        CallKind::Read,
        // SAFETY: the arguments are those of SQLite.
        |methods, file| unsafe { methods.xRead.expect("files are read")(file, to, amount, offset) },
        |_, _| (),
    )
}

unsafe extern "C" fn write(file: *mut sqlite3_file, from: *const c_void, amount: c_int, offset: i64) -> c_int {
    let bytes = |amount: c_int| {
        let len = usize::try_from(amount).expect("a positive number");
        // SAFETY: SQLite passes `amount` bytes.
        unsafe { std::slice::from_raw_parts(from.cast::<u8>(), len) }.to_vec()
    };
    let event = |name: &str, amount| Event::Write {
        name: name.to_owned(),
        offset: offset.cast_unsigned(),
        bytes: bytes(amount),
    };
    // SAFETY: the arguments are those of SQLite, or fewer bytes.
    let pass_on = |methods: &sqlite3_io_methods, file, amount| unsafe {
        methods.xWrite.expect("files are written")(file, from, amount, offset)
    };
    let mut call = Call::of(file);
    let bench = call.watched().bench.clone();
    let mut state = bench.state();
    let failed = state.begin_call(CallKind::Write);
    let amount = match failed {
        Some(code) if !state.is_partial() || amount < 2 => return code,
        Some(_) => amount / 2,
        None => amount,
    };
    let code = pass_on(call.methods(), call.file, amount);
    if code == ffi::SQLITE_OK {
        state.event(|| event(&call.watched().name, amount));
    }
    failed.unwrap_or(code)
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, len: i64) -> c_int {
    Call::of(file).run(
        CallKind::Truncate,
        // SAFETY: the arguments are those of SQLite.
        |methods, file| unsafe { methods.xTruncate.expect("files are cut off")(file, len) },
        |state, watched| state.event(|| Event::Truncate { name: watched.name.clone(), len: len.cast_unsigned() }),
    )
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    let skips = Call::of(file).watched().bench.state().skips_syncs;
    Call::of(file).run(
        CallKind::Sync,
        |methods, file| {
            if skips {
                return ffi::SQLITE_OK;
            }
            // SAFETY: the arguments are those of SQLite.
            unsafe { methods.xSync.expect("files are synced")(file, flags) }
        },
        |state, watched| {
            let and_folder = std::mem::take(&mut watched.is_new_journal);
            state.event(|| Event::Sync { name: watched.name.clone(), and_folder });
        },
    )
}

unsafe extern "C" fn size(file: *mut sqlite3_file, len: *mut i64) -> c_int {
    Call::of(file).run(
        CallKind::Size,
        // SAFETY: the arguments are those of SQLite.
        |methods, file| unsafe { methods.xFileSize.expect("files have lengths")(file, len) },
        |_, _| (),
    )
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    Call::of(file).run(
        CallKind::Lock,
        // SAFETY: the arguments are those of SQLite.
        |methods, file| unsafe { methods.xLock.expect("files are locked")(file, level) },
        |_, _| (),
    )
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    region: c_int,
    bytes: c_int,
    extend: c_int,
    to: *mut *mut c_void,
) -> c_int {
    Call::of(file).run(
        CallKind::ShmMap,
        // SAFETY: the arguments are those of SQLite.
        |methods, file| unsafe { methods.xShmMap.expect("the VFS has shared memory")(file, region, bytes, extend, to) },
        |_, _| (),
    )
}

unsafe extern "C" fn shm_lock(file: *mut sqlite3_file, first: c_int, count: c_int, flags: c_int) -> c_int {
    let call = Call::of(file);
    // SAFETY: the arguments are those of SQLite.
    let pass_on = |methods: &sqlite3_io_methods, file| unsafe {
        methods.xShmLock.expect("the VFS has shared memory")(file, first, count, flags)
    };
    if flags & ffi::SQLITE_SHM_LOCK == 0 {
        return pass_on(call.methods(), call.file);
    }
    call.run(CallKind::ShmLock, pass_on, |_, _| ())
}

/// Makes functions that pass a call on, and do nothing else.
macro_rules! passed_on {
    ($($name:ident: $method:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $kind)*) -> $result {
            let call = Call::of(file);
            let method = call.methods().$method.expect("the VFS of the system has it");
            // SAFETY: the arguments are those of SQLite.
            unsafe { method(call.file $(, $argument)*) }
        }
    )*};
}

passed_on! {
    unlock: xUnlock(level: c_int) -> c_int;
    check_reserved_lock: xCheckReservedLock(result: *mut c_int) -> c_int;
    control: xFileControl(operation: c_int, argument: *mut c_void) -> c_int;
    sector_size: xSectorSize() -> c_int;
    characteristics: xDeviceCharacteristics() -> c_int;
    shm_barrier: xShmBarrier() -> ();
    shm_unmap: xShmUnmap(and_delete: c_int) -> c_int;
}

/// The methods of a file of a laboratory. Version 2: SQLite does not map files into memory, where writes would pass by.
static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};
