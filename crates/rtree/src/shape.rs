//! The nodes of a packed tree: how many there are on each level, and their numbers.
//!
//! Every node but the last one of its level is full. Leaves and their parents are numbered as they fill, so that a parent
//! follows its leaves; the levels above, which are a thousandth of all, come last. The root is node 1, as SQLite wants it.
//!
//! ```text
//! depth 0   root 1
//! depth 1   root 1, leaves 2 3 4 ...
//! depth 3   root 1, leaves 2 .. 52, their parent 53, leaves 54 .. 104, their parent 105, ..., their parents, root's children last
//! ```

/// The shape of a packed tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeShape {
    capacity: u64,
    /// Number of nodes of each level, the leaves first.
    levels: Vec<u64>,
}

/// A node's place in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of levels below.
    pub level: usize,
    /// Number of nodes of its level before it.
    pub index: u64,
}

/// Number of the root.
pub const ROOT: u64 = 1;

impl TreeShape {
    /// Returns the shape of a tree of `items` boxes whose nodes have room for `capacity` cells.
    ///
    /// # Panics
    /// If a node has room for fewer than two cells. SQLite's have room for nine and more.
    #[must_use]
    pub fn new(items: u64, capacity: usize) -> Self {
        assert!(capacity >= 2, "a node has several children");
        let capacity = capacity as u64;
        let mut levels = vec![items.div_ceil(capacity).max(1)];
        while let Some(&last) = levels.last().filter(|&&last| last > 1) {
            levels.push(last.div_ceil(capacity));
        }
        Self { capacity, levels }
    }

    /// Returns the number of levels below the root.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.levels.iter().sum()
    }

    /// Returns the number of nodes of a level.
    #[must_use]
    pub fn nodes_of_level(&self, level: usize) -> u64 {
        self.levels[level]
    }

    /// Returns the number of a node.
    #[must_use]
    pub fn number(&self, Place { level, index }: Place) -> u64 {
        let leaves = self.levels[0];
        match level {
            _ if level == self.depth() => ROOT,
            0 if self.depth() == 1 => 2 + index,
            0 => 2 + index + index / self.capacity,
            1 => 2 + leaves.min((index + 1) * self.capacity) + index,
            _ => 2 + self.levels[..level].iter().sum::<u64>() + index,
        }
    }

    /// Returns the place of the node with a number. REQUIRES: the tree has it.
    #[must_use]
    pub fn place(&self, number: u64) -> Place {
        if number == ROOT {
            return Place { level: self.depth(), index: 0 };
        }
        let mut index = number - 2;
        if self.depth() == 1 {
            return Place { level: 0, index };
        }
        let below = self.levels[0] + self.levels[1];
        if index < below {
            let (group, at) = (index / (self.capacity + 1), index % (self.capacity + 1));
            let is_parent = at == self.capacity || index + 1 == below;
            return if is_parent {
                Place { level: 1, index: group }
            } else {
                Place { level: 0, index: group * self.capacity + at }
            };
        }
        index -= below;
        let mut level = 2;
        while index >= self.levels[level] {
            index -= self.levels[level];
            level += 1;
        }
        Place { level, index }
    }

    /// Returns the number of a node's parent. REQUIRES: the node is not the root.
    #[must_use]
    pub fn parent(&self, Place { level, index }: Place) -> u64 {
        self.number(Place { level: level + 1, index: index / self.capacity })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_node_has_a_number_and_a_parent() {
        for capacity in [2, 3, 9, 51] {
            // Miri takes a thousand times as long.
            let (step, large) = if cfg!(miri) { (97, 0) } else { (1, 3) };
            for items in (0..700).step_by(step).chain([2601, 2602, 140_000].into_iter().take(large)) {
                let shape = TreeShape::new(items, capacity);
                assert_eq!(shape.nodes_of_level(shape.depth()), 1);
                let mut numbers = BTreeSet::new();
                for level in 0..=shape.depth() {
                    for index in 0..shape.nodes_of_level(level) {
                        let place = Place { level, index };
                        let number = shape.number(place);
                        assert_eq!(shape.place(number), place, "{items} boxes, {capacity} a node, node {number}");
                        assert!(numbers.insert(number));
                        if level < shape.depth() {
                            let parent = shape.place(shape.parent(place));
                            assert_eq!((parent.level, parent.index), (level + 1, index / capacity as u64));
                        }
                    }
                }
                // Without a gap from 1 on.
                assert_eq!((numbers.first(), numbers.last()), (Some(&1), Some(&shape.nodes())));
            }
        }
    }

    #[test]
    fn small_trees_are_a_root() {
        for items in [0, 1, 51] {
            assert_eq!(TreeShape::new(items, 51).depth(), 0);
        }
        assert_eq!(TreeShape::new(52, 51).depth(), 1);
        assert_eq!(TreeShape::new(2602, 51).depth(), 2);
    }
}
