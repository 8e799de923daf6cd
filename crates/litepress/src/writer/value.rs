//! One value of a row.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// A value as SQLite stores it, before the affinity of its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// NULL
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A double. NaN is stored as NULL, as SQLite does.
    Real(f64),
    /// A text.
    Text(&'a str),
    /// A byte string.
    Blob(&'a [u8]),
}

/// A value that SQLite has no form for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedValue {
    pub(super) value: String,
    pub(super) message: &'static str,
    pub(super) advice: &'static str,
}

impl UnsupportedValue {
    /// Describes a value, the reason why it cannot be stored, and what to store instead.
    pub fn new(value: impl fmt::Display, message: &'static str, advice: &'static str) -> Self {
        Self { value: value.to_string(), message, advice }
    }

    fn beyond_64_bits(value: impl fmt::Display) -> Self {
        Self::new(value, "the integer is beyond the 64 bits of SQLite", "store it as text or as a blob")
    }
}

/// A Rust value that becomes a [`Value`].
///
/// Integers, floats, `bool` (0 and 1), texts, byte slices and vectors have it, references to them, and [`Option`] of
/// them for NULL. A type of your own gets it in three lines:
///
/// ```
/// use litepress::{ToValue, UnsupportedValue, Value};
///
/// struct Celsius(f64);
///
/// impl ToValue for Celsius {
///     fn to_value(&self) -> Result<Value<'_>, UnsupportedValue> {
///         Ok(Value::Real(self.0))
///     }
/// }
/// ```
pub trait ToValue {
    /// Returns the value.
    ///
    /// # Errors
    /// A value that SQLite has no form for, as an integer of more than 64 bits.
    fn to_value(&self) -> Result<Value<'_>, UnsupportedValue>;
}

impl ToValue for Value<'_> {
    fn to_value(&self) -> Result<Value<'_>, UnsupportedValue> {
        Ok(*self)
    }
}

macro_rules! to_value {
    ($($type:ty => |$value:ident| $expression:expr;)+) => {$(
        impl ToValue for $type {
            #[inline]
            fn to_value(&self) -> Result<Value<'_>, UnsupportedValue> {
                let $value = self;
                Ok($expression)
            }
        }
    )+};
}

to_value! {
    i8 => |value| Value::Int((*value).into());
    i16 => |value| Value::Int((*value).into());
    i32 => |value| Value::Int((*value).into());
    i64 => |value| Value::Int(*value);
    u8 => |value| Value::Int((*value).into());
    u16 => |value| Value::Int((*value).into());
    u32 => |value| Value::Int((*value).into());
    bool => |value| Value::Int((*value).into());
    f32 => |value| Value::Real((*value).into());
    f64 => |value| Value::Real(*value);
    str => |value| Value::Text(value);
    String => |value| Value::Text(value);
    [u8] => |value| Value::Blob(value);
    Vec<u8> => |value| Value::Blob(value);
    () => |_value| Value::Null;
}

macro_rules! large_integer_to_value {
    ($($type:ty)+) => {$(
        impl ToValue for $type {
            #[inline]
            fn to_value(&self) -> Result<Value<'_>, UnsupportedValue> {
                i64::try_from(*self).map(Value::Int).map_err(|_| UnsupportedValue::beyond_64_bits(self))
            }
        }
    )+};
}

large_integer_to_value!(u64 i128 u128 isize usize);

impl<const LENGTH: usize> ToValue for [u8; LENGTH] {
    #[inline]
    fn to_value(&self) -> Result<Value<'_>, UnsupportedValue> {
        Ok(Value::Blob(self))
    }
}

impl<T: ToValue> ToValue for Option<T> {
    #[inline]
    fn to_value(&self) -> Result<Value<'_>, UnsupportedValue> {
        self.as_ref().map_or(Ok(Value::Null), T::to_value)
    }
}

macro_rules! pointer_to_value {
    ($($type:ty)+) => {$(
        impl<T: ToValue + ?Sized> ToValue for $type {
            #[inline]
            fn to_value(&self) -> Result<Value<'_>, UnsupportedValue> {
                T::to_value(self)
            }
        }
    )+};
}

pointer_to_value!(&T Box<T> Rc<T> Arc<T>);

impl<T: ToValue + ToOwned + ?Sized> ToValue for Cow<'_, T> {
    #[inline]
    fn to_value(&self) -> Result<Value<'_>, UnsupportedValue> {
        T::to_value(self)
    }
}
