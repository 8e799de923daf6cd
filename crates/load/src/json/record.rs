//! Parses one record: an object whose values go to a sink, key by key.
//!
//! Records of a file mostly have the same keys in the same order and spelling. So the text between values is compared with that
//! of the record before as bytes: `{"id":`, `,"area":`, ... As long as it is equal, the keys are known, and plain values are
//! read at once: short integers and decimals, short texts without escapes, true, false and null. From the first difference on,
//! and for all other values, jiter reads: a strict parser that goes from token to token.
//!
//! ```text
//! {"id":1,"area":"002134","age":10}
//! ------- -------- ------ ------- -        steps: the text before a value, and its key
//!        =        ========       ==        values
//! ```
//!
//! If nested objects become columns, their brackets belong to the text between values, and a key is the path to the value: `a_b`.

use super::fault::{Fault, Mistake};
use crate::options::{InvalidUtf8, NanPolicy};
use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};
use litepress_rows::{OptionName, message};
use memchr::memchr;
use std::borrow::Cow;
use std::collections::HashMap;
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
    /// A decoded string, in UTF-8.
    Text(&'a [u8]),
    /// The text of an array or an object, in UTF-8.
    Nested(&'a [u8]),
    /// A string, or the text of an array or object, that is not UTF-8 and may be stored as a blob.
    Blob(&'a [u8]),
}

/// A consumer of a record's values.
pub(crate) trait Sink {
    /// Takes a value for a target of [`Targets`].
    ///
    /// # Errors
    /// If the target cannot hold the value. The error is the reason.
    fn take(&mut self, target: usize, item: Item<'_>) -> Result<(), &'static str>;
}

/// The target of ignored values.
pub(super) const NOBODY: usize = usize::MAX;

/// The assignment of keys to targets.
#[derive(Clone, Debug)]
pub(super) enum Targets {
    /// Columns of these names, matched exactly or else ignoring the case of ASCII letters. The second list names the keys to
    /// ignore; without it all other keys are ignored.
    Columns(Arc<[String]>, Option<Arc<[String]>>),
    /// A target for each key, in order of appearance.
    Keys,
}

impl Targets {
    /// Returns the target of a key, or `None` if the key is not allowed.
    fn of(&self, key: &str, position: usize) -> Option<usize> {
        let Self::Columns(names, ignored) = self else { return Some(position) };
        let exact = names.iter().position(|name| name == key);
        if exact.is_none() && ignored.as_ref().is_some_and(|names| names.iter().any(|name| name == key)) {
            return Some(NOBODY);
        }
        let target = exact.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(key)));
        let may_be_passed_by =
            || ignored.as_ref().is_none_or(|names| names.iter().any(|name| name.eq_ignore_ascii_case(key)));
        target.or_else(|| may_be_passed_by().then_some(NOBODY))
    }
}

/// A key of some record so far.
#[derive(Debug)]
struct Key {
    name: String,
    target: usize,
    /// Number of the last record with the key.
    seen_in: u64,
}

/// The text before a value, and the key that it names.
#[derive(Debug)]
struct Step {
    text: Box<[u8]>,
    key: usize,
    target: usize,
    /// The nested objects around the value: the length of each one's prefix in the key.
    open: Box<[usize]>,
}

/// A parser that learns the layout of records.
#[derive(Debug)]
pub(super) struct RecordParser {
    targets: Targets,
    keys: Vec<Key>,
    positions: HashMap<String, usize>,
    /// Number of the last record with a value for each column.
    target_seen_in: Vec<u64>,
    steps: Vec<Step>,
    /// The text behind the last step's value. `None` before a record was parsed to its end.
    tail: Option<Box<[u8]>>,
    /// Number of the current record, for `seen_in`.
    record: u64,
    path: NestedPath,
    values: Values,
}

/// The place of the parser within nested objects that become columns.
#[derive(Debug, Default)]
struct NestedPath {
    /// The key, with the keys of the objects around it.
    key: String,
    /// The length of each open object's prefix in `key`.
    open: Vec<usize>,
    /// Number of the last record with an object of this key.
    seen_in: HashMap<String, u64>,
}

impl NestedPath {
    /// Stands where a step's value ends.
    fn resume(&mut self, key: &str, open: &[usize]) {
        self.open.clear();
        self.open.extend_from_slice(open);
        self.key.clear();
        self.key.push_str(key);
    }

    /// Sets the key of a member of the innermost object.
    fn set(&mut self, name: &str) {
        self.key.truncate(self.open.last().copied().unwrap_or(0));
        self.key.push_str(name);
    }

    /// Enters the object of the current key. Returns `false` if the record had it before.
    fn enter(&mut self, record: u64) -> bool {
        let is_new = self.mark(record);
        self.key.push_str(SEPARATOR);
        self.open.push(self.key.len());
        is_new
    }

    fn mark(&mut self, record: u64) -> bool {
        self.seen_in.insert(self.key.clone(), record) != Some(record)
    }
}

/// The text between the keys of nested objects that become columns.
const SEPARATOR: &str = "_";

/// The rules for values.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// Strings that mean NULL.
    pub nulls: Arc<[String]>,
    pub invalid_utf8: InvalidUtf8,
    /// Nested objects become columns.
    pub flatten: bool,
    pub nan: NanPolicy,
}

