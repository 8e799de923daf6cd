//! Checks R-Trees as SQLite's `rtreecheck` does: every node from the root on, the boxes around its cells, and the tables that
//! tell the parent of a node and the leaf of a row.
//!
//! The tree is walked once. Pairs of a row and its leaf are summed up, and so are pairs of a node and its parent; equal sums mean
//! equal tables. Only if they differ, a second walk looks the pairs up one by one.
//!
//! Memory: a node for each level.

use super::content::hash_of_pair;
use super::context::CheckContext;
use super::report::Fault;
use litepress_rows::quoted_name;
use litepress_rows::schema::{NamedRTree, RTree};
use litepress_rtree::node::Node;
use litepress_rtree::shape::ROOT;
use litepress_rtree::{Bounds, Layout};
use rusqlite::{Connection, OptionalExtension, Statement};

/// Nodes between two looks whether the check shall go on.
const NODES_PER_LOOK: u64 = 4096;

/// Checks an R-Tree table. Faults go to the context.
pub(super) fn check(context: &CheckContext<'_>, sqlite: &Connection, found: &NamedRTree) {
    let object = || Some(format!("R-Tree {}", found.name));
    let fault = |what| context.faults.add(|| Fault { page: None, offset: None, object: object(), what });
    let tree = match &found.tree {
        Ok(tree) => *tree,
        Err(error) => return context.sqlite_failed(object(), "SQLite cannot open it", error),
    };
    match walk(context, sqlite, &found.name, tree, &fault) {
        Ok(()) | Err(Stop::Asked) => {}
        Err(Stop::Sqlite(error)) => context.sqlite_failed(object(), "SQLite cannot read its shadow tables", &error),
    }
}

/// The reason why a walk ends early.
enum Stop {
    /// Somebody stopped the check, or the nodes run in a circle, which was told.
    Asked,
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// A multiset of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pairs {
    count: u64,
    sum: u128,
}

impl Pairs {
    fn add(&mut self, key: i64, value: i64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(hash_of_pair(key, value));
    }

    /// Reads the pairs of a table.
    fn read(sqlite: &Connection, sql: &str) -> rusqlite::Result<Self> {
        let (mut pairs, mut statement) = (Self::default(), sqlite.prepare(sql)?);
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            // A NULL is the number of no node.
            pairs.add(row.get(0)?, row.get::<_, Option<i64>>(1)?.unwrap_or(0));
        }
        Ok(pairs)
    }
}

fn walk(
    context: &CheckContext<'_>,
    sqlite: &Connection,
    name: &str,
    tree: RTree,
    fault: &dyn Fn(String),
) -> Result<(), Stop> {
    let shadow = |suffix: &str| quoted_name(&format!("{name}_{suffix}"));
    let nodes: u64 = sqlite.query_row(&format!("SELECT count(*) FROM {}", shadow("node")), [], |row| row.get(0))?;
    let statement = |select: &str, suffix: &str, key: &str| {
        sqlite.prepare(&format!("SELECT {select} FROM {} WHERE {key} = ?", shadow(suffix)))
    };
    let root: Vec<u8> = statement("data", "node", "nodeno")?.query_row([ROOT.cast_signed()], blob)?;
    let mut walk = Walk {
        context,
        fault,
        layout: tree.layout,
        node_bytes: root.len(),
        nodes,
        visited: 0,
        data: statement("data", "node", "nodeno")?,
        rows: Pairs::default(),
        parents: Pairs::default(),
        lookups: None,
    };
    walk.tree(&root)?;
    if walk.visited < nodes {
        fault(format!("{} of the {nodes} nodes in {name}_node are not in the tree", nodes - walk.visited));
    }
    let rowids = Pairs::read(sqlite, &format!("SELECT rowid, nodeno FROM {}", shadow("rowid")))?;
    let parents = Pairs::read(sqlite, &format!("SELECT nodeno, parentnode FROM {}", shadow("parent")))?;
    for (what, suffix, of_table, of_tree) in
        [("rows", "rowid", rowids, walk.rows), ("nodes below others", "parent", parents, walk.parents)]
    {
        if of_table.count != of_tree.count {
            fault(format!("{name}_{suffix} has {} rows, and the tree {} {what}", of_table.count, of_tree.count));
        }
    }
    if rowids == walk.rows && parents == walk.parents {
        return Ok(());
    }
    let lookups = [statement("nodeno", "rowid", "rowid")?, statement("parentnode", "parent", "nodeno")?];
    (walk.visited, walk.lookups) = (0, Some(lookups));
    walk.tree(&root)
}

