//! Reads the b-trees of the database from `sqlite_schema`. SQLite says what they mean.

use super::context::CheckContext;
use super::leaf::{Scanner, Task};
use super::overflow::{Chain, ChainReader, Visit};
use super::pages::RunReader;
use super::plan::{SchemaEntry, schema_tree};
use super::ptrmap::MapReader;
use super::report::BtreeKind;
use super::tree::{Totals, Tree};
use super::walk::walk;
use litepress_format::cell::CellPayload;
use litepress_format::page::PageReader;
use litepress_format::record::RecordReader;
use litepress_format::text;
use litepress_format::value::Value;
use litepress_rows::{Result, quote};

/// Checks the tree of `sqlite_schema`. Returns it, and the entries of all other trees.
pub(super) fn read(context: &CheckContext<'_>) -> Result<(Tree, Vec<SchemaEntry>)> {
    let tree = schema_tree(context);
    let mut entries = Vec::new();
    let mut tasks = (Scanner::new(context), RunReader::default());
    walk(&mut Scanner::new(context), &tree, &mut |task| {
        tasks.0.run(&task, &mut tasks.1)?;
        collect(context, &task, &mut tasks.1, &mut entries)?;
        Ok(true)
    })?;
    Ok((tree, entries))
}

/// Collects the entries on the leaves of a task. The leaves were checked before.
fn collect(
    context: &CheckContext<'_>,
    task: &Task<'_>,
    runs: &mut RunReader,
    entries: &mut Vec<SchemaEntry>,
) -> Result<()> {
    let mut chains = ChainReader::default();
    let mut assembled = Vec::new();
    runs.each(&context.file, &task.pages, |index, bytes| {
        let page = task.pages[index];
        let reader = PageReader::new(bytes, CheckContext::header_offset(page), context.file.usable);
        let Ok(reader) = reader else { return Ok(()) };
        for index in 0..reader.cell_count() {
            let (Ok(offset), Ok((cell, _))) = (reader.cell_offset(index), reader.cell(index)) else { continue };
            let Some(payload) = cell.payload() else { continue };
            let chain = Chain { context, tree: task.tree, page, offset, visit: Visit::Again };
            if let Some(record) = start(&mut chains, chain, payload, &mut assembled)? {
                entry(chain, record, entries);
            }
        }
        Ok(())
    })
}

/// Returns the start of a payload, with all columns before the SQL text.
fn start<'r>(
    chains: &mut ChainReader,
    chain: Chain<'_>,
    payload: CellPayload<'r>,
    assembled: &'r mut Vec<u8>,
) -> Result<Option<&'r [u8]>> {
    if payload.overflow.is_none() {
        return Ok(Some(payload.local));
    }
    let (mut map, mut totals) = (MapReader::default(), Totals::default());
    let record = chains.read(chain, payload, &mut map, &mut totals, assembled)?;
    Ok(record.map(|record| record.bytes))
}

/// Adds the entry of a row of `sqlite_schema`, if it has a b-tree.
fn entry(at: Chain<'_>, record: &[u8], entries: &mut Vec<SchemaEntry>) {
    let context = at.context;
    let Some([Value::Text(kind), Value::Text(name), Value::Text(table), root]) = first_columns(record) else {
        return context.add_fault(at.tree, at.page, Some(at.offset), "a row that does not describe anything");
    };
    let encoding = context.header.text_encoding;
    let decoded = |bytes| text::to_utf8(bytes, encoding);
    let kind = match decoded(kind).as_str() {
        "table" => BtreeKind::Table,
        "index" => BtreeKind::Index,
        "view" | "trigger" => return,
        other => {
            let what = format!("a row that describes a '{other}'");
            return context.add_fault(at.tree, at.page, Some(at.offset), what);
        }
    };
    match root {
        // A virtual table has no b-tree.
        Value::Null | Value::Int(0) if kind == BtreeKind::Table => {}
        Value::Int(root) if u32::try_from(root).is_ok_and(|root| context.file.has(root)) => {
            let root = u32::try_from(root).unwrap_or_default();
            let is_utf8 = text::is_valid(name, encoding);
            entries.push(SchemaEntry { kind, name: decoded(name), table: decoded(table), is_utf8, root });
        }
        root => {
            let (name, root) = (decoded(name), quote(&root));
            let what = format!("{kind} {name} has the root page {root}, which the file does not have");
            context.add_fault(at.tree, at.page, Some(at.offset), what);
        }
    }
}

/// Reads type, name, table and root page.
fn first_columns(record: &[u8]) -> Option<[Value<'_>; 4]> {
    let mut columns = RecordReader::new(record).ok()?;
    let mut next = || columns.next()?.ok();
    Some([next()?, next()?, next()?, next()?])
}
