//! Columns that follow from one beside them: the type of a file from its name, the card from the method of payment.

use super::amounts::named_column;
use super::files::IMAGES;
use super::names::is_like;
use super::subjects::Kind;
use super::times::{Form, Stage};
use super::{ColumnTraits, TableInference, TypeClass, expanded, plain, things_of_any_kind, words_of_table};
use crate::generators::phrases::capital;
use litepress_rows::schema::{Generated, Table};

const URLS: &str = "url uri *_url *_uri link permalink homepage home_page website web_site";

/// Browsers, sizes of screens and kinds of devices, by the first letters of the system.
const BROWSERS: &str = "WHEN 'ios' THEN choice('Safari': 88, 'Chrome': 12) WHEN 'and' THEN choice('Chrome': 78, 'Samsung Internet': 14, 'Firefox': 5, 'Opera': 3) WHEN 'mac' THEN choice('Safari': 55, 'Chrome': 37, 'Firefox': 8) WHEN 'win' THEN choice('Chrome': 68, 'Edge': 20, 'Firefox': 9, 'Opera': 3) ELSE choice('Firefox': 55, 'Chrome': 45)";
const SCREENS: &str = "WHEN 'ios' THEN choice('390x844': 5, '393x852': 3, '428x926': 2, '375x812': 1) WHEN 'and' THEN choice('412x915': 5, '360x800': 4, '393x873': 2) WHEN 'mac' THEN choice('1440x900': 5, '1728x1117': 2, '2560x1440': 2) ELSE choice('1920x1080': 9, '1366x768': 3, '1536x864': 3, '2560x1440': 2)";
const DEVICES: &str = "WHEN 'ios' THEN choice('mobile': 85, 'tablet': 15) WHEN 'and' THEN choice('mobile': 92, 'tablet': 8) ELSE 'desktop'";

