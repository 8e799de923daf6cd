//! Compiles resolved expressions to programs: columns in topological order, each computed once.

use super::Draft;
use super::resolve::{Recipe, Reference};
use super::rows::Size;
use crate::expression::{Function, Operator};
use crate::generators::{Cycle, Distinct, Facts, Kinds};
use crate::program::{Nulls, Program, Source, Step};
use crate::random::CellRandom;
use crate::relation::Draw;
use crate::suggest::did_you_mean;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::Schema;
use litepress_rows::{Affinity, Error, Result};
use std::collections::HashMap;

/// Bytes of a number as text, or of another short value.
const SHORT_BYTES: u64 = 32;

/// The drafts of all tables' columns.
#[derive(Clone, Copy)]
pub(super) struct Drafts<'p, 'a> {
    pub schema: &'a Schema,
    pub sizes: &'p [Size],
    pub columns: &'p [Vec<Option<Draft<'a>>>],
}

/// A compiled table: its program, and the properties of its ordinary columns, by position.
pub(super) struct Compiled {
    pub program: Program,
    pub facts: HashMap<usize, Facts>,
    pub referred: HashMap<usize, Referred>,
}

/// The rows that a column refers to.
#[derive(Clone, Debug)]
pub(super) struct Referred {
    /// The leading column, which decides for all columns of the foreign key.
    pub leader: usize,
    /// Properties of a column that identifies the row: the number of rows, and how they repeat.
    pub facts: Facts,
    /// A column within whose equal values no two rows refer to the same row.
    pub apart_in: Option<usize>,
}

impl<'p, 'a> Drafts<'p, 'a> {
    fn draft(&self, (table, column): (usize, usize)) -> &'p Draft<'a> {
        self.columns[table][column].as_ref().expect("whoever names a column knows that it is planned")
    }

    /// Returns the reference that a column is.
    pub(super) fn reference(&self, (table, column): (usize, usize)) -> Option<&'p Reference> {
        self.columns[table][column].as_ref()?.recipe.reference()
    }

    /// Returns the leading column of a column's foreign key. All columns of one foreign key refer to the same row;
    /// the leading one is the first with a distribution, or the first of all.
    pub(super) fn leader(&self, (table, column): (usize, usize)) -> usize {
        let of_table = &self.schema.tables[table];
        let Some(parent) = self.reference((table, column)).map(|reference| reference.parent) else { return column };
        let is_its =
            |&&column: &&usize| self.reference((table, column)).is_some_and(|reference| reference.parent == parent);
        let keys = of_table.foreign_keys.iter().filter(|key| key.columns.contains(&column));
        let key =
            keys.filter(|key| self.schema.position(&key.parent) == Some(parent)).max_by_key(|key| key.columns.len());
        let Some(key) = key else { return column };
        let mut columns = key.columns.iter().filter(is_its);
        let speaks = |&&column: &&usize| {
            self.reference((table, column)).is_some_and(|reference| !reference.relation.draw.is_default())
        };
        let first = columns.clone().next().copied();
        columns.find(speaks).copied().or(first).unwrap_or(column)
    }
}

/// Compiles the columns of a table.
pub(super) fn compile(drafts: Drafts<'_, '_>, table: usize) -> Result<Compiled> {
    let mut compiler = Compiler {
        drafts,
        program: Program { spaces: 1, ..Program::default() },
        spaces: vec![table],
        columns: HashMap::new(),
        stored: HashMap::new(),
        relations: HashMap::new(),
        path: Vec::new(),
    };
    let (mut facts, mut referred) = (HashMap::new(), HashMap::new());
    for (column, draft) in drafts.columns[table].iter().enumerate() {
        if draft.is_some() {
            let made = compiler.column(0, column)?;
            compiler.program.columns.push(made.slot);
            facts.insert(column, made.facts);
            referred.extend(compiler.referred(column)?.map(|referred| (column, referred)));
        }
    }
    Ok(Compiled { program: compiler.program, facts, referred })
}

