//! Requests, logs and visits: the status suits the method, the message the level, and an action lies within its visit.

use super::TableInference;
use super::amounts::named_column;
use super::names::is_like;
use super::relatives::is_action_of;
use super::subjects::Kind;
use super::table_columns::called;
use super::times::Form;
use super::{ColumnTraits, plain};
use litepress_rows::schema::{Column, Generated};

const METHODS: &str = "http_method request_method verb method";
const STATUSES: &str = "http_status http_status_code status_code response_code response_status http_code";
const STATUS_BY_METHOD: &str = "WHEN 'GET' THEN choice(200: 84, 301: 2, 302: 3, 304: 4, 400: 1, 401: 1, 403: 1, 404: 4, 500: 1, 503: 1) \
     WHEN 'POST' THEN choice(200: 52, 201: 30, 302: 8, 400: 4, 401: 2, 403: 1, 422: 2, 500: 1) \
     WHEN 'DELETE' THEN choice(204: 70, 200: 16, 403: 4, 404: 8, 500: 2) \
     ELSE choice(200: 82, 204: 8, 400: 3, 401: 2, 404: 3, 500: 2)";
const PATH_BY_METHOD: &str =
    "WHEN 'GET' THEN phrase('{url_path}') WHEN 'HEAD' THEN phrase('{url_path}') ELSE phrase('{api_path}')";
/// Nobody makes something by a sign-in, and it does not lead to an interface of programs.
const PATH_OF_POST: &str = "CASE WHEN {} IN (201, 422) THEN phrase('{post_api_path}') WHEN {} = 302 THEN '/login' ELSE phrase('{post_path}') END";
/// Actions of visitors: 1 a page, 2 a link to another site, 3 a download, 4 the title of a page, 8 a search.
const ACTIONS: &str = "choice(1: 50, 4: 40, 2: 4, 3: 3, 8: 3)";
const NAME_BY_ACTION: &str = "WHEN 4 THEN phrase('{article_title}') WHEN 8 THEN phrase('{search_term}') WHEN 3 THEN phrase('{domain}/files/{file_plain}') \
     ELSE phrase('{domain}/{slug}')";
const MESSAGE_BY_LEVEL: &str = "WHEN 'debug' THEN phrase('{log_debug}') WHEN 'warning' THEN phrase('{log_warning}') \
     WHEN 'warn' THEN phrase('{log_warning}') WHEN 'error' THEN phrase('{log_error}') WHEN 'critical' THEN phrase('{log_error}') \
     WHEN 'fatal' THEN phrase('{log_error}') ELSE phrase('{log_info}')";

/// Pages at which visitors reach a goal, by its number.
const GOALS: &str = "WHEN 0 THEN 'checkout/complete' WHEN 1 THEN 'contact/sent' WHEN 2 THEN 'newsletter/confirmed' WHEN 3 THEN 'sign-up/done'";

/// Returns the share of a visit that is over when the row's action begins, or one that comes `later`, as a factor: the first one
/// begins with the visit, and the last one at its end. The gaps between them are not alike.
pub(super) fn share_of_visit(by: &str, later: u8) -> String {
    let before = if later == 0 { format!("(number_in({by}) - 1)") } else { format!("number_in({by})") };
    let after = format!("(count_in({by}) - 1 - {before})");
    format!("(1000 * {before} + {before} * {after} * (7 + {before} * 271) % 600) / (1000 * max(1, count_in({by}) - 1))")
}