fn blob(row: &rusqlite::Row<'_>) -> rusqlite::Result<Vec<u8>> {
    // A value of another type has no bytes of a node.
    Ok(row.get_ref(0)?.as_bytes().unwrap_or_default().to_vec())
}

struct Walk<'c, 's> {
    context: &'c CheckContext<'c>,
    fault: &'c dyn Fn(String),
    layout: Layout,
    /// The length of the root, which all nodes have.
    node_bytes: usize,
    /// Number of rows of `%_node`.
    nodes: u64,
    visited: u64,
    data: Statement<'s>,
    /// Rows with their leaves.
    rows: Pairs,
    /// Nodes with their parents.
    parents: Pairs,
    /// Statements that look up the leaf of a row and the parent of a node. With them, a walk tells pairs that differ, and no other
    /// faults.
    lookups: Option<[Statement<'s>; 2]>,
}

impl Walk<'_, '_> {
    fn tree(&mut self, root: &[u8]) -> Result<(), Stop> {
        match Node::read(self.layout, root) {
            Ok(node) => {
                self.visited = 1;
                self.cells(ROOT.cast_signed(), &node, node.depth, None)
            }
            Err(error) => {
                self.tell(|| format!("the root: {error}"));
                Ok(())
            }
        }
    }

    /// Tells a fault of the tree itself, once.
    fn tell(&self, what: impl FnOnce() -> String) {
        if self.lookups.is_none() {
            (self.fault)(what());
        }
    }

    /// Checks a node and those below. `height` is the number of levels below it, `around` the box that its parent has for it.
    fn node(&mut self, number: i64, height: u16, around: &Bounds) -> Result<(), Stop> {
        self.visited += 1;
        if self.visited > self.nodes {
            self.tell(|| "a node is reached twice".to_owned());
            return Err(Stop::Asked);
        }
        if self.visited.is_multiple_of(NODES_PER_LOOK) && self.context.advance(0).is_err() {
            return Err(Stop::Asked);
        }
        let Some(data) = self.data.query_row([number], blob).optional()? else {
            self.tell(|| format!("node {number} is missing"));
            return Ok(());
        };
        if data.len() != self.node_bytes {
            self.tell(|| format!("node {number} has {} bytes, and the root {}", data.len(), self.node_bytes));
        }
        match Node::read(self.layout, &data) {
            Ok(node) => self.cells(number, &node, height, Some(around)),
            Err(error) => {
                self.tell(|| format!("node {number}: {error}"));
                Ok(())
            }
        }
    }

    fn cells(&mut self, number: i64, node: &Node, height: u16, around: Option<&Bounds>) -> Result<(), Stop> {
        for (position, cell) in node.cells.iter().enumerate() {
            if let Some(dimension) = cell.bounds.inverted_dimension(self.layout) {
                self.tell(|| {
                    format!("node {number}, cell {position}: the minimum of dimension {dimension} is above the maximum")
                });
            }
            let uncovered = around.and_then(|around| around.uncovered_dimension(&cell.bounds, self.layout));
            if let Some(dimension) = uncovered {
                self.tell(|| {
                    format!("node {number}, cell {position}: dimension {dimension} leaves the box that its parent has for the node")
                });
            }
            let is_leaf = height == 0;
            if self.lookups.is_some() {
                self.look_up(is_leaf, cell.id, number)?;
            } else if is_leaf {
                self.rows.add(cell.id, number);
            } else {
                self.parents.add(cell.id, number);
            }
            if !is_leaf {
                self.node(cell.id, height - 1, &cell.bounds)?;
            }
        }
        Ok(())
    }

    /// Compares the node of a row, or the parent of a node, with the table that tells it.
    fn look_up(&mut self, is_leaf: bool, id: i64, node: i64) -> Result<(), Stop> {
        let Some([leaf_of, parent_of]) = &mut self.lookups else { return Ok(()) };
        let (statement, what, suffix) = if is_leaf { (leaf_of, "row", "rowid") } else { (parent_of, "node", "parent") };
        let told: Option<Option<i64>> = statement.query_row([id], |row| row.get(0)).optional()?;
        match told {
            Some(Some(told)) if told == node => {}
            Some(told) => {
                let told = told.map_or_else(|| "NULL".to_owned(), |told| format!("node {told}"));
                (self.fault)(format!("{what} {id} is in node {node}, and %_{suffix} says {told}"));
            }
            None => (self.fault)(format!("{what} {id} is in node {node}, and %_{suffix} has no row of it")),
        }
        Ok(())
    }
}
