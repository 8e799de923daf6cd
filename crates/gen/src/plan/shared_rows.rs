//! Foreign keys that agree with one another: a reply is in the channel of what it answers, and its author is a member.

use super::Planner;
use crate::infer::{self, Inference, quoted};

/// The foreign key of a column without annotation.
pub(super) type Draft = (usize, usize, Inference);

/// Columns that refer to what a row answers or belongs to, in its own table.
pub(super) const REPLIES: &str = "*reply* *parent* *thread* *answer*";
/// Tables of the members of groups.
pub(super) const PAIRS: &str =
    "membership member participant participation enrollment subscription subscriber roster user";

/// Tables whose rows have rows of other tables of their own: the users and the repositories of an organization.
pub(super) const HOMES: &str = "organization organisation company tenant workspace team store shop branch school hospital clinic firm agency institution university";
/// Columns that refer to the earlier state of the same thing.
const PREDECESSORS: &str = "old_* previous_* prev_*";

/// The most rows of a table that are listed or looked up so that other rows agree with them.
pub(super) const MOST_ROWS: u64 = 1 << 24;

/// A table of pairs, such as members of channels.
struct Membership {
    table: usize,
    /// The columns that refer to the channel and to the member.
    group: usize,
    member: usize,
}

/// Words for opinions about goods.
const REVIEWS: &str = "review rating feedback testimonial";

/// The tables of orders and their lines, and their columns that refer to a product, an order and a customer.
struct Purchase {
    lines: usize,
    product: usize,
    order: usize,
    orders: usize,
    buyer: usize,
}

