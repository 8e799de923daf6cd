//! The columns of one person: gender, names, user name and e-mail fit each other.

use super::names::is_like;
use super::subjects::Kind;
use super::table_columns::called;
use super::{ColumnTraits, TableInference, inferred, kind_of, plain};
use litepress_rows::schema::{Column, Generated};

const MAILS: &str = "email e_mail mail *_email *email_address email_* mail_address user_email";

/// The parts of a person that others follow from.
struct Person {
    /// The full name as an expression, if the row has one.
    name: Option<String>,
    /// The column of the user name.
    login: Option<usize>,
}

impl TableInference<'_> {
    /// Infers the columns of a person.
    pub(super) fn persons(&mut self) {
        let first = self.find_text("first_name firstname given_name forename fname first_names first");
        let last = self.find_text("last_name lastname surname family_name lname last_names last");
        let is_person = self.kind() == Some(Kind::Person);
        let by_gender = self.by_gender(is_person || first.is_some());
        let home = self.home();
        let name = |list: &str| match &home {
            Some(home) => format!("coalesce(place_of({home}, '{list}', digits(9)), phrase('{{{list}}}'))"),
            None => format!("phrase('{{{list}}}')"),
        };
        let given = by_gender(&name("first_female"), &name("first_male"), &name("first"));
        let whole = match &home {
            Some(_) => format!("{given} || ' ' || {}", name("last")),
            None => by_gender("phrase('{first_female} {last}')", "phrase('{first_male} {last}')", "phrase('{person}')"),
        };
        let whole = self.or_bot(whole);
        if let Some(at) = first {
            let is_unique = self.columns[at].is_unique;
            let text = if is_unique { "unique_phrase('{given_name}')".to_owned() } else { given.clone() };
            self.set(at, text, "its name is like first_name");
        }
        if let Some(at) = self.find_text("middle_name middlename second_name middle") {
            let other = first.filter(|_| !self.columns[at].not_null).map(|first| self.column(first));
            let text = other.map_or(given.clone(), |first| format!("nullif({given}, {first})"));
            self.set(at, text, "its name is like middle_name");
        }
        if let Some(at) = last.filter(|&at| !self.columns[at].is_unique) {
            self.set(at, name("last"), "its name is like last_name");
        }
        self.states_of_persons();
        let both =
            first.zip(last).map(|(first, last)| format!("{} || ' ' || {}", self.column(first), self.column(last)));
        // All further parts follow from the name as the row has it.
        let full = self.full_name(is_person, both.clone(), whole).map(|at| self.column(at));
        let name = both.or(full);
        let login = self.user_name(name.as_deref()).or_else(|| {
            self.find("name", |at| self.found[at].as_ref().is_some_and(|found| found.because == "a user's name"))
        });
        let name = name.or_else(|| self.name_of_account().filter(|_| is_person && login.is_none()));
        self.mails(&Person { name, login });
    }

    /// Infers the gender or form of address. Returns the annotation of a name for annotations of female, male and all names.
    fn by_gender(&mut self, is_person: bool) -> impl Fn(&str, &str, &str) -> String + use<> {
        let gender = self.find("gender sex", |at| self.found[at].is_none() && (self.is_text(at) || self.is_number(at)));
        if let Some(gender) = gender {
            let values = match (self.is_text(gender), self.columns[gender].traits.longest) {
                (true, Some(1)) => "choice('F': 50, 'M': 50)",
                (true, Some(..=6)) => "choice('female': 50, 'male': 50)",
                (true, _) => "choice('female': 49, 'male': 49, 'other': 2)",
                (false, _) => "choice(1: 50, 2: 50)",
            };
            self.set(gender, values, "its name is like gender");
        }
        let courtesy = self.find_text("title_of_courtesy salutation courtesy honorific name_prefix prefix");
        let courtesy = courtesy.filter(|_| is_person && gender.is_none());
        if let Some(at) = courtesy {
            self.set(at, "choice('Mr.': 50, 'Ms.': 38, 'Mrs.': 12)", "a form of address");
        }
        let gender = gender.filter(|&at| self.is_text(at)).map(|at| self.column(at));
        let courtesy = courtesy.map(|at| self.column(at));
        move |female, male, any| match (&gender, &courtesy) {
            (Some(gender), _) => {
                format!("CASE upper(substr({gender}, 1, 1)) WHEN 'F' THEN {female} WHEN 'M' THEN {male} ELSE {any} END")
            }
            (None, Some(courtesy)) => format!("if({courtesy} = 'Mr.', {male}, {female})"),
            _ => any.to_owned(),
        }
    }

    /// Returns the column with the city or the country where the person of a row lives.
    fn home(&self) -> Option<String> {
        let is_place = |at: usize| self.is_text(at) && self.is_free(at) && !self.columns[at].is_unique;
        self.find("city town", is_place)
            .or_else(|| self.find("country country_name", is_place))
            .map(|at| self.column(at))
    }

    /// States of persons, such as being away. Programs have none.
    fn states_of_persons(&mut self) {
        let flag = self.find("is_bot bot is_robot", |at| self.is_number(at)).map(|at| self.column(at));
        let state = self.find_repeatable_text("status_text status_message custom_status");
        if let Some((at, flag)) = state.filter(|&at| !self.columns[at].not_null).zip(flag) {
            self.set(at, format!("if({flag} = 1, NULL, phrase('{{status_text}}'))"), "what a person says");
        }
        let flag = self.find("is_bot bot is_robot", |at| self.is_number(at)).map(|at| self.column(at));
        let phone = self.find_text("phone phone_number mobile").filter(|&at| self.columns[at].is_unique);
        if let Some((at, flag)) = phone.filter(|&at| !self.columns[at].not_null).zip(flag) {
            let own = called(&self.alone(at).text);
            self.set(at, format!("if({flag} = 1 OR bool(0.2), NULL, {own})"), "programs have no telephone");
        }
    }

    /// Returns the annotation of names, those of programs among them if a column tells them from persons.
    fn or_bot(&self, name: String) -> String {
        let flag =
            self.find("is_bot bot is_robot", |at| self.is_number(at)).map(|at| format!("{} = 1", self.column(at)));
        let kind =
            || self.find("actor_type", |at| self.is_text(at)).map(|at| format!("{} = 'Service'", self.column(at)));
        match flag.or_else(kind) {
            Some(is_bot) => format!("if({is_bot}, phrase('{{Noun}} Bot'), {name})"),
            None => name,
        }
    }

    /// Infers the column of a full name: of `both` parts, if the row has them, else `whole`.
    fn full_name(&mut self, is_person: bool, both: Option<String>, whole: String) -> Option<usize> {
        let is_written = self.find("author_email author_mail", |at| self.is_text(at)).is_some();
        let patterns = match (is_person, is_written) {
            (true, _) => {
                "full_name fullname display_name displayname real_name realname contact_name complete_name name customer_name employee_name"
            }
            (false, true) => "author author_name",
            (false, false) => "contact_name full_name fullname customer_name",
        };
        let at = self.find_text(patterns)?;
        match (self.columns[at].is_unique, both) {
            (true, None) => self.set(at, "unique_phrase('{person}')", "it is unique, and the name of a person"),
            (true, Some(_)) => return None,
            (false, both) => self.set(at, both.unwrap_or(whole), "the name of a person"),
        }
        Some(at)
    }

    /// Infers the column of a user name. Returns it.
    fn user_name(&mut self, name: Option<&str>) -> Option<usize> {
        const LOGINS: &str =
            "username user_name login user_login nickname nick handle screen_name acct account_name uid_name uid";
        let nice = self.find_text("user_nicename nicename");
        let login = self.find_text(LOGINS)?;
        let (text, because) = match (name, self.columns[login].is_unique) {
            (Some(name), true) => (format!("slug({name}, '') || sequence()"), "follows from the name, and is unique"),
            (Some(name), false) => (format!("slug({name}, '') || int(1, 99)"), "follows from the name"),
            (None, true) => ("unique_phrase('{handle}', '')".to_owned(), "it is unique, and a user's name"),
            (None, false) => ("phrase('{handle}')".to_owned(), "its name is like username"),
        };
        self.set(login, text, because);
        if let Some(nice) = nice {
            let text = format!("slug({}, '')", self.column(login));
            self.set(nice, text, "follows from the user's name");
        }
        Some(login)
    }

    /// Infers the columns of e-mail addresses.
    fn mails(&mut self, person: &Person) {
        const OTHERS: &str = "*subject* *body* *token* *hash* *_verified* *_confirmed* *_at *type* *template* *domain*";
        for at in 0..self.columns.len() {
            let name = &self.columns[at].plain;
            if self.is_free(at) && self.is_text(at) && is_like(name, MAILS) && !is_like(name, OTHERS) {
                self.mail(at, person);
            }
        }
    }

    fn mail(&mut self, at: usize, Person { name, login }: &Person) {
        const BECAUSE: &str = "an e-mail address, of the name in the row if there is one";
        const DOMAIN: &str = "choice('@example.com': 6, '@example.net': 2, '@example.org': 2)";
        const LONGEST: u64 = 48;
        let is_own =
            name.is_some() || login.is_some() || self.kind() == Some(Kind::Person) || self.columns[at].is_unique;
        if let Some(text) = self.mail_of_parent().filter(|_| !is_own) {
            let text = format!("coalesce({text}, slug(phrase('{{person}}'), '.') || int(1, 999) || {DOMAIN})");
            self.set(at, text, "the address of the person that the row refers to");
            return;
        }
        let firm = self.find("name company_name", |at| self.is_text(at)).filter(|_| self.kind() == Some(Kind::Company));
        if let Some(firm) = firm.filter(|_| name.is_none() && login.is_none() && !self.columns[at].is_unique) {
            let text =
                format!("choice('info', 'office', 'sales') || '@' || slug({}, '') || '.example'", self.column(firm));
            self.set(at, text, "an address of the firm");
            return;
        }
        let base = match (name, login) {
            (Some(name), _) => format!("slug({name}, '.') || sequence()"),
            (None, Some(login)) if self.has_word(*login, "replace(") => format!("lower({})", self.column(*login)),
            (None, Some(login)) => self.column(*login),
            (None, None) if self.columns[at].is_unique => "slug(phrase('{person}'), '.') || sequence()".to_owned(),
            (None, None) => "slug(phrase('{person}'), '.') || int(1, 999)".to_owned(),
        };
        // An address that is not yet confirmed is another one.
        let is_other =
            is_like(&self.columns[at].plain, "unconfirmed_* new_* pending_* alternate_* recovery_* backup_*");
        let base = if is_other { format!("{base} || '.home'") } else { base };
        match self.columns[at].traits.longest.filter(|&longest| longest < LONGEST) {
            None => self.set(at, format!("{base} || {DOMAIN}"), BECAUSE),
            // A shorter name before a number of 8 digits and a short domain.
            Some(longest @ 30..) => {
                let name = name.as_deref().unwrap_or("phrase('{person}')");
                let text = format!("substr(slug({name}, '.'), 1, {}) || sequence() || '@example.org'", longest - 20);
                self.found[at] = Some(inferred(text, BECAUSE));
            }
            Some(longest) => self.short_mail(at, longest, name.as_deref().unwrap_or("phrase('{first}')")),
        }
    }

    /// Infers an e-mail address of few characters: the beginning of a name, a number, and a short domain.
    fn short_mail(&mut self, at: usize, longest: u64, name: &str) {
        let domain = if longest < 24 { "@a.test" } else { "@example.org" };
        let (digits, number) = match self.columns[at].is_unique {
            true => (u64::from(self.context.rows.max(1).ilog10()) + 1, "sequence()"),
            false => (1, "int(1, 9)"),
        };
        let letters = longest.saturating_sub(domain.len() as u64 + digits);
        if letters > 0 {
            let text = format!("substr(slug({name}, ''), 1, {letters}) || {number} || '{domain}'");
            self.found[at] = Some(inferred(text, "a short e-mail address"));
        }
    }

    /// Returns the e-mail address of the person that the row refers to.
    fn mail_of_parent(&self) -> Option<String> {
        let is_mail = |column: &&Column| {
            let is_text = ColumnTraits::new(column).longest.is_none_or(|longest| longest >= 30);
            is_like(&plain(&column.name), MAILS) && is_text && column.generated == Generated::No
        };
        (0..self.columns.len()).find_map(|at| {
            let parent = self.context.possible_parents[at]?;
            let of = &self.context.schema.tables[parent.table];
            let mail = of.columns.iter().filter(|_| kind_of(of) == Some(Kind::Person)).find(is_mail)?;
            Some(self.through(at, mail))
        })
    }
}
