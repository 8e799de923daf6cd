//! The rows of a group as a source.

use super::groups::Groups;
use super::item;
use crate::Result;
use litepress_rows::sync::{Mutex, MutexGuard, lock};
use litepress_rows::{Part, RecordChunk, RowidOrder, Source, Table};
use std::ops::RangeInclusive;

/// Rows of one table of a group, in the order of the input.
#[derive(Default)]
pub(super) struct GroupRows {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl GroupRows {
    /// Appends the row of an item.
    pub fn push(&mut self, row: &[u8]) {
        self.bytes.extend_from_slice(row);
        self.ends.push(self.bytes.len());
    }

    /// Returns the bytes of the rows.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn row(&self, row: usize) -> item::Row<'_> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        item::row(&self.bytes[start..self.ends[row]])
    }
}

/// The rest of a group's rows, behind those that were copied.
pub(super) struct GroupRest<'g, 's> {
    pub groups: &'g Mutex<&'g mut Groups<'s>>,
    pub front: &'g [u8],
    pub table: u32,
}

/// The rows of one table of a group. Rows without a rowid in the input are numbered from 1 in each group.
pub(super) struct GroupSource<'g, 's> {
    table: &'g Table,
    /// The source of all groups' rows.
    origin: &'g dyn Source,
    state: Mutex<State>,
    /// Number of rows, if all were copied.
    rows: Option<u64>,
    rest: Option<GroupRest<'g, 's>>,
}

struct State {
    /// Copied rows that were not handed out.
    first: Option<GroupRows>,
    /// Number of rows that were handed out.
    handed_out: i64,
}

impl<'g, 's> GroupSource<'g, 's> {
    /// Returns the copied rows, and the rest if there is one.
    pub fn new(table: &'g Table, origin: &'g dyn Source, first: GroupRows, rest: Option<GroupRest<'g, 's>>) -> Self {
        let rows = rest.is_none().then_some(first.len() as u64);
        let state = Mutex::new(State { first: Some(first), handed_out: 0 });
        Self { table, origin, state, rows, rest }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Source for GroupSource<'_, '_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let mut state = self.state();
        let rows = match (state.first.take(), &self.rest) {
            (Some(rows), _) => rows,
            (None, Some(rest)) => lock(rest.groups).take_rows(rest.front, rest.table)?,
            (None, None) => GroupRows::default(),
        };
        if rows.len() == 0 {
            return Ok(None);
        }
        let before = state.handed_out;
        state.handed_out += rows.len().cast_signed() as i64;
        let keeps_rowids = self.table.rowid_alias.is_some();
        Ok(Some(Box::new(GroupPart { rows, next: 0, before, keeps_rowids })))
    }

    fn origin(&self) -> Option<&dyn Source> {
        Some(self.origin)
    }

    fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Rowids ascend if those of all rows do, since their order is kept.
    fn rowid_order(&self) -> RowidOrder {
        self.origin.rowid_order()
    }

    fn rowid_range(&self) -> Option<RangeInclusive<i64>> {
        None
    }

    fn page_bytes(&self) -> f64 {
        self.origin.page_bytes()
    }
}

/// Consecutive rows of a group. A chunk ends where the positions in the input do not follow one another, so that errors name the right ones.
struct GroupPart {
    rows: GroupRows,
    next: usize,
    /// Number of rows of the group before the part.
    before: i64,
    /// Rows keep rowids that the input gives them.
    keeps_rowids: bool,
}

impl Part for GroupPart {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        while self.next < self.rows.len() && !chunk.is_full() {
            let row = self.rows.row(self.next);
            if chunk.is_empty() {
                chunk.set_first_record(row.position);
            } else if chunk.first_record() + chunk.len() as u64 != row.position {
                return Ok(());
            }
            self.next += 1;
            let number = self.before + self.next.cast_signed() as i64;
            let is_automatic = row.is_automatic || !self.keeps_rowids;
            chunk.push(if is_automatic { number } else { row.rowid }, row.record);
            if row.is_automatic {
                chunk.mark_automatic(chunk.len() - 1);
            }
        }
        Ok(())
    }
}
