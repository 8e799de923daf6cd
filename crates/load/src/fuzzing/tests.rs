//! A bounded, reproducible run of every fuzz entry over mutations of small files.

use super::*;
use ::flatgeobuf::{ColumnType, FgbWriter, FgbWriterOptions, GeometryType};
use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use geozero::geojson::GeoJson;
use geozero::{ColumnValue, PropertyProcessor};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Maximum size in bytes of a file of the shared data that serves as a seed.
const MOST_SEED_BYTES: u64 = 2 << 10;

/// A reproducible generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end as u64).max(1)).expect("it is below a usize")
    }

    fn range(&mut self, len: usize, most: usize) -> std::ops::Range<usize> {
        let start = self.below(len + 1);
        start..(start + self.below(most)).min(len)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[3]
    }
}

/// Bytes that are special to a reader.
const TELLING: &[u8] = b"\"',;\t\n\r\\{}[]:0 \0\xff\x80\xc3\xed";

fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(4) {
        mutate(&mut bytes, seeds, random);
    }
    bytes
}

fn mutate(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => {
            let range = random.range(bytes.len(), 64);
            let chunk = bytes[range.clone()].to_vec();
            bytes.splice(range.end..range.end, chunk);
        }
        2 => drop(bytes.drain(random.range(bytes.len(), 64))),
        3 => {
            let other = &seeds[random.below(seeds.len())];
            let chunk = other[random.range(other.len(), 256)].to_vec();
            let range = random.range(bytes.len(), 64);
            bytes.splice(range, chunk);
        }
        4 | 5 if !bytes.is_empty() => bytes[at] = TELLING[random.below(TELLING.len())],
        6 => bytes.insert(at, TELLING[random.below(TELLING.len())]),
        _ if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        _ => {}
    }
}

/// Runs an entry over mutations. If it panics, prints the input.
/// Runs an entry over mutations of files, each behind so many option bytes.
fn run<const OPTIONS: usize>(entry: fn(&[u8]), seeds: &[Vec<u8>], times: usize) {
    // LITEPRESS_FUZZ=100 runs a hundred times as many mutations, and different ones.
    let more: usize = std::env::var("LITEPRESS_FUZZ").ok().and_then(|more| more.parse().ok()).unwrap_or(1);
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (more as u64 - 1));
    let over = |options: [u8; OPTIONS], file: &[u8]| {
        let input = [&options[..], file].concat();
        if let Err(panic) = std::panic::catch_unwind(|| entry(&input)) {
            eprintln!("the input: b\"{}\"", input.escape_ascii());
            std::panic::resume_unwind(panic);
        }
    };
    for seed in seeds {
        for choice in (0..=255).step_by(64) {
            let mut options = [3; OPTIONS];
            options.iter_mut().take(1).for_each(|first| *first = choice);
            over(options, seed);
        }
    }
    for _ in 0..times * more {
        let file = mutated(seeds, &mut random);
        let options = [(); OPTIONS].map(|()| random.byte());
        over(options, &file);
    }
}

fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Returns small files of the shared data, if it is present.
fn shared(folder: &str) -> Vec<Vec<u8>> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("LITEPRESS_SHARED_DATA").map_or_else(beside, PathBuf::from).join(folder);
    let Ok(entries) = std::fs::read_dir(data) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let is_small = |path: &PathBuf| path.metadata().is_ok_and(|kind| kind.is_file() && kind.len() <= MOST_SEED_BYTES);
    paths.into_iter().filter(is_small).map(|path| std::fs::read(path).unwrap()).collect()
}

fn csv_seeds() -> Vec<Vec<u8>> {
    let mut all = seeds(&[
        "a,b,c\n1,2,3\n",
        "a,b\r\n\"x,\"\"y\"\"\",\"two\nlines\"\r\n\r\n3,\u{e9}\u{1f600}",
        "a;b\n\"\";\n;\"\"\n#c\n1;2;3\n4\n",
        "one\n\n\nx\n\"\n\"\n",
        "a\tb\n\"q\\\"q\"\t'x'\n1\"2\t\"3\"4\n",
    ]);
    all.extend(shared("csv-spectrum/csvs"));
    all
}

