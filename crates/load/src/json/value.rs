//! Parses the values of a record: frequent kinds at once, all others with jiter, a strict parser that goes from token to token.

use super::fault::{Fault, Mistake};

use super::utf8::unescape_bytes;
use crate::infer::{Meaning, NumberWords};
use crate::options::{Features, InvalidUtf8, NanPolicy};
use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};
use std::sync::Arc;

/// Maximum depth of arrays and objects in a value: the limit of SQLite's JSON functions.
pub const MAX_DEPTH: usize = 1000;

/// A value of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Item<'a> {
    Null,
    Boolean(bool),
    /// A 64-bit integer, and its text.
    Int(i64, &'a [u8]),
    /// The text of any other number.
    Number(&'a [u8]),
    /// NaN, Infinity or -Infinity without quotes, if it is a word for a missing or an infinite number.
    Word(&'a [u8], Meaning),
    /// A decoded string, in UTF-8.
    Text(&'a [u8]),
    /// The text of an array or an object, in UTF-8.
    Nested(&'a [u8]),
    /// A string, or the text of an array or object, that is not UTF-8 and may be stored as a blob.
    Blob(&'a [u8]),
}

/// A consumer of a record's values.
pub(crate) trait Sink {
    /// Takes a value for a target of [`Targets`](super::record::Targets).
    ///
    /// # Errors
    /// If the target cannot hold the value. The error is the reason.
    fn take(&mut self, target: usize, item: Item<'_>) -> Result<(), &'static str>;
}

/// The rules for values.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// Strings that mean NULL.
    pub nulls: Arc<[String]>,
    pub invalid_utf8: InvalidUtf8,
    /// Nested objects become columns.
    pub flatten: bool,
    /// The records are features.
    pub features: Option<Arc<Features>>,
    /// Policy for NaN, Infinity and -Infinity that `words` lacks.
    pub nan: NanPolicy,
    /// Words in columns of numbers.
    pub words: Arc<NumberWords>,
}

/// The rules and buffers for parsing values.
#[derive(Debug)]
pub(super) struct Values {
    pub rules: Rules,
    /// Buffer for strings with escapes.
    tape: Vec<u8>,
    /// The open brackets around a nested value: `true` for objects.
    open: Vec<bool>,
}

impl Values {
    pub fn new(rules: Rules) -> Self {
        Self { rules, tape: Vec::new(), open: Vec::new() }
    }

    /// Parses a value of a frequent kind at the start of `text`. Returns it and its length, or `None` if jiter must parse it.
    #[inline]
    pub fn plain<'a>(&self, text: &'a [u8]) -> Option<(Item<'a>, usize)> {
        match *text.first()? {
            b'"' => {
                let len = plain_string(&text[1..])?;
                let text = &text[1..1 + len];
                Some((if self.is_null(text) { Item::Null } else { Item::Text(text) }, len + 2))
            }
            b'0'..=b'9' | b'-' => plain_number(text),
            b't' if text.starts_with(b"true") => Some((Item::Boolean(true), 4)),
            b'f' if text.starts_with(b"false") => Some((Item::Boolean(false), 5)),
            b'n' if text.starts_with(b"null") => Some((Item::Null, 4)),
            _ => None,
        }
    }

    /// Returns a parser of `text`. It takes the tape, and the caller takes it back.
    pub fn jiter<'t>(&mut self, text: &'t [u8]) -> Jiter<'t> {
        let jiter = Jiter::with_tape(text, std::mem::take(&mut self.tape));
        if self.rules.takes_nan() { jiter.with_allow_inf_nan() } else { jiter }
    }

    /// Takes the tape back, unless a huge string has made it huge.
    pub fn keep_tape(&mut self, jiter: Jiter<'_>) {
        const HUGE_BYTES: usize = 1 << 20;
        let tape = jiter.into_tape();
        self.tape = if tape.capacity() > HUGE_BYTES { Vec::new() } else { tape };
    }

    #[inline]
    fn is_null(&self, text: &[u8]) -> bool {
        !self.rules.nulls.is_empty() && self.rules.nulls.iter().any(|null| null.as_bytes() == text)
    }

    /// Parses the value at the start of `text` with jiter. Returns its length.
    pub fn take_first<S: Sink>(&mut self, text: &[u8], target: usize, sink: &mut S) -> Result<usize, Fault> {
        let mut jiter = self.jiter(text);
        let taken = match jiter.peek() {
            Ok(first) => self.take(&mut jiter, text, first, target, sink),
            Err(error) => Err(error.into()),
        };
        let len = jiter.current_index();
        self.keep_tape(jiter);
        taken.map(|()| len)
    }

    /// Parses the next value of `jiter`, which reads `text`.
    pub fn take<S: Sink>(
        &mut self,
        jiter: &mut Jiter<'_>,
        text: &[u8],
        first: Peek,
        target: usize,
        sink: &mut S,
    ) -> Result<(), Fault> {
        let start = jiter.current_index();
        self.take_known(jiter, text, first, target, sink).map_err(|fault| fault.in_value(start))
    }

    fn take_known<S: Sink>(
        &mut self,
        jiter: &mut Jiter<'_>,
        text: &[u8],
        first: Peek,
        target: usize,
        sink: &mut S,
    ) -> Result<(), Fault> {
        let start = jiter.current_index();
        let taken = match first {
            Peek::Null => jiter.known_null().map(|()| sink.take(target, Item::Null))?,
            Peek::True | Peek::False => jiter.known_bool(first).map(|flag| sink.take(target, Item::Boolean(flag)))?,
            Peek::String => return self.take_string(jiter, target, sink),
            Peek::Array | Peek::Object => {
                self.pass_nested(jiter, first)?;
                self.take_nested(&text[start..jiter.current_index()], start, target, sink)?
            }
            _ => {
                let number = jiter.known_number_bytes(first)?;
                sink.take(target, self.rules.number_item(number).map_err(|fault| fault.behind(start))?)
            }
        };
        taken.map_err(|why| refused(why, start, jiter.current_index() - start))
    }

    fn take_string<S: Sink>(&self, jiter: &mut Jiter<'_>, target: usize, sink: &mut S) -> Result<(), Fault> {
        let start = jiter.current_index();
        let taken = match jiter.known_str() {
            Ok(text) if self.is_null(text.as_bytes()) => sink.take(target, Item::Null),
            Ok(text) => sink.take(target, Item::Text(text.as_bytes())),
            Err(error) if self.is_for_blob(&error) => {
                let blob = unescape_bytes(jiter.known_bytes()?)?;
                sink.take(target, Item::Blob(&blob))
            }
            Err(error) => return Err(error.into()),
        };
        taken.map_err(|why| refused(why, start, jiter.current_index() - start))
    }

    fn is_for_blob(&self, error: &JiterError) -> bool {
        let invalid = JiterErrorType::JsonError(JsonErrorType::InvalidUnicodeCodePoint);
        self.rules.invalid_utf8 == InvalidUtf8::Blob && error.error_type == invalid
    }

    fn take_nested<S: Sink>(
        &self,
        nested: &[u8],
        start: usize,
        target: usize,
        sink: &mut S,
    ) -> Result<Result<(), &'static str>, Fault> {
        match std::str::from_utf8(nested) {
            Ok(_) => Ok(sink.take(target, Item::Nested(nested))),
            Err(_) if self.rules.invalid_utf8 == InvalidUtf8::Blob => Ok(sink.take(target, Item::Blob(nested))),
            Err(error) => {
                let index = start + error.valid_up_to();
                let error_type = JiterErrorType::JsonError(JsonErrorType::InvalidUnicodeCodePoint);
                Err(JiterError { error_type, index }.into())
            }
        }
    }

    /// Skips an array or object. A loop, so that depth costs no stack.
    fn pass_nested(&mut self, jiter: &mut Jiter<'_>, mut first: Peek) -> Result<(), Fault> {
        self.open.clear();
        loop {
            let next = match first {
                Peek::Array | Peek::Object if self.open.len() == MAX_DEPTH => {
                    return Err(too_deep(jiter.current_index()));
                }
                Peek::Array => {
                    self.open.push(false);
                    jiter.known_array()?
                }
                Peek::Object => {
                    self.open.push(true);
                    next_in_object(jiter.next_object_bytes()?.is_some(), jiter)?
                }
                scalar => {
                    pass_scalar(jiter, scalar, self.rules.nan)?;
                    self.next_in_open(jiter)?
                }
            };
            match next {
                Some(next) => first = next,
                // The innermost bracket was empty.
                None if matches!(first, Peek::Array | Peek::Object) => {
                    self.open.pop();
                    match self.next_in_open(jiter)? {
                        Some(next) => first = next,
                        None => return Ok(()),
                    }
                }
                None => return Ok(()),
            }
        }
    }

    /// Returns the next value within the open brackets, or `None` if all are closed.
    fn next_in_open(&mut self, jiter: &mut Jiter<'_>) -> Result<Option<Peek>, Fault> {
        while let Some(&is_object) = self.open.last() {
            let next = if is_object {
                next_in_object(jiter.next_key_bytes()?.is_some(), jiter)?
            } else {
                jiter.array_step()?
            };
            if next.is_some() {
                return Ok(next);
            }
            self.open.pop();
        }
        Ok(None)
    }
}

/// Returns the length of a short string up to its closing quote, if all bytes are plain: ASCII without escapes or control
/// characters.
#[inline]
fn plain_string(text: &[u8]) -> Option<usize> {
    const SHORT: usize = 24;
    let short = &text[..text.len().min(SHORT)];
    let len = short.iter().position(|&byte| !is_plain(byte))?;
    (short[len] == b'"').then_some(len)
}

#[inline]
fn is_plain(byte: u8) -> bool {
    const PLAIN: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = b' ';
        while byte < 0x80 {
            table[byte as usize] = byte != b'"' && byte != b'\\';
            byte += 1;
        }
        table
    };
    PLAIN[byte as usize]
}

