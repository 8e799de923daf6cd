//! Posts of a site, and the files among them.

use super::TableInference;
use super::amounts::named_column;
use super::subjects::Kind;
use super::table_columns::called;
use super::times::{Form, Stage};

const KINDS: &str = "choice('post': 70, 'page': 15, 'attachment': 15)";
/// Kinds of posts that people comment on.
const DISCUSSED: &str = "choice('post': 85, 'page': 15)";
const FILES: &str = "choice('image/jpeg': 6, 'image/png': 3, 'application/pdf': 1)";

impl TableInference<'_> {
    /// Returns the condition of posts that are files, if there are some.
    pub(super) fn posted_file(&self) -> Option<String> {
        let has_files = |at: usize| self.found[at].as_ref().is_some_and(|found| found.text.contains(KINDS));
        Some(format!("{} = 'attachment'", self.column(self.find("post_type", has_files)?)))
    }

    /// Returns whether the rows of a table are comments.
    fn is_comment(&self, table: usize) -> bool {
        super::has_last_word(&self.context.schema.tables[table], "comment")
    }

    /// Posts that are files: the title is the name of the file, and there is no text.
    pub(super) fn posted_files(&mut self) {
        let kind = self.find_kind("post_type").filter(|_| self.kind() == Some(Kind::Text));
        let (mime, title) = (self.find_repeatable_text("mime_type"), self.find_repeatable_text("title"));
        let (Some(kind), Some(mime), Some(title)) = (kind, mime, title) else { return };
        let comments = self.context.counted.iter().find(|(child, _)| self.is_comment(*child));
        let text = comments.map_or(KINDS.to_owned(), |&(child, by)| {
            let comments = named_column(&self.context.schema.tables[child], by);
            format!("if(count_of({comments}) > 0, {DISCUSSED}, {KINDS})")
        });
        self.set(kind, text, "the type of a post");
        let Some(is_file) = self.posted_file() else { return };
        self.set(mime, format!("if({is_file}, {FILES}, '')"), "a text has no file");
        let mime_type = self.column(mime);
        let text = format!(
            "CASE WHEN {mime_type} = 'application/pdf' THEN phrase('{{file_stem}}') WHEN {is_file} THEN phrase('{{photo_stem}}') ELSE unique_phrase('{{article_title}}') END"
        );
        self.set(title, text, "the name of a file, or a title");
        let content = self.find_repeatable_text("content body text");
        if let Some(at) = content {
            self.set(at, format!("if({is_file}, '', phrase('{{blog_post}}'))"), "a file has no text");
        }
        if let Some((at, content)) = self.find_repeatable_text("excerpt summary").zip(content) {
            let content = self.column(content);
            let text = format!("if({is_file} OR bool(0.4), '', substr({content}, 4, instr({content}, '.') - 3))");
            self.set(at, text, "the first sentence of the text");
        }
        let time = (0..self.columns.len()).find(|&at| matches!(self.time_at(at), Some((Stage::Created, Form::Text))));
        if let Some((at, time)) = self.find_repeatable_text("guid").zip(time) {
            let (time, mime, title) = (self.column(time), self.column(mime), self.column(title));
            let folder = format!("'https://blog.example/uploads/' || replace(substr({time}, 1, 7), '-', '/') || '/'");
            let end = format!("CASE {mime} WHEN 'image/png' THEN '.png' WHEN 'image/jpeg' THEN '.jpg' ELSE '.pdf' END");
            let other = called(&self.alone(at).text);
            let text = format!("if({is_file}, {folder} || replace({title}, ' ', '-') || {end}, {other})");
            self.set(at, text, "the address of a file or a post");
        }
    }
}
