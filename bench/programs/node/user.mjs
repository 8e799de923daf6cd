// Inserts rows of the table user, made while the clock runs, with better-sqlite3: prepared statements in one transaction.
//
//     node user.mjs METHOD TARGET ROWS [CHECK]

import Database from "better-sqlite3";

const SETTINGS = [
  "journal_mode = OFF",
  "synchronous = 0",
  "cache_size = 1000000",
  "locking_mode = EXCLUSIVE",
  "temp_store = MEMORY",
];
const SCHEMA =
  "CREATE TABLE user (id INTEGER NOT NULL PRIMARY KEY, area CHAR(6), age INTEGER NOT NULL, active INTEGER NOT NULL)";

const below = (end) => Math.floor(Math.random() * end);
const area = () => String(1_000_000 + below(1_000_000)).slice(1);

function insert(database, count) {
  return database.prepare("INSERT INTO user VALUES " + Array(count).fill("(NULL, ?, ?, ?)").join(", "));
}

function insertRows(database, rows, rowsPerStatement) {
  const statement = insert(database, rowsPerStatement);
  const values = new Array(3 * rowsPerStatement);
  const fill = (count) => {
    for (let at = 0; at < 3 * count; at += 3) {
      values[at] = area();
      values[at + 1] = 5 * (1 + below(3));
      values[at + 2] = below(2);
    }
  };
  let left = rows;
  for (; left >= rowsPerStatement; left -= rowsPerStatement) {
    fill(rowsPerStatement);
    statement.run(values);
  }
  if (left > 0) {
    fill(left);
    insert(database, left).run(values.slice(0, 3 * left));
  }
}

const METHODS = { prepared: 1, "prepared-50": 50 };
const [method, target, rows, check] = process.argv.slice(2);
if (!(method in METHODS)) {
  throw new Error(`no method ${method}`);
}

const started = process.hrtime.bigint();
const database = new Database(target);
for (const setting of SETTINGS) {
  database.pragma(setting);
}
database.exec(SCHEMA);
database.transaction(() => insertRows(database, Number(rows), METHODS[method]))();
if (target !== ":memory:") {
  database.close();
}
const result = { seconds: Number(process.hrtime.bigint() - started) / 1e9 };
if (check) {
  result.check = database.prepare(check).raw().get();
}
console.log(JSON.stringify(result));
