//! Detects a file's format by its first bytes.

use super::compressed::Compression;
use super::decoded;
use crate::options::{Format, ReadOptions};
use litepress_format::header;
use litepress_format::value::Value;
use litepress_rows::{Error, ErrorKind, OptionName, Result, message, quote};
use std::io::{self, Read};
use std::path::Path;

/// Number of first bytes that are examined.
const HEAD_BYTES: u64 = 4096;

/// Formats that are recognized but not supported: offset of the magic bytes, magic bytes, name, and advice.
const REFUSED: [(usize, &[u8], &str, &str); 15] = [
    (0, b"LZIP\x01", "lzip", "pipe it in: lzip -dc FILE | litepress load ..."),
    (0, b"\xFF\x06\0\0sNaPpY", "snappy", "decompress it first"),
    (0, b"\x1F\x9D", "compress (.Z)", "pipe it in: gzip -dc FILE | litepress load ..."),
    (
        0,
        b"PK\x03\x04",
        "a ZIP archive or a spreadsheet from a pipe or within another file",
        "save it as a file of its own",
    ),
    (0, b"PK\x05\x06", "an empty ZIP archive", "name an archive that has files in it"),
    (0, b"7z\xBC\xAF\x27\x1C", "a 7z archive", "unpack it first"),
    (0, b"Rar!\x1A\x07", "a RAR archive", "unpack it first"),
    (257, b"ustar", "a tar archive", "unpack it first, and name the files in it"),
    (0, b"Obj\x01", "Avro", "convert it to Parquet or NDJSON first"),
    (0, b"ORC\x0A", "ORC", "convert it to Parquet first"),
    (0, b"ORC\x08", "ORC", "convert it to Parquet first"),
    (0, b"PARE", "an encrypted Parquet file", "decrypt it first"),
    (
        0,
        b"FEA1",
        "Feather of version 1",
        "convert it to Arrow or Parquet: pyarrow.feather.write_feather writes version 2",
    ),
    (0, b"\x89HDF\r\n\x1A\n", "HDF5", "convert it to Parquet first"),
    (8, b"DUCK", "a DuckDB database", "export its tables as Parquet: COPY t TO 't.parquet'"),
];

/// Reads the first bytes, or all if there are fewer.
pub(super) fn read_head(stream: &mut (dyn Read + Send)) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    stream.take(HEAD_BYTES).read_to_end(&mut head)?;
    if let Some(compression) = Compression::of(&head) {
        stream.take(compression.head_bytes()).read_to_end(&mut head)?;
    }
    Ok(head)
}

/// Returns format, compression and encoding of a file with these first bytes.
pub(super) fn examine(
    name: &Path,
    head: &[u8],
    options: &ReadOptions,
) -> Result<(Format, Option<Compression>, &'static str)> {
    let data = |message: String| Error::new(ErrorKind::Data, message).in_file(name);
    if head.is_empty() {
        if options.leaves_out_empty || options.dialect.columns.is_some() {
            return Ok((Format::Csv, None, encoding_rs::UTF_8.name()));
        }
        let (columns, reject) = (OptionName::Columns.alone(), OptionName::OnError.word("reject"));
        let advice = message!["name its columns with ", columns, ", or leave out empty files with ", reject];
        return Err(data("the file is empty".to_owned()).advise(advice));
    }

    let Some(compression) = Compression::of(head) else {
        let format = match options.format {
            Some(format) => format,
            None => binary_format(head).map_or_else(|| text_format(name, head, options), Ok)?,
        };
        let encoding = if format.is_binary() { "" } else { decoded::encoding_of(head, name, options)?.0.name() };
        return Ok((format, None, encoding));
    };
    let how = compression.name();
    let inner = decompressed_head(compression, head, name, options)?;
    if inner.is_empty() {
        return Err(data(format!("there is nothing within the {how} data")));
    }
    let binary =
        options.format.map_or_else(|| binary_format(&inner), |format| Some(format).filter(|it| it.is_binary()));
    if let Some(format) = binary {
        if format != Format::Sqlite {
            return Ok((format, Some(compression), ""));
        }
        let error = data(format!("an SQLite database within {how} is not read"));
        return Err(error.advise(format!("decompress it first: {how} -d '{}'", name.display())));
    }
    if Compression::of(&inner).is_some() {
        let error = data("the file is compressed twice".to_owned());
        return Err(error.advise(format!("decompress it once: {how} -dc '{}' | litepress load ...", name.display())));
    }
    let format = options.format.map_or_else(|| text_format(name, &inner, options), Ok)?;
    let (encoding, _) = decoded::encoding_of(&inner, name, options)?;
    Ok((format, Some(compression), encoding.name()))
}

/// Decompresses the first bytes. Errors further on are reported when the text is read.
fn decompressed_head(compression: Compression, head: &[u8], name: &Path, options: &ReadOptions) -> Result<Vec<u8>> {
    let mut inner = Vec::new();
    let read = compression
        .decompress(io::Cursor::new(head.to_vec()), name, &options.notes)
        .take(HEAD_BYTES)
        .read_to_end(&mut inner);
    match read {
        Err(error) if inner.is_empty() => Err(super::read_failed(name, error)),
        _ => Ok(inner),
    }
}

fn binary_format(head: &[u8]) -> Option<Format> {
    // A text may begin with these letters, but not followed by a control character.
    let is_control = |at: usize| head.get(at).is_none_or(|byte| *byte < b' ' && !b"\t\n\r".contains(byte));
    match head {
        [b'P', b'A', b'R', b'1', ..] if is_control(4) => Some(Format::Parquet),
        [b'A', b'R', b'R', b'O', b'W', b'1', 0, 0, ..] => Some(Format::Arrow),
        [0xFF, 0xFF, 0xFF, 0xFF, rest @ ..] if is_arrow_message(rest) => Some(Format::Arrow),
        _ if litepress_geo::flatgeobuf::is_magic(head) => Some(Format::FlatGeobuf),
        _ if head.starts_with(&header::MAGIC) => Some(Format::Sqlite),
        // A compound file: Excel up to 2003, and other programs of that time.
        _ if head.starts_with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") => Some(Format::Spreadsheet),
        _ => None,
    }
}