/// Parses an integer of at most 18 digits, or a decimal number without exponent.
#[inline]
fn plain_number(text: &[u8]) -> Option<(Item<'_>, usize)> {
    const SURE_DIGITS: usize = 18;
    let sign = usize::from(text[0] == b'-');
    let (mut at, mut int) = (sign, 0i64);
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        if at - sign == SURE_DIGITS {
            return None;
        }
        int = 10 * int + i64::from(digit);
        at += 1;
    }
    let has_leading_zero = text.get(sign) == Some(&b'0') && at - sign > 1;
    if at == sign || has_leading_zero {
        return None;
    }
    match text.get(at) {
        Some(b'.') => {
            let decimals = text[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let end = at + 1 + decimals;
            let is_plain = decimals > 0 && !matches!(text.get(end), Some(b'e' | b'E'));
            is_plain.then_some((Item::Number(&text[..end]), end))
        }
        Some(b'e' | b'E') => None,
        _ => Some((Item::Int(if sign == 1 { -int } else { int }, &text[..at]), at)),
    }
}

/// Returns whether the text of a number is NaN, Infinity or -Infinity.
fn is_nan(number: &[u8]) -> bool {
    matches!(number.last(), Some(b'N' | b'y'))
}

/// Returns the fault of a NaN, Infinity or -Infinity of this length. [`Fault::diagnose`] names the word.
fn refused_nan(len: usize) -> Fault {
    Fault { len: Some(len), ..Fault::new(0, "expected a value").of(Mistake::Syntax) }
}

