//! The plan of a query over a virtual table.

use super::api::{self, Api, IndexInfo};
use super::host::sqlite_text;
use super::values::HostValue;
use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;

/// The declaration of a hidden column. SQLite takes `HIDDEN` alone for a type of numbers: it would compare `'07'` with `7` as equal.
pub const HIDDEN: &str = "BLOB HIDDEN";

/// The comparison of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// The constraints of a query, and the answer to them.
#[derive(Debug)]
pub struct Index<'a> {
    pub(super) api: &'static Api,
    pub(super) info: *mut IndexInfo,
    pub(super) arguments: c_int,
    pub(super) call: PhantomData<&'a mut IndexInfo>,
}

impl Index<'_> {
    fn info(&self) -> &IndexInfo {
        // SAFETY: SQLite's struct lives as long as its call.
        unsafe { &*self.info }
    }

    fn info_mut(&mut self) -> &mut IndexInfo {
        // SAFETY: as above, and no other reference to it exists.
        unsafe { &mut *self.info }
    }

    /// Returns the number of constraints.
    pub fn len(&self) -> usize {
        usize::try_from(self.info().constraint_count).unwrap_or(0)
    }

    fn constraint(&self, number: usize) -> api::Constraint {
        assert!(number < self.len(), "a constraint");
        // SAFETY: SQLite gives this number of constraints, and at least one.
        let constraints = unsafe { std::slice::from_raw_parts(self.info().constraints, self.len()) };
        constraints[number]
    }

    /// Returns the column of a constraint; `None` for the rowid and for what has no column.
    pub fn column(&self, number: usize) -> Option<usize> {
        usize::try_from(self.constraint(number).column).ok()
    }

    /// Returns the operator of a constraint; `None` for others than comparisons.
    pub fn operator(&self, number: usize) -> Option<Operator> {
        match self.constraint(number).operator {
            api::INDEX_EQ => Some(Operator::Equal),
            api::INDEX_LT => Some(Operator::Less),
            api::INDEX_LE => Some(Operator::LessOrEqual),
            api::INDEX_GT => Some(Operator::Greater),
            api::INDEX_GE => Some(Operator::GreaterOrEqual),
            _ => None,
        }
    }

    /// Returns whether the right side of a constraint is known before the table is read.
    pub fn is_usable(&self, number: usize) -> bool {
        self.constraint(number).is_usable != 0
    }

    /// Returns whether a constraint compares texts by their bytes.
    pub fn is_binary(&self, number: usize) -> bool {
        let number = c_int::try_from(number).unwrap_or(c_int::MAX);
        // SAFETY: the struct is that of this call, and the number that of one of its constraints.
        let name = unsafe { (self.api.vtab_collation)(self.info, number) };
        // SAFETY: SQLite returns NULL or a text that ends with a NUL.
        !name.is_null() && unsafe { CStr::from_ptr(name) }.to_bytes().eq_ignore_ascii_case(b"BINARY")
    }

    /// Returns whether the right side of a constraint is a literal.
    pub fn is_literal(&self, number: usize) -> bool {
        let number = c_int::try_from(number).unwrap_or(c_int::MAX);
        let mut value = std::ptr::null_mut();
        // SAFETY: the struct is that of this call, and the number that of one of its constraints.
        unsafe { (self.api.vtab_rhs_value)(self.info, number, &raw mut value) == api::OK }
    }

    /// Returns whether a constraint is an IN whose values can be had at once: those of row values, and those behind 31 other constraints,
    /// cannot.
    pub fn is_list(&self, number: usize) -> bool {
        let number = c_int::try_from(number).unwrap_or(c_int::MAX);
        // SAFETY: the struct is that of this call, and the number that of one of its constraints.
        unsafe { (self.api.vtab_in)(self.info, number, -1) != 0 }
    }

    /// Asks for all values of an IN as the next argument. SQLite checks it, too.
    pub fn take_list(&mut self, number: usize) {
        self.take(number, false);
        let number = c_int::try_from(number).unwrap_or(c_int::MAX);
        // SAFETY: the struct is that of this call, and the number that of one of its constraints.
        unsafe { (self.api.vtab_in)(self.info, number, 1) };
    }

    /// Asks for the right side of a constraint as the next argument. SQLite need not check it if `is_whole`.
    pub fn take(&mut self, number: usize, is_whole: bool) {
        assert!(number < self.len(), "a constraint");
        self.arguments += 1;
        let argument = self.arguments;
        let usages = self.info().usages;
        // SAFETY: SQLite gives one struct for each constraint, and at least one.
        let usage = &mut unsafe { std::slice::from_raw_parts_mut(usages, self.len()) }[number];
        usage.argument = argument;
        usage.omit = is_whole.into();
    }

    /// Asks for the arguments of a call: the hidden columns from `first` on. Returns their number; `None` if one of them comes from a
    /// table that is read later. Arguments behind a gap do not count.
    ///
    /// SQLite asks for a plan without them if a condition has OR: such a plan is no error, and keeps its cost, which is the highest.
    pub fn take_arguments(&mut self, first: usize, most: usize) -> Option<usize> {
        let mut given: Vec<(usize, usize)> = Vec::new();
        for number in 0..self.len() {
            let argument = self.column(number).and_then(|column| column.checked_sub(first)).filter(|at| *at < most);
            let (Some(argument), Some(Operator::Equal)) = (argument, self.operator(number)) else { continue };
            if !self.is_usable(number) {
                return None;
            }
            given.push((argument, number));
        }
        given.sort_unstable();
        given.dedup_by_key(|(argument, _)| *argument);
        let whole = given.iter().enumerate().take_while(|(at, (argument, _))| at == argument).count();
        given[..whole].iter().for_each(|(_, number)| self.take(*number, true));
        Some(whole)
    }

    /// Returns whether a query reads a column. From the 64th on all columns count as read if one is.
    pub fn is_used(&self, column: usize) -> bool {
        self.info().columns_used & (1 << column.min(63)) != 0
    }

    /// Sets the text that the cursor is told. It has no NUL.
    pub fn set_plan(&mut self, text: &str) {
        let text = CString::new(text).unwrap_or_default();
        let copy = sqlite_text(self.api, &text);
        let info = self.info_mut();
        info.text = copy;
        info.frees_text = 1;
    }

    /// Sets the expected cost and number of rows.
    pub fn set_cost(&mut self, cost: f64, rows: u64) {
        let info = self.info_mut();
        info.cost = cost;
        info.rows = i64::try_from(rows).unwrap_or(i64::MAX);
    }
}

/// The plan that a cursor is given.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The text that the plan was given.
    pub text: &'a str,
    /// The arguments.
    pub values: &'a [HostValue<'a>],
}
