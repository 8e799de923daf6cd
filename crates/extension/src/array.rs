//! `litepress_array`: arrays of the program, as a table of several columns.
//!
//! Each argument is one or several columns: a pointer of a C program (`litepress_extension.h`), a stream of Arrow data, a JSON array, or a
//! blob. All have one row number. `litepress_array(?1, ?2)` calls its columns `c1`, `c2`, of which `c1` is visible, so that `IN` takes it.
//! `CREATE VIRTUAL TABLE temp.users USING litepress_array(id INTEGER, name TEXT)` gives them names: `SELECT * FROM users(?1, ?2)`.

mod argument;
mod json;
mod pointers;

use crate::options::unquoted;
use crate::sqlite::{Arguments, Failure, HIDDEN, Host, Index, Output, Plan, TableCursor, TableModule};
use argument::{ArgumentRows, NumberForm};
use litepress::rows::Affinity;
use litepress::rows::sql_tokens::Tokens;
use litepress_format::value::Value;
use std::ffi::CStr;
use std::sync::Arc;

#[cfg(feature = "fuzzing")]
pub use json::column_of_json;

/// Number of arguments of a call.
const MOST_ARGUMENTS: usize = 100;
/// Number of columns by position.
const MOST_POSITIONS: usize = 500;
/// Rows that the planner expects. Arrays are short beside tables.
const EXPECTED_ROWS: u64 = 1000;

/// A table of arrays.
pub struct ArrayTable {
    columns: Arc<ArrayColumns>,
}

/// The columns of a table of arrays.
#[derive(Debug)]
enum ArrayColumns {
    /// Declared ones, and what the bytes of a blob are for each.
    Declared(Vec<Option<NumberForm>>),
    /// `c1`, the arguments, `c2` and so on.
    ByPosition,
}

/// A cursor over arrays.
pub struct ArrayCursor {
    columns: Arc<ArrayColumns>,
    arguments: Vec<ArgumentRows>,
    /// For each column, its argument and its number there.
    places: Vec<(usize, usize)>,
    row: i64,
    is_over: bool,
}

impl ArrayColumns {
    /// Returns the position of the first argument.
    fn first_argument(&self) -> usize {
        match self {
            Self::Declared(forms) => forms.len(),
            Self::ByPosition => 1,
        }
    }

    /// Returns the position among the columns of arrays. `None` for an argument.
    fn value(&self, column: usize) -> Option<usize> {
        let first = self.first_argument();
        match column.checked_sub(first) {
            None => Some(column),
            Some(argument) => argument.checked_sub(MOST_ARGUMENTS).map(|beyond| beyond + first),
        }
    }

    fn definition(&self, declared: &[String]) -> String {
        let argument = |number: usize| format!("argument{number} {HIDDEN}");
        let arguments = (1..=MOST_ARGUMENTS).map(argument);
        let columns: Vec<String> = match self {
            Self::Declared(_) => declared.iter().cloned().chain(arguments).collect(),
            Self::ByPosition => {
                let others = (2..=MOST_POSITIONS).map(|number| format!("c{number} {HIDDEN}"));
                std::iter::once("c1".to_owned()).chain(arguments).chain(others).collect()
            }
        };
        format!("CREATE TABLE x({})", columns.join(", "))
    }
}

/// Returns what the bytes of a blob are for a column with this declaration: `id INTEGER`.
fn form_of(declaration: &str) -> Option<NumberForm> {
    let name = Tokens::new(declaration).next()?;
    match Affinity::of_declared_type(declaration[name.span.end..].trim()) {
        Affinity::Integer => Some(NumberForm::Integers),
        Affinity::Real => Some(NumberForm::Doubles),
        _ => None,
    }
}

impl TableModule for ArrayTable {
    type Cursor = ArrayCursor;

    const NAME: &'static CStr = c"litepress_array";

