//! Foreign keys that agree with one another: a reply is in the channel of what it answers, and its author is a member.

use super::Planner;
use crate::infer::{self, Inference, quoted};

/// The foreign key of a column without annotation.
type Draft = (usize, usize, Inference);

/// Columns that refer to what a row answers or belongs to, in its own table.
const REPLIES: &str = "*reply* *parent* *thread* *answer*";

/// Columns that refer to the earlier state of the same thing.
const PREDECESSORS: &str = "old_* previous_* prev_*";

/// A table of pairs, such as members of channels.
struct Membership {
    table: usize,
    /// The columns that refer to the channel and to the member.
    group: usize,
    member: usize,
}

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
        for position in 0..drafts.len() {
            let (table, column) = (drafts[position].0, drafts[position].1);
            if !is_random(&drafts[position].2.text) || self.single_parent(table, column).is_none() {
                continue;
            }
            // A page has a bookmark or none, and seldom two.
            if infer::are_bookmarks(&self.schema.tables[table]) {
                drafts[position].2.text = with_distribution(&drafts[position].2.text, "uniform");
                continue;
            }
            if self.agree_on_purchase(drafts, position) {
                continue;
            }
            if let Some(other) = self.opposite(drafts, table, column) {
                let text = &drafts[position].2.text;
                let growing = infer::growing(text.contains("growing"));
                drafts[position].2.text = with_distribution(text, &format!("other_than({other}{growing})"));
            } else if let Some(by) = self.turns(drafts, table, column) {
                drafts[position].2.text = with_distribution(&drafts[position].2.text, &by);
            } else if !self.is_to_person(table, column) {
                self.agree_on_group(drafts, position);
            }
        }
    }

    /// Gives reviews of a product the customers who bought it: each review is of a line of an order. Returns `false` if the rows
    /// are no reviews.
    fn agree_on_purchase(&self, drafts: &mut [Draft], position: usize) -> bool {
        let (table, product) = (drafts[position].0, drafts[position].1);
        let of_table = &self.schema.tables[table];
        let is_key = |at: usize| infer::unique_keys(of_table).any(|key| key.contains(&at));
        if !infer::has_last_word(of_table, "review rating feedback testimonial") || is_key(product) {
            return false;
        }
        let buyer = drafts.iter().position(|(of, at, inferred)| {
            *of == table && self.is_to_person(table, *at) && is_random(&inferred.text) && !is_key(*at)
        });
        let found = buyer.and_then(|buyer| Some((buyer, self.purchase(drafts, (table, product), drafts[buyer].1)?)));
        let Some((buyer, Purchase { lines, product: of_product, order, orders, buyer: of_buyer })) = found else {
            return false;
        };
        let name = |(table, column): (usize, usize)| infer::quoted_column(&self.schema.tables[table], column);
        let via = format!("via({}, once=TRUE)", name((lines, of_product)));
        let own = quoted(&of_table.columns[product].name);
        let along = format!("along({own}, {}, {})", name((lines, order)), name((orders, of_buyer)));
        for (at, distribution) in [(position, via), (buyer, along)] {
            let draft = &mut drafts[at].2;
            // A row without a product has no customer either.
            draft.text = with_distribution(without_null(&draft.text), &distribution);
            draft.because = format!("{}, as a line of an order", draft.because);
        }
        true
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
        if let Some((_, reply, _)) = reply {
            let root = quoted(&of_table.columns[*reply].name);
            let draft = &mut drafts[position].2;
            draft.because = format!("{}, that of the whole thread", draft.because);
            draft.text = with_root(&draft.text, &root);
        }
    }

    /// Returns whether a column refers to rows that have a name of their own besides their key.
    fn has_name(&self, table: usize, column: usize) -> bool {
        let Some(parent) = self.single_parent(table, column) else { return false };
        let of = &self.schema.tables[parent.table];
        (0..of.columns.len()).any(|at| at != parent.column && infer::is_key_alone(of, at))
    }

    /// Returns the pairs of group and member for a table of texts in groups, and the position of the draft of their author.
    fn membership(&self, drafts: &[Draft], table: usize, column: usize) -> Option<(Membership, usize)> {
        const PAIRS: &str =
            "membership member participant participation enrollment subscription subscriber roster user";
        /// The most groups whose members are looked up at random.
        const MOST_GROUPS: u64 = 1 << 24;
        let group = self.single_parent(table, column).filter(|group| {
            infer::is_text_or_task(&self.schema.tables[table]) && self.sizes[group.table].rows <= MOST_GROUPS
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

    /// Returns the column of the sender beside that of the receiver: one sends nothing to oneself.
    fn opposite(&self, drafts: &[Draft], table: usize, column: usize) -> Option<String> {
        const FROM: &str = "from_* sender* source* origin* payer* home_* follower* blocker*";
        const TO: &str = "to_* receiver* recipient* target* dest* payee* away_* followed* followee* blocked*";
        let of_table = &self.schema.tables[table];
        let parent =
            self.single_parent(table, column).filter(|of| of.table != table && self.sizes[of.table].rows > 1)?;
        if !infer::is_called(of_table, column, TO) {
            return None;
        }
        let other = drafts.iter().find(|(of, at, inferred)| {
            let is_same = |at| self.single_parent(table, at).is_some_and(|of| of.table == parent.table);
            let is_from = |at| infer::is_called(of_table, at, FROM) && is_same(at);
            *of == table && *at != column && is_from(*at) && is_random(&inferred.text)
        });
        other.map(|(_, other, _)| quoted(&of_table.columns[*other].name))
    }

    /// Returns whether a column refers to a person.
    fn is_to_person(&self, table: usize, column: usize) -> bool {
        let parent = self.single_parent(table, column);
        parent.is_some_and(|parent| infer::is_person(&self.schema.tables[parent.table]))
    }
}

/// Returns whether an annotation refers to random rows.
fn is_random(text: &str) -> bool {
    text.contains("ref(") && text.contains(", popular")
}

/// Returns the reference in an annotation that leaves some rows without one.
fn without_null(text: &str) -> &str {
    let inner = text.strip_prefix("null(").and_then(|rest| rest.split_once(", "));
    inner.and_then(|(_, inner)| inner.strip_suffix(')')).unwrap_or(text)
}

/// Replaces the distribution of a reference to random rows.
fn with_distribution(text: &str, distribution: &str) -> String {
    let at = text.find(", popular").expect("the caller checked that it is popular");
    let end = if text.starts_with("null(") { "))" } else { ")" };
    format!("{}, {distribution}{end}", &text[..at])
}

/// Adds the column whose first row decides.
fn with_root(text: &str, root: &str) -> String {
    let end = if text.starts_with("null(") { "))" } else { ")" };
    let start = text.strip_suffix(end).unwrap_or(text);
    format!("{start}, root={root}{end}")
}