/// The rules and buffers for parsing values.
#[derive(Debug)]
struct Values {
    rules: Rules,
    /// Buffer for strings with escapes.
    tape: Vec<u8>,
    /// The open brackets around a nested value: `true` for objects.
    open: Vec<bool>,
}

impl RecordParser {
    pub fn new(targets: Targets, rules: Rules) -> Self {
        Self {
            targets,
            keys: Vec::new(),
            positions: HashMap::new(),
            target_seen_in: Vec::new(),
            steps: Vec::new(),
            tail: None,
            record: 0,
            path: NestedPath::default(),
            values: Values { rules, tape: Vec::new(), open: Vec::new() },
        }
    }

    /// Returns the name of a key, by order of appearance.
    pub fn key(&self, position: usize) -> &str {
        &self.keys[position].name
    }

    /// Passes the values of a record, given without surrounding white space, to the sink. If the record turns out to be bad, the
    /// sink must discard its values.
    pub fn parse<S: Sink>(&mut self, record: &[u8], sink: &mut S) -> Result<(), Fault> {
        self.record += 1;
        match self.follow_steps(record, sink)? {
            None => Ok(()),
            Some((at, steps)) => self.go_on(record, at, steps, sink),
        }
    }

    /// Parses as long as the record has the layout of the one before. Returns `None` if it does to its end, else the number of
    /// bytes and steps up to the difference.
    #[inline]
    fn follow_steps<S: Sink>(&mut self, record: &[u8], sink: &mut S) -> Result<Option<(usize, usize)>, Fault> {
        let mut at = 0;
        for (index, step) in self.steps.iter().enumerate() {
            if !begins_with(&record[at..], &step.text) {
                return Ok(Some((at, index)));
            }
            let value = &record[at + step.text.len()..];
            if self.values.rules.flatten && value.first() == Some(&b'{') {
                return Ok(Some((at, index)));
            }
            at += step.text.len();
            let taken = match self.values.plain(value) {
                Some((item, len)) => sink.take(step.target, item).map(|()| len).map_err(|why| refused(why, 0, len)),
                None => self.values.take_first(value, step.target, sink),
            };
            at += taken.map_err(|fault| fault.behind(at).of_key(&self.keys[step.key].name))?;
        }
        let is_whole = self.tail.as_ref().is_some_and(|tail| record[at..] == **tail);
        Ok((!is_whole).then_some((at, self.steps.len())))
    }

    /// Parses the rest of a record after the value of step `steps - 1`, and learns its layout.
    #[cold]
    #[inline(never)]
    fn go_on<S: Sink>(&mut self, record: &[u8], at: usize, steps: usize, sink: &mut S) -> Result<(), Fault> {
        if !record.starts_with(b"{") {
            return Err(no_object(record));
        }
        self.tail = None;
        for step in 0..steps {
            self.mark_step(step);
        }
        if steps == 0 {
            self.path.resume("", &[]);
        }
        let mut jiter = self.values.jiter(&record[at..]);
        let done = self.members(record, at, steps, &mut jiter, sink);
        self.values.keep_tape(jiter);
        // Do not learn the layout of a bad record.
        let (steps, tail) = done.as_ref().map_or((steps, None), |&(steps, tail)| (steps, Some(record[tail..].into())));
        self.steps.truncate(steps);
        self.tail = tail;
        done.map(|_| ())
    }

    /// Records that this record has the key of a step, and the objects around it.
    fn mark_step(&mut self, step: usize) {
        let Step { key, target, ref open, .. } = self.steps[step];
        self.path.resume(&self.keys[key].name, open);
        for at in 0..self.path.open.len() {
            let end = self.path.open[at] - SEPARATOR.len();
            self.path.key.truncate(end);
            self.path.mark(self.record);
            self.path.key.push_str(&self.keys[key].name[end..]);
        }
        self.mark(key, target);
    }

