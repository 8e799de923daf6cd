//! Inference of columns without annotation, foreign keys among them.

use super::column_annotations::ColumnAnnotation;
use super::{PendingReference, Planner, Provenance};
use crate::annotation::SourceText;
use crate::infer::{self, Inference, NoReference, Reference, ReferencePattern};
use crate::relation::Assignment;
use crate::tables::generated_tables;
use litepress_rows::schema::Generated;
use litepress_rows::{Affinity, Result, counted};

/// The columns of one foreign key within a key of its table.
struct KeyPart {
    /// Position of the foreign key among those of the table.
    key: usize,
    /// Rows of the parent.
    parents: u64,
    columns: Vec<usize>,
}

/// A key that consists of a foreign key and a number, such as a line number.
struct NumberedKey {
    /// Position of the foreign key among those of the table.
    key: usize,
    /// The leading column of the foreign key, and the number.
    by: usize,
    number: usize,
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
        let (mut pending, mut others) = (Vec::new(), Vec::new());
        for (table, column) in self.open_columns() {
            let (of_table, rows) = (&self.schema.tables[table], self.sizes[table].rows);
            match infer::reference(self.schema, of_table, column) {
                Reference::Unclear(why) if rows > 0 => {
                    others.push((table, column, infer::without_parent(of_table, column, &why.into())?));
                }
                Reference::Single(parent) if rows > 0 => {
                    let pattern = self.pattern(table, column, parent);
                    pending.push(PendingReference { table, column, parent, pattern });
                }
                _ => {
                    let inferred = self.number_in(table, column);
                    let inferred = inferred.unwrap_or_else(|| infer::column(of_table, column, rows));
                    others.push((table, column, inferred));
                }
            }
        }
        for PendingReference { table, column, parent, pattern } in pending {
            let inferred = match pattern {
                Ok(pattern) => infer::of_parent(&pattern, &self.schema.tables[parent.table], parent.column),
                Err(why) => infer::without_parent(&self.schema.tables[table], column, &why)?,
            };
            others.push((table, column, inferred));
        }
        others
            .into_iter()
            .try_for_each(|(table, column, inferred): (usize, usize, Inference)| self.assign(table, column, inferred))
    }

    /// Chooses the rows that a column refers to. `Err` is the reason why it cannot refer to any.
    fn pattern(&self, table: usize, column: usize, parent: infer::Parent) -> Result<ReferencePattern, NoReference> {
        let (of_table, of_parent) = (&self.schema.tables[table], &self.schema.tables[parent.table]);
        let (rows, parent_rows) = (self.sizes[table].rows, self.sizes[parent.table].rows);
        let key = format!("{}.{}", of_parent.name, of_parent.columns[parent.column].name);
        let columns = &of_table.foreign_keys[parent.key].columns;
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
        let in_key = self.in_key(table, parent.key)?;
        // The first column of a foreign key decides for the others.
        match in_key {
            _ if columns.iter().find(|&&column| self.columns[table][column].is_none()) != Some(&column) => {
                Ok(ReferencePattern::AtRandom)
            }
            _ if columns.iter().any(|&column| self.columns[table][column].is_some()) => Ok(ReferencePattern::AtRandom),
            None if is_key => Ok(ReferencePattern::Once),
            None if self.numbered_key(table).is_some_and(|numbered_key| numbered_key.key == parent.key) => {
                Ok(self.per_parent(table, column, parent))
            }
            None => Ok(ReferencePattern::AtRandom),
            Some(pattern) => Ok(pattern),
        }
    }

    /// Chooses the numbers of children, so that there are enough of them: fewer than twice the average, if the draw
    /// allows.
    fn per_parent(&self, table: usize, column: usize, parent: infer::Parent) -> ReferencePattern {
        const TRIES: u64 = 3;
        let (rows, parents) = (self.sizes[table].rows, self.sizes[parent.table].rows);
        let least = u64::from(rows >= parents);
        let first = (2 * u128::from(rows)).div_ceil(parents.into()).saturating_sub(least.into());
        let first = u64::try_from(first).unwrap_or(u64::MAX).max(1);
        let of_parent = &self.schema.tables[parent.table];
        let suffices = |pattern: &ReferencePattern| {
            let inferred = infer::of_parent(pattern, of_parent, parent.column);
            let source = SourceText::new(&inferred.text, "<inferred>");
            let span = 0..inferred.text.len();
            self.draft(&ColumnAnnotation {
                table,
                column,
                source,
                span,
                provenance: Provenance::Inferred(inferred.because),
            })
            .is_ok()
        };
        let drawn = (0..TRIES).map(|more| ReferencePattern::PerParent { least, most: first.saturating_add(more) });
        let each = rows.div_ceil(parents);
        drawn.into_iter().find(suffices).unwrap_or(ReferencePattern::PerParent { least: each, most: each })
    }

    /// Chooses the pattern of a foreign key within a key that consists of foreign keys.
    ///
    /// If all of them are inferred, they count like the digits of the row number: the first one uses the rows of its
    /// parent evenly, one after another, and the last one has another row of its parent in each row. So all parents
    /// are used, and rows are in the order of the key.
    fn in_key(&self, table: usize, key: usize) -> Result<Option<ReferencePattern>, NoReference> {
        let of_table = &self.schema.tables[table];
        let is_open = |&column: &usize| self.columns[table][column].is_none();
        for columns in infer::unique_keys(of_table) {
            let is_resolved = columns.iter().any(|&column| infer::is_key_alone(of_table, column));
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
                let each = match position {
                    0 => rows.div_ceil(parts[0].parents.max(1)),
                    _ => product(&parts[position + 1..]),
                };
                return Ok(Some(ReferencePattern::InTurn { each: each.clamp(1, i64::MAX.unsigned_abs()) }));
            }
            let other = parts.iter().filter(|part| part.key != key).flat_map(|part| &part.columns);
            if let (2, Some(other)) = (parts.len(), other.copied().find(|&other| self.has_children(table, other))) {
                return Ok(Some(ReferencePattern::DistinctIn(of_table.columns[other].name.clone())));
            }
        }
        Ok(None)
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
            let counts = of.affinity == Affinity::Integer && of.generated == Generated::No;
            let [KeyPart { key, .. }] = self.parts(table, &others)?[..] else { return None };
            let foreign = &of_table.foreign_keys[key];
            let refers_elsewhere = self.schema.position(&foreign.parent) != Some(table);
            (counts && refers_elsewhere && !is_resolved && columns.iter().all(is_open)).then(|| NumberedKey {
                key,
                by: foreign.columns[0],
                number,
            })
        })
    }

    /// Infers an integer that makes a key unique together with a column of `per_parent`.
    fn number_in(&self, table: usize, column: usize) -> Option<Inference> {
        let of_table = &self.schema.tables[table];
        if let Some(numbered_key) = self.numbered_key(table).filter(|numbered_key| numbered_key.number == column) {
            return Some(infer::number_in(&of_table.columns[numbered_key.by].name));
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
