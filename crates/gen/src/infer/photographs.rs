//! Libraries of photographs: folders and files, the sizes and places of pictures, their albums and keywords.

use super::amounts::named_column;
use super::names::{bare, is_like, plain};
use super::places::{city_by_key, key_of_trip};
use super::times::Form;
use super::{TableInference, branches, has_last_word, has_more_of, literal, words_of_table};
use crate::generators::phrases;
use litepress_rows::schema::{Column, Schema, Table};

/// Columns of pictures, of which a table has several.
const OF_PICTURES: [&str; 8] = [
    "orientation",
    "width *aspect_ratio*",
    "bit_depth color_depth",
    "latitude*",
    "format file_format",
    "capture_time creation_date date_created",
    "*trashed*",
    "directory",
];
const FOLDER: &str = "choice('Pictures': 6, 'Photos': 3, 'Camera', 'Scans')";
const STARS: &str = "choice(0: 70, 1: 2, 2: 3, 3: 9, 4: 10, 5: 6)";
const SIZE: &str = "lognormal(15.1, 0.6, min=90000, max=400000000, decimals=0)";
/// The city in which most pictures are taken.
const HOME: &str = "Bristol";
/// Folders in which libraries begin.
pub(super) const MOST_ROOTS: u64 = 4;
/// Years of the folders of a library.
const YEARS: u32 = 20;
const STILL: &str = "choice('jpg': 85, 'png': 8, 'nef': 7)";

/// Returns whether a schema has a table of pictures. Its columns are compared in full only if one says which way is up, or is of
/// Core Data.
pub(crate) fn is_of_photographs(schema: &Schema) -> bool {
    const LEAST: usize = 4;
    let may_be = |table: &&Table| table.column("orientation").is_some() || table.column("Z_PK").is_some();
    let has =
        |table: &Table, names: &str| table.columns.iter().any(|column| is_like(&bare(table, &column.name), names));
    let mut tables = schema.tables.iter().filter(may_be);
    tables.any(|table| OF_PICTURES.iter().filter(|names| has(table, names)).count() >= LEAST)
}

/// Returns whether the rows of a table are the folders of disks in which libraries of photographs begin.
pub(super) fn are_roots(schema: &Schema, table: &Table) -> bool {
    let has_path = table.columns.iter().any(|column| plain(&column.name) == "specific_path");
    has_path && words_of_table(&table.name).contains(&"root".to_owned()) && is_of_photographs(schema)
}

/// Returns the city of a trip, which ten rows have.
fn city_of_trip(key: &str) -> String {
    let cities = phrases::items("city_name");
    let cases = branches(0, cities.iter().map(|city| literal(city)));
    format!("CASE {key} / 10 * 7 % {}{cases} END", cities.len())
}

/// Returns the city in the path of an album.
fn city_in(path: &str) -> String {
    format!("substr({path}, instr({path}, ' ') + 1)")
}

