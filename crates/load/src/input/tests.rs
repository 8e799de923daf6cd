//! Inputs of all formats, by path, pattern and stream.

use super::*;
use crate::options::InvalidUtf8;
use flate2::write::GzEncoder;
use litepress_rows::hint::Flags;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::Ordering;
use tempfile::TempDir;

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn encoding(label: &str) -> ReadOptions {
    ReadOptions { encoding: Some(label.to_owned()), ..options() }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).unwrap()
}

/// Returns format and text of a file, read whole and in small steps, from a path, a stream and a spooled stream.
fn read(bytes: &[u8], options: &ReadOptions) -> Result<(Format, Vec<u8>)> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, bytes).unwrap();
    let of_path = Input::from_path(&path, options).and_then(|input| text_of(&input, options));
    let stream = || Input::from_stream(Path::new("file"), Box::new(io::Cursor::new(bytes.to_vec())), options);
    let of_stream = stream().and_then(|input| text_of(&input, options));
    let spooled = stream().and_then(|mut input| {
        input.spool(folder.path(), &|| Ok(()))?;
        text_of(&input, options)?;
        assert_eq!(input.bytes, Some(bytes.len() as u64));
        text_of(&input, options)
    });
    let shown =
        |result: &Result<(Format, Vec<u8>)>| result.as_ref().map_err(|error| error.message().to_owned()).cloned();
    assert_eq!(shown(&of_path), shown(&of_stream));
    assert_eq!(shown(&of_path), shown(&spooled));
    of_path
}

fn text_of(input: &Input, options: &ReadOptions) -> Result<(Format, Vec<u8>)> {
    let mut text = Vec::new();
    input.text(options)?.read_to_end(&mut text).map_err(|error| read_failed(&input.name, error))?;
    if input.can_be_read_twice() {
        let mut bits: Vec<u8> = Vec::new();
        let mut reader = input.text(options)?;
        let mut bit = [0; 7];
        while let Ok(read @ 1..) = reader.read(&mut bit) {
            bits.extend(&bit[..read]);
        }
        assert_eq!(bits, text);
    }
    Ok((input.format, text))
}

fn text(bytes: &[u8], options: &ReadOptions) -> String {
    String::from_utf8(read(bytes, options).unwrap_or_else(|error| panic!("{error}")).1).unwrap()
}

fn mistake(bytes: &[u8], options: &ReadOptions) -> String {
    read(bytes, options).unwrap_err().message_in(&Flags)
}

#[test]
fn the_content_says_what_a_file_is() {
    let long: Vec<u8> = (0..100_000).flat_map(|n| format!("{n},{}\n", n * 7919 % 1000).into_bytes()).collect();
    for (bytes, format) in [
        (&b"a,b\n1,2\n"[..], Format::Csv),
        (b"{", Format::Json),
        (b" \n{\"a\": 1}", Format::Json),
        (b"[{\"a\": 1}]", Format::Json),
        (b"[ 1, 2]\n", Format::Json),
        (b"[null]", Format::Json),
        (b"\x1e{\"a\":1}\n", Format::Json),
        (b"[id],name\n", Format::Csv),
        (b"{id},name\n", Format::Csv),
        (b"PAR1,x\n", Format::Csv),
        (b"ORC,x\n", Format::Csv),
        (b"\n", Format::Csv),
        (&long, Format::Csv),
    ] {
        for whole in [bytes.to_vec(), gzip(bytes), zstd(bytes)] {
            assert_eq!(read(&whole, &options()).unwrap(), (format, bytes.to_vec()));
        }
    }
    for (bytes, format) in [
        (&b"PAR1\x15\x04"[..], Format::Parquet),
        (b"ARROW1\0\0\xFF\xFF\xFF\xFF", Format::Arrow),
        (b"\xFF\xFF\xFF\xFF\x78\0\0\0\x10", Format::Arrow),
        (b"SQLite format 3\0\x10\0", Format::Sqlite),
    ] {
        assert_eq!(read(bytes, &options()).unwrap().0, format);
        let within = mistake(&gzip(bytes), &options());
        assert!(within.ends_with("within gzip is not read"), "{within}");
    }
    let csv = ReadOptions { format: Some(Format::Csv), ..options() };
    assert_eq!(read(b"[1,2]\n3,4\n", &csv).unwrap().0, Format::Csv);
    assert_eq!(read(&zstd(b"PAR1\x15"), &csv).unwrap(), (Format::Csv, b"PAR1\x15".to_vec()));
}

