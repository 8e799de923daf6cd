//! All conformance tests in one program: it is linked once, and no core waits for the last test of a file.
//!
//! Tests that kill processes or share locks are separate programs: see `Cargo.toml`.

mod analyze;
mod automatic_rowids;
mod compact;
mod conflicts;
mod differential;
mod evaluated;
mod faults;
mod index_trees;
mod indexes;
mod keyed_order;
mod live_lock_byte;
mod load;
mod lock_byte;
mod objects;
mod packed_sort;
mod payloads;
mod programs;
mod random_tables;
mod rtree;
mod same_bytes;
mod schema_order;
mod schema_sizes;
mod trees;
mod unknown_order;
mod unordered_keys;
mod utf16;
mod without_rowid;

use std::fs;

/// Fails if a file of this folder is neither a module above nor a test of `Cargo.toml`, so that its tests never run.
#[test]
fn every_file_is_part_of_a_test() {
    let package = env!("CARGO_MANIFEST_DIR");
    let manifest = fs::read_to_string(format!("{package}/Cargo.toml")).expect("the manifest");
    for file in fs::read_dir(format!("{package}/tests")).expect("this folder") {
        let file = file.expect("a file").file_name().into_string().expect("a name in UTF-8");
        let module = format!("\nmod {};\n", file.trim_end_matches(".rs"));
        let listed = include_str!("conformance.rs").contains(&module) || manifest.contains(&format!("\"tests/{file}"));
        assert!(listed, "tests/{file}: add `mod {};` to conformance.rs", file.trim_end_matches(".rs"));
    }
}
