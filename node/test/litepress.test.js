// Tests of the package: LITEPRESS_NODE=... node --test test/. The program sqlite3 reads what was written.
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { Readable } = require("node:stream");
const test = require("node:test");

const litepress = require("..");

const SCHEMA = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, value)";

/** Runs a test in a folder of its own, with the path of a database there. */
function room(name, body) {
  test(name, async (context) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "litepress-"));
    context.after(() => fs.rmSync(folder, { recursive: true }));
    await body(path.join(folder, "t.db"), folder, context);
  });
}

function query(file, sql) {
  const done = spawnSync("sqlite3", [file, sql], { encoding: "utf8" });
  assert.equal(done.error, undefined, "the program sqlite3 is not installed");
  assert.equal(done.stderr, "");
  return done.stdout.trim().split("\n");
}

async function fails(promise, parts) {
  await assert.rejects(promise, (error) => {
    assert(error instanceof litepress.LitepressError, error.stack);
    for (const [part, expected] of Object.entries(parts)) {
      if (expected instanceof RegExp) {
        assert.match(error[part], expected);
      } else {
        assert.equal(error[part], expected, error.stack);
      }
    }
    return true;
  });
}

room("values of all types", async (file) => {
  const values = [
    0.5, null, undefined, true, 2n ** 63n - 1n, -(2n ** 63n), 2 ** 53 - 1, 1e17, NaN, -Infinity, "drei ß 🐦\0x", Buffer.from([255, 0]), new Uint8Array(),
    new Date("2024-01-02T03:04:05Z"), new Date("2024-01-02T03:04:05.250Z"), 7,
  ];
  const summary = await litepress.create(file, SCHEMA, (db) => {
    const t = db.table("t");
    values.forEach((value, id) => t.insert([id, "n", value]));
  });
  assert.deepEqual(summary, { rows: values.length, bytes: fs.statSync(file).size, pages: 2 });
  const shown = "CASE WHEN typeof(value) = 'text' THEN hex(value) WHEN value < -1e308 THEN 'least' ELSE quote(value) END";
  const hex = (text) => Buffer.from(text).toString("hex").toUpperCase();
  assert.deepEqual(query(file, `SELECT ${shown} FROM t`), [
    "0.5", "NULL", "NULL", "1", "9223372036854775807", "-9223372036854775808", "9007199254740991", "1.0e+17", "NULL", "least",
    hex("drei ß 🐦\0x"), "X'FF00'", "X''", hex("2024-01-02 03:04:05"), hex("2024-01-02 03:04:05.250000"), "7",
  ]);
  assert.deepEqual(query(file, "PRAGMA integrity_check"), ["ok"]);
});

room("objects, arrays, iterables, streams and more rows than a batch", async (file) => {
  function* generated() {
    for (let id = 100; id < 30_100; id++) {
      yield { id, name: `é ${id}`, value: id / 4 };
    }
  }
  await litepress.create(file, SCHEMA, { threads: 2, pageSize: 8192 }, async (db) => {
    const t = db.table("t");
    t.insert({ id: 1, name: "a" }).insert({ name: "b", id: 2 });
    await t.insertAll([[3, "c"], { id: 4, name: "d" }]);
    const all = db.table("t", ["id", "name", "value"]);
    await all.insertAll(generated());
    await all.insertAll(Readable.from([{ id: 5, name: "e", value: "text" }, [6, "f", null]]));
    db.table("t", ["name"]).insert({ name: "last" });
  });
  assert.deepEqual(query(file, "SELECT * FROM t WHERE id < 100 OR id > 30098 ORDER BY id"), [
    "1|a|", "2|b|", "3|c|", "4|d|", "5|e|text", "6|f|", "30099|é 30099|7524.75", "30100|last|",
  ]);
  assert.deepEqual(query(file, "SELECT count(*), sum(value = id / 4.0 AND name = 'é ' || id), (SELECT page_size FROM pragma_page_size) FROM t"), [
    "30007|30000|8192",
  ]);
});

room("rows are added and updated", async (file) => {
  await litepress.create(file, SCHEMA, (db) => void db.table("t").insert([1, "a", 1]));
  const summary = await litepress.open(file, { onConflict: "update" }, async (db) => {
    await db.table("t").insertAll([[1, "b", 2], [2, "c", 3]]);
  });
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|b|2", "2|c|3"]);
  assert.equal(summary.rows, 1);
  await litepress.open(file, { schema: "CREATE TABLE u (a)" }, (db) => void db.table("u").insert([5]));
  assert.deepEqual(query(file, "SELECT a FROM u"), ["5"]);
});

