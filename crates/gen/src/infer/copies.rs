//! Columns that follow from the row that another column refers to: the name of an author, the domain of an account, the
//! text that a boost repeats.

use super::names::is_like;
use super::subjects::{Kind, subject};
use super::table_columns::called;
use super::times::Stage;
use super::{ColumnTraits, Parent, TableInference, has_last_word, inferred, is_person, plain, words_of_table};
use litepress_rows::schema::{Column, Generated};

/// Columns that refer to what a row repeats.
pub(crate) const REPEATS: &str = "*reblog* *repost* *retweet* *boost_of* *share_of* *shared_from*";
const TEXTS: &str = "text body content message title subject spoiler_text excerpt summary caption description";
const FULL_NAMES: &str = "display_name full_name fullname real_name name";
const FIRST_NAMES: &str = "first_name firstname given_name forename";
const LAST_NAMES: &str = "last_name lastname surname family_name";
const LOGINS: &str = "username user_login login handle screen_name";

impl TableInference<'_> {
    /// Infers name, e-mail address and website of a person whom the row refers to as well: `author_email` beside `user_id`.
    pub(super) fn authors(&mut self) {
        const FIELDS: [(&str, &str); 3] = [
            ("_name", ""),
            ("_email", "email mail user_email email_address"),
            ("_url", "url website user_url homepage"),
        ];
        for at in 0..self.columns.len() {
            let name = self.columns[at].plain.clone();
            if !self.is_free(at) || !self.is_text(at) || self.columns[at].is_unique || is_person(self.table) {
                continue;
            }
            let field = FIELDS.iter().find_map(|(end, names)| Some((name.strip_suffix(end)?, *names)));
            let (role, names) = field.unwrap_or((name.as_str(), ""));
            let Some((by, parent)) = self.person_of(role) else { continue };
            let text = match names {
                "" if name == "user_name" => self.column_of(by, parent, LOGINS),
                "" => self.name_of(by, parent),
                _ => self.column_of(by, parent, names).filter(|_| field.is_some()),
            };
            if let Some(text) = text {
                self.set(at, text, "follows from the person that the row refers to");
            }
        }
    }

    /// Infers the names on parcels and bills: those of the customer.
    pub(super) fn names_of_customers(&mut self) {
        const NAMES: &str = "ship_name shipping_name bill_name billing_name recipient_name customer_name";
        const COMPANIES: &str = "company_name company contact_name";
        for at in 0..self.columns.len() {
            let is_name =
                self.is_free(at) && self.is_text(at) && self.is_like(at, NAMES) && !self.columns[at].is_unique;
            if !is_name || self.kind() != Some(Kind::Order) {
                continue;
            }
            let customer = (0..self.columns.len()).find_map(|by| {
                let parent = self.context.possible_parents[by]?;
                let is_customer =
                    has_last_word(&self.context.schema.tables[parent.table], "customer client user buyer guest");
                let name = || self.text_like(parent, COMPANIES).map(|column| self.through(by, column));
                self.name_of(by, parent).or_else(name).filter(|_| is_customer)
            });
            if let Some(customer) = customer {
                let text = format!("coalesce({customer}, phrase('{{person}}'))");
                self.set(at, text, "the name of the customer");
            }
        }
    }

    /// Returns the column that refers to the person in a role: `customer_id` for `customer`, and the only one for `author`.
    fn person_of(&self, role: &str) -> Option<(usize, Parent)> {
        const WRITERS: &str = "author commenter poster reviewer_user writer";
        let persons: Vec<(usize, Parent)> = (0..self.columns.len())
            .filter_map(|at| Some((at, self.context.parents[at]?)))
            .filter(|(_, parent)| is_person(&self.context.schema.tables[parent.table]))
            .collect();
        let is_of_role = |&&(at, _): &&(usize, Parent)| {
            let name = &self.columns[at].plain;
            name.strip_suffix("_id").unwrap_or(name) == role && name != role
        };
        let only = || persons.first().filter(|_| persons.len() == 1 && is_like(role, WRITERS));
        persons.iter().find(is_of_role).or_else(only).copied()
    }

    /// Returns the name of the person that a column refers to.
    pub(super) fn name_of(&self, by: usize, parent: Parent) -> Option<String> {
        let first = self.column_of(by, parent, FIRST_NAMES);
        let both = || Some(format!("{} || ' ' || {}", first.as_ref()?, self.column_of(by, parent, LAST_NAMES)?));
        both().or_else(|| self.column_of(by, parent, FULL_NAMES))
    }

    /// Returns a text of the row that a column refers to, if it is always known, by its name.
    fn column_of(&self, by: usize, parent: Parent, names: &str) -> Option<String> {
        let column = self.text_like(parent, names).filter(|column| column.not_null)?;
        Some(self.through(by, column))
    }

    /// Returns the first text of a parent that has one of these names, with or without the name of its table.
    fn text_like(&self, parent: Parent, names: &str) -> Option<&Column> {
        let of = &self.context.schema.tables[parent.table];
        let prefix = format!("{}_", words_of_table(&of.name).pop().unwrap_or_default());
        let is_named = |column: &&Column, wanted: &str| {
            let name = plain(&column.name);
            let is_text = !ColumnTraits::new(column).is_number() && column.generated == Generated::No;
            is_text && (name == wanted || name.strip_prefix(&prefix) == Some(wanted))
        };
        names.split(' ').find_map(|wanted| of.columns.iter().find(|column| is_named(column, wanted)))
    }

    /// Returns the first name of the person that the row belongs to.
    pub(super) fn first_name_of_owner(&self) -> Option<String> {
        let (by, parent) = ["user", "owner", "customer", "employee"].iter().find_map(|role| self.person_of(role))?;
        self.column_of(by, parent, FIRST_NAMES)
    }

    /// Returns the name, or else the user name, of the account that the row is the only user of.
    pub(super) fn name_of_account(&self) -> Option<String> {
        let by = self.context.once?;
        let parent = self.context.parents[by].filter(|parent| is_person(&self.context.schema.tables[parent.table]))?;
        self.name_of(by, parent).or_else(|| self.column_of(by, parent, LOGINS))
    }

    /// Infers the address of a text at the host of its author's account.
    pub(super) fn address_of_author(&mut self, addresses: &[usize]) {
        let author = (0..self.columns.len()).find_map(|by| {
            let parent = self.context.parents[by]?;
            let of = &self.context.schema.tables[parent.table];
            let domain = of.columns.iter().find(|column| ["domain", "host"].contains(&plain(&column.name).as_str()))?;
            Some((self.through(by, domain), self.column_of(by, parent, LOGINS)?))
        });
        let key = (0..self.columns.len()).find(|&at| self.table.rowid_alias == Some(at));
        let (Some((domain, login)), Some(key)) = (author, key) else { return };
        let addresses = addresses.iter().filter(|&&at| ["uri", "url"].contains(&self.columns[at].plain.as_str()));
        let path = plain(&self.table.name);
        for (number, &at) in addresses.copied().collect::<Vec<_>>().iter().enumerate() {
            let (key, domain) = (self.column(key), format!("'https://' || coalesce({domain}, 'example.com')"));
            let text = match number {
                0 => format!("{domain} || '/users/' || {login} || '/{path}/' || {key}"),
                _ => format!("{domain} || '/@' || {login} || '/' || {key}"),
            };
            self.set(at, text, "begins with the domain of the account");
        }
    }

    /// Infers the names of products, each of the category that the row refers to.
    pub(super) fn products(&mut self) {
        let name = self.find_repeatable_text("name product_name title item_name");
        let Some((name, category)) = name.zip(self.category()) else { return };
        let text = format!("coalesce(product_of({category}, digits(9)), phrase('{{product}}'))");
        self.set(name, text, "a product of the category that the row refers to");
    }

    /// Returns the name of the category that a product refers to.
    pub(super) fn category(&self) -> Option<String> {
        let is_product = self.subject.is_some_and(|subject| subject.names == "product");
        (0..self.columns.len()).filter(|_| is_product && self.kind() == Some(Kind::Product)).find_map(|by| {
            let parent = self.context.possible_parents[by]?;
            let of = &self.context.schema.tables[parent.table];
            subject(&of.name).filter(|subject| subject.names == "category")?;
            self.text_like(parent, "name title label").map(|column| self.through(by, column))
        })
    }

    /// Leaves out the texts, and the edits, of rows that repeat another one.
    pub(super) fn shared_texts(&mut self) {
        let Some(of) = (0..self.columns.len()).find(|&at| self.is_like(at, REPEATS) && !self.columns[at].is_open)
        else {
            return;
        };
        for at in 0..self.columns.len() {
            let is_text = self.is_text(at) && self.columns[at].is_open && !self.columns[at].is_unique;
            let Some(found) = self.found[at].as_ref().filter(|_| is_text && self.is_like(at, TEXTS)) else { continue };
            let none = if self.columns[at].not_null { "''" } else { "NULL" };
            let own = match self.default_share(at, &found.text) {
                Some((share, default)) => format!("if(bool({share}), {default}, {})", called(&found.text)),
                None => called(&found.text),
            };
            let text = format!("if({} IS NULL, {own}, {none})", self.column(of));
            self.found[at] = Some(inferred(text, "follows from what it repeats"));
        }
        let is_edit = |&at: &usize| matches!(self.time_at(at), Some((Stage::Edited, _))) && !self.columns[at].not_null;
        let edits: Vec<usize> = (0..self.columns.len()).filter(is_edit).collect();
        let of = self.column(of);
        for at in edits {
            if let Some(found) = &mut self.found[at] {
                found.text = format!("if({of} IS NULL, {})", found.text);
            }
        }
    }
}
