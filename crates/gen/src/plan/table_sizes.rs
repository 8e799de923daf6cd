//! The number of rows and the seed of each table.

use super::column_annotations::ColumnAnnotation;
use super::{Request, constraints, table_position, usage};
use crate::annotation::{TableSettings, parse_settings};
use crate::infer::{self, Reference};
use crate::schema_annotations::{self, Annotation};
use crate::tables::generated_tables;
use litepress_rows::schema::Schema;
use litepress_rows::{Error, ErrorKind, Message, OptionName, Result, message};
use litepress_tpch::TpchTable;

/// Rows and seed of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TableSize {
    pub rows: u64,
    pub seed: u64,
    /// Whether the scale leaves the number of rows alone.
    pub fixed: bool,
    /// The table of TPC-H, and the scale, if the rows come from there.
    pub tpch: Option<(TpchTable, f64)>,
    /// Whether the number of rows is known.
    pub is_known: bool,
    /// Whether the number of rows was scaled, or is a default for all tables. It is then limited to the number of
    /// children that the parents have.
    pub is_scaled: bool,
    /// Whether the number of rows follows from those of the parents.
    pub is_derived: bool,
    /// The column that allows no more rows than that, and why; `{}` stands for the number.
    pub limited_by: Option<(usize, &'static str)>,
}

/// Returns the sizes of all tables of the schema, by position.
pub(super) fn sizes(schema: &Schema, request: &Request, annotations: &[Annotation]) -> Result<Vec<TableSize>> {
    let settings = settings(schema, annotations)?;
    let requested = requested(schema, request)?;
    let scale = request.scale.or(request.recipe.as_ref().and_then(|recipe| recipe.scale));
    let size = |table: usize| {
        let settings = &settings[table];
        let planned = request.recipe.as_ref().and_then(|recipe| recipe.table(&schema.tables[table].name));
        let seeds = [
            request.seed,
            planned.and_then(|table| table.seed),
            request.recipe.as_ref().and_then(|recipe| recipe.seed),
            settings.seed.map(|(seed, _)| seed),
        ];
        let fixed = planned.is_some_and(|table| table.fixed) || settings.fixed.is_some_and(|(fixed, _)| fixed != 0);
        let given = || planned.and_then(|table| table.rows).or(settings.rows.map(|(rows, _)| rows));
        let factor = if fixed { None } else { scale };
        let tpch = settings.tpch.map(|(tpch, _)| (tpch, scale.unwrap_or(1.0)));
        let rows = match tpch {
            Some((tpch, scale)) => Some(tpch.rows(scale)),
            None => requested[table].or_else(|| Some(scaled(given()?, factor))),
        };
        check(schema, table, rows.unwrap_or(0))?;
        let seed = seeds.into_iter().flatten().next().unwrap_or(0);
        let (is_known, is_scaled) = (rows.is_some(), factor.is_some() && requested[table].is_none());
        let rows = rows.unwrap_or(0);
        Ok(TableSize { rows, seed, fixed, tpch, is_known, is_scaled, is_derived: false, limited_by: None })
    };
    check_tpch(schema, &settings, &requested, scale, annotations)?;
    (0..schema.tables.len()).map(size).collect()
}

/// Checks that TPC-H tables have the columns of the benchmark, and that no other number of rows is requested.
fn check_tpch(
    schema: &Schema,
    settings: &[TableSettings],
    requested: &[Option<u64>],
    scale: Option<f64>,
    annotations: &[Annotation],
) -> Result<()> {
    for (table, settings) in settings.iter().enumerate() {
        let Some((tpch, at)) = settings.tpch else { continue };
        let place = annotations.iter().find(|annotation| annotation.span.contains(&at));
        let source = schema_annotations::place(schema, place.expect("the setting comes from an annotation"));
        tpch.check(&schema.tables[table], scale.unwrap_or(1.0)).map_err(|message| source.error(at, message))?;
        if requested[table].is_some() {
            let message = "the scale decides the number of rows of a TPC-H table";
            return Err(usage(message)
                .in_table(&schema.tables[table].name)
                .advise(message!["use ", OptionName::Scale.alone()]));
        }
    }
    Ok(())
}

/// Multiplies a number of rows by the scale; a number above 0 stays above 0.
fn scaled(rows: u64, scale: Option<f64>) -> u64 {
    let Some(scale) = scale.filter(|_| rows > 0) else { return rows };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and the result is checked later"
    )]
    let scaled = (rows as f64 * scale).round() as u64;
    scaled.max(1)
}