room("errors have a kind and a place", async (file, folder) => {
  const insert = (row, table = "t") => litepress.create(file, SCHEMA, (db) => void db.table(table).insert(row));
  await fails(insert([1, null, 2]), { kind: "constraint", table: "t", column: "name", record: 1 });
  await fails(insert([1, "a"]), { kind: "data", message: /record 1: the row has 2 values for 3 columns/ });
  await fails(insert({ id: 1, name: "a", colour: "red" }), { kind: "schema", message: /colour/ });
  await fails(insert([1, "a", 2n ** 64n]), { kind: "data", column: "value", message: /64 bits/ });
  await fails(insert([1, "a", { nested: 1 }]), { kind: "data", advice: /JSON.stringify/ });
  await fails(insert([1, "a", new Date(NaN)]), { kind: "data", message: /invalid/ });
  await fails(insert([1, "a", "half \ud83d"]), { kind: "data", column: "value", record: 1, message: /surrogate/ });
  await fails(insert("text"), { kind: "data", message: /a row is an array or an object/ });
  await fails(insert([1], "u"), { kind: "usage", message: /no table u/ });
  await fails(litepress.create(file, "CREATE", () => {}), { kind: "schema" });
  await fails(litepress.create(file, SCHEMA, { speed: 1 }, () => {}), { kind: "usage", message: /no option "speed"/ });
  await fails(litepress.create(file, SCHEMA, { pageSize: 7 }, () => {}), { kind: "usage", message: /power of two/ });
  const halves = litepress.create(file, SCHEMA, (db) => void db.table("t").insert([1, "a\ud83d", "\udc26"]));
  await fails(halves, { kind: "data", column: "name", message: /surrogate/ });
  assert.deepEqual(fs.readdirSync(folder), []);
  await insert([1, "a", 2]);
  await fails(insert([1, "a", 2]), { kind: "exists", advice: /\{overwrite: true\}/ });
  await litepress.create(file, SCHEMA, { overwrite: true }, (db) => void db.table("t").insert([1, "b", 2]));
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|b|2"]);
});

room("a row that is refused leaves nothing, and the writer goes on", async (file) => {
  await litepress.create(file, SCHEMA, (db) => {
    const t = db.table("t");
    t.insert({ id: 1, name: "a", value: "x" });
    assert.throws(() => t.insert({ id: 2, name: "text", value: Symbol("x") }), { kind: "data", record: 2 });
    assert.throws(() => t.insert({ id: 2, name: "text", other: 1 }), { kind: "data", message: /no column was named other/ });
    t.insert({ id: 3, name: "b", value: Buffer.from("y") });
  });
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|a|x", "3|b|y"]);
});

room("a function that fails leaves nothing", async (file, folder) => {
  const filling = litepress.create(file, SCHEMA, async (db) => {
    await db.table("t").insertAll(Array.from({ length: 10_000 }, (_, id) => [id, "a", id]));
    throw new RangeError("stop");
  });
  await assert.rejects(filling, RangeError);
  assert.deepEqual(fs.readdirSync(folder), []);
});

room("a writer without a function", async (file, folder) => {
  let db = litepress.create(file, SCHEMA);
  db.table("t").insert([1, "a", 2]);
  assert.equal((await db.finish()).rows, 1);
  await fails(db.finish(), { kind: "usage" });
  await fails(db.table("t").insertAll([[1, "a", 2]]), { kind: "usage" });
  assert.throws(() => db.table("t").insert([1, "a", 2]), { kind: "usage" });
  db = litepress.create(file, SCHEMA, { overwrite: true });
  db.table("t").insert([2, "b", 2]);
  db.abort();
  assert.deepEqual(fs.readdirSync(folder), ["t.db"]);
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|a|2"]);
});

function* endless() {
  for (let id = 0; ; id++) {
    yield [id, "a text of a row", id];
  }
}

room("progress and a signal stop the run", async (file, folder) => {
  const seen = [];
  const onProgress = (progress) => seen.push(progress) < 3 || progress.rows === 0;
  await fails(litepress.create(file, SCHEMA, { onProgress }, (db) => db.table("t").insertAll(endless())), { kind: "interrupted" });
  assert(seen.length >= 3 && typeof seen[0].phase === "string");
  const raising = () => {
    throw new TypeError("of the progress");
  };
  await assert.rejects(litepress.create(file, SCHEMA, { onProgress: raising }, (db) => db.table("t").insertAll(endless())), TypeError);
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("the user went home")), 50);
  const aborted = litepress.create(file, SCHEMA, { signal: controller.signal }, (db) => db.table("t").insertAll(endless()));
  await assert.rejects(aborted, /went home/);
  await assert.rejects(litepress.create(file, SCHEMA, { signal: controller.signal }, () => {}), /went home/);
  assert.deepEqual(fs.readdirSync(folder), []);
});

room("the event loop goes on", async (file) => {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const rows = Array.from({ length: 100_000 }, (_, id) => [id, `name ${id % 1000}`, id]);
  await litepress.create(file, `${SCHEMA}; CREATE INDEX t_name ON t(name)`, (db) => db.table("t").insertAll(rows));
  clearInterval(timer);
  assert(ticks >= 3, `${ticks} ticks`);
});

room("Arrow data", async (file, _folder, context) => {
  const arrow = process.env.LITEPRESS_ARROW;
  if (!arrow) {
    return context.skip("LITEPRESS_ARROW names no Arrow stream with the columns id, name and value");
  }
  await litepress.create(file, SCHEMA, async (db) => {
    const t = db.table("t");
    t.insert([1, "before", null]);
    await t.appendArrow(fs.readFileSync(arrow));
    await fails(t.appendArrow(Buffer.from("no Arrow")), { kind: "data", table: "t", message: /Arrow/ });
    await fails(t.appendArrow({}), { kind: "usage", advice: /tableToIPC/ });
  });
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|before|", "10|ten|0.5", "11|eleven|"]);
});
