//! Lengths of the chains of parents, by which the times of a table begin after those of the tables before it.

use super::Planner;
use super::conversations::is_newest;
use crate::infer;
use litepress_rows::schema::ForeignKey;

impl Planner<'_> {
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
}
