//! The interface that SQLite gives to an extension: its functions by their places in `sqlite3_api_routines`, and the structs of virtual
//! tables. Declarations alone: SQLite documents them, <https://sqlite.org/c3ref/intro.html>.
//!
//! An extension calls the SQLite that has loaded it, and that one only. Functions of the same names are in this library, too: those of
//! the SQLite that litepress brings along. So nothing here is linked by name.

use std::ffi::{c_char, c_int, c_uchar, c_void};

/// `sqlite3`
#[repr(C)]
pub struct Connection {
    _opaque: [u8; 0],
}

/// `sqlite3_stmt`
#[repr(C)]
pub struct Statement {
    _opaque: [u8; 0],
}

/// `sqlite3_context`
#[repr(C)]
pub struct Context {
    _opaque: [u8; 0],
}

/// `sqlite3_value`
#[repr(C)]
pub struct Value {
    _opaque: [u8; 0],
}

pub type Function = unsafe extern "C" fn(*mut Context, c_int, *mut *mut Value);
pub type Destructor = unsafe extern "C" fn(*mut c_void);

/// A function that is not called here.
type Unused = usize;

/// `sqlite3_api_routines`, up to the last function that is used. Fields are where SQLite has them: this never changes.
#[derive(Debug)]
#[repr(C)]
pub struct Api {
    _unused_0: [Unused; 19],
    pub column_blob: unsafe extern "C" fn(*mut Statement, c_int) -> *const c_void,
    pub column_bytes: unsafe extern "C" fn(*mut Statement, c_int) -> c_int,
    _unused_21: [Unused; 1],
    pub column_count: unsafe extern "C" fn(*mut Statement) -> c_int,
    _unused_23: [Unused; 2],
    pub column_decltype: unsafe extern "C" fn(*mut Statement, c_int) -> *const c_char,
    _unused_26: [Unused; 1],
    pub column_double: unsafe extern "C" fn(*mut Statement, c_int) -> f64,
    _unused_28: [Unused; 1],
    pub column_int64: unsafe extern "C" fn(*mut Statement, c_int) -> i64,
    pub column_name: unsafe extern "C" fn(*mut Statement, c_int) -> *const c_char,
    _unused_31: [Unused; 5],
    pub column_text: unsafe extern "C" fn(*mut Statement, c_int) -> *const c_uchar,
    _unused_37: [Unused; 1],
    pub column_type: unsafe extern "C" fn(*mut Statement, c_int) -> c_int,
    _unused_39: [Unused; 11],
    pub declare_vtab: unsafe extern "C" fn(*mut Connection, *const c_char) -> c_int,
    _unused_51: [Unused; 2],
    pub errmsg: unsafe extern "C" fn(*mut Connection) -> *const c_char,
    _unused_54: [Unused; 3],
    pub finalize: unsafe extern "C" fn(*mut Statement) -> c_int,
    _unused_58: [Unused; 9],
    pub libversion_number: unsafe extern "C" fn() -> c_int,
    _unused_68: [Unused; 11],
    pub result_double: unsafe extern "C" fn(*mut Context, f64),
    pub result_error: unsafe extern "C" fn(*mut Context, *const c_char, c_int),
    _unused_81: [Unused; 2],
    pub result_int64: unsafe extern "C" fn(*mut Context, i64),
    pub result_null: unsafe extern "C" fn(*mut Context),
    _unused_85: [Unused; 9],
    pub step: unsafe extern "C" fn(*mut Statement) -> c_int,
    _unused_95: [Unused; 6],
    pub user_data: unsafe extern "C" fn(*mut Context) -> *mut c_void,
    pub value_blob: unsafe extern "C" fn(*mut Value) -> *const c_void,
    pub value_bytes: unsafe extern "C" fn(*mut Value) -> c_int,
    _unused_104: [Unused; 1],
    pub value_double: unsafe extern "C" fn(*mut Value) -> f64,
    _unused_106: [Unused; 1],
    pub value_int64: unsafe extern "C" fn(*mut Value) -> i64,
    _unused_108: [Unused; 1],
    pub value_text: unsafe extern "C" fn(*mut Value) -> *const c_uchar,
    _unused_110: [Unused; 3],
    pub value_type: unsafe extern "C" fn(*mut Value) -> c_int,
    _unused_114: [Unused; 2],
    pub prepare_v2:
        unsafe extern "C" fn(*mut Connection, *const c_char, c_int, *mut *mut Statement, *mut *const c_char) -> c_int,
    _unused_117: [Unused; 2],
    pub create_module_v2:
        unsafe extern "C" fn(*mut Connection, *const c_char, *const Module, *mut c_void, Option<Destructor>) -> c_int,
    _unused_120: [Unused; 26],
    pub result_error_code: unsafe extern "C" fn(*mut Context, c_int),
    _unused_147: [Unused; 2],
    pub context_db_handle: unsafe extern "C" fn(*mut Context) -> *mut Connection,
    _unused_150: [Unused; 12],
    pub create_function_v2: unsafe extern "C" fn(
        *mut Connection,
        *const c_char,
        c_int,
        c_int,
        *mut c_void,
        Option<Function>,
        Option<Function>,
        Option<unsafe extern "C" fn(*mut Context)>,
        Option<Destructor>,
    ) -> c_int,
    _unused_163: [Unused; 3],
    pub extended_errcode: unsafe extern "C" fn(*mut Connection) -> c_int,
    _unused_167: [Unused; 10],
    pub vtab_config: unsafe extern "C" fn(*mut Connection, c_int, ...) -> c_int,
    _unused_178: [Unused; 7],
    pub stmt_readonly: unsafe extern "C" fn(*mut Statement) -> c_int,
    _unused_186: [Unused; 11],
    pub malloc64: unsafe extern "C" fn(u64) -> *mut c_void,
    _unused_198: [Unused; 3],
    pub result_blob64: unsafe extern "C" fn(*mut Context, *const c_void, u64, isize),
    pub result_text64: unsafe extern "C" fn(*mut Context, *const c_char, u64, isize, c_uchar),
    _unused_203: [Unused; 18],
    pub value_pointer: unsafe extern "C" fn(*mut Value, *const c_char) -> *mut c_void,
    _unused_222: [Unused; 2],
    pub vtab_collation: unsafe extern "C" fn(*mut IndexInfo, c_int) -> *const c_char,
    _unused_225: [Unused; 32],
    pub vtab_rhs_value: unsafe extern "C" fn(*mut IndexInfo, c_int, *mut *mut Value) -> c_int,
    _unused_258: [Unused; 1],
    pub vtab_in: unsafe extern "C" fn(*mut IndexInfo, c_int, c_int) -> c_int,
    pub vtab_in_first: unsafe extern "C" fn(*mut Value, *mut *mut Value) -> c_int,
    pub vtab_in_next: unsafe extern "C" fn(*mut Value, *mut *mut Value) -> c_int,
    _unused_262: [Unused; 4],
    /// Since 3.41: ask for the version first.
    pub is_interrupted: unsafe extern "C" fn(*mut Connection) -> c_int,
}

