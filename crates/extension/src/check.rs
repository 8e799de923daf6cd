//! `litepress_check`: the faults of a database, as a table.

use crate::interruption::watched;
use crate::open_files::refuse_open;
use crate::sqlite::{Arguments, Failure, HIDDEN, Host, Index, Output, Plan, TableCursor, TableModule};
use litepress::{CheckOptions, CheckResult, check, parse, units};
use litepress_format::value::Value;
use std::ffi::CStr;
use std::path::Path;

/// Number of arguments of a call.
const MOST_ARGUMENTS: usize = 8;
/// Position of the first argument.
const FIRST_ARGUMENT: usize = 3;

/// The table of faults.
pub struct CheckTable {
    host: Host,
}

/// A fault of the database that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    what: String,
    page: Option<u32>,
    object: Option<String>,
}

/// A cursor over faults.
pub struct CheckCursor {
    host: Host,
    findings: Vec<Finding>,
    at: usize,
    arguments: Vec<String>,
}

impl TableModule for CheckTable {
    type Cursor = CheckCursor;

    const NAME: &'static CStr = c"litepress_check";

    fn connect(host: Host, arguments: &Arguments) -> Result<(Self, String), Failure> {
        if !arguments.texts.is_empty() {
            return Err(Failure::new(
                "a created table has no arguments. Give them to a query: SELECT * FROM litepress_check('file.db')",
            ));
        }
        let hidden: Vec<String> = (1..=MOST_ARGUMENTS).map(|number| format!("argument{number} {HIDDEN}")).collect();
        Ok((Self { host }, format!("CREATE TABLE x(finding TEXT, page INTEGER, object TEXT, {})", hidden.join(", "))))
    }

    fn plan(&self, index: &mut Index<'_>) -> Result<bool, Failure> {
        match index.take_arguments(FIRST_ARGUMENT, MOST_ARGUMENTS) {
            None => return Ok(false),
            Some(0) => {}
            Some(_) => index.set_cost(1e9, 10),
        }
        Ok(true)
    }

    fn open(&self) -> Result<CheckCursor, Failure> {
        Ok(CheckCursor { host: self.host, findings: Vec::new(), at: 0, arguments: Vec::new() })
    }
}

impl TableCursor for CheckCursor {
    fn filter(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        (self.findings, self.at) = (Vec::new(), 0);
        let text =
            |value: &crate::sqlite::HostValue<'_>| value.text("an argument of litepress_check").map(str::to_owned);
        self.arguments = plan.values.iter().map(text).collect::<Result<_, _>>()?;
        let (database, texts) = self
            .arguments
            .split_first()
            .ok_or_else(|| Failure::new("no database is named. Write litepress_check('file.db')"))?;
        let options = options_of(texts)?;
        let path = Path::new(database);
        refuse_open(path)
            .map_err(|error| error.advise("ask SQLite: PRAGMA integrity_check, or check it from another program"))?;
        let progress = options.progress.clone();
        let result = watched(self.host, &progress, || check(path, &options))?;
        self.findings = findings_of(&result);
        Ok(())
    }

    fn next(&mut self) -> Result<(), Failure> {
        self.at += 1;
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.at >= self.findings.len()
    }

    fn column(&mut self, column: usize, output: &mut Output<'_>) -> Result<(), Failure> {
        let Some(finding) = self.findings.get(self.at) else { return Ok(()) };
        let text = |text: &'_ Option<String>| text.clone();
        let (page, other) = match column {
            0 => (None, Some(finding.what.clone())),
            1 => (finding.page, None),
            2 => (None, text(&finding.object)),
            _ => (None, self.arguments.get(column - FIRST_ARGUMENT).cloned()),
        };
        match (page, other) {
            (Some(page), _) => output.set(Value::Int(page.into())),
            (None, Some(text)) => output.set(Value::Text(text.as_bytes())),
            (None, None) => output.set(Value::Null),
        }
        Ok(())
    }

    fn rowid(&self) -> i64 {
        self.at as i64 + 1
    }
}

/// Reads the options of a check: those of `litepress check`.
fn options_of(texts: &[String]) -> Result<CheckOptions, Failure> {
    let mut options = CheckOptions::default();
    for text in texts {
        let wrong = |why: String| Failure::new(format!("option '{text}': {why}"));
        match text.split_once('=').unwrap_or((text, "true")) {
            ("full", "true") => options.full = true,
            ("full", "false") => options.full = false,
            ("threads", value) => options.threads = parse::threads(value).map_err(wrong)?,
            ("memory", value) => options.memory_bytes = parse::memory(value).map_err(wrong)?,
            ("max-faults", value) => {
                options.max_faults = usize::try_from(units::count(value).map_err(wrong)?).unwrap_or(usize::MAX);
            }
            _ => {
                return Err(Failure::new(format!(
                    "there is no option '{text}'. They are full, max-faults, threads, memory"
                )));
            }
        }
    }
    Ok(options)
}

/// Returns the faults in the order of their pages, then SQLite's complaints.
fn findings_of(result: &CheckResult) -> Vec<Finding> {
    let report = &result.report;
    let of_fault = |fault: &litepress::checker::Fault| Finding {
        what: fault.what.clone(),
        page: fault.page,
        object: fault.object.clone(),
    };
    let plain = |what: String| Finding { what, page: None, object: None };
    let mut findings: Vec<Finding> = report.faults.iter().map(of_fault).collect();
    let hidden = report.faults_total.saturating_sub(findings.len() as u64);
    if hidden > 0 {
        findings.push(plain(format!("{hidden} more faults. 'max-faults={}' shows all", report.faults_total)));
    }
    let complaints = result.sqlite.iter().flatten();
    findings.extend(complaints.map(|complaint| plain(format!("SQLite: {complaint}"))));
    findings
}
