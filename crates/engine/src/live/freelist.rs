//! Puts pages on the freelist.

use litepress_format::freelist::{max_leaves_written, write_trunk};

/// The freelist as the header of the file describes it: the first trunk page, and the number of all free pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freelist {
    pub first_trunk: u32,
    pub pages: u32,
}

impl Freelist {
    /// Returns the freelist with `freed` pages in front, and the trunk pages that must be written for it. They are the
    /// first of every group of pages; the others are their leaves.
    pub fn with(self, freed: &[u32], page_bytes: usize) -> (Self, Vec<(u32, Vec<u8>)>) {
        let mut list = self;
        let mut trunks = Vec::new();
        for group in freed.chunks(1 + max_leaves_written(page_bytes)) {
            let (&trunk, leaves) = group.split_first().expect("a chunk is not empty");
            let mut page = vec![0; page_bytes];
            write_trunk(list.first_trunk, leaves, &mut page);
            trunks.push((trunk, page));
            list.first_trunk = trunk;
            list.pages += u32::try_from(group.len()).expect("leaves of a page");
        }
        (list, trunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::freelist::Trunk;

    #[test]
    fn trunks_are_chained_in_front_of_the_old_list() {
        let freed: Vec<u32> = (100..400).collect();
        let (list, trunks) = Freelist { first_trunk: 7, pages: 5 }.with(&freed, 512);
        assert_eq!(list, Freelist { first_trunk: trunks.last().unwrap().0, pages: 305 });
        let (mut next, mut found) = (list.first_trunk, Vec::new());
        while next != 7 {
            let (number, page) = trunks.iter().find(|(number, _)| *number == next).unwrap();
            let trunk = Trunk::decode(page, 512).unwrap();
            found.push(*number);
            found.extend(trunk.leaves());
            next = trunk.next;
        }
        found.sort_unstable();
        assert_eq!(found, freed);
        let old = Freelist { first_trunk: 0, pages: 0 };
        assert_eq!(old.with(&[], 4096), (old, Vec::new()));
    }
}
