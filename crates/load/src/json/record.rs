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
//! In a feature of GeoJSON, the path begins behind `properties` (features.rs).

use super::fault::{Fault, Mistake};
use super::features::{CRS, GEOMETRY, PROPERTIES, TYPE};
use super::value::{MAX_DEPTH, Rules, Sink, Values, refused, too_deep};
use crate::infer::MOST_NAMES;
use jiter::{Jiter, JiterError, Peek};
use litepress_rows::{OptionName, message};
use memchr::memchr;
use std::collections::HashMap;
use std::sync::Arc;

/// The target of ignored values.
pub(super) const IGNORED: usize = usize::MAX;

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
            return Some(IGNORED);
        }
        let target = exact.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(key)));
        let may_be_passed_by =
            || ignored.as_ref().is_none_or(|names| names.iter().any(|name| name.eq_ignore_ascii_case(key)));
        target.or_else(|| may_be_passed_by().then_some(IGNORED))
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
    /// A nested object stays one value.
    is_whole: bool,
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
    /// The length of each open object's prefix in `key`. Only the properties of a feature have none.
    open: Vec<usize>,
    /// Number of the last record with an object of this key.
    seen_in: HashMap<String, u64>,
}

impl NestedPath {
    /// Moves to the end of a step's value.
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

    /// Returns whether the current key is that of the record's own member.
    fn is_member(&self, name: &str) -> bool {
        self.open.is_empty() && self.key == name
    }

    /// Returns whether the current key is that of a property of a feature.
    fn is_property(&self) -> bool {
        self.open.last() == Some(&0)
    }

    /// Enters the object of the current key. Returns `false` if the record had it before.
    fn enter(&mut self, record: u64, has_prefix: bool) -> bool {
        let is_new = self.mark(record);
        if has_prefix {
            self.key.push_str(SEPARATOR);
        } else {
            self.key.clear();
        }
        self.open.push(self.key.len());
        is_new
    }

    fn mark(&mut self, record: u64) -> bool {
        self.seen_in.insert(self.key.clone(), record) != Some(record)
    }
}

/// The text between the keys of nested objects that become columns.
const SEPARATOR: &str = "_";

