//! Functions of SQL.

use super::api::{Api, Context, DIRECTONLY, Function, OK, UTF8, Value};
use super::host::{Failure, Host, caught};
use super::values::{HostValue, Output};
use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The body of a function: it takes the arguments, and sets the result.
pub type FunctionBody = fn(Host, &[HostValue<'_>], &mut Output<'_>) -> Result<(), Failure>;

/// Adds a function with any number of arguments. Triggers and views cannot call it.
///
/// # Errors
/// The error of SQLite.
pub fn add_function(host: Host, name: &CStr, body: FunctionBody) -> Result<(), Failure> {
    let call = CALLS[slot(host.api)?];
    let data = Box::into_raw(Box::new(body));
    // SAFETY: the connection is open; SQLite frees the data with `free`, even if this fails.
    let code = unsafe {
        (host.api.create_function_v2)(
            host.connection,
            name.as_ptr(),
            -1,
            UTF8 | DIRECTONLY,
            data.cast(),
            Some(call),
            None,
            None,
            Some(free),
        )
    };
    if code == OK { Ok(()) } else { Err(host.failure()) }
}

unsafe extern "C" fn free(data: *mut c_void) {
    // SAFETY: SQLite gives back what `add_function` gave, once.
    drop(unsafe { Box::from_raw(data.cast::<FunctionBody>()) });
}

/// Runs the body of a function of the SQLite in this [slot](slot).
unsafe extern "C" fn call<const SLOT: usize>(context: *mut Context, count: c_int, values: *mut *mut Value) {
    // SAFETY: the slot was filled before the function was added, and SQLite's table of functions is there as long as SQLite is.
    let api = unsafe { HOSTS[SLOT].load(Ordering::Acquire).as_ref() };
    let (Some(api), Some(context)) = (api, NonNull::new(context)) else { return };
    let mut output = Output { api, context, call: PhantomData };
    let done = caught(|| {
        // SAFETY: the context lives.
        let body = unsafe { (api.user_data)(context.as_ptr()) }.cast::<FunctionBody>();
        // SAFETY: `add_function` gave this, and SQLite keeps it as long as the function.
        let body = unsafe { *body };
        // SAFETY: the context lives.
        let connection = unsafe { (api.context_db_handle)(context.as_ptr()) };
        // SAFETY: SQLite gives this number of values, which live as long as the call.
        let values = unsafe { HostValue::all(api, count, values) };
        body(Host { api, connection }, &values, &mut output)
    });
    if let Err(failure) = done {
        output.fail(&failure);
    }
}

/// The tables of functions of all SQLites of the process that have loaded the extension. A context does not tell which one it belongs
/// to, so each SQLite gets its own entry point.
static HOSTS: [AtomicPtr<Api>; SLOTS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS];
/// Entry points: one for each.
const CALLS: [Function; SLOTS] =
    [call::<0>, call::<1>, call::<2>, call::<3>, call::<4>, call::<5>, call::<6>, call::<7>];
/// Most SQLites of one process.
const SLOTS: usize = 8;

/// Returns the number of the SQLite with this table of functions.
fn slot(api: &'static Api) -> Result<usize, Failure> {
    let wanted = std::ptr::from_ref(api).cast_mut();
    let is_ours = |slot: &AtomicPtr<Api>| {
        let taken = slot.compare_exchange(std::ptr::null_mut(), wanted, Ordering::AcqRel, Ordering::Acquire);
        taken.is_ok() || taken == Err(wanted)
    };
    HOSTS.iter().position(is_ours).ok_or_else(|| {
        Failure::new(format!("more than {SLOTS} SQLite libraries of one process cannot load the extension"))
    })
}
