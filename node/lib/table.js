"use strict";

const { Readable } = require("node:stream");

const { Batch, refused } = require("./batch.js");
const { LitepressError } = require("./error.js");

/**
 * A table of a Writer, which takes rows.
 *
 * The native part takes rows of a table by layouts: a number for a list of columns. Arrays have the layout of the columns that were
 * named, or of the whole table. An object has a layout of its keys, so that columns which it lacks get their DEFAULT, and keep their
 * values in an update. Rows of one layout wait in the batch; it is handed over before a row of another layout is added, here or in
 * another Table of the same name: the order of the calls decides which row wins.
 */
class Table {
  #writer;
  #name;
  /** The columns that the program has named, or undefined. */
  #named;
  /** The layout of arrays. */
  #whole;
  /** Layouts of objects by their keys. */
  #layouts = new Map();
  /** The layout of the last object. */
  #last;
  /** The layout of the rows that wait. */
  #layout;
  #batch = new Batch();
  #given = 0;
  #hasArrays = false;
  /** Shared by all Tables of this name: `table` is the one whose rows wait. */
  #turn;

  constructor(writer, name, columns) {
    this.#writer = writer;
    this.#name = name;
    this.#named = columns;
    if (columns?.length === 0) {
      throw new LitepressError({ kind: "usage", table: name, message: `table ${name}: no columns were named`, advice: "name one, or leave out the list" });
    }
    // This also tells the library that the option truncate is for this table, even if no rows come.
    this.#whole = this.#layoutOf(columns);
    this.#turn = writer.turn(name);
  }

  insert(row) {
    this.#writer.refuseClosing();
    this.#add(row);
    if (this.#batch.isFull()) {
      this.flush();
    }
    return this;
  }

  insertAll(rows) {
    return this.#writer.track(() => (rows?.[Symbol.asyncIterator] ? this.#insertStream(rows) : this.#insertEach(rows)));
  }

