//! B-trees, built bottom-up: first leaves, in parallel parts, then the levels above, as parts are put together.
//!
//! ```text
//! table_leaf, index_leaf   records become cells on leaf pages, each with its reader: table_reader, index_reader
//! bulk_load                sorted items become the parts of an index
//! entry_tree               parts of entries that come in key order become a tree
//! assembler                parts get page numbers and interior pages above them (interior)
//! schema                   sqlite_schema, whose root is page 1
//! ```

pub(crate) mod assembler;
pub(crate) mod bulk_load;
pub(crate) mod entry_tree;
pub(crate) mod index_leaf;
pub(crate) mod index_reader;
pub(crate) mod input_positions;
pub(crate) mod interior;
pub(crate) mod key_counter;
pub(crate) mod open_page;
pub(crate) mod schema;
pub(crate) mod table_leaf;
pub(crate) mod table_reader;
