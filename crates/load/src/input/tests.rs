//! Inputs of all formats, by path, pattern and stream.

use super::*;
use crate::options::InvalidUtf8;
use flate2::write::GzEncoder;
use litepress_rows::message::Flags;
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

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn xz(text: &[u8]) -> Vec<u8> {
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn lz4(text: &[u8]) -> Vec<u8> {
    let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
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

/// Returns line and character of the error.
fn place(bytes: &[u8], options: &ReadOptions) -> (u64, u64) {
    let error = read(bytes, options).unwrap_err();
    (error.place().line.unwrap(), error.place().character.unwrap())
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
        for whole in [bytes.to_vec(), gzip(bytes), zstd(bytes), bzip2(bytes), xz(bytes), lz4(bytes)] {
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
        let within = Input::from_stream(Path::new("x"), Box::new(io::Cursor::new(gzip(bytes))), &options());
        match within {
            Ok(input) => assert!(input.format == format && format != Format::Sqlite),
            Err(error) => assert_eq!(error.message(), "an SQLite database within gzip is not read"),
        }
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
        (
            b"PK\x03\x04\x14\0",
            "this is a ZIP archive or a spreadsheet from a pipe or within another file, which is not read",
        ),
        (b"LZIP\x01", "this is lzip, which is not read"),
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
    let advice = Input::from_stream(Path::new("x.lz"), Box::new(&b"LZIP\x01"[..]), &options()).unwrap_err();
    assert_eq!(advice.advice(), Some("pipe it in: lzip -dc 'x.lz' | litepress load ..."));
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
    for compress in [bzip2, xz, lz4] {
        assert_eq!(text(&[compress(b"a,b\n"), compress(b"1,2\n")].concat(), &options()), "a,b\n1,2\n");
    }
    let skipped = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(b"a,b\n"), &zstd(b"1,2\n")].concat();
    assert_eq!(text(&skipped, &options()), "a,b\n1,2\n");
}

#[test]
fn broken_compression_says_how_far_it_went() {
    let rows: Vec<u8> =
        (0..200_000_u64).flat_map(|n| format!("{}\n", n.wrapping_mul(0x9E37_79B9)).into_bytes()).collect();
    let gz = gzip(&rows);
    for (whole, name) in
        [(&gz, "gzip"), (&zstd(&rows), "zstd"), (&bzip2(&rows), "bzip2"), (&xz(&rows), "xz"), (&lz4(&rows), "lz4")]
    {
        let cut = whole.len() / 2;
        let truncated = mistake(&whole[..cut], &options());
        let begins = format!("the file is truncated: its {name} data ends in the middle, after {cut} bytes that hold ");
        assert!(truncated.starts_with(&begins), "{truncated}");
        let behind = [whole, &b"some garbage that is no frame"[..]].concat();
        if name == "gzip" {
            assert!(read(&behind, &options()).unwrap().1 == rows);
            continue;
        }
        let expected =
            format!("behind {} bytes of text, something follows the {name} data that is not {name}", rows.len());
        assert_eq!(mistake(&behind, &options()), expected);
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
    for (whole, name) in
        [(gzip(rows), "gzip"), (zstd(rows), "zstd"), (bzip2(rows), "bzip2"), (xz(rows), "xz"), (lz4(rows), "lz4")]
    {
        for cut in 10..whole.len() {
            let message = mistake(&whole[..cut], &options());
            assert!(message.starts_with(&format!("the file is truncated: its {name} data")), "{cut}: {message}");
        }
    }
}

/// `gzip -dc` ignores zero bytes behind the last member, and says that it ignores others. A file with a few bytes there was called
/// truncated, though it was whole.
#[test]
fn bytes_behind_gzip_data_are_ignored_as_gzip_does() {
    let whole = [gzip(b"a,b\n"), gzip(b"1,2\n")].concat();
    for (behind, note) in [
        (&b"\0"[..], None),
        (&[0; 700_000], None),
        (b"x", Some(1)),
        (b"\0\0x", Some(3)),
        (b"\x1fx", Some(2)),
        (b"garbage of some length", Some(22)),
    ] {
        let options = options();
        assert_eq!(text(&[&whole, behind].concat(), &options), "a,b\n1,2\n");
        let notes = options.notes.all();
        assert_eq!(notes.is_empty(), note.is_none(), "{notes:?}");
        if let Some(bytes) = note {
            assert!(
                notes[0].ends_with(&format!("file: {bytes} bytes behind the gzip data are ignored, as gzip does")),
                "{notes:?}"
            );
        }
    }
    let cut = mistake(&[&whole[..], b"\x1f"].concat(), &options());
    assert!(cut.starts_with("the file is truncated: its gzip data ends in the middle"), "{cut}");
}

/// `zstd --long=31` writes windows of 2 GiB. Such a file was called damaged.
#[test]
fn large_windows_of_zstd_are_read() {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(30).unwrap();
    encoder.write_all(b"a,b\n1,2\n").unwrap();
    // The end of a block comes before the size of the content is known, so that the window is written.
    encoder.flush().unwrap();
    encoder.write_all(b"3,4\n").unwrap();
    let whole = encoder.finish().unwrap();
    assert_eq!(whole[4] & 0x20, 0, "the frame has a window");
    assert_eq!(text(&whole, &options()), "a,b\n1,2\n3,4\n");
}

fn zip_of(path: &Path, members: &[(&str, &[u8])]) {
    let mut archive = zip::ZipWriter::new(File::create(path).unwrap());
    for (index, (name, content)) in members.iter().enumerate() {
        let method = [zip::CompressionMethod::DEFLATE, zip::CompressionMethod::STORE][index % 2];
        archive.start_file(*name, zip::write::SimpleFileOptions::default().compression_method(method)).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap();
}

#[test]
fn members_of_archives_are_files() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("all.zip");
    let inner = gzip(b"{\"a\":1}\n");
    zip_of(
        &path,
        &[
            ("z/one.csv", b"a\n1\n"),
            ("b.ndjson.gz", &inner),
            ("read.me", b"x"),
            (".x.csv", b"x"),
            ("__MACOSX/z.csv", b"x"),
        ],
    );
    let options = options();
    let inputs = Input::all_of(&path, &options).unwrap();
    let told: Vec<_> = inputs
        .iter()
        .map(|input| (input.table_name().unwrap(), input.format, text_of(input, &options).unwrap().1))
        .collect();
    let expected =
        [("b".to_owned(), Format::Json, b"{\"a\":1}\n".to_vec()), ("one".to_owned(), Format::Csv, b"a\n1\n".to_vec())];
    assert_eq!(told, expected);
    assert_eq!(inputs[1].name, path.join("z/one.csv"));
    assert_eq!(inputs[1].outer_path(), Some(path.as_path()));
    let notes = options.notes.all();
    assert!(notes[0].ends_with("all.zip: left out, since they are folders or of no known kind: read.me"), "{notes:?}");
    // A single member is taken whatever its name is.
    zip_of(&path, &[("data", b"a\n1\n")]);
    assert_eq!(Input::all_of(&path, &options).unwrap()[0].table_name().as_deref(), Some("data"));
    zip_of(&path, &[("a", b"a"), ("b", b"b")]);
    let error = Input::all_of(&path, &options).unwrap_err();
    assert_eq!(error.message(), "the archive has no file of a known kind, only a, b");
    zip_of(&path, &[]);
    assert_eq!(Input::all_of(&path, &options).unwrap_err().message(), "the archive has no file");
}

#[test]
fn a_damaged_archive_is_told() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("all.zip");
    let rows: Vec<u8> = (0..20_000).flat_map(|row| format!("{row}\n").into_bytes()).collect();
    zip_of(&path, &[("one.csv", &rows), ("two.csv", &rows)]);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let error = Input::all_of(&path, &options()).unwrap_err();
    assert!(error.message().starts_with("the ZIP archive is damaged: "), "{error}");
    // A changed byte of the stored member, far behind its beginning.
    let mut changed = whole.clone();
    let at = whole.len() - 5_000;
    changed[at] ^= 1;
    std::fs::write(&path, &changed).unwrap();
    let inputs = Input::all_of(&path, &options()).unwrap();
    let error = text_of(&inputs[1], &options()).unwrap_err();
    assert_eq!(error.message(), "the ZIP archive is damaged: the checksum of this member differs");
    assert!(error.to_string().contains("two.csv"), "{error}");
    let mut encrypted = whole.clone();
    for header in [b"PK\x03\x04", b"PK\x01\x02"] {
        let flags = if header[2] == 3 { 6 } else { 8 };
        for at in memchr::memmem::find_iter(&whole, header) {
            encrypted[at + flags] |= 1;
        }
    }
    std::fs::write(&path, &encrypted).unwrap();
    let error = Input::all_of(&path, &options()).unwrap_err();
    assert_eq!(error.message(), "this member of the archive is encrypted");
}

#[test]
fn a_folder_stands_for_its_files() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["b.csv", "a.tsv", ".hidden.csv", "notes.md"] {
        std::fs::write(path(name), "a\n1\n").unwrap();
    }
    std::fs::create_dir(path("deep.csv")).unwrap();
    zip_of(&path("c.zip"), &[("d.csv", b"a\n1\n")]);
    let options = options();
    let names = |inputs: Vec<Input>| inputs.into_iter().map(|input| input.table_name().unwrap()).collect::<Vec<_>>();
    assert_eq!(names(Input::all_of(folder.path(), &options).unwrap()), ["a", "b", "d"]);
    let notes = options.notes.all();
    assert!(
        notes[0].ends_with(": left out, since they are folders or of no known kind: deep.csv, notes.md"),
        "{notes:?}"
    );
    let error = Input::all_of(&path("deep.csv"), &options).unwrap_err();
    assert_eq!(error.message(), "the folder has no file");
}

/// Parquet in gzip was refused: readers of binary formats seek.
#[test]
fn binary_files_are_unpacked_first() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x.parquet.gz");
    std::fs::write(&path, gzip(b"PAR1\x15 and so on")).unwrap();
    let mut input = Input::from_path(&path, &options()).unwrap();
    assert_eq!(input.format, Format::Parquet);
    input.unpack(folder.path(), &options(), &|| Ok(())).unwrap();
    let mut content = Vec::new();
    input.file().unwrap().read_to_end(&mut content).unwrap();
    assert_eq!((content.as_slice(), input.table_name().as_deref()), (&b"PAR1\x15 and so on"[..], Some("x")));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the copy has no name");
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
    for (bytes, label, character, replaced) in [
        (&b"a\0\0\xD8b\0"[..], "utf-16le", 2, "a\u{FFFD}b"),
        (b"a\0b\0c", "utf-16le", 3, "ab\u{FFFD}"),
        (b"\xFE\xFF\0a\xD8\0\0b", "utf-16be", 2, "a\u{FFFD}b"),
        (b"ab\xFFc", "shift_jis", 3, "ab\u{FFFD}c"),
    ] {
        let message = mistake(bytes, &blob(label));
        assert!(message.to_lowercase().starts_with(&format!("the text is not {label} here")), "{label}: {message}");
        assert_eq!(place(bytes, &blob(label)), (1, character), "{label}");
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
    assert_eq!(place(&far, &blob("utf-16le")), (1, 100_001));
}

/// `--invalid-utf8 blob` beside `--encoding gbk` failed with the number of a byte, and did not say why it kept nothing.
#[test]
fn blobs_are_for_invalid_bytes_of_utf8() {
    let lines = [b"\xC4\xE3\n".repeat(100_000), b"a\xC4\xE3\xFF\n".to_vec()].concat();
    let options = ReadOptions { invalid_utf8: InvalidUtf8::Blob, ..encoding("gbk") };
    assert_eq!(place(&lines, &options), (100_001, 3));
    let error = read(&lines, &options).unwrap_err();
    assert_eq!(
        error.message_in(&Flags),
        "the text is not GBK here, and --invalid-utf8 blob keeps the bytes of files in UTF-8 only"
    );
    let advice =
        "name the right encoding with --encoding, or store U+FFFD in place of such bytes with --invalid-utf8 replace";
    assert_eq!(error.advice_in(&Flags).unwrap(), advice);
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
    assert_eq!(message(&["d.csv"]), "the folder has no file");
    assert!(message(&["missing.csv"]).starts_with("cannot open: No such file"));
    // A URL was told to be a name with spaces.
    let url = Input::from_arguments(&["https://example.org/x.csv".into()], &options()).unwrap_err();
    assert!(url.advice().unwrap().starts_with("this is a URL"), "{url}");
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
