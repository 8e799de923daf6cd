//! What the CREATE statement of a virtual table says of its shadow tables.

use crate::sql_tokens::{lowercase_words, unquote};

/// A virtual table: its module and the arguments of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualTable {
    /// The name of the module in small letters.
    pub module: String,
    /// The options of the module, such as `content=''`: names in small letters, and values without quotes.
    options: Vec<(String, String)>,
}

impl VirtualTable {
    /// Reads a CREATE VIRTUAL TABLE statement as `sqlite_schema` has it. Returns `None` if it is no such statement.
    #[must_use]
    pub fn of_statement(create_sql: &str) -> Option<Self> {
        let words = lowercase_words(create_sql);
        if words.get(1)? != "virtual" {
            return None;
        }
        // The name of the table is the fourth word at least, and may be `using`, too.
        let using = words.iter().skip(4).position(|word| word == "using")? + 4;
        let arguments = words.get(using + 2..).unwrap_or_default();
        let option = |words: &[String]| match words {
            [before, name, equals, value] if matches!(before.as_str(), "(" | ",") && equals == "=" => {
                Some((name.clone(), unquote(value)))
            }
            _ => None,
        };
        let options = arguments.windows(4).filter_map(option).collect();
        Some(Self { module: words.get(using + 1)?.clone(), options })
    }

    /// Returns the table that a full-text table indexes, if it does not keep its texts: empty if there is none.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        let is_content =
            |name: &str| if self.module == "fts5" { "content".starts_with(name) } else { name == "content" };
        self.options.iter().find(|(name, _)| is_content(name)).map(|(_, table)| table.as_str())
    }

    /// Returns the tokenizer that a full-text table of FTS5 states, with its arguments.
    #[must_use]
    pub fn tokenizer(&self) -> Option<&str> {
        let is_tokenizer = |name: &str| "tokenize".starts_with(name);
        self.options.iter().find(|(name, _)| is_tokenizer(name)).map(|(_, tokenizer)| tokenizer.as_str())
    }

    /// Returns the ends of the names of the tables that a table of this module must have: `data` for `words_data`. Modules other
    /// than FTS5 and R-Tree are not known.
    #[must_use]
    pub fn shadow_tables(&self) -> Vec<&'static str> {
        match self.module.as_str() {
            "rtree" | "rtree_i32" => vec!["node", "parent", "rowid"],
            "fts5" => {
                let mut tables = vec!["config", "data", "idx"];
                // FTS5 takes the beginning of an option's name for the option: first for `content`.
                let is_columnsize = |name: &str| !"content".starts_with(name) && "columnsize".starts_with(name);
                if self.content().is_none() {
                    tables.push("content");
                }
                if !self.options.iter().any(|(name, value)| is_columnsize(name) && value == "0") {
                    tables.push("docsize");
                }
                tables
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn tokenizers_are_read() {
        let tokenizer = |arguments: &str| {
            let statement = format!("CREATE VIRTUAL TABLE f USING fts5({arguments})");
            VirtualTable::of_statement(&statement).unwrap().tokenizer().map(str::to_owned)
        };
        assert_eq!(
            tokenizer("a, \"b=c\", content=t, Tokenize=\"unicode61 tokenchars '-'\"").as_deref(),
            Some("unicode61 tokenchars '-'")
        );
        assert_eq!(tokenizer("a, tok = 'it''s'").as_deref(), Some("it's"));
        assert_eq!(tokenizer("a, content='tokenize=x'"), None);
    }

    /// SQLite is the judge of which tables there are.
    #[test]
    fn shadow_tables_are_those_that_sqlite_makes() {
        for arguments in [
            "fts5(a)",
            "FTS5(a, b UNINDEXED, content='')",
            "fts5(a, content = e)",
            "fts5(a, cont=\"\", contentless_delete=1)",
            "fts5(a, tokenize = 'porter ascii', columnsize=0)",
            "fts5(a, col='0' /* none */, prefix='2 3')",
            "fts5(content, columnsize=1)",
            "rtree(id, x0, x1, +note)",
            "\"rtree_i32\"(id, x0, x1)",
        ] {
            for name in ["t", "\"using\"", "main.[a b]"] {
                let sqlite = Connection::open_in_memory().unwrap();
                let sql = format!("CREATE TABLE e(a); CREATE VIRTUAL TABLE {name} USING {arguments}");
                sqlite.execute_batch(&sql).unwrap();
                let sql = "SELECT name, sql FROM sqlite_schema WHERE rootpage = 0";
                let (name, sql): (String, String) =
                    sqlite.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
                let table = VirtualTable::of_statement(&sql).unwrap();
                let sql = "SELECT substr(name, length(?1) + 2) FROM sqlite_schema WHERE rootpage > 0 AND name LIKE ?1 || '\\__%' ESCAPE '\\' \
                           ORDER BY 1";
                let made: Vec<String> = sqlite
                    .prepare(sql)
                    .unwrap()
                    .query_map([&name], |row| row.get(0))
                    .unwrap()
                    .collect::<Result<_, _>>()
                    .unwrap();
                let mut told = table.shadow_tables();
                told.sort_unstable();
                assert_eq!(told, made, "{arguments}");
            }
        }
        assert_eq!(VirtualTable::of_statement("CREATE TABLE t(using)"), None);
    }
}