#[test]
fn what_is_not_read_is_named() {
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    for (bytes, message) in [
        (&b""[..], "the file is empty"),
        (b"BZh91AY&SY\x01", "this is bzip2, which is not read"),
        (b"\xFD7zXZ\0\0", "this is xz, which is not read"),
        (b"PK\x03\x04\x14\0", "this is a ZIP archive (or an Excel sheet), which is not read"),
        (&tar, "this is a tar archive, which is not read"),
        (&gzip(&tar), "this is a tar archive, which is not read"),
        (&gzip(b""), "there is nothing within the gzip data"),
        (&gzip(&gzip(b"a")), "the file is compressed twice"),
        (b"a\0,\0b\0\n\x001\0", "every other byte is zero: this seems to be utf-16le without a byte-order mark"),
        (b"\0a\0,\0b\0\n\x001", "every other byte is zero: this seems to be utf-16be without a byte-order mark"),
        (b"\xFF\xFE\0\0a\0\0\0", "this is UTF-32, which is not read"),
        (b"\0\0\xFE\xFF\0\0\0a", "this is UTF-32, which is not read"),
    ] {
        assert_eq!(mistake(bytes, &options()), message);
    }
    let advice = Input::from_stream(Path::new("x.bz2"), Box::new(&b"BZh91AY&SY"[..]), &options()).unwrap_err();
    assert_eq!(advice.advice(), Some("pipe it in: bzip2 -dc 'x.bz2' | litepress load ..."));
}

/// A file of Python reprs called `.ndjson`, and a Git LFS pointer called `.parquet`, were loaded as CSV with exit code 0.
#[test]
fn a_name_that_the_content_contradicts_is_an_error() {
    let examine = |name: &str, bytes: &[u8], options: &ReadOptions| {
        let input = Input::from_stream(Path::new(name), Box::new(io::Cursor::new(bytes.to_vec())), options);
        input.map(|input| input.format).map_err(|error| error.message_in(&Flags))
    };
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    for (name, bytes, message) in [
        (
            "x.ndjson",
            &b"{'a': 1}\n"[..],
            "the file is called .ndjson, but its content is not JSON: it begins with '{''a'': 1}'",
        ),
        (
            "x.JSON.gz",
            &gzip(b"// x\n{}"),
            "the file is called .json, but its content is not JSON: it begins with '// x'",
        ),
        ("x.arrow", b"\x10\0\0\0\0\0\x0a\0", "the file is called .arrow, but its content is not Arrow IPC: it begins"),
        ("x.db", b"a,b\n", "the file is called .db, but its content is not an SQLite database: it begins with 'a,b'"),
        ("x.parquet", pointer, "this is a Git LFS pointer, not the file itself"),
        ("x.csv", b" \n<!DOCTYPE HTML>\n", "this is a web page (HTML), not data"),
        ("x", b"%PDF-1.7\n", "this is PDF, which is not read"),
    ] {
        let error = examine(name, bytes, &options()).unwrap_err();
        assert!(error.starts_with(message), "{error}");
        let csv = ReadOptions { format: Some(Format::Csv), ..options() };
        assert_eq!(examine(name, bytes, &csv), Ok(Format::Csv), "{name}");
    }
    for name in ["json", "my.json.csv", "x.csv", ".json", "a.db/x"] {
        assert_eq!(examine(name, b"a,b\n1,2\n", &options()), Ok(Format::Csv), "{name}");
    }
    assert_eq!(examine("x.csv", b"{\"a\":1}\n", &options()), Ok(Format::Json));
}