// The places of some functions, counted by hand in sqlite3ext.h.
const _: () = {
    assert!(std::mem::offset_of!(Api, column_blob) == 19 * size_of::<usize>());
    assert!(std::mem::offset_of!(Api, create_module_v2) == 119 * size_of::<usize>());
    assert!(std::mem::offset_of!(Api, vtab_in) == 259 * size_of::<usize>());
    assert!(std::mem::offset_of!(Api, is_interrupted) == 266 * size_of::<usize>());
};

pub const OK: c_int = 0;
pub const ERROR: c_int = 1;
pub const INTERRUPT: c_int = 9;
pub const CONSTRAINT: c_int = 19;
pub const ROW: c_int = 100;
pub const DONE: c_int = 101;
/// The library stays loaded: `SQLITE_OK_LOAD_PERMANENTLY`.
pub const OK_LOAD_PERMANENTLY: c_int = 256;

pub const INTEGER: c_int = 1;
pub const FLOAT: c_int = 2;
pub const TEXT: c_int = 3;
pub const BLOB: c_int = 4;

pub const UTF8: c_int = 1;
/// `SQLITE_DIRECTONLY`: a function cannot be called by triggers and views.
pub const DIRECTONLY: c_int = 0x0008_0000;
/// `SQLITE_VTAB_DIRECTONLY`
pub const VTAB_DIRECTONLY: c_int = 3;
/// `SQLITE_TRANSIENT`: SQLite copies the bytes.
pub const TRANSIENT: isize = -1;

