//! Writes a page of HTML. It gets its name once it is whole.

use crate::{Error, ErrorKind, OptionName, Result, message};
use std::io::Write;
use std::path::Path;

/// Fails if the page may not be written: an existing file is replaced only if `overwrite` is set.
pub(crate) fn refuse(path: &Path, overwrite: bool) -> Result<()> {
    if path.is_dir() {
        return Err(Error::new(ErrorKind::Io, "this is a folder").in_file(path));
    }
    if path.exists() && !overwrite {
        let error = Error::new(ErrorKind::Exists, "the file exists").in_file(path);
        return Err(error.advise(message!["name another one, or replace it with ", OptionName::Overwrite.alone()]));
    }
    Ok(())
}

/// Writes the page under a temporary name in the same folder, then names it.
pub(crate) fn write(path: &Path, page: &str, overwrite: bool) -> Result<()> {
    let failed = |error| Error::io("write the page", path, error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The system applies the user's mask.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.prefix(".litepress-").suffix(".html").tempfile_in(folder).map_err(failed)?;
    file.write_all(page.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let named = if overwrite { file.persist(path) } else { file.persist_noclobber(path) };
    named.map(drop).map_err(|error| failed(error.error))
}
