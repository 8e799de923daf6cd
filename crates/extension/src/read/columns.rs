//! The columns of a table over files, and the plan of a query.

use super::{MOST_ARGUMENTS, MOST_POSITIONS};
use crate::sqlite::{Failure, HIDDEN, Index, Operator};
use litepress::rows::{Affinity, quoted_name};
use litepress::{Comparison, FileTable};
use std::fmt::{self, Write};

/// The columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Names and declared types.
    Named(Vec<(String, String)>),
    /// The row as JSON, the arguments of the call, and columns by position.
    ByPosition,
}

/// The columns and rows that a query reads: a text that SQLite keeps for its cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanText {
    /// Number of arguments that name files and options.
    pub arguments: usize,
    /// Columns of the file, by position. `None` for all.
    pub columns: Option<Vec<usize>>,
    /// Conditions. The right sides are the last arguments.
    pub filters: Vec<Filter>,
}

/// A condition that lets readers leave out rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Column of the file.
    pub column: usize,
    /// The comparison. [`Equal`](Comparison::Equal) for IN.
    pub comparison: Comparison,
    /// The form of the right side.
    pub right: RightSide,
}

/// The form of the right side of a condition.
///
/// SQLite compares values under an affinity that both sides decide: a column of integers on the right side makes `'007'` equal to 7. A table is
/// not told that affinity. Worse, if the values of IN come one by one, SQLite compares each of them under the affinity of the left side
/// alone, and loses rows itself. Columns of numbers are safe: the affinity is theirs then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RightSide {
    /// A value whose affinity changes nothing.
    Plain,
    /// A value of any affinity: a parameter, a column, or a part of the row values of IN.
    Unknown,
    /// All values of IN.
    List,
}

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRole {
    /// The row as JSON.
    Row,
    /// An argument of the call.
    Argument(usize),
    /// A column of the file.
    Value(usize),
}

/// Factor of the cost of a plan that SQLite should take only if it has no other one. SQLite tells costs apart that differ by 7 percent.
const DOUBTFUL_COST: f64 = 1.25;

/// Forms of right sides and their letters in a plan.
const RIGHT_LETTERS: [(RightSide, char); 3] =
    [(RightSide::Plain, 'p'), (RightSide::Unknown, 'u'), (RightSide::List, 'i')];

/// Comparisons and their letters in a plan.
const LETTERS: [(Comparison, char); 5] = [
    (Comparison::Equal, '='),
    (Comparison::Less, '<'),
    (Comparison::LessOrEqual, 'l'),
    (Comparison::Greater, '>'),
    (Comparison::GreaterOrEqual, 'g'),
];

impl Columns {
    /// Returns the definition for SQLite.
    pub fn definition(&self) -> String {
        let mut sql = "CREATE TABLE x(".to_owned();
        match self {
            Self::Named(columns) => {
                for (name, kind) in columns {
                    let _ = write!(sql, "{} {kind}, ", quoted_name(name));
                }
                sql.truncate(sql.len() - 2);
            }
            Self::ByPosition => {
                sql.push_str("row TEXT");
                (1..=MOST_ARGUMENTS).for_each(|number| write!(sql, ", argument{number} {HIDDEN}").unwrap_or_default());
                (1..=MOST_POSITIONS).for_each(|number| write!(sql, ", c{number} {HIDDEN}").unwrap_or_default());
            }
        }
        sql + ")"
    }

    /// Returns the role of a column.
    pub fn role(&self, column: usize) -> ColumnRole {
        match (self, column) {
            (Self::Named(_), _) => ColumnRole::Value(column),
            (Self::ByPosition, 0) => ColumnRole::Row,
            (Self::ByPosition, 1..=MOST_ARGUMENTS) => ColumnRole::Argument(column - 1),
            (Self::ByPosition, _) => ColumnRole::Value(column - 1 - MOST_ARGUMENTS),
        }
    }

    /// Returns the position of a column of the file in the table.
    fn position(&self, column: usize) -> usize {
        if matches!(self, Self::Named(_)) { column } else { 1 + MOST_ARGUMENTS + column }
    }

    /// Asks for the arguments of the call, and returns their number. `None` if one of them comes from a table that is read later.
    pub fn take_arguments(&self, index: &mut Index<'_>) -> Option<usize> {
        if matches!(self, Self::Named(_)) { Some(0) } else { index.take_arguments(1, MOST_ARGUMENTS) }
    }

    /// Returns whether a plan with this number of arguments names a file.
    pub fn has_files(&self, arguments: usize) -> bool {
        matches!(self, Self::Named(_)) || arguments > 0
    }

    /// Plans a query: the columns that it reads, and conditions that let readers leave out rows. SQLite checks these, too.
    pub fn plan(&self, index: &mut Index<'_>, arguments: usize) -> PlanText {
        let mut plan = PlanText { arguments, columns: Some(Vec::new()), filters: Vec::new() };
        for number in 0..index.len() {
            let Some(ColumnRole::Value(column)) = index.column(number).map(|column| self.role(column)) else {
                continue;
            };
            let comparison = index.operator(number).map(|operator| match operator {
                Operator::Equal => Comparison::Equal,
                Operator::Less => Comparison::Less,
                Operator::LessOrEqual => Comparison::LessOrEqual,
                Operator::Greater => Comparison::Greater,
                Operator::GreaterOrEqual => Comparison::GreaterOrEqual,
            });
            if let Some(comparison) = comparison.filter(|_| index.is_usable(number) && index.is_binary(number)) {
                let right = self.right_side(index, number, column);
                if right == RightSide::List {
                    index.take_list(number)
                } else {
                    index.take(number, false)
                }
                plan.filters.push(Filter { column, comparison, right });
            }
        }
        let count = match self {
            Self::Named(columns) => columns.len(),
            Self::ByPosition if index.is_used(0) => {
                plan.columns = None;
                return plan;
            }
            Self::ByPosition => MOST_POSITIONS,
        };
        // SQLite tells columns apart up to the 63rd. Beyond it, all are read.
        let last = self.position(count - 1);
        if last >= 63 && index.is_used(last) {
            plan.columns = None;
            return plan;
        }
        let used = (0..count).filter(|column| {
            let position = self.position(*column);
            position < 63 && index.is_used(position)
        });
        plan.columns = Some(used.collect());
        plan
    }

