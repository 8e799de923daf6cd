//! Finds records that lie within other objects: `{"data": {"items": [...]}}`.
//!
//! Reads the text from its beginning up to the value that the keys lead to. Values before it are skipped in bounded memory; only
//! their strings and brackets are looked at. The text behind the records is scanned by frame.rs.

use super::OpenArray;
use super::features::{CRS, MOST_CRS_BYTES, crs_name};
use super::frame::is_space;
use crate::input::read_failed;
use jiter::Jiter;
use litepress_rows::{Error, ErrorKind, OptionName, Result, message};
use std::io::Read;
use std::path::Path;

/// Number of bytes read at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// Maximum length of a key in bytes.
const MOST_KEY_BYTES: usize = 1 << 20;

/// Reads up to the value that the keys of `path` lead to. Keeps the reference system that stands beside the features of GeoJSON.
///
/// # Errors
/// If the file cannot be read, is not made of objects up to there, or lacks a key.
pub(super) fn enter(stream: Box<dyn Read + Send>, name: &Path, path: &[String]) -> Result<OpenArray> {
    let mut walk = Walk { stream, name, buffer: Vec::new(), at: 0, line: 1, characters: 0, crs: None };
    for (depth, key) in path.iter().enumerate() {
        walk.enter_object(path, depth)?;
        walk.find_key(path, depth, key)?;
    }
    let first = walk.skip_space()?;
    match first {
        Some(b'[' | b'{') => {}
        _ => return Err(walk.wrong(path, path.len(), "the value there is not an array of objects")),
    }
    let Walk { stream, buffer, at, line, characters, crs, .. } = walk;
    Ok(OpenArray { first, line, characters, read: buffer[at..].to_vec(), crs, stream })
}

/// A reader of JSON text, byte by byte.
struct Walk<'n> {
    stream: Box<dyn Read + Send>,
    name: &'n Path,
    buffer: Vec<u8>,
    /// Position in the buffer.
    at: usize,
    /// Number of the line, and number of characters before the position in it.
    line: u64,
    characters: u64,
    /// The name of the reference system beside the features.
    crs: Option<String>,
}

impl Walk<'_> {
    /// Returns the next byte, or `None` at the end.
    fn peek(&mut self) -> Result<Option<u8>> {
        if self.at == self.buffer.len() {
            self.buffer.clear();
            self.at = 0;
            let read = (&mut self.stream).take(BUFFER_BYTES as u64).read_to_end(&mut self.buffer);
            read.map_err(|error| read_failed(self.name, error))?;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    /// Moves past the byte that was peeked at.
    fn pass(&mut self, byte: u8) {
        self.at += 1;
        match byte {
            b'\n' => (self.line, self.characters) = (self.line + 1, 0),
            // A continuation byte of UTF-8 begins no character.
            0x80..=0xbf => {}
            _ => self.characters += 1,
        }
    }

    fn skip_space(&mut self) -> Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(byte) if is_space(byte) => self.pass(byte),
                next => return Ok(next),
            }
        }
    }

    /// Moves past the opening bracket of an object.
    fn enter_object(&mut self, path: &[String], depth: usize) -> Result<()> {
        match self.skip_space()? {
            Some(byte @ b'{') => {
                self.pass(byte);
                Ok(())
            }
            _ => Err(self.wrong(path, depth, "expected an object, which begins with `{`")),
        }
    }

    /// Moves behind the colon of this key in the open object.
    fn find_key(&mut self, path: &[String], depth: usize, key: &str) -> Result<()> {
        /// Number of keys that an error names. More are not kept: an object may have any number.
        const SHOWN: usize = 20;
        let mut known: Vec<String> = Vec::new();
        loop {
            match self.skip_space()? {
                Some(byte @ b',') if !known.is_empty() => {
                    self.pass(byte);
                    self.skip_space()?;
                }
                Some(b'}') => {
                    let error = self.wrong(path, depth + 1, &format!("the object has no key {key:?}"));
                    let names = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                    return Err(error.advise(format!("its keys are: {names}")));
                }
                _ => {}
            }
            let found = self.key(path, depth)?;
            if self.skip_space()? != Some(b':') {
                return Err(self.wrong(path, depth, "expected `:` behind the key"));
            }
            self.pass(b':');
            if found == key {
                return Ok(());
            }
            if depth == 0 && found == CRS {
                let mut member = Vec::new();
                self.value(path, depth, |byte| {
                    if member.len() <= MOST_CRS_BYTES {
                        member.push(byte);
                    }
                })?;
                self.crs = Some(crs_name(&member));
            } else {
                self.value(path, depth, |_| {})?;
            }
            if known.len() < SHOWN {
                known.push(found);
            }
        }
    }

    /// Reads a key.
    fn key(&mut self, path: &[String], depth: usize) -> Result<String> {
        if self.peek()? != Some(b'"') {
            return Err(self.wrong(path, depth, "expected a key in double quotes"));
        }
        let mut text = Vec::new();
        self.string(path, depth, |byte| text.push(byte))?;
        match Jiter::new(&text).next_str() {
            Ok(key) if text.len() <= MOST_KEY_BYTES => Ok(key.to_owned()),
            _ => Err(self.wrong(path, depth, "expected a key that is a valid string")),
        }
    }

    /// Moves past a string, quotes included.
    fn string(&mut self, path: &[String], depth: usize, mut take: impl FnMut(u8)) -> Result<()> {
        let (mut is_escaped, mut len) = (false, 0);
        while let Some(byte) = self.peek()? {
            self.pass(byte);
            if len <= MOST_KEY_BYTES {
                take(byte);
            }
            let is_end = len > 0 && byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            len += 1;
            if is_end {
                return Ok(());
            }
        }
        Err(self.wrong(path, depth, "the file ends within a string"))
    }

    /// Moves past a value, and passes its bytes to `take`, without spaces between them. Checks only that its strings and brackets end.
    fn value(&mut self, path: &[String], depth: usize, mut take: impl FnMut(u8)) -> Result<()> {
        let mut open = 0_u64;
        loop {
            match self.skip_space()? {
                None => return Err(self.wrong(path, depth, "the file ends before the key is found")),
                Some(b'"') => self.string(path, depth, &mut take)?,
                Some(b',' | b'}' | b']') if open == 0 => return Ok(()),
                Some(byte) => {
                    match byte {
                        b'{' | b'[' => open += 1,
                        b'}' | b']' => open -= 1,
                        _ => {}
                    }
                    take(byte);
                    self.pass(byte);
                }
            }
        }
    }

    /// Returns an error at the current place. `depth` is the number of keys that were found.
    fn wrong(&self, path: &[String], depth: usize, message: &str) -> Error {
        let keys = path[..depth.min(path.len())].join(".");
        let given = OptionName::JsonPath.word(path.join(".")).given();
        let below = if depth == 0 || depth >= path.len() { String::new() } else { format!(" (below {keys})") };
        let error = Error::new(ErrorKind::Data, message![given, format!("{below}: {message}")]);
        error.in_file(self.name).at(self.line, self.characters + 1)
    }
}
