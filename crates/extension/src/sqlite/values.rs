//! Values that SQLite gives, and results that it takes.

use super::api::{self, Api, Context, TRANSIENT, UTF8, Value};
use super::host::Failure;
use litepress_format::value::Value as FormatValue;
use litepress_rows::cells::OwnedValue;
use std::ffi::{CStr, c_int, c_uchar, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The storage class of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// NULL, or a pointer.
    Null,
    /// INTEGER
    Integer,
    /// REAL
    Real,
    /// TEXT
    Text,
    /// BLOB
    Blob,
}

impl Kind {
    /// Returns the kind of a code of SQLite.
    pub(super) fn of(code: c_int) -> Self {
        match code {
            api::INTEGER => Self::Integer,
            api::FLOAT => Self::Real,
            api::TEXT => Self::Text,
            api::BLOB => Self::Blob,
            _ => Self::Null,
        }
    }
}

/// An argument of a function or a table. It lives as long as SQLite's call.
#[derive(Clone, Copy, Debug)]
pub struct HostValue<'a> {
    api: &'static Api,
    value: NonNull<Value>,
    call: PhantomData<&'a Value>,
}

impl<'a> HostValue<'a> {
    /// Returns the arguments of a call.
    ///
    /// # Safety
    /// The pointer is to this number of values, which live for `'a`.
    pub(super) unsafe fn all(api: &'static Api, count: c_int, values: *mut *mut Value) -> Vec<Self> {
        let count = usize::try_from(count).unwrap_or(0);
        if count == 0 {
            return Vec::new();
        }
        // SAFETY: the caller promises this number of pointers.
        let values = unsafe { std::slice::from_raw_parts(values, count) };
        values.iter().filter_map(|value| Some(Self { api, value: NonNull::new(*value)?, call: PhantomData })).collect()
    }

    /// Returns the storage class.
    pub fn kind(self) -> Kind {
        // SAFETY: the value lives.
        Kind::of(unsafe { (self.api.value_type)(self.value.as_ptr()) })
    }

    /// Returns the integer, converted if the value is none.
    pub fn int(self) -> i64 {
        // SAFETY: the value lives.
        unsafe { (self.api.value_int64)(self.value.as_ptr()) }
    }

    /// Passes each value of an IN that was [asked for at once](super::Index::take_list) to `look`.
    ///
    /// # Errors
    /// If SQLite cannot read them.
    pub fn for_each_of_list(self, look: &mut dyn FnMut(HostValue<'_>)) -> Result<(), Failure> {
        let mut value = std::ptr::null_mut();
        // SAFETY: the argument lives, and the result is a place on the stack.
        let mut code = unsafe { (self.api.vtab_in_first)(self.value.as_ptr(), &raw mut value) };
        while let (api::OK, Some(found)) = (code, NonNull::new(value)) {
            look(HostValue { api: self.api, value: found, call: PhantomData });
            // SAFETY: as above. The value that was found is not used any more.
            code = unsafe { (self.api.vtab_in_next)(self.value.as_ptr(), &raw mut value) };
        }
        if matches!(code, api::OK | api::DONE) {
            return Ok(());
        }
        Err(Failure { code, ..Failure::new("the values of IN cannot be read") })
    }

    /// Returns the bytes of a text or blob.
    pub fn bytes(self) -> &'a [u8] {
        let is_text = self.kind() == Kind::Text;
        let data = if is_text {
            // SAFETY: the value lives.
            unsafe { (self.api.value_text)(self.value.as_ptr()) }
        } else {
            // SAFETY: as above.
            unsafe { (self.api.value_blob)(self.value.as_ptr()) }.cast()
        };
        // SAFETY: as above. The length is asked after the bytes, as SQLite demands.
        let length = unsafe { (self.api.value_bytes)(self.value.as_ptr()) };
        match usize::try_from(length) {
            // SAFETY: SQLite returned this number of bytes. They stay until the value is converted, and no call does that.
            Ok(length) if length > 0 && !data.is_null() => unsafe { std::slice::from_raw_parts(data, length) },
            _ => &[],
        }
    }

    /// Returns the text.
    ///
    /// # Errors
    /// If the value is no text, or not UTF-8. `what` names it.
    pub fn text(self, what: &str) -> Result<&'a str, Failure> {
        if self.kind() != Kind::Text {
            return Err(Failure::new(format!("{what} is not a text")));
        }
        std::str::from_utf8(self.bytes()).map_err(|_| Failure::new(format!("{what} is not UTF-8")))
    }

    /// Returns a pointer that the program has bound under this name of a type.
    pub fn pointer(self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the value lives, and the name ends with a NUL.
        NonNull::new(unsafe { (self.api.value_pointer)(self.value.as_ptr(), name.as_ptr()) })
    }

    /// Returns a copy.
    pub fn to_owned_value(self) -> OwnedValue {
        match self.kind() {
            Kind::Null => OwnedValue::Null,
            Kind::Integer => OwnedValue::Int(self.int()),
            // SAFETY: the value lives.
            Kind::Real => OwnedValue::Real(unsafe { (self.api.value_double)(self.value.as_ptr()) }),
            Kind::Text => match std::str::from_utf8(self.bytes()) {
                Ok(text) => OwnedValue::Text(text.to_owned()),
                Err(_) => OwnedValue::Blob(self.bytes().to_vec()),
            },
            Kind::Blob => OwnedValue::Blob(self.bytes().to_vec()),
        }
    }
}

/// The place for the result of a function, or for a column of a row.
#[derive(Debug)]
pub struct Output<'a> {
    pub(super) api: &'static Api,
    pub(super) context: NonNull<Context>,
    pub(super) call: PhantomData<&'a Context>,
}

impl Output<'_> {
    /// Sets the value. Texts and blobs are copied.
    #[inline]
    pub fn set(&mut self, value: FormatValue<'_>) {
        let (api, context) = (self.api, self.context.as_ptr());
        match value {
            // SAFETY: the context lives as long as the call.
            FormatValue::Null => unsafe { (api.result_null)(context) },
            // SAFETY: as above.
            FormatValue::Int(int) => unsafe { (api.result_int64)(context, int) },
            // SAFETY: as above.
            FormatValue::Real(real) => unsafe { (api.result_double)(context, real) },
            FormatValue::Text(text) => {
                #[expect(clippy::cast_possible_truncation, reason = "the constant is 1")]
                let encoding = UTF8 as c_uchar;
                let data = if text.is_empty() { c"".as_ptr() } else { text.as_ptr().cast() };
                // SAFETY: as above, and SQLite copies this number of bytes.
                unsafe { (api.result_text64)(context, data, text.len() as u64, TRANSIENT, encoding) }
            }
            FormatValue::Blob(blob) => {
                // A NULL pointer would become NULL instead of an empty blob.
                let data: *const c_void = if blob.is_empty() { c"".as_ptr().cast() } else { blob.as_ptr().cast() };
                // SAFETY: as for texts.
                unsafe { (api.result_blob64)(context, data, blob.len() as u64, TRANSIENT) }
            }
        }
    }

    /// Makes the call fail.
    pub(super) fn fail(&mut self, failure: &Failure) {
        let message = failure.text();
        // SAFETY: the context lives, and the message ends with a NUL. SQLite copies it.
        unsafe { (self.api.result_error)(self.context.as_ptr(), message.as_ptr(), -1) };
        if failure.code != api::ERROR {
            // SAFETY: as above.
            unsafe { (self.api.result_error_code)(self.context.as_ptr(), failure.code) };
        }
    }
}
