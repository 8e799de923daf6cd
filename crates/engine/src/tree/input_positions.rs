//! The positions that the rows of a tree have in their input: rows that are read back keep theirs.

/// The positions of a tree's rows, which are numbered from 0. Mostly they increase by one from row to row.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputPositions {
    /// A row and its position, for each row whose position does not follow from the row before. Both ascend.
    ranges: Vec<(u64, u64)>,
}

impl InputPositions {
    /// Adds rows from `row` on, whose positions start at `position`. No row may be added twice.
    pub fn add(&mut self, row: u64, position: u64) {
        let continues = |&(first, start): &(u64, u64)| start + (row - first) == position;
        if !self.ranges.last().is_some_and(continues) {
            self.ranges.push((row, position));
        }
    }

    /// Adds the positions of another tree, whose rows follow from row `row` on.
    pub fn append(&mut self, row: u64, others: &Self) {
        others.ranges.iter().for_each(|&(first, position)| self.add(row + first, position));
    }

    /// Returns the position of row `row`, and the next row whose position does not follow from the one before.
    pub fn locate(&self, row: u64) -> (u64, u64) {
        let behind = self.ranges.partition_point(|&(first, _)| first <= row);
        let (first, start) = self.ranges[behind - 1];
        (start + (row - first), self.ranges.get(behind).map_or(u64::MAX, |&(first, _)| first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_two_parts() {
        let (mut all, mut second) = (InputPositions::default(), InputPositions::default());
        all.add(0, 1);
        all.add(10, 11);
        second.add(0, 21);
        second.add(5, 100);
        all.append(20, &second);
        assert_eq!(all.ranges, [(0, 1), (25, 100)]);
        assert_eq!((all.locate(0), all.locate(24), all.locate(27)), ((1, 25), (25, 25), (102, u64::MAX)));
    }
}
