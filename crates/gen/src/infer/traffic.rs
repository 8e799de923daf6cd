//! Requests, logs and visits: the status suits the method, the message the level, and an action lies within its visit.

use super::TableInference;
use super::names::is_like;
use super::subjects::Kind;
use super::table_columns::called;
use super::{ColumnTraits, plain};
use litepress_rows::schema::Generated;

const METHODS: &str = "http_method request_method verb method";
const STATUSES: &str = "http_status http_status_code status_code response_code response_status http_code";
const STATUS_BY_METHOD: &str = "WHEN 'GET' THEN choice(200: 84, 301: 2, 302: 3, 304: 4, 400: 1, 401: 1, 403: 1, 404: 4, 500: 1, 503: 1) \
     WHEN 'POST' THEN choice(200: 52, 201: 30, 302: 8, 400: 4, 401: 2, 403: 1, 422: 2, 500: 1) \
     WHEN 'DELETE' THEN choice(204: 70, 200: 16, 403: 4, 404: 8, 500: 2) \
     ELSE choice(200: 82, 204: 8, 400: 3, 401: 2, 404: 3, 500: 2)";
const PATH_BY_METHOD: &str = "WHEN 'GET' THEN phrase('{url_path}') WHEN 'HEAD' THEN phrase('{url_path}') WHEN 'POST' THEN phrase('{post_path}') ELSE phrase('{api_path}')";
/// Actions of visitors: 1 a page, 2 a link to another site, 3 a download, 4 the title of a page, 8 a search.
const ACTIONS: &str = "choice(1: 50, 4: 40, 2: 4, 3: 3, 8: 3)";
const NAME_BY_ACTION: &str = "WHEN 4 THEN phrase('{article_title}') WHEN 8 THEN phrase('{search_term}') WHEN 3 THEN phrase('{domain}/files/{file_plain}') \
     ELSE phrase('{domain}/{slug}')";
const MESSAGE_BY_LEVEL: &str = "WHEN 'debug' THEN phrase('{log_debug}') WHEN 'warning' THEN phrase('{log_warning}') \
     WHEN 'warn' THEN phrase('{log_warning}') WHEN 'error' THEN phrase('{log_error}') WHEN 'critical' THEN phrase('{log_error}') \
     WHEN 'fatal' THEN phrase('{log_error}') ELSE phrase('{log_info}')";

