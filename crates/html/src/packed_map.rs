//! Packs the map of pages into columns of bytes that compress well.

use super::compressed;
use litepress_check::{MapCell, PageMap};
use serde_json::{Value, json};

/// Longest columns together, in characters of base64.
const MOST_CHARACTERS: usize = 2_600_000;
/// The b-tree of a cell that has none, or one beyond the numbers of two bytes.
const NO_BTREE: u16 = u16::MAX;
/// The free bytes of a cell without pages of b-trees.
const NO_PAGES: u16 = u16::MAX;
/// The bit beside those of uses that says that the pages belong to several b-trees.
const SEVERAL: u8 = 1 << 6;

/// Returns the columns. If they are too long, twice as many pages share a cell, and so on.
pub(crate) fn to_json(map: &PageMap) -> Value {
    let mut map = map.clone();
    loop {
        let columns = Columns::of(&map);
        if columns.characters() <= MOST_CHARACTERS || map.cells.len() <= 1 {
            return columns.to_json(&map);
        }
        map = halved(&map);
    }
}

/// The columns, each compressed.
struct Columns {
    /// Two bytes a cell, little-endian.
    btrees: String,
    uses: String,
    levels: String,
    /// Free bytes a page, two bytes, little-endian.
    free: String,
    /// Share of the pages that do not follow the leaf before them, in 255ths.
    jumps: String,
    /// Cells a page, two bytes, little-endian.
    entries: String,
    /// Four bytes a cell, little-endian; empty if several pages share a cell.
    parents: String,
}

impl Columns {
    #[expect(clippy::little_endian_bytes, reason = "browsers read typed arrays so")]
    fn of(map: &PageMap) -> Self {
        let cells = &map.cells;
        let mean = |sum: u64, cell: &MapCell| sum.checked_div(cell.btree_pages.into());
        let short = |mean: u64| u16::try_from(mean).unwrap_or(u16::MAX - 1);
        let free = cells.iter().map(|cell| mean(cell.free_bytes, cell).map_or(NO_PAGES, short));
        let entries = cells.iter().map(|cell| mean(cell.entries, cell).map_or(0, short));
        let parents = cells.iter().filter(|_| map.pages_per_cell == 1);
        let bytes: [Vec<u8>; 7] = [
            cells.iter().flat_map(|cell| btree(cell).to_le_bytes()).collect(),
            cells.iter().map(|cell| cell.uses | if cell.several_btrees { SEVERAL } else { 0 }).collect(),
            cells.iter().map(|cell| cell.level).collect(),
            free.flat_map(u16::to_le_bytes).collect(),
            cells.iter().map(jumps).collect(),
            entries.flat_map(u16::to_le_bytes).collect(),
            parents.flat_map(|cell| cell.parent.unwrap_or(0).to_le_bytes()).collect(),
        ];
        let [btrees, uses, levels, free, jumps, entries, parents] = std::thread::scope(|threads| {
            let packing = bytes.each_ref().map(|column| threads.spawn(|| compressed(column)));
            packing.map(|column| column.join().expect("compressing does not panic"))
        });
        Self { btrees, uses, levels, free, jumps, entries, parents }
    }

    fn characters(&self) -> usize {
        let Self { btrees, uses, levels, free, jumps, entries, parents } = self;
        [btrees, uses, levels, free, jumps, entries, parents].iter().map(|column| column.len()).sum()
    }

    fn to_json(&self, map: &PageMap) -> Value {
        json!({
            "pages_per_cell": map.pages_per_cell,
            "cells": map.cells.len(),
            "btrees": self.btrees,
            "uses": self.uses,
            "levels": self.levels,
            "free": self.free,
            "jumps": self.jumps,
            "entries": self.entries,
            "parents": self.parents,
        })
    }
}

fn btree(cell: &MapCell) -> u16 {
    cell.btree.and_then(|btree| u16::try_from(btree).ok()).unwrap_or(NO_BTREE)
}

fn jumps(cell: &MapCell) -> u8 {
    let share = (u64::from(cell.jumps) * 255).checked_div(cell.btree_pages.into());
    share.map_or(0, |share| u8::try_from(share).unwrap_or(u8::MAX))
}

/// Returns the map with twice as many pages a cell.
fn halved(map: &PageMap) -> PageMap {
    let cells = map.cells.chunks(2).map(|pair| pair.iter().copied().reduce(joined).unwrap_or_default()).collect();
    PageMap { pages: map.pages, pages_per_cell: map.pages_per_cell * 2, cells }
}

fn joined(left: MapCell, right: MapCell) -> MapCell {
    let differ = left.btree.zip(right.btree).is_some_and(|(left, right)| left != right);
    MapCell {
        uses: left.uses | right.uses,
        btree: left.btree.or(right.btree),
        several_btrees: left.several_btrees || right.several_btrees || differ,
        level: [left.level, right.level].into_iter().filter(|level| *level > 0).min().unwrap_or(0),
        btree_pages: left.btree_pages + right.btree_pages,
        entries: left.entries + right.entries,
        free_bytes: left.free_bytes + right.free_bytes,
        jumps: left.jumps + right.jumps,
        parent: left.parent.or(right.parent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(btree: u32, level: u8, entries: u64) -> MapCell {
        MapCell { uses: 2, btree: Some(btree), level, btree_pages: 1, entries, free_bytes: 5, ..MapCell::default() }
    }

    #[test]
    fn cells_are_joined_in_pairs() {
        let map = PageMap { pages: 3, pages_per_cell: 1, cells: vec![cell(1, 2, 7), cell(2, 0, 3), cell(2, 1, 1)] };
        let joined = halved(&map);
        assert_eq!((joined.pages_per_cell, joined.cells.len()), (2, 2));
        let first = joined.cells[0];
        assert_eq!((first.btree, first.several_btrees, first.level), (Some(1), true, 2));
        assert_eq!((first.btree_pages, first.entries, first.free_bytes), (2, 10, 10));
        assert_eq!(joined.cells[1], cell(2, 1, 1));
    }

    /// Columns that hardly compress are joined until they fit.
    #[test]
    fn a_map_that_is_too_long() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 40
        };
        let cells =
            (0..1 << 19).map(|_| MapCell { parent: u32::try_from(random()).ok(), ..cell(0, 0, random() % 900) });
        let map = PageMap { pages: 1 << 19, pages_per_cell: 1, cells: cells.collect() };
        assert!(Columns::of(&map).characters() > MOST_CHARACTERS);
        let packed = to_json(&map);
        assert!(packed["pages_per_cell"].as_u64().is_some_and(|pages| pages > 1), "{}", packed["pages_per_cell"]);
        assert!(packed.to_string().len() < MOST_CHARACTERS + 1000);
    }
}
