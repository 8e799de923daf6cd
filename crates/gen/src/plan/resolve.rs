//! From an annotation to a recipe: names become columns, functions and generators.

use crate::annotation::{Call, Expression, ExpressionKind, Site};
use crate::expression::{Operator, functions};
use crate::generators::{Generator, catalogue};
use crate::suggest::did_you_mean;
use litepress_rows::Result;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::{Generated, Table};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// How a column's values are made.
#[derive(Clone, Debug)]
pub(super) enum Recipe {
    /// By a generator.
    Generator { generator: Arc<dyn Generator>, purpose: Purpose },
    /// They are those of another column of the row.
    Column { column: usize },
    /// The same value in every row.
    Value(OwnedValue),
    /// They are computed.
    Operation { operator: Operator, operands: Vec<Recipe> },
    /// They are NULL in some rows.
    Null { share: f64, purpose: Purpose, inner: Box<Recipe> },
}

impl Recipe {
    /// How many times NULLs are strewn over the values by the same random numbers.
    pub(super) fn null_levels(&self) -> u64 {
        match self {
            Self::Generator { generator, purpose: None } => generator.null_levels(),
            Self::Null { purpose: None, inner, .. } => inner.null_levels() + 1,
            _ => 0,
        }
    }
}

/// Which random numbers a part of an annotation has: those of its column where it is the whole of it, else some of its own.
pub(super) type Purpose = Option<u64>;

/// What names are looked up in.
pub(super) struct Resolver<'a> {
    site: &'a Site<'a>,
    table: &'a Table,
    column: usize,
    /// Rows of the table.
    rows: u64,
    /// How many calls of a generator were met.
    calls: HashMap<String, u64>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(site: &'a Site<'a>, table: &'a Table, column: usize, rows: u64) -> Self {
        Self { site, table, column, rows, calls: HashMap::new() }
    }

    /// The recipe of a whole annotation. A name alone is a generator where there is one, else a column.
    pub(super) fn annotation(&mut self, expression: &Expression) -> Result<Recipe> {
        match &expression.kind {
            ExpressionKind::Call(call) if catalogue::is_generator(expression) => self.generator(call, None),
            ExpressionKind::Call(call) if is_null(call) => self.null(call, None),
            ExpressionKind::Call(call) if !call.is_called => match self.column(&call.name, &call.span)? {
                Some(recipe) => Ok(recipe),
                None => self.generator(call, None),
            },
            ExpressionKind::Call(call) => self.generator(call, None),
            _ => self.part(expression),
        }
    }

    /// The recipe of a part of an annotation. A name alone is a column where there is one, else a generator.
    fn part(&mut self, expression: &Expression) -> Result<Recipe> {
        match &expression.kind {
            ExpressionKind::Literal(value) => Ok(Recipe::Value(value.clone())),
            ExpressionKind::Column { through: None, name } => {
                self.column(name, &expression.span)?.ok_or_else(|| self.missing_column(name, &expression.span))
            }
            ExpressionKind::Column { through: Some(_), .. } => Err(self.missing_column("?", &expression.span)),
            ExpressionKind::Operation { operator, operands } => {
                let operands = operands.iter().map(|operand| self.part(operand)).collect::<Result<_>>()?;
                Ok(Recipe::Operation { operator: *operator, operands })
            }
            ExpressionKind::Call(call) => {
                // A column cannot be made of itself: `lower(email)` for the column `email` means the generator.
                let is_own = self.table.columns[self.column].name.eq_ignore_ascii_case(&call.name)
                    && catalogue::find(&call.name).is_some();
                let column = if call.is_called || is_own { None } else { self.column(&call.name, &call.span)? };
                match column {
                    Some(column) => Ok(column),
                    None if catalogue::is_generator(expression) || !is_null(call) => {
                        self.refuse_unknown(call)?;
                        let purpose = self.purpose(&call.name);
                        self.generator(call, purpose)
                    }
                    None => {
                        let purpose = self.purpose(&call.name);
                        self.null(call, purpose)
                    }
                }
            }
        }
    }

    /// The random numbers of one more call of this generator: they stay the same whatever else the annotation becomes, as
    /// long as no other call of it is written in front.
    fn purpose(&mut self, name: &str) -> Purpose {
        const BASIS: u64 = 0xCBF2_9CE4_8422_2325;
        const PRIME: u64 = 0x0000_0100_0000_01B3;
        /// Clear of the purposes that generators have for themselves.
        const HIGH: u64 = 1 << 63;
        let name = name.to_ascii_lowercase();
        let hash = name.bytes().fold(BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        let call = self.calls.entry(name).or_default();
        *call += 1;
        Some(HIGH | hash.wrapping_add(*call))
    }

    fn generator(&self, call: &Call, purpose: Purpose) -> Result<Recipe> {
        let generator = catalogue::build(self.site, call, Some(self.rows))?.into();
        Ok(Recipe::Generator { generator, purpose })
    }

    fn null(&mut self, call: &Call, purpose: Purpose) -> Result<Recipe> {
        let (share, inner) = catalogue::null_arguments(self.site, call)?;
        let inner = match (&inner.kind, purpose) {
            (ExpressionKind::Literal(_), _) => return self.generator(call, purpose),
            (_, None) => self.annotation(&inner)?,
            (_, Some(_)) => self.part(&inner)?,
        };
        Ok(Recipe::Null { share, purpose, inner: Box::new(inner) })
    }

    /// The column of this name, if there is one.
    fn column(&self, name: &str, span: &Range<usize>) -> Result<Option<Recipe>> {
        let Some(column) = self.table.column(name) else { return Ok(None) };
        if self.table.columns[column].generated != Generated::No {
            let message = format!("column {name} is generated: SQLite computes its values when the row is there");
            return Err(self.site.error(span.start, message).advise("write what it is computed of"));
        }
        Ok(Some(Recipe::Column { column }))
    }

    fn missing_column(&self, name: &str, span: &Range<usize>) -> litepress_rows::Error {
        let near = did_you_mean(name, self.table.columns.iter().map(|column| column.name.as_str()));
        let message = format!("table {} has no column '{name}'{near}", self.table.name);
        self.site.error(span.start, message)
    }

    /// What is neither a column nor a generator nor a function.
    fn refuse_unknown(&self, call: &Call) -> Result<()> {
        if catalogue::find(&call.name).is_some() {
            return Ok(());
        }
        let generators = catalogue::all().iter().map(|entry| entry.name);
        let functions = functions().iter().map(|function| function.name);
        let ordinary = self.table.columns.iter().filter(|column| column.generated == Generated::No);
        let columns = ordinary.map(|column| column.name.as_str());
        let (what, near) = match call.is_called {
            true => ("function or generator", did_you_mean(&call.name, functions.chain(generators))),
            false => ("column or generator", did_you_mean(&call.name, columns.chain(generators))),
        };
        Err(self
            .site
            .error(call.span.start, format!("there is no {what} '{}'{near}", call.name))
            .advise("a column's name may stand in double quotes, a text stands in single ones"))
    }
}

fn is_null(call: &Call) -> bool {
    call.name.eq_ignore_ascii_case("null")
}
