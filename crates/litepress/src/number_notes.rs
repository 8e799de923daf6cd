//! Notes on columns of numbers whose digits doubles do not keep.

use litepress_load::infer::{Caveat, InferredColumn};
use litepress_rows::{Message, OptionName, grouped, message};

/// Number of columns that one note names.
const NAMED: usize = 5;

/// Returns a note on columns of numbers that are TEXT, and one for every column of rounded numbers.
pub(crate) fn number_notes<'d>(tables: impl Iterator<Item = (&'d str, &'d [InferredColumn])>) -> Vec<Message> {
    let (mut texts, mut notes) = (Vec::new(), Vec::new());
    for (table, decision) in tables.flat_map(|(table, columns)| columns.iter().map(move |column| (table, column))) {
        let name = format!("{table}.{}", decision.name);
        match &decision.caveat {
            Some(Caveat::KeptAsText { first, .. }) => texts.push(format!("{name} ({first})")),
            Some(Caveat::Rounded { count, first }) => notes.push(rounded(&name, *count, first)),
            Some(Caveat::BeyondRange { count, first }) => notes.push(beyond_range(&name, *count, first)),
            None => {}
        }
    }
    if !texts.is_empty() {
        notes.insert(0, kept_as_text(&texts));
    }
    notes
}

fn kept_as_text(columns: &[String]) -> Message {
    let more = if columns.len() > NAMED { format!(" and {} more", columns.len() - NAMED) } else { String::new() };
    let (count, verb) = match columns.len() {
        1 => ("1 column".to_owned(), "is"),
        count => (format!("{} columns", grouped(count as u64)), "are"),
    };
    let named = columns[..columns.len().min(NAMED)].join(", ");
    message![
        format!("{count} of numbers {verb} TEXT, because doubles do not keep all of their digits: {named}{more}; "),
        OptionName::Numbers.word("lenient"),
        " stores the nearest doubles"
    ]
}

fn beyond_range(name: &str, count: u64, first: &str) -> Message {
    let what = match count {
        1 => format!("1 number of {name} is beyond the largest double and stays a text"),
        _ => format!("{} numbers of {name} are beyond the largest double and stay texts", grouped(count)),
    };
    format!("{what}, {}{first}", if count == 1 { "" } else { "first " }).into()
}

fn rounded(name: &str, count: u64, first: &str) -> Message {
    let rounded = match count {
        1 => format!("1 number of {name} is rounded to the nearest double, {first}; "),
        _ => format!("{} numbers of {name} are rounded to the nearest doubles, first {first}; ", grouped(count)),
    };
    message![rounded, OptionName::Type.pair(name, "TEXT"), " keeps their digits"]
}