impl TableInference<'_> {
    pub(super) fn photographs(&mut self) {
        if is_of_photographs(self.context.schema) {
            self.places_of_folders();
            self.folders_of_pictures();
            self.files_of_pictures();
            self.looks();
            self.times_of_files();
            self.times_of_pictures();
            self.written_positions();
            self.keywords_of_pictures();
            self.core_data();
            self.zones_of_pictures();
        }
    }

    /// Sets repeatable columns, found by their names, whatever their class is.
    fn set_each(&mut self, texts: &[(&str, &str)], because: &str) {
        for (names, text) in texts {
            let at = self.find(names, |at| self.found[at].is_none() && !self.columns[at].is_unique);
            if let Some(at) = at {
                self.set(at, *text, because);
            }
        }
    }

    /// Folders of a disk in which libraries begin.
    fn places_of_folders(&mut self) {
        if !words_of_table(&self.table.name).contains(&"root".to_owned()) {
            return;
        }
        self.set_each(
            &[
                ("label name", FOLDER),
                ("identifier", "'volumeid:?uuid=' || uuid()"),
                ("type", "choice(1: 8, 2, 3)"),
                ("status", "constant(0)"),
                ("relative_path*", "constant(NULL)"),
            ],
            "follows from the disk",
        );
        if let Some((path, name)) = self.find_text("absolute_path specific_path").zip(self.find("label name", |_| true))
        {
            let disk = match self.is_like(path, "absolute_path") {
                true => "'/Volumes/Disk '",
                false => "'/home/' || phrase('{handle}')",
            };
            let text = format!("{disk} || sequence() || '/' || {} || '/'", self.column(name));
            self.set(path, text, "follows from the disk");
        }
    }

    /// Folders of a library, by their years.
    fn folders_of_pictures(&mut self) {
        let key = self.table.rowid_alias.map(|at| self.column(at));
        let path = self.find_text("relative_path path_from_root").filter(|_| has_last_word(self.table, "album folder"));
        let Some((path, key)) = path.zip(key) else { return };
        let is_day = |at: usize| matches!(self.time_at(at), Some((_, Form::Day)));
        let day = self.find("date", is_day).map(|at| self.column(at));
        let parent = self.context.roots.map(|(parent, _)| self.column(parent));
        let of_year = parent.as_ref().map_or(key.clone(), |parent| format!("coalesce({parent}, {key})"));
        let year = format!("({} + {of_year} % {YEARS})", self.first_year());
        let year = day.map_or(year, |day| format!("substr({day}, 1, 4)"));
        let (begin, end) = if self.is_like(path, "relative_path") { ("'/' || ", "") } else { ("", " || '/'") };
        // Most folders are of home, and the others of trips.
        let place = format!("'/' || {key} || ' ' || if({key} % 10 < 7, '{HOME}', {})", city_of_trip(&key));
        let place = parent.map_or(place.clone(), |parent| format!("if({parent} IS NULL, '', {place})"));
        let text = format!("{begin}{year} || {place}{end}");
        self.set(path, text, "a folder of a year");
        self.set_each(&[("collection", "choice('Travel': 4, 'Family': 4, 'Nature': 2, 'Work')")], "a kind of folder");
        let caption = self.find_repeatable_text("caption").filter(|_| self.is_like(path, "relative_path"));
        if let Some(caption) = caption {
            let city = city_in(&self.column(path));
            let trip = "choice('A week in ', 'Holidays in ', 'Visit to ', 'With friends in ')";
            let home = "choice('At home in ', 'A walk in ', 'Weekend in ', 'With friends in ')";
            let text = format!("if({city} = '{HOME}', {home}, {trip}) || {city}");
            self.set(caption, text, "the city of the folder");
        }
    }

    /// Files, as cameras name them.
    fn files_of_pictures(&mut self) {
        self.set_each(&[("*file_size *filesize", SIZE)], "the size of a picture");
        let is_picture = has_last_word(self.table, "image photo picture file");
        let message = self.find_repeatable_text("error_message").filter(|&at| is_picture && !self.columns[at].not_null);
        if let Some(at) = message {
            self.set(at, "constant(NULL)", "no file is broken");
        }
        let number = "'IMG_' || (1000 + sequence())";
        let base = self.find_repeatable_text("base_name").filter(|_| is_picture);
        if let Some((base, end)) = base.zip(self.find_repeatable_text("extension")) {
            self.set(base, number, "the name of a file");
            self.set(end, "choice('JPG': 5, 'CR2': 3, 'NEF': 2, 'DNG')", "the end of the name of a file");
            let text = format!("{} || '.' || {}", self.column(base), self.column(end));
            if let Some(at) = self.find_text("*filename *file_name") {
                self.set(at, text, "follows from its parts");
            }
        }
        let kind = self.find_repeatable_number("category kind");
        let name = self.find_text("name file_name").filter(|_| is_picture && kind.is_some());
        if let Some((name, kind)) = name.zip(kind) {
            self.set(kind, "choice(1: 96, 2: 4)", "a picture, or a film");
            let text = format!("{number} || '.' || if({} = 1, {STILL}, 'mp4')", self.column(kind));
            self.set(name, text, "the name of a file");
            self.set_each(
                &[("status", "choice(1: 97, 3: 3)"), ("manual_order", "constant(0)")],
                "follows from what a file is",
            );
        }
    }

    /// Sizes, colours and ratings of pictures: most have no stars.
    fn looks(&mut self) {
        let is_of_picture = self.find("orientation *aspect_ratio* *trashed*", |_| true).is_some();
        let Some(rating) = is_of_picture.then(|| self.find("rating", |at| self.found[at].is_none())) else { return };
        if let Some(at) = rating {
            let is_known = self.columns[at].not_null;
            self.set(
                at,
                if is_known { STARS.to_owned() } else { format!("nullif({STARS}, 0)") },
                "follows from who rates at all",
            );
        }
        let (is_film, is_raw) = self.kinds_of_pictures();
        let size = format!(
            "CASE WHEN {is_film} THEN choice(1920: 7, 3840: 3) WHEN {is_raw} THEN 6000 ELSE choice(4032: 5, 3024: 2, 4000: 1, 1920: 1) END"
        );
        let depth = format!("if({is_raw}, 16, 8)");
        let format = self.end_of_picture();
        let format = format.unwrap_or_else(|| "choice('RAW': 5, 'JPG': 4, 'DNG': 1)".to_owned());
        self.set_each(
            &[
                ("width", &size),
                ("*aspect_ratio*", "choice(1.5: 5, 1.3333: 3, 0.6667: 2, 1.7778: 1)"),
                ("color_depth bit_depth", &depth),
                ("color_model", "choice(1: 98, 2: 2)"),
                ("color_labels", "if(bool(0.85), '', choice('Red', 'Yellow', 'Green', 'Blue'))"),
                ("format file_format", &format),
                ("pick", "choice(0: 86, 1: 12, -1: 2)"),
                ("trashed_state", "choice(0: 97, 1: 3)"),
                ("master_image", "constant(NULL)"),
            ],
            "follows from what a picture is",
        );
        if let Some((width, height)) = self.find("width", |_| true).zip(self.find_repeatable_number("height")) {
            let cases = "WHEN 6000 THEN 4000 WHEN 4032 THEN 3024 WHEN 3024 THEN 4032 WHEN 4000 THEN 3000 WHEN 3840 THEN 2160 ELSE 1080";
            self.set(height, format!("CASE {} {cases} END", self.column(width)), "follows from the width");
        }
    }

    /// Returns the conditions that a row is a film, and that it has what the sensor of the camera saw.
    fn kinds_of_pictures(&self) -> (String, String) {
        let column = |names: &str| self.find(names, |_| true).map(|at| self.column(at));
        match column("format file_format") {
            Some(format) => {
                (format!("{format} IN ('MP4', 'MOV')"), format!("{format} IN ('RAW', 'NEF', 'CR2', 'DNG')"))
            }
            None => (column("kind").map_or("FALSE".to_owned(), |kind| format!("{kind} = 1")), "FALSE".to_owned()),
        }
    }

    /// Returns the first year of the folders of a library.
    fn first_year(&self) -> u32 {
        let day = self.context.day.before(1);
        let last: Option<u32> = day.split('-').next().and_then(|year| year.parse().ok());
        (last.unwrap_or(2025) + 1).saturating_sub(YEARS)
    }

    /// Times of files, in the years of their folders.
    fn times_of_files(&mut self) {
        const SECONDS: u32 = 358 * 86_400;
        let year = (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let path = of.columns.iter().find(|column| plain(&column.name) == "path_from_root")?;
            Some(format!("substr({}, 1, 4)", self.through(by, path)))
        });
        let changed = self.find("*mod_time modification_date", |at| matches!(self.time_at(at), Some((_, Form::Text))));
        if let Some((changed, year)) = changed.zip(year) {
            let text = format!("date_add({year} || '-01-02 00:00:00', int(0, {SECONDS}), 'seconds')");
            self.set(changed, text, "a time in the year of the folder");
        }
    }

    /// Times at which pictures were taken: before their files changed last.
    fn times_of_pictures(&mut self) {
        let changed = (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let is_change = |column: &&Column| is_like(&plain(&column.name), "modification_date *mod_time");
            Some(self.through(by, of.columns.iter().find(is_change)?))
        });
        let find = |names: &str| self.find(names, |at| matches!(self.time_at(at), Some((_, Form::Text))));
        let (taken, scanned) = (find("creation_date capture_time"), find("digitization_date"));
        let Some((taken, changed)) = taken.zip(changed) else { return };
        self.set(
            taken,
            format!("date_add({changed}, -int(0, 90_000), 'seconds')"),
            "follows from the last change of the file",
        );
        if let Some(scanned) = scanned {
            let taken = self.column(taken);
            self.set(scanned, taken, "follows from when it was taken");
        }
    }

    /// Returns the format that the name of a file says, which the row refers to.
    fn end_of_picture(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let column = |name: &str| of.column(name).map(|at| &of.columns[at]).filter(|column| column.not_null);
            let raw = |end: &str| format!("if({end} IN ('CR2', 'NEF'), 'RAW', {end})");
            let end = column("extension").map(|end| raw(&self.through(by, end)));
            let name = column("name").filter(|_| has_last_word(of, "image photo picture file"));
            end.or_else(|| Some(format!("upper(substr({}, -3))", self.through(by, name?))))
        })
    }

    /// Returns the city of a picture: that of its album.
    pub(super) fn city_of_picture(&self) -> Option<String> {
        if !is_of_photographs(self.context.schema) {
            return None;
        }
        let is_path = |column: &Column| plain(&column.name) == "relative_path";
        self.through_two(|_, _, album| album.columns.iter().position(is_path)).map(|path| city_in(&path))
    }

    /// Altitudes of cities, and latitudes and longitudes as texts beside numbers: "38.7N".
    fn written_positions(&mut self) {
        let altitude = self.find("altitude", |at| self.is_number(at) && self.found[at].is_none());
        if let Some((altitude, city)) = altitude.zip(self.city_of_picture()) {
            let case =
                |place: &&str| place.rsplit_once(' ').map(|(city, metres)| format!(" WHEN '{city}' THEN {metres}"));
            let cases: String = phrases::items("city_altitude").iter().filter_map(case).collect();
            let text = format!("round(CASE {city}{cases} ELSE 50 END + real(0, 25, 1), 1)");
            let latitude = self.find("latitude_number latitude", |at| self.is_number(at)).map(|at| self.column(at));
            let text = match latitude.filter(|_| !self.columns[altitude].not_null) {
                Some(latitude) => format!("if({latitude} IS NOT NULL, {text})"),
                None => text,
            };
            self.set(altitude, text, "the altitude of the city");
        }
        for (name, positive, negative) in [("latitude", 'N', 'S'), ("longitude", 'E', 'W')] {
            let number = self.find(&format!("{name}_number"), |at| self.is_number(at)).map(|at| self.column(at));
            if let Some((at, number)) = self.find_repeatable_text(name).zip(number) {
                let text = format!("abs({number}) || if({number} < 0, '{negative}', '{positive}')");
                self.set(at, text, "follows from the number");
            }
        }
    }

    /// Keywords: the path to each one, and its picture.
    fn keywords_of_pictures(&mut self) {
        let key = self.table.rowid_alias.map(|at| self.column(at));
        let parent = (0..self.columns.len()).find(|&at| self.is_like(at, "parent")).map(|at| self.column(at));
        let tree = self.find_repeatable_text("genealogy");
        if let (Some(at), Some(key), Some(parent)) = (tree, key, parent) {
            self.set(at, format!("coalesce('/' || {parent}, '') || '/' || {key}"), "follows from the parent");
        }
        let name = self.find_text("name").filter(|_| has_last_word(self.table, "keyword tag"));
        if let Some(at) = name {
            let text = match self.context.roots.map(|(parent, _)| self.column(parent)) {
                Some(parent) => {
                    format!(
                        "if({parent} IS NULL, unique_phrase('{{photo_keyword}}'), unique_phrase('{{photo_subject}}'))"
                    )
                }
                None => "unique_phrase('{photo_subject}')".to_owned(),
            };
            self.set(at, text, "what a picture shows");
        }
        let icon = "choice('tag': 5, 'folder': 2, 'user-identity', 'camera-photo')";
        self.set_each(&[("iconkde", icon)], "the name of a picture");
    }

    /// Time zones of pictures, which are those of their positions.
    fn zones_of_pictures(&mut self) {
        let zone = self.find_repeatable_text("time_zone* timezone*");
        let picture = (0..self.columns.len()).find(|&by| {
            let parent = self.context.parents[by].map(|parent| &self.context.schema.tables[parent.table]);
            parent.is_some_and(|parent| has_more_of(self.table, parent))
        });
        if let Some((zone, picture)) = zone.zip(picture) {
            let text = format!("place_of({}, 'timezone')", city_by_key(&key_of_trip(&self.column(picture))));
            self.set(zone, text, "follows from the position of the picture");
        }
    }

    /// Columns of Core Data: the number of the kind of row, the number of changes, files by their UUID.
    fn core_data(&mut self) {
        let key = self.table.rowid_alias.filter(|&at| self.table.columns[at].name == "Z_PK").map(|at| self.column(at));
        let number = format!("constant({})", self.context.table + 1);
        self.set_each(&[("fok_*", "1024 * int(1, 400)")], "an order");
        self.set_each(&[("super", "constant(0)"), ("parent_folder", "constant(NULL)")], "a kind of row");
        let Some(key) = key else { return };
        self.set_each(
            &[("ent", &number), ("opt", "1 + exponential(0.3, max=90, decimals=0)"), ("*attributes", &key)],
            "follows from what a row is",
        );
        let file = self.find_repeatable_text("file_name").zip(self.find_repeatable_text("uuid"));
        if let Some((file, uuid)) = file {
            self.set(uuid, "upper(uuid())", "its name is like uuid");
            let kind = self.find_repeatable_number("kind").map(|at| {
                self.set(at, "choice(0: 90, 1: 10)", "a picture, or a film");
                format!("if({} = 0, choice('.heic': 8, '.jpeg': 2), '.mov')", self.column(at))
            });
            let text = format!("{} || {}", self.column(uuid), kind.unwrap_or_else(|| "'.heic'".to_owned()));
            self.set(file, text, "follows from the UUID");
            let first = format!("substr({}, 1, 1)", self.column(file));
            self.set_each(&[("directory", &first)], "the first letter of the file");
        }
        let is_album = self.table.name.to_ascii_lowercase().ends_with("album");
        let Some(title) = self.find_repeatable_text("title").filter(|_| is_album) else { return };
        self.set(title, "phrase('{photo_album}')", "the title of an album");
        if let Some(&(child, column)) = self.context.counted.iter().find(|(child, _)| *child != self.context.table) {
            let text = format!("count_of({})", named_column(&self.context.schema.tables[child], column));
            self.set_each(&[("cached_count", &text)], "follows from the rows that refer to it");
        }
    }
}
