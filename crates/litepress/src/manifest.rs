//! The manifest of a folder of shards, as `litepress.shards` writes it: docs/clusters.md describes it.

use crate::{Error, ErrorKind, Result};
use litepress_rows::cells::OwnedValue;
use litepress_rows::escaped;
use serde_json::Value as Json;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Name of the manifest in its folder.
pub(crate) const NAME: &str = "_manifest.json";
/// Longest manifest: millions of shards have fewer bytes.
const MOST_BYTES: u64 = 1 << 30;
const FORMAT: &str = "litepress.shards";
const VERSION: u64 = 1;
/// Hexadecimal digits of the name of a job.
const JOB_DIGITS: usize = 32;

/// The values of a primary key.
pub(crate) type Key = Vec<OwnedValue>;

/// A manifest.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub table: String,
    /// The CREATE statements of each shard.
    pub schema: Vec<String>,
    pub primary_key: Vec<String>,
    /// Keys of a shard lie above those of the shard before it.
    pub is_by_range: bool,
    /// The column whose values have a shard each.
    pub column: Option<String>,
    /// Rows and bytes of all shards.
    pub rows: u64,
    pub bytes: u64,
    pub shards: Vec<Shard>,
}

/// What a manifest says of one database.
#[derive(Clone, Debug)]
pub(crate) struct Shard {
    /// Its file, below the folder.
    pub file: String,
    pub rows: u64,
    pub bytes: u64,
    /// `crc32:` and eight hexadecimal digits; `None` if an object store made the file of parts.
    pub checksum: Option<String>,
    pub smallest: Option<Key>,
    pub largest: Option<Key>,
    /// The value of the column in all rows, if there is a database for each.
    pub value: Option<OwnedValue>,
}

impl Manifest {
    /// Reads the manifest of a folder. `None` if there is none.
    ///
    /// # Errors
    /// A file that cannot be read, is no manifest, or has another version.
    pub fn of(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(NAME);
        // A folder of strangers may have a link to a device there.
        let is_file = fs::metadata(&path).map(|metadata| metadata.is_file() && metadata.len() <= MOST_BYTES);
        match is_file {
            Ok(true) => {}
            Ok(false) => {
                let message = "this is no file of at most 1 GiB, as a manifest of shards is";
                return Err(Error::new(ErrorKind::Data, message).in_file(&path));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &path, error)),
        }
        let text = fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
        let wrong = |why: String| {
            let error = Error::new(ErrorKind::Data, format!("this is no manifest of shards: {why}")).in_file(&path);
            error.advise("write the shards again")
        };
        let json: Json = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        if json["format"] != FORMAT {
            return Err(wrong(format!("\"format\" is {}, not \"{FORMAT}\"", json["format"])));
        }
        if json["version"] != VERSION {
            let message =
                format!("the manifest has version {}, and this is a reader of version {VERSION}", json["version"]);
            let error = Error::new(ErrorKind::Unsupported, message).in_file(&path);
            return Err(error.advise("use the version of litepress that wrote it, or a later one"));
        }
        Self::read(&json).map(Some).map_err(|name| wrong(format!("{name} is absent or of another kind")))
    }

    /// Reads the fields. An error names one.
    fn read(json: &Json) -> Result<Self, String> {
        let shards = json["shards"].as_array().ok_or("\"shards\"")?;
        Ok(Self {
            table: text(json, "table")?,
            schema: texts(json, "schema")?,
            primary_key: texts(json, "primary_key")?,
            is_by_range: text(json, "partitioning")? == "range",
            column: json["column"].as_str().map(str::to_owned),
            rows: number(json, "rows")?,
            bytes: number(json, "bytes")?,
            shards: shards.iter().map(Shard::read).collect::<Result<_, _>>()?,
        })
    }
}

impl Shard {
    /// Returns where the file is.
    ///
    /// # Errors
    /// If the name leads out of the folder.
    pub fn path_in(&self, folder: &Path) -> Result<PathBuf> {
        let is_below = Path::new(&self.file).components().all(|part| matches!(part, Component::Normal(_)));
        if is_below && !self.file.is_empty() {
            return Ok(folder.join(&self.file));
        }
        let error = Error::new(ErrorKind::Data, format!("the name leads out of the folder: {}", escaped(&self.file)));
        Err(error.in_file(folder.join(NAME)).advise("write the shards again"))
    }

