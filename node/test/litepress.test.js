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
    await db.table("t", ["id", "name"]).insertAll([[3, "c"], { id: 4, name: "d" }]);
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
    assert.throws(() => t.insert({ id: 2, name: "text", other: 1 }), { kind: "schema", message: /other/ });
    assert.throws(() => db.table("t", ["id", "name"]).insert({ id: 2, value: 1 }), { kind: "data", message: /no column was named value/ });
    t.insert({ id: 3, name: "b", value: Buffer.from("y") });
  });
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|a|x", "3|b|y"]);
});

// A getter that threw was called a second time for the error message. The row stayed half in the batch, and all later rows shifted by
// its values: names went to the column of ids, without a word.
room("a row whose reading throws leaves nothing", async (file) => {
  const thrown = new Error("lazy value failed");
  const fail = () => {
    throw thrown;
  };
  await litepress.create(file, SCHEMA, async (db) => {
    const t = db.table("t");
    t.insert({ id: 1, name: "a", value: 1 });
    assert.throws(() => t.insert({ id: 2, name: "text", get value() { return fail(); } }), thrown);
    assert.throws(() => t.insert(Object.defineProperty([2, "text", 0], 2, { get: fail })), thrown);
    assert.throws(() => t.insert(new Proxy({ id: 2, name: "text", value: 2 }, { ownKeys: fail })), thrown);
    await assert.rejects(t.insertAll([{ id: 2, name: "text", get value() { return fail(); } }]), thrown);
    // A getter may insert a row of its own.
    t.insert({ id: 3, name: "c", get value() { return void t.insert([4, "d", 4]) ?? 3; } });
    t.insert([5, "e", 5]);
  });
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|a|1", "3|c|3", "4|d|4", "5|e|5"]);
});

// The message shows the value as JSON. An object with itself in it, or with a toJSON that throws, raised the error of that instead.
room("a value that cannot be shown is refused like others", async (file) => {
  const circle = {};
  circle.self = circle;
  const failing = { toJSON() { throw new RangeError("no JSON"); } };
  const evil = { get constructor() { throw new RangeError("no constructor"); } };
  const proxy = new Proxy(new Date(), {});
  const { rows } = await litepress.create(file, SCHEMA, (db) => {
    const t = db.table("t");
    for (const value of [circle, failing, evil, proxy]) {
      assert.throws(() => t.insert([1, "blob and text", value]), (error) => {
        assert(error instanceof litepress.LitepressError && error.cause instanceof Error, error.stack);
        assert.deepEqual([error.kind, error.column, error.record], ["data", "value", 1]);
        return true;
      });
    }
    t.insert([1, "a", 1]);
  });
  assert.equal(rows, 1);
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|a|1"]);
});

// The batch was searched for half of a surrogate pair when it was handed over. The row stayed in it: each later call failed.
room("half of a surrogate pair is refused with its own row", async (file) => {
  let refused = 0;
  await litepress.create(file, SCHEMA, (db) => {
    for (let id = 0; id < 10_000; id++) {
      try {
        db.table("t").insert([id, id === 2000 ? "half \ud83d" : "é", id]);
      } catch (error) {
        assert.deepEqual([error.kind, error.column, error.record], ["data", "name", 2001]);
        refused++;
      }
    }
  });
  assert.equal(refused, 1);
  assert.deepEqual(query(file, "SELECT count(*), sum(id = value), max(id = 2000) FROM t"), ["9999|9999|0"]);
});

// The first object decided the order of all later rows: after {age, name} the array ["Bob", 44] made a person of age "Bob".
room("an array after objects has no order of its own", async (file) => {
  const schema = "CREATE TABLE person (name, age, land DEFAULT 'CH')";
  await litepress.create(file, schema, (db) => {
    const person = db.table("person");
    person.insert({ age: 33, name: "Ann" });
    assert.throws(() => person.insert(["Bob", 44, "DE"]), { kind: "data", record: 2, advice: /name the columns/ });
    db.table("person", ["name", "age"]).insert(["Cid", 55]).insert({ age: 66, name: "Dan" });
  });
  assert.deepEqual(query(file, "SELECT * FROM person"), ["Ann|33|CH", "Cid|55|CH", "Dan|66|CH"]);
  // Arrays that came first, or objects in the order of the table, leave no doubt.
  await litepress.create(file, schema, { overwrite: true }, (db) => {
    db.table("person").insert(["Ann", 33, "AT"]).insert({ age: 44, name: "Bob" }).insert(["Cid", 55, "DE"]);
    db.table("PERSON").insert({ NAME: "Dan", age: 66, land: "FR" }).insert(["Eva", 77, "IT"]);
  });
  assert.deepEqual(query(file, "SELECT * FROM person"), ["Ann|33|AT", "Bob|44|CH", "Cid|55|DE", "Dan|66|FR", "Eva|77|IT"]);
});

