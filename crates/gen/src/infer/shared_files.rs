//! Files in folders, their types, and with whom they are shared.

use super::browsing::are_bookmarks;
use super::names::plain;
use super::subjects::{Kind, subject};
use super::times::Form;
use super::{ColumnTraits, Inference, TableInference, TypeClass, branches, has_last_word, inferred, literal};
use litepress_rows::quoted_name;
use litepress_rows::schema::Table;

/// Rows of a folder and its files, which come one after another.
pub(crate) const ROWS_OF_FOLDER: u64 = 12;
const FOLDERS: &str = "WHEN 0 THEN 'Documents' WHEN 1 THEN 'Projects' WHEN 2 THEN 'Shared' WHEN 3 THEN 'Travel' WHEN 4 THEN 'Family' WHEN 5 THEN 'Archive' ELSE 'Work' END";
/// The numbers of the types of the files in each of these folders.
const TYPES_IN: [&str; 7] =
    ["44544654458", "45496284954", "14731485261", "11113111211", "11311171121", "88484868484", "46445846494"];
/// Types of files, the stems and ends of their names, and how large they are. The first type is that of a folder.
const TYPES: [(&str, &str, &str, u64); 14] = [
    ("httpd/unix-directory", "", "", 0),
    ("image/jpeg", "{photo_stem}", ".jpg", 251),
    ("image/png", "{photo_stem}", ".png", 83),
    ("video/mp4", "VID_{digits_four}", ".mp4", 4987),
    ("application/pdf", "{file_stem}", ".pdf", 61),
    ("text/plain", "{file_stem}", ".txt", 1),
    ("text/csv", "{file_stem}", ".csv", 4),
    ("audio/mpeg", "{nonzero} - {Adjective} {Noun}", ".mp3", 457),
    ("application/zip", "{file_stem}", ".zip", 907),
    ("application/json", "{file_stem}", ".json", 2),
    ("text/html", "{file_stem}", ".html", 3),
    ("image/gif", "{photo_stem}", ".gif", 19),
    ("image/webp", "{photo_stem}", ".webp", 53),
    ("audio/flac", "{nonzero} - {Adjective} {Noun}", ".flac", 2503),
];
/// Factor of the size of the file at a place in a folder: another one for each place.
const FACTOR: [u64; 3] = [20, 17, 37];

fn factor(place: u64) -> u64 {
    FACTOR[0] + place * FACTOR[1] % FACTOR[2]
}

/// Returns the size of a folder by its number, in a unit of its own: the sum of its files.
fn sizes_of_folders(number: &str) -> String {
    let size = |(at, digit): (usize, u8)| {
        let place = at as u64 + 1;
        TYPES[usize::from(digit - b'0')].3 * factor(place)
    };
    let sum = |types: &str| types.bytes().enumerate().map(size).sum::<u64>();
    format!("CASE {number} % 7{} END", branches(0, TYPES_IN.map(sum)))
}

/// Returns the size of a file by its type and its place, in the unit of the folder.
fn size_of_file(kind: Option<String>, key: &str) -> String {
    let [base, step, modulo] = FACTOR;
    let factor = format!("({base} + ({key} - 1) % {ROWS_OF_FOLDER} * {step} % {modulo})");
    let Some(kind) = kind else { return factor };
    let sizes = TYPES[1..].iter().map(|(.., size)| size);
    format!("{factor} * CASE {kind}{} ELSE 1 END", branches(2, sizes))
}

