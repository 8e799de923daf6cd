//! The place of a database: what the option `uri` says.

use crate::error::{Result, failed, not_implemented};
use adbc_core::error::Status;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// The place of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A file, which may not exist yet.
    File { path: PathBuf, access: Access },
    /// A database in memory: a URI of SQLite that all connections of the driver's database share.
    Memory(String),
}

/// The right to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The file is made if it does not exist.
    Create,
    /// The file must exist.
    Write,
    /// The file is only read.
    Read,
}

impl Location {
    /// Reads a path, `:memory:`, or a URI: `litepress:///x.db`, `sqlite:///x.db`, `file:x.db?mode=ro`. As in SQLAlchemy and
    /// polars, the path begins behind three slashes: a fourth one makes it absolute.
    pub fn parse(uri: &str) -> Result<Self> {
        let is_scheme = |scheme: &str| uri.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        if let Some(scheme) = ["litepress:", "sqlite:"].into_iter().find(|scheme| is_scheme(scheme)) {
            let rest = &uri[scheme.len()..];
            let rest = ["///", "//"].into_iter().find_map(|slashes| rest.strip_prefix(slashes)).unwrap_or(rest);
            return if rest.starts_with("file:") { Self::of_uri(rest) } else { Ok(Self::of_path(rest)) };
        }
        if is_scheme("file:") { Self::of_uri(uri) } else { Ok(Self::of_path(uri)) }
    }

    /// Returns a database in memory that no other has.
    pub fn memory() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self::Memory(format!("file:litepress-{number}?mode=memory&cache=shared"))
    }

    fn of_path(path: &str) -> Self {
        match path {
            "" | ":memory:" => Self::memory(),
            path => Self::File { path: path.into(), access: Access::Create },
        }
    }

    /// Reads a URI as SQLite does.
    fn of_uri(uri: &str) -> Result<Self> {
        let rest = uri.split('#').next().unwrap_or_default();
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = path.get("file:".len()..).unwrap_or_default();
        let path = match path.strip_prefix("//") {
            Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
            None => path,
        };
        let mut access = Access::Create;
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter {
                "mode=memory" => return Ok(Self::Memory(uri.to_owned())),
                "mode=ro" => access = Access::Read,
                "mode=rw" => access = Access::Write,
                "mode=rwc" | "cache=private" => access = Access::Create,
                other => return Err(not_implemented(&format!("the parameter {other} of the uri '{uri}'"))),
            }
        }
        if path.is_empty() || path == ":memory:" {
            return Ok(Self::memory());
        }
        Ok(Self::File { path: decoded(path).ok_or_else(|| not_decoded(uri))?.into(), access })
    }
}

fn not_decoded(uri: &str) -> adbc_core::error::Error {
    failed(Status::InvalidArguments, format!("the uri '{uri}' is not UTF-8, or has a % without two hexadecimal digits"))
}

/// Replaces `%20` and its kind.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        rest = others;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = std::str::from_utf8(others.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &others[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_files() {
        let file = |path: &str, access| Location::File { path: path.into(), access };
        for (uri, path, access) in [
            ("x.db", "x.db", Access::Create),
            ("/tmp/a b.db", "/tmp/a b.db", Access::Create),
            ("litepress:///x.db", "x.db", Access::Create),
            ("litepress:////tmp/x.db", "/tmp/x.db", Access::Create),
            ("litepress:/tmp/x.db", "/tmp/x.db", Access::Create),
            ("sqlite:///x.db", "x.db", Access::Create),
            ("file:x.db?mode=ro", "x.db", Access::Read),
            ("file:///tmp/a%20b.db?mode=rw", "/tmp/a b.db", Access::Write),
        ] {
            assert_eq!(Location::parse(uri).expect(uri), file(path, access), "{uri}");
        }
        for uri in ["", ":memory:", "litepress://", "litepress:///:memory:", "file::memory:"] {
            assert!(matches!(Location::parse(uri).expect(uri), Location::Memory(_)), "{uri}");
        }
        assert_ne!(Location::memory(), Location::memory());
        assert!(Location::parse("file:x.db?vfs=other").is_err() && Location::parse("file:%zz").is_err());
    }
}
