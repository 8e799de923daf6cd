//! The amounts of a row: quantities, prices, taxes and totals that add up.

use super::names::{bare, is_like};
use super::payments::CURRENCIES;
use super::subjects::Kind;
use super::{ColumnTraits, TableInference, TypeClass, kind_of, other_parent};
use litepress_rows::quoted_name;
use litepress_rows::schema::{Column, Generated, Schema, Table};

/// Rates of the tax on goods where a currency is from.
const RATES: &str = "WHEN 'AUD' THEN 0.1 WHEN 'CAD' THEN 0.13 WHEN 'CHF' THEN 0.081 WHEN 'GBP' THEN 0.2 WHEN 'SEK' THEN 0.25 WHEN 'USD' THEN 0.0825";
const QUANTITIES: &str = "quantity qty *_quantity order_qty pieces units count_ordered";
const PRICES: &str = "unit_price unitprice price list_price item_price sale_price retail_price amount_per_unit";
pub(super) const TOTALS: &str = "line_total linetotal amount total total_price extended_price total_amount";

/// How much heavier or lighter than others at their price goods are, by the end of their category.
const WEIGHTS: &str = "WHEN 'llery' THEN 0.03 WHEN 'tches' THEN 0.006 WHEN 'hones' THEN 0.2 WHEN 'raphy' THEN 0.4 WHEN 'eauty' THEN 0.4 WHEN 'Music' THEN 0.6 WHEN 'iture' THEN 6 WHEN 'ances' THEN 2 WHEN 'cycle' THEN 2 WHEN 'arden' THEN 2 WHEN 'otive' THEN 3 WHEN 'rages' THEN 10 WHEN 'ocery' THEN 5 WHEN 'nacks' THEN 3";

/// The ends of the names of categories of food.
pub(super) const FOOD: &str = "'nacks', 'ocery', 'rages'";

