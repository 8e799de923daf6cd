//! Inference of columns without annotation, foreign keys among them.

use super::Planner;
use super::conversations::{first_rows, is_newest};
use super::resolve::ColumnExpr;
use crate::infer::{
    self, Inference, NoReference, Reference, ReferencePattern, Sites, TableContext, TableInference, Versions,
};
use crate::relation::{Assignment, PositionField};
use crate::tables::generated_tables;
use litepress_rows::schema::{ForeignKey, Generated, Table};
use litepress_rows::{Affinity, Result, counted};

/// The reason of a reference that is that of another row.
const SHARED: &str = "that of ";

/// Addresses in each city, if there are not too few cities.
const ADDRESSES_OF_CITY: u64 = 8;

/// The columns of one foreign key within a key of its table.
struct KeyPart {
    /// Position of the foreign key among those of the table.
    key: usize,
    /// Rows of the parent.
    parents: u64,
    columns: Vec<usize>,
}

/// A key that consists of a foreign key and a number, such as a line number, or one of some texts.
struct NumberedKey {
    /// Position of the foreign key among those of the table.
    key: usize,
    /// The leading column of the foreign key, and the number.
    by: usize,
    number: usize,
    /// The largest number, if it is that of one of some texts.
    most: u64,
}

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
    fn has_shared_parent(&self, table: usize, column: usize) -> bool {
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
            counted: self.counted(table, drafts),
            latest: self.latest(table, drafts),
            roots: columns()
                .filter(|&column| infer::is_to_itself(self.schema, of_table, column))
                .find_map(|column| Some((column, first_rows(text(column)?)?))),
            depth: self.depth(table),
        })
        .infer()
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

    /// Returns the length of the longest chain of parents of a table.
    pub(super) fn depth(&self, table: usize) -> i64 {
        self.depths.get_or_init(|| self.chains())[table]
    }

    /// Returns the length of the longest chain of parents of each table, of at most `MOST` parents.
    fn chains(&self) -> Vec<i64> {
        const MOST: usize = 8;
        let count = self.schema.tables.len();
        let before: Vec<Vec<usize>> = (0..count).map(|table| self.tables_before(table)).collect();
        let mut lengths = vec![0; count];
        for _ in 0..MOST {
            let longest = |parents: &Vec<usize>| parents.iter().map(|&parent| lengths[parent] + 1).max().unwrap_or(0);
            lengths = before.iter().map(longest).collect();
        }
        lengths
    }

    /// Returns the tables whose rows come before those of a table: its parents, the products of an order's lines, the orders of the
    /// product that a review is about, and the visits for which an invoice is.
    fn tables_before(&self, table: usize) -> Vec<usize> {
        let of_table = &self.schema.tables[table];
        let is_back = |key: &&ForeignKey| !is_newest(of_table, key.columns[0]);
        let keys = of_table.foreign_keys.iter().filter(is_back);
        let parents = keys.filter_map(|key| self.schema.position(&key.parent));
        let parents = parents.chain(self.parents_of_lines(table)).chain(self.orders_of_review(table));
        let parents = parents.chain(self.visits_before(table).map(|visits| visits.table));
        parents.filter(|&parent| parent != table).collect()
    }

    /// Returns the tables that the lines of a table's rows refer to.
    fn parents_of_lines(&self, table: usize) -> impl Iterator<Item = usize> {
        let of_table = &self.schema.tables[table];
        let children = self.schema.tables.iter();
        let children =
            children.filter(|of| of.foreign_keys.iter().any(|key| key.parent.eq_ignore_ascii_case(&of_table.name)));
        let lines = children.filter(move |of| infer::is_line_of(of, of_table));
        lines.flat_map(|of| &of.foreign_keys).filter_map(|key| self.schema.position(&key.parent))
    }

    /// Returns the tables of orders with lines of what the reviews in a table are about.
    fn orders_of_review(&self, table: usize) -> impl Iterator<Item = usize> {
        let of_table = &self.schema.tables[table];
        let is_review = infer::has_last_word(of_table, "review rating feedback");
        let is_about = |product: usize| {
            let name = &self.schema.tables[product].name;
            of_table.foreign_keys.iter().any(|key| key.parent.eq_ignore_ascii_case(name))
        };
        let orders = (0..self.schema.tables.len()).filter(move |&orders| is_review && orders != table);
        orders
            .filter(move |&orders| self.parents_of_lines(orders).any(|product| product != orders && is_about(product)))
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

    /// Fails if a column cannot refer to the rows of a parent.
    fn check_reference(&self, table: usize, column: usize, parent: infer::Parent) -> Result<(), NoReference> {
        let (of_table, of_parent) = (&self.schema.tables[table], &self.schema.tables[parent.table]);
        let (rows, parent_rows) = (self.sizes[table].rows, self.sizes[parent.table].rows);
        let columns = &of_table.foreign_keys[parent.key].columns;
        let key = format!("{}.{}", of_parent.name, of_parent.columns[parent.column].name);
        if of_parent.columns[parent.column].generated != Generated::No || self.leads_back(table, column) {
            return Err("its parent's key is a foreign key that leads back to it, or is generated".to_owned().into());
        }
        if self.sizes[parent.table].tpch.is_some() {
            return Err(format!("its parent {} is a table of TPC-H", of_parent.name).into());
        }
        if parent_rows == 0 {
            return Err(format!("{key} has no values").into());
        }
        let is_other = |&&other: &&usize| {
            let planned = self.columns[table][other].is_some();
            planned && self.drafts().reference((table, other)).is_none_or(|of| of.parent != parent.table)
        };
        if let Some(&other) = columns.iter().find(is_other) {
            return Err(
                format!("{}, another column of its foreign key, is not a ref", of_table.columns[other].name).into()
            );
        }
        let is_key = columns.iter().any(|&column| infer::is_key_alone(of_table, column));
        if is_key && rows > parent_rows {
            let why =
                format!("it is unique, and {key} has {} for {}", counted(parent_rows, "value"), counted(rows, "row"));
            return Err(NoReference { why, most_rows: Some(parent_rows) });
        }
        Ok(())
    }

    /// Chooses the rows that a column refers to. `Err` is the reason why it cannot refer to any.
    fn pattern(&self, table: usize, column: usize, parent: infer::Parent) -> Result<ReferencePattern, NoReference> {
        let (of_table, of_parent) = (&self.schema.tables[table], &self.schema.tables[parent.table]);
        let (rows, parent_rows) = (self.sizes[table].rows, self.sizes[parent.table].rows);
        let columns = &of_table.foreign_keys[parent.key].columns;
        self.check_reference(table, column, parent)?;
        let is_key = columns.iter().any(|&column| infer::is_key_alone(of_table, column));
        let in_key = self.in_key(table, parent.key)?;
        let each = infer::parts_of_each(of_table, of_parent);
        let numbered = self.numbered_key(table).filter(|numbered| numbered.key == parent.key);
        // The first column of a foreign key decides for the others.
        match in_key {
            _ if columns.iter().find(|&&column| self.columns[table][column].is_none()) != Some(&column) => {
                Ok(ReferencePattern::AtRandom)
            }
            _ if columns.iter().any(|&column| self.columns[table][column].is_some()) => Ok(ReferencePattern::AtRandom),
            _ if rows < parent_rows && infer::rows_for_one(of_table, column, of_parent).is_some() => {
                Ok(ReferencePattern::per_parent(vec![(0, parent_rows - rows), (1, rows)]))
            }
            None if is_key => Ok(ReferencePattern::Once),
            None if each.is_some() => {
                Ok(ReferencePattern::per_parent(infer::as_many_each(rows, parent_rows, each.unwrap_or(1))))
            }
            None if numbered.is_some() => {
                let most = numbered.map_or(u64::MAX, |numbered| numbered.most);
                Ok(self.numbered_pattern([table, parent.table], most))
            }
            None if rows >= parent_rows && table != parent.table && infer::is_part_of(of_table, of_parent) => {
                // Some runs make no files.
                let least = u64::from(!infer::is_output_of(of_table, of_parent));
                Ok(ReferencePattern::per_parent(infer::skewed_counts(rows, parent_rows, (least, u64::MAX))))
            }
            None if !of_table.columns[column].not_null && infer::is_superior(self.schema, of_table, column) => {
                Ok(ReferencePattern::Superior)
            }
            None if table == parent.table && infer::roots(of_table, column, rows).is_some() => {
                let first = infer::roots(of_table, column, rows).unwrap_or(1);
                Ok(ReferencePattern::Roots { first, second: infer::second_level(of_table, first, rows) })
            }
            None if infer::first_often(self.schema, table, parent.table, parent_rows).is_some() => {
                let first = infer::first_often(self.schema, table, parent.table, parent_rows);
                Ok(ReferencePattern::FirstOften(first.unwrap_or(1)))
            }
            None if self.place_pattern(table, column, parent).is_some() => {
                Ok(self.place_pattern(table, column, parent).unwrap_or(ReferencePattern::AtRandom))
            }
            None if infer::is_place_of_files(of_table, of_parent) => {
                Ok(ReferencePattern::InTurn { each: infer::ROWS_OF_FOLDER })
            }
            None if infer::is_type_of_files(of_table, of_parent) => {
                Ok(ReferencePattern::FirstInTurn(infer::ROWS_OF_FOLDER.min(parent_rows)))
            }
            None if self.comes_in_groups(table, column, of_parent) => {
                let least = u64::from(rows >= parent_rows && infer::is_visit_of(of_table, of_parent));
                let after = infer::films_without_parts(of_table, of_parent, parent_rows);
                let counts = infer::skewed_counts(rows, parent_rows - after, (least, u64::MAX));
                Ok(ReferencePattern::PerParent { counts, after })
            }
            None if rows <= parent_rows && infer::is_account_of(of_table, column, of_parent) => {
                Ok(if infer::is_address(of_parent) { ReferencePattern::OnceNearby } else { ReferencePattern::Once })
            }
            None => {
                let growing = table != parent.table && self.grow(&[table, parent.table]);
                Ok(ReferencePattern::Popular { growing: growing.then(|| self.share_before(table, parent.table)) })
            }
            Some(pattern) => Ok(pattern),
        }
    }

    /// Returns the pattern of references to wards, cities, countries and languages.
    fn place_pattern(&self, table: usize, column: usize, parent: infer::Parent) -> Option<ReferencePattern> {
        let (of_table, of_parent) = (&self.schema.tables[table], &self.schema.tables[parent.table]);
        let (rows, parent_rows) = (self.sizes[table].rows, self.sizes[parent.table].rows);
        let is_parent = |words: &str| infer::has_last_word(of_parent, words);
        if infer::is_person(of_table) && is_parent("department ward") {
            Some(ReferencePattern::AtRandom)
        } else if infer::is_address(of_table) && is_parent("city town") {
            // Several people live in a city, and belong to one store there.
            Some(ReferencePattern::FirstInTurn(parent_rows.min(rows.div_ceil(ADDRESSES_OF_CITY))))
        } else if infer::is_city_of(of_table, of_parent) {
            Some(ReferencePattern::FirstInTurn(parent_rows))
        } else {
            let is_first = is_parent("language") && self.is_lookup(parent.table);
            let is_first = is_first && !infer::is_called(of_table, column, "original*");
            is_first.then_some(ReferencePattern::MostlyFirst)
        }
    }

    /// Returns the pattern of numbered rows: chapters of films. A parent has at most `most`.
    fn numbered_pattern(&self, [table, parent]: [usize; 2], most: u64) -> ReferencePattern {
        let (of_table, of_parent) = (&self.schema.tables[table], &self.schema.tables[parent]);
        let (rows, parents) = (self.sizes[table].rows, self.sizes[parent].rows);
        let layers = infer::layers_without_tiles(self.schema, of_table, of_parent, parents);
        let after = infer::films_without_parts(of_table, of_parent, parents).max(layers);
        let parents = parents - after;
        // All layers of tiles have as many levels.
        let most =
            if layers > 0 { rows.div_ceil(parents) } else { (5 * (rows / parents) / 2).saturating_add(3).min(most) };
        // One for each would be no more than a copy of the parents.
        let has_some = infer::is_part_of(of_table, of_parent) && rows >= parents || rows / 2 >= parents;
        ReferencePattern::PerParent { counts: infer::skewed_counts(rows, parents, (u64::from(has_some), most)), after }
    }

    /// Returns the share of a parent's rows that is there before the first row of a table.
    fn share_before(&self, table: usize, parent: usize) -> f64 {
        // A line comes with its order.
        let is_whole = |&whole: &usize| infer::is_line_of(&self.schema.tables[table], &self.schema.tables[whole]);
        let mut parents =
            self.schema.tables[table].foreign_keys.iter().filter_map(|key| self.schema.position(&key.parent));
        let table = parents.find(is_whole).filter(|&whole| whole != parent).unwrap_or(table);
        let (tables, rows) = (&self.schema.tables, self.sizes[table].rows);
        infer::share_before([&tables[parent], &tables[table]], rows, [parent, table].map(|table| self.depth(table)))
    }

    /// Returns whether the rows that refer to one row through a column come one after another, and some rows have none.
    fn comes_in_groups(&self, table: usize, column: usize, of_parent: &Table) -> bool {
        let of_table = &self.schema.tables[table];
        infer::time_of_series(of_table, column).is_some()
            || infer::is_visit_of(of_table, of_parent)
            || infer::is_input_of(of_table, of_parent)
            || infer::is_meta_of(of_table, of_parent)
            || self.are_settings_of_users(table, of_parent)
            || infer::is_run_of_commit(of_table, of_parent)
            || infer::is_value_of_film(of_table, of_parent)
            || infer::is_cast_of(of_table, of_parent)
            || infer::is_answer_to(of_table, of_parent)
            || infer::is_territory(of_table) && infer::has_last_word(of_parent, "region")
            || self.is_taken_in_turn(table, column)
            || infer::is_address_of(of_table, column, of_parent)
            || infer::is_attached_to(of_table, of_parent) && !self.has_shared_parent(table, column)
    }

    /// Returns whether the rows of a table are settings of the users in another one.
    fn are_settings_of_users(&self, table: usize, of_parent: &Table) -> bool {
        let parent = self.schema.position(&of_parent.name);
        let rows = [Some(table), parent].map(|table| table.map_or(0, |table| self.sizes[table].rows));
        infer::are_settings_of_users(&self.schema.tables[table], of_parent, rows)
    }

    /// Returns whether a column refers to what the stays in a table are of: a room, or else the person who stays. One stay
    /// ends before the next one begins, so the rows of one thing are consecutive.
    fn is_taken_in_turn(&self, table: usize, column: usize) -> bool {
        let of_table = &self.schema.tables[table];
        let parent = |at: usize| self.single_parent(table, at).map(|parent| &self.schema.tables[parent.table]);
        let columns: Vec<usize> = (0..of_table.columns.len()).filter(|&at| parent(at).is_some()).collect();
        let is_free = |&at: &usize| {
            let is_key = infer::unique_keys(of_table).any(|key| key.contains(&at));
            self.columns[table][at].is_none() && !is_key
        };
        let thing = columns.iter().find(|&&at| parent(at).is_some_and(|parent| !infer::is_person(parent)));
        let only = columns.first().filter(|_| columns.len() == 1);
        let is_thing = thing.or(only) == Some(&column) && of_table.columns[column].not_null;
        infer::is_stay(of_table) && is_thing && columns.iter().all(is_free)
    }

    /// Chooses the pattern of a foreign key within a key that consists of foreign keys.
    ///
    /// Of two, the first one has consecutive rows for each parent, in varying numbers, and the second one other rows in
    /// each of them. Of more, or of two that are almost all pairs, they count like the digits of the row number: the
    /// first one uses the rows of its parent evenly, one after another, and the last one has another row of its parent
    /// in each row. So all parents are used, and rows are in the order of the key.
    fn in_key(&self, table: usize, key: usize) -> Result<Option<ReferencePattern>, NoReference> {
        let of_table = &self.schema.tables[table];
        let is_open = |&column: &usize| self.columns[table][column].is_none();
        let numbered = self.numbered_key(table);
        for columns in infer::unique_keys(of_table) {
            let is_numbered =
                numbered.as_ref().is_some_and(|key| columns.contains(&key.by) && columns.contains(&key.number));
            let is_resolved = is_numbered || columns.iter().any(|&column| infer::is_key_alone(of_table, column));
            let columns = self.pair_of(table, &columns).filter(|_| !is_resolved).unwrap_or(columns);
            let Some(parts) = self.parts(table, &columns).filter(|_| columns.len() > 1 && !is_resolved) else {
                continue;
            };
            let Some(position) = parts.iter().position(|part| part.key == key) else { continue };
            if columns.iter().all(is_open) {
                let rows = self.sizes[table].rows;
                let product =
                    |parts: &[KeyPart]| parts.iter().fold(1_u64, |all, part| all.saturating_mul(part.parents));
                let combinations = product(&parts);
                if rows > combinations {
                    let [values, of] = [counted(combinations, "value"), counted(rows, "row")];
                    let why = format!("it is part of a key that has {values} for {of}");
                    return Err(NoReference { why, most_rows: Some(combinations) });
                }
                if let Some(pattern) = self.pairs(table, &parts, position) {
                    return Ok(Some(pattern));
                }
                let each = match position {
                    0 => rows.div_ceil(parts[0].parents.max(1)),
                    _ => product(&parts[position + 1..]),
                };
                return Ok(Some(ReferencePattern::InTurn { each: each.clamp(1, i64::MAX.unsigned_abs()) }));
            }
            let other = parts.iter().filter(|part| part.key != key).flat_map(|part| &part.columns);
            if let (2, Some(other)) = (parts.len(), other.copied().find(|&other| self.has_children(table, other))) {
                return Ok(Some(self.distinct_in(table, &parts, other)));
            }
        }
        Ok(None)
    }

    /// Returns the two foreign keys of a key that has other columns, too: different pairs make it unique.
    fn pair_of(&self, table: usize, columns: &[usize]) -> Option<Vec<usize>> {
        let of_table = &self.schema.tables[table];
        let is_reference = |&&column: &&usize| {
            let is_open = self.columns[table][column].is_none();
            is_open && matches!(infer::reference(self.schema, of_table, column), Reference::Single(_))
        };
        let pair: Vec<usize> = columns.iter().filter(is_reference).copied().collect();
        let parents = self.parts(table, &pair).filter(|parts| parts.len() == 2 && pair.len() == 2)?;
        let pairs = parents[0].parents.saturating_mul(parents[1].parents);
        // A text such as a UUID makes the key unique.
        let is_text = |column: &usize| infer::is_called(of_table, *column, "key_id *uuid *guid");
        if columns.iter().any(|column| !pair.contains(column) && is_text(column)) {
            return None;
        }
        (pair.len() < columns.len() && self.sizes[table].rows <= pairs).then_some(pair)
    }

    /// Chooses random pairs for a key of two foreign keys.
    fn pairs(&self, table: usize, parts: &[KeyPart], position: usize) -> Option<ReferencePattern> {
        let of_table = &self.schema.tables[table];
        let parent = |part: &KeyPart| self.schema.position(&of_table.foreign_keys[part.key].parent);
        // A pair without a time comes with its later row: a status has the tags that were there. A like comes soon after it.
        let comes_with_row = !infer::has_times(of_table) || infer::is_reaction(of_table);
        let leader = usize::from(
            comes_with_row && parts.len() == 2 && {
                let parents: Vec<usize> = parts.iter().filter_map(parent).collect();
                self.grow(&parents) && self.depth(parents[1]) > self.depth(parents[0])
            },
        );
        let [one, other] = [parts.get(leader)?, parts.get(1 - leader)?];
        if parts.len() != 2 {
            return None;
        }
        let is_itself = parts.iter().any(|part| parent(part) == Some(table));
        // A CHECK may want two different rows of one table.
        let may_be_unequal = of_table.has_check && parent(one) == parent(other);
        let rows = self.sizes[table].rows;
        // Consecutive children need parents enough on the other side.
        let mean = rows as f64 / one.parents.max(1) as f64;
        if is_itself || may_be_unequal || mean > 0.4 * other.parents as f64 {
            return None;
        }
        // An order has a line at least, and a film a genre.
        let is_part = parent(one).zip(parent(other)).is_some_and(|(of, other)| {
            let [of, other] = [of, other].map(|at| &self.schema.tables[at]);
            infer::is_part_of(of_table, of) || infer::are_genres_of(other, of)
        });
        let least = u64::from(is_part && rows >= one.parents);
        Some(match position == leader {
            true => {
                ReferencePattern::per_parent(infer::skewed_counts(rows, one.parents, (least, other.parents / 2 + 1)))
            }
            // The territories of a region come one after another, and so do those of a person.
            false if parent(other).is_some_and(|of| infer::is_territory(&self.schema.tables[of])) => {
                ReferencePattern::InTurn { each: 1 }
            }
            false => self.distinct_in(table, parts, one.columns[0]),
        })
    }

    /// Returns the pattern of the other one of two foreign keys, whose first one has consecutive rows through `column`.
    fn distinct_in(&self, table: usize, parts: &[KeyPart], column: usize) -> ReferencePattern {
        let of_table = &self.schema.tables[table];
        let parents = parts.iter().filter_map(|part| self.schema.position(&of_table.foreign_keys[part.key].parent));
        let parents: Vec<usize> = parents.collect();
        let of = |leads: bool| {
            let part = parts.iter().find(|part| part.columns.contains(&column) == leads)?;
            self.schema.position(&of_table.foreign_keys[part.key].parent)
        };
        let pair = of(true).zip(of(false)).filter(|_| self.grow(&parents));
        let growing = pair.map(|(leader, parent)| self.share_before(leader, parent));
        // An account does not follow itself.
        let other = matches!(parents[..], [one, other] if one == other) && self.sizes[parents[0]].rows > 1;
        ReferencePattern::DistinctIn { column: of_table.columns[column].name.clone(), growing, other }
    }

    /// Returns whether the rows of all these tables come one after another in time.
    pub(super) fn grow(&self, tables: &[usize]) -> bool {
        tables.iter().all(|&table| infer::has_times(&self.schema.tables[table]) && !self.is_lookup(table))
    }

    /// Returns whether a table has all of its rows from the start: languages, genres.
    fn is_lookup(&self, table: usize) -> bool {
        let is_lookup = |table: usize| {
            let names = infer::closed_names(self.schema, table);
            names.is_some_and(|(_, most)| self.sizes[table].rows <= most)
        };
        self.lookups.get_or_init(|| (0..self.schema.tables.len()).map(is_lookup).collect())[table]
    }

    /// Splits a key into foreign keys, if it consists of whole ones.
    fn parts(&self, table: usize, columns: &[usize]) -> Option<Vec<KeyPart>> {
        let of_table = &self.schema.tables[table];
        let mut parts: Vec<KeyPart> = Vec::new();
        for &column in columns {
            let Reference::Single(parent) = infer::reference(self.schema, of_table, column) else { return None };
            match parts.iter_mut().find(|part| part.key == parent.key) {
                Some(part) => part.columns.push(column),
                None => {
                    let parents = self.sizes[parent.table].rows;
                    parts.push(KeyPart { key: parent.key, parents, columns: vec![column] });
                }
            }
        }
        let is_whole = |part: &KeyPart| part.columns.len() == of_table.foreign_keys[part.key].columns.len();
        parts.iter().all(is_whole).then_some(parts)
    }

    /// Returns whether a column has the annotation `per_parent`.
    fn has_children(&self, table: usize, column: usize) -> bool {
        let reference = self.drafts().reference((table, column));
        reference.is_some_and(|reference| matches!(reference.relation.assignment, Assignment::PerParent(_)))
    }

    /// Returns the key of one foreign key and one integer in which the integer can count the rows of each parent, if
    /// none of its columns has an annotation.
    fn numbered_key(&self, table: usize) -> Option<NumberedKey> {
        let of_table = &self.schema.tables[table];
        let reference = |column: usize| infer::reference(self.schema, of_table, column);
        infer::unique_keys(of_table).find_map(|columns| {
            let is_open = |&column: &usize| self.columns[table][column].is_none();
            let is_resolved = columns.iter().any(|&column| infer::is_key_alone(of_table, column));
            let (numbers, others): (Vec<usize>, Vec<usize>) =
                columns.iter().partition(|&&column| reference(column) == Reference::None);
            let [number] = numbers[..] else { return None };
            let of = &of_table.columns[number];
            let [KeyPart { key, parents, .. }] = self.parts(table, &others)?[..] else { return None };
            let listed = infer::listed_texts(of_table, number).map(|texts| texts.len() as u64);
            let most = listed.unwrap_or(u64::MAX);
            let suffices = self.sizes[table].rows <= most.saturating_mul(parents);
            let is_number = of.affinity == Affinity::Integer || listed.is_some() && suffices;
            let counts = is_number && of.generated == Generated::No;
            let foreign = &of_table.foreign_keys[key];
            let refers_elsewhere = self.schema.position(&foreign.parent) != Some(table);
            // A recipe has the number already, and its foreign key is inferred anew.
            let is_counted = |column: usize| {
                let draft = self.columns[table][column].as_ref();
                draft.is_none_or(|draft| {
                    let is_listed = listed.is_some() && draft.expression.contains("number_in(");
                    is_listed || matches!(draft.expr, ColumnExpr::ChildPosition { field: PositionField::Ordinal, .. })
                })
            };
            let are_open = others.iter().all(is_open) && is_counted(number);
            let is_shared = others.iter().any(|&column| self.has_shared_parent(table, column));
            (counts && refers_elsewhere && !is_resolved && are_open && !is_shared).then(|| NumberedKey {
                key,
                by: foreign.columns[0],
                number,
                most,
            })
        })
    }

    /// Infers an integer that makes a key unique together with a column of `per_parent`.
    fn number_in(&self, table: usize, column: usize) -> Option<Inference> {
        let of_table = &self.schema.tables[table];
        if (0..of_table.columns.len()).any(|by| infer::time_of_series(of_table, by) == Some(column)) {
            return None;
        }
        if let Some(numbered_key) = self.numbered_key(table).filter(|numbered_key| numbered_key.number == column) {
            let by = &of_table.columns[numbered_key.by].name;
            let listed = infer::listed_texts(of_table, column).map(|texts| infer::one_of_listed(texts, by));
            return Some(listed.unwrap_or_else(|| infer::number_in(by)));
        }
        let is_int = of_table.columns[column].affinity == Affinity::Integer;
        let is_free = is_int && of_table.rowid_alias != Some(column) && !infer::is_key_alone(of_table, column);
        let mut keys = infer::unique_keys(of_table).filter(|key| key.len() == 2 && key.contains(&column));
        let other =
            keys.find_map(|key| key.into_iter().find(|&other| other != column && self.has_children(table, other)))?;
        is_free.then(|| infer::number_in(&of_table.columns[other].name))
    }

    /// Returns whether following foreign keys leads back to the column, through columns that are all inferred.
    fn leads_back(&self, table: usize, column: usize) -> bool {
        let mut place = (table, column);
        let mut seen = vec![place];
        loop {
            if self.columns[place.0][place.1].is_some() {
                return false;
            }
            let Reference::Single(parent) = infer::reference(self.schema, &self.schema.tables[place.0], place.1) else {
                return false;
            };
            place = (parent.table, parent.column);
            if seen.contains(&place) {
                return place == (table, column);
            }
            seen.push(place);
        }
    }
}
