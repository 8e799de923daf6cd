//! Converts text of other encodings to UTF-8.

use crate::options::{InvalidUtf8, ReadOptions};
use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use litepress_rows::files::retry;
use litepress_rows::{Error, ErrorKind, OptionName, Result, message};
use std::io::{self, Read};
use std::path::Path;

/// Number of bytes decoded at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// Returns the byte-order mark at the start of a text, and its meaning.
fn byte_order_mark(head: &[u8]) -> Option<(&'static [u8], Mark)> {
    // The mark of UTF-32LE begins with the one of UTF-16LE, so it comes first.
    const MARKS: [(&[u8], Mark); 5] = [
        (b"\xEF\xBB\xBF", Mark::Utf(UTF_8)),
        (b"\xFF\xFE\0\0", Mark::Utf32),
        (b"\0\0\xFE\xFF", Mark::Utf32),
        (b"\xFF\xFE", Mark::Utf(UTF_16LE)),
        (b"\xFE\xFF", Mark::Utf(UTF_16BE)),
    ];
    MARKS.into_iter().find(|(mark, _)| head.starts_with(mark))
}

#[derive(Clone, Copy)]
enum Mark {
    Utf(&'static Encoding),
    Utf32,
}

/// Returns the encoding of a text with these first bytes, and the length of its byte-order mark in bytes.
pub(super) fn encoding_of(head: &[u8], name: &Path, options: &ReadOptions) -> Result<(&'static Encoding, usize)> {
    let mark = byte_order_mark(head);
    if matches!(mark, Some((_, Mark::Utf32))) && options.encoding.is_none() {
        let error = Error::new(ErrorKind::Data, "this is UTF-32, which is not read").in_file(name);
        return Err(error.advise(format!("turn it into UTF-8: iconv -f UTF-32 -t UTF-8 '{}'", name.display())));
    }
    let marked = match mark {
        Some((bytes, Mark::Utf(encoding))) => Some((encoding, bytes.len())),
        _ => None,
    };
    let Some(label) = &options.encoding else {
        return Ok(marked.unwrap_or((UTF_8, 0)));
    };
    let encoding = encoding_of_label(label.trim()).ok_or_else(|| {
        let message = message![OptionName::Encoding.word(label.clone()).given(), ": no such encoding"];
        let advice = "known are the labels of the WHATWG and Python's names for them: utf-8, utf-16le, utf-16be, windows-1252 (latin1), iso-8859-15, \
                      windows-1251, koi8-r, shift_jis, euc-jp, gbk, gb18030, big5, euc-kr, macroman";
        Error::new(ErrorKind::Usage, message).advise(advice)
    })?;
    // With `utf-16`, the mark decides the byte order.
    let is_either = matches!(label.trim().to_ascii_lowercase().as_str(), "utf-16" | "utf16" | "utf_16");
    match marked {
        Some((marked, bytes)) if marked == encoding || (is_either && marked == UTF_16BE) => Ok((marked, bytes)),
        _ => Ok((encoding, 0)),
    }
}

/// Returns the encoding of a label of the WHATWG, or of a name that Python, Windows or iconv has for it: `cp949`, `latin-1`,
/// `utf-8-sig`, `iso8859_15`.
fn encoding_of_label(label: &str) -> Option<&'static Encoding> {
    const OTHER_NAMES: [(&str, &str); 26] = [
        ("utf8sig", "utf-8"),
        ("utf8bom", "utf-8"),
        ("u8", "utf-8"),
        ("latin1", "windows-1252"),
        ("l1", "windows-1252"),
        ("latin2", "iso-8859-2"),
        ("latin9", "iso-8859-15"),
        ("ansi", "windows-1252"),
        ("macroman", "macintosh"),
        ("mac", "macintosh"),
        ("macosroman", "macintosh"),
        ("maccyrillic", "x-mac-cyrillic"),
        ("cp949", "euc-kr"),
        ("uhc", "euc-kr"),
        ("ms949", "euc-kr"),
        ("cp932", "shift_jis"),
        ("mskanji", "shift_jis"),
        ("cp936", "gbk"),
        ("ms936", "gbk"),
        ("cp950", "big5"),
        ("big5hkscs", "big5"),
        ("cp874", "windows-874"),
        ("cp866", "ibm866"),
        ("utf16le", "utf-16le"),
        ("utf16be", "utf-16be"),
        ("utf16", "utf-16le"),
    ];
    let known = |label: &str| Encoding::for_label_no_replacement(label.as_bytes());
    if let Some(encoding) = known(label) {
        return Some(encoding);
    }
    let letters = |character: &char| character.is_ascii_alphanumeric();
    let plain: String = label.chars().filter(letters).collect::<String>().to_ascii_lowercase();
    if let Some((_, label)) = OTHER_NAMES.iter().find(|(name, _)| *name == plain) {
        return known(label);
    }
    let numbered = |prefix: &str, label: &str| {
        let number = plain.strip_prefix(prefix)?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then(|| known(&format!("{label}{number}")))?
    };
    // windows-1252 has many names: cp1252, windows1252, win1252.
    ["cp", "windows", "win"]
        .iter()
        .find_map(|prefix| numbered(prefix, "windows-"))
        .or_else(|| numbered("iso8859", "iso-8859-"))
        .or_else(|| known(&plain))
}