/// Returns the annotation of the type of a file, by the folder that it is in.
pub(crate) fn type_of_file(table: &Table, parent: &Table, types: u64) -> Option<Inference> {
    let key = table.rowid_alias.filter(|_| types >= 10 && is_type_of_files(table, parent))?;
    let key = quoted_name(&table.columns[key].name);
    let cases = branches(0, TYPES_IN.map(literal));
    let text = format!(
        "if({key} % {ROWS_OF_FOLDER} = 1, 1, 1 + substr(CASE ({key} - 1) / {ROWS_OF_FOLDER} % 7{cases} END, ({key} - 1) % {ROWS_OF_FOLDER}, 1))"
    );
    Some(inferred(text, "follows from the folder that the row is in"))
}

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
        if let Some(at) = self.find_repeatable_number("available").filter(|_| is_storage) {
            self.set(at, "bool(0.98)", "most storages are there");
        }
        if let Some(at) = self.find_text("id name").filter(|_| is_storage) {
            self.set(
                at,
                "'local::/srv/' || choice('data', 'files', 'media', 'shared') || sequence() || '/'",
                "a folder of the server",
            );
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
        let folder = format!("CASE {number} % 7 {FOLDERS} || ' ' || (1 + {number} / 7 % 13)");
        let text = format!("if({is_folder}, 0, {key} - ({key} - 1) % {ROWS_OF_FOLDER})");
        self.set(parent, text, "follows from the folder that the row is in");
        let types = self.types();
        let file = types.as_ref().map_or("phrase('{file_stem}') || '.' || phrase('{ext}')".to_owned(), |kind| {
            let names = TYPES[1..].iter().map(|(_, stem, end, _)| format!("phrase('{stem}') || '{end}'"));
            format!("CASE {kind}{} ELSE phrase('{{file_stem}}') END", branches(2, names))
        });
        let text = format!("if({is_folder}, {folder}, {file})");
        self.set(name, text, "the name of a folder or file");
        let name = self.column(name);
        let text = format!("'files/' || if({is_folder}, {name}, {folder} || '/' || {name})");
        self.set(path, text, "follows from the folder and the name");
        self.times_of_folders(&is_folder);
        if let Some(size) = self.find_repeatable_number("size") {
            let unit = format!("(170 + ({number} + 1) * 48271 % 97)");
            let text =
                format!("{unit} * if({is_folder}, {}, {})", sizes_of_folders(&number), size_of_file(types, &key));
            self.set(size, text, "a folder has the size of its files");
        }
    }

    /// Times at which folders changed: after that of their last file.
    fn times_of_folders(&mut self, is_folder: &str) {
        const DAYS: i64 = 1800;
        let time = (0..self.columns.len()).find(|&at| {
            let is_number = matches!(self.time_at(at), Some((_, Form::Unix(1))));
            is_number && self.is_like(at, "mtime") && self.found[at].is_some()
        });
        let step = DAYS * 86400 / i64::try_from(self.context.rows.max(1)).unwrap_or(i64::MAX);
        let later = step * (i64::try_from(ROWS_OF_FOLDER).unwrap_or(0) + 1);
        let last = self.context.day.unix();
        if let Some(found) = time.and_then(|at| self.found[at].as_mut()) {
            found.text = format!("min({} + if({is_folder}, {later}, 0), {last})", found.text);
            found.because = "a folder changes with its last file".to_owned();
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
        let cases = branches(1, TYPES.iter().map(|(name, ..)| literal(name)));
        let text = format!("CASE {key}{cases} ELSE unique_phrase('{{mime_type}}') END");
        self.set(name, text, "the type of a folder or file");
    }

    /// Returns the number of the type of the row, if that follows from the folder.
    fn types(&self) -> Option<String> {
        let is_type = |at: usize| {
            let parent = super::other_parent(self.context.schema, self.context.table, at)?;
            let of = &self.context.schema.tables[parent.table];
            type_of_file(self.table, of, self.context.rows_in(parent.table))
        };
        (0..self.columns.len()).find(|&at| is_type(at).is_some()).map(|at| self.column(at))
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
        if let Some(at) = self.find_repeatable_number("permissions") {
            // Who has a link to a file only reads it.
            let text = format!("if({with} IS NULL, choice(1: 5, 17: 2), choice(19: 6, 17: 3, 3: 2, 1: 2))");
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
        let is_log = self.kind() == Some(Kind::Log);
        let is_upkeep = has_last_word(self.table, "migration");
        if !is_log && !is_upkeep || !self.context.schema.tables.iter().any(is_file_tree) {
            return;
        }
        if let Some(at) = self.find_repeatable_text("app appid").filter(|_| is_upkeep) {
            self.set(at, "if(sequence() < 3, 'core', phrase('{cloud_app}'))", "an app of the server");
        }
        if !is_log {
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