impl TableInference<'_> {
    /// Quantities, prices, totals.
    pub(super) fn amounts(&mut self) {
        let numbers = |patterns: &str| self.find(patterns, |at| self.is_amount(at) && self.found[at].is_none());
        let quantity = numbers(QUANTITIES);
        let price = numbers(PRICES);
        let base = numbers("subtotal sub_total item_total net_amount goods_total net_total amount_net");
        let total = self
            .find(TOTALS, |at| self.is_amount(at) && self.found[at].is_none() && Some(at) != price && Some(at) != base);
        let tax = numbers("tax tax_amount vat_amount sales_tax taxes vat tax_total");
        let shipping =
            numbers("shipping shipping_cost freight shipping_amount delivery_fee shipping_total shipping_fee");
        let cents = numbers("price_cents unit_price_cents price_in_cents").filter(|_| price.is_none());
        if let Some(quantity) = quantity {
            let text =
                if self.is_of_songs() { "constant(1)" } else { "choice(1: 62, 2: 20, 3: 8, 4: 4, 5: 3, 6: 1, 10: 2)" };
            self.set(quantity, text, "its name is like quantity");
        }
        if let Some(price) = price {
            let text = self.price_of_parent().unwrap_or_else(|| self.price(price));
            self.set(price, text, "its name is like price");
        }
        if let Some((cents, text)) = cents.and_then(|cents| Some((cents, self.price_of_good(cents)?))) {
            self.set(cents, text, "the price of such a good, in cents");
        }
        self.costs(price);
        if let Some(shipping) = shipping {
            self.set(shipping, self.fee_of_delivery(base), "a fee of delivery");
        }
        // The sum that taxes are computed from: a subtotal, a line's total, or the only amount.
        let is_line = self.kind() == Some(Kind::Line);
        let price_of_one = price.map(|price| self.column(price)).or_else(|| self.price_of_parent().filter(|_| is_line));
        let product = quantity
            .zip(price_of_one)
            .map(|(quantity, price)| format!("round({} * {price}, 2)", self.column(quantity)));
        let net = base.or(total);
        if let Some(net) = net {
            let (text, because) = match (self.sum_of_lines(), product, self.total_of_parent(net)) {
                (Some(sum), ..) => (sum, "the sum of the lines"),
                (None, Some(product), _) => (product, "quantity times price"),
                (None, None, Some(total)) => (total, "the total of what it refers to"),
                (None, None, None) => match self.rate_of_rental() {
                    Some(rate) => {
                        let price = self.price(net);
                        let text = format!("coalesce({rate}, {price})");
                        (text, "the rate of what is lent")
                    }
                    None => (self.price(net), "an amount"),
                },
            };
            self.set(net, self.of_visit(text), because);
        }
        if let (Some(tax), Some(net)) = (tax, net.or(price)) {
            let text = format!("round({} * {}, 2)", self.column(net), self.rate_of_tax());
            self.set(tax, text, "a tax of the amount");
        }
        let parts: Vec<usize> = [net, tax, shipping].into_iter().flatten().collect();
        let sums = [
            "grand_total total_due total_paid amount_total total_with_tax gross_amount gross",
            "total total_amount order_total",
        ];
        for patterns in sums {
            let sum = self.find(patterns, |at| self.is_amount(at) && self.found[at].is_none());
            if let Some(sum) = sum.filter(|_| !parts.is_empty()) {
                let text: Vec<String> = parts.iter().map(|&at| self.column(at)).collect();
                let sum_of_parts = text.join(" + ");
                let text = match self.coupon() {
                    Some(coupon) => format!("round(({sum_of_parts}) * if(coalesce({coupon}, '') = '', 1, 0.9), 2)"),
                    None => format!("round({sum_of_parts}, 2)"),
                };
                self.set(sum, text, "the sum of the amounts");
            }
        }
    }

    /// Returns the fee of the delivery of an order with this subtotal. Shops send large orders for nothing.
    fn fee_of_delivery(&self, subtotal: Option<usize>) -> String {
        const FEES: &str = "choice(4.95: 55, 9.9: 30, 19.9: 15)";
        subtotal.map_or(FEES.to_owned(), |subtotal| format!("if({} > 150, 0, {FEES})", self.column(subtotal)))
    }

    /// Returns an amount of a bill, which is a small one if nobody came to the visit for which it is.
    fn of_visit(&self, amount: String) -> String {
        const STATES: &str = "'cancelled', 'canceled', 'no_show', 'no-show', 'missed'";
        let tables = &self.context.schema.tables;
        let state = self.context.halfway.iter().find_map(|&table| {
            let of = &tables[table];
            let is_state = |column: &Column| column.not_null && is_like(&bare(of, &column.name), "status state");
            Some(named_column(of, of.columns.iter().position(is_state)?))
        });
        match state {
            Some(state) => format!("if({state} IN ({STATES}), choice(20: 3, 25: 5, 40: 2), {amount})"),
            None => amount,
        }
    }

    /// Returns the rate of a tax: only what a patient takes home is taxed, and an order as in the country of its currency.
    fn rate_of_tax(&self) -> String {
        let currency = self.find(CURRENCIES, |at| self.is_text(at));
        match currency.map(|at| self.column(at)) {
            _ if self.is_of_patient() => "if(bool(0.1), 0.0625, 0)".to_owned(),
            Some(currency) => format!("CASE {currency} {RATES} ELSE 0.19 END"),
            None => "0.19".to_owned(),
        }
    }

    /// Returns whether the rows are lines of orders of songs: one of each is enough.
    fn is_of_songs(&self) -> bool {
        let mut parents = self.context.parents.iter().flatten().map(|parent| &self.context.schema.tables[parent.table]);
        parents.any(|of| super::subject_of(of).is_some_and(|subject| subject.names == "song"))
    }

    /// Returns the coupon of an order that no other column takes off the total.
    fn coupon(&self) -> Option<String> {
        let is_open = |at: usize| self.is_text(at) && !self.columns[at].not_null;
        let coupon = self.find("coupon *coupon_code voucher *voucher_code promo_code discount_code", is_open)?;
        let is_order = self.kind() == Some(Kind::Order) && self.find("*discount*", |at| self.is_number(at)).is_none();
        is_order.then(|| self.column(coupon))
    }

    /// Infers what a thing costs the shop, which is less than its price, and in how many pieces it is sold.
    fn costs(&mut self, price: Option<usize>) {
        const COSTS: &str =
            "cost unit_cost supply_cost supplycost standard_cost cost_price wholesale_price purchase_price buy_price";
        let worth = price.map(|price| self.column(price)).or_else(|| self.price_of_parent());
        let cost = self.find(COSTS, |at| self.is_amount(at) && self.found[at].is_none());
        if let Some((cost, worth)) = cost.zip(worth) {
            self.set(cost, format!("round({worth} * real(0.35, 0.75, 3), 2)"), "less than the price");
        }
        if let Some((weight, price)) = self.find_repeatable_number("weight weight_kg").zip(price)
            && self.columns[weight].traits.class != TypeClass::Int
        {
            // A ring is dear and light, and a wardrobe is heavy.
            let factor = self
                .category()
                .map_or(String::new(), |category| format!(" * CASE substr({category}, -5) {WEIGHTS} ELSE 1 END"));
            let text = format!("round(0.03 + {} * real(0.008, 0.03, 4){factor}, 2)", self.column(price));
            self.set(weight, text, "suits the price");
        }
        if let Some((unit, price)) = self.find_repeatable_text("quantity_per_unit").zip(price) {
            let food = "choice('pack of 2': 2, 'pack of 3': 2, 'box of 6', 'box of 12', 'piece': 2)";
            let is_food = self.category().map_or("FALSE".to_owned(), |category| {
                format!("substr({category}, -5) IN ({FOOD}) AND {} < 20", self.column(price))
            });
            self.set(unit, format!("if({is_food}, {food}, 'piece')"), "suits the goods");
        }
    }

    /// Returns whether a column may hold amounts, which repeat.
    pub(super) fn is_amount(&self, at: usize) -> bool {
        self.is_number(at) && !self.columns[at].is_unique
    }

    /// Returns prices as cheap or dear as such things are.
    pub(super) fn price(&self, at: usize) -> String {
        let declared = self.columns[at].traits.declared.to_ascii_uppercase().replace(' ', "");
        if let Some(price) = self.price_of_treatment().filter(|_| self.columns[at].traits.class != TypeClass::Int) {
            return price;
        }
        let is_small = declared.contains("(4,2)") || declared.contains("(5,2)");
        if let Some(price) = self.price_of_good(at).filter(|_| !is_small) {
            return price;
        }
        let (low, high) = match self.subject.map(|subject| subject.names) {
            Some("song") => return "choice(0.99: 85, 1.29: 12, 1.99: 3)".to_owned(),
            Some("product") => (6, 400),
            Some("album") => (6, 25),
            Some("title" | "article_title" | "series") => (4, 30),
            Some("plan") => (5, 300),
            Some("vehicle") => (4000, 60_000),
            _ if self.is_of("rental") => (1, 12),
            _ => (3, 400),
        };
        let high = if is_small { high.min(99) } else { high };
        match self.columns[at].traits.class {
            // An integer holds cents.
            TypeClass::Int => format!("round(price({low}, {high}) * 100)"),
            _ => format!("price({low}, {high})"),
        }
    }

    /// Returns prices near the usual one of the product that the row names.
    fn price_of_good(&self, at: usize) -> Option<String> {
        let is_product = self.kind() == Some(Kind::Product) && self.subject?.names == "product";
        let name = self.find("name product_name title item_name", |at| self.is_text(at)).filter(|_| is_product)?;
        let worth = format!("worth_of({})", self.column(name));
        // Shops like some ends better than others.
        let ends = "choice(0.01: 58, 0.05: 16, 0.5: 10, 0: 8, 0.51: 4, 0.1: 4)";
        let price = format!("coalesce(max(round({worth} * real(0.6, 1.7, 3)), 2) - {ends}, price(6, 400))");
        Some(match self.columns[at].traits.class {
            TypeClass::Int => format!("round(({price}) * 100)"),
            _ => format!("round({price}, 2)"),
        })
    }

    /// Returns the sum of the lines of a row: of their totals, or of quantity times price.
    fn sum_of_lines(&self) -> Option<String> {
        let lines = &self.context.schema.tables[self.context.lines?];
        let find = |patterns: &str| Some(named_column(lines, number_like(lines, patterns)?));
        let text = match (find(TOTALS), find(QUANTITIES), find(PRICES)) {
            (Some(total), ..) => total,
            (None, Some(quantity), Some(price)) => format!("{quantity} * {price}"),
            (None, None, Some(price)) => price,
            (None, _, None) => return None,
        };
        Some(format!("round(sum_of({text}), 2)"))
    }

    /// Returns the total of the order that a payment is for, or its share of it.
    fn total_of_parent(&self, amount: usize) -> Option<String> {
        const ORDER_TOTALS: &str =
            "grand_total total_due amount_total total_with_tax gross_amount total total_amount order_total total_price";
        if self.kind() != Some(Kind::Payment) || !self.is_like(amount, "amount total amount_paid total_amount") {
            return None;
        }
        (0..self.columns.len()).find_map(|at| {
            let is_share = self.context.per_parent == Some(at);
            let parent = self.context.parents[at].filter(|_| self.columns[at].is_unique || is_share)?;
            let of = &self.context.schema.tables[parent.table];
            let total = number_like(of, ORDER_TOTALS).filter(|_| kind_of(of) == Some(Kind::Order))?;
            let total = self.through(at, &of.columns[total]);
            Some(if is_share { format!("round({total} / count_in({}), 2)", self.column(at)) } else { total })
        })
    }

    /// Returns the rate of the thing that the rental is of which a payment is for.
    fn rate_of_rental(&self) -> Option<String> {
        (0..self.columns.len()).filter(|_| self.kind() == Some(Kind::Payment)).find_map(|by| {
            let rental = self.context.possible_parents[by]?.table;
            let is_stay = kind_of(&self.context.schema.tables[rental]) == Some(Kind::Stay);
            let path = Some(rental).filter(|_| is_stay).and_then(|of| path_to_rate(self.context.schema, of, 0))?;
            Some(format!("{}.{path}", self.column(by)))
        })
    }

    /// Returns the price of the thing that a line of an order refers to.
    pub(super) fn price_of_parent(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|at| {
            let parent = self.context.parents[at].filter(|parent| parent.table != self.context.table)?;
            let of = &self.context.schema.tables[parent.table];
            // One of a pair of a supplier and a product has the price of the product.
            let is_pair = self.table.foreign_keys[parent.key].columns.len() == 2;
            let of_pair = || other_parent(self.context.schema, parent.table, parent.column).filter(|_| is_pair);
            let (text, price) = price_in(of).map(|price| (self.through(at, price), price)).or_else(|| {
                let price = price_in(&self.context.schema.tables[of_pair()?.table])?;
                Some((format!("{}.{}", self.through(at, &of.columns[parent.column]), quoted_name(&price.name)), price))
            })?;
            Some(if price.name.ends_with("_cents") { format!("{text} / 100.0") } else { text })
        })
    }
}