/// Rejects tables without a number of rows.
pub(super) fn reject_unset(schema: &Schema, sizes: &[TableSize]) -> Result<()> {
    let unset: Vec<&str> = generated_tables(schema)
        .filter(|(table, _)| !sizes[*table].is_known)
        .map(|(_, table)| table.name.as_str())
        .collect();
    if unset.is_empty() {
        return generated_tables(schema).try_for_each(|(table, _)| check(schema, table, sizes[table].rows));
    }
    Err(no_rows(schema, &unset))
}

/// Parses the settings of all tables.
fn settings(schema: &Schema, annotations: &[Annotation]) -> Result<Vec<TableSettings>> {
    let mut settings = vec![TableSettings::default(); schema.tables.len()];
    for annotation in annotations.iter().filter(|annotation| annotation.column.is_none()) {
        let source = schema_annotations::place(schema, annotation);
        parse_settings(&source, annotation.span.clone(), &mut settings[annotation.table])?;
    }
    Ok(settings)
}

/// Returns the numbers of rows in the request, by table.
fn requested(schema: &Schema, request: &Request) -> Result<Vec<Option<u64>>> {
    let mut requested = vec![None; schema.tables.len()];
    for (name, rows) in &request.rows {
        let table = match name {
            Some(name) => table_position(schema, name)?,
            None => match only_table(schema)? {
                Some(table) => table,
                None => continue,
            },
        };
        if requested[table].replace(*rows).is_some() {
            return Err(usage("the number of rows is given twice").in_table(&schema.tables[table].name));
        }
    }
    Ok(requested)
}

/// Returns the table that a number of rows without a name is for, or `None` if there are several ([`fill_unset`]).
fn only_table(schema: &Schema) -> Result<Option<usize>> {
    let mut tables = generated_tables(schema).map(|(position, _)| position);
    match (tables.next(), tables.next()) {
        (Some(only), None) => Ok(Some(only)),
        (Some(_), Some(_)) => Ok(None),
        (None, _) => Err(usage("the schema has no table for generated rows")),
    }
}

