//! Files in folders, their types, and with whom they are shared.

use super::browsing::are_bookmarks;
use super::files::TYPE_BY_NAME;
use super::names::{is_like, plain};
use super::subjects::{Kind, subject};
use super::{ColumnTraits, TableInference, TypeClass, has_last_word};
use litepress_rows::schema::Table;

/// Rows of a folder and its files, which come one after another.
pub(crate) const ROWS_OF_FOLDER: u64 = 12;
/// Types whose names end with the end of a file's name.
const PLAIN_TYPES: [&str; 5] = ["application/x-", "audio/x-", "image/x-", "text/x-", "video/x-"];
const FOLDERS: &str = "WHEN 0 THEN 'Documents' WHEN 1 THEN 'Projects' WHEN 2 THEN 'Shared' WHEN 3 THEN 'Travel' WHEN 4 THEN 'Family' WHEN 5 THEN 'Archive' ELSE 'Work' END";
const STEMS: &str = "WHEN 'image' THEN phrase('{photo_stem}') WHEN 'audio' THEN phrase('{nonzero} - {Adjective} {Noun}') WHEN 'video' THEN phrase('VID_{digits_four}') ELSE phrase('{file_stem}')";

/// Sizes of a folder and its files, in a unit of the folder's own: the first is the sum of the others.
const SIZES: &str = "WHEN 0 THEN 260 WHEN 1 THEN 1 WHEN 2 THEN 40 WHEN 3 THEN 3 WHEN 4 THEN 12 WHEN 5 THEN 7 WHEN 6 THEN 90 WHEN 7 THEN 2 WHEN 8 THEN 25 WHEN 9 THEN 5 WHEN 10 THEN 60 ELSE 15";

/// Returns whether a table holds folders and their files: each has a name, a path, and the folder that it is in.
fn is_file_tree(table: &Table) -> bool {
    let is = |name: &str, class: TypeClass| {
        table.columns.iter().any(|column| plain(&column.name) == name && ColumnTraits::new(column).class == class)
    };
    let has_folder = is("parent", TypeClass::Int) && is("path", TypeClass::Text);
    table.rowid_alias.is_some() && has_folder && is("name", TypeClass::Text) && is("size", TypeClass::Int)
}

/// Returns whether the keys of a table's rows say in which folder they are.
pub(crate) fn is_tree_by_key(table: &Table) -> bool {
    is_file_tree(table) || are_bookmarks(table)
}

/// Returns whether the files of a table are in the rows of another one: a folder and its files are in the same one.
pub(crate) fn is_place_of_files(table: &Table, parent: &Table) -> bool {
    is_file_tree(table) && has_last_word(parent, "storage drive volume disk mount user")
}

/// Returns whether the rows of a table are the types of the files in another one. The first type is that of a folder.
pub(crate) fn is_type_of_files(table: &Table, parent: &Table) -> bool {
    is_file_tree(table) && subject(&parent.name).is_some_and(|of| of.names == "mime_type")
}