/// Returns the price of the things in a table, if it is always known.
fn price_in(of: &Table) -> Option<&Column> {
    let is_price = |column: &&Column| {
        is_like(&bare(of, &column.name), "unit_price unitprice price list_price retail_price price_cents")
            && column.generated == Generated::No
            && (column.not_null || column.default.is_some())
    };
    of.columns.iter().find(is_price)
}

/// Returns the path of columns from a row to the rate of what it refers to.
fn path_to_rate(schema: &Schema, table: usize, steps: usize) -> Option<String> {
    const MOST_STEPS: usize = 3;
    let of_table = &schema.tables[table];
    if let Some(rate) = number_like(of_table, "rental_rate rental_price rental_fee") {
        return Some(quoted_name(&of_table.columns[rate].name));
    }
    let mut columns = of_table.columns.iter().enumerate().filter(|(_, column)| column.not_null && steps < MOST_STEPS);
    columns.find_map(|(at, column)| {
        let path = path_to_rate(schema, other_parent(schema, table, at)?.table, steps + 1)?;
        Some(format!("{}.{path}", quoted_name(&column.name)))
    })
}

/// Returns the first column of a table that holds numbers and whose name is like one of the patterns, tried in their order.
fn number_like(table: &Table, patterns: &str) -> Option<usize> {
    patterns.split(' ').find_map(|pattern| {
        table.columns.iter().position(|column| {
            let is_ordinary = column.generated == Generated::No;
            is_ordinary && ColumnTraits::new(column).is_number() && is_like(&bare(table, &column.name), pattern)
        })
    })
}

/// Returns a column of another table as an operand.
pub(super) fn named_column(table: &Table, column: usize) -> String {
    format!("{}.{}", quoted_name(&table.name), quoted_name(&table.columns[column].name))
}
