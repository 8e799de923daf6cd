//! Subjects of tables: what the rows of a table named `shop_category` or `Artist` are.

use super::names::words_of_table;

/// The kind of a table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// The list in `data/phrases.txt` with names of such rows.
    pub names: &'static str,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Person,
    Company,
    /// A thing that is sold.
    Product,
    /// A line of an order, with a quantity.
    Line,
    Order,
    Payment,
    Place,
    /// A text that people write.
    Text,
    Task,
    Run,
    /// Something that takes place at a time: an appointment.
    Event,
    /// Something that lasts days: the rental of a thing, the stay in a house.
    Stay,
    Log,
    Other,
}

const fn of(words: &'static str, names: &'static str, kind: Kind) -> (&'static str, Subject) {
    (words, Subject { names, kind })
}

/// Words of tables' names, in the singular, and their subject. Pairs of words come first.
static SUBJECTS: &[(&str, Subject)] = &[
    of("media_type mediatype file_type", "media_type", Kind::Other),
    of("mime_type mimetype", "mime_type", Kind::Other),
    of("event_type", "event_kind", Kind::Other),
    of("search_term search_query", "search_term", Kind::Other),
    of("history_visit historyvisit", "event", Kind::Log),
    of(
        "order_item orderitem order_line order_detail orderdetail orderline line_item lineitem order_product orderproduct invoice_line invoiceline invoice_item invoiceitem cart_item cartitem basket_item sale_item purchase_item",
        "product",
        Kind::Line,
    ),
    of("product_variant product_item stock_item inventory_item catalog_item menu_item", "product", Kind::Product),
    of("line_status order_status", "status_word", Kind::Other),
    of("content_type", "model", Kind::Other),
    of("data_value", "title", Kind::Other),
    of("query_log access_log audit_log event_log admin_log", "log_message", Kind::Log),
    of("page_view pageview", "event", Kind::Log),
    of("log_action", "article_title", Kind::Other),
    of("pull_request merge_request", "issue", Kind::Task),
    of("device_type", "device_kind", Kind::Other),
    of("product_category", "category", Kind::Other),
    of("film_category", "film_genre", Kind::Other),
    of("blog_post", "article_title", Kind::Text),
    of("card_type payment_method", "label", Kind::Other),
    of(
        "user customer employee author member contact person actor student teacher patient staff driver player guest client owner participant recipient subscriber director manager doctor agent reviewer account profile passenger attendee candidate volunteer citizen lead friend speaker instructor borrower reader tenant nurse physician worker buyer seller admin writer presenter tutor creator",
        "person",
        Kind::Person,
    ),
    of(
        "company supplier vendor manufacturer organization organisation publisher partner firm employer corporation business provider retailer merchant sponsor bank insurer",
        "company",
        Kind::Company,
    ),
    of("brand", "brand", Kind::Company),
    of("carrier courier shipper", "carrier", Kind::Company),
    of("product item article good variant merchandise part sku", "product", Kind::Product),
    of("category section collection", "category", Kind::Other),
    of("department", "department", Kind::Other),
    of("genre", "genre", Kind::Other),
    of("playlist", "playlist", Kind::Other),
    of("album release record", "album", Kind::Other),
    of("track song recording", "song", Kind::Other),
    of("artist band musician performer", "band", Kind::Other),
    of("film movie show", "title", Kind::Other),
    of("book edition work novel publication volume", "title", Kind::Other),
    of("series serie", "series", Kind::Other),
    of("episode chapter", "title", Kind::Other),
    of("language lang", "language_name", Kind::Other),
    of("country nation", "country_name", Kind::Place),
    of("city town state province district municipality territory", "city_name", Kind::Place),
    of("store shop outlet warehouse location branch venue office depot facility", "store", Kind::Place),
    of("region", "region", Kind::Place),
    of("room space zone area", "room", Kind::Other),
    of("group", "group", Kind::Other),
    of("role", "role", Kind::Other),
    of("permission privilege capability", "permission", Kind::Other),
    of("team squad club", "team", Kind::Other),
    of("tag topic keyword hashtag term interest", "topic", Kind::Other),
    of("label", "label", Kind::Other),
    of("project milestone epic sprint campaign", "project", Kind::Other),
    of("repository repo", "repository", Kind::Other),
    of("package library dependency module plugin extension app application", "package", Kind::Other),
    of("task todo activity ticket_task", "task", Kind::Task),
    of("issue ticket bug request incident case", "issue", Kind::Task),
    of("commit changeset revision", "commit", Kind::Text),
    of("stage step", "ci_stage", Kind::Run),
    of("pipeline workflow", "workflow", Kind::Run),
    of("build run job execution deployment check test", "ci_job", Kind::Run),
    of("channel", "channel", Kind::Other),
    of("conversation thread chat", "event", Kind::Text),
    of("event meeting appointment session conference visit", "event", Kind::Event),
    of("stay", "event", Kind::Stay),
    of("course lesson lecture seminar class", "course", Kind::Other),
    of("subject", "subject", Kind::Other),
    of("plan tier subscription", "plan", Kind::Other),
    of("promotion discount coupon voucher", "promotion", Kind::Other),
    of("sensor", "sensor", Kind::Other),
    of("device machine asset equipment", "device", Kind::Other),
    of("host server node instance", "host", Kind::Other),
    of("vehicle car truck", "vehicle", Kind::Other),
    of("pet animal dog cat horse", "animal", Kind::Other),
    of("airport", "airport", Kind::Place),
    of("file document attachment upload asset_file blob", "file", Kind::Other),
    of("photo image picture thumbnail", "image_file", Kind::Other),
    of("post article page story blog", "article_title", Kind::Text),
    of("comment reply", "comment", Kind::Text),
    of("review rating feedback", "review_title", Kind::Text),
    of("message mail email sms", "message", Kind::Text),
    of("note memo", "note", Kind::Text),
    of("question poll survey", "question", Kind::Text),
    of("order purchase sale invoice receipt cart basket shipment", "product", Kind::Order),
    of("booking reservation rental loan", "event", Kind::Stay),
    of("payment transaction transfer charge refund", "promotion", Kind::Payment),
    of("setting option config preference parameter property variable metadata meta", "setting_key", Kind::Other),
    of("log audit history event_log", "log_message", Kind::Log),
    of("migration migration_log schema_migration", "migration", Kind::Log),
    of("dashboard panel", "dashboard", Kind::Other),
    of("annotation", "annotation", Kind::Other),
    of("metric statistic measurement reading observation", "metric", Kind::Log),
    of("category_type type kind", "label", Kind::Other),
];

