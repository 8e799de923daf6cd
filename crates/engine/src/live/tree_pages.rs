//! Collects the pages of a tree, so that they can be freed.

use super::LiveTransaction;
use crate::{Error, ErrorKind, Result};
use litepress_format::cell::Cell;
use litepress_format::overflow;
use litepress_format::page::PageReader;
use std::collections::HashSet;

/// The tallest tree: one of more levels could not be addressed.
const MAX_DEPTH: u32 = 20;

/// The pages of one tree.
pub(super) struct TreePages<'t, 'd> {
    transaction: &'t LiveTransaction<'d>,
    visited: HashSet<u32>,
    /// The pages in the order of the walk.
    pages: Vec<u32>,
}

impl<'t, 'd> TreePages<'t, 'd> {
    /// Returns the numbers of all pages of the tree at `root`, overflow pages included.
    pub fn collect(transaction: &'t LiveTransaction<'d>, root: u32) -> Result<Vec<u32>> {
        let mut tree = Self { transaction, visited: HashSet::new(), pages: Vec::new() };
        tree.visit(root, 0)?;
        Ok(tree.pages)
    }

    fn visit(&mut self, number: u32, depth: u32) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(corrupt(number, "a tree has more than 20 levels"));
        }
        self.transaction.go_on()?;
        self.add(number)?;
        let (page, usable) = (self.transaction.read_page(number)?, self.transaction.page_bytes());
        let damaged = |error| corrupt(number, error);
        let reader = PageReader::new(&page, 0, usable).map_err(damaged)?;
        for cell in reader.cells() {
            let cell = cell.map_err(damaged)?;
            self.add_overflow(&cell, usable)?;
            if let Some(child) = cell.left_child() {
                self.visit(child, depth + 1)?;
            }
        }
        reader.right_child().map_or(Ok(()), |child| self.visit(child, depth + 1))
    }

    fn add_overflow(&mut self, cell: &Cell<'_>, usable: usize) -> Result<()> {
        let Some((cell, first)) = cell.payload().and_then(|payload| Some((payload, payload.overflow?))) else {
            return Ok(());
        };
        let mut left = cell.payload_len - cell.local.len() as u64;
        let mut next = first;
        while left > 0 {
            self.add(next)?;
            left = left.saturating_sub(overflow::chunk_len(usable) as u64);
            next = overflow::read_page(&self.transaction.read_page(next)?, usable).0;
        }
        Ok(())
    }

    fn add(&mut self, number: u32) -> Result<()> {
        if number < 2 || number > self.transaction.page_count() {
            return Err(corrupt(number, "a tree has a pointer to it, but the database has no such page"));
        }
        if !self.visited.insert(number) {
            return Err(corrupt(number, "two pages have a pointer to it"));
        }
        self.pages.push(number);
        Ok(())
    }
}

/// Returns the error of a page that breaks a rule.
pub(super) fn corrupt(number: u32, what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Corrupt, format!("page {number}: {what}"))
        .advise("check the database with `litepress check`, and restore it from a backup")
}