// Each Table kept its rows until it was full or the database was finished: the order of db.table() decided which row won.
room("rows of two lists of columns come in the order of the calls", async (file) => {
  const schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b DEFAULT 'none')";
  await litepress.create(file, schema, { onConflict: "replace" }, async (db) => {
    const [whole, part] = [db.table("t"), db.table("T", ["id", "a"])];
    whole.insert([1, "a0", "b0"]);
    part.insert([1, "a1"]);
    whole.insert([2, "a0", "b0"]);
    await part.insertAll([[3, "a0"]]);
    whole.insert([3, "a1", "b1"]);
    whole.insert({ id: 4, a: "a0", b: "b0" }).insert({ a: "a1", id: 4 });
  });
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|a1|none", "2|a0|b0", "3|a1|b1", "4|a1|none"]);
});

// The package asked the library for a table with its first row. Without rows, the old ones stayed.
room("truncate empties a table for which no rows come", async (file) => {
  await litepress.create(file, SCHEMA, (db) => void db.table("t").insert([1, "a", 1]).insert([2, "b", 2]));
  await litepress.open(file, { truncate: true }, (db) => db.table("t").insertAll([]));
  assert.deepEqual(query(file, "SELECT count(*) FROM t"), ["0"]);
  await litepress.open(file, { truncate: true, onConflict: "update" }, (db) => db.table("t").insertAll([{ id: 3, name: "c" }]));
  assert.deepEqual(query(file, "SELECT * FROM t"), ["3|c|"]);
});

// Objects that lacked keys of the first one got NULL there. An upsert of {id, a} deleted b of the row that existed.
room("columns that an object lacks get their DEFAULT, and stay in an update", async (file, folder) => {
  const schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, a DEFAULT 'd', b)";
  await litepress.create(file, schema, async (db) => {
    const t = db.table("t");
    t.insert({ id: 1, a: 1, b: 1 }).insert({ b: 2, id: 2 }).insert({ id: 3, a: undefined, b: 3 });
    await t.insertAll([{ id: 4, b: 4 }, { id: 5, a: 5, b: 5 }, { id: 6 }]);
    db.table("t", ["id", "a", "b"]).insert({ id: 7, b: 7 }).insert([8, null, 8]);
  });
  const rows = ["1|1|1", "2|d|2", "3||3", "4|d|4", "5|5|5", "6|d|", "7|d|7", "8||8"];
  assert.deepEqual(query(file, "SELECT * FROM t"), rows);
  await litepress.open(file, { onConflict: "update" }, (db) => void db.table("t").insert({ id: 1, a: "A" }).insert({ a: "N", id: 9 }));
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|A|1", ...rows.slice(1), "9|N|"]);
  // The library updates the same columns in all rows of a writer.
  await litepress.open(file, { onConflict: "update" }, (db) => {
    const t = db.table("t").insert({ id: 1, a: "B" });
    assert.throws(() => t.insert({ id: 2, b: "B" }), { kind: "data", record: 2, message: /update of b, id after one of a, id/, advice: /writer/ });
    assert.throws(() => db.table("t", ["id", "b"]).insert([2, "B"]), { kind: "data", advice: /writer/ });
  });
  assert.deepEqual(query(file, "SELECT * FROM t WHERE id < 3"), ["1|B|1", "2|d|2"]);
  assert.deepEqual(fs.readdirSync(folder), ["t.db"]);
});

// Such rows were taken, counted and lost.
room("a row without values is refused", async (file) => {
  await litepress.create(file, SCHEMA, (db) => {
    assert.throws(() => db.table("t").insert({}), { kind: "data", record: 1, message: /no keys/ });
    assert.throws(() => db.table("t", []), { kind: "usage", message: /no columns/ });
    assert.throws(() => db.table("u"), { kind: "usage", message: /no table u/ });
  });
});

// `finish` looked only at rows that had been packed: of 20,000 rows, 4,096 replaced the old database, and an error came afterwards.
room("finish waits for rows that were not awaited", async (file) => {
  const rows = (end) => (function* () {
    for (let id = 0; id < 20_000; id++) {
      yield { id, name: "a", ...(id % 5000 === 4999 && { value: id }) };
    }
    end?.();
  })();
  const overwrite = { overwrite: true };
  assert.equal((await litepress.create(file, SCHEMA, (db) => void db.table("t").insertAll(rows()))).rows, 20_000);
  const failing = litepress.create(file, SCHEMA, overwrite, (db) => {
    db.table("t").insertAll(rows(() => { throw new RangeError("of the source"); }));
  });
  await assert.rejects(failing, RangeError);
  assert.deepEqual(query(file, "SELECT count(*), count(value) FROM t"), ["20000|4"]);
  const db = litepress.create(file, SCHEMA, overwrite);
  db.table("t").insertAll([[1, "a", 1]]);
  const finished = db.finish();
  assert.throws(() => db.table("t").insert([2, "b", 2]), { kind: "usage", message: /being finished/ });
  await fails(db.table("t").insertAll([]), { kind: "usage" });
  assert.equal((await finished).rows, 1);
});