/// Gives all tables without a number of rows the request's number without a name, or fewer rows if there are not as many different
/// ones.
pub(super) fn fill_unset(
    schema: &Schema,
    request: &Request,
    column_annotations: &[ColumnAnnotation<'_>],
    sizes: &mut [TableSize],
) -> Result<()> {
    let mut unnamed = request.rows.iter().filter(|(name, _)| name.is_none()).map(|(_, rows)| *rows);
    let (Some(rows), None) = (unnamed.next(), only_table(schema)?) else { return Ok(()) };
    if unnamed.next().is_some() {
        return Err(usage("the number of rows is given twice")
            .advise(message!["say which table each is for: ", OptionName::Rows.count(Some("TABLE"), "N")]));
    }
    let unset: Vec<usize> =
        generated_tables(schema).map(|(table, _)| table).filter(|table| !sizes[*table].is_known).collect();
    if unset.is_empty() {
        return scale_to(schema, request, sizes, rows);
    }
    for &table in &unset {
        check(schema, table, rows)?;
        sizes[table] = TableSize { rows, is_known: true, is_scaled: true, ..sizes[table] };
        let checked = constraints::most_rows(schema, table)
            .map(|(column, most)| (column, most, "a CHECK allows {} rows of different values"));
        let may_be_listed = !has_annotations(schema, column_annotations, table);
        let listed = infer::closed_names(schema, table).filter(|_| may_be_listed);
        let listed = listed.map(|(column, most)| (column, most, "the list allows {} rows of different values"));
        let only = may_be_listed.then(|| infer::only_row(schema, table)).flatten();
        let only = only.map(|column| (column, 1, "a program has {} such row"));
        checked.into_iter().chain(listed).chain(only).for_each(|limit| sizes[table].limit(limit));
    }
    limit_wholes(schema, &unset, sizes);
    limit_rare(schema, &unset, sizes);
    limit_keys(schema, &unset, sizes);
    limit_versions(schema, &unset, sizes);
    for &table in &unset {
        if let Some(most) = infer::most_sites(&schema.tables[table], rows) {
            sizes[table].limit((0, most, "{} sites have visits enough"));
        }
    }
    limit_ancestors(schema, &unset, sizes);
    Ok(())
}

impl TableSize {
    /// Allows no more rows than the column of the limit.
    fn limit(&mut self, (column, most, why): (usize, u64, &'static str)) {
        if most < self.rows {
            *self = Self { rows: most, limited_by: Some((column, why)), ..*self };
        }
    }
}

/// Returns whether a column of the table, or one that refers to it, has an annotation, which may need all rows.
fn has_annotations(schema: &Schema, column_annotations: &[ColumnAnnotation<'_>], table: usize) -> bool {
    column_annotations.iter().any(|annotation| {
        let parent = infer::reference(schema, &schema.tables[annotation.table], annotation.column);
        annotation.table == table || matches!(parent, Reference::Single(parent) if parent.table == table)
    })
}

/// Limits tables of orders, pipelines and albums: one has several lines, jobs or tracks, and with as many rows as these it would have
/// one each.
fn limit_wholes(schema: &Schema, tables: &[usize], sizes: &mut [TableSize]) {
    limit_each(tables, sizes, |table, sizes| {
        for (_, parent) in single_references(schema, table) {
            let wholes = infer::wholes_of_hundred(&schema.tables[parent.table], &schema.tables[table]);
            let Some(wholes) = wholes.filter(|_| tables.contains(&parent.table)) else { continue };
            let most = sizes[table].rows.saturating_mul(wholes).div_ceil(100);
            sizes[parent.table].limit((parent.column, most, "{} rows have several parts each"));
        }
    });
}

/// Limits tables of ancestors: the first rows of a tree have none.
fn limit_ancestors(schema: &Schema, tables: &[usize], sizes: &mut [TableSize]) {
    limit_each(tables, sizes, |table, sizes| {
        for (column, parent) in single_references(schema, table) {
            let (tree, rows) = (&schema.tables[parent.table], sizes[parent.table].rows);
            let first =
                (0..tree.columns.len()).find_map(|at| infer::roots(tree, at, rows)).filter(|&first| first < rows);
            if let Some(first) = first.filter(|_| infer::is_ancestor(schema, table, column)) {
                sizes[table].limit((column, rows - first, "{} rows of the tree have an ancestor"));
            }
        }
    });
}

/// Limits the tables of a repository, whose artifacts are check-ins and versions of files.
fn limit_versions(schema: &Schema, tables: &[usize], sizes: &mut [TableSize]) {
    limit_each(tables, sizes, |table, sizes| {
        let versions = infer::Versions::new(schema, |table| sizes[table].rows);
        if let Some(most) = versions.and_then(|of| of.most_rows(&schema.tables[table])) {
            sizes[table].limit((0, most, "the artifacts of the repository have {} such rows"));
        }
    });
}

/// Limits tables of what few rows have, such as the place of a message.
fn limit_rare(schema: &Schema, tables: &[usize], sizes: &mut [TableSize]) {
    limit_each(tables, sizes, |table, sizes| {
        let of_table = &schema.tables[table];
        for (column, parent) in single_references(schema, table) {
            if let Some(rows) = infer::rows_for_one(of_table, column, &schema.tables[parent.table]) {
                let most = sizes[parent.table].rows.div_ceil(rows);
                sizes[table].limit((column, most, "{} of the rows that it refers to have one"));
            }
        }
    });
}

/// Limits tables whose keys consist of references to limited ones: there are no more rows than pairs. A third of all pairs looks
/// random.
fn limit_keys(schema: &Schema, tables: &[usize], sizes: &mut [TableSize]) {
    limit_each(tables, sizes, |table, sizes| {
        let of_table = &schema.tables[table];
        for (column, parent) in single_references(schema, table) {
            let (of, rows) = (&schema.tables[parent.table], sizes[parent.table].rows);
            if sizes[parent.table].limited_by.is_none() {
                continue;
            }
            if let Some(each) = infer::parts_of_each(of_table, of) {
                sizes[table].limit((column, each * rows, "the rows that they refer to have {} of them"));
            }
            if infer::is_city_of(of_table, of) {
                sizes[table].limit((column, infer::CITIES_OF_COUNTRY * rows, "the countries have {} cities"));
            }
        }
        for key in infer::unique_keys(of_table) {
            let Some(parents) = parents_of_key(schema, table, &key) else { continue };
            let is_limited = parents.iter().any(|&parent| sizes[parent].limited_by.is_some());
            let all = parents.iter().fold(1, |all: u64, &parent| all.saturating_mul(sizes[parent].rows));
            if is_limited && all < sizes[table].rows {
                let most = if parents.len() > 1 { all.div_ceil(3) } else { all };
                sizes[table].limit((key[0], most, "the key allows {} rows of different values"));
            }
        }
    });
}

/// Limits each table until no size changes any more.
fn limit_each(tables: &[usize], sizes: &mut [TableSize], limit: impl Fn(usize, &mut [TableSize])) {
    // In a chain of tables each round limits at least one.
    for _ in tables {
        let before = sizes.to_vec();
        tables.iter().for_each(|&table| limit(table, sizes));
        if *sizes == *before {
            break;
        }
    }
}

/// Returns the columns that refer by themselves to a row, and what they refer to.
fn single_references(schema: &Schema, table: usize) -> impl Iterator<Item = (usize, infer::Parent)> {
    let of_table = &schema.tables[table];
    (0..of_table.columns.len()).filter_map(move |column| match infer::reference(schema, of_table, column) {
        Reference::Single(parent) => Some((column, parent)),
        _ => None,
    })
}

/// Returns the other tables that a key refers to, one for each foreign key, if it consists of references.
fn parents_of_key(schema: &Schema, table: usize, key: &[usize]) -> Option<Vec<usize>> {
    let mut parents = Vec::new();
    for &column in key {
        let parent = infer::other_parent(schema, table, column)?;
        parents.push((parent.key, parent.table));
    }
    parents.sort_unstable();
    parents.dedup();
    Some(parents.into_iter().map(|(_, parent)| parent).collect())
}

/// Multiplies the numbers of rows of the schema so that the largest table has `rows`. Fixed tables, and those that the
/// request names, stay.
fn scale_to(schema: &Schema, request: &Request, sizes: &mut [TableSize], rows: u64) -> Result<()> {
    let is_named = |table: usize| {
        let name = &schema.tables[table].name;
        request.rows.iter().any(|(named, _)| named.as_deref().is_some_and(|named| named.eq_ignore_ascii_case(name)))
    };
    let free: Vec<usize> = generated_tables(schema)
        .map(|(table, _)| table)
        .filter(|&table| !sizes[table].fixed && sizes[table].tpch.is_none() && !is_named(table))
        .collect();
    let largest = free.iter().map(|&table| sizes[table].rows).max().unwrap_or(0);
    let given = || OptionName::Rows.count(None, &rows.to_string()).given();
    if free.is_empty() || largest == 0 {
        let error = usage(message![given(), " has no effect: the number of rows of every table is fixed"]);
        let first = generated_tables(schema).map(|(_, table)| table.name.as_str()).next();
        let advice = match sizes.iter().any(|size| size.tpch.is_some()) {
            true => message!["use ", OptionName::Scale.count(None, "0.1")],
            false => message!["give a table its number: ", OptionName::Rows.count(first, &rows.to_string())],
        };
        return Err(error.in_file(&schema.origin).advise(advice));
    }
    if request.scale.is_some() {
        let error = usage(message![given(), " and ", OptionName::Scale.alone(), " exclude one another: both multiply"]);
        return Err(error.in_file(&schema.origin));
    }
    let factor = rows as f64 / largest as f64;
    for table in free {
        let size = &mut sizes[table];
        // The numbers of children follow from those of their parents.
        let is_known = !size.is_derived;
        *size = TableSize {
            rows: if is_known { scaled(size.rows, Some(factor)) } else { 0 },
            is_known,
            is_scaled: is_known,
            ..*size
        };
    }
    Ok(())
}

fn no_rows(schema: &Schema, unset: &[&str]) -> Error {
    const NAMED: usize = 10;
    let named = &unset[..unset.len().min(NAMED)];
    let more = if unset.len() > NAMED { " ..." } else { "" };
    let error = match unset {
        [name] => usage("the table has no number of rows").in_table(*name),
        _ => usage(format!("{} tables have no number of rows: {}{more}", unset.len(), named.join(", "))),
    };
    let mut advice: Message =
        "write '-- gen: rows=1m' in front of CREATE TABLE, or give the number with the request (".into();
    for (number, name) in named.iter().enumerate() {
        advice = message![advice, if number > 0 { " " } else { "" }, OptionName::Rows.count(Some(name), "N")];
    }
    advice = advice.and(more);
    if unset.len() > 1 {
        advice = message![advice, ", or ", OptionName::Rows.count(None, "N"), " for all of them"];
    }
    error.in_file(&schema.origin).advise(advice.and(")"))
}

fn check(schema: &Schema, table: usize, rows: u64) -> Result<()> {
    if i64::try_from(rows).is_ok() {
        return Ok(());
    }
    let message = format!("{rows} rows are more than SQLite has rowids for, {}", i64::MAX);
    Err(Error::new(ErrorKind::Limit, message).in_table(&schema.tables[table].name))
}
