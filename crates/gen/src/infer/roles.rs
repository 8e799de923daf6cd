//! Roles of people: rights that others imply, the owner of a group, and the titles of those whom others report to.

use super::amounts::named_column;
use super::names::is_like;
use super::subjects::Kind;
use super::table_columns::called;
use super::times::Stage;
use super::{TableInference, is_person, plain};

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

    /// Titles of employees: those whom others report to are managers.
    fn superiors(&mut self) {
        const BOSSES: &str = "reports_to* *manager* *boss* *supervisor* *superior*";
        let of = self.context.counted.iter().copied().find(|&(child, column)| {
            child == self.context.table && is_like(&plain(&self.table.columns[column].name), BOSSES)
        });
        let title = self.find_repeatable_text("title job_title position");
        let Some(((_, column), title)) = of.zip(title).filter(|_| self.kind() == Some(Kind::Person)) else { return };
        let count = format!("count_of({})", named_column(self.table, column));
        let text = format!("if({count} > 0, phrase('{{manager_job}}'), phrase('{{staff_job}}'))");
        self.set(title, text, "follows from who reports to the row");
    }
}
