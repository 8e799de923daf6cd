//! Sites whose visits are counted: the key of an action says of which site it is, so that its address has the host of the site.
//!
//! ```text
//! action     1 2 3   4 5 6   7 8 9     of three sites: the home page of each, and two further pages of each
//! site       1 2 3   1 2 3   1 2 3
//! ```

use super::names::is_plain;
use super::{Inference, TableInference, branches, has_last_word, inferred, literal};
use crate::generators::phrases;
use litepress_rows::quoted_name;
use litepress_rows::schema::{Schema, Table};

/// Kinds of actions of a site, by their numbers: 1 a page, 2 a link to another site, 3 a download, 4 the title of a page, 8 a search.
const KINDS: &str =
    "WHEN 3 THEN 4 WHEN 5 THEN 4 WHEN 6 THEN 2 WHEN 7 THEN 4 WHEN 9 THEN 4 WHEN 10 THEN 8 WHEN 11 THEN 3 ELSE 1";
/// The numbers of what visitors do. Titles come with pages.
const DONE: &str = "choice(0: 30, 1: 16, 2: 12, 4: 10, 6: 3, 8: 8, 10: 4, 11: 3)";
const KIND_COUNT: u64 = 12;
/// Number of a search among the actions of a site.
const SEARCH: u64 = 10;
/// Visits for each site.
const VISITS: u64 = 50;
/// Lists of words for names of sites.
const THEMES: &str = "site_theme";
const FORMS: &str = "site_form";

/// The sites and actions of a schema, of which the keys count.
pub(crate) struct Sites {
    /// Positions of the tables of sites and of actions.
    pub tables: [usize; 2],
    /// Number of sites.
    count: u64,
    /// Actions of each site, by `KIND_COUNT`.
    dozens: u64,
}

fn is_site(table: &Table) -> bool {
    ["main_url", "name"].iter().all(|name| column(table, name).is_some()) && has_last_word(table, "site website")
}

fn is_action(table: &Table) -> bool {
    ["url_prefix", "name", "type"].iter().all(|name| column(table, name).is_some())
}

fn column(table: &Table, name: &str) -> Option<usize> {
    table.columns.iter().position(|of| is_plain(&of.name, name))
}

/// Returns the most rows that a table of sites has for a number of visits.
pub(crate) fn most_sites(table: &Table, rows: u64) -> Option<u64> {
    is_site(table).then(|| rows.div_ceil(VISITS))
}

/// Returns the name of the site of this number: another pair of words, as long as there are pairs.
fn site_name(number: &str) -> String {
    let words = |list: &str, number: &str| {
        let words = phrases::items(list).iter().map(|word| literal(word));
        format!("CASE {number}{} END", branches(0, words))
    };
    let [themes, forms] = [THEMES, FORMS].map(phrases::count);
    let (round, pairs) = (format!("({number} - 1) / {themes}"), themes * forms);
    let theme = words(THEMES, &format!("({number} - 1) % {themes}"));
    let form = words(FORMS, &format!("({number} - 1 + {round}) % {forms}"));
    format!("{theme} || ' ' || {form} || if({number} > {pairs}, ' ' || (({number} - 1) / {pairs} + 1), '')")
}

impl Sites {
    /// Returns the sites of a schema that has their actions, too, given the rows of its tables.
    pub(crate) fn new(schema: &Schema, rows_of: impl Fn(usize) -> u64) -> Option<Self> {
        let find =
            |is: fn(&Table) -> bool| schema.tables.iter().position(|table| is(table) && table.rowid_alias.is_some());
        let tables = [find(is_site)?, find(is_action)?];
        let [count, actions] = tables.map(rows_of);
        let dozens = actions / count.max(1) / KIND_COUNT;
        (dozens > 0).then_some(Self { tables, count, dozens })
    }

    /// Returns the annotation of a column that refers to an action of the row's site.
    pub(crate) fn action(&self, schema: &Schema, table: usize, at: usize) -> Option<Inference> {
        let parent = |at: usize| super::other_parent(schema, table, at).map(|parent| parent.table);
        let of_table = &schema.tables[table];
        let [sites, actions] = self.tables;
        let site = (0..of_table.columns.len()).find(|&at| parent(at) == Some(sites) && of_table.columns[at].not_null);
        let site = site.filter(|_| parent(at) == Some(actions))?;
        let text = format!(
            "{} + {} * ({KIND_COUNT} * int(0, {}) + {DONE})",
            quoted_name(&of_table.columns[site].name),
            self.count,
            self.dozens - 1
        );
        Some(inferred(text, "an action of the site"))
    }
}