#[test]
fn several_members_are_one_text() {
    let members = [gzip(b"a,b\n"), gzip(b""), gzip(b"1,2\n")].concat();
    assert_eq!(text(&members, &options()), "a,b\n1,2\n");
    let skipped = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(b"a,b\n"), &zstd(b"1,2\n")].concat();
    assert_eq!(text(&skipped, &options()), "a,b\n1,2\n");
}

#[test]
fn broken_compression_says_how_far_it_went() {
    let rows: Vec<u8> =
        (0..200_000_u64).flat_map(|n| format!("{}\n", n.wrapping_mul(0x9E37_79B9)).into_bytes()).collect();
    let (gz, zst) = (gzip(&rows), zstd(&rows));
    for (whole, name) in [(&gz, "gzip"), (&zst, "zstd")] {
        let cut = whole.len() / 2;
        let truncated = mistake(&whole[..cut], &options());
        let begins = format!("the file is truncated: its {name} data ends in the middle, after {cut} bytes that hold ");
        assert!(truncated.starts_with(&begins), "{truncated}");
        let behind = mistake(&[whole, &b"some garbage that is no frame"[..]].concat(), &options());
        let expected =
            format!("behind {} bytes of text, something follows the {name} data that is not {name}", rows.len());
        assert_eq!(behind, expected);
    }
    let mut damaged = gz.clone();
    let end = damaged.len() - 6;
    damaged[end] ^= 1;
    let message = mistake(&damaged, &options());
    assert!(
        message.starts_with(&format!("the gzip data is damaged behind {} bytes of text: ", rows.len())),
        "{message}"
    );
    let error = read(&gz[..1000], &options()).unwrap_err();
    assert_eq!((error.kind(), error.advice()), (ErrorKind::Data, Some("get the file again")));
}

#[test]
fn every_cut_of_a_compressed_file_is_an_error() {
    let rows = b"a,b\n1,2\n3,4\n";
    for (whole, name) in [(gzip(rows), "gzip"), (zstd(rows), "zstd")] {
        for cut in 4..whole.len() {
            let message = mistake(&whole[..cut], &options());
            assert!(message.starts_with(&format!("the file is truncated: its {name} data")), "{cut}: {message}");
        }
    }
}

#[test]
fn text_comes_out_as_utf8() {
    let utf16 = |text: &str, big: bool| -> Vec<u8> {
        let bytes = |unit: u16| (if big { unit } else { unit.swap_bytes() }).to_be_bytes();
        text.encode_utf16().flat_map(bytes).collect()
    };
    let sample = "näme,€\n😀,x\n";
    let (le, be) = (utf16(sample, false), utf16(sample, true));
    let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
    for (bytes, options) in [
        (sample.as_bytes().to_vec(), options()),
        (marked(b"\xEF\xBB\xBF", sample.as_bytes()), options()),
        (marked(b"\xEF\xBB\xBF", sample.as_bytes()), encoding("utf-8")),
        (marked(b"\xFF\xFE", &le), options()),
        (marked(b"\xFE\xFF", &be), options()),
        (marked(b"\xFF\xFE", &le), encoding("UTF-16")),
        (marked(b"\xFE\xFF", &be), encoding("utf-16")),
        (le.clone(), encoding("utf-16le")),
        (be.clone(), encoding("utf-16be")),
    ] {
        for whole in [bytes.clone(), gzip(&bytes)] {
            assert_eq!(text(&whole, &options), sample);
        }
    }
    assert_eq!(text(b"n\xE4me\n\x80\n", &encoding("latin1")), "näme\n€\n");
    let long: String = (0..200_000).map(|n| ["ä", "€", "😀", "x"][n % 4]).collect();
    assert_eq!(text(&utf16(&long, false), &encoding("utf-16le")), long);
    let json = marked(b"\xFF\xFE", &utf16(" [{\"ä\":1}]", false));
    assert_eq!(read(&json, &options()).unwrap().0, Format::Json);
    // Invalid UTF-8 is left to the parser.
    assert_eq!(read(b"a\xFFb\n", &options()).unwrap().1, b"a\xFFb\n");
    assert!(mistake(b"a\n", &encoding("utf-32")).starts_with("--encoding utf-32: no such encoding"));
}