  async #insertEach(rows) {
    for (const row of rows) {
      this.#add(row);
      if (this.#batch.isFull()) {
        await this.#flushApart();
      }
    }
  }

  /** Inserts the rows of an asynchronous iterable. A source that stalls is left when the writer is discarded. */
  #insertStream(rows) {
    const iterator = rows[Symbol.asyncIterator]();
    const inserted = this.#insertEachOf({ [Symbol.asyncIterator]: () => iterator });
    // The iterator of a stream ends when the next row has come; the stream itself ends at once.
    return this.#writer.orDiscarded(inserted, () => (rows instanceof Readable ? rows.destroy() : iterator.return?.()));
  }

  async #insertEachOf(rows) {
    for await (const row of rows) {
      this.#add(row);
      if (this.#batch.isFull()) {
        await this.#flushApart();
      }
    }
  }

  appendArrow(bytes) {
    return this.#writer.track(async () => {
      if (!(bytes instanceof Uint8Array)) {
        const advice = "give the bytes of tableToIPC(table)";
        throw new LitepressError({ kind: "usage", table: this.#name, message: `table ${this.#name}: Arrow data are a Uint8Array`, advice });
      }
      this.#takeTurn();
      this.flush();
      await this.#writer.apart((native) => native.appendArrow(this.#name, bytes));
      this.#writer.watch();
    });
  }

  flush() {
    if (this.#batch.rows > 0) {
      this.#writer.giving((native) => native.insert(this.#layout.number, this.#batch.packed()));
      this.#given += this.#batch.rows;
      this.#batch.clear();
      this.#writer.watch();
    }
  }

  /** Hands the rows over on another thread. Rows that come meanwhile go to new arrays. */
  async #flushApart() {
    const packed = this.#batch.packed();
    this.#given += this.#batch.rows;
    this.#batch.renew();
    await this.#writer.givingApart((native) => native.insertApart(this.#layout.number, packed));
    this.#writer.watch();
  }

  #add(row) {
    if (this.#writer.isDone()) {
      this.#writer.refuseUnusable();
    }
    if (Array.isArray(row)) {
      const values = row.slice();
      this.#addValues(this.#layoutOfArray(values), values);
      this.#hasArrays = true;
    } else if (typeof row === "object" && row !== null) {
      const layout = this.#layoutOfObject(row);
      this.#addValues(layout, valuesOf(row, layout.columns));
    } else {
      throw this.#wrong(`a row is an array or an object, and this is ${row === null ? "null" : typeof row}`);
    }
  }

  #addValues(layout, values) {
    this.#use(layout);
    try {
      this.#batch.addRow(values);
    } catch (error) {
      const column = this.#batch.column;
      throw refused(this.#name, layout.columns[column], this.#record(), values[column], error);
    }
    if (!layout.isUsed) {
      layout.isUsed = true;
      this.#turn.updated ??= layout.names;
    }
  }

  /** Readies the batch for a row. Rows that may not be behind it are handed over. */
  #use(layout) {
    if (this.#turn.table !== this) {
      this.#takeTurn();
    }
    if (this.#layout !== layout) {
      this.flush();
      this.#refuseOtherUpdate(layout);
      this.#layout = layout;
      this.#batch.begin(layout.columns.length);
    }
  }

  #takeTurn() {
    this.#turn.table?.flush();
    this.#turn.table = this;
  }

  /** Refuses an update of other columns than those of the rows before: the library updates the same ones in all rows of a writer. */
  #refuseOtherUpdate(layout) {
    const { updated } = this.#turn;
    if (this.#writer.isUpdating() && updated && updated !== layout.names) {
      throw this.#wrong(`an update of ${layout.names} after one of ${updated}`, "give these rows to a writer of their own, or give all columns");
    }
  }

  #layoutOfArray(row) {
    if (row.length !== this.#whole.columns.length) {
      throw this.#wrong(`the row has ${row.length} values for ${this.#whole.columns.length} columns`);
    }
    if (!this.#hasArrays && !this.#named) {
      this.#refuseArrayAfterObjects();
    }
    return this.#whole;
  }

  /** Refuses an array after objects with an order of their own: the program may mean that order. */
  #refuseArrayAfterObjects() {
    const { columns } = this.#whole;
    const other = [...this.#layouts.values()].find((layout) => layout.isUsed && !isSame(layout.columns, columns));
    if (other) {
      const advice = `name the columns: db.table(${JSON.stringify(this.#name)}, ${JSON.stringify(columns)})`;
      throw this.#wrong(`an array after objects with the keys ${other.columns.join(", ")}`, advice);
    }
  }

  #layoutOfObject(row) {
    const keys = Object.keys(row);
    if (!this.#last || !hasColumns(this.#last, keys)) {
      this.#last = this.#layoutOfKeys(this.#named ? this.#namedIn(row, keys) : keys);
    }
    return this.#last;
  }

  /** Returns the named columns that an object has. Getters of its class count, those of all objects do not. */
  #namedIn(row, keys) {
    const unknown = keys.filter((key) => !this.#named.includes(key));
    if (unknown.length > 0) {
      const advice = `name all columns: db.table(${JSON.stringify(this.#name)}, [..., ${JSON.stringify(unknown[0])}])`;
      throw this.#wrong(`no column was named ${unknown.join(", ")}`, advice);
    }
    return this.#named.filter((column) => Object.hasOwn(row, column) || (column in row && !(column in Object.prototype)));
  }

  #layoutOfKeys(keys) {
    if (keys.length === 0) {
      throw this.#wrong("the object has no keys", "give a value for one column; the others get their DEFAULT");
    }
    const name = JSON.stringify([...keys].sort());
    if (!this.#layouts.has(name)) {
      this.#layouts.set(name, this.#layoutOf(keys));
    }
    return this.#layouts.get(name);
  }

  #layoutOf(given) {
    const { number, columns } = this.#writer.layout(this.#name, given);
    const names = columns.map((column) => column.toLowerCase()).sort().join(", ");
    return { number, columns, names, known: new Set(columns), isUsed: false };
  }

  #record() {
    return this.#given + this.#batch.rows + 1;
  }

  #wrong(why, advice) {
    const record = this.#record();
    const message = `table ${this.#name}: record ${record}: ${why}`;
    return new LitepressError({ kind: "data", table: this.#name, record, message, advice });
  }
}

/** Returns whether an object with these keys has values for the columns of a layout, and for no others. */
function hasColumns(layout, keys) {
  const { columns, known } = layout;
  if (keys.length !== columns.length) {
    return false;
  }
  for (let at = 0; at < keys.length; at++) {
    if (keys[at] !== columns[at] && !known.has(keys[at])) {
      return false;
    }
  }
  return true;
}

/** Returns the values of an object. A loop, because it runs for every row. */
function valuesOf(row, columns) {
  const values = [];
  for (let at = 0; at < columns.length; at++) {
    values.push(row[columns[at]]);
  }
  return values;
}

/** Returns whether columns are the same in the same order. SQLite compares names without case. */
function isSame(columns, others) {
  return columns.length === others.length && columns.every((column, at) => column.toLowerCase() === others[at].toLowerCase());
}

module.exports = { Table };
