//! From recipes to programs: columns in the order in which they need one another, each computed once.

use super::Draft;
use super::resolve::Recipe;
use super::rows::Size;
use crate::expression::{Function, Operator};
use crate::generators::{Distinct, Facts, Kinds};
use crate::program::{Program, Source, Step};
use crate::random::CellRandom;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::Schema;
use litepress_rows::{Affinity, Result};
use std::collections::HashMap;

/// Bytes of a number as text, or of any other short value.
const SHORT_BYTES: u64 = 32;

/// What all tables' columns are made from.
#[derive(Clone, Copy)]
pub(super) struct Drafts<'p, 'a> {
    pub schema: &'a Schema,
    pub sizes: &'p [Size],
    pub columns: &'p [Vec<Option<Draft<'a>>>],
}

/// A compiled table: its program, and what is known of its ordinary columns, by position.
pub(super) struct Compiled {
    pub program: Program,
    pub facts: HashMap<usize, Facts>,
}

/// Compiles the columns of a table.
pub(super) fn compile(drafts: Drafts<'_, '_>, table: usize) -> Result<Compiled> {
    let mut compiler = Compiler {
        drafts,
        program: Program { spaces: 1, ..Program::default() },
        spaces: vec![table],
        columns: HashMap::new(),
        stored: HashMap::new(),
        path: Vec::new(),
    };
    let mut facts = HashMap::new();
    for (column, draft) in drafts.columns[table].iter().enumerate() {
        if draft.is_some() {
            let made = compiler.column(0, column)?;
            compiler.program.columns.push(made.slot);
            facts.insert(column, made.facts);
        }
    }
    Ok(Compiled { program: compiler.program, facts })
}

struct Compiler<'p, 'a> {
    drafts: Drafts<'p, 'a>,
    program: Program,
    /// The table of each space.
    spaces: Vec<usize>,
    /// What is computed already, by space and column.
    columns: HashMap<(usize, usize), Column>,
    /// The slots of what columns store.
    stored: HashMap<(usize, usize), usize>,
    /// The columns, by table and position, that wait for the one that is being compiled.
    path: Vec<(usize, usize)>,
}

#[derive(Clone, Copy)]
struct Column {
    slot: usize,
    facts: Facts,
}

/// A part of a recipe.
struct Part {
    source: Source,
    /// Whether nobody else uses its slot.
    is_own: bool,
    facts: Facts,
    /// That of the column, where it is one.
    affinity: Option<Affinity>,
}

impl Compiler<'_, '_> {
    fn slot(&mut self, facts: Facts) -> usize {
        self.program.slots += 1;
        self.program.longest_bytes = self.program.longest_bytes.saturating_add(facts.longest_bytes);
        self.program.slots - 1
    }

    /// The values of a column in a space.
    fn column(&mut self, space: usize, column: usize) -> Result<Column> {
        if let Some(known) = self.columns.get(&(space, column)) {
            return Ok(*known);
        }
        let table = self.spaces[space];
        self.refuse_circle(table, column)?;
        let draft =
            self.drafts.columns[table][column].as_ref().expect("whoever names a column knows that it is planned");
        self.path.push((table, column));
        let part = self.part(space, column, &draft.recipe)?;
        self.path.pop();
        let made = Column { slot: self.own_slot(&part), facts: part.facts };
        self.columns.insert((space, column), made);
        Ok(made)
    }

    /// A column that would have to be made of itself.
    fn refuse_circle(&self, table: usize, column: usize) -> Result<()> {
        let Some(start) = self.path.iter().position(|&step| step == (table, column)) else { return Ok(()) };
        let name = |&(table, column): &(usize, usize)| {
            let table = &self.drafts.schema.tables[table];
            format!("{}.{}", table.name, table.columns[column].name)
        };
        let circle: Vec<String> = self.path[start..].iter().chain([&(table, column)]).map(name).collect();
        let draft = self.drafts.columns[table][column].as_ref().expect("it is on the path");
        let error = draft.error(
            self.drafts.schema,
            (table, column),
            format!("columns need one another: {}", circle.join(" -> ")),
        );
        Err(error.advise("one of them has to be made of something else"))
    }