/// The character in front of the key of a feature's own member that is no column. Properties may have its name.
const HIDDEN: char = '\0';

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
            values: Values::new(rules),
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
            if self.values.rules.flatten && value.first() == Some(&b'{') && !step.is_whole {
                return Ok(Some((at, index)));
            }
            at += step.text.len();
            let taken = match self.values.plain(value) {
                Some((item, len)) => sink.take(step.target, item).map(|()| len).map_err(|why| refused(why, 0, len)),
                None => self.values.take_first(value, step.target, sink),
            };
            at += taken.map_err(|fault| fault.behind(at).of_key(shown(&self.keys[step.key].name)))?;
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
            let Some(end) = self.path.open[at].checked_sub(SEPARATOR.len()) else {
                self.path.seen_in.insert(PROPERTIES.to_owned(), self.record);
                continue;
            };
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
            let is_whole = self.rename_member(quote)?;
            if self.values.rules.flatten && first == Peek::Object && !is_whole {
                self.enter(quote(), base + jiter.current_index())?;
                is_entering = true;
                continue;
            }
            let (key, target) = self.known_key(steps, quote)?;
            let start = base + jiter.current_index();
            self.learn(steps, &record[from..start], (key, target, is_whole));
            let taken = self.values.take(jiter, &record[base..], first, target, sink);
            taken.map_err(|fault| fault.behind(base).of_key(shown(&self.keys[key].name)))?;
            from = base + jiter.current_index();
            steps += 1;
        }
        jiter.finish().map_err(located)?;
        Ok((steps, from))
    }

    /// Changes the current key to the name of a feature's member, or of a property. Returns whether the member stays one value.
    fn rename_member(&mut self, quote: impl Fn() -> usize) -> Result<bool, Fault> {
        let Some(features) = &self.values.rules.features else { return Ok(false) };
        let path = &mut self.path;
        if path.is_member(CRS) && !features.has_crs {
            let fault = Fault::new(quote(), "the feature names a reference system for itself alone").of_key(CRS);
            return Err(fault.advise(message!["name the system of all with ", OptionName::Crs.word("EPSG:NUMBER")]));
        }
        if path.is_member(TYPE) || path.is_member(CRS) {
            path.key.insert(0, HIDDEN);
            return Ok(true);
        }
        let mut members = [GEOMETRY, PROPERTIES].into_iter().chain(features.members.iter().map(String::as_str));
        let mut is_taken = |name: &str| members.any(|member| member.eq_ignore_ascii_case(name));
        if path.is_property() && is_taken(&path.key) {
            path.key.insert_str(0, SEPARATOR);
            path.key.insert_str(0, PROPERTIES);
        }
        Ok(path.is_member(GEOMETRY))
    }

    /// Enters the nested object of the current key.
    fn enter(&mut self, key_at: usize, at: usize) -> Result<(), Fault> {
        if self.path.open.len() == MAX_DEPTH {
            return Err(too_deep(at));
        }
        let is_scalar = self.positions.get(&self.path.key).is_some_and(|&key| self.keys[key].seen_in == self.record);
        let has_prefix = self.values.rules.features.is_none() || !self.path.is_member(PROPERTIES);
        let name = self.path.key.clone();
        if !self.path.enter(self.record, has_prefix) || is_scalar {
            return Err(self.stands_twice(key_at, &name));
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
            if matches!(self.targets, Targets::Keys) {
                let message =
                    format!("the records have more than {MOST_NAMES} keys, and a table has 2000 columns at most");
                let advice = message!["are keys values here? Name the columns: ", OptionName::Schema.word("FILE.sql")];
                return Err(Fault::new(quote(), message).of_key(name).advise(advice));
            }
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
            return Err(self.stands_twice(quote(), &self.keys[key].name));
        }
        Ok((key, target))
    }

    /// Returns the key of this name, most likely the one of this step. `None` if the key is not allowed, or one too many.
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
        if key == MOST_NAMES && matches!(self.targets, Targets::Keys) {
            return None;
        }
        let target = if name.starts_with(HIDDEN) && self.values.rules.features.is_some() {
            IGNORED
        } else {
            self.targets.of(name, key)?
        };
        self.keys.push(Key { name: name.to_owned(), target, seen_in: 0 });
        self.positions.insert(name.to_owned(), key);
        Some(key)
    }

    /// Records that this record has the key. Returns `false` if it had the key, or another key for the target, before.
    fn mark(&mut self, key: usize, target: usize) -> bool {
        let is_new = std::mem::replace(&mut self.keys[key].seen_in, self.record) != self.record;
        if target == IGNORED {
            return is_new;
        }
        if self.target_seen_in.len() <= target {
            self.target_seen_in.resize(target + 1, 0);
        }
        is_new && std::mem::replace(&mut self.target_seen_in[target], self.record) != self.record
    }

    fn learn(&mut self, step: usize, text: &[u8], (key, target, is_whole): (usize, usize, bool)) {
        if self.steps.get(step).is_some_and(|known| *known.text == *text) {
            return;
        }
        self.steps.truncate(step);
        let open = self.path.open.as_slice().into();
        self.steps.push(Step { text: text.into(), key, target, open, is_whole });
    }

    #[cold]
    fn stands_twice(&self, at: usize, key: &str) -> Fault {
        let key = shown(key);
        let fault = Fault::new(at, format!("the key {key:?} stands twice in the object")).of_key(key);
        match self.values.rules.features {
            Some(_) => fault.advise("if the feature and its properties have it, rename one of them"),
            None => fault,
        }
    }
}

/// Returns a key without the mark of a hidden one.
fn shown(key: &str) -> &str {
    key.strip_prefix(HIDDEN).unwrap_or(key)
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
