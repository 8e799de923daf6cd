//! Accounts for the pages outside the b-trees: freelist, pointer map, lock-byte page, and pages that nothing points to.

use super::context::CheckContext;
use super::page_map::PageUse;
use super::plan::Plan;
use super::ptrmap::MapReader;
use litepress_format::freelist::Trunk;
use litepress_format::ptrmap::{Entry, EntryKind, entries_per_page, map_page_of};
use litepress_rows::Result;

/// Marks the pages whose numbers are fixed. Returns the number of pointer-map pages.
pub(super) fn claim_fixed_pages(context: &CheckContext<'_>) -> u64 {
    let lock_byte_page = context.lock_byte_page();
    if context.file.has(lock_byte_page) {
        context.visited.claim(lock_byte_page);
        context.record_other(lock_byte_page, PageUse::LockByte);
    }
    if !context.has_pointer_map() {
        return 0;
    }
    let distance = entries_per_page(context.file.usable) as u64 + 1;
    let mut map_pages = 0;
    let mut at = 2;
    while at <= u64::from(context.file.count) {
        let page = u32::try_from(at).ok().and_then(|at| map_page_of(at, context.file.usable, lock_byte_page));
        if let Some(page) = page.filter(|page| context.file.has(*page)) {
            context.visited.claim(page);
            context.record_other(page, PageUse::PointerMap);
            map_pages += 1;
        }
        at += distance;
    }
    map_pages
}

/// Walks the freelist. Returns the number of its pages.
pub(super) fn freelist(context: &CheckContext<'_>) -> Result<u64> {
    let mut map = MapReader::default();
    let mut bytes = Vec::new();
    let (mut pages, mut from) = (0, 1);
    let mut trunk_page = context.header.first_freelist_trunk;
    while trunk_page != 0 && claim_free(context, trunk_page, from, &mut map)? {
        pages += 1;
        context.file.read(trunk_page, 1, &mut bytes)?;
        let trunk = match Trunk::decode(&bytes, context.file.usable) {
            Ok(trunk) => trunk,
            Err(error) => {
                context.faults.add_to_file(Some(trunk_page), Some(error.offset()), error.message());
                break;
            }
        };
        for leaf in trunk.leaves() {
            pages += u64::from(claim_free(context, leaf, trunk_page, &mut map)?);
        }
        (from, trunk_page) = (trunk_page, trunk.next);
    }
    if pages != u64::from(context.header.freelist_pages) {
        let what = format!("the header counts {} pages on the freelist, it has {pages}", context.header.freelist_pages);
        context.faults.add_to_file(Some(1), Some(36), what);
    }
    context.advance(pages)?;
    Ok(pages)
}

fn claim_free(context: &CheckContext<'_>, page: u32, from: u32, map: &mut MapReader) -> Result<bool> {
    if let Some(problem) = context.claim_quietly(page) {
        context.faults.add_to_file(Some(from), None, format!("the freelist has page {page}, {problem}"));
        return Ok(false);
    }
    context.record_other(page, PageUse::Free);
    map.expect(context, page, Entry { kind: EntryKind::FreePage, parent: 0 })?;
    Ok(true)
}

/// Checks the largest root page, which the header of an auto-vacuum database gives.
pub(super) fn largest_root(context: &CheckContext<'_>, plan: &Plan) {
    let largest = plan.trees.iter().map(|tree| tree.root).max().unwrap_or(1).max(1);
    let counted = context.header.largest_root_page;
    if context.has_pointer_map() && counted != largest {
        let what = format!("the largest root page is {counted} in the header, {largest} in the schema");
        context.faults.add_to_file(Some(1), Some(52), what);
    }
}

/// Reports the pages that nothing points to.
pub(super) fn orphans(context: &CheckContext<'_>) {
    for range in context.visited.orphans() {
        let (first, last) = range.into_inner();
        let what = match last - first {
            0 => "orphan: nothing points to this page".to_owned(),
            _ => format!("orphans: nothing points to the pages {first} to {last}"),
        };
        context.faults.add_to_file(Some(first), None, what);
    }
}
