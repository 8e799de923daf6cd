//! Foreign keys of people who talk: answers come soon, members react, and a chat knows its last message.

use super::Planner;
use super::shared_rows::{Draft, MOST_ROWS, PAIRS, REPLIES};
use crate::infer::{self, Inference, quoted};
use litepress_rows::quoted_name;
use litepress_rows::schema::Table;

/// Columns that refer to the newest row of another table that refers to this one.
const NEWEST: &str = "last_* latest_* newest_*";
/// Columns that refer to who made a group.
const FOUNDERS: &str = "creat* *created_by owner* owned_by founder* host* organizer* leader*";
/// Columns that refer to who wrote a message.
const SENDERS: &str = "sender* from_* author*";
/// Columns that refer to a conversation, which is with somebody.
const CONVERSATIONS: &str = "conversation* chat* thread*";

/// The column of a pair that decides, and the annotation of the other one around it.
struct Pair {
    by: usize,
    start: String,
    end: String,
}

/// Returns whether a column refers to the newest of the rows that refer to its row: an album shows its last picture.
pub(super) fn is_newest(table: &Table, column: usize) -> bool {
    let is_cover = || infer::has_last_word(table, "album") && infer::is_called(table, column, "icon");
    infer::is_called(table, column, NEWEST) || is_cover()
}

/// Returns the number of first rows to which the others refer, if an annotation says so.
pub(super) fn first_rows(text: &str) -> Option<u64> {
    text.split_once(", in_turn(first=")?.1.split([')', ',']).next()?.parse().ok()
}

