//! Decompresses text.

use super::members::{GzipMembers, Lz4Frames};
use super::notes::Notes;
use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::DeflateDecoder;
use litepress_rows::{Error, ErrorKind};
use lzma_rust2::XzReader;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of compressed bytes per read.
pub(super) const BUFFER_BYTES: usize = 256 << 10;

/// Largest window of a zstd frame, as a power of two: what `zstd --long=31` writes. Usual frames need 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 31;

/// Memory for the dictionary of an xz file in KiB. `xz -9` needs 64 MiB, and the most is 1.5 GiB.
const XZ_MEMORY_KIB: u32 = 2 << 20;

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// One or more gzip members.
    Gzip,
    /// One or more zstd frames.
    Zstd,
    /// One or more bzip2 streams.
    Bzip2,
    /// One or more xz streams.
    Xz,
    /// One or more LZ4 frames.
    Lz4,
    /// A member of a ZIP archive.
    Deflate,
}

impl Compression {
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Lz4 => "lz4",
            Self::Deflate => "ZIP",
        }
    }

    /// Returns the number of bytes at the beginning that surely hold some text: a block is decompressed as a whole.
    pub fn head_bytes(self) -> u64 {
        match self {
            Self::Gzip | Self::Zstd | Self::Xz | Self::Deflate => 256 << 10,
            Self::Bzip2 => 1 << 20,
            Self::Lz4 => (4 << 20) + 1024,
        }
    }

    /// Returns the format whose magic bytes a file begins with.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1F, 0x8B, 8, ..] => Some(Self::Gzip),
            // A data frame, and a skippable frame.
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Self::Zstd),
            // A block, or the end of a stream without one.
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
                if rest.starts_with(b"1AY&SY") || rest.starts_with(b"\x17rE8P\x90") =>
            {
                Some(Self::Bzip2)
            }
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x04, 0x22, 0x4D, 0x18, ..] => Some(Self::Lz4),
            _ => None,
        }
    }

    /// Returns the decompressed text. Its errors say how far decompression got.
    pub fn decompress(self, bytes: impl Read + Send + 'static, name: &Path, notes: &Notes) -> Box<dyn Read + Send> {
        let own = Arc::new(AtomicU64::new(0));
        let bytes = Counted::new(bytes, own.clone());
        let text: Box<dyn Read + Send> = match self {
            Self::Gzip => Box::new(GzipMembers::new(bytes, name, notes)),
            other => other.buffered(BufReader::with_capacity(BUFFER_BYTES, bytes)),
        };
        Box::new(Decompressed { text, compression: self, name: name.display().to_string(), bytes: own, given: 0 })
    }

    fn buffered(self, bytes: impl BufRead + Send + 'static) -> Box<dyn Read + Send> {
        match self {
            Self::Gzip => unreachable!("its members need a reader of their own"),
            Self::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(bytes).and_then(|mut decoder| {
                    decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                    Ok(decoder)
                });
                match decoder {
                    Ok(decoder) => Box::new(decoder),
                    Err(error) => Box::new(Failed(Some(error))),
                }
            }
            Self::Bzip2 => Box::new(MultiBzDecoder::new(bytes)),
            Self::Xz => Box::new(XzReader::new_mem_limit(bytes, true, XZ_MEMORY_KIB)),
            Self::Lz4 => Box::new(Lz4Frames::new(bytes)),
            Self::Deflate => Box::new(DeflateDecoder::new(bytes)),
        }
    }
}

/// A stream that counts its bytes as they are read.
pub(super) struct Counted<R> {
    bytes: R,
    count: Arc<AtomicU64>,
}

impl<R> Counted<R> {
    pub fn new(bytes: R, count: Arc<AtomicU64>) -> Self {
        Self { bytes, count }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// A stream that fails with the error of creating its decompressor.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The output of a decompressor.
struct Decompressed {
    text: Box<dyn Read + Send>,
    compression: Compression,
    name: String,
    /// Number of compressed bytes read.
    bytes: Arc<AtomicU64>,
    /// Number of bytes of text returned.
    given: u64,
}

impl Read for Decompressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.text.read(buffer) {
            Ok(read) => {
                self.given += read as u64;
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => Err(self.explain(error)),
        }
    }
}

impl Decompressed {
    fn explain(&self, error: io::Error) -> io::Error {
        let (how, bytes, given) = (self.compression.name(), self.bytes.load(Ordering::Relaxed), self.given);
        let is_content = matches!(
            error.kind(),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
        ) || (error.kind() == io::ErrorKind::Other && error.raw_os_error().is_none());
        if !is_content {
            return error;
        }
        let text = error.to_string();
        let (message, advice) = if error.kind() == io::ErrorKind::UnexpectedEof {
            let message = format!(
                "the file is truncated: its {how} data ends in the middle, after {bytes} bytes that hold {given} bytes of text"
            );
            (message, "get the file again".to_owned())
        } else if text.contains("Unknown frame descriptor") || (given > 0 && is_no_stream(self.compression, &text)) {
            let message = format!("behind {given} bytes of text, something follows the {how} data that is not {how}");
            (message, format!("cut it off: {how} -dc '{}' > FILE", self.name))
        } else {
            (format!("the {how} data is damaged behind {given} bytes of text: {text}"), "get the file again".to_owned())
        };
        io::Error::new(error.kind(), Error::new(ErrorKind::Data, message).advise(advice).caused_by(error))
    }
}

/// Returns whether a decompressor says that no further stream begins behind the last one.
fn is_no_stream(compression: Compression, text: &str) -> bool {
    match compression {
        Compression::Bzip2 => text.contains("header missing"),
        Compression::Xz => text.contains("after stream"),
        Compression::Lz4 => text.contains("WrongMagicNumber"),
        Compression::Gzip | Compression::Zstd | Compression::Deflate => false,
    }
}