    fn right_side(&self, index: &Index<'_>, number: usize, column: usize) -> RightSide {
        if !matches!(self.affinity(column), Affinity::Text | Affinity::Blob) || index.is_literal(number) {
            return RightSide::Plain;
        }
        if index.is_list(number) { RightSide::List } else { RightSide::Unknown }
    }

    /// Checks that files that have changed still have the columns of the table.
    ///
    /// # Errors
    /// If they have others.
    pub fn agree(&self, table: &FileTable) -> Result<(), Failure> {
        let Self::Named(known) = self else { return Ok(()) };
        let found: Vec<(String, String)> =
            table.columns().map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect();
        if *known == found {
            return Ok(());
        }
        let differs =
            |(known, found): (&(String, String), &(String, String))| (known != found).then(|| found.0.clone());
        let column = known.iter().zip(&found).find_map(differs);
        let what = match column {
            Some(column) => format!("column {column} is new, or of another type"),
            None => format!("there are {} columns, and there were {}", found.len(), known.len()),
        };
        Err(Failure::new(format!("the files have changed: {what}. Drop the table and create it again")))
    }

    /// Returns the affinity of a column of the file.
    pub fn affinity(&self, column: usize) -> Affinity {
        match self {
            Self::Named(columns) => {
                columns.get(column).map_or(Affinity::Blob, |(_, kind)| Affinity::of_declared_type(kind))
            }
            Self::ByPosition => Affinity::Blob,
        }
    }
}

impl PlanText {
    /// Returns the cost of the plan, and the rows that it gives, for files of this number of rows.
    pub fn cost(&self, rows: u64) -> (f64, u64) {
        let mut kept = rows;
        let mut has_doubtful = false;
        for filter in &self.filters {
            match (filter.comparison, filter.right) {
                // It may be a part of an IN. SQLite asks for a plan without that, too, which must be the cheaper one.
                (Comparison::Equal, RightSide::Unknown) => has_doubtful = true,
                (Comparison::Equal, RightSide::Plain) => kept /= 20,
                _ => kept /= 3,
            }
        }
        let columns = self.columns.as_ref().map_or(20, Vec::len);
        // A file is read from its beginning again and again if another table drives it.
        let cost = 1000.0 + rows as f64 * (1.0 + columns as f64 * 0.1) + kept as f64;
        (if has_doubtful { cost * DOUBTFUL_COST } else { cost }, kept.max(1))
    }

    /// Reads the text of a plan.
    pub fn of(text: &str) -> Option<Self> {
        let mut parts = text.split('|');
        let arguments = parts.next()?.parse().ok()?;
        let columns = match parts.next()? {
            "*" => None,
            "" => Some(Vec::new()),
            list => Some(list.split(',').map(|column| column.parse().ok()).collect::<Option<Vec<usize>>>()?),
        };
        let filter = |text: &str| {
            let mut letters = text.chars();
            let (right, comparison) = (letters.next_back()?, letters.next_back()?);
            let (right, _) = RIGHT_LETTERS.into_iter().find(|(_, known)| *known == right)?;
            let (comparison, _) = LETTERS.into_iter().find(|(_, known)| *known == comparison)?;
            Some(Filter { column: letters.as_str().parse().ok()?, comparison, right })
        };
        let filters =
            parts.next()?.split(',').filter(|text| !text.is_empty()).map(filter).collect::<Option<Vec<_>>>()?;
        Some(Self { arguments, columns, filters })
    }
}

impl fmt::Display for PlanText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &Vec<usize>| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let columns = self.columns.as_ref().map_or("*".to_owned(), list);
        let letter = |comparison: Comparison| {
            LETTERS.iter().find(|(known, _)| *known == comparison).map_or('=', |(_, letter)| *letter)
        };
        let form = |right: RightSide| {
            RIGHT_LETTERS.iter().find(|(known, _)| *known == right).map_or('u', |(_, letter)| *letter)
        };
        let filter = |filter: &Filter| format!("{}{}{}", filter.column, letter(filter.comparison), form(filter.right));
        let filters: Vec<String> = self.filters.iter().map(filter).collect();
        write!(f, "{}|{columns}|{}", self.arguments, filters.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read_as_they_were_written() {
        let rights = RIGHT_LETTERS.iter().cycle();
        let filters = LETTERS.iter().zip(rights).enumerate().map(|(column, ((comparison, _), (right, _)))| Filter {
            column,
            comparison: *comparison,
            right: *right,
        });
        let filters: Vec<Filter> = filters.collect();
        for plan in [
            PlanText { arguments: 2, columns: Some(vec![0, 5, 61]), filters },
            PlanText { arguments: 0, columns: None, filters: vec![] },
            PlanText { arguments: 1, columns: Some(vec![]), filters: vec![] },
        ] {
            assert_eq!(PlanText::of(&plan.to_string()), Some(plan));
        }
        assert!(
            ["", "1", "a||", "1|x|", "1||5?p", "1||5=x", "1||=p", "1||5="]
                .iter()
                .all(|text| PlanText::of(text).is_none())
        );
    }
}
