//! Where rows came in their input.

/// Positions of the rows of a tree, which are numbered from 0: mostly they follow one another from row to row.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    /// A row, and the position of it and of those behind it. Both ascend.
    stretches: Vec<(u64, u64)>,
}

impl Positions {
    /// Row `row` came at `position`, and the others behind it. No row may be given twice.
    pub fn add(&mut self, row: u64, position: u64) {
        let goes_on = |&(first, start): &(u64, u64)| start + (row - first) == position;
        if !self.stretches.last().is_some_and(goes_on) {
            self.stretches.push((row, position));
        }
    }

    /// Adds those of rows that follow from row `row` on.
    pub fn append(&mut self, row: u64, others: &Self) {
        others.stretches.iter().for_each(|&(first, position)| self.add(row + first, position));
    }

    /// The position of row `row`, and the next row that does not follow it in the input.
    pub fn stretch(&self, row: u64) -> (u64, u64) {
        let behind = self.stretches.partition_point(|&(first, _)| first <= row);
        let (first, start) = self.stretches[behind - 1];
        (start + (row - first), self.stretches.get(behind).map_or(u64::MAX, |&(first, _)| first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_two_parts() {
        let (mut all, mut second) = (Positions::default(), Positions::default());
        all.add(0, 1);
        all.add(10, 11);
        second.add(0, 21);
        second.add(5, 100);
        all.append(20, &second);
        assert_eq!(all.stretches, [(0, 1), (25, 100)]);
        assert_eq!((all.stretch(0), all.stretch(24), all.stretch(27)), ((1, 25), (25, 25), (102, u64::MAX)));
    }
}
