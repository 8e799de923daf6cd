//! Parts of annotations, as text.

/// Quotes a text as annotations do.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
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
