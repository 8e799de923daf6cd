//! Histories of browsers: addresses of pages at their hosts, visits in sittings, bookmarks in order.

use super::amounts::named_column;
use super::names::{is_like, is_plain, plain};
use super::table_columns::called;
use super::times::{Form, Stage};
use super::{TableInference, TypeClass, has_last_word, words_of_table};
use litepress_rows::schema::{Column, Generated, Schema, Table};

/// Seconds from a visit of a page to the next one in the same sitting.
const SECONDS: i64 = 420;
/// Kinds of visits of a page that is loaded again: in Firefox, and in Chrome.
const RELOADS: [&str; 2] = ["9", "805306376"];
/// The root of all bookmarks, and the folders in it.
const OWN_FOLDERS: u64 = 6;
const FOLDERS: &str = "WHEN 1 THEN 'root' WHEN 2 THEN 'menu' WHEN 3 THEN 'toolbar' WHEN 4 THEN 'tags' WHEN 5 THEN 'unfiled' WHEN 6 THEN 'mobile'";
/// The first part of a page's address.
const PREFIX: &str = "choice('https://': 95, 'http://': 5)";
/// Ends of what a page says of itself, behind its title.
const DESCRIPTIONS: &str =
    "choice(': all you need to know', ': news, guides and answers': 2, '. Read more here.', ', updated every day')";

/// Returns whether the schema has a table of pages that a browser has shown: it knows which addresses were typed.
pub(super) fn is_history(schema: &Schema) -> bool {
    schema.tables.iter().any(is_table_of_pages)
}

fn is_table_of_pages(table: &Table) -> bool {
    let has = |name: &str| table.columns.iter().any(|column| is_plain(&column.name, name));
    has("url") && has("visit_count") && (has("typed") || has("typed_count"))
}

/// Returns the column with the time of a page's last visit.
fn last_visit(table: &Table) -> Option<&Column> {
    let is_last = |column: &&Column| is_like(&plain(&column.name), "last_visit*") && column.generated == Generated::No;
    table.columns.iter().filter(|_| is_table_of_pages(table)).find(is_last)
}

/// Returns whether a table holds bookmarks, which refer to pages in a column `fk`.
pub(crate) fn are_bookmarks(table: &Table) -> bool {
    has_last_word(table, "bookmark") && table.columns.iter().any(|column| plain(&column.name) == "fk")
}

/// Returns whether a column of a table of bookmarks refers to the pages in another one.
pub(crate) fn is_bookmarked(table: &Table, column: usize, parent: &Table) -> bool {
    are_bookmarks(table) && plain(&table.columns[column].name) == "fk" && is_table_of_pages(parent)
}

/// Returns how many first rows of a table of bookmarks are folders: the root, those of the browser, and those that people make.
pub(crate) fn folders_of_bookmarks(rows: u64) -> u64 {
    const BOOKMARKS: u64 = 25;
    rows.min(OWN_FOLDERS + rows / BOOKMARKS)
}

/// Returns whether the rows of a table are visits of the pages in another one.
pub(crate) fn is_visit_of(table: &Table, parent: &Table) -> bool {
    let is_visit = |word: &String| word.ends_with("visit");
    words_of_table(&table.name).last().is_some_and(is_visit) && last_visit(parent).is_some()
}

/// Returns whether the rows of a table are texts that people typed to find the pages in another one.
pub(crate) fn is_input_of(table: &Table, parent: &Table) -> bool {
    is_table_of_pages(parent) && table.columns.iter().any(|column| plain(&column.name) == "input")
}

/// Returns whether the rows of a table are searches, of which another one has the pages with what they found.
pub(crate) fn is_search_of(table: &Table, parent: &Table) -> bool {
    is_table_of_pages(parent) && table.columns.iter().any(|column| is_like(&plain(&column.name), "term search_term"))
}

/// Returns whether the rows of a table are the pages of the hosts in another one.
pub(crate) fn is_page_of(table: &Table, parent: &Table) -> bool {
    is_table_of_pages(table) && parent.columns.iter().any(|column| plain(&column.name) == "host")
}