    /// A slot with the values of a part that nobody else uses.
    fn own_slot(&mut self, part: &Part) -> usize {
        match part.source {
            Source::Slot(slot) if part.is_own => slot,
            ref from => {
                let (from, slot) = (from.clone(), self.slot(part.facts));
                self.program.steps.push(Step::Copy { from, slot });
                slot
            }
        }
    }

    /// What a column stores.
    fn stored(&mut self, space: usize, column: usize) -> Result<Part> {
        let Column { slot: from, mut facts } = self.column(space, column)?;
        let affinity = self.drafts.schema.tables[self.spaces[space]].columns[column].affinity;
        let slot = match self.stored.get(&(space, column)) {
            Some(&slot) => slot,
            None => {
                let slot = self.slot(facts);
                self.program.steps.push(Step::Store { from, affinity, slot });
                self.stored.insert((space, column), slot);
                slot
            }
        };
        facts.kinds = stored_kinds(facts.kinds, affinity);
        Ok(Part { source: Source::Stored { from, slot }, is_own: false, facts, affinity: Some(affinity) })
    }

    /// The values of a part of the recipe of `column`.
    fn part(&mut self, space: usize, column: usize, recipe: &Recipe) -> Result<Part> {
        let of_slot = |slot, facts| Part { source: Source::Slot(slot), is_own: true, facts, affinity: None };
        match recipe {
            Recipe::Value(value) => Ok(Part {
                facts: value_facts(value),
                source: Source::Constant(value.clone()),
                is_own: false,
                affinity: None,
            }),
            Recipe::Column { column, .. } => self.stored(space, *column),
            Recipe::Generator { generator, purpose } => {
                let facts = Facts::of(&**generator);
                let (generator, random, slot) =
                    (generator.clone(), self.random(space, column, *purpose), self.slot(facts));
                self.program.steps.push(Step::Generate { generator, random, space, slot });
                Ok(of_slot(slot, facts))
            }
            Recipe::Null { share, purpose, inner } => {
                let part = self.part(space, column, inner)?;
                let slot = self.own_slot(&part);
                let (random, levels) = (self.random(space, column, *purpose), inner.null_levels());
                self.program.steps.push(Step::Null { share: *share, levels, random, space, slot });
                let null_share = 1.0 - (1.0 - share) * (1.0 - part.facts.null_share);
                let distinct = match part.facts.distinct {
                    Distinct::Ascending { rows } if *share > 0.0 => Distinct::Unique { rows },
                    distinct => distinct,
                };
                Ok(of_slot(slot, Facts { null_share, distinct, ..part.facts }))
            }
            Recipe::Operation { operator, operands } => {
                let parts =
                    operands.iter().map(|operand| self.part(space, column, operand)).collect::<Result<Vec<_>>>()?;
                let facts = operation_facts(*operator, operands, &parts);
                let affinities = parts.iter().map(|part| part.affinity).collect();
                let operands = parts.into_iter().map(|part| part.source).collect();
                let slot = self.slot(facts);
                self.program.steps.push(Step::Apply { operator: *operator, operands, affinities, slot });
                Ok(of_slot(slot, facts))
            }
        }
    }

    /// The random numbers of a column, or those of a part of it.
    fn random(&self, space: usize, column: usize, purpose: Option<u64>) -> CellRandom {
        let table = self.spaces[space];
        let of_table = &self.drafts.schema.tables[table];
        let name = &of_table.columns[column].name;
        let random = CellRandom::new(self.drafts.sizes[table].seed, &of_table.name, name);
        purpose.map_or(random, |purpose| random.fork(purpose))
    }
}

/// The kinds that are sure to come of these once they are stored.
fn stored_kinds(kinds: Kinds, affinity: Affinity) -> Kinds {
    match affinity {
        Affinity::Blob => kinds,
        Affinity::Integer | Affinity::Numeric if kinds == Kinds::INT => kinds,
        Affinity::Real if kinds.within(Kinds::INT.and(Kinds::REAL)) => Kinds::REAL,
        Affinity::Text if kinds == Kinds::TEXT => kinds,
        _ => Kinds::NONE,
    }
}

