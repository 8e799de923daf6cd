//! B-trees, built bottom-up: first leaves, in parallel parts, then the levels above, as parts are stitched together.

pub(crate) mod index;
pub(crate) mod interior;
pub(crate) mod leaf;
pub(crate) mod open_page;
pub(crate) mod positions;
