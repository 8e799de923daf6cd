// Inserts rows of the table user, made while the clock runs, with the Node.js package of litepress.
//
//     LITEPRESS_NODE=NATIVE_PART node litepress.mjs insert|insertAll TARGET ROWS

import litepress from "../../../node/index.js";

const SCHEMA =
  "CREATE TABLE user (id INTEGER NOT NULL PRIMARY KEY, area CHAR(6), age INTEGER NOT NULL, active INTEGER NOT NULL)";

const below = (end) => Math.floor(Math.random() * end);
const area = () => String(1_000_000 + below(1_000_000)).slice(1);

function* made(rows) {
  for (let row = 0; row < rows; row++) {
    yield { area: area(), age: 5 * (1 + below(3)), active: below(2) };
  }
}

const METHODS = {
  insert(table, rows) {
    for (let row = 0; row < rows; row++) {
      table.insert([area(), 5 * (1 + below(3)), below(2)]);
    }
  },
  insertAll: (table, rows) => table.insertAll(made(rows)),
};
const [method, target, rows] = process.argv.slice(2);
if (!(method in METHODS)) {
  throw new Error(`no method ${method}`);
}

const started = process.hrtime.bigint();
await litepress.create(target, SCHEMA, (db) => METHODS[method](db.table("user", ["area", "age", "active"]), Number(rows)));
console.log(JSON.stringify({ seconds: Number(process.hrtime.bigint() - started) / 1e9 }));