impl TableInference<'_> {
    pub(super) fn traffic(&mut self) {
        self.requests();
        self.messages_of_levels();
        self.referrers();
        self.time_in_visits();
        self.actions();
        self.purchases();
        self.pages_of_sites();
    }

    /// Addresses of pages, at the site that the row refers to.
    fn pages_of_sites(&mut self) {
        let site = (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let is_site = super::has_last_word(of, "site website");
            let url =
                of.columns.iter().find(|column| is_like(&plain(&column.name), "main_url site_url base_url url"))?;
            Some(self.through(by, url)).filter(|_| is_site && url.not_null)
        });
        let url = self.find_repeatable_text("url page_url").filter(|_| self.kind() == Some(Kind::Log));
        if let Some((url, site)) = url.zip(site) {
            self.set(url, format!("{site} || phrase('{{slug}}')"), "a page of the site");
        }
    }

    /// States of requests, as their method allows, and the sizes of answers: some states have none.
    fn requests(&mut self) {
        let Some(status) = self.find_repeatable_number(STATUSES) else { return };
        let bytes = self.find_repeatable_number("bytes *_bytes response_size body_size content_length *_bytes_sent");
        if let Some(method) = self.find(METHODS, |at| self.is_text(at))
            && self.knows(method, "'GET'")
        {
            if let Some(path) = self.find_repeatable_text("path uri url_path request_path") {
                let text = format!("CASE upper({}) {PATH_BY_METHOD} END", self.column(method));
                self.set(path, text, "suits the method");
            }
            let text = format!("CASE upper({}) {STATUS_BY_METHOD} END", self.column(method));
            self.set(status, text, "suits the method");
        }
        if let Some(bytes) = bytes {
            let (status, usual) = (self.column(status), called(&self.alone(bytes).text));
            let text = format!(
                "CASE WHEN {status} IN (204, 304) THEN 0 WHEN {status} >= 300 THEN lognormal(6.5, 0.8, min=80, max=20000, decimals=0) ELSE {usual} END"
            );
            self.set(bytes, text, "follows from the status");
        }
    }

    /// Messages that are as bad as the level says.
    fn messages_of_levels(&mut self) {
        let is_log = self.subject.is_some_and(|subject| subject.names == "log_message");
        let level = self.find("level log_level loglevel severity", |at| self.is_text(at)).filter(|_| is_log);
        let message = self.find_repeatable_text("message msg text event description");
        if let Some((level, message)) = level.zip(message)
            && self.knows(level, "'error', 'ERROR'")
        {
            let text = format!("CASE lower({}) {MESSAGE_BY_LEVEL} END", self.column(level));
            self.set(message, text, "suits the level");
        }
    }

    /// Numbers of what visitors bought: cheap purchases are of one thing.
    fn purchases(&mut self) {
        let revenue = self.find("revenue", |at| self.is_number(at)).map(|at| self.column(at));
        if let Some((items, revenue)) = self.find_repeatable_number("items").zip(revenue) {
            let text = format!("if({revenue} > 20, choice(1: 50, 2: 25, 3: 12, 4: 6), 1)");
            self.set(items, text, "follows from the revenue");
        }
    }

    /// Addresses of referrers, at their domain.
    fn referrers(&mut self) {
        let name = self.find_text("referer_name referrer_name");
        let url = self.find_text("referer_url referrer_url referer referrer");
        let Some((name, url)) = name.zip(url) else { return };
        if let Some(kind) = self.find_repeatable_number("referer_type referrer_type") {
            // Only an engine for searches has no point in its name.
            let own = "if(bool(0.4), choice('Google': 12, 'Bing': 3, 'DuckDuckGo': 2, 'Ecosia'), phrase('{domain}'))";
            let column = self.column(name);
            if !self.columns[name].is_unique {
                self.set(name, own, "a site or an engine for searches");
            }
            let text = format!("if({column} IS NULL, 1, if(instr({column}, '.') > 0, 3, 2))");
            self.set(kind, text, "follows from the domain");
        }
        let are_free = !self.columns[name].is_unique && !self.columns[url].is_unique;
        if are_free && (self.columns[name].not_null || !self.columns[url].not_null) {
            let domain = self.column(name);
            let text = format!(
                "CASE WHEN {domain} IS NULL THEN NULL WHEN instr({domain}, '.') = 0 THEN 'https://www.' || lower({domain}) || '.example/' \
                 ELSE 'https://' || {domain} || '/' || phrase('{{slug}}') END"
            );
            self.set(url, text, "follows from the domain");
        }
    }

    /// Pages, titles and files that visitors look at; an address alone has a prefix.
    fn actions(&mut self) {
        let kind = self.find_repeatable_number("type action_type").zip(self.find_repeatable_number("url_prefix"));
        let Some((name, (kind, prefix))) = self.find_repeatable_text("name").zip(kind) else { return };
        self.set(kind, ACTIONS, "what a visitor does");
        let kind = self.column(kind);
        self.set(name, format!("CASE {kind} {NAME_BY_ACTION} END"), "follows from the type");
        let own = self.alone(prefix).text;
        let none = if self.columns[prefix].not_null { "0" } else { "NULL" };
        self.set(prefix, format!("if({kind} IN (1, 2, 3), {own}, {none})"), "follows from the type");
    }

    /// Times spent on one page, which are a part of the visit.
    fn time_in_visits(&mut self) {
        let spent = self.find_repeatable_number("time_spent *_time_spent");
        let Some(spent) = spent.filter(|_| self.kind() == Some(Kind::Log)) else { return };
        let whole = (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let whole = of.columns.iter().find(|column| {
                let is_known = column.not_null && column.generated == Generated::No;
                is_known && ColumnTraits::new(column).is_number() && is_like(&plain(&column.name), "*total_time")
            })?;
            Some(self.through(by, whole))
        });
        if let Some(whole) = whole {
            let by = self.context.per_parent.map(|by| self.column(by));
            let text = match by {
                Some(by) => format!("{whole} * int(20, 100) / 100 / count_in({by})"),
                None => format!("min({}, {whole})", called(&self.alone(spent).text)),
            };
            self.set(spent, text, "not longer than the visit");
        }
    }
}