    /// Parses members up to the end of the object. Returns the number of steps, and the end of the last value.
    fn members<S: Sink>(
        &mut self,
        record: &[u8],
        base: usize,
        mut steps: usize,
        jiter: &mut Jiter<'_>,
        sink: &mut S,
    ) -> Result<(usize, usize), Fault> {
        let located = |error: JiterError| Fault::from(error).behind(base);
        let (mut from, mut is_entering) = (base, base == 0);
        loop {
            let name = if std::mem::take(&mut is_entering) { jiter.next_object() } else { jiter.next_key() };
            let Some(name) = name.map_err(located)? else {
                if self.path.open.pop().is_none() {
                    break;
                }
                continue;
            };
            self.path.set(name);
            let quote = || from + memchr(b'"', &record[from..]).unwrap_or(0);
            let first = jiter.peek().map_err(|error| located(error).of_key(&self.path.key))?;
            if self.values.rules.flatten && first == Peek::Object {
                self.enter(quote(), base + jiter.current_index())?;
                is_entering = true;
                continue;
            }
            let (key, target) = self.known_key(steps, quote)?;
            let start = base + jiter.current_index();
            self.learn(steps, &record[from..start], key, target);
            let taken = self.values.take(jiter, &record[base..], first, target, sink);
            taken.map_err(|fault| fault.behind(base).of_key(&self.keys[key].name))?;
            from = base + jiter.current_index();
            steps += 1;
        }
        jiter.finish().map_err(located)?;
        Ok((steps, from))
    }

    /// Enters the nested object of the current key.
    fn enter(&mut self, key_at: usize, at: usize) -> Result<(), Fault> {
        if self.path.open.len() == MAX_DEPTH {
            return Err(too_deep(at));
        }
        let is_scalar = self.positions.get(&self.path.key).is_some_and(|&key| self.keys[key].seen_in == self.record);
        let key = self.path.key.len();
        if !self.path.enter(self.record) || is_scalar {
            return Err(stands_twice(key_at, &self.path.key[..key]));
        }
        Ok(())
    }

    /// Returns the current key, and its target.
    fn known_key(&mut self, steps: usize, quote: impl Fn() -> usize) -> Result<(usize, usize), Fault> {
        let name = std::mem::take(&mut self.path.key);
        let found = self.find(steps, &name);
        self.path.key = name;
        let name = &self.path.key;
        let Some(key) = found else {
            let fault = Fault::new(quote(), "the table has no column for this key").of_key(name);
            return Err(fault.of(Mistake::UnknownKey).advise(message![
                "say where it goes, or that it is left out (",
                OptionName::Map.pair(name.as_str(), ""),
                ")"
            ]));
        };
        let is_object = self.values.rules.flatten && self.path.seen_in.get(name) == Some(&self.record);
        let target = self.keys[key].target;
        if !self.mark(key, target) || is_object {
            return Err(stands_twice(quote(), &self.keys[key].name));
        }
        Ok((key, target))
    }

    /// Returns the key of this name, most likely the one of this step. `None` if the key is not allowed.
    fn find(&mut self, step: usize, name: &str) -> Option<usize> {
        if let Some(step) = self.steps.get(step)
            && self.keys[step.key].name == name
        {
            return Some(step.key);
        }
        if let Some(&key) = self.positions.get(name) {
            return Some(key);
        }
        let key = self.keys.len();
        let target = self.targets.of(name, key)?;
        self.keys.push(Key { name: name.to_owned(), target, seen_in: 0 });
        self.positions.insert(name.to_owned(), key);
        Some(key)
    }

    /// Records that this record has the key. Returns `false` if it had the key, or another key for the target, before.
    fn mark(&mut self, key: usize, target: usize) -> bool {
        let is_new = std::mem::replace(&mut self.keys[key].seen_in, self.record) != self.record;
        if target == NOBODY {
            return is_new;
        }
        if self.target_seen_in.len() <= target {
            self.target_seen_in.resize(target + 1, 0);
        }
        is_new && std::mem::replace(&mut self.target_seen_in[target], self.record) != self.record
    }

    fn learn(&mut self, step: usize, text: &[u8], key: usize, target: usize) {
        if self.steps.get(step).is_some_and(|known| *known.text == *text) {
            return;
        }
        self.steps.truncate(step);
        let open = self.path.open.as_slice().into();
        self.steps.push(Step { text: text.into(), key, target, open });
    }
}

fn stands_twice(at: usize, key: &str) -> Fault {
    Fault::new(at, format!("the key {key:?} stands twice in the object")).of_key(key)
}

fn no_object(record: &[u8]) -> Fault {
    if record.is_empty() {
        return Fault::new(0, "expected an object between the commas or brackets of the top-level array");
    }
    let fault = Fault::new(0, "expected an object, which begins with `{`").of(Mistake::Syntax);
    match record[0] {
        b'[' => fault.advise("rows are objects: arrays of values by position are not read"),
        b',' => fault.advise("no comma stands between objects outside of an array"),
        _ => fault,
    }
}

fn refused(why: &'static str, at: usize, len: usize) -> Fault {
    Fault { len: Some(len), ..Fault::new(at, why) }
}