// A call that fails before `finish`, and that nobody awaits, ends the process. The old database must be there then.
room("an error that nobody catches leaves the old database", async (file) => {
  await litepress.create(file, SCHEMA, (db) => void db.table("t").insert([1, "a", 1]));
  const program = `require(${JSON.stringify(path.join(__dirname, ".."))}).create(${JSON.stringify(file)}, ${JSON.stringify(SCHEMA)}, { overwrite: true },
    async (db) => {
      db.table("t").insertAll([[2, "b"]]);
      for (let turn = 0; turn < 20; turn++) await null;
    }).catch(() => {})`;
  const { status, stderr } = spawnSync(process.execPath, ["-e", program], { encoding: "utf8" });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /2 values for 3 columns/);
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|a|1"]);
});

// After an error the batch stayed as it was. Another flush gave rows twice that the library had taken before the error.
room("a writer whose rows the library refused takes no others", async (file, folder) => {
  const failing = litepress.create(file, SCHEMA, async (db) => {
    const t = db.table("t").insert([1, "a", 1]).insert([2, null, 2]);
    assert.throws(() => t.flush(), { kind: "constraint", record: 2 });
    assert.throws(() => t.flush(), { kind: "usage", message: /given up: .*NOT NULL/ });
    assert.throws(() => t.insert([3, "c", 3]), { kind: "usage", message: /given up/ });
  });
  await fails(failing, { kind: "usage", message: /given up/ });
  assert.deepEqual(fs.readdirSync(folder), []);
});

// By mistake `create` without a schema replaced a database by an empty file.
room("create without a schema is refused", async (file) => {
  await litepress.create(file, SCHEMA, (db) => void db.table("t").insert([1, "a", 1]));
  for (const schema of [undefined, null, 5]) {
    await fails(litepress.create(file, schema, { overwrite: true }, () => {}), { kind: "usage", message: /schema is a text/ });
  }
  assert.throws(() => litepress.create(file), { kind: "usage", message: /schema/ });
  await fails(litepress.open(file, { schema: 5 }, () => {}), { kind: "usage", message: /schema/ });
  await assert.rejects(litepress.create(file, `${SCHEMA};\0 CREATE TABLE u (a)`, { overwrite: true }, () => {}));
  assert.deepEqual(query(file, "SELECT * FROM t"), ["1|a|1"]);
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

// A signal was asked between rows only: with a source that stalls, insertAll waited for ever.
room("a signal and abort end a wait for the source", async (file, folder) => {
  let isClosed = false;
  const stalled = () => {
    const source = new Readable({ objectMode: true, read() {}, destroy(error, done) { isClosed = true; done(error); } });
    source.push([1, "a", 1]);
    return source;
  };
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("the user went home")), 20);
  const aborted = litepress.create(file, SCHEMA, { signal: controller.signal }, (db) => db.table("t").insertAll(stalled()));
  await assert.rejects(aborted, /went home/);
  assert(isClosed);
  const db = litepress.create(file, SCHEMA);
  const inserted = db.table("t").insertAll(stalled());
  setTimeout(() => db.abort(), 20);
  await fails(inserted, { kind: "usage", message: /discarded/ });
  assert.deepEqual(fs.readdirSync(folder), []);
});

// `abort` did nothing while `finish` ran: the database that the program had discarded appeared.
room("abort ends finish", async (file, folder) => {
  const db = litepress.create(file, `${SCHEMA}; CREATE INDEX t_name ON t(name)`);
  await db.table("t").insertAll(Array.from({ length: 50_000 }, (_, id) => [id, `name ${id % 1000}`, id]));
  const finished = db.finish();
  await null;
  db.abort();
  await fails(finished, { kind: "usage", message: /discarded/ });
  assert.deepEqual(fs.readdirSync(folder), []);
});

// The progress function may discard the rows while they are given.
room("onProgress may abort", async (file, folder) => {
  let db;
  db = litepress.create(file, SCHEMA, { onProgress: () => db.abort() });
  await fails(db.table("t").insertAll(endless()), { kind: "usage", message: /discarded/ });
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