impl Planner<'_> {
    /// Changes random foreign keys so that they agree with other ones of their row.
    pub(super) fn agree(&self, drafts: &mut [Draft]) {
        self.agree_on_recent(drafts);
        self.agree_on_newest(drafts);
        self.agree_on_sender(drafts);
        self.agree_on_receiver(drafts);
        self.agree_on_founder(drafts);
        self.agree_on_repeats(drafts);
        self.agree_on_events(drafts);
        self.agree_on_labels(drafts);
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            if self.single_parent(table, column).is_none() || self.agree_on_purchase(drafts, position) {
                continue;
            }
            if !is_random(&drafts[position].2.text) {
                continue;
            }
            if let Some(album) = self.album_of(drafts, table, column) {
                let own = quoted(&self.schema.tables[table].columns[album].name)
                    + &self.artist_of_album(drafts, (table, column), album).unwrap_or_default();
                drafts[position].2.text = with_distribution(&drafts[position].2.text, &format!("shared_in({own})"));
            } else if let Some(text) = self.value_of_field(drafts, table, column) {
                drafts[position].2 = Inference { text, because: "a value of the kind that the field has".to_owned() };
            } else if let Some(thing) = self.thing_of_attributes(drafts, table, column) {
                let text = &drafts[position].2.text;
                drafts[position].2.text = with_distribution(text, &format!("shared_in({thing})"));
            } else if infer::are_bookmarks(&self.schema.tables[table]) {
                // A page has a bookmark or none, and seldom two.
                drafts[position].2.text = with_distribution(&drafts[position].2.text, "uniform");
            } else if let Some(other) = self.opposite(drafts, table, column) {
                let text = &drafts[position].2.text;
                let growing = infer::growing(text.contains("growing"));
                drafts[position].2.text = with_distribution(text, &format!("other_than({other}{growing})"));
            } else if let Some(by) = self.turns(drafts, table, column) {
                drafts[position].2.text = with_distribution(&drafts[position].2.text, &by);
            } else if !self.is_to_person(table, column) {
                self.agree_on_group(drafts, position);
            }
        }
        for home in (0..self.schema.tables.len()).filter(|&at| infer::has_last_word(&self.schema.tables[at], HOMES)) {
            self.agree_on_home(drafts, home, &|_| true);
        }
        self.agree_on_addresses(drafts);
        self.agree_on_news(drafts);
        self.agree_on_albums(drafts);
        self.agree_on_folders(drafts);
        self.agree_on_ancestors(drafts);
        self.agree_on_reactions(drafts);
        self.agree_on_cities(drafts);
        self.agree_on_bookmarks(drafts);
        self.agree_on_visits(drafts);
        self.agree_on_pairs(drafts);
    }

    /// Gives events of a house the kind that their details are of.
    fn agree_on_events(&self, drafts: &mut [Draft]) {
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            let of_table = &self.schema.tables[table];
            let list = self.single_parent(table, column).map(|parent| parent.table);
            let Some(list) = list.filter(|&list| infer::lists_events(self.schema, &self.schema.tables[list])) else {
                continue;
            };
            let is_details = |(of, at, inferred): &&Draft| {
                let parent = || self.single_parent(table, *at).map(|parent| &self.schema.tables[parent.table]);
                let has_details = || parent().is_some_and(|of| of.column("shared_data").is_some());
                *of == table && inferred.text.contains("ref(") && has_details()
            };
            let Some((_, details, _)) = drafts.iter().find(is_details) else { continue };
            let number = format!("coalesce({}, 0)", quoted(&of_table.columns[*details].name));
            let rows = self.sizes[list].rows;
            if let Some(text) = infer::event_of_details(self.schema, &self.schema.tables[list], rows, &number) {
                drafts[position].2 = Inference { text, because: "the event of the details".to_owned() };
            }
        }
    }

    /// Gives issues labels that suit their titles.
    fn agree_on_labels(&self, drafts: &mut [Draft]) {
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            let of_table = &self.schema.tables[table];
            let parent = |at: usize| self.single_parent(table, at).map(|parent| parent.table);
            let are_labels = |&labels: &usize| infer::has_last_word(&self.schema.tables[labels], "label");
            let Some(labels) = parent(column).filter(are_labels) else { continue };
            let is_leader = |(of, _, inferred): &&Draft| *of == table && inferred.text.contains("per_parent(");
            let Some((_, leader, _)) = drafts.iter().find(is_leader) else { continue };
            let Some(issues) = parent(*leader) else { continue };
            let tables = [labels, issues].map(|at| &self.schema.tables[at]);
            let by = &of_table.columns[*leader].name;
            if let Some(inferred) = infer::label_of_issue(tables, self.sizes[labels].rows, by) {
                drafts[position].2 = inferred;
            }
        }
    }

    /// Leaves the first bookmarks, which are folders, without a page.
    fn agree_on_bookmarks(&self, drafts: &mut [Draft]) {
        for (table, column, inferred) in drafts {
            let parent = self.single_parent(*table, *column).map(|parent| &self.schema.tables[parent.table]);
            if parent.is_some_and(|of| infer::is_bookmarked(&self.schema.tables[*table], *column, of)) {
                let folders = infer::folders_of_bookmarks(self.sizes[*table].rows);
                let text = with_argument(&inferred.text, &format!("after={folders}"));
                inferred.text = if text.starts_with("null(") { text } else { format!("null(0.01, {text})") };
            }
        }
    }

    /// Returns the column that refers to the album of a row, if another column refers to a trait of the whole album.
    fn album_of(&self, drafts: &[Draft], table: usize, column: usize) -> Option<usize> {
        let of_table = &self.schema.tables[table];
        let is_album = |&&(of, at, _): &&Draft| {
            let parent = self.single_parent(of, at).map(|parent| &self.schema.tables[parent.table]);
            of == table && parent.is_some_and(|album| infer::is_album_of(of_table, album))
        };
        let of_column = &self.schema.tables[self.single_parent(table, column)?.table];
        let album = drafts.iter().find(is_album).filter(|_| infer::is_trait_of_album(of_column));
        album.map(|(_, at, _)| *at)
    }

    /// Returns the path from an album to its artist, if a column refers to the genre of a song: an artist keeps to a genre.
    fn artist_of_album(&self, drafts: &[Draft], (table, column): (usize, usize), album: usize) -> Option<String> {
        let table_of = |at: usize| &self.schema.tables[at];
        let albums = self.single_parent(table, album)?.table;
        let is_genre = infer::has_last_word(table_of(self.single_parent(table, column)?.table), "genre");
        let is_artist = |&&(of, at, ref inferred): &&Draft| {
            let artist = self.single_parent(of, at).filter(|_| of == albums && inferred.text.starts_with("ref("));
            artist.is_some_and(|artist| infer::has_last_word(table_of(artist.table), "artist band musician"))
        };
        let artist = drafts.iter().filter(|_| is_genre).find(is_artist)?;
        Some(format!(".{}", quoted(&table_of(albums).columns[artist.1].name)))
    }

    /// Gives a book the name of the author whom a table of links gives it. Each book has one author then. If the table has fewer links than
    /// there are books, each author has two books.
    pub(super) fn agree_on_authors(&self, drafts: &mut Vec<Draft>, alone: &mut Vec<(usize, usize)>) {
        const SORTED: &str = "sort name_sort sort_name";
        const TURNS: &str = "in_turn(2)";
        let table_of = |at: usize| &self.schema.tables[at];
        let is_name = |&(table, column): &(usize, usize)| infer::is_called(table_of(table), column, "author_sort");
        let Some(name) = alone.iter().copied().find(is_name) else { return };
        let Some((book, author)) = self.link_to_author(drafts, name.0) else { return };
        let parent = |at: usize| self.single_parent(drafts[at].0, drafts[at].1);
        let Some((of_book, of_author)) = parent(book).zip(parent(author)) else { return };
        let persons = table_of(of_author.table);
        let sorted = (0..persons.columns.len()).find(|&at| infer::is_called(persons, at, SORTED));
        let Some(sorted) = sorted else { return };
        let reference = |table, column, turns: &str| format!("ref({}, {turns})", infer::quoted_column(table, column));
        let links = drafts[book].0;
        let has_all = self.sizes[links].rows == self.sizes[name.0].rows;
        let via = format!("via({}, once=TRUE)", infer::quoted_column(table_of(links), drafts[author].1));
        let (by_link, by_book) = if has_all { ("popular", via.as_str()) } else { (TURNS, TURNS) };
        drafts[book].2.text = reference(table_of(of_book.table), of_book.column, "once");
        drafts[author].2.text = reference(persons, of_author.column, by_link);
        let because = "that of the author whom a link gives the book".to_owned();
        drafts.push((name.0, name.1, Inference { text: reference(persons, sorted, by_book), because }));
        alone.retain(|&place| place != name);
    }

    /// Returns the drafts of the book and the author in a table of links, which has no more rows than there are books.
    fn link_to_author(&self, drafts: &[Draft], books: usize) -> Option<(usize, usize)> {
        let parent = |draft: &Draft| Some(self.single_parent(draft.0, draft.1)?.table);
        let is_person = |table: usize| infer::is_person(&self.schema.tables[table]);
        let is_link = |table: usize| {
            self.sizes[table].rows <= self.sizes[books].rows && infer::has_last_word(&self.schema.tables[table], "link")
        };
        let book = drafts.iter().position(|draft| parent(draft) == Some(books) && is_link(draft.0))?;
        let author =
            drafts.iter().position(|draft| draft.0 == drafts[book].0 && parent(draft).is_some_and(is_person))?;
        Some((book, author))
    }

    /// Returns the annotation of a column that refers to the value of a field, whose number is drafted.
    fn value_of_field(&self, drafts: &[Draft], table: usize, column: usize) -> Option<String> {
        let parent = self.single_parent(table, column)?.table;
        let has_values = infer::has_values_of_fields(&self.schema.tables[parent]);
        let is_field = |(of, _, inferred): &&Draft| *of == table && inferred.text.starts_with("number_in(");
        let field = drafts.iter().filter(|_| has_values).find(is_field)?;
        let name = quoted(&self.schema.tables[table].columns[field.1].name);
        Some(infer::value_of_field(&name, self.sizes[parent].rows))
    }

    /// Lets a row repeat another one only if it answers none, and has no picture.
    fn agree_on_repeats(&self, drafts: &mut [Draft]) {
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            let of_table = &self.schema.tables[table];
            let is_own = |(of, at, inferred): &Draft, names: &str| {
                let is_named = *of == table && infer::is_called(of_table, *at, names);
                is_named && is_random(&inferred.text) && infer::is_to_itself(self.schema, of_table, *at)
            };
            if of_table.columns[column].not_null || !is_own(&drafts[position], infer::REPEATS) {
                continue;
            }
            let reply = drafts.iter().find(|draft| draft.1 != column && is_own(draft, REPLIES));
            if let Some((_, reply, _)) = reply {
                let unless = format!("unless={}", quoted(&of_table.columns[*reply].name));
                drafts[position].2.text = with_argument(&drafts[position].2.text, &unless);
            }
            // A text that repeats another one has no picture of its own.
            let media = drafts.iter().find(|(of, at, inferred)| {
                let is_own = self.single_parent(*of, *at).is_some_and(|parent| parent.table == table);
                let is_few = self.sizes[*of].rows.max(self.sizes[table].rows) <= MOST_ROWS;
                let is_attached = infer::is_attached_to(&self.schema.tables[*of], of_table);
                is_own && is_few && is_attached && inferred.text.contains("per_parent(")
            });
            if let Some((of, at, _)) = media {
                let childless = format!("childless={}", infer::quoted_column(&self.schema.tables[*of], *at));
                drafts[position].2.text = with_argument(&drafts[position].2.text, &childless);
            }
        }
    }

    /// Gives an order only addresses of its user. A user along the address is that of the address already.
    fn agree_on_addresses(&self, drafts: &mut [Draft]) {
        let is_address = |(table, column, _): &Draft| {
            let parent = self.single_parent(*table, *column).map(|parent| &self.schema.tables[parent.table]);
            parent.is_some_and(infer::is_address)
        };
        let leads = |drafts: &[Draft], (table, column, _): &Draft| {
            let along = format!(" along({}, ", quoted(&self.schema.tables[*table].columns[*column].name));
            drafts.iter().any(|(of, _, inferred)| of == table && inferred.text.contains(&along))
        };
        let addresses: Vec<usize> = (0..drafts.len()).filter(|&at| is_address(&drafts[at])).collect();
        let is_home = |at: &usize| !addresses.is_empty() && infer::is_person(&self.schema.tables[*at]);
        for home in (0..self.schema.tables.len()).filter(is_home) {
            let free: Vec<usize> = addresses.iter().copied().filter(|&at| !leads(drafts, &drafts[at])).collect();
            self.agree_on_home(drafts, home, &|at| free.contains(&at));
        }
    }

    /// Gives a row only rows of one home: the author of an issue belongs to the organization of the repository. Changes the foreign
    /// keys that `is_member` chooses by the positions of their drafts.
    fn agree_on_home(&self, drafts: &mut [Draft], home: usize, is_member: &dyn Fn(usize) -> bool) {
        let is_few = |table: usize| self.sizes[table].rows <= MOST_ROWS;
        let parent = |(table, column, _): &Draft| self.single_parent(*table, *column).map(|parent| parent.table);
        // The columns of all tables that refer to a home, by the positions of their drafts.
        let homes: Vec<usize> = (0..drafts.len())
            .filter(|&at| drafts[at].2.text.starts_with("ref(") && is_few(drafts[at].0))
            .filter(|&at| is_few(home) && parent(&drafts[at]) == Some(home))
            .collect();
        let home_of = |table: usize| homes.iter().copied().find(|&of| drafts[of].0 == table);
        // The columns that refer to rows with a home, and the drafts of these rows' homes.
        let mut members: Vec<(usize, usize)> = (0..drafts.len())
            .filter(|&at| homes.len() > 1 && drafts[at].2.text.contains("ref(") && is_member(at))
            .filter_map(|at| Some((at, home_of(parent(&drafts[at])?)?)))
            .collect();
        let is_free = |at: usize| is_random(&drafts[at].2.text) || self.has_turn(drafts, at);
        let is_known = |at: usize| drafts[at].2.text.starts_with("ref(");
        // Of each table, those that others follow come first.
        members.sort_by_key(|&(at, _)| {
            let (table, column, _) = drafts[at];
            (table, !is_known(at), is_free(at), self.is_to_person(table, column))
        });
        let (mut sharing, mut changed) = (Vec::new(), Vec::new());
        for of_table in members.chunk_by(|one, other| drafts[one.0].0 == drafts[other.0].0) {
            let (first, of_first) = of_table[0];
            let name = |at: usize| quoted(&self.schema.tables[drafts[at].0].columns[drafts[at].1].name);
            let (leader, group, others) = match home_of(drafts[first].0) {
                Some(own) if is_free(first) => (own, name(own), of_table),
                None if is_known(first) => (of_first, format!("{}.{}", name(first), name(of_first)), &of_table[1..]),
                _ => continue,
            };
            for &(at, of) in others.iter().filter(|(at, _)| is_free(*at)) {
                changed.push((at, self.within(drafts, (at, of), &group)));
                // A user along an address has one already.
                if !drafts[leader].2.text.contains(" along(") {
                    sharing.extend([leader, of]);
                }
            }
        }
        for (at, text) in changed {
            drafts[at].2.text = text;
            drafts[at].2.because += &format!(", of the same row of {}", self.schema.tables[home].name);
        }
        self.fill_homes(drafts, sharing);
    }

    /// Returns the annotation of a foreign key to rows of a home: those of the group.
    fn within(&self, drafts: &[Draft], (at, of): (usize, usize), group: &str) -> String {
        let (table, column, Inference { text, .. }) = &drafts[at];
        let members = infer::quoted_column(&self.schema.tables[drafts[of].0], drafts[of].1);
        let turns = self.turns(drafts, *table, *column).unwrap_or_default();
        let arguments = match popular_arguments(text) {
            arguments if arguments.is_empty() => popular_arguments(&format!(", {turns}")),
            arguments => arguments,
        };
        with_distribution(text, &format!("within({group}, {members}{arguments})"))
    }

    /// Returns whether a column refers to the person who has a turn, of which another column of the key tells the time.
    fn has_turn(&self, drafts: &[Draft], at: usize) -> bool {
        let (table, column, Inference { text, .. }) = &drafts[at];
        if !text.contains(", distinct_in(") {
            return false;
        }
        let of_table = &self.schema.tables[*table];
        let refers = |&at: &usize| infer::refers(self.schema, of_table, at);
        let is_pair = |key: Vec<usize>| key.contains(column) && key.iter().all(refers);
        infer::is_stay(of_table) && !infer::unique_keys(of_table).any(is_pair)
    }

    /// Chooses homes that have rows of all tables whose rows must share one: of persons first, and others only where persons are.
    fn fill_homes(&self, drafts: &mut [Draft], mut sharing: Vec<usize>) {
        sharing.sort_by_key(|&at| {
            let table = drafts[at].0;
            (is_random(&drafts[at].2.text), !infer::is_person(&self.schema.tables[table]), self.depth(table), at)
        });
        sharing.dedup();
        for two in sharing.windows(2) {
            let [before, at] = [&drafts[two[0]], &drafts[two[1]]];
            if is_random(&at.2.text) {
                let via = infer::quoted_column(&self.schema.tables[before.0], before.1);
                let growing = infer::growing(self.grow(&[before.0, at.0]));
                drafts[two[1]].2.text = with_distribution(&at.2.text, &format!("via({via}{growing})"));
            }
        }
    }

    /// Gives reviews of a product the customers who bought it: each review is of a line of an order. Returns `false` if the rows
    /// are no reviews.
    fn agree_on_purchase(&self, drafts: &mut [Draft], position: usize) -> bool {
        let (table, product) = (drafts[position].0, drafts[position].1);
        let of_table = &self.schema.tables[table];
        if !infer::has_last_word(of_table, REVIEWS) || self.is_to_person(table, product) {
            return false;
        }
        let buyer = drafts.iter().position(|(of, at, inferred)| {
            *of == table && self.is_to_person(table, *at) && inferred.text.contains("ref(")
        });
        let found = buyer.and_then(|buyer| Some((buyer, self.purchase(drafts, (table, product), drafts[buyer].1)?)));
        let Some((buyer, Purchase { lines, product: of_product, order, orders, buyer: of_buyer })) = found else {
            return false;
        };
        let mut keys =
            infer::unique_keys(of_table).filter(|key| key.contains(&product) || key.contains(&drafts[buyer].1));
        let is_pair = |key: &Vec<usize>| key.len() == 2 && key.contains(&product) && key.contains(&drafts[buyer].1);
        let (is_distinct, others) = (keys.next(), keys.next());
        let are_random = [position, buyer].iter().all(|&at| is_random(&drafts[at].2.text));
        let may_be = match &is_distinct {
            None => are_random,
            Some(key) => {
                is_pair(key) && others.is_none() && self.has_pairs_enough(table, [product, drafts[buyer].1], lines)
            }
        };
        if !may_be {
            return false;
        }
        let name = |(table, column): (usize, usize)| infer::quoted_column(&self.schema.tables[table], column);
        let own = quoted(&of_table.columns[product].name);
        let distinct = if is_distinct.is_some() { ", distinct=TRUE" } else { "" };
        let along = format!("along({own}, {}, {}{distinct})", name((lines, order)), name((orders, of_buyer)));
        for (at, distribution) in [(position, format!("via({}, once=TRUE)", name((lines, of_product)))), (buyer, along)]
        {
            let Some(parent) = self.single_parent(table, drafts[at].1) else { return false };
            let draft = &mut drafts[at].2;
            // A row without a product has no customer either.
            draft.text = format!("ref({}, {distribution})", name((parent.table, parent.column)));
            draft.because = format!("{}, as a line of an order", draft.because);
        }
        true
    }

    /// Returns the lines of orders of which the reviews in a table are.
    pub(super) fn lines_of_reviews(&self, table: usize, drafts: &[Draft]) -> Option<infer::OrderLines> {
        let of_table = &self.schema.tables[table];
        if !infer::has_last_word(of_table, REVIEWS) {
            return None;
        }
        let text = |at: usize| drafts.iter().find(|(of, column, _)| (*of, *column) == (table, at));
        let text = |at: usize| text(at).map_or("", |(.., inferred)| inferred.text.as_str());
        let columns = 0..of_table.columns.len();
        let product = columns.clone().find(|&at| text(at).contains(", via(") && text(at).contains(", once=TRUE"))?;
        let along = format!(", along({}, ", quoted(&of_table.columns[product].name));
        let buyer = columns.into_iter().find(|&at| text(at).contains(&along))?;
        let Purchase { lines, order, orders, .. } = self.purchase(drafts, (table, product), buyer)?;
        Some(infer::OrderLines { lines, order, orders })
    }

    /// Returns whether each row can be of a line of its own, and few pairs of what two columns refer to are taken.
    fn has_pairs_enough(&self, table: usize, pair: [usize; 2], lines: usize) -> bool {
        let rows = self.sizes[table].rows;
        let parents = pair.map(|at| self.single_parent(table, at).map_or(0, |parent| self.sizes[parent.table].rows));
        rows <= self.sizes[lines].rows.min(MOST_ROWS)
            && rows.saturating_mul(20) <= parents[0].saturating_mul(parents[1])
    }

    /// Returns the lines of orders through which customers bought what a column refers to.
    fn purchase(&self, drafts: &[Draft], (table, product): (usize, usize), buyer: usize) -> Option<Purchase> {
        let parent = |table, column| self.single_parent(table, column).map(|of| (of.table, of.column));
        let (of_product, of_buyer) = (parent(table, product)?, parent(table, buyer)?);
        let is_plain = |text: &str| text.starts_with("ref(") && !text.contains(" via(") && !text.contains(" along(");
        let plain = || drafts.iter().filter(|(.., inferred)| is_plain(&inferred.text));
        plain().filter(|(lines, at, _)| *lines != table && parent(*lines, *at) == Some(of_product)).find_map(
            |(lines, at, _)| {
                let (_, order, _) = plain().find(|(of, column, _)| {
                    let orders = self.single_parent(*of, *column);
                    let is_line =
                        |orders: usize| infer::is_line_of(&self.schema.tables[*lines], &self.schema.tables[orders]);
                    of == lines && orders.is_some_and(|orders| is_line(orders.table))
                })?;
                let (orders, _) = parent(*lines, *order)?;
                let (_, of_order, _) =
                    plain().find(|(of, column, _)| *of == orders && parent(*of, *column) == Some(of_buyer))?;
                Some(Purchase { lines: *lines, product: *at, order: *order, orders, buyer: *of_order })
            },
        )
    }

    /// Gives a thread one group, and the rows of a group authors who are members of it.
    fn agree_on_group(&self, drafts: &mut [Draft], position: usize) {
        let (table, column) = (drafts[position].0, drafts[position].1);
        if let Some((membership, author)) = self.membership(drafts, table, column) {
            let Membership { table: pairs, group, member } = membership;
            let name = |column: usize| infer::quoted_column(&self.schema.tables[pairs], column);
            let growing = infer::growing(drafts[position].2.text.contains("growing"));
            let group_text = format!("via({}{growing})", name(group));
            let own = quoted(&self.schema.tables[table].columns[column].name);
            drafts[position].2.text = with_distribution(&drafts[position].2.text, &group_text);
            let member_text = format!("among({own}, {})", name(member));
            let draft = &mut drafts[author].2;
            draft.text = with_distribution(&draft.text, &member_text);
            draft.because = format!("{}, as a member", draft.because);
        }
        let of_table = &self.schema.tables[table];
        let is_thread = |at: usize| infer::is_text_or_task(of_table) && infer::is_called(of_table, at, REPLIES);
        let is_chain = |at: usize| infer::is_called(of_table, at, PREDECESSORS) && self.has_name(table, column);
        let reply = drafts.iter().find(|(of, at, inferred)| {
            *of == table
                && infer::is_to_itself(self.schema, of_table, *at)
                && is_random(&inferred.text)
                && (is_thread(*at) || is_chain(*at))
        });
        let Some(reply) = reply.map(|(_, reply, _)| *reply) else { return };
        if is_chain(reply) && self.take_turns(drafts, position, reply) {
            return;
        }
        let root = format!("root={}", quoted(&of_table.columns[reply].name));
        let draft = &mut drafts[position].2;
        draft.because = format!("{}, that of the whole thread", draft.because);
        draft.text = with_argument(&draft.text, &root);
    }

    /// Lets things come one after another, so that the row before of each of them is as many rows before. Returns `false` if the keys of
    /// the rows do not count them.
    fn take_turns(&self, drafts: &mut [Draft], position: usize, before: usize) -> bool {
        let (table, column) = (drafts[position].0, drafts[position].1);
        let of_table = &self.schema.tables[table];
        let key = of_table.rowid_alias.filter(|&key| self.columns[table][key].is_none());
        let can_be_null = !of_table.columns[before].not_null;
        let Some((key, things)) = key.zip(self.single_parent(table, column)).filter(|_| can_be_null) else {
            return false;
        };
        let Some(at) = drafts.iter().position(|draft| (draft.0, draft.1) == (table, before)) else { return false };
        let first = self.sizes[table].rows.div_ceil(infer::STATES_OF_THING).min(self.sizes[things.table].rows);
        let key = quoted(&of_table.columns[key].name);
        let of = infer::quoted_column(&self.schema.tables[things.table], things.column);
        drafts[position].2.text = format!("ref({of}, in_turn(first={first}))");
        drafts[at].2.text = format!("if({key} > {first}, {key} - {first})");
        true
    }

    /// Returns whether a column refers to rows that have a name of their own besides their key.
    fn has_name(&self, table: usize, column: usize) -> bool {
        let Some(parent) = self.single_parent(table, column) else { return false };
        let of = &self.schema.tables[parent.table];
        (0..of.columns.len()).any(|at| at != parent.column && infer::is_key_alone(of, at))
    }

    /// Returns the pairs of group and member for a table of texts in groups, and the position of the draft of their author.
    fn membership(&self, drafts: &[Draft], table: usize, column: usize) -> Option<(Membership, usize)> {
        let group = self.single_parent(table, column).filter(|group| {
            infer::is_text_or_task(&self.schema.tables[table]) && self.sizes[group.table].rows <= MOST_ROWS
        })?;
        let author = drafts.iter().position(|(of, at, inferred)| {
            *of == table && self.is_to_person(table, *at) && is_random(&inferred.text)
        })?;
        let person = self.single_parent(table, drafts[author].1)?;
        let is_pair = |(pairs, at, inferred): &&Draft| {
            let of = self.single_parent(*pairs, *at);
            let is_group = of.is_some_and(|of| (of.table, of.column) == (group.table, group.column));
            let is_named = infer::has_last_word(&self.schema.tables[*pairs], PAIRS);
            *pairs != table
                && is_group
                && is_named
                && inferred.text.starts_with("ref(")
                && inferred.text.contains("per_parent(")
        };
        let (pairs, group, _) = drafts.iter().find(is_pair)?;
        let is_member = |(of, at, inferred): &&Draft| {
            let parent = self.single_parent(*of, *at);
            let is_person = parent.is_some_and(|of| (of.table, of.column) == (person.table, person.column));
            of == pairs && is_person && inferred.text.starts_with("ref(")
        };
        let (_, member, _) = drafts.iter().find(is_member)?;
        Some((Membership { table: *pairs, group: *group, member: *member }, author))
    }

    /// Returns the distribution of a foreign key of stays, whose rows are not in the order of time: the first stays of a thing are
    /// by persons who were there early.
    fn turns(&self, drafts: &[Draft], table: usize, column: usize) -> Option<String> {
        let of_table = &self.schema.tables[table];
        let of_parent = self.single_parent(table, column)?.table;
        let is_leader =
            |(of, at, inferred): &&Draft| *of == table && *at != column && inferred.text.contains("per_parent(");
        let (_, leader, _) = drafts.iter().find(is_leader).filter(|_| infer::is_stay(of_table))?;
        let of_leader = self.single_parent(table, *leader)?.table;
        let growing = if self.grow(&[of_leader]) { "growing=TRUE, " } else { "" };
        let by = quoted(&of_table.columns[*leader].name);
        self.grow(&[table, of_parent]).then(|| format!("popular({growing}by={by})"))
    }

    /// Returns the column that refers to the thing whose attributes another one refers to: all states of a thing have the same.
    fn thing_of_attributes(&self, drafts: &[Draft], table: usize, column: usize) -> Option<String> {
        let of_table = &self.schema.tables[table];
        if !infer::is_called(of_table, column, "attributes_id") {
            return None;
        }
        let is_thing = |(of, at, _): &&Draft| *of == table && infer::is_called(of_table, *at, "metadata_id entity_id");
        let thing = drafts.iter().find(is_thing)?;
        let is_known = thing.2.text.contains("ref(");
        is_known.then(|| quoted(&of_table.columns[thing.1].name))
    }

    /// Returns the column of the sender beside that of the receiver: one sends nothing to oneself.
    fn opposite(&self, drafts: &[Draft], table: usize, column: usize) -> Option<String> {
        const FROM: &str = "from_* sender* source* origin* payer* home_* follower* blocker*";
        const TO: &str = "to_* receiver* recipient* target* dest* payee* away_* followed* followee* blocked*";
        /// A film in its original language has no second one.
        const ORIGINAL: &str = "original_*";
        let of_table = &self.schema.tables[table];
        let parent =
            self.single_parent(table, column).filter(|of| of.table != table && self.sizes[of.table].rows > 1)?;
        let is_original = infer::is_called(of_table, column, ORIGINAL);
        if !is_original && !infer::is_called(of_table, column, TO) {
            return None;
        }
        let other = drafts.iter().find(|(of, at, inferred)| {
            let is_same = |at| self.single_parent(table, at).is_some_and(|of| of.table == parent.table);
            let is_from = |at| infer::is_called(of_table, at, FROM) && is_same(at);
            let is_copy = || is_original && is_same(*at) && inferred.text.starts_with("ref(");
            *of == table && *at != column && (is_from(*at) && is_random(&inferred.text) || is_copy())
        });
        other.map(|(_, other, _)| quoted(&of_table.columns[*other].name))
    }

    /// Returns whether a column refers to a person.
    pub(super) fn is_to_person(&self, table: usize, column: usize) -> bool {
        let parent = self.single_parent(table, column);
        parent.is_some_and(|parent| infer::is_person(&self.schema.tables[parent.table]))
    }
}

/// Returns whether an annotation refers to random rows.
pub(super) fn is_random(text: &str) -> bool {
    text.contains("ref(") && text.contains(", popular")
}

/// Replaces the distribution of a reference to random rows, or to different ones.
pub(super) fn with_distribution(text: &str, distribution: &str) -> String {
    let at =
        text.find(", popular").or_else(|| text.find(", distinct_in(")).expect("the caller checked that it is random");
    let end = if text.starts_with("null(") { "))" } else { ")" };
    format!("{}, {distribution}{end}", &text[..at])
}

/// Returns the arguments of `popular`, after a comma.
fn popular_arguments(text: &str) -> String {
    let arguments = text.split_once(", popular(").and_then(|(_, rest)| rest.split(')').next());
    arguments.map_or(String::new(), |arguments| format!(", {arguments}"))
}

/// Adds an argument of `ref`.
fn with_argument(text: &str, argument: &str) -> String {
    let end = if text.starts_with("null(") { "))" } else { ")" };
    let start = text.strip_suffix(end).unwrap_or(text);
    format!("{start}, {argument}{end}")
}
