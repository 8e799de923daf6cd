//! Histories of browsers: addresses of pages at their hosts, visits in sittings, bookmarks in order.

use super::amounts::named_column;
use super::names::{is_like, is_plain, plain};
use super::table_columns::called;
use super::times::{Form, Stage};
use super::{TableInference, TypeClass, branches, has_last_word, literal, words_of_table};
use litepress_rows::schema::{Column, Generated, Schema, Table};

/// Pages that people go to by their addresses.
const SEGMENTS: u64 = 97;
/// Most seconds from a visit of a page to the next one in the same sitting.
const SECONDS: i64 = 420;
/// Visits of a sitting, and of a day.
const VISITS: [i64; 2] = [8, 60];
/// Seconds of a day before the first sitting and up to the last one: from eight in the morning to eleven at night.
const HOURS: [i64; 2] = [8 * 3600, 15 * 3600];
/// Kinds of visits by a link: in Firefox, and in Chrome by a link and by a form.
const LINKS: &str = "1, 805306368, 805306375";
/// The root of all bookmarks, and the folders in it.
const OWN_FOLDERS: [&str; 6] = ["root", "menu", "toolbar", "tags", "unfiled", "mobile"];
/// The first part of a page's address.
const PREFIX: &str = "choice('https://': 95, 'http://': 5)";
/// Titles of pages, by a part of the host's name.
const TITLES: [(&str, &str); 7] = [
    ("-shop", "{product}"),
    ("-weather", "{weather_page}"),
    ("-hotels", "{hotel_page}"),
    ("docs.", "{manual_page}"),
    ("-news", "{headline}"),
    ("-recipes", "{recipe}"),
    ("forum.", "{forum_question}"),
];
/// Pages that the visits see first, whatever their number: as many as the first visits.
const FIRST_PAGES: u64 = 24;
/// The hosts of pages without a table of hosts: few hosts have many pages.
const SITES: &str = "pool(phrase('{site}'), 1: 60, 4: 20, 10: 8, 25: 3)";
const ENGINE: &str = "'https://search.example'";

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
    rows.min(OWN_FOLDERS.len() as u64 + rows / BOOKMARKS)
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

