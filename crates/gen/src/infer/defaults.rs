//! Flags, NULL and DEFAULTs: how often each comes, by the name of the column.

use super::names::is_like;
use super::references::{is_referred, refers};
use super::roles::is_superior;
use super::rules;
use super::subjects::Kind;
use super::table_columns::called;
use super::times::Stage;
use super::{Inference, TableInference, inferred, is_called, names};
use crate::generators::phrases;
use litepress_rows::schema::{Schema, Table};

impl TableInference<'_> {
    pub(super) fn is_flag(&self, at: usize, full: &str) -> bool {
        let is_default = self.default(at).is_some_and(|default| default == "0" || default == "1");
        let is_small =
            matches!(self.columns[at].traits.declared.to_ascii_uppercase().split('(').next(), Some("TINYINT"));
        rules::is_flag(full)
            || is_default
                && (is_small
                    || rules::flag_share(full).is_some()
                        && !is_like(full, "*count* *_id *number* *total* *_at *time* *date* units_* *quantity*"))
    }

    pub(super) fn flag_share(&self, at: usize, full: &str) -> f64 {
        let usual = match self.default(at).as_deref().map(str::to_ascii_uppercase).as_deref() {
            Some("1" | "'1'" | "TRUE") => 0.9,
            Some("0" | "'0'" | "FALSE") => 0.1,
            _ => 0.5,
        };
        rules::flag_share(full).unwrap_or(usual)
    }

    /// Infers flags that are letters: CHAR(1) DEFAULT 'Y'.
    pub(super) fn coded_flag(&self, at: usize) -> Option<Inference> {
        let default = self.default(at)?;
        if default == "'0'" || default == "'1'" {
            let share = self.flag_share(at, &self.columns[at].full);
            let share = if default == "'1'" && share == 0.5 { 0.9 } else { share };
            return Some(inferred(format!("choice('1': {share}, '0': {})", 1.0 - share), "a flag with a DEFAULT"));
        }
        let pairs = [
            ("'Y'", "'N'"),
            ("'N'", "'Y'"),
            ("'y'", "'n'"),
            ("'n'", "'y'"),
            ("'T'", "'F'"),
            ("'t'", "'f'"),
            ("'f'", "'t'"),
            ("'yes'", "'no'"),
            ("'no'", "'yes'"),
            ("'open'", "'closed'"),
            ("'on'", "'off'"),
            ("'off'", "'on'"),
        ];
        let (default, other) = pairs.iter().find(|(one, _)| *one == default)?;
        Some(inferred(format!("choice({default}: 92, {other}: 8)"), "a flag with a DEFAULT"))
    }

    /// Returns the DEFAULT, if it is a literal.
    pub(super) fn default(&self, at: usize) -> Option<String> {
        let text = self.table.columns[at].default.as_deref()?.trim();
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text).trim();
        let is_number = inner.parse::<f64>().is_ok_and(f64::is_finite);
        let is_text = inner.len() > 1
            && inner.starts_with('\'')
            && inner.ends_with('\'')
            && !inner[1..inner.len() - 1].contains('\'');
        match inner {
            _ if is_number || is_text => Some(inner.to_owned()),
            _ if inner.len() > 1
                && inner.starts_with('"')
                && inner.ends_with('"')
                && !inner[1..inner.len() - 1].contains(['"', '\'']) =>
            {
                Some(format!("'{}'", &inner[1..inner.len() - 1]))
            }
            _ if ["TRUE", "FALSE"].contains(&inner.to_ascii_uppercase().as_str()) => Some(inner.to_ascii_uppercase()),
            _ => None,
        }
    }

    /// Makes most values 0 in a column of which a partial index leaves out 0.
    pub(super) fn rare_values(&mut self) {
        const SHARE: f64 = 0.95;
        let partial: Vec<&str> =
            self.table.indexes.iter().filter(|index| index.partial).map(|index| index.name.as_str()).collect();
        let objects = self.context.schema.objects.iter().filter(|object| partial.contains(&object.name.as_str()));
        let conditions: Vec<String> = objects
            .filter_map(|object| {
                Some(object.sql.as_deref()?.to_ascii_lowercase().rsplit_once(" where ")?.1.trim().to_owned())
            })
            .collect();
        for at in 0..self.columns.len() {
            let name = self.table.columns[at].name.to_ascii_lowercase();
            let is_rare = ["!= 0", "<> 0"].iter().any(|end| conditions.contains(&format!("{name} {end}")));
            if let Some(found) = self.found[at].as_mut().filter(|_| is_rare) {
                found.text = format!("if(bool({SHARE}), 0, {})", called(&found.text));
                found.because = "a partial index leaves out 0".to_owned();
            }
        }
    }

    pub(super) fn share_of_null(&self, at: usize) -> f64 {
        let column = &self.columns[at];
        if self.table.rowid_alias == Some(at) {
            return 0.0;
        }
        if self.is_number(at) && rules::is_flag(&column.full) {
            return 0.0;
        }
        // Times and names of persons are unknown only if their name says so.
        // A company is an extra only beside the name of a person.
        if is_like(&column.plain, "*company* organization organisation")
            && self.find("first_name last_name firstname lastname", |_| true).is_none()
        {
            return 0.0;
        }
        // People confirm their address before they sign in.
        if self.is_like(at, "confirmed_at") && self.find("current_sign_in_at", |_| true).is_some() {
            return 0.0;
        }
        // A place that somebody sends is on the map.
        if self.is_like(at, "latitude longitude") && super::has_last_word(self.table, "location") {
            return 0.0;
        }
        // People tell why they come to a hospital.
        if self.is_text(at) && column.plain == "reason" && self.is_of_patient() {
            return 0.05;
        }
        // Most shops, firms and people are still there.
        let is_end = matches!(self.time_at(at), Some((Stage::Ended, _)));
        if is_end && matches!(self.kind(), Some(Kind::Place | Kind::Company | Kind::Person | Kind::Product)) {
            return if null_share(self.context.schema, self.table, at) > 0.0 { 0.9 } else { 0.0 };
        }
        let is_core = self.is_time(at)
            || self.is_number(at) && is_like(&column.plain, "*_type")
            || is_like(
                &column.plain,
                "*name* *email* *title* status state type uuid guid *price* *amount* *total* city country",
            );
        // Every order has its number.
        let is_number = self.kind() == Some(Kind::Order) && is_like(&column.plain, "number *_number *_no");
        if (is_core || is_number) && rules::null_share(&column.plain).is_none() {
            0.0
        } else {
            null_share(self.context.schema, self.table, at)
        }
    }

    /// Returns the columns that are never NULL because a column that is NOT NULL is computed from them.
    pub(super) fn required(&self) -> Vec<bool> {
        let mut required: Vec<bool> = self.columns.iter().map(|column| column.not_null).collect();
        let names: Vec<String> = (0..self.columns.len()).map(|at| self.column(at)).collect();
        let mut waiting: Vec<usize> = (0..required.len()).filter(|&at| required[at]).collect();
        while let Some(at) = waiting.pop() {
            // Other columns are read by their quoted names.
            let Some(found) = self.found[at].as_ref().filter(|found| found.text.contains('"')) else { continue };
            for (other, name) in names.iter().enumerate() {
                // The first of two is replaced if it is NULL.
                let text = found.text.replace(&format!("coalesce({name}, "), "");
                if !required[other] && text.contains(name) {
                    required[other] = true;
                    waiting.push(other);
                }
            }
        }
        required
    }

    /// Returns the latitude beside a longitude.
    fn latitude_of(&self, at: usize) -> Option<String> {
        let name = &self.columns[at].plain;
        let pairs = [("longitude", "latitude"), ("lon", "lat"), ("lng", "lat")];
        let (east, north) =
            pairs.into_iter().find(|(east, _)| name.ends_with(east) || name.starts_with("longitude"))?;
        let latitude = name.replacen(east, north, 1);
        self.columns
            .iter()
            .position(|column| column.plain == latitude && column.plain != *name)
            .map(|at| self.column(at))
    }

    /// Adds the NULLs of nullable columns and the values of DEFAULTs.
    pub(super) fn add_defaults_and_nulls(&mut self, at: usize, required: bool) {
        let Some(found) = self.found[at].take() else { return };
        let has_state = found.because.ends_with(", and the state");
        let share = if required || has_state || found.because.starts_with("follows from") {
            0.0
        } else {
            self.share_of_null(at)
        };
        let text = &found.text;
        let changed = if share > 0.0 {
            Some(match self.latitude_of(at) {
                Some(latitude) => format!("if({latitude} IS NULL, NULL, {text})"),
                None => format!("null({share}, {text})"),
            })
        } else if self.columns[at].is_unique
            || text.starts_with("bool(")
            || text == "sequence"
            || found.because == "a flag with a DEFAULT"
        {
            None
        } else {
            self.default_share(at, text).map(|(share, default)| {
                if share == 1.0 {
                    return format!("constant({default})");
                }
                format!("if(bool({share}), {default}, {})", called(&as_written(text, &default)))
            })
        };
        self.found[at] = Some(match changed {
            Some(text) => Inference { text, because: found.because },
            None => found,
        });
    }

    /// Returns how often the DEFAULT comes, and the DEFAULT.
    pub(super) fn default_share(&self, at: usize, text: &str) -> Option<(f64, String)> {
        const NEVER: &str = "*price* *amount* *total* *cost* *name* *email* *mail title *_title *pass* *login* *content text body salary subtotal sku *_path path url uri quantity *hash* frecency size *_size file_format visit_count";
        let default = self.default(at)?;
        let name = &self.columns[at].plain;
        if self.is_time(at) || text.contains('"') || ["TRUE", "FALSE"].contains(&default.as_str()) {
            return None;
        }
        let is_number = self.is_number(at);
        let is_named = rules::rule(name, &self.columns[at].traits, self.kind()).is_some()
            || text.contains("phrase('{") && !text.contains("phrase('{words}");
        let is_choice = is_plain_choice(text);
        if is_choice && (is_number || text.contains(default.as_str())) {
            return None;
        }
        Some(match default.as_str() {
            // Few people have a page of their own.
            "''" if self.kind() == Some(Kind::Person) && is_like(name, "url *_url website") => (0.7, default),
            "''" if is_named => (rules::null_share(name).filter(|&share| share > 0.0)?, default),
            "''" if is_like(name, NEVER) => return None,
            "''" => (0.5, default),
            "0" | "0.0" | "0.00" if is_like(name, NEVER) => return None,
            "0" | "0.0" | "0.00" if is_named => (0.3, default),
            "0" | "0.0" | "0.00" => (0.6, default),
            _ if is_number && is_like(name, NEVER) => return None,
            _ if is_number => (0.5, default),
            // 'Unknown' is the name of few.
            _ if is_like(name, NEVER) => (0.02, default),
            _ if is_named => (0.8, default),
            // Nothing is known of other values.
            _ => (1.0, default),
        })
    }
}