#[test]
fn what_an_encoding_does_not_know_is_an_error_or_replaced() {
    let replace = |label: &str| ReadOptions { invalid_utf8: InvalidUtf8::Replace, ..encoding(label) };
    let blob = |label: &str| ReadOptions { invalid_utf8: InvalidUtf8::Blob, ..encoding(label) };
    // An unpaired surrogate; half a unit at the end; a byte that is invalid in Shift_JIS.
    for (bytes, label, at, replaced) in [
        (&b"a\0\0\xD8b\0"[..], "utf-16le", 2, "a\u{FFFD}b"),
        (b"a\0b\0c", "utf-16le", 4, "ab\u{FFFD}"),
        (b"\xFE\xFF\0a\xD8\0\0b", "utf-16be", 4, "a\u{FFFD}b"),
        (b"ab\xFFc", "shift_jis", 2, "ab\u{FFFD}c"),
    ] {
        let message = mistake(bytes, &blob(label));
        assert!(message.starts_with(&format!("byte {at} of the text")), "{label}: {message}");
        assert_eq!(text(bytes, &replace(label)), replaced);
        // A reader finds the record of a byte that no UTF-8 has.
        let marked = read(bytes, &encoding(label)).unwrap().1;
        assert_eq!(
            marked,
            replaced
                .replace('\u{FFFD}', "\u{1}")
                .bytes()
                .map(|byte| if byte == 1 { 0xff } else { byte })
                .collect::<Vec<_>>()
        );
    }
    let far = [b"a\0".repeat(100_000), b"\0\xDC".to_vec(), b"b\0".repeat(10)].concat();
    assert!(mistake(&far, &blob("utf-16le")).starts_with("byte 200000 of the text"));
}

/// `cp949`, `latin-1` and `utf-8-sig` were unknown, although their encodings are read.
#[test]
fn encodings_have_the_names_that_python_and_windows_give_them() {
    for (label, bytes, expected) in [
        ("cp949", &b"\xB0\xA1"[..], "가"),
        ("CP932", b"\x82\xA0", "あ"),
        ("latin-1", b"\xE4", "ä"),
        ("iso8859_15", b"\xA4", "€"),
        ("utf-8-sig", b"\xEF\xBB\xBFa", "a"),
        ("utf_16_le", b"a\0b\0", "ab"),
        ("macroman", b"\x8A", "ä"),
        ("mac-roman", b"\x8A", "ä"),
        ("cp1252", b"\x80", "€"),
        ("win1251", b"\xC0", "А"),
        ("koi8_r", b"\xC1", "а"),
    ] {
        assert_eq!(text(bytes, &encoding(label)), expected, "{label}");
    }
    for label in ["cp9999", "latin", "", "utf-7"] {
        assert!(mistake(b"a", &encoding(label)).ends_with("no such encoding"), "{label}");
    }
}

#[test]
fn bytes_are_counted_as_they_are_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.csv.gz");
    let whole = gzip(&b"1,2\n".repeat(10_000));
    std::fs::write(&path, &whole).unwrap();
    let options = options();
    let input = Input::from_path(&path, &options).unwrap();
    assert_eq!((options.bytes_read.load(Ordering::Relaxed), input.bytes), (0, Some(whole.len() as u64)));
    text_of(&input, &ReadOptions::default()).unwrap();
    input.text(&options).unwrap().read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(options.bytes_read.load(Ordering::Relaxed), whole.len() as u64);
}

