//! Virtual tables: a module of SQLite over a safe trait.

use super::api::{self, Api, Connection, Context, Cursor, IndexInfo, Module, OK, VTAB_DIRECTONLY, Value, VirtualTable};
use super::host::{Failure, Host, caught, sqlite_text};
use super::index::{Index, Plan};
use super::values::{HostValue, Output};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The arguments of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Name of the table.
    pub table: String,
    /// The table belongs to the module itself, and needs no CREATE VIRTUAL TABLE.
    pub is_eponymous: bool,
    /// The texts between the parentheses of USING, as they were written.
    pub texts: Vec<String>,
}

/// A virtual table that is only read.
pub trait TableModule: Sized + Send + 'static {
    /// Its cursors.
    type Cursor: TableCursor;

    /// The name of the module.
    const NAME: &'static CStr;

    /// Makes a table. Also returns its definition: `CREATE TABLE x(a, b HIDDEN)`.
    ///
    /// # Errors
    /// Wrong arguments.
    fn connect(host: Host, arguments: &Arguments) -> Result<(Self, String), Failure>;

    /// Plans a query. Returns `false` if it cannot be done with what is known: SQLite then tries another order of tables.
    ///
    /// # Errors
    /// A query that no order of tables makes possible.
    fn plan(&self, index: &mut Index<'_>) -> Result<bool, Failure>;

    /// Opens a cursor.
    ///
    /// # Errors
    /// If there is no room for one.
    fn open(&self) -> Result<Self::Cursor, Failure>;
}

