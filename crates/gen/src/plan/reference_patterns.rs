//! Patterns of references: which rows of its parent a foreign key takes, and how often.

use super::Planner;
use super::resolve::ColumnExpr;
use super::shared_rows::MOST_ROWS;
use crate::infer::{self, Inference, NoReference, Reference, ReferencePattern};
use crate::relation::{Assignment, PositionField};
use litepress_rows::schema::{Generated, Table};
use litepress_rows::{Affinity, counted};

/// Streams of a film.
const STREAMS: u64 = 3;
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
    pub(super) fn pattern(
        &self,
        table: usize,
        column: usize,
        parent: infer::Parent,
    ) -> Result<ReferencePattern, NoReference> {
        let (of_table, of_parent) = (&self.schema.tables[table], &self.schema.tables[parent.table]);
        let (rows, parent_rows) = (self.sizes[table].rows, self.sizes[parent.table].rows);
        let columns = &of_table.foreign_keys[parent.key].columns;
        self.check_reference(table, column, parent)?;
        let is_key = columns.iter().any(|&column| infer::is_key_alone(of_table, column));
        let in_key = self.in_key(table, parent.key)?;
        let each = infer::parts_of_each(of_table, of_parent);
        let numbered = self.numbered_key(table).filter(|numbered| numbered.key == parent.key);
        let first_often = infer::first_often(self.schema, table, parent.table, parent_rows);
        let of_place = self.place_pattern(table, column, parent);
        let in_order = self.pattern_of_parts(table, column, parent);
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
            None if numbered.is_some() && !self.come_by_time(table) => {
                let most = numbered.map_or(u64::MAX, |numbered| numbered.most);
                Ok(self.numbered_pattern([table, parent.table], most))
            }
            None if in_order.is_some() => Ok(in_order.unwrap_or(ReferencePattern::AtRandom)),
            None if !of_table.columns[column].not_null && infer::is_superior(self.schema, of_table, column) => {
                Ok(ReferencePattern::Superior)
            }
            None if table == parent.table && infer::roots(of_table, column, rows).is_some() => {
                let first = infer::roots(of_table, column, rows).unwrap_or(1);
                Ok(ReferencePattern::Roots { first, second: infer::second_level(of_table, first, rows) })
            }
            None if first_often.is_some() => Ok(ReferencePattern::FirstOften(first_often.unwrap_or(1))),
            None if of_place.is_some() => Ok(of_place.unwrap_or(ReferencePattern::AtRandom)),
            None if infer::is_place_of_files(of_table, of_parent) => {
                Ok(ReferencePattern::InTurn { each: infer::ROWS_OF_FOLDER })
            }
            None if infer::is_type_of_files(of_table, of_parent) => {
                Ok(ReferencePattern::FirstInTurn(infer::ROWS_OF_FOLDER.min(parent_rows)))
            }
            None if rows >= parent_rows && infer::is_visit_of(of_table, of_parent) => Ok(ReferencePattern::Visits),
            None if self.comes_in_groups(table, column, of_parent) => {
                let after = infer::films_without_parts(of_table, of_parent, parent_rows);
                let counts = infer::skewed_counts(rows, parent_rows - after, (0, u64::MAX));
                Ok(ReferencePattern::PerParent { counts, after })
            }
            None if rows <= parent_rows && infer::is_account_of(of_table, column, of_parent) => {
                Ok(match infer::is_address(of_parent) {
                    // Nobody lives in the shop.
                    true if !infer::is_person(of_table) => ReferencePattern::OnceFromEnd,
                    true => ReferencePattern::OnceNearby,
                    false => ReferencePattern::Once,
                })
            }
            None => {
                let growing = table != parent.table && self.grow(&[table, parent.table]);
                Ok(ReferencePattern::Popular { growing: growing.then(|| self.share_before(table, parent.table)) })
            }
            Some(pattern) => Ok(pattern),
        }
    }

    /// Returns the pattern of parts, which come one after another for each whole: songs of an album, measurements of a sensor, pages
    /// of a host.
    fn pattern_of_parts(&self, table: usize, column: usize, parent: infer::Parent) -> Option<ReferencePattern> {
        let (of_table, of_parent) = (&self.schema.tables[table], &self.schema.tables[parent.table]);
        let (rows, parent_rows) = (self.sizes[table].rows, self.sizes[parent.table].rows);
        if rows < parent_rows || table == parent.table {
            return None;
        }
        if infer::is_part_of(of_table, of_parent) {
            // Some runs make no files.
            let least = u64::from(!infer::is_output_of(of_table, of_parent));
            // No album has one song only, and none has forty.
            let (fewest, most) = match infer::is_album_of(of_table, of_parent) {
                true => (rows * 6 / (10 * parent_rows), (2 * rows).div_ceil(parent_rows)),
                false => (0, u64::MAX),
            };
            let limits = (least.max(fewest), most);
            return Some(ReferencePattern::per_parent(infer::skewed_counts(rows, parent_rows, limits)));
        }
        // All sensors measure at the same times.
        if infer::time_of_series(of_table, column).is_some() {
            return Some(ReferencePattern::per_parent(infer::even_counts(rows, parent_rows)));
        }
        // A host comes with its first page.
        infer::is_page_of(of_table, of_parent)
            .then(|| ReferencePattern::per_parent(infer::skewed_counts(rows, parent_rows, (1, u64::MAX))))
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
        // Fewer films have streams, so that each has a picture and a sound.
        let are_streams = infer::are_streams(of_table) && rows >= STREAMS;
        let after = if are_streams { after.max(parents.saturating_sub(rows / STREAMS)) } else { after };
        let parents = parents - after;
        // All layers of tiles have as many levels.
        let most =
            if layers > 0 { rows.div_ceil(parents) } else { (5 * (rows / parents) / 2).saturating_add(3).min(most) };
        // One for each would be no more than a copy of the parents.
        let has_some = infer::is_part_of(of_table, of_parent) && rows >= parents || rows / 2 >= parents;
        let least = if are_streams { 2 } else { u64::from(has_some) };
        ReferencePattern::PerParent { counts: infer::skewed_counts(rows, parents, (least, most)), after }
    }

    /// Returns the share of a parent's rows that is there before the first row of a table.
    pub(super) fn share_before(&self, table: usize, parent: usize) -> f64 {
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
        infer::is_stay(of_table) && is_thing && columns.iter().all(is_free) && !self.is_lent_by_time(table, column)
    }

    /// Returns whether the rows of a table come in the order of time, whatever they belong to: the issues of all repositories.
    fn come_by_time(&self, table: usize) -> bool {
        let of_table = &self.schema.tables[table];
        let is_few = self.sizes[table].rows <= MOST_ROWS;
        of_table.rowid_alias.is_some() && is_few && infer::has_times(of_table) && infer::is_text_or_task(of_table)
    }

    /// Returns whether the rows of a table are in the order of time, although a thing is lent to one after another: each of them
    /// seldom.
    fn is_lent_by_time(&self, table: usize, column: usize) -> bool {
        /// Rows for each thing.
        const MOST: u64 = 4;
        let of_table = &self.schema.tables[table];
        let Some(thing) = self.single_parent(table, column).map(|parent| parent.table) else { return false };
        let rows = self.sizes[table].rows;
        let is_seldom = rows <= self.sizes[thing].rows.saturating_mul(MOST) && rows <= MOST_ROWS;
        of_table.rowid_alias.is_some() && is_seldom && infer::is_lent(of_table, &self.schema.tables[thing])
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
    pub(super) fn pair_of(&self, table: usize, columns: &[usize]) -> Option<Vec<usize>> {
        let of_table = &self.schema.tables[table];
        let is_reference = |&&column: &&usize| {
            let is_open = self.columns[table][column].is_none();
            is_open && matches!(infer::reference(self.schema, of_table, column), Reference::Single(_))
        };
        let pair: Vec<usize> = columns.iter().filter(is_reference).copied().collect();
        let parents = self.parts(table, &pair).filter(|parts| parts.len() == 2 && pair.len() == 2)?;
        let pairs = parents[0].parents.saturating_mul(parents[1].parents);
        // A thing is lent at different times.
        if pair.iter().any(|&column| self.is_lent_by_time(table, column)) {
            return None;
        }
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
                let is_of_lookup = self.is_lookup(parents[0]) && self.grow(&parents[1..]);
                is_of_lookup || self.grow(&parents) && self.depth(parents[1]) > self.depth(parents[0])
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
            infer::is_part_of(of_table, of)
                || infer::are_genres_of(other, of)
                || infer::is_of_conversation(of_table, of)
        });
        // Nobody talks alone, and as many as react to a message are in its channel.
        let is_talk = parent(one).is_some_and(|of| infer::is_of_conversation(of_table, &self.schema.tables[of]));
        let least = match is_part {
            true if is_talk && rows >= 2 * one.parents => (rows / one.parents / 2).clamp(2, 5),
            _ => u64::from(is_part && rows >= one.parents),
        };
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
    pub(super) fn number_in(&self, table: usize, column: usize) -> Option<Inference> {
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
