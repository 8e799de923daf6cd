//! Repositories that keep their versions in tables: files, check-ins, tags, and what users changed later.

use super::times::Form;
use super::versions::{Versions, is_of_versions};
use super::{TableInference, has_last_word};

/// Comments on changes, by kind.
const COMMENTS: &str = "WHEN 'w' THEN 'Changes to wiki page [' || phrase('{topic}') || ']' \
     WHEN 't' THEN choice('New ticket [', 'Closed ticket [', 'Comment on ticket [') || hex(10) || ']' \
     WHEN 'g' THEN 'Edit [' || hex(10) || ']: Add tag \"release\"' WHEN 'e' THEN 'Technote: ' || phrase('{article_title}') ELSE phrase('{commit}')";

/// Kinds of changes of something else than files.
const OTHERS: &str = "choice('t': 5, 'w': 4, 'g': 4, 'e': 2)";

impl TableInference<'_> {
    /// Kinds of comments on issues: texts, and notes without text that somebody opened (1) or closed (2) the issue.
    fn kinds_of_comments(&mut self) {
        let is_comment = self.subject.is_some_and(|subject| subject.names == "comment") && self.refers_to_issue();
        let kind = self.find_repeatable_number("type").filter(|_| is_comment);
        let Some((kind, text)) = kind.zip(self.find_repeatable_text("content body text comment")) else { return };
        // An open issue has no comment that closes it.
        let kinds = match self.flag_of_issue() {
            Some(closed) => format!("if({closed}, choice(0: 75, 2: 25), 0)"),
            None => "choice(0: 86, 2: 11, 1: 3)".to_owned(),
        };
        self.set(kind, kinds, "most comments are texts");
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
            // Each fifth tag is one of a page or a ticket, and the others of check-ins.
            let text =
                "if(sequence() % 5 = 0, choice('wiki-', 'tkt-'), 'sym-') || phrase('{topic}') || '-' || sequence()";
            self.set(at, text, "the name of a tag");
        }
        self.times_of_versions();
        if has_last_word(self.table, "blob")
            && let Some((content, size)) =
                self.find("content", |at| self.is_free(at)).zip(self.find_repeatable_number("size"))
        {
            // The stored bytes are a third of the text.
            self.found[content] = Some(super::inferred("blob(20, 200)", "follows from what a version is"));
            let text = format!("3 * length({}) + int(0, 40)", self.column(content));
            self.set(size, text, "follows from the content");
        }
        let kind = self.find("type", |at| self.is_text(at) && has_last_word(self.table, "event"));
        let ecomment = match kind.map(|at| self.column(at)) {
            Some(kind) => format!("if({kind} = 'ci' AND bool(0.07), phrase('{{commit}}'))"),
            None => "if(bool(0.05), phrase('{commit}'))".to_owned(),
        };
        let user = self.login_of_parent().unwrap_or_else(|| "phrase('{handle}')".to_owned());
        for (names, text) in [
            ("cap", "choice('dei': 6, 'v': 5, 'u': 3, 's': 1)"),
            ("euser", "if(bool(0.03), phrase('{handle}'))"),
            ("user", &user),
            ("ecomment", ecomment.as_str()),
            ("bgcolor", "if(bool(0.1), colour())"),
            ("value", "if(bool(0.2), phrase('{git_branch}'))"),
        ] {
            let is_tag = names != "value" || self.find("tagtype", |_| true).is_some();
            if let Some(at) = self.find_repeatable_text(names).filter(|_| is_tag) {
                self.set(at, text, "follows from what a version is");
            }
        }
        if let Some(at) = self.find_kind("type").filter(|_| has_last_word(self.table, "event")) {
            let text = match self.table.rowid_alias.map(|key| self.column(key)) {
                Some(key) => format!("if({key} % 20 = 0, {OTHERS}, 'ci')"),
                None => format!("if(bool(0.3), {OTHERS}, 'ci')"),
            };
            self.set(at, text, "a kind of change");
            let text = format!("CASE {} {COMMENTS} END", self.column(at));
            if let Some(at) = self.find_repeatable_text("comment") {
                self.set(at, text, "follows from the kind of change");
            }
        }
        for (names, text) in
            [("tagtype", "choice(2: 5, 1: 5)"), ("mperm", "choice(0: 95, 1: 4, 2: 1)"), ("isprim", "constant(1)")]
        {
            if let Some(at) = self.find_repeatable_number(names) {
                self.set(at, text, "follows from what a version is");
            }
        }
    }

    /// Returns the flag of the issue that a comment is on, if that is closed.
    fn flag_of_issue(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let flag = of.column("is_closed").or_else(|| of.column("closed"))?;
            let is_flag = super::ColumnTraits::new(&of.columns[flag]).is_number();
            is_flag.then(|| self.through(by, &of.columns[flag]))
        })
    }

    /// Times of check-ins, which are the same in all tables.
    fn times_of_versions(&mut self) {
        const DAYS: i64 = 1700;
        let schema = self.context.schema;
        let rows = |table: usize| self.context.rows_in(table);
        let Some(of) = Versions::new(schema, rows).filter(|_| has_last_word(self.table, "event plink tagxref rcvfrom"))
        else {
            return;
        };
        let key = ["objid", "cid", "rid", "rcvid"].iter().find_map(|name| self.table.column(name));
        let time = self.find("mtime", |at| matches!(self.time_at(at), Some((_, Form::Text))));
        if let Some((key, at)) = key.map(|at| self.column(at)).zip(time) {
            let (from, step) = (self.context.day.before(DAYS), of.seconds_each(DAYS));
            let seconds = match has_last_word(self.table, "rcvfrom") {
                true => format!("{} * {step}", of.last_of_delivery(&key)),
                false => format!("{key} * {step} - {key} * 48271 % {step}"),
            };
            let text = format!("date_add('{from} 00:00:00', {seconds}, 'seconds')");
            self.set(at, text, "follows from the version");
            let time = self.column(at);
            if let Some(at) = self.find("omtime", |at| self.is_time(at)) {
                self.set(at, time, "the time before somebody corrects it");
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