struct Compiler<'p, 'a> {
    drafts: Drafts<'p, 'a>,
    program: Program,
    /// The table of each row set.
    spaces: Vec<usize>,
    /// Compiled columns, by row set and column.
    columns: HashMap<(usize, usize), Column>,
    /// Registers of stored columns, by row set and column.
    stored: HashMap<(usize, usize), usize>,
    /// Row sets of references, by row set and leading column.
    relations: HashMap<(usize, usize), usize>,
    /// Columns under compilation, outermost first, by table and position.
    path: Vec<(usize, usize)>,
}

#[derive(Clone, Copy)]
struct Column {
    slot: usize,
    facts: Facts,
}

/// The value of a compiled expression.
struct Part {
    source: Source,
    /// Whether nothing else reads its register.
    is_own: bool,
    facts: Facts,
    /// Affinity, if it is a column.
    affinity: Option<Affinity>,
}

impl Compiler<'_, '_> {
    fn slot(&mut self, facts: Facts) -> usize {
        self.program.slots += 1;
        self.program.longest_bytes = self.program.longest_bytes.saturating_add(facts.longest_bytes);
        self.program.slots - 1
    }

    /// Compiles a column of a row set, once.
    fn column(&mut self, space: usize, column: usize) -> Result<Column> {
        if let Some(known) = self.columns.get(&(space, column)) {
            return Ok(*known);
        }
        let part = self.fresh(space, column)?;
        let made = Column { slot: self.own_slot(&part), facts: part.facts };
        self.columns.insert((space, column), made);
        Ok(made)
    }

    /// Compiles a column of a row set, even if that was done before.
    fn fresh(&mut self, space: usize, column: usize) -> Result<Part> {
        let table = self.spaces[space];
        self.refuse_circle(table, column)?;
        self.path.push((table, column));
        let part = match &self.drafts.draft((table, column)).recipe {
            Recipe::Through { through, name, at } => {
                let affinity = self.drafts.schema.tables[table].columns[column].affinity;
                self.through(space, (through, name), column, *at, Some(affinity))
            }
            recipe => self.part(space, column, recipe),
        };
        self.path.pop();
        part
    }

    /// Rejects a column that depends on itself.
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

    /// Returns a register of the value's own, copying it if something else reads it.
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

    /// Compiles a column, converted by its affinity.
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

