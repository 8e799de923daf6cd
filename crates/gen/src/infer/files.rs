//! Files: their names, types and addresses agree.

use super::messages::{SOUND, VIDEO};
use super::names::{is_like, plain};
use super::{TableInference, TypeClass, words_of_table};

const FILE_NAMES: &str = "file_name filename *_filename *_file_name original_name original_filename file_path";
const FILE_TYPES: &str = "content_type mime_type mimetype *_content_type *_mime_type file_type";
pub(super) const IMAGES: &str = "*avatar* *image* *photo* *picture* *logo* *cover* *thumbnail* *icon* *header*";
const IMAGE_SIZE: &str = "lognormal(12.2, 0.8, min=6000, max=9000000, decimals=0)";
const MEDIA_SIZES: &str = "WHEN 'video' THEN lognormal(15.5, 0.9, min=300000, max=90000000, decimals=0) WHEN 'audio' THEN lognormal(13.5, 0.8, min=40000, max=20000000, decimals=0)";
const FILE_SIZES: &str = "WHEN 'image' THEN lognormal(12.2, 0.8, min=6000, max=9000000, decimals=0) WHEN 'text/' THEN lognormal(8, 1.2, min=40, max=400000, decimals=0) ELSE lognormal(11.5, 1, min=9000, max=20000000, decimals=0)";
/// The type of a file by the end of its name.
pub(super) const TYPE_BY_NAME: &[(&str, &str)] = &[
    (".jpg", "image/jpeg"),
    (".png", "image/png"),
    ("webp", "image/webp"),
    (".gif", "image/gif"),
    (".svg", "image/svg+xml"),
    (".pdf", "application/pdf"),
    (".csv", "text/csv"),
    ("html", "text/html"),
    ("json", "application/json"),
    (".mp3", "audio/mpeg"),
    ("flac", "audio/flac"),
    (".mp4", "video/mp4"),
    (".zip", "application/zip"),
    ("r.gz", "application/gzip"),
    (".jar", "application/java-archive"),
    (".xml", "application/xml"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
];

impl TableInference<'_> {
    /// Types of files, and names of pictures.
    pub(super) fn files(&mut self) {
        for at in 0..self.columns.len() {
            if !self.is_free(at) || !self.is_text(at) || !self.is_like(at, FILE_TYPES) || self.columns[at].is_unique {
                continue;
            }
            // `avatar_content_type` belongs to `avatar_file_name`.
            let own = self.columns[at].full.clone();
            let shared =
                |other: usize| own.bytes().zip(self.columns[other].full.bytes()).take_while(|(a, b)| a == b).count();
            let names = (0..self.columns.len())
                .filter(|&other| self.is_text(other) && self.columns[other].is_open && self.is_like(other, FILE_NAMES));
            let Some(name) = names.max_by_key(|&other| shared(other)) else { continue };
            let is_image = is_like(&own, IMAGES);
            if self.is_free(name) && !self.columns[name].is_unique {
                let (media, of_job) = (self.media_file(), self.file_of_job());
                let text = match (self.is_like(name, "*path"), is_image, self.is_media()) {
                    (true, _, true) => format!("'Media/' || {media}"),
                    (true, _, false) => "phrase('{path}')".to_owned(),
                    (false, true, _) => "phrase('{image_file}')".to_owned(),
                    (false, false, true) => media,
                    _ if of_job.is_some() => of_job.unwrap_or_default(),
                    _ if super::has_last_word(self.table, "artifact output") => "phrase('{build_file}')".to_owned(),
                    (false, false, false) => "phrase('{file}')".to_owned(),
                };
                self.set(name, text, "the name of a file");
            }
            let types = TYPE_BY_NAME.iter().filter(|(_, of)| !is_image || of.starts_with("image/"));
            let cases: String = types.map(|(end, of)| format!(" WHEN '{end}' THEN '{of}'")).collect();
            let other = if is_image { "image/jpeg" } else { "text/plain" };
            let file = self.column(name);
            let because = format!("follows from {}", self.table.columns[name].name);
            let text = format!("if({file} IS NULL, NULL, CASE substr({file}, -4){cases} ELSE '{other}' END)");
            self.set(at, text, &because);
            let prefix = own.split_once("content_type").map_or("", |(prefix, _)| prefix);
            let size = self.find("*file_size byte_size", |size| {
                let is_known = self.columns[name].not_null || !self.columns[size].not_null;
                is_known && self.is_number(size) && self.is_free(size) && self.columns[size].full.starts_with(prefix)
            });
            if let Some(size) = size {
                let own = match (is_image, self.is_media()) {
                    (true, _) => IMAGE_SIZE.to_owned(),
                    (_, true) => format!("CASE substr({}, 1, 5) {MEDIA_SIZES} ELSE {IMAGE_SIZE} END", self.column(at)),
                    _ if self.is_like(size, "byte_size") => {
                        format!("CASE substr({}, 1, 5) {MEDIA_SIZES} {FILE_SIZES} END", self.column(at))
                    }
                    _ => self.alone(size).text,
                };
                self.set(size, format!("if({file} IS NULL, NULL, {own})"), &because);
            }
            if self.is_media() {
                self.media_of_text(&file, at);
            }
        }
    }

    /// Sizes of what the row holds: of its value, and of its key if that is a BLOB, too.
    pub(super) fn sizes_of_values(&mut self) {
        let blob = |names: &str| self.find(names, |at| self.columns[at].traits.class == TypeClass::Blob);
        let value =
            blob("value data content body payload").zip(self.find_repeatable_number("byte_size size size_bytes"));
        let Some((value, size)) = value else { return };
        let parts = [Some(value), blob("key")].into_iter().flatten();
        let parts: Vec<String> = parts.map(|at| format!("coalesce(length({}), 0)", self.column(at))).collect();
        self.set(size, parts.join(" + "), "the size of what the row holds");
    }

    /// Returns names of files that people send, by the kind of the message that they are sent with.
    fn media_file(&self) -> String {
        self.kind_of_own_message().map_or("phrase('{media_file}')".to_owned(), |kind| {
            format!(
                "CASE {kind} WHEN {SOUND} THEN phrase('AUD_{{digits_four}}.mp3') WHEN {VIDEO} THEN phrase('VID_{{digits_four}}.mp4') ELSE phrase('{{image_file}}') END"
            )
        })
    }

    /// Returns whether the rows are pictures, films and sounds that people send.
    fn is_media(&self) -> bool {
        words_of_table(&self.table.name).iter().any(|word| is_like(word, "media medium"))
    }

    /// Returns the domain of the account whose row it is, which is NULL for those of this server.
    fn domain_of_account(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.possible_parents[by]?.table];
            let domain = of.columns.iter().find(|column| plain(&column.name) == "domain" && !column.not_null)?;
            super::is_person(of).then(|| self.through(by, domain))
        })
    }

    /// Addresses, descriptions and sizes of what is sent with a text.
    fn media_of_text(&mut self, file: &str, content: usize) {
        let is_seen = format!("substr({}, 1, 5) IN ('image', 'video')", self.column(content));
        let path = format!("'/media/' || replace({file}, ' ', '%20')");
        let remote = match self.domain_of_account() {
            // Files of people of this server have no other address.
            Some(domain) => format!("coalesce('https://' || {domain} || {path}, '')"),
            None => format!("phrase('{{site}}') || {path}"),
        };
        let stem = format!("replace(replace(substr({file}, 1, instr({file}, '.') - 1), '-', ' '), '_', ' ')");
        let description = format!(
            "if({is_seen}, null(0.4, CASE substr({file}, 1, 3) WHEN 'Scr' THEN phrase('{{screenshot_text}}') \
             WHEN 'IMG' THEN phrase('{{image_text}}') WHEN 'DSC' THEN phrase('{{image_text}}') WHEN 'VID' THEN phrase('{{image_text}}') ELSE {stem} END))"
        );
        for (names, text) in [
            ("remote_url file_url", remote.as_str()),
            ("description caption alt_text", &description),
            ("shortcode short_code", "regex('[A-Za-z0-9_-]{11}')"),
        ] {
            if let Some(at) = self.find_repeatable_text(names) {
                self.set(at, text, "of what is sent");
            }
        }
        let sides = self.find_repeatable_number("width").zip(self.find_repeatable_number("height"));
        let Some((width, height)) = sides else { return };
        let none = if self.columns[width].not_null { "0" } else { "NULL" };
        let text = format!("if({is_seen}, choice(1080: 4, 1280: 3, 1920: 3, 3024: 2), {none})");
        self.set(width, text, "follows from the type of the file");
        let width = self.column(width);
        self.set(height, format!("if(bool(0.5), {width} * 3 / 4, {width} * 4 / 3)"), "follows from the width");
    }

    /// Kinds of files by their types: 0 an image, 2 a video, 4 a sound, 3 another file, or their names.
    pub(super) fn kinds_of_files(&mut self) {
        let content = self.find(FILE_TYPES, |at| self.is_text(at) && self.found[at].is_some());
        let kind = self.find("type kind media_type", |at| self.found[at].is_none() && !self.columns[at].is_unique);
        let Some((kind, content)) = kind.zip(content).filter(|(kind, content)| kind != content) else { return };
        let (image, video, sound, other) = match self.is_text(kind) {
            true => ("'image'", "'video'", "'audio'", "'file'"),
            false => ("0", "2", "4", "3"),
        };
        let begin = format!("substr({}, 1, 5)", self.column(content));
        let text = format!(
            "CASE {begin} WHEN 'image' THEN {image} WHEN 'video' THEN {video} WHEN 'audio' THEN {sound} ELSE {other} END"
        );
        self.set(kind, text, "follows from the type of the file");
    }
}
