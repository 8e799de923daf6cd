//! Parts of annotations, as text.

/// Quotes a text as annotations do.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the annotation that takes each of these in its share of the rows, given their numbers; empty if there is none.
pub(crate) fn by_share(parts: impl IntoIterator<Item = (u64, String)>) -> String {
    let (mut told, mut whole) = (0, String::new());
    for (count, text) in parts {
        told += count;
        whole = match whole.is_empty() {
            true => text,
            false => format!("if(bool({:.4}), {text}, {whole})", count as f64 / told as f64),
        };
    }
    whole
}

/// Wraps an annotation in `null(share, ...)`, unless no row or every row is NULL.
pub(crate) fn with_nulls(inner: String, nulls: u64, rows: u64) -> String {
    if nulls == 0 || nulls == rows {
        return inner;
    }
    let share = (nulls as f64 / rows as f64).clamp(0.000_001, 0.999_999);
    let share = format!("{share:.6}");
    format!("null({}, {inner})", share.trim_end_matches('0'))
}