impl TableInference<'_> {
    pub(super) fn browsing(&mut self) {
        if is_history(self.context.schema) {
            self.origins();
            self.pages();
            self.visits();
            self.bookmarks();
            self.searches_of_pages();
            self.slots();
        }
    }

    /// Returns the time of a visit: the last one of a page is that which the page has, and the others come before it.
    pub(super) fn time_of_visit(&self, form: Form) -> Option<String> {
        let by = self.context.per_parent?;
        let of = &self.context.schema.tables[self.context.parents[by]?.table];
        let last = last_visit(of).filter(|_| is_visit_of(self.table, of))?;
        let is_same = self.time_of_column(of, last) == Some((Stage::LastSeen, form));
        let (last, by, units) = (self.through(by, last), self.column(by), form.per_second().filter(|_| is_same)?);
        let before = format!("count_in({by}) - number_in({by})");
        let jitter = format!("if({before} = 0, 0, int(0, {}))", units * SECONDS / 2);
        Some(format!("{last} - {} * ({before}) - {jitter}", units * SECONDS))
    }

    /// Beginnings of addresses.
    fn origins(&mut self) {
        if let Some(prefix) =
            self.find_repeatable_text("prefix scheme").filter(|_| self.find("host", |_| true).is_some())
        {
            self.set(prefix, PREFIX, "the beginning of an address");
        }
    }

    /// Pages: the address has the host of the row that it refers to, and the words of the title.
    fn pages(&mut self) {
        if !is_table_of_pages(self.table) {
            return;
        }
        let title = self.find_repeatable_text("title");
        let host = self.host_of_parent();
        if let Some(title) = title {
            let tables = &self.context.schema.tables;
            let searches = self.context.counted.iter().find(|(child, _)| is_search_of(&tables[*child], self.table));
            let text = match searches {
                Some(&(child, by)) => format!(
                    "if(count_of({}) > 0, phrase('{{search_term}} - Search'), phrase('{{page_title}}'))",
                    named_column(&tables[child], by)
                ),
                None => "phrase('{page_title}')".to_owned(),
            };
            self.set(title, text, "the title of a page");
        }
        if let Some(url) = self.find_repeatable_text("url") {
            let begin =
                host.clone().map_or("phrase('{site}')".to_owned(), |(prefix, host)| format!("{prefix} || {host}"));
            let path = title.map_or("phrase('{slug}')".to_owned(), |title| {
                let title = self.column(title);
                let end = format!("instr({title}, ' - Search')");
                format!("if({end} > 0, 'search?q=' || replace(substr({title}, 1, {end} - 1), ' ', '+'), slug({title}))")
            });
            self.set(url, format!("{begin} || '/' || {path}"), "follows from the host and the title");
        }
        if let Some((at, title)) = self.find_repeatable_text("description").zip(title) {
            self.set(at, format!("{} || {DESCRIPTIONS}", self.column(title)), "begins with the title");
        }
        if let Some((rev_host, (_, host))) = self.find_repeatable_text("rev_host").zip(host) {
            self.set(rev_host, format!("reverse({host}) || '.'"), "follows from the host");
        }
        let count = self.find("visit_count", |at| self.is_number(at)).map(|at| self.column(at));
        let Some(count) = count else { return };
        if let Some(typed) = self.find_repeatable_number("typed_count") {
            let text = format!("min({count}, choice(0: 80, 1: 12, 2: 5, 4: 3))");
            self.set(typed, text, "not more than all visits");
        }
        for (name, usual) in [("typed", "bool(0.1)"), ("frecency", "exponential(0.004, max=9000, decimals=0)")] {
            if let Some(at) = self.find_repeatable_number(name) {
                self.set(at, format!("if({count} > 0, {usual}, 0)"), "follows from the number of visits");
            }
        }
        for at in 0..self.columns.len() {
            if self.is_like(at, "last_visit*")
                && !self.columns[at].not_null
                && let Some(found) = &mut self.found[at]
            {
                found.text = format!("if({count} > 0, {})", found.text);
                found.because = "follows from the number of visits".to_owned();
            }
        }
    }

    /// Returns the beginning of an address and the host, of the row that a page refers to.
    fn host_of_parent(&self) -> Option<(String, String)> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let column = |name: &str| of.columns.iter().find(|column| plain(&column.name) == name && column.not_null);
            let prefix = column("prefix").map_or("'https://'".to_owned(), |prefix| self.through(by, prefix));
            Some((prefix, self.through(by, column("host")?)))
        })
    }

    /// Visits: how they came about, how long they took, and the visit before.
    fn visits(&mut self) {
        const VALUES: [(&str, &str); 2] = [("session", "constant(0)"), ("segment_id", "if(bool(0.8), 0, zipf(200))")];
        if !words_of_table(&self.table.name).last().is_some_and(|word| word.ends_with("visit")) {
            return;
        }
        for (name, text) in VALUES {
            if let Some(at) = self.find_repeatable_number(name) {
                self.set(at, text, "follows from what a visit is");
            }
        }
        self.kinds_of_visits();
        let key = self.table.rowid_alias.map(|at| self.column(at));
        if let Some((at, key)) = self.find_repeatable_number("from_visit").zip(key) {
            // A page is loaded again from itself. The visit before the first one of a page may be days before it.
            let kind = self.find("visit_type transition", |_| self.context.per_parent.is_some());
            let text = match kind.map(|kind| self.column(kind)) {
                Some(kind) => format!("if({kind} IN ({}), {key} - 1, 0)", RELOADS.join(", ")),
                None => format!("if(bool(0.3), 0, max(0, {key} - 1))"),
            };
            self.set(at, text, "follows from the order of visits");
        }
        if let Some(at) = self.find_repeatable_number("visit_duration duration") {
            let text = format!("1_000_000 * lognormal(3.5, 1.1, min=1, max={}, decimals=0)", SECONDS / 2);
            self.set(at, text, "microseconds, less than to the next visit");
        }
    }

    /// Kinds of visits: as many as the page says are typed, and a page is loaded before it is loaded again.
    fn kinds_of_visits(&mut self) {
        const KINDS: [(&str, [&str; 3]); 2] = [
            ("visit_type", ["2", "choice(1: 90, 4: 8, 7: 2)", "choice(1: 86, 4: 6, 9: 8)"]),
            (
                "transition",
                [
                    "805306369",
                    "choice(805306368: 94, 805306375: 6)",
                    "choice(805306368: 84, 805306376: 11, 805306375: 5)",
                ],
            ),
        ];
        for (name, [typed, first, again]) in KINDS {
            let Some(at) = self.find_repeatable_number(name) else { continue };
            let count = self.context.per_parent.and_then(|by| {
                let of = &self.context.schema.tables[self.context.parents[by]?.table];
                let column = of
                    .columns
                    .iter()
                    .find(|column| ["typed", "typed_count"].contains(&plain(&column.name).as_str()))?;
                Some((format!("number_in({})", self.column(by)), self.through(by, column)))
            });
            let text = match count {
                Some((number, count)) => {
                    format!(
                        "CASE WHEN {number} <= {count} THEN {typed} WHEN {number} = 1 THEN {first} ELSE {again} END"
                    )
                }
                None => format!("if(bool(0.1), {typed}, {first})"),
            };
            self.set(at, text, "follows from what a visit is");
        }
    }

    /// Bookmarks: the first rows are folders, which have no page. The others lie in them, in order.
    fn bookmarks(&mut self) {
        let page = self.table.column("fk").filter(|_| are_bookmarks(self.table));
        let Some(page) = page.map(|at| self.column(at)) else { return };
        if let Some(at) = self.find_repeatable_number("type") {
            self.set(at, format!("if({page} IS NULL, 2, 1)"), "follows from whether it has a page");
        }
        let key = self.table.rowid_alias.map(|at| self.column(at));
        if let Some(at) = self.find_repeatable_text("title") {
            let other = "phrase('{page_title}')";
            let title =
                self.title_of_page().map_or(other.to_owned(), |(_, title)| format!("coalesce({title}, {other})"));
            let folder = key.as_ref().map_or("phrase('{Topic}')".to_owned(), |key| {
                format!("CASE {key} {FOLDERS} ELSE phrase('{{Topic}}') END")
            });
            self.set(at, format!("if({page} IS NULL, {folder}, {title})"), "the title of a folder or a page");
        }
        let Some(key) = key else { return };
        let (rows, folders) = (self.context.rows, folders_of_bookmarks(self.context.rows));
        // Bookmarks lie in the toolbar, outside of folders, and in those that people made.
        let each = (rows - folders).div_ceil((folders + 2).saturating_sub(OWN_FOLDERS).max(1)).max(1);
        let number = format!("({key} - {folders} - 1)");
        let parent = format!("CASE {number} / {each} WHEN 0 THEN 3 WHEN 1 THEN 5 ELSE {number} / {each} + 5 END");
        for (name, [root, own, menu, others]) in [
            ("parent", ["0", "1", "2", &parent]),
            ("position", ["0", &format!("{key} - 2"), &format!("{key} - 7"), &format!("{number} % {each}")]),
        ] {
            if let Some(at) = self.find_repeatable_number(name) {
                let text = format!(
                    "CASE WHEN {key} = 1 THEN {root} WHEN {key} <= {OWN_FOLDERS} THEN {own} WHEN {key} <= {folders} THEN {menu} ELSE {others} END"
                );
                self.set(at, text, "follows from the folder that the row is in");
            }
        }
    }

    /// Texts that people type to find a page: its title up to a dash, or the first letters of it. Each input for a page is longer
    /// than the one before.
    fn searches_of_pages(&mut self) {
        const LEAST: u8 = 1;
        let Some((by, title)) = self.title_of_page() else { return };
        let text = format!("substr(lower({title}), 1, instr({title} || ' - ', ' - ') - 1)");
        if let Some(at) = self.find_repeatable_text("term search_term query") {
            let own = called(&self.alone(at).text);
            self.set(at, format!("coalesce({text}, {own})"), "follows from the title of the page");
            if let Some(at) = self.find_repeatable_number("keyword_id") {
                self.set(at, "choice(2: 9, 5: 1)", "an engine for searches");
            }
        }
        let Some(at) = self.find_text("input").filter(|_| self.context.per_parent == Some(by)) else { return };
        let number = format!("number_in({})", self.column(by));
        let visits = self.number_of_visits(by).zip(self.find_repeatable_number("use_count"));
        if let Some((visits, at)) = visits {
            let text = format!("max(min({visits}, 1), {visits} / (2 * {number}))");
            self.set(at, text, "not more than the visits of the page");
        }
        let text = format!("coalesce({text}, 'www.')");
        let text = format!(
            "if({LEAST} + {number} < length({text}), substr({text}, 1, {LEAST} + {number}), {text} || if({number} = 1, '', ' ' || {number}))"
        );
        self.set(at, text, "the first letters of the title of the page");
    }

    /// Returns the number of visits of the page that a column refers to.
    fn number_of_visits(&self, by: usize) -> Option<String> {
        let of = &self.context.schema.tables[self.context.parents[by]?.table];
        let visits = of.columns.iter().find(|column| plain(&column.name) == "visit_count")?;
        Some(self.through(by, visits))
    }

    /// Returns the column that refers to a page and the title of the page.
    fn title_of_page(&self) -> Option<(usize, String)> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.possible_parents[by]?.table];
            let is_title = |column: &&Column| plain(&column.name) == "title" && column.generated == Generated::No;
            let title = of.columns.iter().filter(|_| is_table_of_pages(of)).find(is_title)?;
            Some((by, self.through(by, title)))
        })
    }

    /// Days, in the unit of the times.
    fn slots(&mut self) {
        let slot =
            self.find_repeatable_number("time_slot").filter(|&at| self.columns[at].traits.class == TypeClass::Int);
        let last = Form::Since1601.number(self.context.day.unix());
        if let Some((at, last)) = slot.zip(last) {
            self.set(at, format!("{last} - 86400000000 * int(1, 90)"), "the beginning of a day");
            if let Some(at) = self.find_repeatable_number("visit_count") {
                self.set(at, "1 + exponential(0.3, max=90, decimals=0)", "the visits of a day");
            }
        }
    }
}
