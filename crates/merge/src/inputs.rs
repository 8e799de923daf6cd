//! The shards that FILE arguments mean: files, patterns of files, and folders.

use litepress_format::header::MAGIC;
use litepress_rows::files::FileId;
use litepress_rows::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Returns the files that these arguments mean, in their order. The files of a pattern or a folder come in the order of their
/// names.
///
/// # Errors
/// If a file is missing, a pattern matches nothing, a folder has no database, or a file is named twice.
pub fn files(arguments: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for argument in arguments {
        match fs::metadata(argument) {
            Ok(kind) if kind.is_dir() => files.append(&mut of_folder(argument)?),
            Ok(_) => files.push(argument.clone()),
            Err(error) => files.append(&mut of_pattern(argument, error)?),
        }
    }
    if files.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "no database is named").advise("name the databases to merge"));
    }
    refuse_repeated(&files)?;
    Ok(files)
}

/// Returns the databases of a folder. Their content decides, not their names.
fn of_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error| Error::io("read the folder", folder, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file() && is_database(&path)? {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Error::new(ErrorKind::Data, "the folder has no database").in_file(folder));
    }
    Ok(files)
}

/// Returns the files that match a pattern. `error` tells why it is not a file itself.
fn of_pattern(pattern: &Path, error: std::io::Error) -> Result<Vec<PathBuf>> {
    let text = pattern.to_str().filter(|text| text.contains(['*', '?', '[']));
    let Some(text) = text else { return Err(Error::io("open", pattern, error)) };
    let wrong = |why: String| Error::new(ErrorKind::Usage, format!("the pattern is wrong: {why}")).in_file(pattern);
    let paths = glob::glob(text).map_err(|error| wrong(error.to_string()))?;
    let files: Vec<PathBuf> = paths
        .collect::<Result<_, _>>()
        .map_err(|error| Error::io("read", error.path(), error.error().kind().into()))?;
    if files.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "no file matches the pattern").in_file(pattern));
    }
    Ok(files)
}

fn is_database(path: &Path) -> Result<bool> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    file.take(MAGIC.len() as u64).read_to_end(&mut start).map_err(|error| Error::io("read", path, error))?;
    Ok(start == MAGIC)
}

/// Checks that no file is named twice, under whatever names.
fn refuse_repeated(files: &[PathBuf]) -> Result<()> {
    let mut known: HashMap<FileId, &Path> = HashMap::with_capacity(files.len());
    for file in files {
        let id = FileId::at(file).map_err(|error| Error::io("open", file, error))?;
        if let Some(first) = known.insert(id, file) {
            let message = if first == file {
                "the database is named twice".to_owned()
            } else {
                format!("the database is named twice: it is also {}", first.display())
            };
            return Err(Error::new(ErrorKind::Usage, message).in_file(file).advise("name each database once"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_patterns_give_databases_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["b.db", "a.db"] {
            fs::write(path(name), [&MAGIC[..], b"..."].concat()).expect("a file");
        }
        fs::write(path("a.db-wal"), b"a log").expect("a file");
        let both = [path("a.db"), path("b.db")];
        assert_eq!(files(&[folder.path().to_owned()]).expect("a folder"), both);
        assert_eq!(files(&[path("*.db")]).expect("a pattern"), both);
        assert_eq!(files(&[path("b.db"), path("a.db")]).expect("files"), [path("b.db"), path("a.db")]);
        std::os::unix::fs::symlink(path("a.db"), path("link")).expect("a link");
        for (wrong, message) in [
            (vec![path("a.db"), path("link")], "named twice: it is also"),
            (vec![path("a.db"), path("a.db")], "named twice"),
            (vec![path("c.db")], "cannot open"),
            (vec![path("*.sqlite")], "no file matches"),
        ] {
            let error = files(&wrong).expect_err(message).to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