    fn read(json: &Json) -> Result<Self, String> {
        let key = |name: &str| match &json[name] {
            Json::Null => Ok(None),
            Json::Array(values) => {
                let values: Option<Key> = values.iter().map(value).collect();
                values.map(Some).ok_or_else(|| format!("\"{name}\""))
            }
            _ => Err(format!("\"{name}\"")),
        };
        Ok(Self {
            file: text(json, "file")?,
            rows: number(json, "rows")?,
            bytes: number(json, "bytes")?,
            checksum: if json["checksum"].is_null() { None } else { Some(text(json, "checksum")?) },
            smallest: key("smallest")?,
            largest: key("largest")?,
            value: json.get("value").map(|found| value(found).ok_or("\"value\"")).transpose()?,
        })
    }
}

/// Returns whether jobs name their files so, below the folder: `v-JOB/NAME`, `_manifest.json.JOB`.
pub(crate) fn is_of_a_job(file: &str) -> bool {
    let is_job =
        |job: &str| job.len() == JOB_DIGITS && job.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let generation = file.strip_prefix("v-").and_then(|rest| rest.split_once('/'));
    let unpublished = file.strip_prefix(NAME).and_then(|rest| rest.strip_prefix('.'));
    generation.is_some_and(|(job, name)| is_job(job) && !name.contains('/')) || unpublished.is_some_and(is_job)
}

fn text(json: &Json, name: &str) -> Result<String, String> {
    json[name].as_str().map(str::to_owned).ok_or_else(|| format!("\"{name}\""))
}

fn texts(json: &Json, name: &str) -> Result<Vec<String>, String> {
    let found = json[name].as_array().map(|texts| texts.iter().map(|text| text.as_str().map(str::to_owned)).collect());
    found.flatten().ok_or_else(|| format!("\"{name}\""))
}

fn number(json: &Json, name: &str) -> Result<u64, String> {
    json[name].as_u64().ok_or_else(|| format!("\"{name}\""))
}

/// Reads a value of SQLite. Blobs and infinities are objects: `{"blob": "00ff"}`, `{"real": "-Inf"}`.
fn value(json: &Json) -> Option<OwnedValue> {
    Some(match json {
        Json::Null => OwnedValue::Null,
        Json::Number(number) => match number.as_i64() {
            Some(int) => OwnedValue::Int(int),
            None => OwnedValue::Real(number.as_f64()?),
        },
        Json::String(text) => OwnedValue::Text(text.clone()),
        Json::Object(object) => match (object.get("blob"), object.get("real")) {
            (Some(digits), _) => OwnedValue::Blob(blob(digits.as_str()?)?),
            (None, Some(real)) if real == "Inf" => OwnedValue::Real(f64::INFINITY),
            (None, Some(real)) if real == "-Inf" => OwnedValue::Real(f64::NEG_INFINITY),
            _ => return None,
        },
        Json::Bool(_) | Json::Array(_) => return None,
    })
}

fn blob(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_of_jobs_are_known() {
        let job = "0123456789abcdef".repeat(2);
        for (file, expected) in [
            (format!("v-{job}/part-00003-0a1b2c3d4e5f.db"), true),
            (format!("v-{job}/a/b.db"), false),
            (format!("v-{}/a.db", &job[1..]), false),
            (format!("{NAME}.{job}"), true),
            (NAME.to_owned(), false),
            ("notes.txt".to_owned(), false),
        ] {
            assert_eq!(is_of_a_job(&file), expected, "{file}");
        }
    }

    /// A bound that came back as the double beside it was a fault of `check`.
    #[test]
    fn doubles_come_back_as_they_were_written() {
        for real in [123_456_789.123_456_79, 13.377_704_123_456_79, 5e-324, f64::MAX] {
            let json: Json = serde_json::from_str(&json!([real]).to_string()).unwrap();
            assert_eq!(value(&json[0]), Some(OwnedValue::Real(real)));
        }
    }

    #[test]
    fn values_are_read() {
        for (read, expected) in [
            (json!(null), Some(OwnedValue::Null)),
            (json!(-5), Some(OwnedValue::Int(-5))),
            (json!(5.0), Some(OwnedValue::Real(5.0))),
            (json!("x"), Some(OwnedValue::Text("x".to_owned()))),
            (json!({"blob": "00ff"}), Some(OwnedValue::Blob(vec![0, 255]))),
            (json!({"real": "-Inf"}), Some(OwnedValue::Real(f64::NEG_INFINITY))),
            (json!({"blob": "0f0"}), None),
            (json!(true), None),
        ] {
            assert_eq!(value(&read), expected, "{read}");
        }
    }
}