/// Returns the annotation of names in lower case if the DEFAULT is one of them in lower case: 'free' and 'Free' are one plan.
fn as_written(text: &str, default: &str) -> String {
    let list = text.strip_prefix("phrase('{").and_then(|rest| rest.strip_suffix("}')"));
    let default = default.trim_matches('\'');
    let is_same = |item: &&str| item.eq_ignore_ascii_case(default) && *item != default;
    let is_listed = list.is_some_and(|list| phrases::items(list).iter().any(is_same));
    if is_listed && default == default.to_ascii_lowercase() { format!("lower({text})") } else { text.to_owned() }
}

/// Returns whether the annotation is a choice, which may have the DEFAULT in its own share.
fn is_plain_choice(text: &str) -> bool {
    text.starts_with("choice(")
}

/// Returns whether the rows of a table are of visitors.
fn has_visitor(table: &Table) -> bool {
    table.columns.iter().any(|column| names::plain(&column.name).contains("visitor"))
}

/// Returns the share of rows that are NULL in a nullable column, by its name; of other columns 0.
pub(crate) fn null_share(schema: &Schema, table: &Table, position: usize) -> f64 {
    /// Of a nullable column whose name says nothing, where others are NOT NULL.
    const USUAL: f64 = 0.04;
    let column = &table.columns[position];
    let default = column.default.as_deref().filter(|default| !default.eq_ignore_ascii_case("NULL"));
    if column.not_null || column.key_position.is_some() || default.is_some() || is_referred(schema, table, column) {
        return 0.0;
    }
    // A row without a key of its own belongs to something: the actors to a film.
    let has_key = table.rowid_alias.is_some() || table.columns.iter().any(|column| column.key_position.is_some());
    if is_superior(schema, table, position) || position == 0 && !has_key && refers(schema, table, position) {
        return 0.0;
    }
    // Somebody did what a log of users says.
    if is_called(table, position, "user user_id repo_id")
        && super::has_last_word(table, "activity action")
        && !has_visitor(table)
    {
        return 0.0;
    }
    // Most visitors have not signed in.
    if is_called(table, position, "user_id") && has_visitor(table) {
        return 0.85;
    }
    let is_deliberate = table.columns.iter().any(|other| other.not_null && other.key_position.is_none());
    rules::null_share(&names::plain(&column.name)).unwrap_or(if is_deliberate { USUAL } else { 0.0 })
}
