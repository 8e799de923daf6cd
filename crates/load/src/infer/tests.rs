//! Decisions against SQLite itself.
