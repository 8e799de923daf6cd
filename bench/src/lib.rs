//! Code shared by the programs of the benchmark suite: their line of output, which README.md describes, and random numbers.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// Returns the line of output of a program: the seconds, and the row that a database in memory answers to a query.
///
/// # Errors
/// Fails if SQLite fails, or if a value of the row is not a number.
pub fn answer(seconds: f64, asked: Option<(&Connection, &str)>) -> rusqlite::Result<String> {
    let check = asked.map(|(database, query)| row(database, query)).transpose()?;
    let check = check.map_or_else(String::new, |row| format!(", \"check\": [{row}]"));
    Ok(format!("{{\"seconds\": {seconds}{check}}}"))
}

fn row(database: &Connection, query: &str) -> rusqlite::Result<String> {
    let mut statement = database.prepare(query)?;
    let columns = statement.column_count();
    statement.query_row([], |row| {
        let values = (0..columns).map(|column| match row.get_ref(column)? {
            ValueRef::Integer(value) => Ok(value.to_string()),
            ValueRef::Real(value) => Ok(format!("{value:?}")),
            other => Err(rusqlite::Error::InvalidColumnType(column, query.to_owned(), other.data_type())),
        });
        Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join(", "))
    })
}

/// Marsaglia's xorshift with 64 bits; the seed is any number except 0.
pub struct Random(pub u64);

impl Random {
    /// Returns the next number.
    #[expect(clippy::should_implement_trait, reason = "it has no end")]
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `limit`, uniformly distributed.
    ///
    /// # Panics
    /// Never: the upper half of the product is less than `limit`.
    pub fn below(&mut self, limit: u32) -> u32 {
        let product = u128::from(self.next()) * u128::from(limit);
        u32::try_from(product >> 64).expect("below the limit")
    }
}
