//! Files of several compressed members, one after another.

use super::compressed::BUFFER_BYTES;
use super::notes::Notes;
use flate2::bufread::GzDecoder;
use lz4_flex::frame::FrameDecoder;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

/// The text of gzip members. As gzip does, ignores zero bytes behind the last member without a word, and notes other bytes there.
pub(super) struct GzipMembers<R> {
    /// `None` after the last member.
    member: Option<GzDecoder<Lookahead<R>>>,
    name: PathBuf,
    notes: Notes,
}

impl<R: Read> GzipMembers<R> {
    /// Returns the text of the members of `bytes`, a file of this name.
    pub fn new(bytes: R, name: &Path, notes: &Notes) -> Self {
        let bytes = Lookahead { bytes, buffer: Vec::new(), at: 0 };
        Self { member: Some(GzDecoder::new(bytes)), name: name.to_owned(), notes: notes.clone() }
    }

    /// Begins the next member, if there is one.
    fn next_member(&mut self) -> io::Result<()> {
        let Some(member) = self.member.take() else { return Ok(()) };
        let mut bytes = member.into_inner();
        match start_of(&mut bytes)? {
            Start::Member => self.member = Some(GzDecoder::new(bytes)),
            Start::End => {}
            Start::Cut => return Err(io::ErrorKind::UnexpectedEof.into()),
            Start::Other(behind) => {
                let name = self.name.display();
                self.notes.add(format!("{name}: {behind} bytes behind the gzip data are ignored, as gzip does"));
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            match member.read(buffer)? {
                0 if !buffer.is_empty() => self.next_member()?,
                read => return Ok(read),
            }
        }
        Ok(0)
    }
}

/// The text behind a gzip member.
enum Start {
    /// Another member.
    Member,
    /// Nothing, or zero bytes.
    End,
    /// The first byte of a member.
    Cut,
    /// Other bytes, and their number.
    Other(u64),
}

/// Looks at the text behind a gzip member. Reads all of it unless it is another member.
fn start_of<R: Read>(bytes: &mut Lookahead<R>) -> io::Result<Start> {
    match bytes.peek(2)? {
        [] => return Ok(Start::End),
        [0x1f, 0x8b] => return Ok(Start::Member),
        [0x1f] => return Ok(Start::Cut),
        _ => {}
    }
    let (mut behind, mut is_zero) = (0, true);
    loop {
        let buffer = bytes.fill_buf()?;
        if buffer.is_empty() {
            return Ok(if is_zero { Start::End } else { Start::Other(behind) });
        }
        is_zero &= buffer.iter().all(|&byte| byte == 0);
        let count = buffer.len();
        behind += count as u64;
        bytes.consume(count);
    }
}

/// A buffered reader that can look at some bytes ahead, wherever its buffer ends.
struct Lookahead<R> {
    bytes: R,
    buffer: Vec<u8>,
    at: usize,
}

impl<R: Read> Lookahead<R> {
    /// Returns the next `count` bytes, or fewer at the end.
    fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.buffer.len() - self.at < count {
            self.buffer.drain(..self.at);
            self.at = 0;
            let missing = (BUFFER_BYTES - self.buffer.len()) as u64;
            (&mut self.bytes).take(missing).read_to_end(&mut self.buffer)?;
        }
        let rest = &self.buffer[self.at..];
        Ok(&rest[..rest.len().min(count)])
    }
}

impl<R: Read> BufRead for Lookahead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.peek(1)?;
        Ok(&self.buffer[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}

impl<R: Read> Read for Lookahead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.fill_buf()?;
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        self.consume(read);
        Ok(read)
    }
}

/// The text of LZ4 frames.
///
/// The decoder of a frame takes the end of the file for the end of the frame. So the bytes are watched: the file must end right
/// behind a frame.
pub(super) struct Lz4Frames<R: Read> {
    frame: FrameDecoder<Watched<R>>,
    /// Number of bytes up to the end of the last whole frame.
    whole: u64,
}

/// A stream that knows whether it has ended.
struct Watched<R> {
    bytes: R,
    read: u64,
    has_ended: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.read += read as u64;
        self.has_ended |= read == 0 && !buffer.is_empty();
        Ok(read)
    }
}

impl<R: Read> Lz4Frames<R> {
    /// Returns the text of the frames of `bytes`.
    pub fn new(bytes: R) -> Self {
        Self { frame: FrameDecoder::new(Watched { bytes, read: 0, has_ended: false }), whole: 0 }
    }
}

impl<R: Read> Read for Lz4Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.frame.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let bytes = self.frame.get_ref();
            match bytes.has_ended {
                // The end of a frame: another one may follow.
                false => self.whole = bytes.read,
                true if bytes.read == self.whole => return Ok(0),
                true => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }
}
