//! Texts from a file, one a line, read when the plan is made.

use super::choice::ListPick;
use super::{Arguments, Generator};
use litepress_rows::Result;
use litepress_rows::cells::OwnedValue;
use std::io::Read;

/// Limit in bytes; the words are kept in memory.
const LARGEST: u64 = 256 << 20;

/// Builds `wordlist(file)`: a line is a text, or a text, a tab and its weight.
pub(super) fn wordlist(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let path = arguments.file("file")?;
    let unreadable = |what: String| arguments.error_at("file", format!("{} {what}", path.display()));
    let failed = |error: std::io::Error| unreadable(format!("cannot be read: {error}"));
    // Opening a named pipe would wait for a writer, and a device may have no end.
    if !std::fs::metadata(&path).map_err(failed)?.is_file() {
        return Err(unreadable("is not a regular file".to_owned()));
    }
    let mut text = String::new();
    let file = std::fs::File::open(&path).map_err(failed)?;
    file.take(LARGEST + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > LARGEST {
        return Err(unreadable("is larger than 256 MiB".to_owned()));
    }
    let (mut words, mut weights) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let (word, weight) = match line.rsplit_once('\t') {
            None => (line, 1.0),
            Some((word, weight)) => {
                let known = weight.trim().parse::<f64>().ok().filter(|weight| *weight >= 0.0 && weight.is_finite());
                let rejected = || unreadable(format!("has '{weight}' for a weight in line {number}"));
                (word, known.ok_or_else(rejected)?)
            }
        };
        if !word.is_empty() && weight > 0.0 {
            words.push(OwnedValue::Text(word.to_owned()));
            weights.push(weight);
        }
    }
    if words.is_empty() {
        return Err(unreadable("has no word".to_owned()));
    }
    if !weights.iter().sum::<f64>().is_finite() {
        return Err(unreadable("has weights that are too large together".to_owned()));
    }
    Ok(Box::new(ListPick::by_weight(words, &weights)))
}