impl TableInference<'_> {
    pub(super) fn shared_files(&mut self) {
        self.types_of_files();
        self.storages();
        self.file_tree();
        self.activities();
        self.shares();
    }

    /// Names of storages: folders of the server.
    fn storages(&mut self) {
        let is_storage = has_last_word(self.table, "storage") && self.table.rowid_alias.is_some();
        if let Some(at) = self.find_text("id name").filter(|_| is_storage) {
            self.set(at, "'local::/srv/' || phrase('{noun}') || sequence() || '/'", "a folder of the server");
        }
    }

    /// The first of every few rows is a folder in the root, and the others are its files.
    fn file_tree(&mut self) {
        let key = self.table.rowid_alias.filter(|_| is_file_tree(self.table)).map(|at| self.column(at));
        let parent = self.find("parent", |at| self.is_number(at));
        let (path, name) = (self.find_repeatable_text("path"), self.find_repeatable_text("name"));
        let (Some(key), Some(parent), Some(path), Some(name)) = (key, parent, path, name) else { return };
        let is_folder = format!("{key} % {ROWS_OF_FOLDER} = 1");
        let number = format!("(({key} - 1) / {ROWS_OF_FOLDER})");
        let folder = format!("CASE {number} % 7 {FOLDERS} || ' ' || (2008 + {number} / 7 % 18)");
        let text = format!("if({is_folder}, 0, {key} - ({key} - 1) % {ROWS_OF_FOLDER})");
        self.set(parent, text, "follows from the folder that the row is in");
        let file = self.name_by_type().unwrap_or("phrase('{file_stem}') || '.' || phrase('{ext}')".to_owned());
        let text = format!("if({is_folder}, {folder}, {file})");
        self.set(name, text, "the name of a folder or file");
        let name = self.column(name);
        let text = format!("'files/' || if({is_folder}, {name}, {folder} || '/' || {name})");
        self.set(path, text, "follows from the folder and the name");
        if let Some(size) = self.find_repeatable_number("size") {
            let unit = format!("(({number} + 1) * 48271 % 65537 * 3 + 211)");
            let text = format!("{unit} * CASE ({key} - 1) % {ROWS_OF_FOLDER} {SIZES} END");
            self.set(size, text, "a folder has the size of its files");
        }
    }

    /// Types of files, the first of which is that of a folder.
    fn types_of_files(&mut self) {
        let schema = self.context.schema;
        let key = self.table.rowid_alias.map(|at| self.column(at));
        let name = self.find_repeatable_text("mimetype mime_type name");
        let Some((name, key)) =
            name.zip(key).filter(|_| schema.tables.iter().any(|of| is_type_of_files(of, self.table)))
        else {
            return;
        };
        let text = format!("if({key} = 1, 'httpd/unix-directory', unique_phrase('{{mime_type}}'))");
        self.set(name, text, "the type of a folder or file");
    }

    /// Returns the name of a file by the type that the row refers to.
    fn name_by_type(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let is_type = |name: &str| is_like(name, "mimetype mime_type content_type mime");
            let column = of.columns.iter().find(|column| is_type(&plain(&column.name)))?;
            let of = self.through(by, column);
            let cases: String = TYPE_BY_NAME
                .iter()
                .map(|(end, of)| format!(" WHEN '{of}' THEN '{}'", end.trim_start_matches('.')))
                .collect();
            let plain = PLAIN_TYPES.iter().fold(of.clone(), |text, begin| format!("replace({text}, '{begin}', '')"));
            Some(format!(
                "CASE substr({of}, 1, 5) {STEMS} END || '.' || CASE {of}{cases} WHEN 'text/plain' THEN 'txt' ELSE {plain} END"
            ))
        })
    }

    /// Shares: with a person, or by a link, which has a token and may expire.
    fn shares(&mut self) {
        let with = (0..self.columns.len()).find(|&at| self.is_like(at, "share_with shared_with"));
        let Some(with) = with.filter(|_| has_last_word(self.table, "share")).map(|at| self.column(at)) else { return };
        if let Some(at) = self.find_repeatable_number("share_type type") {
            self.set(at, format!("if({with} IS NULL, 3, 0)"), "follows from with whom it is");
        }
        if let Some(at) = self.find_repeatable_text("token").filter(|&at| !self.columns[at].not_null) {
            let text = format!("if({with} IS NULL, regex('[A-Za-z0-9]{{15}}'))");
            self.set(at, text, "follows from with whom it is");
        }
        for at in 0..self.columns.len() {
            let is_end = self.is_like(at, "expiration expires*") && !self.columns[at].not_null;
            if let Some(found) = self.found[at].as_mut().filter(|_| is_end) {
                found.text = format!("if({with} IS NULL AND bool(0.5), {})", found.text);
                found.because = "follows from with whom it is".to_owned();
            }
        }
    }

    /// Activities of users: what they did, and with which file.
    fn activities(&mut self) {
        let has_files = self.context.schema.tables.iter().any(is_file_tree);
        if !has_files || self.kind() != Some(Kind::Log) {
            return;
        }
        for (names, text) in
            [("type", "phrase('{file_event}')"), ("subjectparams params", "object(file: phrase('{file}'))")]
        {
            if let Some(at) = self.find_repeatable_text(names) {
                self.set(at, text, "what a user did with a file");
            }
        }
    }
}
