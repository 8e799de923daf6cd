//! Databases of one schema, shards, as sources of rows of one database.
//!
//! ```text
//! inputs        FILE arguments: files, patterns, folders; no file twice
//! shard         one moment of a shard, and whether it was changed since it was surveyed
//! survey        the schema of each shard, the roots and the rowid ranges of its tables
//! agreement     one schema of all, or the first difference
//! broken        views and triggers that the merge would break
//! tokens        the tokens of statements, compared as SQLite would
//! rowids        the order of shards for each table, and the shift of rowids
//! foreign_keys  the columns that follow the rowids of a table, over any number of foreign keys
//! references    their values, shifted or refused
//! record        records that differ from the shard's: short ones, shifted references, another encoding
//! source        a table of all shards as a source of rows
//! conflict      two rows with one key, for people
//! forecast      what can be told before rows are merged
//! virtual_tables  the content of virtual tables that their own module must fill, by SQL
//! boxes           the rows of R-Trees, to be packed
//! text_index      the indexes of full-text tables, to be joined
//! plan          all of it
//! ```
//!
//! Few shards are open at a time, however many there are. A shard that is opened again must be as it was.
#![forbid(unsafe_code)]

mod agreement;
mod boxes;
mod broken;
mod conflict;
mod forecast;
mod foreign_keys;
mod inputs;
mod plan;
mod record;
mod references;
mod rowids;
mod shard;
mod source;
mod survey;
mod text_index;
mod tokens;
mod virtual_tables;

pub use boxes::BoxSource;
pub use forecast::{MergeSample, RowidFate, TableForecast};
pub use inputs::files;
pub use plan::{MergeOptions, MergePlan};
pub use rowids::RowidPolicy;
pub use source::MergeSource;
pub use text_index::TextIndex;
