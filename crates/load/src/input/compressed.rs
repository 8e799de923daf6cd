//! Decompresses text.

use flate2::bufread::MultiGzDecoder;
use litepress_rows::{Error, ErrorKind};
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of compressed bytes per read.
const BUFFER_BYTES: usize = 256 << 10;

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// One or more gzip members.
    Gzip,
    /// One or more zstd frames.
    Zstd,
}

impl Compression {
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Returns the decompressed text. Its errors say how far decompression got.
    pub fn decompress(self, bytes: impl Read + Send + 'static, name: &Path) -> Box<dyn Read + Send> {
        let own = Arc::new(AtomicU64::new(0));
        let bytes = BufReader::with_capacity(BUFFER_BYTES, Counted::new(bytes, own.clone()));
        let text: Box<dyn Read + Send> = match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(bytes)),
            Self::Zstd => match zstd::stream::read::Decoder::with_buffer(bytes) {
                Ok(decoder) => Box::new(decoder),
                Err(error) => Box::new(Failed(Some(error))),
            },
        };
        Box::new(Decompressed { text, compression: self, name: name.display().to_string(), bytes: own, given: 0 })
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
        let is_behind = text.contains("invalid gzip header") || text.contains("Unknown frame descriptor");
        let (message, advice) = if error.kind() == io::ErrorKind::UnexpectedEof {
            let message = format!(
                "the file is truncated: its {how} data ends in the middle, after {bytes} bytes that hold {given} bytes of text"
            );
            (message, "get the file again".to_owned())
        } else if is_behind {
            let message = format!("behind {given} bytes of text, something follows the {how} data that is not {how}");
            (message, format!("cut it off: {how} -dc '{}' > FILE", self.name))
        } else {
            (format!("the {how} data is damaged behind {given} bytes of text: {text}"), "get the file again".to_owned())
        };
        io::Error::new(error.kind(), Error::new(ErrorKind::Data, message).advise(advice).caused_by(error))
    }
}