impl TableInference<'_> {
    /// Names of sites, and of what visitors do there.
    pub(super) fn sites(&mut self) {
        let schema = self.context.schema;
        let Some(of) = Sites::new(schema, |table| self.context.rows_in(table)) else { return };
        if let Some(key) = self.table.rowid_alias.map(|at| self.column(at)) {
            if of.tables[0] == self.context.table
                && let Some(at) = self.find_repeatable_text("name")
            {
                self.set(at, site_name(&key), "the name of a site");
                self.kinds_of_sites();
            } else if of.tables[1] == self.context.table {
                self.actions_of_sites(&of, &key);
            }
        }
        let action = (0..self.columns.len()).find(|&at| of.action(schema, self.context.table, at).is_some());
        let search = self.find("search_cat search_category", |at| self.is_text(at) && !self.columns[at].not_null);
        let Some(action) = action.map(|at| self.column(at)) else { return };
        let is_search = format!("({action} - 1) / {} % {KIND_COUNT} = {SEARCH}", of.count);
        if let Some(at) = search {
            let text = format!("if({is_search} AND bool(0.6), choice('Pages': 5, 'News': 2, 'Files'))");
            self.set(at, text, "follows from the action");
        }
    }

    /// Kinds of sites, and currencies that suit their time zones.
    fn kinds_of_sites(&mut self) {
        const CURRENCIES: &str = "WHEN 'Europe/London' THEN 'GBP' WHEN 'Europe/Warsaw' THEN 'PLN' WHEN 'Europe/Istanbul' THEN 'TRY' \
             WHEN 'Asia/Tokyo' THEN 'JPY' WHEN 'Asia/Kolkata' THEN 'INR' WHEN 'Asia/Shanghai' THEN 'CNY' WHEN 'Asia/Singapore' THEN 'SGD' \
             WHEN 'Australia/Sydney' THEN 'AUD' WHEN 'Pacific/Auckland' THEN 'NZD' WHEN 'America/Toronto' THEN 'CAD' \
             WHEN 'America/Sao_Paulo' THEN 'BRL' WHEN 'America/Mexico_City' THEN 'MXN' WHEN 'Africa/Johannesburg' THEN 'ZAR'";
        if let Some(at) = self.find_repeatable_text("type") {
            self.set(at, "choice('website': 9, 'mobileapp')", "a kind of site");
        }
        let zone = self.find_repeatable_text("timezone time_zone");
        let Some((zone, currency)) = zone.zip(self.find_repeatable_text("currency currency_code")) else { return };
        self.set(zone, "phrase('{timezone}')", "a time zone");
        let zone = self.column(zone);
        let text = format!("CASE {zone} {CURRENCIES} ELSE if(substr({zone}, 1, 7) = 'Europe/', 'EUR', 'USD') END");
        self.set(currency, text, "follows from the time zone");
    }

    /// Pages, titles, links and downloads of sites.
    fn actions_of_sites(&mut self, of: &Sites, key: &str) {
        let Some(kind) = self.find_repeatable_number("type") else { return };
        let Some((name, prefix)) = self.find_repeatable_text("name").zip(self.find_repeatable_number("url_prefix"))
        else {
            return;
        };
        let number = format!("({key} - 1) / {}", of.count);
        self.set(kind, format!("CASE {number} % {KIND_COUNT} {KINDS} END"), "what a visitor does");
        let kind = self.column(kind);
        let host = format!("slug({}, '') || '.example'", site_name(&format!("(({key} - 1) % {} + 1)", of.count)));
        let text = format!(
            "CASE {kind} WHEN 4 THEN phrase('{{article_title}}') WHEN 8 THEN phrase('{{search_term}}') WHEN 2 THEN phrase('{{domain}}/{{slug}}') \
             ELSE {host} || if({number} = 0, '/', if({kind} = 3, phrase('/files/{{file_plain}}'), '/' || slug(phrase('{{article_title}}')))) END"
        );
        self.set(name, text, "a page of a site");
        let none = if self.columns[prefix].not_null { "0" } else { "NULL" };
        let text = format!("CASE {kind} WHEN 1 THEN 3 WHEN 3 THEN 3 WHEN 2 THEN 2 ELSE {none} END");
        self.set(prefix, text, "follows from the type");
    }
}
