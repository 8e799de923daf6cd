//! Roles of people: rights that others imply, the owner of a group, and the titles of those whom others report to.

use super::amounts::named_column;
use super::names::is_like;
use super::subjects::Kind;
use super::table_columns::called;
use super::times::Stage;
use super::{TableInference, is_called, is_person, is_to_itself, kind_of, plain};
use litepress_rows::schema::{Schema, Table};

/// Columns that refer to the person to whom another one reports.
const SUPERIORS: &str = "reports_to* *manager* *boss* *supervisor* *superior*";

/// Returns whether a column refers to the superior of a person in the same table: only the head of all has none.
pub(crate) fn is_superior(schema: &Schema, table: &Table, column: usize) -> bool {
    is_person(table) && is_called(table, column, SUPERIORS) && is_to_itself(schema, table, column)
}

impl TableInference<'_> {
    pub(super) fn roles(&mut self) {
        self.rights();
        self.owners();
        self.defaults_of_persons();
        self.superiors();
    }

    /// Flags that others imply: who may do everything may see the pages of the staff.
    fn rights(&mut self) {
        let is_free = |at: usize| self.is_number(at) && self.found[at].is_none();
        let all = self.find("is_superuser superuser is_super_admin", |at| self.is_number(at));
        let Some((all, staff)) = all.zip(self.find("is_staff staff is_admin admin", is_free)) else { return };
        let tables = &self.context.schema.tables;
        let log = self.context.counted.iter().find(|(child, _)| super::catalogues::is_admin_log(&tables[*child]));
        if let Some(&(child, by)) = log.filter(|_| is_free(all)) {
            let changes = named_column(&tables[child], by);
            self.set(staff, format!("if(count_of({changes}) > 0, 1, bool(0.003))"), "the staff changes things");
            let first = self.table.rowid_alias.map_or("FALSE".to_owned(), |key| format!("{} = 1", self.column(key)));
            let text = format!("if({}, {first} OR bool(0.2), 0)", self.column(staff));
            self.set(all, text, "follows from another right");
            return;
        }
        let text = format!("if({}, 1, {})", self.column(all), self.alone(staff).text);
        self.set(staff, text, "follows from another right");
    }

    /// Roles in a group: the first member is its owner, and the only one.
    fn owners(&mut self) {
        let Some(by) = self.context.per_parent else { return };
        let Some(role) = self.find_repeatable_text("role *_role member_role") else {
            return;
        };
        if ["'owner'", "'admin'", "'member'"].iter().all(|word| self.knows(role, word)) {
            let text = format!("if(number_in({}) = 1, 'owner', choice('member': 88, 'admin': 12))", self.column(by));
            self.set(role, text, "the first member is the owner");
            self.founding(by);
        }
    }

    /// Times at which members joined: the owner joined with the group.
    fn founding(&mut self, by: usize) {
        let start = self.context.parents[by].and_then(|parent| self.start_of(parent));
        let Some((start, of)) = start.map(|(time, of)| (self.through(by, time), of)) else { return };
        for at in 0..self.columns.len() {
            let Some((Stage::Created, form)) = self.time_at(at) else { continue };
            let start = form.converted(&start, of);
            if let Some((start, found)) = start.zip(self.found[at].clone()) {
                let text = format!("if(number_in({}) = 1, {start}, {})", self.column(by), called(&found.text));
                self.set(at, text, &found.because);
            }
        }
    }

    /// Flags of the address that a person uses: the first one.
    fn defaults_of_persons(&mut self) {
        const FLAGS: &str = "is_default is_primary is_main default_address primary_address";
        let flag = self.find_repeatable_number(FLAGS);
        let by = self.context.per_parent.filter(|&by| {
            let parent = self.context.parents[by].map(|parent| &self.context.schema.tables[parent.table]);
            parent.is_some_and(is_person)
        });
        if let Some((flag, by)) = flag.zip(by) {
            let text = format!("if(number_in({}) = 1, 1, 0)", self.column(by));
            self.set(flag, text, "the first one of the person");
        }
    }

    /// Titles of employees: the head, managers to whom others report, and those who sell or help customers.
    fn superiors(&mut self) {
        const SELLERS: &str = "*employee* *staff* *sales* *seller* *agent* *rep";
        let tables = &self.context.schema.tables;
        let is_own = |&child: &usize| child == self.context.table;
        let count = |is: &dyn Fn(usize, &str) -> bool| {
            let mut counted = self.context.counted.iter().copied();
            let of = counted.find(|&(child, column)| is(child, &plain(&tables[child].columns[column].name)));
            of.map(|(child, column)| format!("count_of({}) > 0", named_column(&tables[child], column)))
        };
        let reports = count(&|child, name| is_own(&child) && is_like(name, SUPERIORS));
        let boss = (0..self.columns.len()).find(|&at| is_superior(self.context.schema, self.table, at));
        let title = self.find_repeatable_text("title job_title position");
        let Some(((reports, boss), title)) = reports.zip(boss).zip(title) else { return };
        let helps = count(&|child, name| !is_own(&child) && is_like(name, "*support*"));
        let sells = count(&|child, name| kind_of(&tables[child]) == Some(Kind::Order) && is_like(name, SELLERS));
        let mut text = format!("CASE WHEN {} IS NULL THEN 'Managing Director'", self.column(boss));
        for (condition, manager, staff) in [
            (helps, "'Customer Support Manager'", "choice('Sales Support Agent': 2, 'Customer Support Agent': 3)"),
            (
                sells,
                "choice('Sales Manager': 3, 'Regional Manager')",
                "choice('Sales Representative': 4, 'Sales Assistant')",
            ),
        ] {
            if let Some(condition) = condition {
                text += &format!(" WHEN {condition} THEN if({reports}, {manager}, {staff})");
            }
        }
        // Sellers report to somebody who sells.
        let manager = match text.contains("Sales") {
            true => "choice('Sales Manager': 3, 'Regional Manager': 2, 'Area Manager')",
            false => "phrase('{manager_job}')",
        };
        text += &format!(" WHEN {reports} THEN {manager} ELSE phrase('{{staff_job}}') END");
        self.set(title, text, "follows from who reports to the row");
    }
}