pub const INDEX_EQ: c_uchar = 2;
pub const INDEX_GT: c_uchar = 4;
pub const INDEX_LE: c_uchar = 8;
pub const INDEX_LT: c_uchar = 16;
pub const INDEX_GE: c_uchar = 32;

/// `sqlite3_module`
#[derive(Debug)]
#[repr(C)]
pub struct Module {
    pub version: c_int,
    pub create: Option<Connect>,
    pub connect: Option<Connect>,
    pub best_index: Option<unsafe extern "C" fn(*mut VirtualTable, *mut IndexInfo) -> c_int>,
    pub disconnect: Option<unsafe extern "C" fn(*mut VirtualTable) -> c_int>,
    pub destroy: Option<unsafe extern "C" fn(*mut VirtualTable) -> c_int>,
    pub open: Option<unsafe extern "C" fn(*mut VirtualTable, *mut *mut Cursor) -> c_int>,
    pub close: Option<unsafe extern "C" fn(*mut Cursor) -> c_int>,
    pub filter: Option<unsafe extern "C" fn(*mut Cursor, c_int, *const c_char, c_int, *mut *mut Value) -> c_int>,
    pub next: Option<unsafe extern "C" fn(*mut Cursor) -> c_int>,
    pub eof: Option<unsafe extern "C" fn(*mut Cursor) -> c_int>,
    pub column: Option<unsafe extern "C" fn(*mut Cursor, *mut Context, c_int) -> c_int>,
    pub rowid: Option<unsafe extern "C" fn(*mut Cursor, *mut i64) -> c_int>,
    /// Changes, transactions, names: a table that is only read needs none.
    pub _unused: [Unused; 11],
}

pub type Connect = unsafe extern "C" fn(
    *mut Connection,
    *mut c_void,
    c_int,
    *const *const c_char,
    *mut *mut VirtualTable,
    *mut *mut c_char,
) -> c_int;

/// `sqlite3_vtab`
#[derive(Debug)]
#[repr(C)]
pub struct VirtualTable {
    pub module: *const Module,
    pub references: c_int,
    pub error: *mut c_char,
}

/// `sqlite3_vtab_cursor`
#[derive(Debug)]
#[repr(C)]
pub struct Cursor {
    pub table: *mut VirtualTable,
}

/// `sqlite3_index_info`
#[derive(Debug)]
#[repr(C)]
pub struct IndexInfo {
    pub constraint_count: c_int,
    pub constraints: *mut Constraint,
    pub order_count: c_int,
    pub order: *mut c_void,
    pub usages: *mut Usage,
    pub number: c_int,
    pub text: *mut c_char,
    pub frees_text: c_int,
    pub is_ordered: c_int,
    pub cost: f64,
    pub rows: i64,
    pub flags: c_int,
    pub columns_used: u64,
}

/// `sqlite3_index_constraint`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Constraint {
    pub column: c_int,
    pub operator: c_uchar,
    pub is_usable: c_uchar,
    pub _term: c_int,
}

/// `sqlite3_index_constraint_usage`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Usage {
    pub argument: c_int,
    pub omit: c_uchar,
}
