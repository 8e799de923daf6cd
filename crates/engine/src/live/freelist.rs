//! Puts pages on the freelist, and takes some of its leaves. Trunk pages that have lost their leaves get others, or each round of both
//! would leave some behind.

use litepress_format::freelist::{Trunk, max_leaves_written, write_trunk};

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

/// A trunk page with its leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TrunkPage {
    pub number: u32,
    next: u32,
    pub leaves: Vec<u32>,
}

impl Freelist {
    /// Reads all trunk pages. Returns `None` if the list breaks a rule.
    pub(super) fn trunks<E>(
        self,
        page_count: u32,
        mut read: impl FnMut(u32) -> Result<Vec<u8>, E>,
    ) -> Result<Option<Vec<TrunkPage>>, E> {
        let (mut trunks, mut number, mut left) = (Vec::new(), self.first_trunk, self.pages);
        let is_page = |number: &u32| (2..=page_count).contains(number);
        while number != 0 {
            if !is_page(&number) || left == 0 {
                return Ok(None);
            }
            let page = read(number)?;
            let Ok(trunk) = Trunk::decode(&page, page.len()) else { return Ok(None) };
            let leaves: Vec<u32> = trunk.leaves().collect();
            let Some(rest) = u32::try_from(leaves.len()).ok().and_then(|leaves| (left - 1).checked_sub(leaves)) else {
                return Ok(None);
            };
            if !leaves.iter().all(is_page) {
                return Ok(None);
            }
            let next = trunk.next;
            trunks.push(TrunkPage { number, next, leaves });
            (number, left) = (next, rest);
        }
        Ok((left == 0).then_some(trunks))
    }
}

/// Returns the leaves of all trunk pages, ascending. `None` if a page is listed twice.
pub(super) fn leaves_of(trunks: &[TrunkPage]) -> Option<Vec<u32>> {
    let mut leaves: Vec<u32> = trunks.iter().flat_map(|trunk| trunk.leaves.iter().copied()).collect();
    leaves.sort_unstable();
    let mut all: Vec<u32> = leaves.iter().copied().chain(trunks.iter().map(|trunk| trunk.number)).collect();
    all.sort_unstable();
    (!all.windows(2).any(|pair| pair[0] == pair[1])).then_some(leaves)
}

impl TrunkPage {
    /// Adds the first of `freed` pages as leaves, if the page is half empty. Returns the new page with the number of leaves that it took.
    pub fn filled(&self, freed: &[u32], page_bytes: usize) -> Option<(Vec<u8>, usize)> {
        let most = max_leaves_written(page_bytes);
        let room = most.saturating_sub(self.leaves.len()).min(freed.len());
        (self.leaves.len() <= most / 2 && room > 0).then(|| {
            let mut page = vec![0; page_bytes];
            write_trunk(self.next, &[&self.leaves, &freed[..room]].concat(), &mut page);
            (page, room)
        })
    }

    /// Takes leaves off the page. Returns the new page if there were any. A trunk page stays one, without leaves too: its bytes are
    /// needed if the transaction is rolled back.
    pub fn without(&self, is_taken: impl Fn(u32) -> bool, page_bytes: usize) -> Option<Vec<u8>> {
        let left: Vec<u32> = self.leaves.iter().copied().filter(|&leaf| !is_taken(leaf)).collect();
        (left.len() < self.leaves.len()).then(|| {
            let mut page = vec![0; page_bytes];
            write_trunk(self.next, &left, &mut page);
            page
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn leaves_are_taken_off_their_trunks() {
        let freed: Vec<u32> = (100..400).collect();
        let (list, pages) = Freelist { first_trunk: 0, pages: 0 }.with(&freed, 512);
        let read = |number: u32| -> Result<Vec<u8>, ()> {
            pages.iter().find(|(trunk, _)| *trunk == number).map(|(_, page)| page.clone()).ok_or(())
        };
        let trunks = list.trunks(400, read).unwrap().expect("a whole list");
        assert_eq!(trunks.len(), 3);
        let leaves = leaves_of(&trunks).unwrap();
        assert_eq!(leaves.len(), 297);
        for trunk in &trunks {
            let page = trunk.without(|leaf| leaf % 2 == 0, 512).expect("it had even leaves");
            let left = Trunk::decode(&page, 512).unwrap();
            assert_eq!(left.next, trunk.next);
            assert!(left.leaves().eq(trunk.leaves.iter().copied().filter(|leaf| leaf % 2 == 1)));
            assert_eq!(trunk.without(|_| false, 512), None);
            // A trunk page with half of its leaves takes others, and a full one does not.
            let half = TrunkPage { leaves: trunk.leaves[..50].to_vec(), ..trunk.clone() };
            let (page, taken) = half.filled(&freed, 512).expect("it has room");
            assert_eq!((taken, Trunk::decode(&page, 512).unwrap().leaves().len()), (70, 120));
            assert_eq!(half.filled(&[], 512), None);
            assert_eq!(TrunkPage { leaves: freed[..100].to_vec(), ..half }.filled(&freed, 512), None);
        }
        // A page behind the end, a wrong number of pages, a circle, a page twice.
        assert_eq!(list.trunks(300, read).unwrap(), None);
        for pages in [list.pages - 1, list.pages + 1, 1, 0] {
            assert_eq!(Freelist { pages, ..list }.trunks(400, read).unwrap(), None);
        }
        let mut circle = vec![0; 512];
        write_trunk(7, &[8], &mut circle);
        let circle = Freelist { first_trunk: 7, pages: 9 }.trunks(400, |_| Ok::<_, ()>(circle.clone())).unwrap();
        assert_eq!(circle, None);
        let twice = TrunkPage { number: 7, next: 0, leaves: vec![8, 9, 8] };
        assert_eq!(leaves_of(std::slice::from_ref(&twice)), None);
        assert_eq!(leaves_of(&[TrunkPage { leaves: vec![7], ..twice }]), None);
    }
}