    fn connect(_host: Host, arguments: &Arguments) -> Result<(Self, String), Failure> {
        if arguments.is_eponymous {
            let columns = ArrayColumns::ByPosition;
            let definition = columns.definition(&[]);
            return Ok((Self { columns: Arc::new(columns) }, definition));
        }
        let declared: Vec<String> = arguments.texts.iter().map(|text| text.trim().to_owned()).collect();
        if declared.is_empty() {
            return Err(Failure::new("no column is named. Write USING litepress_array(id INTEGER, name TEXT)"));
        }
        if let Some(literal) = declared.iter().find(|text| text.starts_with('\'') && !unquoted(text).is_empty()) {
            let message =
                format!("{literal} is not the name of a column. Write USING litepress_array(id INTEGER, name TEXT)");
            return Err(Failure::new(message));
        }
        let columns = ArrayColumns::Declared(declared.iter().map(|text| form_of(text)).collect());
        let definition = columns.definition(&declared);
        Ok((Self { columns: Arc::new(columns) }, definition))
    }

    fn plan(&self, index: &mut Index<'_>) -> Result<bool, Failure> {
        match index.take_arguments(self.columns.first_argument(), MOST_ARGUMENTS) {
            None => return Ok(false),
            Some(0) => {}
            Some(_) => index.set_cost(EXPECTED_ROWS as f64, EXPECTED_ROWS),
        }
        Ok(true)
    }

    fn open(&self) -> Result<ArrayCursor, Failure> {
        let columns = self.columns.clone();
        Ok(ArrayCursor { columns, arguments: Vec::new(), places: Vec::new(), row: 0, is_over: true })
    }
}

impl ArrayCursor {
    /// Goes to the next row of all arguments, which must have one number of rows.
    fn advance(&mut self) -> Result<(), Failure> {
        let mut ended = None;
        for (number, argument) in self.arguments.iter_mut().enumerate() {
            let is_over = !argument.advance().map_err(|failure| of_argument(number, &failure))?;
            if *ended.get_or_insert(is_over) != is_over {
                self.is_over = true;
                let (short, long) = if is_over { (number, 0) } else { (0, number) };
                let message =
                    format!("argument {} has {} rows, and argument {} has more", short + 1, self.row, long + 1);
                return Err(Failure::new(message));
            }
        }
        self.is_over = ended.unwrap_or(true);
        self.row += 1;
        Ok(())
    }
}

fn of_argument(number: usize, failure: &Failure) -> Failure {
    Failure { message: format!("argument {}: {}", number + 1, failure.message), ..failure.clone() }
}

impl TableCursor for ArrayCursor {
    fn filter(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        (self.arguments, self.places, self.row, self.is_over) = (Vec::new(), Vec::new(), 0, true);
        if plan.values.is_empty() {
            return Err(Failure::new("no array is given. Write litepress_array(?1, ?2)"));
        }
        for (number, value) in plan.values.iter().enumerate() {
            let form = match &*self.columns {
                ArrayColumns::Declared(forms) => forms.get(self.places.len()).copied().flatten(),
                ArrayColumns::ByPosition => None,
            };
            let argument = ArgumentRows::of(*value, form).map_err(|failure| of_argument(number, &failure))?;
            self.places.extend((0..argument.columns()).map(|column| (number, column)));
            self.arguments.push(argument);
        }
        if let ArrayColumns::Declared(forms) = &*self.columns
            && forms.len() != self.places.len()
        {
            let (given, wanted) = (self.places.len(), forms.len());
            return Err(Failure::new(format!("the arguments have {given} columns, and the table {wanted}")));
        }
        self.advance()
    }

    #[inline]
    fn next(&mut self) -> Result<(), Failure> {
        self.advance()
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.is_over
    }

    #[inline]
    fn column(&mut self, column: usize, output: &mut Output<'_>) -> Result<(), Failure> {
        // The arguments themselves are not shown: pointers have no value.
        let Some(position) = self.columns.value(column) else {
            output.set(Value::Null);
            return Ok(());
        };
        let Some((argument, column)) = self.places.get(position) else {
            let message = format!("there is no column c{}: the arguments have {}", position + 1, self.places.len());
            return Err(Failure::new(message));
        };
        output.set(self.arguments[*argument].value(*column));
        Ok(())
    }

    fn rowid(&self) -> i64 {
        self.row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_tell_the_form_of_blobs() {
        for (declaration, form) in [
            ("id INTEGER", Some(NumberForm::Integers)),
            (" \"a INT\"  DOUBLE", Some(NumberForm::Doubles)),
            ("[x y] bigint", Some(NumberForm::Integers)),
            ("name TEXT", None),
            ("integer", None),
            ("\"", None),
            ("", None),
        ] {
            assert_eq!(form_of(declaration), form, "{declaration}");
        }
    }
}