impl TableInference<'_> {
    pub(super) fn companions(&mut self) {
        self.browsing();
        self.smart_home();
        self.shared_files();
        self.flash_cards();
        self.photographs();
        self.catalogues();
        self.maps();
        self.repositories();
        self.sites();
        self.panels_of_dashboards();
        self.values_of_fields();
        self.keys_of_references();
        self.versions_of_migrations();
        self.files();
        self.sizes_of_values();
        self.means_of_payment();
        self.keys_of_accounts();
        self.zones_of_locales();
        self.addresses_of_domain();
        self.values_of_keys();
        self.permissions();
        self.states_of_runs();
        self.branches();
        self.current_states();
        self.states_of_orders();
        self.devices();
        self.browsers();
        self.stages();
        self.replies();
        self.warnings();
        self.searches();
        self.currencies();
        self.rooms();
        self.counters();
        self.readings();
        self.meetings();
        self.roles();
        self.kinds_of_files();
        self.traffic();
        self.sign_ins();
        self.things_of_any_kind();
        self.numbers_within();
    }

    /// Addresses from which somebody signed in: mostly the same one.
    fn sign_ins(&mut self) {
        let time = |name: &str| self.find(name, |at| self.is_time(at)).map(|at| self.column(at));
        let [current, last] = ["current_sign_in_at", "last_sign_in_at"].map(time);
        let addresses = self
            .find_repeatable_text("current_sign_in_ip")
            .zip(self.find_repeatable_text("last_sign_in_ip"))
            .filter(|&(one, other)| !self.columns[one].not_null && !self.columns[other].not_null);
        if let (Some(current), Some(last), Some((now, before))) = (current, last, addresses) {
            self.set(now, format!("if({current} IS NOT NULL, ipv4())"), "follows from the sign-in");
            let text = format!("if({last} IS NOT NULL, if(bool(0.7), {}, ipv4()))", self.column(now));
            self.set(before, text, "follows from the sign-in before");
        }
    }

    /// Numbers that are unique together with what a row belongs to: they rise, but not from the same number everywhere.
    fn numbers_within(&mut self) {
        for at in 0..self.columns.len() {
            let is_number = self.is_free(at) && self.is_number(at) && self.columns[at].is_unique;
            if !is_number || !self.is_like(at, "number num iid *_number *_num") || super::is_key_alone(self.table, at) {
                continue;
            }
            let is_key =
                |by: usize| by != at && self.columns[by].traits.class == TypeClass::Int && self.columns[by].not_null;
            let mut keys = super::unique_keys(self.table).filter(|key| key.len() == 2 && key.contains(&at));
            if let Some(by) = keys.find_map(|key| key.into_iter().find(|&by| is_key(by))) {
                // More rows than that would take too much memory to count.
                let is_counted = self.context.parents[by].is_some() && self.context.rows <= 1 << 24;
                let text = match is_counted {
                    true => format!("number_in({})", self.column(by)),
                    false => format!("sequence() + {} * 37 % 900", self.column(by)),
                };
                self.set(at, text, "it rises, and is unique together with another column");
            }
        }
    }

    /// Names of what a row of any table is about: `commentable_type` is the class of a table with texts or things.
    fn things_of_any_kind(&mut self) {
        let Some(at) = self.find_repeatable_text("*able_type record_type").filter(|&at| {
            let key = self.columns[at].full.replace("_type", "_id");
            self.columns.iter().any(|column| column.full == key)
        }) else {
            return;
        };
        let class = |of: &Table| words_of_table(&of.name).iter().map(|word| capital(word)).collect::<String>();
        let tables = things_of_any_kind(self.context.schema, self.table);
        let classes: Vec<String> = tables.map(|of| format!("'{}'", class(of))).collect();
        if !classes.is_empty() {
            self.set(at, format!("choice({})", classes.join(", ")), "the class of a table");
        }
    }

    /// Panels of the dashboard that the row refers to: its first one.
    fn panels_of_dashboards(&mut self) {
        let Some(at) = self.find_repeatable_number("panel_id panel") else { return };
        let data = (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.possible_parents[by]?.table];
            let data = of.columns.iter().find(|column| is_like(&plain(&column.name), "data json model"))?;
            super::has_last_word(of, "dashboard").then(|| self.through(by, data))
        });
        if let Some(data) = data {
            let text = format!("coalesce(substr({data}, instr({data}, '\"id\":') + 5, 4) + 0, 0)");
            self.set(at, text, "follows from the dashboard");
        }
    }

    /// Keys of accounts, of which only those of this server are known in whole.
    fn keys_of_accounts(&mut self) {
        const PUBLIC: &str = "'-----BEGIN PUBLIC KEY-----MCowBQYDK2VwAyEA' || regex('[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]') || '=-----END PUBLIC KEY-----'";
        let Some(private) = self.find_repeatable_text("private_key") else { return };
        if let Some(public) = self.find_repeatable_text("public_key") {
            self.set(public, PUBLIC, "the other key of a pair");
        }
        let domain = self.find_repeatable_text("domain").filter(|&at| !self.columns[at].not_null);
        let Some(domain) = domain.filter(|_| !self.columns[private].not_null) else { return };
        // Users of this server have accounts here.
        let tables = &self.context.schema.tables;
        let users = self.context.counted.iter().find(|(child, _)| super::is_person(&tables[*child]));
        let local = users.map_or("bool(0.4)".to_owned(), |&(child, by)| {
            format!("count_of({}) > 0", named_column(&tables[child], by))
        });
        self.set(domain, format!("if({local}, NULL, phrase('{{domain}}'))"), "follows from where the account is");
        let text = format!("if({} IS NULL, {})", self.column(domain), self.alone(private).text);
        self.set(private, text, "follows from the domain");
    }

    /// Time zones of the country that a locale ends with.
    fn zones_of_locales(&mut self) {
        const ZONES: &str = "WHEN 'GB' THEN 'Europe/London' WHEN 'DE' THEN 'Europe/Berlin' WHEN 'FR' THEN 'Europe/Paris' \
             WHEN 'ES' THEN 'Europe/Madrid' WHEN 'IT' THEN 'Europe/Rome' WHEN 'BR' THEN 'America/Sao_Paulo' \
             WHEN 'JP' THEN 'Asia/Tokyo' WHEN 'US' THEN choice('America/New_York': 5, 'America/Chicago': 3, 'America/Denver', 'America/Los_Angeles': 3) \
             ELSE phrase('{timezone}')";
        let zone = self.find_repeatable_text("time_zone timezone");
        let Some((locale, zone)) = self.find_repeatable_text("locale").zip(zone) else { return };
        if self.knows(locale, "'ja_JP'") {
            let text = format!("CASE substr({}, -2) {ZONES} END", self.column(locale));
            self.set(zone, text, "follows from the locale");
        }
    }

    /// Infers a column now if it is not yet inferred. Returns whether its values or the table have one of the words.
    pub(super) fn knows(&mut self, at: usize, words: &str) -> bool {
        if self.is_free(at) {
            let found = self.alone(at);
            self.found[at] = Some(found);
        }
        self.has_word(at, words)
    }

    /// Addresses of the web that begin with the domain of the row, or repeat another one.
    fn addresses_of_domain(&mut self) {
        let is_address = |at: usize| self.is_text(at) && self.is_free(at) && !self.columns[at].is_unique;
        let domain = self.find("domain host hostname", |at| self.is_text(at));
        let is_other = |at: usize| is_address(at) && self.is_like(at, URLS) && !self.is_like(at, IMAGES);
        let addresses: Vec<usize> = (0..self.columns.len()).filter(|&at| is_other(at)).collect();
        if let Some(domain) = domain {
            let login = self.find("username login screen_name", |at| self.is_text(at)).map(|at| self.column(at));
            for at in addresses {
                let path = match (&login, self.columns[at].plain.as_str()) {
                    (Some(login), "url") => format!("'/@' || {login}"),
                    (Some(login), "uri") => format!("'/users/' || {login}"),
                    (Some(login), name) => {
                        format!("'/users/' || {login} || '/{}'", name.trim_end_matches("_url").trim_end_matches("_uri"))
                    }
                    (None, _) => "phrase('{url_path}')".to_owned(),
                };
                let text = format!("'https://' || coalesce({}, 'example.com') || {path}", self.column(domain));
                self.set(at, text, "begins with the domain");
            }
            return;
        }
        self.address_of_author(&addresses);
        self.home_pages(&addresses);
        let uri = self.find("uri", |at| self.is_text(at));
        let is_free = |at: usize| self.is_text(at) && self.is_free(at) && !self.columns[at].is_unique;
        if let Some((url, uri)) = self.find("url", is_free).zip(uri) {
            let text = self.column(uri);
            self.set(url, text, "the same as the URI");
        }
    }

    /// Sites of firms, at a domain of their name.
    fn home_pages(&mut self, addresses: &[usize]) {
        const PAGES: &str = "website homepage home_page web_site main_url site_url website_url url";
        let is_site = super::has_last_word(self.table, "site website") || self.kind() == Some(Kind::Company);
        let Some(name) = self.find("name company_name title", |at| self.is_text(at)).filter(|_| is_site) else {
            return;
        };
        for &at in addresses {
            let is_page = self.is_free(at) && is_like(&self.columns[at].plain, PAGES);
            if is_page && (self.columns[name].not_null || !self.columns[at].not_null) {
                let text = format!("'https://www.' || slug({}, '') || '.example/'", self.column(name));
                self.set(at, text, "a site of this name");
            }
        }
    }

    /// Codes of permissions to do something with a model, and their names, as the code says.
    fn permissions(&mut self) {
        let Some(code) = self.find("codename", |at| self.is_text(at)) else { return };
        if let Some(model) = self.context.per_parent.and_then(|by| self.text_of_parent(by, "model")) {
            let number = format!("number_in({})", self.column(self.context.per_parent.unwrap_or_default()));
            let text = format!(
                "CASE {number} WHEN 1 THEN 'add' WHEN 2 THEN 'change' WHEN 3 THEN 'delete' WHEN 4 THEN 'view' ELSE 'use' || {number} END || '_' || {model}"
            );
            self.set(code, text, "what may be done with the model");
        }
        let Some(name) = self.find_repeatable_text("name") else { return };
        let text = format!("'Can ' || replace({}, '_', ' ')", self.column(code));
        self.set(name, text, "follows from the code");
    }

    /// Stages of the jobs of a build, by their names.
    fn stages(&mut self) {
        let is_job = self.subject.is_some_and(|subject| subject.names == "ci_job");
        if is_job {
            self.names_of_jobs();
        }
        let name = self.find("name job_name", |at| self.is_text(at));
        let Some((stage, name)) = self.find_text("stage stage_name").zip(name).filter(|_| is_job) else { return };
        let cases = "WHEN 'buil' THEN 'build' WHEN 'docs' THEN 'build' WHEN 'depl' THEN 'deploy' WHEN 'lint' THEN 'lint' ELSE 'test'";
        let text = format!("CASE substr({}, 1, 4) {cases} END", self.column(name));
        self.set(stage, text, "follows from the name");
    }

    /// Values of metrics: a share of a processor is not 700.
    fn readings(&mut self) {
        let metric = self.find("metric metric_name", |at| self.is_text(at));
        let value = self.find("value", |at| self.is_number(at) && self.found[at].is_none());
        let Some((value, metric)) = value.zip(metric) else { return };
        if !self.knows(metric, "{metric}") {
            return;
        }
        let text = format!(
            "CASE {} WHEN 'cpu.usage' THEN beta(2, 4, 0, 100, 1) WHEN 'cpu.load1' THEN lognormal(-0.2, 0.8, max=40, decimals=2) \
             WHEN 'http.latency' THEN lognormal(4, 0.8, max=5000, decimals=1) \
             WHEN 'queue.length' THEN exponential(0.2, max=500, decimals=0) \
             WHEN 'db.connections' THEN int(1, 60) WHEN 'db.queries' THEN lognormal(5, 1, max=9000, decimals=0) \
             WHEN 'http.requests' THEN lognormal(4.5, 1, max=9000, decimals=0) \
             WHEN 'mem.used' THEN lognormal(22.5, 0.8, max=250000000000, decimals=0) WHEN 'mem.free' THEN lognormal(21.5, 0.8, max=250000000000, decimals=0) \
             WHEN 'disk.free' THEN lognormal(25, 1, max=4000000000000, decimals=0) \
             ELSE lognormal(17, 1.5, min=4096, max=60000000000, decimals=0) END",
            self.column(metric)
        );
        self.set(value, text, "follows from the metric");
    }

    /// States of meetings: what is scheduled is still to come.
    fn meetings(&mut self) {
        let Some(state) = self.find_text("status state").filter(|_| self.kind() == Some(Kind::Event)) else { return };
        let is_start = |at: usize| {
            let found = self.time_at(at);
            matches!(found, Some((Stage::Started | Stage::Created, Form::Text | Form::Day)))
        };
        let Some(start) = (0..self.columns.len()).find(|&at| self.is_text(at) && is_start(at)) else { return };
        if self.knows(state, "'scheduled'") && self.knows(state, "'completed'") {
            let (start, week) = (self.column(start), self.context.day.before(7));
            let past = "choice('completed': 88, 'cancelled': 12)";
            let text = format!("if({start} >= '{week}', 'scheduled', {past})");
            let died = (0..self.columns.len()).find_map(|by| self.death_of(by)).map(|(died, _)| died);
            let text = match died {
                Some(died) => format!("if(coalesce({died} < {start}, 0), 'cancelled', {text})"),
                None => text,
            };
            self.set(state, text, "follows from the time");
        }
    }

    /// Numbers of rows that refer to the row: `comment_count` of a post.
    fn counters(&mut self) {
        for at in 0..self.columns.len() {
            let name = self.columns[at].plain.clone();
            let counted = ["_count", "_counter"].iter().find_map(|end| name.strip_suffix(end));
            let counted =
                counted.or_else(|| ["num_", "number_of_", "total_"].iter().find_map(|begin| name.strip_prefix(begin)));
            let Some(counted) = counted.filter(|_| self.is_free(at) && self.is_amount(at)) else { continue };
            let Some((child, column)) = self.counted(expanded(&words_of_table(counted).join("_"))) else { continue };
            let of = &self.context.schema.tables[child];
            let text = format!("count_of({})", named_column(of, column));
            self.set(at, text, &format!("follows from the rows of {}", of.name));
            if self.kind() == Some(Kind::Text) && is_like(&name, "*comment* *repl*") {
                self.states_of_answered(at);
            }
        }
    }

    /// States of texts with answers: they are neither drafts nor closed.
    fn states_of_answered(&mut self, count: usize) {
        for at in 0..self.columns.len() {
            let is_state = self.is_free(at) && self.is_text(at) && self.is_like(at, "status state *_status *_state");
            if !is_state || self.columns[at].is_unique {
                continue;
            }
            let usual = self.alone(at).text;
            let state = ["'published'", "'publish'", "'open'"].iter().find(|state| usual.contains(*state));
            if let Some(state) = state {
                // Files among posts have the state of their post.
                let file = self.posted_file().filter(|_| state.contains("publish"));
                let not_file = file.map_or(String::new(), |is_file| format!(" AND NOT {is_file}"));
                let text = format!("if({} > 0{not_file}, {state}, {usual})", self.column(count));
                self.set(at, text, "follows from the number of answers");
            }
        }
    }

    /// Returns the column that refers to the row in rows of this name, in the singular: those of a table, or replies, through a
    /// column of the same table.
    fn counted(&self, name: &str) -> Option<(usize, usize)> {
        let tables = &self.context.schema.tables;
        let is_own = |child: usize| child == self.context.table;
        // A follow has a follower, and one who is followed.
        let stem = name.strip_suffix("er").or_else(|| name.strip_suffix("ing")).unwrap_or(name);
        let is_table = |&&(child, _): &&(usize, usize)| {
            let words = words_of_table(&tables[child].name);
            let last = words.last().map_or("", String::as_str);
            // A `historyvisit` is a visit.
            let is_last = last == name || last == stem || name.len() > 3 && last.ends_with(name);
            !is_own(child) && (is_last || words.join("_") == name)
        };
        let mut found: Vec<(usize, usize)> = self.context.counted.iter().filter(is_table).copied().collect();
        if name == "foreign" {
            let is_foreign = |&&(child, column): &&(usize, usize)| plain(&tables[child].columns[column].name) == "fk";
            found.extend(self.context.counted.iter().filter(is_foreign));
        }
        let is_target = |&&(child, column): &&(usize, usize)| {
            is_like(&plain(&tables[child].columns[column].name), "target_* followed_* followee_* *_target*")
        };
        let is_replying = |&&(child, column): &&(usize, usize)| {
            is_own(child) && plain(&tables[child].columns[column].name).contains(name)
        };
        match found[..] {
            [] => self.context.counted.iter().find(is_replying).copied(),
            [only] => Some(only),
            _ if name.ends_with("er") => found.iter().find(is_target).copied(),
            _ if name.ends_with("ing") => found.iter().find(|pair| !is_target(pair)).copied(),
            _ => None,
        }
    }

    /// Flags of rows that refer to another one, and visits of visitors who return.
    fn replies(&mut self) {
        let reply = self.find("reply is_reply", |at| self.is_number(at) && self.found[at].is_none());
        let of =
            (0..self.columns.len()).find(|&at| self.is_like(at, "in_reply_to_id reply_to_id in_reply_to parent_id"));
        let count = self.find("*count_visits", |at| self.is_number(at) && self.found[at].is_none());
        let returning = self.find("*returning", |at| self.is_number(at));
        if let Some((count, returning)) = count.zip(returning) {
            let text = format!("if({}, 2 + exponential(0.2, max=200, decimals=0), 1)", self.column(returning));
            self.set(count, text, "follows from whether the visitor was there before");
        }
        if let Some((reply, of)) = reply.zip(of) {
            let text = format!("if({} IS NULL, 0, 1)", self.column(of));
            self.set(reply, text, "follows from what it refers to");
        }
    }

    /// Flags of texts with a warning.
    fn warnings(&mut self) {
        let flag = self.find_repeatable_number("sensitive is_sensitive nsfw is_nsfw");
        let warning = self.find("spoiler_text spoiler content_warning", |at| self.is_text(at));
        if let Some((flag, warning)) = flag.zip(warning) {
            let text = format!("if(coalesce({}, '') = '', {}, 1)", self.column(warning), self.alone(flag).text);
            self.set(flag, text, "follows from the warning");
        }
    }

    /// Numbers of what a search found.
    fn searches(&mut self) {
        let count = self.find_repeatable_number("search_count search_results search_hits");
        let search =
            self.find("search_term search_keyword search_query search_cat search_category", |at| self.is_text(at));
        if let Some((count, search)) = count.zip(search).filter(|(count, _)| !self.columns[*count].not_null) {
            let text = format!("if({} IS NULL, NULL, exponential(0.08, max=900, decimals=0))", self.column(search));
            self.set(count, text, "follows from the search");
        }
    }

    /// Returns a text of the row that a column refers to, if it is always known.
    pub(super) fn text_of_parent(&self, by: usize, name: &str) -> Option<String> {
        let of = &self.context.schema.tables[self.context.parents[by]?.table];
        let column = of.columns.iter().find(|column| {
            let is_text = !ColumnTraits::new(column).is_number() && column.generated == Generated::No;
            is_text && column.not_null && plain(&column.name) == name
        })?;
        Some(self.through(by, column))
    }

    /// Names of the devices that run the platform of the row.
    fn devices(&mut self) {
        let is_device = self.subject.is_some_and(|subject| subject.names == "device");
        let platform = self.find("platform os operating_system os_name", |at| self.is_text(at));
        let name = self.find_repeatable_text("name device_name");
        if let (true, Some(platform), Some(name)) = (is_device, platform, name) {
            let platform = self.column(platform);
            let is_mobile = format!("lower({platform}) IN ('ios', 'android', 'ipados')");
            let text = format!("if({is_mobile}, phrase('{{mobile_device}}'), phrase('{{computer}}'))");
            let own = self.first_name_of_owner().map(|first| {
                let kinds = "choice('Phone': 4, 'Tablet'), choice('Laptop': 3, 'Desktop')";
                format!("if(bool(0.4), {first} || '''s ' || if({is_mobile}, {kinds}), {text})")
            });
            self.set(name, own.unwrap_or(text), "follows from the platform");
        }
    }

    /// Browsers and sizes of screens that the system has.
    fn browsers(&mut self) {
        let is_free = |at: usize| self.is_text(at) && !self.columns[at].is_unique && self.found[at].is_none();
        let is_name = |at: usize| is_free(at) && self.columns[at].traits.longest.is_none_or(|longest| longest >= 9);
        let Some(os) = self.find("os operating_system os_name *_os platform", is_free) else { return };
        let browser = self.find("browser browser_name *_browser_name *_browser", is_name);
        let screen = self.find("resolution *_resolution screen_size", is_name);
        let device = self.find("device device_type *_device_type", is_name);
        if browser.or(screen).or(device).is_none() || !self.knows(os, "{os}, 'WIN'") {
            return;
        }
        let system = format!("lower(substr({}, 1, 3))", self.column(os));
        for (at, cases) in [(browser, BROWSERS), (screen, SCREENS), (device, DEVICES)] {
            if let Some(at) = at {
                self.set(at, format!("CASE {system} {cases} END"), "suits the system");
            }
        }
    }
}