impl Planner<'_> {
    /// Lets texts answer or repeat those that came shortly before them.
    pub(super) fn agree_on_recent(&self, drafts: &mut [Draft]) {
        const LEAST: u64 = 30;
        const SHARE: u64 = 1000;
        for (table, column, inferred) in drafts {
            let of_table = &self.schema.tables[*table];
            let is_answer = [REPLIES, infer::REPEATS].iter().any(|names| infer::is_called(of_table, *column, names));
            if is_answer && infer::is_text_or_task(of_table) && infer::is_to_itself(self.schema, of_table, *column) {
                let recent = LEAST.max(self.sizes[*table].rows / SHARE);
                inferred.text = inferred.text.replacen(", popular)", &format!(", popular(recent={recent}))"), 1);
            }
        }
    }

    /// Lets comments be on texts that are new, while people talk in old conversations, too.
    pub(super) fn agree_on_news(&self, drafts: &mut [Draft]) {
        const LEAST: u64 = 100;
        const SHARE: u64 = 40;
        let is_text = |table: usize| infer::is_text_or_task(&self.schema.tables[table]);
        for (table, column, inferred) in drafts.iter_mut().filter(|(table, ..)| is_text(*table)) {
            let parent =
                self.single_parent(*table, *column).map(|of| of.table).filter(|&of| of != *table && is_text(of));
            let is_lasting = |of: usize| infer::has_last_word(&self.schema.tables[of], "conversation chat thread");
            let Some(parent) = parent.filter(|&of| !is_lasting(of)) else { continue };
            let recent = LEAST.max(self.sizes[parent].rows / SHARE);
            if !inferred.text.contains(", by=") {
                let text = format!("popular(growing=TRUE, recent={recent}");
                inferred.text = inferred.text.replacen("popular(growing=TRUE", &text, 1);
            }
        }
    }

    /// Puts pictures into the last albums that are there: those of a year are in its folders.
    pub(super) fn agree_on_albums(&self, drafts: &mut [Draft]) {
        const RECENT: &str = "popular(growing=TRUE, recent=4";
        let is_called = |table: usize, words: &str| infer::has_last_word(&self.schema.tables[table], words);
        for (table, column, inferred) in
            drafts.iter_mut().filter(|(table, ..)| is_called(*table, "image photo picture"))
        {
            if self.single_parent(*table, *column).is_some_and(|of| is_called(of.table, "album")) {
                inferred.text = inferred.text.replacen("popular(growing=TRUE", RECENT, 1);
            }
        }
    }

    /// Puts each folder below the root of the folder that it lies in.
    pub(super) fn agree_on_folders(&self, drafts: &mut [Draft]) {
        let is_root =
            |table: usize| infer::words_of_table(&self.schema.tables[table].name).contains(&"root".to_owned());
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            let Some(roots) = self.single_parent(table, column).filter(|of| is_root(of.table)) else { continue };
            let tree = drafts.iter().find_map(|draft| first_rows(&draft.2.text).filter(|_| draft.0 == table));
            if let Some(first) = tree.filter(|&first| first <= self.sizes[roots.table].rows) {
                let key = infer::quoted_column(&self.schema.tables[roots.table], roots.column);
                drafts[position].2.text = format!("ref({key}, in_turn(first={first}))");
            }
        }
    }

    /// Pairs each row of a tree with the one above it, in a table of ancestors.
    pub(super) fn agree_on_ancestors(&self, drafts: &mut [Draft]) {
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            let Some((tree, key)) = self.key(table, column).filter(|_| infer::is_ancestor(self.schema, table, column))
            else {
                continue;
            };
            let above =
                drafts.iter().find_map(|draft| Some((draft.1, first_rows(&draft.2.text).filter(|_| draft.0 == tree)?)));
            let is_other =
                |(of, at, _): &Draft| *of == table && *at != column && self.key(table, *at) == Some((tree, key));
            let Some((other, (above, first))) = drafts.iter().position(is_other).zip(above) else { continue };
            if first < self.sizes[tree].rows {
                let by = self.name((table, drafts[other].1));
                let [key, above] = [key, above].map(|at| infer::quoted_column(&self.schema.tables[tree], at));
                drafts[other].2.text = format!("ref({key}, per_parent(1, after={first}))");
                drafts[position].2.text = format!("ref({key}, along({by}, {above}))");
            }
        }
    }

    /// Lets a row refer to the newest of the rows that refer to it: a chat to its last message.
    pub(super) fn agree_on_newest(&self, drafts: &mut [Draft]) {
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            let of_table = &self.schema.tables[table];
            let may_be = !of_table.columns[column].not_null && is_newest(of_table, column);
            let parent =
                self.single_parent(table, column).filter(|of| may_be && self.sizes[of.table].rows <= MOST_ROWS);
            let Some(parent) = parent else { continue };
            let back = drafts.iter().find(|(child, by, inferred)| {
                let is_back = self.single_parent(*child, *by).is_some_and(|of| of.table == table);
                *child == parent.table && is_back && inferred.text.contains("ref(")
            });
            if let Some((child, by, _)) = back {
                let [by, key] = [*by, parent.column].map(|at| infer::quoted_column(&self.schema.tables[*child], at));
                let text = format!("last_of({by}, {key})");
                drafts[position].2 = Inference { text, because: "the newest of its rows".to_owned() };
            }
        }
    }

    /// Gives a message that somebody sends the sender with whom its chat is. Own messages have none.
    pub(super) fn agree_on_sender(&self, drafts: &mut [Draft]) {
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            let of_table = &self.schema.tables[table];
            let is_sender = infer::is_called(of_table, column, SENDERS) && !of_table.columns[column].not_null;
            let own = of_table.columns.iter().find(|of| infer::plain(&of.name) == "from_me").filter(|_| is_sender);
            let Some((own, sender)) = own.zip(self.key(table, column)) else { continue };
            if let Some((by, (chat, with))) = self.chat_with(drafts, table, sender) {
                let [by, with] = [&of_table.columns[by], &self.schema.tables[chat].columns[with]];
                let [own, by, with] = [own, by, with].map(|of| quoted_name(&of.name));
                let text = format!("if({own}, NULL, {by}.{with})");
                drafts[position].2 = Inference { text, because: "with whom the chat is".to_owned() };
            }
        }
    }

    /// Lets the one with whom a chat is receive its messages, each of which somebody receives once at most.
    pub(super) fn agree_on_receiver(&self, drafts: &mut [Draft]) {
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            let of_table = &self.schema.tables[table];
            let Some(Pair { by, start, .. }) = self.pair(&drafts[position]) else { continue };
            let message = self.single_parent(table, by).map(|of| of.table).filter(|&of| {
                let few = infer::rows_for_one(of_table, by, &self.schema.tables[of]);
                few.is_some() && self.sizes[table].rows < self.sizes[of].rows
            });
            let chat = message.zip(self.key(table, column)).and_then(|(message, receiver)| {
                let (chat, with) = self.chat_with(drafts, message, receiver)?;
                Some([(message, chat), with])
            });
            if let Some(path) = chat {
                let [chat, with] = path.map(|(of, at)| infer::quoted_column(&self.schema.tables[of], at));
                let text = format!("{start}, along({}, {chat}, {with}))", self.name((table, by)));
                drafts[position].2 = Inference { text, because: "with whom the chat is".to_owned() };
            }
        }
    }

    /// Returns the column through which the messages in a table refer to a chat, and that of the chat with whom it is: one of the
    /// rows with this key.
    fn chat_with(&self, drafts: &[Draft], table: usize, key: (usize, usize)) -> Option<(usize, (usize, usize))> {
        let of_table = &self.schema.tables[table];
        (0..of_table.columns.len()).filter(|&by| of_table.columns[by].not_null).find_map(|by| {
            let chat = self.single_parent(table, by)?.table;
            let with = drafts.iter().find(|(of, at, inferred)| {
                *of == chat && self.key(*of, *at) == Some(key) && inferred.text.ends_with(", once)")
            })?;
            Some((by, (chat, with.1)))
        })
    }

    /// Makes who created a group its first member, and lets the one with whom a conversation is react first.
    pub(super) fn agree_on_founder(&self, drafts: &mut [Draft]) {
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            let of_table = &self.schema.tables[table];
            let is_member = infer::has_last_word(of_table, PAIRS) && self.is_to_person(table, column);
            let names = if infer::is_reaction(of_table) { CONVERSATIONS } else { FOUNDERS };
            let pair = self.pair(&drafts[position]).filter(|_| is_member || infer::is_reaction(of_table));
            let Some(Pair { by, start, end }) = pair else { continue };
            let group = self.single_parent(table, by).map(|of| of.table);
            let founder = drafts.iter().find(|(of, at, inferred)| {
                let is_founder = infer::is_called(&self.schema.tables[*of], *at, names);
                let is_same = self.key(*of, *at) == self.key(table, column);
                Some(*of) == group && is_founder && is_same && inferred.text.starts_with("ref(")
            });
            if let Some((of, at, _)) = founder {
                let [by, first] = [(table, by), (*of, *at)].map(|place| self.name(place));
                drafts[position].2.text = format!("{start}, distinct_in({by}, first={first}{end}");
            }
        }
    }

    /// Gives a message reactions by members of its group, which goes through the pairs of groups and members.
    pub(super) fn agree_on_reactions(&self, drafts: &mut [Draft]) {
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            let is_reaction = infer::is_reaction(&self.schema.tables[table]);
            let Some(Pair { by, start, .. }) = self.pair(&drafts[position]).filter(|_| is_reaction) else { continue };
            let message = self.single_parent(table, by).map(|of| of.table);
            let found = drafts.iter().filter(|of| Some(of.0) == message).find_map(|group| {
                let is_pair = |of: &&Draft| {
                    let via = format!(" via({}", infer::quoted_column(&self.schema.tables[of.0], of.1));
                    group.2.text.contains(&via) && self.key(of.0, of.1) == self.key(group.0, group.1)
                };
                let pairs = drafts.iter().find(is_pair)?.0;
                let is_member = |of: &&Draft| {
                    of.0 == pairs && of.2.text.starts_with("ref(") && self.key(of.0, of.1) == self.key(table, column)
                };
                Some((group, drafts.iter().find(is_member)?))
            });
            if let Some((group, member)) = found {
                let [by, group] = [(table, by), (group.0, group.1)].map(|place| self.name(place));
                let member = infer::quoted_column(&self.schema.tables[member.0], member.1);
                drafts[position].2.text = format!("{start}, among({by}.{group}, {member}, distinct=TRUE))");
            }
        }
    }

    /// Returns the other column of a pair, if a reference is different for each row that it refers to, and always known.
    fn pair(&self, (table, _, inferred): &Draft) -> Option<Pair> {
        let (start, rest) = inferred.text.split_once(", distinct_in(").filter(|_| inferred.text.starts_with("ref("))?;
        let (by, end) = rest.split_at(rest.find([',', ')'])?);
        let by = self.schema.tables[*table].columns.iter().position(|of| quoted(&of.name) == by)?;
        Some(Pair { by, start: start.to_owned(), end: end.to_owned() })
    }

    /// Returns the table and the key that a column refers to.
    fn key(&self, table: usize, column: usize) -> Option<(usize, usize)> {
        self.single_parent(table, column).map(|of| (of.table, of.column))
    }

    /// Returns the name of a column, as annotations have it.
    fn name(&self, (table, column): (usize, usize)) -> String {
        quoted(&self.schema.tables[table].columns[column].name)
    }
}
