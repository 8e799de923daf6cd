//! Orders and their payments: states, methods, currencies.

use super::places::country_by_key;
use super::subjects::Kind;
use super::table_columns::called;
use super::times::{Delay, Form, Stage};
use super::{TableInference, inferred, kind_of};

/// Columns with a currency.
pub(super) const CURRENCIES: &str = "currency currency_code";
/// Currencies of countries whose accounts have an IBAN.
const WITH_IBAN: &str = "'CHF', 'DKK', 'EUR', 'GBP', 'NOK', 'PLN', 'SEK'";
const METHODS: &str = "method payment_method payment_type pay_method method_of_payment";

impl TableInference<'_> {
    /// Numbers of cards and accounts, which other methods of payment do not have.
    pub(super) fn means_of_payment(&mut self) {
        const MEANS: [(&str, &str); 2] = [
            (
                "last4 *_last4 last_four *_last_four card_* *card_number cc_number cc_*",
                "'card', 'credit_card', 'credit card', 'debit_card', 'credit', 'Credit Card'",
            ),
            ("iban bic swift account_number *_iban", "'transfer', 'invoice', 'bank_transfer', 'sepa', 'direct_debit'"),
        ];
        const IDS: &str = "CASE {} WHEN 'card' THEN 'ch_' WHEN 'paypal' THEN 'pp_' WHEN 'invoice' THEN 'in_' ELSE 'tx_' END || regex('[0-9A-Za-z]{16}')";
        let Some(method) = self.find(METHODS, |at| self.is_text(at)) else { return };
        if let Some(id) =
            self.find_repeatable_text("transaction_id *_transaction_id charge_id").filter(|&at| at != method)
            && self.knows(method, "'paypal'")
        {
            let text = IDS.replacen("{}", &self.column(method), 1);
            self.set(id, text, "follows from the method of payment");
        }
        let is_known = self.currency_of_order().map(|currency| format!(" AND {currency} IN ({WITH_IBAN})"));
        for (names, methods) in MEANS {
            for at in 0..self.columns.len() {
                if !self.is_free(at) || self.columns[at].not_null || !self.is_like(at, names) || at == method {
                    continue;
                }
                if self.knows(method, methods) {
                    let text = called(&self.alone(at).text);
                    let has_number = is_known.as_deref().filter(|_| self.is_like(at, "iban *_iban")).unwrap_or("");
                    let text = format!("if({} IN ({methods}){has_number}, {text})", self.column(method));
                    self.set(at, text, "follows from the method of payment");
                }
            }
        }
    }

    /// Returns the currency of the order that the row refers to, or of the row.
    fn currency_of_order(&self) -> Option<String> {
        let own = self.find(CURRENCIES, |at| self.is_text(at)).map(|at| self.column(at));
        own.or_else(|| (0..self.columns.len()).find_map(|by| self.currency_of_parent(by)))
    }

    /// Returns the currency of the row that a column refers to.
    fn currency_of_parent(&self, by: usize) -> Option<String> {
        CURRENCIES.split(' ').find_map(|name| self.text_of_parent(by, name))
    }

    /// States of payment and shipment, as the state of the order says; the state of a payment, as its order says.
    pub(super) fn states_of_orders(&mut self) {
        const CANCELLED: &str = "'cancelled'";
        const DONE: &str = "'completed', 'complete', 'shipped', 'delivered', 'done'";
        match self.kind() {
            Some(Kind::Order) => {
                let is_state = |at: usize| self.is_text(at) && !self.columns[at].is_unique;
                let Some(state) = self.find("status state order_status", is_state) else { return };
                for (names, done, cancelled, other) in [
                    ("payment_state", "'paid'", "'void'", "choice('balance_due': 9, 'failed': 1)"),
                    ("payment_status", "'paid'", "'failed'", "choice('pending': 9, 'failed': 1)"),
                    ("shipment_state shipping_status", "'shipped'", CANCELLED, "choice('pending': 6, 'ready': 4)"),
                ] {
                    let Some(at) = self.find_text(names).filter(|&at| at != state) else { continue };
                    if self.knows(state, DONE) {
                        let cancelled = match self.has_word(state, CANCELLED) {
                            false if cancelled == CANCELLED => "'canceled'",
                            _ => cancelled,
                        };
                        let state = self.column(state);
                        let text = format!(
                            "CASE WHEN {state} IN ({DONE}) THEN {done} WHEN {state} IN ('cancelled', 'canceled') THEN {cancelled} ELSE {other} END"
                        );
                        self.set(at, text, "follows from the state of the order");
                    }
                }
            }
            Some(Kind::Payment) => {
                let is_state = |at: usize| self.is_text(at) && !self.columns[at].is_unique;
                let Some(state) = self.find("status state payment_status", is_state) else { return };
                let Some(paid) = self.paid_of_order() else { return };
                if self.knows(state, "'succeeded'") && self.knows(state, "'pending'") {
                    let young = self.is_young(3).filter(|_| self.knows(state, "'failed'"));
                    let open =
                        young.map_or("'pending'".to_owned(), |young| format!("if({young}, 'pending', 'failed')"));
                    let text = format!("if({paid} IS NULL, {open}, choice('succeeded': 97, 'refunded': 3))");
                    self.set(state, text, "follows from the payment of the order");
                }
            }
            _ => {}
        }
    }

    /// Returns when the order that the row is the only payment of was paid.
    fn paid_of_order(&self) -> Option<String> {
        (0..self.columns.len()).filter(|&at| self.columns[at].is_unique).find_map(|at| {
            let of = &self.context.schema.tables[self.context.parents[at]?.table];
            let paid = of.columns.iter().filter(|_| kind_of(of) == Some(Kind::Order)).find(|column| {
                let stage = self.time_of_column(of, column).map(|(stage, _)| stage);
                stage == Some(Stage::Paid) && !column.not_null
            })?;
            Some(self.through(at, paid))
        })
    }

    /// Currencies: that of the order, or the one in which a person pays.
    pub(super) fn currencies(&mut self) {
        /// Currencies in which a shop shows its prices.
        const SHOWN: &str = "'AUD', 'CAD', 'CHF', 'EUR', 'GBP', 'SEK'";
        let Some(at) = self.find_repeatable_text(CURRENCIES) else { return };
        if self.kind() == Some(Kind::Product) {
            self.set(at, "constant('USD')", "a shop has one currency for its prices");
        }
        if !matches!(self.kind(), Some(Kind::Order | Kind::Payment | Kind::Line)) {
            return;
        }
        let kind_of_parent = |by: usize| kind_of(&self.context.schema.tables[self.context.parents[by]?.table]);
        let mut columns = 0..self.columns.len();
        let of_order = columns.clone().filter(|&by| kind_of_parent(by) == Some(Kind::Order));
        let of_order = of_order.filter_map(|by| self.currency_of_parent(by)).next();
        let payer = columns.find(|&by| kind_of_parent(by) == Some(Kind::Person));
        let of_country = payer.and_then(|by| self.country_of_payer(by)).map(|country| {
            let currency = format!("place_of({country}, 'currency')");
            format!("if({currency} IN ({SHOWN}), {currency}, 'USD')")
        });
        let of_payer = payer.map(|by| format!("same_in({}, {})", self.column(by), called(&self.alone(at).text)));
        if let Some(text) = of_order.or(of_country).or(of_payer) {
            self.found[at] = Some(inferred(text, "that of the order or the person"));
        }
    }

    /// Returns the country of the person who pays: a column of that row, or the country of the addresses that the person has.
    fn country_of_payer(&self, by: usize) -> Option<String> {
        let own = ["country", "country_code"].into_iter().find_map(|name| self.text_of_parent(by, name));
        let payer = self.context.parents[by]?;
        let schema = self.context.schema;
        let has_addresses = || {
            let is_payer = |at: usize, table: usize| {
                super::other_parent(schema, table, at).is_some_and(|of| of.table == payer.table)
            };
            schema
                .tables
                .iter()
                .enumerate()
                .any(|(table, of)| super::is_address(of) && (0..of.columns.len()).any(|at| is_payer(at, table)))
        };
        let by_key = || has_addresses().then(|| country_by_key(schema, payer, &self.column(by))).flatten();
        own.or_else(by_key)
    }

    /// Returns the time of a review: three weeks after that of the order, so that the parcel was there.
    pub(super) fn after_delivery(&self, ascending: &str, form: Form) -> String {
        let delay = Delay { amount: "1_814_400".into(), unit: "seconds" };
        let later = form.after(ascending, form, delay, Some(self.context.day));
        let is_review = super::has_last_word(self.table, "review rating feedback testimonial");
        later.filter(|_| is_review).unwrap_or_else(|| ascending.to_owned())
    }
}