fn json_seeds() -> Vec<Vec<u8>> {
    let mut all = seeds(&[
        "{\"a\":1,\"b\":\"x\"}\n{\"a\":-0.5e3,\"id\":12}\n",
        "[{\"a\":\"\\u00e9\\ud83d\\ude00\"},\n {\"b\":[1,{\"c\":null}]}]",
        "  \n{\"a\":true,\"a\":2}\r\n{\"id\":99999999999999999999}\n[1,2]\n",
        "{\"b\":\"a text that is longer than a word or two, with \\\"quotes\\\" \u{fffd}\",\"id\":null}",
    ]);
    all.extend(shared("json-test-suite/test_parsing"));
    all
}

fn batch() -> RecordBatch {
    let mut lists = ListBuilder::new(Int32Builder::new());
    (0..20).for_each(|row| lists.append_value((0..row % 4).map(Some)));
    let texts: Vec<Option<String>> = (0..20).map(|row| (row % 5 != 0).then(|| format!("text \u{e9} {row}"))).collect();
    let words: DictionaryArray<arrow_array::types::Int32Type> =
        (0..20).map(|row| Some(["yes", "no"][row % 2])).collect();
    let columns: [(&str, ArrayRef); 5] = [
        ("i", Arc::new(Int64Array::from_iter_values(0..20))),
        ("t", Arc::new(StringArray::from(texts))),
        ("d", Arc::new(words)),
        ("f", Arc::new(Float64Array::from_iter_values((0..20).map(|row| f64::from(row) / 3.0)))),
        ("l", Arc::new(lists.finish())),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn parquet_seeds() -> Vec<Vec<u8>> {
    let file = |compression, has_dictionaries| {
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_dictionary_enabled(has_dictionaries)
            .set_max_row_group_row_count(Some(8))
            .build();
        let mut file = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut file, batch().schema(), Some(properties)).unwrap();
        writer.write(&batch()).unwrap();
        writer.close().unwrap();
        file
    };
    let mut all = vec![file(Compression::UNCOMPRESSED, true), file(Compression::SNAPPY, false)];
    all.extend(shared("parquet-testing/data"));
    all
}

fn ipc_seeds() -> Vec<Vec<u8>> {
    let codecs = [None, Some(arrow_ipc::CompressionType::LZ4_FRAME), Some(arrow_ipc::CompressionType::ZSTD)];
    let options = codecs.map(|codec| IpcWriteOptions::default().try_with_compression(codec).unwrap());
    let files = options.into_iter().flat_map(|options| {
        let (mut file, mut stream) = (Vec::new(), Vec::new());
        let mut writer = FileWriter::try_new_with_options(&mut file, &batch().schema(), options.clone()).unwrap();
        writer.write(&batch()).and_then(|()| writer.finish()).unwrap();
        let mut writer = StreamWriter::try_new_with_options(&mut stream, &batch().schema(), options).unwrap();
        writer.write(&batch()).and_then(|()| writer.finish()).unwrap();
        [file, stream]
    });
    files.collect()
}

fn flatgeobuf_seeds() -> Vec<Vec<u8>> {
    let shapes = [
        r#"{"type": "Polygon", "coordinates": [[[0,0],[4,0],[4,3],[0,0]], [[1,1],[2,1],[2,2],[1,1]]]}"#,
        r#"{"type": "MultiPolygon", "coordinates": [[[[0,0],[4,0],[4,3],[0,0]]], [[[9,9],[8,8],[9,8],[9,9]]]]}"#,
        r#"{"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": [9, 9, 7]}]}"#,
    ];
    let made = |write_index| {
        let options = FgbWriterOptions {
            write_index,
            detect_type: false,
            promote_to_multi: false,
            ..FgbWriterOptions::default()
        };
        let mut writer = FgbWriter::create_with_options("made", GeometryType::Unknown, options).unwrap();
        writer.add_column("name", ColumnType::String, |_, _| {});
        writer.add_column("number", ColumnType::Short, |_, _| {});
        for shape in shapes {
            let added = writer.add_feature_geom(GeoJson(shape), |feature| {
                feature.property(0, "", &ColumnValue::String("a name")).unwrap();
                feature.property(1, "", &ColumnValue::Short(-9)).unwrap();
            });
            added.unwrap();
        }
        let mut bytes = Vec::new();
        writer.write(&mut bytes).unwrap();
        bytes
    };
    vec![made(false), made(true)]
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn encoded_seeds() -> Vec<Vec<u8>> {
    let text = "name,price\n\u{e9}t\u{e9},12.50\n\u{65e5}\u{672c},\u{1f600}\n".repeat(20);
    let utf16: Vec<u8> = text.encode_utf16().flat_map(|unit| [unit.to_be_bytes()[1], unit.to_be_bytes()[0]]).collect();
    let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
    let members = [gzip(text.as_bytes()), gzip(b"more")].concat();
    vec![text.clone().into_bytes(), [b"\xff\xfe".to_vec(), utf16.clone()].concat(), gzip(&utf16), zstd, members]
}

fn sqlite_seeds() -> Vec<Vec<u8>> {
    let database = |setup: &str| {
        let mut connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch(setup).unwrap();
        connection.serialize("main").unwrap().to_vec()
    };
    vec![
        database(
            "PRAGMA page_size=512; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c BLOB); CREATE INDEX i ON t(b);
                  WITH RECURSIVE numbers(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers LIMIT 200)
                  INSERT INTO t SELECT value, 'text ' || value, zeroblob(value) FROM numbers;",
        ),
        database(
            "PRAGMA page_size=512; CREATE TABLE k(a, b, PRIMARY KEY(a, b)) WITHOUT ROWID;
                  CREATE TABLE g(a, b AS (a + 1)); INSERT INTO g VALUES(1.5), (x'ff'), (CAST(x'ff' AS TEXT));
                  INSERT INTO k VALUES(1, zeroblob(2000)), ('x', '');",
        ),
    ]
}

#[test]
fn csv_is_the_same_in_pieces() {
    run::<2>(csv_split, &csv_seeds(), 60_000);
}

#[test]
fn json_is_the_same_in_pieces_and_what_serde_says() {
    run::<2>(json, &json_seeds(), 60_000);
}

#[test]
fn parquet_does_no_harm() {
    run::<2>(parquet, &parquet_seeds(), 2000);
}

#[test]
fn arrow_ipc_does_no_harm() {
    run::<2>(arrow_ipc, &ipc_seeds(), 3000);
}

#[test]
fn flatgeobuf_does_no_harm() {
    run::<2>(flatgeobuf, &flatgeobuf_seeds(), 3000);
}

#[test]
fn encoded_text_is_the_same_in_steps() {
    run::<2>(encoded, &encoded_seeds(), 30_000);
}

#[test]
fn sqlite_does_no_harm() {
    // They stood behind two bytes, and no database was ever read.
    run::<1>(sqlite, &sqlite_seeds(), 3000);
}

#[test]
fn workbooks_do_no_harm() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/workbook");
    let seeds = std::fs::read_dir(seeds).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
    let mut seeds: Vec<Vec<u8>> = seeds.collect();
    seeds.sort();
    let rows: Vec<usize> = seeds.iter().map(|seed| super::workbook::rows(seed).unwrap()).collect();
    assert_eq!(rows, [4, 5, 2, 1], "of .xls, .ods, .xlsx, .xlsb");
    run::<0>(workbook, &seeds, 2000);
}

/// Inputs that `make fuzz HOURS=n` found: `fuzz/found/TARGET`, each with its story for a name.
#[test]
fn what_fuzzing_found_does_no_harm() {
    type Entry = fn(&[u8]);
    let entries: [(&str, Entry); 8] = [
        ("csv_split", csv_split),
        ("json", json),
        ("parquet", parquet),
        ("arrow_ipc", arrow_ipc),
        ("flatgeobuf", flatgeobuf),
        ("encoded", encoded),
        ("sqlite", sqlite),
        ("workbook", workbook),
    ];
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/found");
    for (target, entry) in entries {
        // Most targets have found nothing.
        let Ok(files) = std::fs::read_dir(found.join(target)) else { continue };
        files.for_each(|file| entry(&std::fs::read(file.unwrap().path()).unwrap()));
    }
    assert!(found.join("parquet").is_dir(), "the folder is there");
}