/// A cursor over the rows of a table.
pub trait TableCursor: Send + 'static {
    /// Goes to the first row of a plan.
    ///
    /// # Errors
    /// Rows that cannot be read.
    fn filter(&mut self, plan: &Plan<'_>) -> Result<(), Failure>;

    /// Goes to the next row.
    ///
    /// # Errors
    /// Rows that cannot be read.
    fn next(&mut self) -> Result<(), Failure>;

    /// Returns whether there is no row.
    fn is_over(&self) -> bool;

    /// Passes a column of the row to SQLite.
    ///
    /// # Errors
    /// A value that cannot be read.
    fn column(&mut self, column: usize, output: &mut Output<'_>) -> Result<(), Failure>;

    /// Returns the number of the row.
    fn rowid(&self) -> i64;
}

/// A table as SQLite knows it.
#[repr(C)]
struct TableObject<T> {
    base: VirtualTable,
    api: &'static Api,
    table: T,
}

/// A cursor as SQLite knows it.
#[repr(C)]
struct CursorObject<C> {
    base: Cursor,
    api: &'static Api,
    cursor: C,
}

/// Adds a module. Its tables can be used as functions, and CREATE VIRTUAL TABLE makes further ones. Triggers and views of a database
/// cannot use them.
///
/// # Errors
/// The error of SQLite.
pub fn add_module<T: TableModule>(host: Host) -> Result<(), Failure> {
    let module = const { &module::<T>() };
    let data = std::ptr::from_ref(host.api).cast_mut().cast::<c_void>();
    // SAFETY: the connection is open; the module and the table of functions are there as long as the library and SQLite are.
    let code = unsafe {
        (host.api.create_module_v2)(host.connection, T::NAME.as_ptr(), std::ptr::from_ref(module), data, None)
    };
    if code == OK { Ok(()) } else { Err(host.failure()) }
}

const fn module<T: TableModule>() -> Module {
    Module {
        version: 1,
        create: Some(connect::<T>),
        connect: Some(connect::<T>),
        best_index: Some(best_index::<T>),
        disconnect: Some(disconnect::<T>),
        destroy: Some(disconnect::<T>),
        open: Some(open::<T>),
        close: Some(close::<T>),
        filter: Some(filter::<T>),
        next: Some(next::<T>),
        eof: Some(eof::<T>),
        column: Some(column::<T>),
        rowid: Some(rowid::<T>),
        _unused: [0; 11],
    }
}

/// Stores the message of a failure where SQLite looks for it. Returns its code.
///
/// # Safety
/// The place holds NULL or a text of SQLite's memory, which SQLite frees.
unsafe fn failed(api: &Api, place: *mut *mut c_char, failure: &Failure) -> c_int {
    let text = sqlite_text(api, &failure.text());
    // SAFETY: the caller promises a place. A text that was there before is SQLite's.
    unsafe { *place = text };
    failure.code
}

unsafe extern "C" fn connect<T: TableModule>(
    connection: *mut Connection,
    data: *mut c_void,
    count: c_int,
    texts: *const *const c_char,
    table: *mut *mut VirtualTable,
    error: *mut *mut c_char,
) -> c_int {
    // SAFETY: `add_module` gave SQLite's table of functions.
    let api: &'static Api = unsafe { &*data.cast::<Api>() };
    let host = Host { api, connection };
    let made = caught(|| {
        // SAFETY: SQLite gives this number of texts.
        let arguments = unsafe { arguments(T::NAME, count, texts) };
        let (table, definition) = T::connect(host, &arguments)?;
        host.declare(&definition)?;
        // SAFETY: this is called while SQLite connects the table.
        unsafe { (api.vtab_config)(connection, VTAB_DIRECTONLY) };
        let base = VirtualTable { module: std::ptr::null(), references: 0, error: std::ptr::null_mut() };
        Ok(Box::into_raw(Box::new(TableObject { base, api, table })))
    });
    match made {
        Ok(made) => {
            // SAFETY: SQLite gives a place for the table.
            unsafe { *table = made.cast() };
            OK
        }
        // SAFETY: SQLite gives a place for the message.
        Err(failure) => unsafe { failed(api, error, &failure) },
    }
}

/// Returns the arguments of a table: names of module, database and table, then what stands in parentheses.
///
/// # Safety
/// The pointer is to this number of texts, each of which ends with a NUL.
unsafe fn arguments(module: &CStr, count: c_int, texts: *const *const c_char) -> Arguments {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the caller promises this number of texts. There are at least three.
    let texts = unsafe { std::slice::from_raw_parts(texts, count) };
    // SAFETY: the caller promises a NUL at the end of each.
    let text = |text: &*const c_char| unsafe { CStr::from_ptr(*text) }.to_string_lossy().into_owned();
    let all: Vec<String> = texts.iter().map(text).collect();
    let table = all.get(2).cloned().unwrap_or_default();
    let is_eponymous = count <= 3 && table.eq_ignore_ascii_case(&module.to_string_lossy());
    let texts = all.into_iter().skip(3).filter(|text| !text.trim().is_empty()).collect();
    Arguments { table, is_eponymous, texts }
}

/// Returns the object of a table.
///
/// # Safety
/// The pointer is what [`connect`] has made, and SQLite has not freed it.
unsafe fn table_of<'a, T>(table: *mut VirtualTable) -> &'a mut TableObject<T> {
    // SAFETY: the caller promises it.
    unsafe { &mut *table.cast::<TableObject<T>>() }
}

/// Returns the object of a cursor.
///
/// # Safety
/// The pointer is what [`open`] has made, and SQLite has not freed it.
unsafe fn cursor_of<'a, C>(cursor: *mut Cursor) -> &'a mut CursorObject<C> {
    // SAFETY: the caller promises it.
    unsafe { &mut *cursor.cast::<CursorObject<C>>() }
}

/// Returns the code of a step of a cursor, and stores its message.
///
/// # Safety
/// As for [`cursor_of`].
unsafe fn stepped<C>(cursor: *mut Cursor, step: impl FnOnce(&mut C) -> Result<(), Failure>) -> c_int {
    // SAFETY: the caller promises a cursor.
    let object = unsafe { cursor_of::<C>(cursor) };
    match caught(|| step(&mut object.cursor)) {
        Ok(()) => OK,
        Err(failure) => {
            // SAFETY: SQLite sets the table of its cursors.
            let place = unsafe { &raw mut (*object.base.table).error };
            // SAFETY: the place is SQLite's.
            unsafe { failed(object.api, place, &failure) }
        }
    }
}

unsafe extern "C" fn best_index<T: TableModule>(table: *mut VirtualTable, info: *mut IndexInfo) -> c_int {
    // SAFETY: SQLite gives a table of this module.
    let object = unsafe { table_of::<T>(table) };
    let mut index = Index { api: object.api, info, arguments: 0, call: PhantomData };
    match caught(|| object.table.plan(&mut index)) {
        Ok(true) => OK,
        Ok(false) => api::CONSTRAINT,
        // SAFETY: the place is SQLite's.
        Err(failure) => unsafe { failed(object.api, &raw mut object.base.error, &failure) },
    }
}

unsafe extern "C" fn disconnect<T: TableModule>(table: *mut VirtualTable) -> c_int {
    // SAFETY: SQLite gives back what `connect` has made, once.
    let object = unsafe { Box::from_raw(table.cast::<TableObject<T>>()) };
    // A panic of a destructor is of no consequence here.
    let _ = caught(|| {
        drop(object);
        Ok(())
    });
    OK
}

unsafe extern "C" fn open<T: TableModule>(table: *mut VirtualTable, cursor: *mut *mut Cursor) -> c_int {
    // SAFETY: SQLite gives a table of this module.
    let object = unsafe { table_of::<T>(table) };
    match caught(|| object.table.open()) {
        Ok(opened) => {
            let base = Cursor { table };
            let made = Box::into_raw(Box::new(CursorObject { base, api: object.api, cursor: opened }));
            // SAFETY: SQLite gives a place for the cursor.
            unsafe { *cursor = made.cast() };
            OK
        }
        // SAFETY: the place is SQLite's.
        Err(failure) => unsafe { failed(object.api, &raw mut object.base.error, &failure) },
    }
}

unsafe extern "C" fn close<T: TableModule>(cursor: *mut Cursor) -> c_int {
    // SAFETY: SQLite gives back what `open` has made, once.
    let object = unsafe { Box::from_raw(cursor.cast::<CursorObject<T::Cursor>>()) };
    let _ = caught(|| {
        drop(object);
        Ok(())
    });
    OK
}

unsafe extern "C" fn filter<T: TableModule>(
    cursor: *mut Cursor,
    _number: c_int,
    text: *const c_char,
    count: c_int,
    values: *mut *mut Value,
) -> c_int {
    // SAFETY: SQLite gives a cursor of this module.
    let api = unsafe { cursor_of::<T::Cursor>(cursor) }.api;
    let text = match NonNull::new(text.cast_mut()) {
        // SAFETY: the text is what `plan` has set, which ends with a NUL.
        Some(text) => unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap_or_default(),
        None => "",
    };
    // SAFETY: SQLite gives this number of values, which live as long as the call.
    let values = unsafe { HostValue::all(api, count, values) };
    // SAFETY: SQLite gives a cursor of this module.
    unsafe { stepped(cursor, |cursor: &mut T::Cursor| cursor.filter(&Plan { text, values: &values })) }
}

unsafe extern "C" fn next<T: TableModule>(cursor: *mut Cursor) -> c_int {
    // SAFETY: SQLite gives a cursor of this module.
    unsafe { stepped(cursor, |cursor: &mut T::Cursor| cursor.next()) }
}

unsafe extern "C" fn eof<T: TableModule>(cursor: *mut Cursor) -> c_int {
    // SAFETY: SQLite gives a cursor of this module.
    let object = unsafe { cursor_of::<T::Cursor>(cursor) };
    caught(|| Ok(object.cursor.is_over())).unwrap_or(true).into()
}

unsafe extern "C" fn column<T: TableModule>(cursor: *mut Cursor, context: *mut Context, number: c_int) -> c_int {
    // SAFETY: SQLite gives a cursor of this module.
    let object = unsafe { cursor_of::<T::Cursor>(cursor) };
    let Some(context) = NonNull::new(context) else { return api::ERROR };
    let mut output = Output { api: object.api, context, call: PhantomData };
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    match caught(|| object.cursor.column(number, &mut output)) {
        Ok(()) => OK,
        Err(failure) => {
            output.fail(&failure);
            failure.code
        }
    }
}

unsafe extern "C" fn rowid<T: TableModule>(cursor: *mut Cursor, rowid: *mut i64) -> c_int {
    // SAFETY: SQLite gives a cursor of this module.
    let object = unsafe { cursor_of::<T::Cursor>(cursor) };
    let number = caught(|| Ok(object.cursor.rowid())).unwrap_or(0);
    // SAFETY: SQLite gives a place for the number.
    unsafe { *rowid = number };
    OK
}
