//! Repositories that keep their versions in tables: files, check-ins, tags, and what users changed later.

use super::{TableInference, has_last_word};
use litepress_rows::schema::Schema;

/// Returns whether a schema has the versions of files: their names, and which version follows from which.
fn is_of_versions(schema: &Schema) -> bool {
    schema.table("filename").is_some() && schema.table("delta").is_some()
}

impl TableInference<'_> {
    /// Kinds of comments on issues: texts, and notes without text that somebody opened (1) or closed (2) the issue.
    fn kinds_of_comments(&mut self) {
        let is_comment = self.subject.is_some_and(|subject| subject.names == "comment") && self.refers_to_issue();
        let kind = self.find_repeatable_number("type").filter(|_| is_comment);
        let Some((kind, text)) = kind.zip(self.find_repeatable_text("content body text comment")) else { return };
        self.set(kind, "choice(0: 86, 2: 11, 1: 3)", "most comments are texts");
        let none = if self.columns[text].not_null { "''" } else { "NULL" };
        let of_text = format!("if({} = 0, phrase('{{issue_comment}}'), {none})", self.column(kind));
        self.set(text, of_text, "follows from the kind of comment");
    }

    pub(super) fn repositories(&mut self) {
        self.kinds_of_comments();
        if !is_of_versions(self.context.schema) {
            return;
        }
        if let Some(at) = self.find_text("name").filter(|_| has_last_word(self.table, "filename")) {
            let text =
                "'src/' || phrase('{module}') || '/' || phrase('{noun}') || sequence() || '.' || phrase('{code_ext}')";
            self.set(at, text, "the name of a file");
        }
        if let Some(at) = self.find_text("tagname") {
            let text = "choice('sym-': 6, 'wiki-': 2, 'tkt-': 2) || phrase('{topic}') || '-' || sequence()";
            self.set(at, text, "the name of a tag");
        }
        let user = self.login_of_parent().unwrap_or_else(|| "phrase('{handle}')".to_owned());
        for (names, text) in [
            ("cap", "choice('dei': 6, 'v': 5, 'u': 3, 's': 1)"),
            ("euser", "if(bool(0.03), phrase('{handle}'))"),
            ("user", &user),
            ("ecomment", "if(bool(0.05), phrase('{commit}'))"),
            ("comment", "phrase('{commit}')"),
            ("bgcolor", "if(bool(0.1), colour())"),
            ("value", "if(bool(0.2), phrase('{git_branch}'))"),
        ] {
            let is_tag = names != "value" || self.find("tagtype", |_| true).is_some();
            if let Some(at) = self.find_repeatable_text(names).filter(|_| is_tag) {
                self.set(at, text, "follows from what a version is");
            }
        }
        if let Some(at) = self.find_kind("type").filter(|_| has_last_word(self.table, "event")) {
            self.set(at, "choice('ci': 70, 't': 10, 'w': 8, 'g': 8, 'e': 4)", "a kind of change");
        }
        for (names, text) in [("tagtype", "choice(2: 5, 1: 4, 0: 1)"), ("mperm", "choice(0: 95, 1: 4, 2: 1)")] {
            if let Some(at) = self.find_repeatable_number(names) {
                self.set(at, text, "follows from what a version is");
            }
        }
    }

    /// Returns the user name of the person that the row refers to.
    fn login_of_parent(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.possible_parents[by]?.table];
            let login = of.column("login").filter(|_| super::is_person(of))?;
            Some(self.through(by, &of.columns[login]))
        })
    }
}
