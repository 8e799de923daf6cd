//! Options by the names and values of the program, for faces in other languages.

use crate::{AppendOptions, Choice, parse};
use crate::{Error, ErrorKind, Options, Result};

/// Sets an option of a [`Writer`](crate::Writer). Returns `false` if there is no option of this name.
///
/// ```
/// use litepress::{AppendOptions, Options, option_by_name};
///
/// let (mut options, mut append) = (Options::default(), AppendOptions::default());
/// assert!(option_by_name::set(&mut options, &mut append, "on-conflict", "update")?);
/// assert!(!option_by_name::set(&mut options, &mut append, "speed", "high")?);
/// assert!(option_by_name::set(&mut options, &mut append, "threads", "none").is_err());
/// # Ok::<(), litepress::Error>(())
/// ```
///
/// # Errors
/// A value that the option does not have.
pub fn set(options: &mut Options, append: &mut AppendOptions, name: &str, value: &str) -> Result<bool> {
    let wrong = |why: String| Error::new(ErrorKind::Usage, format!("option \"{name}\": {why}")).with_value(value);
    let flag = || match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(wrong("this is neither true nor false".to_owned())),
    };
    let names = || value.split(',').map(|name| name.trim().to_owned()).collect::<Vec<String>>();
    match name {
        "threads" => options.threads = parse::threads(value).map_err(wrong)?,
        "memory" => options.memory_bytes = parse::memory(value).map_err(wrong)?,
        "temp-dir" => options.temp_dir = Some(value.into()),
        "page-size" => options.page_size = Some(parse::page_size(value).map_err(wrong)?),
        "overwrite" => options.overwrite = flag()?,
        "on-conflict" => options.on_conflict = Choice::from_name(value).map_err(wrong)?,
        "key" => options.key = names(),
        "update-columns" => options.update_columns = names(),
        "sync" => options.sync = Choice::from_name(value).map_err(wrong)?,
        "analyze" => options.analyze = flag()?,
        "part" => options.part = flag()?,
        "verify" => options.verify = Choice::from_name(value).map_err(wrong)?,
        "busy-timeout" => append.busy_timeout = parse::seconds(value).map_err(wrong)?,
        "truncate" => append.truncate = flag()?,
        "through-wal" => append.through_wal = flag()?,
        "enforce-foreign-keys" => append.enforce_foreign_keys = flag()?,
        _ => return Ok(false),
    }
    Ok(true)
}
