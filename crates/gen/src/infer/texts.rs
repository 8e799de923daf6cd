//! The names and texts of a row: what the table is about, slugs of titles, reviews as good as their rating.

use super::names::{is_like, plain};
use super::subjects::{Kind, Subject, subject};
use super::table_columns::OrderLines;
use super::{TableInference, by_affinity, inferred, quoted};
use crate::generators::phrases;
use litepress_rows::Affinity;
use litepress_rows::schema::Column;

/// The text of an issue about something that does not work.
const ISSUE_TEXT: &str = "{issue_text}";
/// Characters of the name of a territory.
const MOST_OF_TERRITORY: u64 = 24;

impl TableInference<'_> {
    /// Infers the texts of a column by the names of the table and the column alone.
    pub(super) fn text_by_name(mut self, at: usize) -> Option<String> {
        if !self.is_text(at) {
            return None;
        }
        self.persons();
        self.places();
        if self.subject.is_some() {
            self.names();
        }
        let is_of_place = self.columns.iter().any(|column| is_like(&column.plain, "*city *country *zip* *postal*"));
        if is_of_place && self.found[at].is_none() && is_like(&self.columns[at].plain, "state *_state") {
            self.set(at, "place('state')", "a place");
        }
        let unnamed = super::by_type(self.table, at).text;
        let found = self.found[at].take().unwrap_or_else(|| self.alone(at)).text;
        (found != unnamed && found != by_affinity(&self.columns[at].traits).text).then_some(found)
    }

    /// Texts of keys beside the keys: `parent_id_text`.
    pub(super) fn keys_as_texts(&mut self) {
        for at in 0..self.columns.len() {
            let Some(stem) = self.columns[at].full.strip_suffix("_text").filter(|stem| is_like(stem, "*_id *_guid"))
            else {
                continue;
            };
            let key = (0..self.columns.len()).find(|&other| self.columns[other].full == stem);
            if let Some(key) = key.filter(|_| self.is_free(at) && self.is_text(at) && !self.columns[at].is_unique) {
                let text = format!("{} || ''", self.column(key));
                self.set(at, text, "follows from the key");
            }
        }
    }

    /// Infers the texts of persons and places.
    pub(super) fn texts_of_row(mut self) -> Vec<Option<String>> {
        self.persons();
        self.places();
        self.found.into_iter().map(|found| found.map(|found| found.text)).collect()
    }

    /// Names in lower case beside the names. If they are unique, so are the names, whatever their case.
    pub(super) fn lower_case(&mut self) {
        for at in 0..self.columns.len() {
            let name = &self.columns[at].plain;
            let of = ["lower_", "lowercase_", "lc_", "normalized_", "clean_"]
                .iter()
                .find_map(|begin| name.strip_prefix(begin));
            let of =
                of.or_else(|| ["_lower", "_lowercase", "_normalized"].iter().find_map(|end| name.strip_suffix(end)));
            let Some(of) = of.filter(|_| self.is_text(at) && self.is_free(at)) else { continue };
            let Some(of) = self.find_text(of).filter(|&of| of != at && self.columns[of].traits.takes_len(60)) else {
                continue;
            };
            self.columns[of].is_unique |= self.columns[at].is_unique;
            if self.kind() == Some(Kind::Person) && self.columns[of].plain == "name" {
                self.set(
                    of,
                    "replace(replace(phrase('{first} {last}'), ' ', ''), '''', '') || sequence()",
                    "a user's name",
                );
            }
            let text = format!("lower({})", self.column(of));
            self.found[at] = Some(inferred(text, "follows from the same text with capitals"));
        }
    }

    /// Slugs of titles and names.
    pub(super) fn slugs(&mut self) {
        let Some(slug) = self.find_text("slug *_slug permalink post_name url_key") else { return };
        let title = self.find("title name headline subject *_title label", |at| {
            self.is_text(at) && at != slug && self.found[at].is_none() && !self.is_time(at)
        });
        let list = title.and_then(|title| self.lookup_list(title)).filter(|list| list.starts_with("topic"));
        if let (Some(title), Some(list)) = (title, list) {
            self.set(slug, format!("unique_phrase('{{{list}}}', '-')"), "the slug of a topic");
            let slug = self.column(slug);
            let text = format!("upper(substr({slug}, 1, 1)) || replace(substr({slug}, 2), '-', ' ')");
            self.set(title, text, "follows from the slug");
            return;
        }
        match (title, self.columns[slug].is_unique) {
            (Some(title), true) if self.columns[title].is_unique || self.lookup_list(title).is_some() => {
                let text = format!("slug({})", self.column(title));
                self.set(slug, text, "follows from the name");
            }
            (Some(title), true) => {
                let text = format!("slug({}) || '-' || sequence()", self.column(title));
                self.set(slug, text, "follows from the name, and is unique");
            }
            (Some(title), false) => {
                let text = format!("slug({})", self.column(title));
                self.set(slug, text, "follows from the name");
            }
            (None, true) => self.set(slug, "unique_phrase('{slug}', '-')", "it is unique, and a slug"),
            (None, false) => self.set(slug, "phrase('{slug}')", "its name is like slug"),
        }
    }

    /// The names and titles of what the table is about.
    pub(super) fn names(&mut self) {
        let Some(subject) = self.subject else {
            if let Some(at) = self.find_repeatable_text("name") {
                self.set(at, "phrase('{Adjective} {Noun}')", "a name");
            }
            return;
        };
        let (whole, last_word) = self.names_of_row();
        let term = match subject.names {
            "topic" | "topic_of_goods" | "topic_of_posts" | "dashboard_topic" => " term",
            "model" => " model",
            _ => "",
        };
        let of_firm = if subject.kind == Kind::Company { " company_name" } else { "" };
        let own = format!(
            "name{term}{of_firm} {last_word}_name {last_word} display_name label title {last_word}_title name_en object_repr {last_word}_description {whole}"
        );
        for pattern in own.split(' ') {
            let Some(at) = self.find_text(pattern) else { continue };
            let is_titled =
                matches!(subject.kind, Kind::Person | Kind::Order | Kind::Payment | Kind::Log | Kind::Place)
                    && is_like(&self.columns[at].plain, "title label");
            // The description of a table without a name is its name.
            if pattern.ends_with("_description")
                && (self.columns.len() > 4 || self.find("name title", |_| true).is_some())
            {
                continue;
            }
            let is_key = self.table.columns[at].key_position.is_some()
                && self.columns[at].traits.longest.is_some_and(|longest| longest < 12);
            if is_titled || is_key || self.is_time(at) {
                continue;
            }
            let list = subject.names;
            let is_distinct = self.columns[at].is_unique || self.has_names_enough(list);
            let unique = self.lookup_list(at).or_else(|| is_distinct.then_some(list));
            let text = match unique {
                Some("category") if self.context.roots.is_some() => self.name_in_tree(at),
                Some(list @ ("continent" | "film_genre" | "label" | "language_name"))
                    if self.table.rowid_alias.is_some() && self.context.rows <= phrases::count(list) =>
                {
                    super::continents::by_number(list, &self.column(self.table.rowid_alias.unwrap_or_default()))
                }
                Some(list) if list.starts_with("topic") && self.is_hashtag() => {
                    format!("replace(unique_phrase('{{{list}}}', '-'), '-', '')")
                }
                // Words of a topic have hyphens between them.
                Some(list) if list.starts_with("topic") => format!("unique_phrase('{{{list}}}', '-')"),
                Some(list) => format!("unique_phrase('{{{list}}}')"),
                None => format!("phrase('{{{list}}}')"),
            };
            let because = format!("the name of what {} holds", self.table.name);
            self.set(at, self.name_in_region(at).unwrap_or(text), &because);
        }
        self.texts_of(subject);
    }

    /// Returns the name of a territory, which is that of a town and of its region.
    fn name_in_region(&self, at: usize) -> Option<String> {
        let fits = self.columns[at].traits.longest.is_none_or(|longest| longest >= MOST_OF_TERRITORY);
        let of_region = |by: usize| {
            let region = &self.context.schema.tables[self.context.parents[by]?.table];
            let is_name = |of: &&Column| is_like(&plain(&of.name), "name *_name *_description");
            let name = region.columns.iter().find(is_name).filter(|_| super::has_last_word(region, "region"))?;
            Some(format!("phrase('{{invented_town}}') || ' ' || {}", self.through(by, name)))
        };
        (0..self.columns.len()).filter(|_| fits && super::is_territory(self.table)).find_map(of_region)
    }

    /// Returns whether the rows are tags in texts that people share, which are single words.
    fn is_hashtag(&self) -> bool {
        super::has_last_word(self.table, "hashtag") || self.context.schema.tables.iter().any(super::is_post)
    }

    /// Returns whether all rows may have names of their own: there are enough of them, and such things seldom share one.
    fn has_names_enough(&self, list: &str) -> bool {
        let is_apart = ["band", "company", "playlist", "song", "title"].contains(&list);
        is_apart && (1..=phrases::count(list)).contains(&self.context.rows)
    }

    /// Returns what a row is called: `event_type` and `type` in a table `event_types`.
    fn names_of_row(&self) -> (String, String) {
        let words = super::names::words_of_table(&self.table.name);
        (words.join("_"), words.last().cloned().unwrap_or_default())
    }

    /// Returns names of categories, of which those that are parts of another one end with its name.
    fn name_in_tree(&self, at: usize) -> String {
        let (by, first) = self.context.roots.expect("the caller checked that there are roots");
        let (parent, whole) = (self.column(by), self.through(by, &self.table.columns[at]));
        let is_small = self.context.rows <= first.saturating_mul(phrases::count("category_kind"));
        let list = if is_small { "category_kind" } else { "category_part" };
        format!(
            "if({parent} IS NULL, unique_phrase('{{category}}'), unique_phrase('{{{list}}}', each={first}) || ' ' || {whole})"
        )
    }

    /// Returns the list of names if a column names the rows of a lookup table, such as categories, and there is a list for
    /// a different name in each row. A row that belongs to one of another table may have the name of one that belongs to another.
    pub(super) fn lookup_list(&self, at: usize) -> Option<&'static str> {
        /// Lists that a longer one replaces in large tables.
        const LONGER: [(&str, &str); 7] = [
            ("dashboard", "dashboard_of_many"),
            ("category", "category_of_many"),
            ("category", "category_of_brands"),
            ("topic", "topic_of_many"),
            ("topic_of_goods", "topic_of_many_goods"),
            ("topic_of_posts", "topic_of_many_posts"),
            ("mime_type", "mime_type_of_many"),
        ];
        const LOOKUPS: &str = "category dashboard film_genre genre media_type department ward language_name country_name mime_type group role permission topic topic_of_goods topic_of_posts label plan device_kind region continent carrier brand document_type event_kind model";
        let names = self.subject?.names;
        let (whole, last_word) = self.names_of_row();
        let model = if names == "model" { " model" } else { "" };
        let of_firm = if self.kind() == Some(Kind::Company) { " company_name" } else { "" };
        let patterns =
            format!("name title label {last_word} {last_word}_name {last_word}_description {whole}{model}{of_firm}");
        let is_name = self.is_like(at, &patterns);
        let is_country = self.subject.is_some_and(|subject| subject.names == "country_name");
        let is_apart = is_country || self.context.possible_parents.iter().all(Option::is_none);
        let fits = self.columns[at].traits.longest.is_none_or(|longest| longest >= 20);
        // Without rows, the caller asks for a text that may repeat.
        let rows = Some(self.context.rows).filter(|&rows| is_name && is_apart && fits && rows > 0)?;
        let is_listed = LOOKUPS.split(' ').any(|lookup| lookup == names);
        let mut longer = LONGER.iter().filter(|(list, _)| *list == names).map(|(_, longer)| *longer);
        let suffices = |list: &&str| rows <= phrases::count(list);
        let longer = longer.clone().find(suffices).or_else(|| longer.next_back());
        let is_tree = self.context.roots.is_some() && names == "category";
        let fits_all = rows <= phrases::count(names) || is_tree;
        let fitting = if fits_all { Some(names) } else { longer };
        fitting.filter(|_| is_listed)
    }

    /// The texts that belong to what the table is about.
    pub(super) fn texts_of(&mut self, subject: Subject) {
        let texts: &[(&str, &str)] = match subject.names {
            "product" => {
                &[("description *_description", "{product_text}"), ("color colour", "{colour}"), ("brand", "{brand}")]
            }
            "article_title" => &[
                ("content body text post_content *_content html", "{blog_post}"),
                ("excerpt summary description *_excerpt", "{blog_first}"),
            ],
            "review_title" => &[("body content text comment review review_text message", "{review}")],
            "comment" if self.refers_to_issue() => {
                &[("body content text comment message *_content", "{issue_comment}")]
            }
            "comment" => &[("body content text comment message *_content", "{comment}")],
            "message" => &[("body content text message subject text_data", "{message}")],
            "status_post" => &[("text body content", "{status_post}")],
            "title" if self.kind() == Some(Kind::Other) => {
                &[("description plot synopsis summary overview", "{film_plot}")]
            }
            "person" if (0..self.columns.len()).any(|at| self.is_like(at, "hire* reports_to* salary")) => {
                &[("title", "{office_job}"), ("note notes about bio description", "{staff_note}")]
            }
            "person" if self.find("title city *_city job_title position", |at| self.is_text(at)).is_some() => {
                &[("title", "{office_job}"), ("note notes about bio description", "{hobbies}")]
            }
            "person" => &[("note notes about bio description info", "{bio}")],
            "issue" => &[("title subject summary name", "{issue}"), ("description body text content", ISSUE_TEXT)],
            "task" => &[("title subject summary", "{issue}"), ("description body text", "{paragraph}")],
            "channel" => &[("topic purpose description", "{channel_topic}")],
            "commit" => &[("message subject title", "{commit}")],
            "annotation" => &[("text description comment", "{annotation}")],
            "log_message" => &[("message msg text event description change_message", "{log_message}")],
            _ => &[],
        };
        if subject.names == "review_title" {
            self.review_texts();
        }
        if subject.names == "issue" {
            self.issue_texts();
        }
        if subject.names == "repository" {
            self.repository_text();
        }
        if subject.names == "category" {
            self.category_text();
        }
        if subject.names == "product" {
            self.product_text();
        }
        match subject.names {
            "status_post" => self.short_replies(["status_post", "status_reply"]),
            "message" => self.short_replies(["message_first", "message_reply"]),
            _ => {}
        }
        for (patterns, phrase) in texts {
            for at in 0..self.columns.len() {
                if self.is_free(at)
                    && self.is_text(at)
                    && !self.columns[at].is_unique
                    && is_like(&self.columns[at].plain, patterns)
                {
                    let because = format!("a text of {}", self.table.name);
                    let text =
                        if phrase.starts_with('{') { format!("phrase('{phrase}')") } else { (*phrase).to_owned() };
                    self.set(at, text, &because);
                }
            }
        }
    }

    /// Texts that answer others: short ones.
    fn short_replies(&mut self, [first, reply]: [&str; 2]) {
        let is_answered = |&at: &usize| self.is_like(at, "in_reply_to_id reply_to_id") && !self.columns[at].not_null;
        let answered = (0..self.columns.len()).find(is_answered);
        let text = self.find_repeatable_text("text body content");
        if let Some((at, answered)) = text.zip(answered.map(|at| self.column(at))) {
            let text = format!("if({answered} IS NULL, phrase('{{{first}}}'), phrase('{{{reply}}}'))");
            self.set(at, text, "a text, or an answer");
        }
    }

    /// Returns whether a row is about an issue, a ticket or a pull request.
    pub(super) fn refers_to_issue(&self) -> bool {
        let mut parents = self.context.possible_parents.iter().flatten();
        parents
            .any(|parent| subject(&self.context.schema.tables[parent.table].name).is_some_and(|of| of.names == "issue"))
    }

    /// Texts of issues, as the title says: a wish, a typo, or something that does not work.
    fn issue_texts(&mut self) {
        const TITLE: &str = "phrase('{issue}')";
        let is_title = |at: usize| {
            let is_open = self.found[at].as_ref().is_none_or(|found| found.text == TITLE);
            self.is_text(at) && !self.columns[at].is_unique && is_open
        };
        let Some(title) = self.find("title subject summary name", is_title) else { return };
        let Some(text) = self.find_repeatable_text("description body text content").filter(|&at| at != title) else {
            return;
        };
        self.set(title, TITLE, "the title of an issue");
        let kinds = "WHEN 'Add' THEN phrase('{wish_text}') WHEN 'All' THEN phrase('{wish_text}') WHEN 'Key' THEN phrase('{wish_text}') WHEN 'Typ' THEN phrase('{typo_text}')";
        let begin = format!("substr({}, 1, 3)", self.column(title));
        self.set(text, format!("CASE {begin} {kinds} ELSE phrase('{ISSUE_TEXT}') END"), "suits the title");
        if let Some(at) = self.find_repeatable_text("priority severity urgency importance") {
            let wishes = "choice('low': 5, 'normal': 4, 'high')";
            let faults = "choice('normal': 4, 'high': 4, 'urgent': 2)";
            let text = format!(
                "CASE WHEN {begin} IN ('Add', 'All', 'Key', 'Typ') THEN {wishes} WHEN {begin} IN ('Can', 'Cra', 'Wro') THEN {faults} \
                 ELSE choice('low': 2, 'normal': 6, 'high': 2) END"
            );
            self.set(at, text, "suits the title");
        }
    }

    /// Descriptions of repositories, which say what the name says: `cache-tools` are tools for a cache.
    fn repository_text(&mut self) {
        let name = self.find("name *_name", |at| self.is_text(at));
        let Some((text, name)) = self.find_repeatable_text("description about summary").zip(name) else { return };
        let name = self.column(name);
        let begin = |letters: u8| format!("substr({name}, 1, length({name}) - {letters})");
        let (dash, other) = (format!("instr({name}, '-')"), "phrase('{repository_text}')");
        let modules = phrases::items("module").iter().zip(phrases::items("module_text"));
        let modules: String =
            modules.map(|(module, text)| format!(" WHEN '{module}' THEN {}", super::literal(text))).collect();
        let text_of = format!(
            "CASE WHEN bool(0.2) THEN {other} WHEN substr({name}, -6) = '-tools' THEN 'Tools for ' || {} \
             WHEN substr({name}, -4) = '-cli' THEN 'Command line for ' || {} WHEN substr({name}, -2) = 'js' THEN 'A small JavaScript library' \
             WHEN substr({name}, -2) = 'db' THEN 'A small database' WHEN substr({name}, 1, 2) = 'py' THEN 'A small Python library' \
             ELSE CASE substr({name}, {dash} + 1){modules} ELSE CASE substr({name}, 1, {dash} - 1){modules} ELSE {other} END END END",
            begin(6),
            begin(4)
        );
        self.set(text, text_of, "follows from the name");
    }

    /// Descriptions of categories, which begin with the name.
    fn category_text(&mut self) {
        const ENDS: &str = "choice(': the whole range': 3, ': for every budget': 2, ': new and popular': 3)";
        let name = self.find("name *_name title", |at| self.is_text(at) && self.found[at].is_some());
        let Some((text, name)) = self.find_text("description").zip(name) else { return };
        let name = self.column(name);
        self.set(text, format!("{name} || {ENDS}"), "begins with the name");
    }

    /// Descriptions of products: food is not easy to clean.
    fn product_text(&mut self) {
        let Some(category) = self.category() else { return };
        let Some(at) = self.find_repeatable_text("description *_description") else {
            return;
        };
        let text = format!(
            "if(substr({category}, -5) IN ({}), phrase('{{food_text}}'), phrase('{{product_text}}'))",
            super::amounts::FOOD
        );
        self.set(at, text, "suits the category");
    }

    /// Praise and blame, as the number of stars says.
    pub(super) fn review_texts(&mut self) {
        const OPEN: &str = "'pending', 'new', 'draft', 'open', 'created', 'placed', 'paid', 'confirmed', 'processing'";
        const CANCELLED: &str = "'cancelled', 'canceled', 'failed'";
        let Some(rating) =
            self.find("rating stars score grade", |at| self.is_number(at) && !self.columns[at].is_unique)
        else {
            return;
        };
        if self.found[rating].is_none() {
            self.set(rating, "choice(5: 46, 4: 28, 3: 12, 2: 6, 1: 8)", "its name is like rating");
        }
        let state = self.state_of_order();
        if let Some((state, found)) = state.as_ref().zip(self.found[rating].as_mut()) {
            let is_open = format!("{state} IN ({OPEN}) OR {state} IN ({CANCELLED})");
            found.text = format!("if({is_open}, choice(1: 7, 2: 3), {})", found.text);
        }
        let rating = self.column(rating);
        for (patterns, list) in [
            ("title headline subject summary", "review_title"),
            ("body content text comment review review_text message", "review"),
        ] {
            for at in 0..self.columns.len() {
                let is_text = self.is_text(at) && self.columns[at].is_open && !self.columns[at].is_unique;
                if is_text && is_like(&self.columns[at].plain, patterns) {
                    let of_state = state.as_ref().map_or(String::new(), |state| {
                        format!(
                            " WHEN {state} IN ({OPEN}) THEN phrase('{{{list}_waiting}}') WHEN {state} IN ({CANCELLED}) THEN phrase('{{{list}_cancelled}}')"
                        )
                    });
                    let text = format!(
                        "CASE{of_state} WHEN {rating} > 4 THEN phrase('{{{list}_best}}') WHEN {rating} > 3 THEN phrase('{{{list}_good}}') WHEN {rating} = 3 THEN phrase('{{{list}_mixed}}') \
                         WHEN {rating} = 2 THEN phrase('{{{list}_bad}}') ELSE phrase('{{{list}_worst}}') END"
                    );
                    self.set(at, text, "a text of a review, as good as its rating");
                }
            }
        }
    }

    /// Returns the state of the order that the review is about, if that is a text.
    fn state_of_order(&self) -> Option<String> {
        let OrderLines { lines, order, orders } = self.context.bought?;
        let tables = &self.context.schema.tables;
        let mut columns = tables[orders].columns.iter();
        let state = columns.find(|column| is_like(&plain(&column.name), "status state order_status"))?;
        let state = if state.affinity == Affinity::Text { &state.name } else { return None };
        let path = [&tables[lines].name, &tables[lines].columns[order].name, state].map(|name| quoted(name));
        Some(path.join("."))
    }
}
