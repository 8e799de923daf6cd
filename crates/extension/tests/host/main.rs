//! The extension in the newest SQLite, within this process: the library brings another one along.

mod array;
mod check;
mod print;
mod read;
mod room;
mod safety;
