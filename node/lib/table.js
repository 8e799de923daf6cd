"use strict";

const { Batch, NoForm, refused } = require("./batch.js");
const { LitepressError, call, settled } = require("./error.js");

/** A table of a Writer, which takes rows. */
class Table {
  #writer;
  #name;
  #columns;
  #known;
  #number;
  #batch;
  #given = 0;

  constructor(writer, name, columns) {
    this.#writer = writer;
    this.#name = name;
    this.#columns = columns;
  }

  insert(row) {
    this.#add(row);
    if (this.#batch.isFull()) {
      this.flush();
    }
    return this;
  }

  async insertAll(rows) {
    this.#writer.refuseUnusable();
    if (rows?.[Symbol.asyncIterator]) {
      for await (const row of rows) {
        this.#add(row);
        if (this.#batch.isFull()) {
          await this.#flushApart();
        }
      }
    } else {
      for (const row of rows) {
        this.#add(row);
        if (this.#batch.isFull()) {
          await this.#flushApart();
        }
      }
    }
  }

  async appendArrow(bytes) {
    if (!(bytes instanceof Uint8Array)) {
      const advice = "give the bytes of tableToIPC(table)";
      throw new LitepressError({ kind: "usage", table: this.#name, message: `table ${this.#name}: Arrow data are a Uint8Array`, advice });
    }
    this.flush();
    await settled(this.#writer.native().appendArrow(this.#name, bytes));
    this.#writer.watch();
  }

  flush() {
    const packed = this.#packed();
    if (packed) {
      call(() => this.#writer.native().insert(this.#number, packed));
      this.#given += this.#batch.rows;
      this.#batch.clear();
      this.#writer.watch();
    }
  }

  /** Hands the rows over on another thread. Rows that come meanwhile go to new arrays. */
  async #flushApart() {
    const packed = this.#packed();
    this.#given += this.#batch.rows;
    this.#batch.renew();
    await settled(this.#writer.native().insertApart(this.#number, packed));
    this.#writer.watch();
  }

  #packed() {
    const batch = this.#batch;
    if (!batch || batch.rows === 0) {
      return undefined;
    }
    const packed = batch.packed();
    if (batch.isBroken) {
      const broken = batch.brokenText();
      const record = this.#given + broken.row + 1;
      throw refused(this.#name, this.#columns[broken.column], record, broken.text, "the text has half of a surrogate pair");
    }
    return packed;
  }

  #add(row) {
    if (this.#writer.isDone()) {
      this.#writer.refuseUnusable();
    }
    if (Array.isArray(row)) {
      this.#addArray(row);
    } else if (typeof row === "object" && row !== null) {
      this.#addObject(row);
    } else {
      throw this.#wrong(`a row is an array or an object, and this is ${row === null ? "null" : typeof row}`);
    }
    this.#batch.rows++;
  }

  #addArray(row) {
    if (!this.#batch) {
      this.#begin(this.#columns);
    }
    if (row.length !== this.#columns.length) {
      throw this.#wrong(`the row has ${row.length} values for ${this.#columns.length} columns`);
    }
    const batch = this.#batch;
    for (let column = 0; column < row.length; column++) {
      try {
        batch.add(row[column]);
      } catch (error) {
        throw this.#refused(error, column, row[column]);
      }
    }
  }

  #addObject(row) {
    if (!this.#batch) {
      this.#begin(this.#columns ?? Object.keys(row));
    }
    const columns = this.#columns;
    const batch = this.#batch;
    for (let column = 0; column < columns.length; column++) {
      try {
        batch.add(row[columns[column]]);
      } catch (error) {
        throw this.#refused(error, column, row[columns[column]]);
      }
    }
    let keys = 0;
    for (const key in row) {
      if (++keys > columns.length || !this.#known.has(key)) {
        this.#refuseUnknown(row);
      }
    }
  }

  #begin(columns) {
    const table = call(() => this.#writer.native().table(this.#name, columns));
    this.#number = table.number;
    this.#columns = table.columns;
    this.#known = new Set(table.columns);
    this.#batch = new Batch(table.columns.length);
  }

  #record() {
    return this.#given + (this.#batch?.rows ?? 0) + 1;
  }

  #wrong(why, advice) {
    const record = this.#record();
    const message = `table ${this.#name}: record ${record}: ${why}`;
    return new LitepressError({ kind: "data", table: this.#name, record, message, advice });
  }

  #refused(error, column, value) {
    this.#batch.undo();
    return error instanceof NoForm ? refused(this.#name, this.#columns[column], this.#record(), value, error.message) : error;
  }

  #refuseUnknown(row) {
    const unknown = Object.keys(row).filter((key) => !this.#known.has(key));
    if (unknown.length > 0) {
      this.#batch.undo();
      const advice = `name all columns: db.table(${JSON.stringify(this.#name)}, [..., ${JSON.stringify(unknown[0])}])`;
      throw this.#wrong(`no column was named ${unknown.join(", ")}`, advice);
    }
  }
}

module.exports = { Table };
