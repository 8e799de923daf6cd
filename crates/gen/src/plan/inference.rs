//! Inference of columns without annotation, foreign keys among them.

use super::Planner;
use super::conversations::first_rows;
use crate::infer::{self, Inference, Reference, ReferencePattern, Sites, TableContext, TableInference, Versions};
use crate::tables::generated_tables;
use litepress_rows::schema::Generated;
use litepress_rows::{Affinity, Result};

/// The reason of a reference that is that of another row.
const SHARED: &str = "that of ";

impl Planner<'_> {
    /// Returns the ordinary columns without a draft.
    fn open_columns(&self) -> Vec<(usize, usize)> {
        let mut open = Vec::new();
        // TPC-H tables have rows of their own.
        for (table, of) in generated_tables(self.schema).filter(|(table, _)| self.sizes[*table].tpch.is_none()) {
            let ordinary = of.columns.iter().enumerate().filter(|(_, column)| column.generated == Generated::No);
            let missing = ordinary.filter(|&(column, _)| self.columns[table][column].is_none());
            open.extend(missing.map(|(column, _)| (table, column)));
        }
        open
    }

    /// Drafts all columns that are left. All foreign keys are decided before any of them is drafted.
    pub(super) fn infer(&mut self) -> Result<()> {
        let open = self.open_columns();
        let (mut drafts, mut alone) = (Vec::new(), Vec::new());
        let versions = Versions::new(self.schema, |table| self.sizes[table].rows);
        let is_open = |table: usize| self.columns[table].iter().all(Option::is_none);
        let versions = versions.filter(|of| is_open(of.table));
        let sites = Sites::new(self.schema, |table| self.sizes[table].rows);
        let sites = sites.filter(|of| of.tables.into_iter().all(is_open));
        for &(table, column) in &open {
            let (of_table, rows) = (&self.schema.tables[table], self.sizes[table].rows);
            let version = versions.as_ref().and_then(|of| of.key(of_table, column, rows));
            let action = || sites.as_ref().and_then(|of| of.action(self.schema, table, column));
            let type_of_file = || {
                let parent = infer::other_parent(self.schema, table, column).map(|parent| parent.table)?;
                let types = self.sizes[parent].rows;
                infer::type_of_file(of_table, &self.schema.tables[parent], types).filter(|_| is_open(parent))
            };
            if let Some(inferred) = version.or_else(action).or_else(type_of_file) {
                drafts.push((table, column, inferred));
                continue;
            }
            match infer::reference(self.schema, of_table, column) {
                _ if rows == 0 => alone.push((table, column)),
                Reference::None => match self.number_in(table, column) {
                    Some(inferred) => drafts.push((table, column, inferred)),
                    None => alone.push((table, column)),
                },
                Reference::Unclear(_) if self.is_implied(table, column) => alone.push((table, column)),
                Reference::Unclear(why) => {
                    drafts.push((table, column, infer::without_parent(of_table, column, &why.into())?))
                }
                Reference::Single(parent)
                    if parent.table == table && infer::is_tree_by_key(of_table) && self.is_implied(table, column) =>
                {
                    alone.push((table, column));
                }
                Reference::Single(parent) if parent.table == table && self.is_without_parents(table, column) => {
                    drafts.push((table, column, infer::no_parent()));
                }
                Reference::Single(parent) if self.continent(table, parent).is_some() => {
                    drafts.extend(self.continent(table, parent).map(|inferred| (table, column, inferred)));
                }
                Reference::Single(parent) => match self.pattern(table, column, parent) {
                    Ok(pattern) => {
                        let inferred = infer::of_parent(&pattern, &self.schema.tables[parent.table], parent.column);
                        drafts.push((table, column, self.with_nulls(table, column, &pattern, inferred)));
                    }
                    Err(_) if self.is_implied(table, column) => alone.push((table, column)),
                    Err(why) => drafts.push((table, column, infer::without_parent(of_table, column, &why)?)),
                },
            }
        }
        for (table, of_table) in generated_tables(self.schema) {
            let pairs = infer::unique_keys(of_table).filter_map(|key| Some((self.pair_of(table, &key)?, key)));
            let others = pairs.flat_map(|(pair, key)| key.into_iter().filter(move |column| !pair.contains(column)));
            let others: Vec<(usize, usize)> = others.map(|column| (table, column)).collect();
            self.relieved.extend(others);
        }
        self.share_parents(&mut drafts);
        self.agree(&mut drafts);
        self.agree_on_authors(&mut drafts, &mut alone);
        let mut tables: Vec<usize> = open.iter().map(|(table, _)| *table).collect();
        tables.dedup();
        for table in tables {
            let columns = self.table_columns(table, &alone, &drafts);
            let found = columns.into_iter().enumerate();
            drafts.extend(found.filter_map(|(column, inferred)| Some((table, column, inferred?))));
        }
        drafts.into_iter().try_for_each(|(table, column, inferred)| self.assign_or_simpler(table, column, inferred))
    }

    /// Infers the key of the continent of a country, if no annotation says what either table holds.
    fn continent(&self, table: usize, parent: infer::Parent) -> Option<Inference> {
        let are_open = [table, parent.table].iter().all(|&of| self.columns[of].iter().all(Option::is_none));
        let rows = self.sizes[parent.table].rows;
        infer::continent_of(self.schema, table, parent, rows).filter(|_| are_open)
    }

    /// Gives rows the parent that another parent of theirs has, too: the customer of a payment is that of its order.
    fn share_parents(&self, drafts: &mut [(usize, usize, Inference)]) {
        for position in 0..drafts.len() {
            let (table, column, inferred) = &drafts[position];
            if !inferred.text.contains("ref(") || !inferred.text.contains("popular") {
                continue;
            }
            let mut others =
                drafts.iter().filter(|(of, by, other)| of == table && by != column && other.text.contains("ref("));
            let shared = others.find_map(|(_, by, other)| {
                let may_be_null = !other.text.starts_with("ref(");
                self.shared_parent(*table, *column, (*by, may_be_null))
            });
            if let Some(inferred) = shared {
                drafts[position].2 = inferred;
            }
        }
    }

    /// Infers a foreign key as the column of the same name and parent in the row that the column `by` refers to, or is NULL.
    fn shared_parent(&self, table: usize, column: usize, (by, may_be_null): (usize, bool)) -> Option<Inference> {
        let of_table = &self.schema.tables[table];
        let shared = self.single_parent(table, column)?;
        let position = self.single_parent(table, by).filter(|_| by != column)?.table;
        let through = &self.schema.tables[position];
        let same = through.column(&of_table.columns[column].name)?;
        let parent = self.single_parent(position, same)?;
        let is_always = infer::null_share(self.schema, through, same) == 0.0;
        let is_known = is_always && !may_be_null || !of_table.columns[column].not_null;
        let mut keys = infer::unique_keys(of_table).filter(|key| key.contains(&column));
        let is_key = keys.any(|key| !key.iter().any(|&other| self.is_free_number(table, other)));
        let is_same = (parent.table, parent.column) == (shared.table, shared.column);
        let shares = infer::shares_parent(of_table, through, &self.schema.tables[shared.table]);
        (is_known && is_same && shares && !is_key).then(|| {
            let key = infer::quoted_column(&self.schema.tables[shared.table], shared.column);
            let (by, same) = (infer::quoted(&of_table.columns[by].name), infer::quoted_column(through, same));
            Inference { text: format!("ref({key}, along({by}, {same}))"), because: format!("{SHARED}{}", through.name) }
        })
    }

    /// Returns whether a column is an integer that refers to nothing, so that it can make a key unique.
    fn is_free_number(&self, table: usize, column: usize) -> bool {
        let of_table = &self.schema.tables[table];
        let of = &of_table.columns[column];
        let is_number = of.affinity == Affinity::Integer && of.generated == Generated::No;
        is_number && infer::reference(self.schema, of_table, column) == Reference::None
    }

    /// Returns whether another row that each row refers to has the same parent as the row through this column.
    pub(super) fn has_shared_parent(&self, table: usize, column: usize) -> bool {
        let of_table = &self.schema.tables[table];
        let is_known = |by: usize| of_table.columns[by].not_null || of_table.rowid_alias == Some(by);
        let others = (0..of_table.columns.len()).filter(|&by| by != column && is_known(by));
        others.into_iter().any(|by| self.shared_parent(table, column, (by, false)).is_some())
    }

    /// Returns the parent of a column that is a foreign key of its own, to another table.
    pub(super) fn single_parent(&self, table: usize, column: usize) -> Option<infer::Parent> {
        let keys = &self.schema.tables[table].foreign_keys;
        infer::other_parent(self.schema, table, column).filter(|parent| keys[parent.key].columns.len() == 1)
    }

    /// Infers the columns of a table that refer to no other table; `drafts` are those that do.
    fn table_columns(
        &self,
        table: usize,
        alone: &[(usize, usize)],
        drafts: &[(usize, usize, Inference)],
    ) -> Vec<Option<Inference>> {
        let of_table = &self.schema.tables[table];
        let columns = || 0..of_table.columns.len();
        let draft = |column: usize| {
            let mut drafts = drafts.iter();
            drafts.find(|(of, at, _)| (*of, *at) == (table, column)).map(|(_, _, inferred)| inferred)
        };
        let text = |column: usize| draft(column).map(|inferred| inferred.text.as_str());
        let is_shared = |column: usize| draft(column).is_some_and(|inferred| inferred.because.starts_with(SHARED));
        let possible_parent = |column: usize| {
            infer::other_parent(self.schema, table, column)
                .filter(|_| text(column).is_some_and(|text| text.contains("ref(")))
        };
        let parent = |column: usize| {
            possible_parent(column).filter(|_| text(column).is_some_and(|text| text.starts_with("ref(")))
        };
        let per_parent = columns().find(|&column| text(column).is_some_and(|text| text.contains("per_parent(")));
        TableInference::new(TableContext {
            schema: self.schema,
            table,
            rows: self.sizes[table].rows,
            rows_of: self.sizes.iter().map(|size| size.rows).collect(),
            day: self.day,
            is_lookup: self.is_lookup(table),
            relieved: columns().filter(|&column| self.relieved.contains(&(table, column))).collect(),
            open: columns().map(|column| alone.contains(&(table, column))).collect(),
            parents: columns().map(parent).collect(),
            possible_parents: columns().map(possible_parent).collect(),
            per_parent: per_parent.filter(|&column| parent(column).is_some()),
            once: columns().find(|&column| text(column).is_some_and(|text| text.ends_with(", once)"))),
            via: columns()
                .filter(|&column| {
                    let has = |call: &str| text(column).is_some_and(|text| text.contains(call));
                    !is_shared(column) && [", via(", ", along("].into_iter().any(has)
                })
                .collect(),
            shared: columns().filter(|&column| is_shared(column)).collect(),
            lines: self.lines(table, drafts),
            halfway: self.halfway(table, drafts),
            bought: self.lines_of_reviews(table, drafts),
            counted: self.counted(table, drafts),
            latest: self.latest(table, drafts),
            roots: columns()
                .filter(|&column| infer::is_to_itself(self.schema, of_table, column))
                .find_map(|column| Some((column, first_rows(text(column)?)?))),
            depth: self.depth(table),
        })
        .infer()
    }

    /// Returns the tables through whose rows, each once and in order, a table's columns refer to their own.
    fn halfway(&self, table: usize, drafts: &[(usize, usize, Inference)]) -> Vec<usize> {
        let own = drafts.iter().filter(|(of, ..)| *of == table).map(|(.., inferred)| inferred.text.as_str());
        let texts: Vec<&str> = own.filter(|text| text.contains(" via(") && text.contains(", once=TRUE)")).collect();
        if texts.is_empty() {
            return Vec::new();
        }
        let is_named = |(of, column): (usize, usize)| {
            let via = format!(" via({}, once=TRUE)", infer::quoted_column(&self.schema.tables[of], column));
            texts.iter().any(|text| text.contains(&via))
        };
        let tables = generated_tables(self.schema).filter(|(of, _)| *of != table);
        tables.filter(|(of, on)| (0..on.columns.len()).any(|at| is_named((*of, at)))).map(|(of, _)| of).collect()
    }

    /// Returns the table whose rows are the lines of a table's rows, if they are consecutive for each of them; `drafts` are
    /// the references that are not part of the plan yet.
    fn lines(&self, table: usize, drafts: &[(usize, usize, Inference)]) -> Option<usize> {
        let of_table = &self.schema.tables[table];
        if !infer::has_lines(of_table) {
            return None;
        }
        let lines =
            generated_tables(self.schema).filter(|(child, of)| *child != table && infer::is_line_of(of, of_table));
        lines.map(|(child, _)| child).find(|&child| {
            let refers = |column: usize| match infer::reference(self.schema, &self.schema.tables[child], column) {
                Reference::Single(parent) => parent.table == table,
                _ => false,
            };
            let is_drafted = |(of, column, inferred): &(usize, usize, Inference)| {
                let text = &inferred.text;
                *of == child && text.starts_with("ref(") && text.contains("per_parent(") && refers(*column)
            };
            let planned = || self.columns[child].iter().flatten();
            // A line that takes a value of its row cannot be part of it.
            let columns = &self.schema.tables[child].columns;
            let referring = (0..columns.len()).filter(|&at| refers(at)).map(|at| columns[at].name.as_str());
            let names: Vec<&str> = referring.chain([of_table.name.as_str()]).collect();
            let is_lookup = planned().any(|draft| draft.expr.goes_through(&names));
            let is_planned = planned().any(|draft| draft.expr.fan_out_of(table).is_some());
            !is_lookup && (is_planned || drafts.iter().any(is_drafted))
        })
    }

    /// Returns the columns that refer to a table, by table and column, if there are few enough rows to count them.
    fn counted(&self, table: usize, drafts: &[(usize, usize, Inference)]) -> Vec<(usize, usize)> {
        const MOST_ROWS: u64 = 1 << 24;
        let is_small = |table: usize| self.sizes[table].rows <= MOST_ROWS;
        let refers = |&(child, column): &(usize, usize)| {
            let parent = infer::reference(self.schema, &self.schema.tables[child], column);
            matches!(parent, Reference::Single(parent) if parent.table == table) && is_small(child) && is_small(table)
        };
        let name = &self.schema.tables[table].name;
        let names_table = |(child, column, _): &&(usize, usize, Inference)| {
            let mut keys = self.schema.tables[*child].foreign_keys.iter();
            keys.any(|key| key.columns.contains(column) && key.parent.eq_ignore_ascii_case(name))
        };
        let drafted = drafts.iter().filter(names_table).filter(|(.., inferred)| inferred.text.contains("ref("));
        drafted.map(|(child, column, _)| (*child, *column)).filter(refers).collect()
    }

    /// Returns the columns of [`counted`](Self::counted) whose rows come in the order of time.
    fn latest(&self, table: usize, drafts: &[(usize, usize, Inference)]) -> Vec<(usize, usize)> {
        const OTHERS: [&str; 4] = ["per_parent(", " via(", " along(", ", once)"];
        let is_other = |text: &str| OTHERS.iter().any(|call| text.contains(call));
        let mut latest = self.counted(table, drafts);
        latest.retain(|(child, _)| {
            *child != table && !drafts.iter().any(|(of, _, inferred)| of == child && is_other(&inferred.text))
        });
        latest
    }

    /// Returns whether the column is a foreign key only by its name.
    fn is_implied(&self, table: usize, column: usize) -> bool {
        let keys = self.schema.tables[table].foreign_keys.iter().enumerate();
        let mut keys = keys.filter(|(_, key)| key.columns.contains(&column));
        keys.all(|(at, _)| at >= self.declared[table])
    }

    /// Returns whether 0 stands for no parent.
    fn is_without_parents(&self, table: usize, column: usize) -> bool {
        let of_table = &self.schema.tables[table];
        let default = of_table.columns[column].default.as_deref().map(|default| default.trim_matches('\''));
        default == Some("0") && self.is_implied(table, column)
    }

    /// Adds NULL in a share of the rows of a nullable foreign key.
    fn with_nulls(&self, table: usize, column: usize, pattern: &ReferencePattern, inferred: Inference) -> Inference {
        let of_table = &self.schema.tables[table];
        let is_key =
            infer::unique_keys(of_table).any(|key| key.contains(&column)) || of_table.rowid_alias == Some(column);
        let is_alone =
            of_table.foreign_keys.iter().filter(|key| key.columns.contains(&column)).all(|key| key.columns.len() == 1);
        let is_popular = matches!(pattern, ReferencePattern::Popular { .. } | ReferencePattern::MostlyFirst);
        let share =
            if is_key || !is_alone || !is_popular { 0.0 } else { infer::null_share(self.schema, of_table, column) };
        match share {
            0.0 => inferred,
            share => Inference { text: format!("null({share}, {})", inferred.text), because: inferred.because },
        }
    }

    /// Drafts a column, by its type alone if the better annotation does not fit.
    fn assign_or_simpler(&mut self, table: usize, column: usize, inferred: Inference) -> Result<()> {
        let is_reference = inferred.text.contains("ref(");
        let failed = match self.assign(table, column, inferred) {
            Err(error) if !is_reference => error,
            result => return result,
        };
        let simpler = infer::by_type(&self.schema.tables[table], column);
        self.assign(table, column, simpler).map_err(|_| failed)
    }

    /// Returns whether the rows of all these tables come one after another in time.
    pub(super) fn grow(&self, tables: &[usize]) -> bool {
        tables.iter().all(|&table| infer::has_times(&self.schema.tables[table]) && !self.is_lookup(table))
    }

    /// Returns whether a table has all of its rows from the start: languages, genres.
    pub(super) fn is_lookup(&self, table: usize) -> bool {
        let is_lookup = |table: usize| {
            let names = infer::closed_names(self.schema, table);
            names.is_some_and(|(_, most)| self.sizes[table].rows <= most)
        };
        self.lookups.get_or_init(|| (0..self.schema.tables.len()).map(is_lookup).collect())[table]
    }
}