/// Returns the subject of a table's name: that of its last words, else of any of its words.
pub(super) fn subject(table: &str) -> Option<Subject> {
    let words = words_of_table(table);
    let find = |name: &str| {
        SUBJECTS.iter().find(|(names, _)| names.split(' ').any(|of| of == name)).map(|(_, subject)| *subject)
    };
    let pairs = words.windows(2).rev().map(|pair| pair.join("_"));
    let found = pairs.chain(words.iter().rev().cloned()).find_map(|name| find(&name))?;
    // `log_visit` is a log, whatever it is about; a `log_action` is what a log refers to.
    let is_log = words.first().is_some_and(|word| word == "log") && find(&words.join("_")).is_none();
    let kind = if is_log { Kind::Log } else { found.kind };
    Some(Subject { kind, ..found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::phrases;

    #[test]
    fn subjects_have_a_list_of_names() {
        for (_, subject) in SUBJECTS {
            assert!(phrases::names().any(|name| name == subject.names), "{}", subject.names);
        }
    }

    /// A category was called "Bela Duarte".
    #[test]
    fn tables_have_the_subject_of_their_last_words() {
        for (table, names) in [
            ("shop_category", "category"),
            ("auth_user", "person"),
            ("MediaType", "media_type"),
            ("Order Details", "product"),
            ("wp_users", "person"),
            ("ci_builds", "ci_job"),
            ("Genre", "genre"),
            ("countries", "country_name"),
        ] {
            assert_eq!(subject(table).map(|subject| subject.names), Some(names), "{table}");
        }
        assert_eq!(subject("xyzzy"), None);
    }
}
