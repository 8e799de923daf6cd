//! Counts distinct keys as ordered items pass: the first difference between neighbours tells which keys are new.

use crate::Result;
use crate::sort::{bad_item, common_prefix};
use litepress_format::sort_key::{self, KeyPart};

/// A counter of distinct keys among ordered items.
#[derive(Debug)]
pub(crate) struct KeyCounter<'p> {
    parts: &'p [KeyPart],
    /// For each column, the number of items whose first difference from their predecessor is in this column.
    pub changes: Vec<u64>,
}

impl<'p> KeyCounter<'p> {
    /// Creates a counter for keys of these columns, which come first in the items. Without columns it counts nothing.
    pub fn new(parts: &'p [KeyPart]) -> Self {
        Self { parts, changes: vec![0; parts.len()] }
    }

    pub fn counts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Counts the item that follows `previous`. `previous` is empty before the first item.
    pub fn add(&mut self, previous: &[u8], item: &[u8]) -> Result<()> {
        let common = common_prefix(previous, item);
        let mut end = 0;
        for (part, changes) in self.parts.iter().zip(&mut self.changes) {
            end += sort_key::skip(&item[end..], *part).map_err(|error| bad_item(&error))?;
            if end > common {
                *changes += 1;
                break;
            }
        }
        Ok(())
    }
}

/// Returns the numbers of distinct keys of 1, 2, ... columns, given the [first differences](KeyCounter::changes).
pub(crate) fn distinct_keys(changes: &[u64]) -> Vec<u64> {
    let sum = |sum: &mut u64, changes: &u64| {
        *sum += changes;
        Some(*sum)
    };
    changes.iter().scan(0, sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::value::Value;

    #[test]
    fn keys_are_counted_where_they_begin_to_differ() {
        let parts = [KeyPart::default(), KeyPart { descending: true, ..KeyPart::default() }];
        let mut counter = KeyCounter::new(&parts);
        let mut previous = Vec::new();
        for (rowid, (a, b)) in (1..).zip([(1, "x"), (1, "x"), (1, ""), (2, ""), (300, "y"), (300, "x")]) {
            let mut item = Vec::new();
            sort_key::push(&Value::Int(a), parts[0], &mut item);
            sort_key::push(&Value::from(b), parts[1], &mut item);
            sort_key::push_rowid(rowid, &mut item);
            counter.add(&previous, &item).unwrap();
            previous = item;
        }
        assert_eq!(distinct_keys(&counter.changes), [3, 5]);
    }
}
