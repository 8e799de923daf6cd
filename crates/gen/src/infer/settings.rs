//! Settings: their keys, by what they are of, and values that suit the keys.

use super::TableInference;
use super::browsing::is_history;
use super::listed::one_of_listed;
use super::names::{is_like, plain};
use super::relatives::kind_of;
use super::subjects::{Kind, subject};
use super::{branches, literal};
use crate::generators::phrases;
use litepress_rows::schema::Table;

/// The value of a setting by the last four letters of its key.
const VALUE_BY_KEY: &[(&str, &str)] = &[
    ("bled", "choice('true': 7, 'false': 3)"),
    ("ebug", "choice('false': 9, 'true')"),
    ("olor", "colour()"),
    ("ntry", "place('country')"),
    ("ency", "choice('EUR': 5, 'USD': 5, 'GBP')"),
    ("uage", "choice('en': 6, 'de': 2, 'fr')"),
    ("cale", "choice('en_US': 6, 'de_DE': 2, 'fr_FR')"),
    ("zone", "phrase('{timezone}')"),
    ("evel", "choice('info': 5, 'warning': 3, 'debug')"),
    ("mode", "choice('auto': 5, 'manual': 2, 'off')"),
    ("heme", "choice('light': 5, 'dark': 4, 'system')"),
    ("port", "choice('80', '443': 2, '8080')"),
    ("path", "phrase('/var/lib/{folder}')"),
    ("cret", "hex(32)"),
    ("sion", "regex('[1-9][.]([0-9]|[1-9][0-9])[.][0-9]')"),
    ("name", "phrase('{Adjective} {Noun}')"),
    ("itle", "phrase('{Adjective} {Noun}')"),
    ("idth", "choice('1024': 3, '1200': 2, '1600': 2, '2048')"),
    ("ight", "choice('768': 3, '800': 2, '1200': 2, '1536')"),
    ("kind", "choice('thumbnail': 2, 'medium': 3, 'large': 2)"),
    ("ries", "choice('1': 2, '2', '3': 5, '5': 2)"),
    ("utes", "int(2, 14) || ''"),
];
/// The settings of programs, by the list of their keys: those of a browser, of the pages in it, and of a framework.
const OF_PROGRAMS: [(&str, &str); 3] = [
    (
        "{browser_setting}",
        "WHEN 'version' THEN '72' WHEN 'last_compatible_version' THEN '16' WHEN 'early_expiration_threshold' THEN '500' ELSE '-1'",
    ),
    (
        "{places_setting}",
        "WHEN 'origin_frecency_count' THEN int(300, 900) || '' WHEN 'origin_frecency_sum' THEN int(200_000, 900_000) || '' \
         WHEN 'origin_frecency_sum_of_squares' THEN int(200_000_000, 900_000_000) || '' WHEN 'sync/bookmarks/syncId' THEN regex('[A-Za-z0-9_-]{12}') \
         WHEN 'sync/history/syncId' THEN regex('[A-Za-z0-9_-]{12}') ELSE {LAST} - int(60, 9000) || ''",
    ),
    ("{rails_setting}", "WHEN 'environment' THEN 'production' ELSE hex(40)"),
];
/// Settings of the users of a cloud: their keys, apps and values.
const CLOUD: [(&str, &str, &str); 10] = [
    ("lang", "core", "choice('en': 6, 'de': 3, 'fr': 2, 'es')"),
    ("quota", "files", "choice('none': 2, '5 GB': 4, '10 GB': 3, '50 GB')"),
    ("show_hidden", "files", "choice('0': 8, '1': 2)"),
    ("email_verified", "settings", "choice('1': 9, '0')"),
    ("first_day", "calendar", "choice('1': 7, '0': 3)"),
    ("default_view", "calendar", "choice('month': 5, 'week': 4, 'agenda')"),
    ("enabled_themes", "theming", "choice('default': 5, 'dark': 4, 'light-highcontrast')"),
    ("notify_email", "activity", "choice('1': 6, '0': 4)"),
    ("sort_order", "mail", "choice('newest': 8, 'oldest': 2)"),
    ("note_mode", "notes", "choice('edit': 5, 'preview': 5)"),
];
/// Settings of a site, as WordPress has them, in the order of their rows.
const SITE: [(&str, &str); 48] = [
    ("siteurl", "https://blog.example"),
    ("home", "https://blog.example"),
    ("blogname", "Notes from Everywhere"),
    ("blogdescription", "What we read, make and find"),
    ("users_can_register", "1"),
    ("admin_email", "admin@blog.example"),
    ("start_of_week", "1"),
    ("use_balanceTags", "0"),
    ("use_smilies", "1"),
    ("require_name_email", "1"),
    ("comments_notify", "1"),
    ("posts_per_rss", "10"),
    ("rss_use_excerpt", "0"),
    ("mailserver_url", "mail.example.com"),
    ("mailserver_login", "login@example.com"),
    ("mailserver_port", "110"),
    ("default_category", "1"),
    ("default_comment_status", "open"),
    ("default_ping_status", "open"),
    ("posts_per_page", "10"),
    ("date_format", "F j, Y"),
    ("time_format", "g:i a"),
    ("links_updated_date_format", "F j, Y g:i a"),
    ("comment_moderation", "0"),
    ("moderation_notify", "1"),
    ("permalink_structure", "/%year%/%monthnum%/%postname%/"),
    ("hack_file", "0"),
    ("blog_charset", "UTF-8"),
    ("gmt_offset", "1"),
    ("default_email_category", "1"),
    ("template", "twentytwentyfive"),
    ("stylesheet", "twentytwentyfive"),
    ("comment_registration", "0"),
    ("html_type", "text/html"),
    ("use_trackback", "0"),
    ("default_role", "subscriber"),
    ("db_version", "60421"),
    ("uploads_use_yearmonth_folders", "1"),
    ("blog_public", "1"),
    ("show_on_front", "posts"),
    ("thumbnail_size_w", "150"),
    ("thumbnail_size_h", "150"),
    ("medium_size_w", "300"),
    ("medium_size_h", "300"),
    ("large_size_w", "1024"),
    ("large_size_h", "1024"),
    ("thread_comments", "1"),
    ("page_on_front", "0"),
];
/// The beginning of the names of what a site keeps for some hours.
const TRANSIENT: &str = "_transient_timeout_";
/// Values of all other settings: sizes, limits, intervals.
const NUMBERS: &str = "choice('1': 4, '5': 2, '10': 5, '25': 4, '30', '60': 3, '100': 3, '300', '3600': 2)";

