//! Tables of text with aligned columns.

use litepress_rows::escaped;
use std::borrow::Cow;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// For names and explanations.
    Left,
    /// For numbers.
    Right,
}

/// Formats one row a line, indented by `indent` blanks, with two blanks between columns.
///
/// Rows may be shorter than `aligns`. No line ends with blanks. Line ends and other control characters are escaped.
pub fn format_table(rows: &[Vec<String>], aligns: &[Align], indent: usize) -> String {
    let rows: Vec<Vec<Cow<'_, str>>> = rows.iter().map(|row| row.iter().map(|word| escaped(word)).collect()).collect();
    let width_of = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|word| width(word)).max();
    let widths: Vec<usize> = (0..aligns.len()).map(|column| width_of(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in &rows {
        let mut line = " ".repeat(indent);
        for ((word, align), room) in row.iter().zip(aligns).zip(&widths) {
            let padding = " ".repeat(room - width(word));
            line += &match align {
                Align::Left => format!("{word}{padding}  "),
                Align::Right => format!("{padding}{word}  "),
            };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn width(word: &str) -> usize {
    word.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_at_their_edge() {
        let rows = [vec!["name".to_owned(), "rows".to_owned()], vec!["ä".to_owned(), "1".to_owned(), "no".to_owned()]];
        assert_eq!(format_table(&rows, &[Align::Left, Align::Right, Align::Left], 1), " name  rows\n ä        1  no\n");
        assert_eq!(format_table(&[], &[Align::Left], 0), "");
    }

    /// A value of two lines in the reason for a type broke the table of the summary.
    #[test]
    fn a_row_is_one_line() {
        let rows = [vec!["note".to_owned(), "'one\ntwo'".to_owned(), "is not a number".to_owned()]];
        assert_eq!(format_table(&rows, &[Align::Left; 3], 0), "note  'one\\ntwo'  is not a number\n");
    }
}
