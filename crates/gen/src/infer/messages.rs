//! Messages: with whom one talks, when a message goes away, and what a reaction is to.

use super::amounts::named_column;
use super::names::is_like;
use super::subjects::Kind;
use super::table_columns::called;
use super::times::{Form, Stage};
use super::{
    ColumnTraits, TableInference, has_last_word, inferred, is_called, is_reaction, rows_for_one, words_of_table,
};
use litepress_rows::schema::{Generated, Table};

/// Numbers of the kinds of messages; 0 is a text.
const IMAGE: u8 = 1;
pub(super) const SOUND: u8 = 2;
pub(super) const VIDEO: u8 = 3;
const LOCATION: u8 = 5;

/// Returns the column with the kind of a message, if it is a number.
fn kind_of_message(table: &Table) -> Option<usize> {
    let is_kind = |at: &usize| {
        let is_number = ColumnTraits::new(&table.columns[*at]).is_number();
        is_number && is_called(table, *at, "message_type media_type type kind")
    };
    (0..table.columns.len()).find(is_kind).filter(|_| has_last_word(table, "message sms mms"))
}

impl TableInference<'_> {
    /// Returns the kind of the message that a row belongs to, as an operand, if few messages have such a row.
    pub(super) fn kind_of_own_message(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.possible_parents[by]?.table];
            rows_for_one(self.table, by, of)?;
            Some(self.through(by, &of.columns[kind_of_message(of)?]))
        })
    }

    /// Kinds of messages by what they have, and their texts: few pictures have one, and places have none.
    fn kinds_of_messages(&mut self) {
        let has = |words: &str| {
            self.context.counted.iter().find_map(|&(child, column)| {
                let of = &self.context.schema.tables[child];
                rows_for_one(of, column, self.table).filter(|_| has_last_word(of, words))?;
                Some(format!("count_of({}) > 0", named_column(of, column)))
            })
        };
        let kind = kind_of_message(self.table).filter(|&at| self.is_free(at) && !self.columns[at].is_unique);
        let Some((kind, media)) = kind.zip(has("media attachment")) else { return };
        let place = has("location").map(|place| format!(" WHEN {place} THEN {LOCATION}")).unwrap_or_default();
        let text = format!("CASE{place} WHEN {media} THEN choice({IMAGE}: 7, {SOUND}: 1, {VIDEO}: 2) ELSE 0 END");
        self.set(kind, text, "follows from what is sent with it");
        let kind = self.column(kind);
        let body = self.find_repeatable_text("body text text_data content").filter(|&at| !self.columns[at].not_null);
        if let Some(body) = body {
            let text = format!("if({kind} = 0 OR {kind} IN ({IMAGE}, {VIDEO}) AND bool(0.2), phrase('{{message}}'))");
            self.set(body, text, "follows from the kind of the message");
        }
    }

    /// Own messages, which somebody receives.
    fn received_messages(&mut self) {
        let tables = &self.context.schema.tables;
        let is_receipt = |child: usize| words_of_table(&tables[child].name).iter().any(|word| word == "receipt");
        let receipt = self.context.counted.iter().find(|(child, _)| is_receipt(*child));
        if let Some((at, &(child, by))) = self.find_repeatable_number("from_me").zip(receipt) {
            let text = format!("if(count_of({}) > 0, 1, bool(0.08))", named_column(&tables[child], by));
            self.set(at, text, "follows from whether somebody received it");
            let own = self.column(at);
            if let Some(at) = self.find_repeatable_number("status") {
                let text = format!(
                    "if({own}, if(count_of({}) > 0, choice(13: 7, 5: 3), 4), 0)",
                    named_column(&tables[child], by)
                );
                self.set(at, text, "follows from whether somebody received it");
            }
        }
    }

    /// Names and numbers of the people, or of the group, that a conversation is with.
    pub(super) fn conversations(&mut self) {
        const OF_PERSONS: [(&str, &str); 4] = [
            ("profile_name profile_full_name", "phrase('{person}')"),
            ("e164", "'+1' || int(201, 989) || '55501' || digits(2)"),
            ("phone phone_number", ""),
            ("service_id user_id contact_id", "uuid()"),
        ];
        if !has_last_word(self.table, "conversation chat thread") {
            return;
        }
        let Some(kind) = self.find_kind("type kind") else {
            // Most chats are with one person, and have no subject.
            if let Some(at) = self.find_repeatable_text("subject").filter(|&at| !self.columns[at].not_null) {
                // A chat with one person is no group.
                let text = if self.context.once.is_some() {
                    "constant(NULL)"
                } else {
                    "if(bool(0.15), phrase('{chat_group}'))"
                };
                self.set(at, text, "follows from the habits of people");
            }
            return;
        };
        let members =
            self.find_repeatable_text("members participants member_ids").filter(|&at| !self.columns[at].not_null);
        let Some(members) = members else { return };
        // Only a person reacts.
        let tables = &self.context.schema.tables;
        let reactions = self.context.counted.iter().find(|&&(child, column)| {
            is_reaction(&tables[child]) && is_called(&tables[child], column, "from_id author_id sender_id")
        });
        let kinds = "choice('private': 82, 'group': 18)";
        let text = match reactions {
            Some(&(child, column)) => format!(
                "if(count_of({}) > 0, 'private', choice('private': 55, 'group': 45))",
                named_column(&tables[child], column)
            ),
            None => kinds.to_owned(),
        };
        self.set(kind, text, "with one person or several");
        let is_private = format!("{} = 'private'", self.column(kind));
        let list = "uuid() || ' ' || uuid() || if(bool(0.6), ' ' || uuid(), '')";
        self.set(members, format!("if({is_private}, NULL, {list})"), "follows from the type");
        for (names, text) in OF_PERSONS {
            let Some(at) = self.find_repeatable_text(names).filter(|&at| !self.columns[at].not_null) else { continue };
            let own = if text.is_empty() { called(&self.alone(at).text) } else { text.to_owned() };
            self.set(at, format!("if({is_private}, {own})"), "follows from the type");
        }
        let profile = self.find("profile_name", |at| self.found[at].is_some()).map(|at| self.column(at));
        if let Some(name) = self.find_repeatable_text("name title") {
            let person = profile.unwrap_or_else(|| "phrase('{person}')".to_owned());
            self.set(name, format!("if({is_private}, {person}, phrase('{{chat_group}}'))"), "follows from the type");
        }
    }

    /// Addresses of messengers: a telephone number at a server.
    fn addresses(&mut self) {
        let parts = self.find_repeatable_text("user local_part").zip(self.find_repeatable_text("server domain"));
        let whole = self.find_text("raw_string jid address raw").zip(parts);
        let Some((whole, (user, server))) = whole.filter(|_| has_last_word(self.table, "jid address")) else {
            return;
        };
        // A number in a city begins with 2 to 9.
        let own = if self.context.rows < 500_000 { "int(2, 9) || unique_digits(6)" } else { "unique_digits(7)" };
        self.set(user, format!("'1' || choice('206', '212', '312', '415', '617') || {own}"), "a telephone number");
        self.set(server, "constant('chat.example')", "the server of the messenger");
        let text = format!("{} || '@' || {}", self.column(user), self.column(server));
        self.set(whole, text, "follows from its parts");
        if let Some(at) = self.find_repeatable_number("type") {
            self.set(at, "constant(0)", "the type of a person");
        }
        for at in 0..self.columns.len() {
            if self.is_like(at, "agent device") && self.is_number(at) && self.is_free(at) {
                self.found[at] = Some(inferred("choice(0: 92, 1: 8)", "most people have one device"));
            }
        }
    }

    /// Kinds and ends of messages, and the times of those that reactions are to.
    pub(super) fn messages(&mut self) {
        self.target_times();
        self.addresses();
        let key = self.table.rowid_alias.map(|at| self.column(at));
        if let Some((at, key)) = self.find_repeatable_number("sort_id").zip(key) {
            self.set(at, key, "in the order of rows");
        }
        if self.kind() != Some(Kind::Text) || !has_last_word(self.table, "message sms mms") {
            return;
        }
        self.kinds_of_messages();
        self.received_messages();
        if let Some(at) = self.find_repeatable_text("story_id").filter(|&at| !self.columns[at].not_null) {
            self.set(at, "constant(NULL)", "follows from the types: no message is a story");
        }
        let is_read = self.find("read_status is_read *received*", |_| true).is_some();
        if let Some(kind) = self.find_kind("type direction").filter(|_| is_read) {
            self.set(kind, "choice('incoming': 56, 'outgoing': 44)", "a message that is sent or received");
        }
        let form = |at: usize| self.time_at(at);
        let sent = (0..self.columns.len())
            .find(|&at| matches!(form(at), Some((Stage::Created, _))) && self.found[at].is_some());
        let end =
            self.find("expires_at expiry *_expires_at", |at| self.found[at].is_some() && !self.columns[at].not_null);
        let timer = self.find_repeatable_number("*expire_timer *timer *ttl");
        if let (Some(timer), Some(end), Some(sent)) = (timer, end, sent)
            && let (Some((_, Form::Unix(units))), Some((_, Form::Unix(of)))) = (form(end), form(sent))
            && units == of
        {
            // Who has messages that end has young ones only.
            let day = units * (self.context.day.unix() - 28 * 86_400);
            let text = format!("if({} > {day}, {})", self.column(sent), called(&self.alone(timer).text));
            self.set(timer, text, "follows from how young the message is");
            let timer = self.column(timer);
            let text = format!("if({timer} > 0, {} + {units} * {timer})", self.column(sent));
            self.set(end, text, "follows from the timer");
        }
        let erased = self.find("is_erased erased is_deleted", |at| self.is_number(at));
        let body = self.find_repeatable_text("body text content").filter(|&at| !self.columns[at].not_null);
        if let Some((erased, body)) = erased.zip(body) {
            self.set(
                body,
                format!("if({}, NULL, phrase('{{message}}'))", self.column(erased)),
                "follows from whether it is erased",
            );
        }
    }

    /// Times of the rows that reactions are to.
    fn target_times(&mut self) {
        let at = self.find("target_timestamp target_sent_at target_time", |at| self.found[at].is_some());
        let Some(at) = at else { return };
        let form = self.time_at(at).map(|(_, form)| form);
        let time = (0..self.columns.len()).find_map(|by| {
            let parent = self.context.parents[by]
                .filter(|_| is_like(&self.columns[by].plain, "message_id target_id post_id"))?;
            let (time, of) = self.start_of(parent)?;
            form?.converted(&self.through(by, time), of)
        });
        if let Some(time) = time {
            self.set(at, time, "the time of the row that it is to");
        }
    }

    /// Objects with the keys, kinds and times of their own row.
    pub(super) fn own_json(&mut self) {
        const MOST: usize = 6;
        let Some(json) = self.find_repeatable_text("json") else { return };
        let is_part = |at: usize| {
            let is_time = self.is_time(at) && self.is_number(at);
            let is_safe = is_time || self.is_like(at, "id *_id type");
            at != json && is_safe && self.table.columns[at].generated == Generated::No
        };
        let value = |at: usize| {
            let column = self.column(at);
            let quoted = if self.is_text(at) { format!("'\"' || {column} || '\"'") } else { column };
            format!("'\"{}\":' || coalesce({quoted}, 'null')", self.table.columns[at].name)
        };
        let parts: Vec<String> = (0..self.columns.len()).filter(|&at| is_part(at)).take(MOST).map(value).collect();
        if !parts.is_empty() {
            let text = format!("'{{' || {} || '}}'", parts.join(" || ',' || "));
            self.set(json, text, "follows from the row");
        }
    }
}