/// Returns whether the rows of a table are what is known besides of the rows in another one, a key and a value each.
pub(crate) fn is_meta_of(table: &Table, parent: &Table) -> bool {
    let has_key = table.columns.iter().any(|column| plain(&column.name) == "meta_key");
    has_key && matches!(kind_of(parent), Some(Kind::Person | Kind::Text))
}

/// Returns whether the rows of a table are settings of the users in another one, few enough for different ones of each user.
pub(crate) fn are_settings_of_users(table: &Table, parent: &Table, [rows, users]: [u64; 2]) -> bool {
    let has = |name: &str| table.columns.iter().any(|column| plain(&column.name) == name);
    // One user has up to four times as many as the others.
    let is_few = rows.saturating_mul(4) < users.saturating_mul(CLOUD.len() as u64 - 1);
    has("configkey") && has("appid") && kind_of(parent) == Some(Kind::Person) && is_few
}

impl TableInference<'_> {
    /// Values of settings.
    pub(super) fn values_of_keys(&mut self) {
        let is_setting = self.subject.is_some_and(|subject| subject.names == "setting_key");
        let names = "key *_key configkey option_name setting";
        let names = if is_setting { format!("{names} keyword name") } else { names.to_owned() };
        let key = self.find(&names, |at| self.is_text(at));
        let group = self.find_repeatable_text("setting").filter(|&at| key.is_some_and(|key| key != at));
        if let Some(group) = group {
            self.set(group, "phrase('{module}')", "a group of settings");
        }
        self.keys_of_parents();
        if let Some(key) = key.filter(|&at| self.columns[at].plain == "configkey" && self.is_free(at)) {
            self.settings_of_cloud(key);
        }
        if let Some(key) = key.filter(|&at| self.columns[at].full == "option_name" && self.is_free(at)) {
            self.settings_of_site(key);
        }
        if let Some(key) = key.filter(|&at| is_setting && self.is_free(at) && self.columns[at].is_unique) {
            self.keys_of_program(key);
        }
        let Some(value) = self.find_repeatable_text("value *_value configvalue val") else { return };
        if !is_setting && key.is_none() {
            return;
        }
        let has = |key: usize, part: &str| self.found[key].as_ref().is_some_and(|of| of.text.contains(part));
        let is_of_site = |key: usize| has(key, TRANSIENT);
        let text = key.map_or(NUMBERS.to_owned(), |key| {
            if let Some((_, cases)) = OF_PROGRAMS.iter().find(|(list, _)| has(key, list)) {
                let cases = cases.replace("{LAST}", &self.context.day.unix().to_string());
                return format!("CASE {} {cases} END", self.column(key));
            }
            let site = is_of_site(key);
            let case = |(end, text): &(&str, &str)| format!(" WHEN '{end}' THEN {text}");
            let cases: String = VALUE_BY_KEY.iter().map(case).collect();
            let key = self.column(key);
            let cases = match self.title_of_text() {
                Some(title) => format!(" WHEN 'itle' THEN {title}{cases}"),
                None => cases,
            };
            let text = format!(
                "CASE substr({key}, -4){cases} ELSE if(substr({key}, -3) = 'url', phrase('{{web_url}}'), {NUMBERS}) END"
            );
            if site { self.value_of_site(&key, &text) } else { text }
        });
        self.set(value, text, "follows from the key");
        if let Some((at, key)) = self.find_repeatable_text("namespace").zip(key) {
            let key = self.column(key);
            let text = format!("if(instr({key}, '.') > 0, substr({key}, 1, instr({key}, '.') - 1), 'core')");
            self.set(at, text, "the first part of the key");
        }
    }

    /// Settings of a site: those that all have, and those of themes and plugins. Every third of these is kept for some hours.
    fn settings_of_site(&mut self, key: usize) {
        let is_site = |table: &Table| subject(&table.name).is_some_and(|of| of.names == "article_title");
        let number = self.table.rowid_alias.map(|at| self.column(at));
        let Some(number) = number.filter(|_| self.context.schema.tables.iter().any(is_site)) else { return };
        let own = branches(1, SITE.iter().map(|(name, _)| literal(name)));
        let others =
            format!("if({number} % 3 = 0, '{TRANSIENT}feed_' || hex(32), unique_phrase('{{site_setting}}', '_'))");
        self.set(key, format!("CASE {number}{own} ELSE {others} END"), "a setting of a site");
        let key = self.column(key);
        if let Some(at) = self.find_repeatable_text("autoload") {
            let text = format!("if(instr({key}, '{TRANSIENT}') = 1, 'no', 'yes')");
            self.set(at, text, "follows from the key");
        }
    }

    /// Returns the value of a setting of a site; `others` is that of a theme or a plugin.
    fn value_of_site(&self, key: &str, others: &str) -> String {
        let case = |(name, value): &(&str, &str)| format!(" WHEN '{name}' THEN {}", literal(value));
        let own: String = SITE.iter().map(case).collect();
        let until = self.context.day.unix();
        format!(
            "if(instr({key}, '{TRANSIENT}') = 1, {until} + int(0, 43_200) || '', CASE {key}{own} ELSE {others} END)"
        )
    }

    /// Returns the title of the text that the row refers to.
    fn title_of_text(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let title =
                of.columns.iter().find(|column| is_like(&plain(&column.name), "title *_title") && column.not_null);
            title.filter(|_| kind_of(of) == Some(Kind::Text)).map(|title| self.through(by, title))
        })
    }

    /// Settings of the users of a cloud, each of which a user has once: the key, the app, and the value.
    fn settings_of_cloud(&mut self, key: usize) {
        let (Some(app), Some(by)) = (self.find_repeatable_text("appid app_id app"), self.context.per_parent) else {
            return;
        };
        let value = self.find_repeatable_text("configvalue config_value value");
        let keys = CLOUD.map(|(key, ..)| key);
        self.set(key, one_of_listed(&keys, &self.table.columns[by].name).text, "follows from whose it is");
        let key = self.column(key);
        let cases = |text: fn(&(&str, &str, &str)) -> String| {
            let cases: String = CLOUD.iter().map(|of| format!(" WHEN '{}' THEN {}", of.0, text(of))).collect();
            format!("CASE {key}{cases} END")
        };
        self.set(app, cases(|(_, app, _)| format!("'{app}'")), "follows from the key");
        if let Some(value) = value {
            self.set(value, cases(|(.., value)| (*value).to_owned()), "follows from the key");
        }
    }

    /// Keys of what is known of a person or a text besides: each of them has a key once.
    fn keys_of_parents(&mut self) {
        let Some(key) = self.find_repeatable_text("meta_key") else { return };
        let kinds = self.context.possible_parents.iter().flatten();
        let list = match kinds.map(|parent| kind_of(&self.context.schema.tables[parent.table])).next().flatten() {
            Some(Kind::Person) => "person_setting",
            Some(Kind::Text) => "post_setting",
            _ => return,
        };
        if self.meta_of_blog(key) {
            return;
        }
        let text = match self.context.per_parent {
            Some(by) => one_of_listed(phrases::items(list), &self.table.columns[by].name).text,
            None => format!("phrase('{{{list}}}')"),
        };
        self.set(key, text, "follows from whose it is");
    }

    /// Keys of the settings of a browser, a framework, or a site.
    fn keys_of_program(&mut self, key: usize) {
        let is_site = |table: &Table| subject(&table.name).is_some_and(|of| of.names == "article_title");
        let name = self.table.name.to_lowercase();
        if name.ends_with("internal_metadata") {
            self.set(key, "unique_phrase('{rails_setting}')", "a setting of a framework");
        } else if is_history(self.context.schema) {
            let list = if name.starts_with("moz_") { "places" } else { "browser" };
            self.set(key, format!("unique_phrase('{{{list}_setting}}')"), "a setting of a browser");
        } else if self.context.schema.tables.iter().any(is_site) {
            self.set(key, "unique_phrase('{site_setting}', '_')", "a setting of a site");
        }
    }
}