impl TableInference<'_> {
    pub(super) fn traffic(&mut self) {
        self.requests();
        self.user_agents();
        self.messages_of_levels();
        self.referrers();
        self.ends_of_visits();
        self.time_in_visits();
        self.actions();
        self.purchases();
        self.pages_of_sites();
        self.shops();
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
        let Some((url, site)) = url.zip(site) else { return };
        let goal = self.find("idgoal goal_id goal", |at| self.is_number(at)).map(|at| self.column(at));
        let page = goal.map_or("phrase('{slug}')".to_owned(), |goal| {
            let ends = format!("CASE {goal} {GOALS} ELSE 'thank-you' END");
            let revenue = self.find("revenue", |at| self.is_number(at)).map(|at| self.column(at));
            revenue.map_or(ends.clone(), |revenue| format!("if({revenue} > 0, 'checkout/complete', {ends})"))
        });
        self.set(url, format!("{site} || {page}"), "a page of the site");
    }

    /// States of requests, as their method allows, and the sizes of answers: some states have none.
    fn requests(&mut self) {
        let Some(status) = self.find_repeatable_number(STATUSES) else { return };
        let bytes = self.find_repeatable_number("bytes *_bytes response_size body_size content_length *_bytes_sent");
        let method = self.find(METHODS, |at| self.is_text(at)).filter(|&at| self.knows(at, "'GET'"));
        if let Some(method) = method {
            if let Some(path) = self.find_repeatable_text("path uri url_path request_path") {
                let status = self.column(status);
                let post = PATH_OF_POST.replace("{}", &status);
                let text = format!(
                    "CASE WHEN {status} = 404 AND upper({0}) IN ('GET', 'HEAD') THEN '/' || phrase('{{slug}}') WHEN upper({0}) = 'POST' THEN {post} ELSE CASE upper({0}) {PATH_BY_METHOD} END END",
                    self.column(method)
                );
                self.set(path, text, "suits the method and the status");
            }
            // A program that calls an interface comes from no page.
            let is_page = format!("upper({}) = 'GET'", self.column(method));
            if let Some(at) = self.find_repeatable_text("referrer referer http_referer")
                && !self.columns[at].not_null
            {
                let text = format!("if({is_page}, {})", called(&self.alone(at).text));
                self.set(at, text, "follows from the method");
            }
            let text = format!("CASE upper({}) {STATUS_BY_METHOD} END", self.column(method));
            self.set(status, text, "suits the method");
        }
        let is_short = method.map_or(String::new(), |at| format!(" OR upper({}) <> 'GET'", self.column(at)));
        if let Some(bytes) = bytes {
            let (status, usual) = (self.column(status), called(&self.alone(bytes).text));
            let text = format!(
                "CASE WHEN {status} IN (204, 304) THEN 0 WHEN {status} >= 300{is_short} THEN lognormal(6.5, 0.8, min=80, max=20000, decimals=0) ELSE min({usual}, 2_000_000) END"
            );
            self.set(bytes, text, "follows from the status");
        }
    }

    /// User agents of the time of the row.
    fn user_agents(&mut self) {
        let agent = self.find_repeatable_text("user_agent useragent *_user_agent *_agent agent");
        let agent = agent.filter(|&at| self.alone(at).text.contains("user_agent"));
        let is_known = |at: usize| self.found[at].is_some() && self.columns[at].not_null;
        let times = (0..self.columns.len()).filter_map(|at| Some((self.time_at(at).filter(|_| is_known(at))?, at)));
        let first = times.filter(|((_, form), _)| !matches!(form, Form::Julian)).min_by_key(|((stage, _), _)| *stage);
        if let Some((at, (_, time))) = agent.zip(first) {
            let text = format!("browser_at({}, digits(9))", self.column(time));
            self.set(at, text, "a browser of the time");
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
        let sells = self.flag_of_shop();
        let found = self.find("revenue", |at| self.is_number(at) && self.columns[at].is_open);
        if let Some((at, sells)) = found.zip(sells) {
            let own = self.found[at].clone().unwrap_or_else(|| self.alone(at));
            // Nobody buys in a visit of one page.
            let actions = (0..self.columns.len()).find_map(|by| {
                let of = &self.context.schema.tables[self.context.parents[by]?.table];
                let count = of.columns.iter().find(|column| is_like(&plain(&column.name), "*total_actions"))?;
                Some(format!(" AND coalesce({}, 0) > 2", self.through(by, count)))
            });
            let buys = format!("{sells}{}", actions.unwrap_or_default());
            self.set(at, format!("if({buys}, {}, 0)", called(&own.text)), "only shops earn something");
        }
        if let Some((items, revenue)) = self.find_repeatable_number("items").zip(revenue) {
            let text = format!("if({revenue} > 20, choice(1: 50, 2: 25, 3: 12, 4: 6), if({revenue} > 0, 1, 0))");
            self.set(items, text, "follows from the revenue");
        }
    }

    /// Returns whether the site that the row refers to sells something, as an expression.
    fn flag_of_shop(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let is_flag = |column: &&Column| is_like(&plain(&column.name), "ecommerce *_ecommerce");
            Some(format!("coalesce({}, 0)", self.through(by, of.columns.iter().find(is_flag)?)))
        })
    }

    /// Sites that sell something: only shops do.
    pub(super) fn shops(&mut self) {
        let flag = self.find_repeatable_number("ecommerce *_ecommerce");
        let name = self.find("name *_name", |at| self.is_text(at)).map(|at| self.column(at));
        if let Some((at, name)) = flag.zip(name) {
            self.set(at, format!("substr({name}, -4) IN ('Shop', 'tore', 'rket')"), "follows from the name");
        }
    }

    /// The end of visits: one of a single action ends as it begins.
    fn ends_of_visits(&mut self) {
        let tables = &self.context.schema.tables;
        let actions = self.context.counted.iter().find(|(child, _)| is_action_of(&tables[*child], self.table));
        let first = self.find("*first_action*", |at| self.is_time(at));
        let last = self.find("*last_action*", |at| self.is_time(at) && self.found[at].is_some());
        let (Some(&(child, by)), Some(first), Some(last)) = (actions, first, last) else { return };
        if let Some(found) = self.found[last].clone() {
            let count = named_column(&tables[child], by);
            let text = format!("if(count_of({count}) > 1, {}, {})", found.text, self.column(first));
            self.set(last, text, "follows from the number of actions");
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
                // From one action to the next, as their times say; nobody knows how long the last one took.
                Some(by) => {
                    let none = if self.columns[spent].not_null { "0" } else { "NULL" };
                    let [share, next] = [0, 1].map(|later| share_of_visit(&by, later));
                    format!("if(number_in({by}) = count_in({by}), {none}, {whole} * {next} - {whole} * {share})")
                }
                None => format!("min({}, {whole})", called(&self.alone(spent).text)),
            };
            self.set(spent, text, "not longer than the visit");
        }
    }
}