/// Returns the likely encoding of UTF-16 without a byte-order mark: every other byte of its first letters is zero.
pub(super) fn looks_like_utf16(head: &[u8]) -> Option<&'static str> {
    let head = &head[..head.len().min(64) & !1];
    let all = |zero: usize| head.chunks_exact(2).all(|pair| pair[zero] == 0 && pair[1 - zero] != 0);
    match () {
        () if head.len() < 8 => None,
        () if all(1) => Some("utf-16le"),
        () if all(0) => Some("utf-16be"),
        () => None,
    }
}

/// Returns the beginning of a text in UTF-8. Invalid bytes become U+FFFD.
pub(super) fn head_in_utf8(head: &[u8], encoding: &'static Encoding, mark: usize) -> Vec<u8> {
    encoding.decode_without_bom_handling(&head[mark..]).0.into_owned().into_bytes()
}

/// Returns the text in UTF-8, without byte-order mark. UTF-8 text is passed through unchecked.
pub(super) fn to_utf8(
    mut bytes: Box<dyn Read + Send>,
    name: &Path,
    options: &ReadOptions,
) -> Result<Box<dyn Read + Send>> {
    let mut head = Vec::with_capacity(4);
    (&mut bytes).take(4).read_to_end(&mut head).map_err(|error| super::read_failed(name, error))?;
    let (encoding, mark) = encoding_of(&head, name, options)?;
    let text = io::Cursor::new(head.split_off(mark)).chain(bytes);
    if encoding == UTF_8 {
        return Ok(Box::new(text));
    }
    Ok(Box::new(Decoded {
        bytes: text,
        decoder: encoding.new_decoder_without_bom_handling(),
        replaces: options.invalid_utf8 == InvalidUtf8::Replace,
        is_strict: options.invalid_utf8 == InvalidUtf8::Blob,
        undecoded: vec![0; BUFFER_BYTES],
        start: 0,
        end: 0,
        has_ended: false,
        is_finished: false,
        lines: 0,
        characters: 0,
        text: vec![0; 3 * BUFFER_BYTES],
        given: 0,
        decoded: 0,
    }))
}

/// A stream that is decoded as it is read.
struct Decoded<R> {
    bytes: R,
    decoder: Decoder,
    /// U+FFFD replaces invalid bytes.
    replaces: bool,
    /// Invalid bytes are an error of the stream: as blobs they would have to be kept.
    is_strict: bool,
    /// Bytes from the stream. The part from `start` to `end` is not decoded yet.
    undecoded: Vec<u8>,
    start: usize,
    end: usize,
    has_ended: bool,
    /// Decoding has ended or failed.
    is_finished: bool,
    /// Number of line ends in the decoded text, and of characters behind the last one, counted if `is_strict`.
    lines: u64,
    characters: u64,
    /// Decoded text. The part from `given` to `decoded` is not returned yet.
    text: Vec<u8>,
    given: usize,
    decoded: usize,
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.decoded {
            if self.start == self.end && !self.has_ended {
                self.start = 0;
                self.end = retry(|| self.bytes.read(&mut self.undecoded))?;
                self.has_ended = self.end == 0;
            }
            if self.is_finished {
                return Ok(0);
            }
            // A decoder must not be called again after it has finished or failed.
            self.is_finished = true;
            self.is_finished = !self.decode()? && self.has_ended;
        }
        let taken = buffer.len().min(self.decoded - self.given);
        buffer[..taken].copy_from_slice(&self.text[self.given..self.given + taken]);
        self.given += taken;
        Ok(taken)
    }
}

impl<R> Decoded<R> {
    /// Decodes the buffered bytes. Returns whether the output was full, so that more may follow.
    fn decode(&mut self) -> io::Result<bool> {
        let undecoded = &self.undecoded[self.start..self.end];
        let (is_full, read, written) = if self.replaces {
            let (result, read, written, _) = self.decoder.decode_to_utf8(undecoded, &mut self.text, self.has_ended);
            (result == CoderResult::OutputFull, read, written)
        } else {
            // One byte is left for the mark below.
            let room = self.text.len() - 1;
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(undecoded, &mut self.text[..room], self.has_ended);
            match result {
                DecoderResult::Malformed(..) if self.is_strict => {
                    self.count(written);
                    return Err(self.malformed());
                }
                // A byte that is not UTF-8 makes the record bad: its reader reports record, line and column.
                DecoderResult::Malformed(..) => {
                    self.text[written] = 0xff;
                    (true, read, written + 1)
                }
                _ => (result == DecoderResult::OutputFull, read, written),
            }
        };
        if self.is_strict {
            self.count(written);
        }
        self.start += read;
        (self.given, self.decoded) = (0, written);
        Ok(is_full)
    }

    /// Counts line ends and characters at the beginning of the decoded text.
    fn count(&mut self, length: usize) {
        let text = &self.text[..length];
        self.lines += memchr::memchr_iter(b'\n', text).count() as u64;
        let (known, line) = match memchr::memrchr(b'\n', text) {
            Some(end) => (0, &text[end + 1..]),
            None => (self.characters, text),
        };
        // All bytes of a character but the first begin with the bits 10.
        self.characters = known + line.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64;
    }

    /// Describes invalid bytes behind the text that was counted.
    fn malformed(&self) -> io::Error {
        let encoding = self.decoder.encoding().name();
        let error = Error::new(
            ErrorKind::Data,
            message![
                format!("the text is not {encoding} here, and "),
                OptionName::InvalidUtf8.word("blob"),
                " keeps the bytes of files in UTF-8 only"
            ],
        );
        let error = error.at(self.lines + 1, self.characters + 1).advise(message![
            "name the right encoding with ",
            OptionName::Encoding.alone(),
            ", or store U+FFFD in place of such bytes with ",
            OptionName::InvalidUtf8.word("replace")
        ]);
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}