fn value_facts(value: &OwnedValue) -> Facts {
    let (kinds, longest_bytes) = match value {
        OwnedValue::Null => (Kinds::NONE, 0),
        OwnedValue::Int(_) => (Kinds::INT, 8),
        OwnedValue::Real(_) => (Kinds::REAL, 8),
        OwnedValue::Text(text) => (Kinds::TEXT, text.len() as u64),
        OwnedValue::Blob(blob) => (Kinds::BLOB, blob.len() as u64),
    };
    let null_share = if *value == OwnedValue::Null { 1.0 } else { 0.0 };
    Facts { kinds, longest_bytes, distinct: Distinct::Among { values: 1 }, null_share, cycle: None }
}

/// What is known of an operation's results: no kind is sure that another operand could change.
fn operation_facts(operator: Operator, operands: &[Recipe], parts: &[Part]) -> Facts {
    let all = |kinds| parts.iter().all(|part| part.facts.kinds == kinds);
    let (ints, numbers) = (all(Kinds::INT), Kinds::INT.and(Kinds::REAL));
    let is_real = || parts.iter().any(|part| part.facts.kinds == Kinds::REAL);
    let are_numbers = || parts.iter().all(|part| part.facts.kinds != Kinds::NONE && part.facts.kinds.within(numbers));
    let sum = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.facts.longest_bytes.max(SHORT_BYTES)));
    let (kinds, longest_bytes) = match operator {
        Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Remainder => {
            let kinds = match (ints, are_numbers() && is_real()) {
                (true, _) => Kinds::INT,
                (_, true) => Kinds::REAL,
                _ => Kinds::NONE,
            };
            (kinds, SHORT_BYTES)
        }
        Operator::Negate | Operator::Function(Function::Abs) if ints => (Kinds::INT, SHORT_BYTES),
        Operator::Compare(_) | Operator::And | Operator::Or | Operator::Not | Operator::Between | Operator::In => {
            (Kinds::INT, 8)
        }
        Operator::Function(Function::Length | Function::DateDiff) => (Kinds::INT, 8),
        Operator::Function(Function::Round) => (Kinds::REAL, 8),
        Operator::Function(Function::Replace) => (Kinds::NONE, sum.saturating_mul(parts[2].facts.longest_bytes.max(1))),
        _ => (Kinds::NONE, sum),
    };
    let spreads_null = !matches!(
        operator,
        Operator::Case { .. }
            | Operator::And
            | Operator::Or
            | Operator::In
            | Operator::Compare(crate::expression::Comparison::Is | crate::expression::Comparison::IsNot)
            | Operator::Function(Function::Coalesce | Function::If | Function::NullIf)
    );
    let null_share = match spreads_null {
        true => 1.0 - parts.iter().map(|part| 1.0 - part.facts.null_share).product::<f64>(),
        false => 0.0,
    };
    Facts { kinds, longest_bytes, distinct: distinct(operator, operands, parts), null_share, cycle: None }
}

/// A number that is different in every row stays so where another one is added or it is multiplied by one.
fn distinct(operator: Operator, operands: &[Recipe], parts: &[Part]) -> Distinct {
    let unknown = Distinct::Among { values: u64::MAX };
    let is_number = |at: usize| match &operands[at] {
        Recipe::Value(OwnedValue::Int(int)) => operator != Operator::Multiply || *int != 0,
        _ => false,
    };
    let other = match operator {
        Operator::Add | Operator::Subtract | Operator::Multiply if is_number(1) => 0,
        Operator::Add | Operator::Multiply if is_number(0) => 1,
        _ => return unknown,
    };
    match parts[other].facts.distinct {
        Distinct::Ascending { rows } | Distinct::Unique { rows } if parts[other].facts.kinds == Kinds::INT => {
            Distinct::Unique { rows }
        }
        _ => unknown,
    }
}