impl Values {
    /// Parses a value of a frequent kind at the start of `text`. Returns it and its length, or `None` if jiter must parse it.
    #[inline]
    fn plain<'a>(&self, text: &'a [u8]) -> Option<(Item<'a>, usize)> {
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
    fn jiter<'t>(&mut self, text: &'t [u8]) -> Jiter<'t> {
        let jiter = Jiter::with_tape(text, std::mem::take(&mut self.tape));
        if self.rules.nan == NanPolicy::Error { jiter } else { jiter.with_allow_inf_nan() }
    }

    /// Takes the tape back, unless a huge string has made it huge.
    fn keep_tape(&mut self, jiter: Jiter<'_>) {
        const HUGE_BYTES: usize = 1 << 20;
        let tape = jiter.into_tape();
        self.tape = if tape.capacity() > HUGE_BYTES { Vec::new() } else { tape };
    }

    #[inline]
    fn is_null(&self, text: &[u8]) -> bool {
        !self.rules.nulls.is_empty() && self.rules.nulls.iter().any(|null| null.as_bytes() == text)
    }

    /// Parses the value at the start of `text` with jiter. Returns its length.
    fn take_first<S: Sink>(&mut self, text: &[u8], target: usize, sink: &mut S) -> Result<usize, Fault> {
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
    fn take<S: Sink>(
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
                sink.take(target, self.rules.number_item(number))
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
                    pass_scalar(jiter, scalar)?;
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

fn next_in_object(has_key: bool, jiter: &mut Jiter<'_>) -> Result<Option<Peek>, Fault> {
    if has_key { Ok(Some(jiter.peek()?)) } else { Ok(None) }
}

fn pass_scalar(jiter: &mut Jiter<'_>, first: Peek) -> Result<(), Fault> {
    match first {
        Peek::Null => jiter.known_null()?,
        Peek::True | Peek::False => jiter.known_bool(first).map(|_| ())?,
        Peek::String => jiter.known_bytes().map(|_| ())?,
        _ => jiter.known_number_bytes(first).map(|_| ())?,
    }
    Ok(())
}

fn too_deep(at: usize) -> Fault {
    let message =
        format!("expected at most {MAX_DEPTH} arrays and objects within one another, as SQLite's JSON functions do");
    Fault::new(at, message)
}

/// Returns whether `text` begins with `front`. Compares short texts as one or two overlapping words, without a call.
#[inline]
fn begins_with(text: &[u8], front: &[u8]) -> bool {
    let Some(text) = text.get(..front.len()) else { return false };
    match front.len() {
        4..8 => text.first_chunk::<4>() == front.first_chunk() && text.last_chunk::<4>() == front.last_chunk(),
        8..=16 => text.first_chunk::<8>() == front.first_chunk() && text.last_chunk::<8>() == front.last_chunk(),
        _ => text == front,
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

impl Rules {
    /// Returns a number as an item. Words such as NaN come here only if a policy takes them.
    fn number_item<'n>(&self, number: &'n [u8]) -> Item<'n> {
        if let Some(b'N' | b'y') = number.last() {
            return if self.nan == NanPolicy::Text { Item::Text(number) } else { Item::Null };
        }
        let int = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
        int.map_or(Item::Number(number), |int| Item::Int(int, number))
    }
}

/// Decodes the escapes of a string that is valid except for its UTF-8.
fn unescape_bytes(string: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut decoded = Vec::with_capacity(string.len());
    for run in string.chunk_by(|byte, next| byte.is_ascii() == next.is_ascii()) {
        if run[0].is_ascii() {
            // Escapes and surrogate pairs of them are pure ASCII, so no run splits one.
            let quoted = [b"\"", run, b"\""].concat();
            decoded.extend_from_slice(Jiter::new(&quoted).next_str()?.as_bytes());
        } else {
            decoded.extend_from_slice(run);
        }
    }
    Ok(decoded)
}

/// Returns the record with U+FFFD in place of invalid UTF-8 and of escaped lone surrogates.
pub(super) fn replace_invalid(record: &[u8]) -> Cow<'_, [u8]> {
    let mut text = match String::from_utf8_lossy(record) {
        Cow::Borrowed(_) => Cow::Borrowed(record),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    let mut from = 0;
    while let Some(found) = memchr(b'\\', &text[from..]) {
        let at = from + found;
        let half = surrogate_at(&text, at);
        from = match half {
            Some(0xd800..=0xdbff) if matches!(surrogate_at(&text, at + 6), Some(0xdc00..=0xdfff)) => at + 12,
            Some(_) => {
                text.to_mut()[at..at + 6].copy_from_slice(b"\\ufffd");
                at + 6
            }
            None => at + 2,
        };
        if from >= text.len() {
            break;
        }
    }
    text
}

/// Returns the surrogate whose escape is at `at`, if there is one.
fn surrogate_at(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let half = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xd800..=0xdfff).contains(&half).then_some(half)
}