/// Returns whether the length of a schema message follows the continuation marker of an Arrow stream.
fn is_arrow_message(rest: &[u8]) -> bool {
    const MOST: u32 = 1 << 28;
    let Some(&[a, b, c, d]) = rest.get(..4) else { return false };
    let length = u32::from(a) | u32::from(b) << 8 | u32::from(c) << 16 | u32::from(d) << 24;
    length > 0 && length < MOST && length % 8 == 0
}

fn text_format(name: &Path, head: &[u8], options: &ReadOptions) -> Result<Format> {
    let known = REFUSED.into_iter().find(|(at, mark, ..)| head.get(*at..).is_some_and(|rest| rest.starts_with(mark)));
    if let Some((_, _, what, advice)) = known {
        let error = Error::new(ErrorKind::Data, format!("this is {what}, which is not read")).in_file(name);
        return Err(error.advise(advice.replace("FILE", &format!("'{}'", name.display()))));
    }
    let (encoding, mark) = decoded::encoding_of(head, name, options)?;
    if let Some(likely) = decoded::looks_like_utf16(head).filter(|_| options.encoding.is_none()) {
        let message = format!("every other byte is zero: this seems to be {likely} without a byte-order mark");
        let (likely, utf8) = (OptionName::Encoding.word(likely), OptionName::Encoding.word("utf-8"));
        let advice = message!["say so: ", likely, " (or ", utf8, ", if it is not)"];
        return Err(Error::new(ErrorKind::Data, message).in_file(name).advise(advice));
    }
    let text = decoded::head_in_utf8(head, encoding, mark);
    if looks_like_json(&text) {
        return Ok(Format::Json);
    }
    refuse_other_text(name, &text)?;
    refuse_contradiction(name, &text)?;
    Ok(Format::Csv)
}

/// Fails for text that is not data: a web page in place of a file, or a placeholder for it.
fn refuse_other_text(name: &Path, text: &[u8]) -> Result<()> {
    const PAGE: (&str, &str) = ("a web page (HTML), not data", "fetch the file that the page links to");
    let start = text.trim_ascii_start();
    let begins = |mark: &str| start.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark.as_bytes()));
    let known = [
        (
            "version https://git-lfs.github.com/spec/",
            ("a Git LFS pointer, not the file itself", "fetch it: git lfs pull"),
        ),
        ("<!doctype html", PAGE),
        ("<html", PAGE),
        ("<?xml", ("XML, which is not read", "convert it to CSV or JSON first")),
        ("%PDF-", ("PDF, which is not read", "export its tables as CSV")),
    ];
    let Some((_, (what, advice))) = known.into_iter().find(|(mark, _)| begins(mark)) else { return Ok(()) };
    let error = Error::new(ErrorKind::Data, format!("this is {what}")).in_file(name);
    Err(error.advise(message![advice, "; ", OptionName::Format.word("csv"), " reads it as CSV nevertheless"]))
}

/// Fails if the name of the file states a format that its text is not.
fn refuse_contradiction(name: &Path, text: &[u8]) -> Result<()> {
    const NAMED: [(&[&str], &str); 7] = [
        (&["json", "ndjson", "jsonl", "jsonlines", "ldjson", "geojson"], "JSON"),
        (&["parquet", "pq"], "Parquet"),
        (&["arrow", "arrows", "ipc", "feather"], "Arrow IPC"),
        (&["fgb"], "FlatGeobuf"),
        (&["xlsx", "xlsm", "xlsb", "xls", "ods"], "a spreadsheet"),
        (&["zip"], "a ZIP archive"),
        (&["db", "db3", "sqlite", "sqlite3"], "an SQLite database"),
    ];
    const SHOWN: usize = 40;
    let file_name = name.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let mut endings = file_name.rsplit('.').skip_while(|ending| super::COMPRESSED.contains(ending));
    let Some(ending) = endings.next().filter(|_| endings.next().is_some_and(|stem| !stem.is_empty())) else {
        return Ok(());
    };
    let Some((_, what)) = NAMED.iter().find(|(named, _)| named.contains(&ending)) else { return Ok(()) };
    let line = text.trim_ascii_start().split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let shown = quote(&Value::Text(&line[..line.len().min(SHOWN)]));
    let message = format!("the file is called .{ending}, but its content is not {what}: it begins with {shown}");
    let advice = message!["say what it is: ", OptionName::Format.word("csv"), ", for example"];
    Err(Error::new(ErrorKind::Data, message).in_file(name).advise(advice))
}

/// Returns whether the text begins like an object or an array. A CSV file may do so by accident: `[id],name`.
fn looks_like_json(text: &[u8]) -> bool {
    // A record separator stands in front of each record of a JSON text sequence (RFC 7464).
    let text = text.strip_prefix(b"\x1e").unwrap_or(text).trim_ascii_start();
    let Some((first, rest)) = text.split_first() else { return false };
    let rest = rest.trim_ascii_start();
    match (first, rest.first()) {
        (b'{', next) => matches!(next, None | Some(b'"' | b'}')),
        (b'[', None | Some(b'{' | b'[' | b'"' | b']' | b'-' | b'0'..=b'9')) => true,
        (b'[', _) => [&b"null"[..], b"true", b"false"].iter().any(|word| rest.starts_with(word)),
        _ => false,
    }
}