#[test]
fn arguments_are_files_and_patterns() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["b.csv", "a.csv", "c.txt", "x[1].csv", "x1.csv"] {
        std::fs::write(path(name), "a\n").unwrap();
    }
    std::fs::create_dir(path("d.csv")).unwrap();
    let names = |arguments: &[&str]| -> Result<Vec<String>> {
        let arguments: Vec<PathBuf> = arguments.iter().map(|name| path(name)).collect();
        let inputs = Input::from_arguments(&arguments, &options())?;
        Ok(inputs.iter().map(|input| input.name.file_name().unwrap().to_string_lossy().into_owned()).collect())
    };
    assert_eq!(names(&["c.txt", "?.csv"]).unwrap(), ["c.txt", "a.csv", "b.csv"]);
    assert_eq!(names(&["x[1].csv"]).unwrap(), ["x[1].csv"]);
    assert_eq!(names(&["x[12].csv"]).unwrap(), ["x1.csv"]);
    let message = |arguments: &[&str]| names(arguments).unwrap_err().message_in(&Flags);
    assert_eq!(message(&["*.nothing"]), "no file matches this pattern");
    assert_eq!(message(&["d.csv"]), "this is a folder");
    assert!(message(&["missing.csv"]).starts_with("cannot open: No such file"));
    assert!(message(&["a***.csv"]).starts_with("this is not a pattern of names"));
    let twice = Input::from_arguments(&["-".into(), "-".into()], &options()).unwrap_err();
    assert_eq!(twice.message(), "standard input (-) can be read once only");
    std::fs::set_permissions(path("a.csv"), std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read it regardless of its mode.
    if File::open(path("a.csv")).is_err() {
        assert!(message(&["a.csv"]).starts_with("cannot open: Permission denied"));
    }
}

#[test]
fn streams_are_read_once_unless_they_are_spooled() {
    let stream = || Input::from_stream(Path::new("<test>"), Box::new(&b"a\n1\n"[..]), &options()).unwrap();
    let input = stream();
    assert!(!input.can_be_read_twice() && input.table_name().is_none() && input.file().is_err());
    text_of(&input, &options()).unwrap();
    assert_eq!(
        input.text(&options()).err().map(|error| error.message().to_owned()).as_deref(),
        Some("this cannot be read twice")
    );
    let mut input = stream();
    let folder = TempDir::new().unwrap();
    input.spool(folder.path(), &|| Ok(())).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the copy has no name");
    let (mut one, mut other) = (input.file().unwrap(), input.file().unwrap());
    let (mut first, mut second) = (String::new(), String::new());
    one.read_to_string(&mut first).unwrap();
    other.read_to_string(&mut second).unwrap();
    assert_eq!([first, second], ["a\n1\n", "a\n1\n"]);
    let stop = || Err(Error::new(ErrorKind::Interrupted, "stopped"));
    assert_eq!(stream().spool(folder.path(), &stop).unwrap_err().kind(), ErrorKind::Interrupted);
    assert!(stream().spool(Path::new("/nowhere"), &|| Ok(())).is_err());
}

#[test]
fn tables_are_named_after_files() {
    let folder = TempDir::new().unwrap();
    for (file, table) in [
        ("user.csv", "user"),
        ("user.CSV.gz", "user"),
        ("my table.2024.ndjson.zst", "my table.2024"),
        ("v1.5", "v1.5"),
        (".csv", ".csv"),
        ("plain", "plain"),
        ("csv.parquet", "csv"),
    ] {
        let path = folder.path().join(file);
        std::fs::write(&path, "a\n").unwrap();
        let csv = ReadOptions { format: Some(Format::Csv), ..options() };
        assert_eq!(Input::from_path(&path, &csv).unwrap().table_name().as_deref(), Some(table));
    }
}