impl Rules {
    /// Returns whether the parser must accept NaN, Infinity and -Infinity.
    fn takes_nan(&self) -> bool {
        self.nan != NanPolicy::Error || !self.words.is_empty()
    }

    /// Returns a number as an item. For a word such as NaN that has no meaning, the policy decides.
    fn number_item<'n>(&self, number: &'n [u8]) -> Result<Item<'n>, Fault> {
        if is_nan(number) {
            if let Some(meaning) = self.words.meaning(number) {
                return Ok(Item::Word(number, meaning));
            }
            return match self.nan {
                NanPolicy::Text => Ok(Item::Text(number)),
                NanPolicy::Null => Ok(Item::Null),
                NanPolicy::Error => Err(refused_nan(number.len())),
            };
        }
        let int = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
        Ok(int.map_or(Item::Number(number), |int| Item::Int(int, number)))
    }
}

pub(super) fn refused(why: &'static str, at: usize, len: usize) -> Fault {
    Fault { len: Some(len), ..Fault::new(at, why) }
}

fn next_in_object(has_key: bool, jiter: &mut Jiter<'_>) -> Result<Option<Peek>, Fault> {
    if has_key { Ok(Some(jiter.peek()?)) } else { Ok(None) }
}

fn pass_scalar(jiter: &mut Jiter<'_>, first: Peek, nan: NanPolicy) -> Result<(), Fault> {
    let start = jiter.current_index();
    match first {
        Peek::Null => jiter.known_null()?,
        Peek::True | Peek::False => jiter.known_bool(first).map(|_| ())?,
        Peek::String => jiter.known_bytes().map(|_| ())?,
        _ => {
            let number = jiter.known_number_bytes(first)?;
            if nan == NanPolicy::Error && is_nan(number) {
                return Err(refused_nan(number.len()).behind(start));
            }
        }
    }
    Ok(())
}

pub(super) fn too_deep(at: usize) -> Fault {
    let message =
        format!("expected at most {MAX_DEPTH} arrays and objects within one another, as SQLite's JSON functions do");
    Fault::new(at, message)
}
