//! The limits of workbooks. A small file can say much, and calamine has each cell of a sheet in memory.

use litepress_rows::grouped;

/// Rows and columns of a sheet, as Excel and LibreOffice have them.
pub(super) const MOST_ROWS: u32 = 1 << 20;
pub(super) const MOST_COLUMNS: u32 = 1 << 14;

/// The most cells of a workbook, empty ones between others included. Each takes some fifty bytes. A fuzzer has less memory, and time.
pub(super) const MOST_CELLS: u64 = if cfg!(feature = "fuzzing") { 1 << 18 } else { 1 << 25 };

/// The most bytes of the members of a workbook that are in memory as a whole: the texts of its cells, or all its sheets.
pub(super) const MOST_BYTES: u64 = if cfg!(feature = "fuzzing") { 1 << 24 } else { 1 << 30 };

/// Why the cells of a workbook are not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// They do not fit.
    TooMany(String),
    /// They cannot be read.
    Damaged(String),
}

impl Refusal {
    pub(super) fn damaged(why: impl std::fmt::Display) -> Self {
        Self::Damaged(why.to_string())
    }
}

/// Fails if there are more cells, or more bytes of texts, than fit in memory. Each counts as often as it is repeated.
pub(super) fn refuse_beyond(cells: u64, text_bytes: u64) -> Result<(), Refusal> {
    if cells > MOST_CELLS {
        return Err(Refusal::TooMany(format!("with all repetitions, it has more than {} cells", grouped(MOST_CELLS))));
    }
    if text_bytes > MOST_BYTES {
        let message = format!("with all repetitions, its texts are larger than {} bytes", grouped(MOST_BYTES));
        return Err(Refusal::TooMany(message));
    }
    Ok(())
}