/// Returns the title of a page at a host.
fn title_at(host: &str) -> String {
    let titles = TITLES.iter().map(|(part, title)| format!(" WHEN instr({host}, '{part}') > 0 THEN phrase('{title}')"));
    format!("CASE{} ELSE phrase('{{article_title}}') END", titles.collect::<String>())
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

    /// Returns the column that refers to the page of a visit, and the table of pages.
    fn page(&self) -> Option<(usize, &Table)> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            is_visit_of(self.table, of).then_some((by, of))
        })
    }

    /// Returns the days of all visits, and the seconds from one to the next in the same sitting.
    fn pace_of_visits(&self) -> (i64, i64) {
        let [of_sitting, of_day] = VISITS;
        let rows = i64::try_from(self.context.rows).unwrap_or(i64::MAX);
        let days = (rows / of_day).clamp(1, self.days());
        let apart = HOURS[1] / (rows / of_sitting / days).max(1);
        (days, (apart / (of_sitting + 2)).clamp(1, SECONDS))
    }

    /// Returns the time of a visit: one sitting after another, and in each one visit after another.
    pub(super) fn time_of_visit(&self, form: Form) -> Option<String> {
        self.page()?;
        let ([of_sitting, _], [morning, hours]) = (VISITS, HOURS);
        let ((days, pace), units) = (self.pace_of_visits(), form.per_second()?);
        let first = form.number(self.context.day.unix() - 86_400 * days)?;
        let sittings = self.context.rows.div_ceil(of_sitting.unsigned_abs()).max(1);
        let sitting = format!("((sequence() - 1) / {of_sitting} * {days})");
        let day = format!("{sitting} / {sittings} * 86400");
        let time = format!("{morning} + {sitting} % {sittings} * {hours} / {sittings}");
        let visit = format!("(sequence() - 1) % {of_sitting} * {pace}");
        Some(format!("{first} + {units} * ({day} + {time} + {visit}) + int(0, {})", units * pace - 1))
    }

    /// Sets the time of a page's last visit.
    fn last_visit_of_page(&mut self) {
        let tables = &self.context.schema.tables;
        let visits = self.context.counted.iter().find(|(child, _)| is_visit_of(&tables[*child], self.table));
        let (Some(&(child, by)), Some(last)) = (visits, last_visit(self.table)) else { return };
        let at = self.table.column(&last.name).filter(|&at| self.columns[at].is_open);
        let (Some(at), Some((_, form))) = (at, self.time_of_column(self.table, last)) else { return };
        let own = self.found[at].as_ref().filter(|_| self.columns[at].not_null).map(|own| called(&own.text));
        if let Some(text) = self.last_time(child, by, form) {
            let text = own.map_or(text.clone(), |own| format!("coalesce({text}, {own})"));
            self.set(at, text, "the time of the last visit");
        }
    }

    /// Beginnings of addresses.
    fn origins(&mut self) {
        let tables = &self.context.schema.tables;
        let pages = self.context.counted.iter().find(|(child, _)| is_table_of_pages(&tables[*child]));
        if let Some((at, &(child, by))) = self.find_repeatable_number("frecency").zip(pages) {
            let text = format!("count_of({}) * int(180, 700)", named_column(&tables[child], by));
            self.set(at, text, "about the sum of its pages");
        }
        let host = self.find_text("host");
        if let Some(prefix) = self.find_repeatable_text("prefix scheme").filter(|_| host.is_some()) {
            self.set(prefix, PREFIX, "the beginning of an address");
        }
        if let Some(host) = host.filter(|&at| self.columns[at].is_unique) {
            self.set(host, "unique_phrase('{site_host}', '-') || '.example'", "a host of pages");
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
                    "if(count_of({}) > 0, phrase('{{search_term}} - Search'), phrase('{{page_name}}'))",
                    named_column(&tables[child], by)
                ),
                None => host.as_ref().map_or("phrase('{page_title}')".to_owned(), |(_, host)| title_at(host)),
            };
            self.set(title, text, "the title of a page");
        }
        if let Some(url) = self.find_repeatable_text("url") {
            let begin = host.clone().map_or(SITES.to_owned(), |(prefix, host)| format!("{prefix} || {host}"));
            let text = title.map_or(format!("{begin} || '/' || phrase('{{slug}}')"), |title| {
                let title = self.column(title);
                let end = format!("instr({title}, ' - Search')");
                let search = if host.is_some() { &begin } else { ENGINE };
                format!(
                    "if({end} > 0, {search} || '/search?q=' || replace(substr({title}, 1, {end} - 1), ' ', '+'), {begin} || '/' || slug({title}))"
                )
            });
            self.set(url, text, "follows from the host and the title");
        }
        if let Some((at, title)) = self.find_repeatable_text("description").zip(title) {
            let site = host.as_ref().map_or(String::new(), |(_, host)| format!(" || ' | ' || {host}"));
            self.set(at, format!("{}{site}", self.column(title)), "the title and the site");
        }
        if let Some((rev_host, (_, host))) = self.find_repeatable_text("rev_host").zip(host) {
            self.set(rev_host, format!("reverse({host}) || '.'"), "follows from the host");
        }
        let count = self.find("visit_count", |at| self.is_number(at)).map(|at| self.column(at));
        let Some(count) = count else { return };
        if let Some(typed) = self.find_repeatable_number("typed_count") {
            let text = format!("if({count} > 1 AND bool(0.25), {count} - 1, 0)");
            self.set(typed, text, "people follow a link to a page, and type its address later");
        }
        let typed = format!("{count} > 1 AND bool(0.6)");
        let frecency = format!("{count} * int(25, 140)");
        if let Some(at) = self.find_repeatable_number("hidden") {
            self.set(at, "constant(0)", "a page that was shown");
        }
        for (name, usual) in [("typed", typed.as_str()), ("frecency", frecency.as_str())] {
            if let Some(at) = self.find_repeatable_number(name) {
                self.set(at, format!("if({count} > 0, {usual}, 0)"), "follows from the number of visits");
            }
        }
        self.names_for_sync();
        self.last_visit_of_page();
        self.set_only_if("last_visit*", &format!("{count} > 0"), "follows from the number of visits");
    }

    /// Sets the identifiers that browsers of one person share: twelve letters. The folders of the browser have names as identifiers.
    fn names_for_sync(&mut self) {
        const NAME: &str = "regex('[A-Za-z0-9_-]{2}') || unique_regex('[A-Za-z0-9_-]{10}')";
        let Some(at) = self.find_text("guid") else { return };
        let key = self.table.rowid_alias.filter(|_| are_bookmarks(self.table)).map(|key| self.column(key));
        let text = key.map_or(NAME.to_owned(), |key| {
            let own = branches(1, OWN_FOLDERS.iter().map(|name| format!("'{name:_<12}'")));
            format!("CASE {key}{own} ELSE {NAME} END")
        });
        self.set(at, text, "a name for other browsers");
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

    /// Returns the condition of the first visit of a page, if the keys of both count.
    fn is_first_visit(&self) -> Option<String> {
        let (by, _) = self.page()?;
        let key = self.column(self.table.rowid_alias?);
        let of = self.context.parents[by]?;
        let pages = self.context.rows_in(of.table);
        let counts = self.context.schema.tables[of.table].rowid_alias == Some(of.column) && pages > 0;
        // The newest page of which the visits know.
        let rows = self.context.rows.max(1);
        let newest = format!("max(({key} * {pages} + {}) / {rows}, min({key}, {FIRST_PAGES}))", rows - 1);
        counts.then(|| format!("{} = {newest}", self.column(by)))
    }

    /// Visits: how they came about, how long they took, and the visit before.
    fn visits(&mut self) {
        if !words_of_table(&self.table.name).last().is_some_and(|word| word.ends_with("visit")) {
            return;
        }
        let is_typed = self.column_of_page("typed typed_count").map(|typed| format!("{typed} > 0"));
        let is_typed = is_typed.unwrap_or_else(|| "bool(0.1)".to_owned());
        let page = self.page().map(|(by, _)| self.column(by));
        // A segment is a page that people go to by its address.
        let segment =
            page.map_or("constant(0)".to_owned(), |page| format!("if({is_typed}, 1 + {page} * 7 % {SEGMENTS}, 0)"));
        for (name, text) in [("session", "constant(0)"), ("segment_id", segment.as_str())] {
            if let Some(at) = self.find_repeatable_number(name) {
                self.set(at, text, "follows from what a visit is");
            }
        }
        self.kinds_of_visits(&is_typed);
        let key = self.table.rowid_alias.map(|at| self.column(at));
        if let Some((at, key)) = self.find_repeatable_number("from_visit").zip(key) {
            let kind = self.find("visit_type transition", |at| self.found[at].is_some());
            let is_link = kind.map_or("bool(0.7)".to_owned(), |kind| format!("{} IN ({LINKS})", self.column(kind)));
            let is_first = self.is_first_visit().unwrap_or_else(|| "TRUE".to_owned());
            let text = format!("if({is_link} AND {is_first} AND ({key} - 1) % {} > 0, {key} - 1, 0)", VISITS[0]);
            self.set(at, text, "the visit before in the same sitting");
        }
        if let Some(at) = self.find_repeatable_number("visit_duration duration") {
            let (_, pace) = self.pace_of_visits();
            let text = format!("1_000_000 * lognormal(3.5, 1.1, min=1, max={pace}, decimals=0)");
            self.set(at, text, "microseconds, less than to the next visit");
        }
    }

    /// Kinds of visits: typed addresses, searches, links, bookmarks and forms.
    fn kinds_of_visits(&mut self, is_typed: &str) {
        const KINDS: [(&str, [&str; 5]); 2] = [
            ("visit_type", ["2", "1", "1", "3", "choice(1: 97, 7: 3)"]),
            (
                "transition",
                [
                    "805306369",
                    "805306373",
                    "choice(805306374: 6, 805306370: 4)",
                    "805306370",
                    "choice(805306368: 94, 805306375: 6)",
                ],
            ),
        ];
        let search = self.column_of_page("title").map(|title| format!("instr({title}, ' - Search') > 0"));
        let is_search = search.unwrap_or_else(|| "FALSE".to_owned());
        let marked = self.column_of_page("foreign_count").map(|count| format!("{count} > 0"));
        let is_marked = marked.unwrap_or_else(|| "FALSE".to_owned());
        // A sitting begins with the first page of the browser, or a bookmark.
        let key = self.table.rowid_alias.map(|at| format!("({} - 1) % {} = 0", self.column(at), VISITS[0]));
        let is_first = key.unwrap_or_else(|| "FALSE".to_owned());
        let is_new = self.is_first_visit().unwrap_or_else(|| "FALSE".to_owned());
        for (name, [typed, search, first, marked, others]) in KINDS {
            if let Some(at) = self.find_repeatable_number(name) {
                let text = format!(
                    "CASE WHEN {is_typed} AND NOT ({is_new}) THEN {typed} WHEN {is_search} THEN {search} WHEN {is_marked} AND NOT ({is_new}) THEN {marked} WHEN {is_first} THEN {first} ELSE {others} END"
                );
                self.set(at, text, "follows from what a visit is");
            }
        }
    }

    /// Returns the first column of these names in the row of the page of a visit.
    fn column_of_page(&self, names: &str) -> Option<String> {
        let (by, of) = self.page()?;
        let is_it = |column: &&Column| column.generated == Generated::No && is_like(&plain(&column.name), names);
        Some(self.through(by, of.columns.iter().find(is_it)?))
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
            let folder = key.as_ref().map_or("phrase('{bookmark_folder}')".to_owned(), |key| {
                let own = branches(1, OWN_FOLDERS.iter().map(|name| literal(name)));
                format!("CASE {key}{own} ELSE unique_phrase('{{bookmark_folder}}') END")
            });
            self.set(at, format!("if({page} IS NULL, {folder}, {title})"), "the title of a folder or a page");
        }
        self.names_for_sync();
        let Some(key) = key else { return };
        self.beginning_of_bookmarks(&key);
        let (rows, folders) = (self.context.rows, folders_of_bookmarks(self.context.rows));
        // Bookmarks lie in the toolbar, outside of folders, and in those that people made.
        let own = OWN_FOLDERS.len() as u64;
        let each = (rows - folders).div_ceil((folders + 2).saturating_sub(own).max(1)).max(1);
        let number = format!("({key} - {folders} - 1)");
        let parent = format!("CASE {number} / {each} WHEN 0 THEN 3 WHEN 1 THEN 5 ELSE {number} / {each} + 5 END");
        let of_browser = OWN_FOLDERS.len();
        for (name, [root, own, menu, others]) in [
            ("parent", ["0", "1", "2", &parent]),
            ("position", ["0", &format!("{key} - 2"), &format!("{key} - 7"), &format!("{number} % {each}")]),
        ] {
            if let Some(at) = self.find_repeatable_number(name) {
                let text = format!(
                    "CASE WHEN {key} = 1 THEN {root} WHEN {key} <= {of_browser} THEN {own} WHEN {key} <= {folders} THEN {menu} ELSE {others} END"
                );
                self.set(at, text, "follows from the folder that the row is in");
            }
        }
    }

    /// Lets the folders of the browser begin with the first bookmark, when the browser came.
    fn beginning_of_bookmarks(&mut self, key: &str) {
        let added = (0..self.columns.len()).find(|&at| matches!(self.time_at(at), Some((Stage::Created, _))));
        let Some((at, (_, form))) = added.and_then(|at| Some((at, self.time_at(at)?))) else { return };
        let first = form.number(self.context.day.unix() - 86_400 * self.first_day());
        if let Some((first, found)) = first.zip(self.found[at].clone()) {
            let text = format!("if({key} <= {}, {first}, {})", OWN_FOLDERS.len(), called(&found.text));
            self.set(at, text, &found.because);
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
                self.set(at, "constant(2)", "the engine for searches");
            }
        }
        let Some(at) = self.find_text("input").filter(|_| self.context.per_parent == Some(by)) else { return };
        let number = format!("number_in({})", self.column(by));
        let visits = self.number_of_visits(by).zip(self.find_repeatable_number("use_count"));
        if let Some((visits, at)) = visits {
            let text = format!("max(min({visits}, 1), {visits} / (2 * {number}))");
            self.set(at, text, "not more than the visits of the page");
        }
        let of = &self.context.schema.tables[self.context.possible_parents[by].map_or(0, |of| of.table)];
        let url = of.columns.iter().find(|column| plain(&column.name) == "url").map(|url| self.through(by, url));
        // Behind the title they type the address.
        let address = url.map_or(String::new(), |url| format!(" || ' ' || substr({url}, instr({url}, '//') + 2)"));
        let text = format!("(coalesce({text}, 'www.'){address})");
        let letters = format!("{LEAST} + 2 * {number}");
        let text = format!(
            "if({letters} < length({text}), substr({text}, 1, {letters}), {text} || if({number} = 1, '', ' ' || {number}))"
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
            // Some segments of each day, each once.
            let day = format!("(sequence() - 1) * 90 / {}", self.context.rows.max(1));
            self.set(at, format!("{last} - 86400000000 * (90 - {day})"), "the beginning of a day");
            if let Some(at) = self.find_repeatable_number("segment_id") {
                self.set(at, format!("1 + sequence() * 31 % {SEGMENTS}"), "each segment of a day once");
            }
            if let Some(at) = self.find_repeatable_number("visit_count") {
                self.set(at, "1 + exponential(0.3, max=90, decimals=0)", "the visits of a day");
            }
        }
    }
}