    /// Compiles an expression in the annotation of `column`.
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
            Recipe::Reference(_) => self.values_of_key(space, column, recipe),
            Recipe::Null { .. } if recipe.reference().is_some() => self.values_of_key(space, column, recipe),
            Recipe::Through { through, name, at } => self.through(space, (through, name), column, *at, None),
            Recipe::Number { column: by, at } => {
                let is_counted = self
                    .drafts
                    .reference((self.spaces[space], *by))
                    .is_some_and(|reference| matches!(reference.relation.draw, Draw::Children(_)));
                if !is_counted {
                    return Err(self.error_in(
                        space,
                        column,
                        *at,
                        "number_in counts rows by a column that is ref(parent.key, per_parent(...))",
                    ));
                }
                let of = self.relation(space, *by)?;
                let distinct = Distinct::Among { values: u64::MAX };
                let facts = Facts { kinds: Kinds::INT, longest_bytes: 8, distinct, null_share: 0.0, cycle: None };
                let slot = self.slot(facts);
                self.program.steps.push(Step::Number { space: of, slot });
                Ok(of_slot(slot, facts))
            }
            Recipe::Null { share, purpose, inner } => {
                let part = self.part(space, column, inner)?;
                let slot = self.own_slot(&part);
                let (random, levels) = (self.random(space, column, *purpose), inner.null_levels());
                self.program.steps.push(Step::Null { nulls: Nulls { share: *share, levels, random }, space, slot });
                Ok(of_slot(slot, with_nulls(part.facts, *share)))
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

    /// Compiles the key of the rows that a column refers to.
    fn values_of_key(&mut self, space: usize, column: usize, recipe: &Recipe) -> Result<Part> {
        let reference = recipe.reference().expect("whoever asks has seen it");
        let of = self.relation(space, column)?;
        let affinity = self.drafts.schema.tables[reference.parent].columns[reference.key].affinity;
        let is_as_stored = match &self.drafts.draft((reference.parent, reference.key)).recipe {
            Recipe::Generator { generator, .. } => stored_kinds(generator.kinds(), affinity) != Kinds::NONE,
            _ => false,
        };
        // The child must have the value as the parent stores it.
        let part = if is_as_stored { self.fresh(of, reference.key)? } else { self.stored(of, reference.key)? };
        let facts = self.key_facts(space, column, part.facts);
        Ok(Part { facts, affinity: None, ..part })
    }

    /// Returns the properties of a column of references; `key` are those of the parent's key.
    fn key_facts(&self, space: usize, column: usize, key: Facts) -> Facts {
        let table = self.spaces[space];
        let leader = self.drafts.leader((table, column));
        let reference = self.drafts.reference((table, leader)).expect("it leads");
        let rows = Distinct::Among { values: reference.relation.parents.max(1) };
        let is_unique = key.distinct.is_unique();
        let (distinct, cycle) = match (&reference.relation.draw, key.distinct) {
            (Draw::Once, Distinct::Among { values }) => (Distinct::Among { values }, None),
            (Draw::Once, distinct) if reference.relation.to_itself => {
                (Distinct::Unique { rows: distinct.at_most() }, None)
            }
            (Draw::Once, Distinct::Ascending { rows }) => {
                (Distinct::Ascending { rows: rows.min(reference.relation.parents) }, None)
            }
            (Draw::Once, Distinct::Unique { rows }) => {
                (Distinct::Unique { rows: rows.min(reference.relation.parents) }, None)
            }
            (Draw::InTurn { each }, _) if is_unique => {
                (rows, Some(Cycle { each: *each, values: reference.relation.parents.max(1) }))
            }
            (_, Distinct::Among { values }) => (Distinct::Among { values: values.min(rows.at_most()) }, None),
            _ => (rows, None),
        };
        with_nulls(Facts { distinct, cycle, ..key }, self.null_share(table, leader))
    }

    /// Returns the share of rows without a parent.
    fn null_share(&self, table: usize, leader: usize) -> f64 {
        let mut recipe = &self.drafts.draft((table, leader)).recipe;
        let mut others = 1.0;
        while let Recipe::Null { share, inner, .. } = recipe {
            others *= 1.0 - share;
            recipe = inner;
        }
        let relation = recipe.reference().map(|reference| &reference.relation);
        if relation.is_some_and(|relation| relation.is_to_earlier() && !relation.is_total) {
            others *= 1.0 - 1.0 / self.drafts.sizes[table].rows.max(1) as f64;
        }
        1.0 - others
    }

    /// Compiles a reference. Returns the row set of the parents.
    fn relation(&mut self, space: usize, column: usize) -> Result<usize> {
        let table = self.spaces[space];
        let leader = self.drafts.leader((table, column));
        if let Some(&known) = self.relations.get(&(space, leader)) {
            return Ok(known);
        }
        let mut nulls = Vec::new();
        let mut recipe = &self.drafts.draft((table, leader)).recipe;
        while let Recipe::Null { share, purpose, inner } = recipe {
            let (random, levels) = (self.random(space, leader, *purpose), inner.null_levels());
            nulls.push(Nulls { share: *share, levels, random });
            recipe = inner;
        }
        let Recipe::Reference(reference) = recipe else { unreachable!("a leader is a reference") };
        self.refuse_two_leaders(table, column, leader)?;
        let siblings = match reference.relation.draw {
            Draw::DistinctIn { column: other, .. } => {
                self.check_distinct_in(space, leader, reference, other)?;
                Some(self.relation(space, other)?)
            }
            Draw::OtherThan { column: other, .. } => {
                self.check_other_than(space, leader, reference, other)?;
                Some(self.relation(space, other)?)
            }
            _ => None,
        };
        self.spaces.push(reference.parent);
        let to = self.program.spaces;
        self.program.spaces += 1;
        let random = self.random(space, leader, None);
        let mut relation = reference.relation.clone();
        if let Draw::OtherThan { column: other, each } = &mut relation.draw {
            *each = self.turns_of(table, *other);
        }
        self.program.steps.push(Step::Refer { relation, random, from: space, siblings, nulls, space: to });
        self.relations.insert((space, leader), to);
        Ok(to)
    }

    fn refuse_two_leaders(&self, table: usize, column: usize, leader: usize) -> Result<()> {
        let reference = self.drafts.reference((table, column)).filter(|_| column != leader);
        let Some(reference) = reference.filter(|reference| !reference.relation.draw.is_default()) else {
            return Ok(());
        };
        let leader = &self.drafts.schema.tables[table].columns[leader].name;
        let message = format!("the columns of a foreign key refer to one row, and {leader} says already which");
        Err(self.drafts.draft((table, column)).error_at(self.drafts.schema, (table, column), reference.at, message))
    }

    /// Checks that the column named in `distinct_in` has `per_parent`, and that there are enough parents.
    fn check_distinct_in(&self, space: usize, column: usize, reference: &Reference, other: usize) -> Result<()> {
        let table = self.spaces[space];
        let of = self.drafts.reference((table, other)).map(|reference| &reference.relation.draw);
        let Some(Draw::Children(fan_out)) = of else {
            let message = "a column is distinct in one that is ref(parent.key, per_parent(...))";
            return Err(self.error_in(space, column, reference.at, message));
        };
        if fan_out.most() > reference.relation.parents {
            let message = format!(
                "{} rows refer to one row through {}, and there are {} to choose from",
                fan_out.most(),
                self.drafts.schema.tables[table].columns[other].name,
                reference.relation.parents
            );
            return Err(self.error_in(space, column, reference.at, &message));
        }
        Ok(())
    }

    /// Checks that the column named in `other_than` refers to the same table, and that there is another row.
    fn check_other_than(&self, space: usize, column: usize, reference: &Reference, other: usize) -> Result<()> {
        let of = self.drafts.reference((self.spaces[space], other));
        let is_alike = of.is_some_and(|of| {
            of.parent == reference.parent
                && !matches!(of.relation.draw, Draw::OtherThan { .. } | Draw::DistinctIn { .. })
        });
        let message = match is_alike {
            false => "a column refers to another row than one that is a ref(...) to the same table",
            true if reference.relation.parents < 2 => "there is no other row: the table that is referred to has one",
            true => return Ok(()),
        };
        Err(self.error_in(space, column, reference.at, message))
    }

    /// Returns `each` of a column that is `in_turn(each)`, if the parents are more than that.
    fn turns_of(&self, table: usize, column: usize) -> Option<u64> {
        let relation = &self.drafts.reference((table, column))?.relation;
        match relation.draw {
            Draw::InTurn { each } if each < relation.parents => Some(each),
            _ => None,
        }
    }

    /// Makes an error at a place of an annotation.
    fn error_in(&self, space: usize, column: usize, at: usize, message: &str) -> Error {
        let place = (self.spaces[space], column);
        self.drafts.draft(place).error_at(self.drafts.schema, place, at, message.to_owned())
    }

    /// Compiles `through.name`: a column of the row that `through` refers to. `taker` is the affinity of a column
    /// that is nothing else; with the same affinity it stores the same values, so they are converted only once.
    fn through(
        &mut self,
        space: usize,
        (through, name): (&str, &str),
        column: usize,
        at: usize,
        taker: Option<Affinity>,
    ) -> Result<Part> {
        let table = self.spaces[space];
        let by = self.referring(table, through).map_err(|message| self.error_in(space, column, at, &message))?;
        let parent = self.drafts.reference((table, by)).expect("it refers to something").parent;
        let of_parent = &self.drafts.schema.tables[parent];
        let Some(wanted) = of_parent.column(name) else {
            let near = did_you_mean(name, of_parent.columns.iter().map(|column| column.name.as_str()));
            let message = format!("table {} has no column '{name}'{near}", of_parent.name);
            return Err(self.error_in(space, column, at, &message));
        };
        if self.drafts.columns[parent][wanted].is_none() {
            let message = format!("column {name} is generated: SQLite computes its values when the row is there");
            return Err(self.error_in(space, column, at, &message));
        }
        let of = self.relation(space, by)?;
        let affinity = of_parent.columns[wanted].affinity;
        let mut part = if taker == Some(affinity) {
            let Column { slot, facts } = self.column(of, wanted)?;
            let facts = Facts { kinds: stored_kinds(facts.kinds, affinity), ..facts };
            Part { source: Source::Slot(slot), is_own: false, facts, affinity: None }
        } else {
            self.stored(of, wanted)?
        };
        let leader = self.drafts.leader((table, by));
        let distinct = Distinct::Among { values: part.facts.distinct.at_most() };
        part.facts = with_nulls(Facts { distinct, cycle: None, ..part.facts }, self.null_share(table, leader));
        Ok(part)
    }

    /// Returns the column that `through` names: by its own name, or by that of the table it refers to.
    fn referring(&self, table: usize, through: &str) -> Result<usize, String> {
        let of_table = &self.drafts.schema.tables[table];
        let refers = |column: usize| self.drafts.reference((table, column));
        if let Some(column) = of_table.column(through).filter(|&column| refers(column).is_some()) {
            return Ok(column);
        }
        let parent = self.drafts.schema.position(through);
        let mut columns: Vec<usize> = (0..of_table.columns.len())
            .filter(|&column| refers(column).is_some_and(|reference| Some(reference.parent) == parent))
            .map(|column| self.drafts.leader((table, column)))
            .collect();
        columns.sort_unstable();
        columns.dedup();
        match columns[..] {
            [column] => Ok(column),
            [] if of_table.column(through).is_some() => {
                Err(format!("column {through} refers to no row: it is no ref(...)"))
            }
            [] => Err(format!("no column of {} refers to a table {through}", of_table.name)),
            _ => {
                let names: Vec<&str> = columns.iter().map(|&column| of_table.columns[column].name.as_str()).collect();
                Err(format!("{} refer to {through}: write one of them in its place", names.join(" and ")))
            }
        }
    }

    /// Returns the properties of the rows that a column of the table itself refers to.
    fn referred(&mut self, column: usize) -> Result<Option<Referred>> {
        let table = self.spaces[0];
        let number = match &self.drafts.draft((table, column)).recipe {
            Recipe::Number { column: by, .. } => Some(*by),
            _ => None,
        };
        let no_facts = Facts {
            kinds: Kinds::NONE,
            longest_bytes: 0,
            distinct: Distinct::Ascending { rows: u64::MAX },
            null_share: 0.0,
            cycle: None,
        };
        if let Some(by) = number {
            let distinct = Distinct::Among { values: u64::MAX };
            return Ok(Some(Referred { leader: column, facts: Facts { distinct, ..no_facts }, apart_in: Some(by) }));
        }
        if self.drafts.reference((table, column)).is_none() {
            return Ok(None);
        }
        let leader = self.drafts.leader((table, column));
        let reference = self.drafts.reference((table, leader)).expect("it leads");
        let apart_in = match reference.relation.draw {
            Draw::DistinctIn { column, .. } => Some(column),
            // Rows with the same row in the other column differ, until that column comes back to it after all rows
            // had their turn.
            Draw::OtherThan { column, .. } => {
                let turns = self.turns_of(table, column).map(|each| each.saturating_mul(reference.relation.parents));
                turns.filter(|&turns| turns >= self.drafts.sizes[table].rows).map(|_| column)
            }
            _ => None,
        };
        Ok(Some(Referred { leader, facts: self.key_facts(0, column, no_facts), apart_in }))
    }

    /// Returns the random numbers of a column, or of a part of it.
    fn random(&self, space: usize, column: usize, purpose: Option<u64>) -> CellRandom {
        let table = self.spaces[space];
        let of_table = &self.drafts.schema.tables[table];
        let name = &of_table.columns[column].name;
        let random = CellRandom::new(self.drafts.sizes[table].seed, &of_table.name, name);
        purpose.map_or(random, |purpose| random.fork(purpose))
    }
}

/// Adds NULL in a share of the rows.
fn with_nulls(facts: Facts, share: f64) -> Facts {
    let distinct = match facts.distinct {
        Distinct::Ascending { rows } if share > 0.0 => Distinct::Unique { rows },
        distinct => distinct,
    };
    Facts { null_share: 1.0 - (1.0 - share) * (1.0 - facts.null_share), distinct, ..facts }
}

/// Returns the kinds that are certain to remain when a column of this affinity stores them.
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

/// Returns the properties of an operation's results. A kind counts only if no operand can change it.
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

/// Returns the cardinality of an operation. A unique integer stays unique if a constant is added or multiplied.
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
