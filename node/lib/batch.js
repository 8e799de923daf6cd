// Packs rows into arrays that the native part reads without a call for every value (src/batch.rs).
"use strict";

const { LitepressError } = require("./error.js");

const INTEGER = 1;
const REAL = 2;
const TEXT = 3;
const BLOB = 4;
const NULL = 5;
const BIG_INTEGER = 6;

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;
const ROWS = 4096;
const CHARACTERS = 1 << 20;

/** A value that SQLite has no form for. */
class NoForm extends Error {}

/** Rows that wait, one after another. */
class Batch {
  constructor(width) {
    this.width = width;
    this.rows = 0;
    this.renew();
  }

  /** Makes new arrays: the native part may still read the old ones on another thread. */
  renew() {
    this.kinds = new Uint8Array(ROWS * this.width);
    this.numbers = new Float64Array(ROWS * this.width);
    this.integers = new BigInt64Array(this.numbers.buffer);
    this.clear();
  }

  clear() {
    this.texts = [];
    this.blobs = [];
    this.at = 0;
    this.rows = 0;
    this.characters = 0;
    this.isBroken = false;
  }

  isFull() {
    return this.rows === ROWS || this.characters >= CHARACTERS;
  }

  /** Takes back the values of a row that is not complete. */
  undo() {
    const dropped = this.kinds.subarray(this.rows * this.width, this.at);
    this.texts.length -= dropped.filter((kind) => kind === TEXT).length;
    this.blobs.length -= dropped.filter((kind) => kind === BLOB).length;
    this.at = this.rows * this.width;
  }

  add(value) {
    const at = this.at;
    switch (typeof value) {
      case "number":
        this.kinds[at] = Number.isSafeInteger(value) ? INTEGER : REAL;
        this.numbers[at] = value;
        break;
      case "string":
        this.kinds[at] = TEXT;
        this.numbers[at] = value.length;
        this.texts.push(value);
        this.characters += value.length;
        break;
      case "boolean":
        this.kinds[at] = INTEGER;
        this.numbers[at] = value ? 1 : 0;
        break;
      case "undefined":
        this.kinds[at] = NULL;
        break;
      case "bigint":
        if (value < LEAST || value > MOST) {
          throw new NoForm("the integer is beyond the 64 bits of SQLite");
        }
        this.kinds[at] = BIG_INTEGER;
        this.integers[at] = value;
        break;
      default:
        this.addObject(value, at);
    }
    this.at = at + 1;
  }

  addObject(value, at) {
    if (value === null) {
      this.kinds[at] = NULL;
    } else if (value instanceof Date) {
      this.kinds[at] = TEXT;
      const text = moment(value);
      this.numbers[at] = text.length;
      this.texts.push(text);
    } else if (value instanceof Uint8Array) {
      this.kinds[at] = BLOB;
      this.numbers[at] = value.length;
      // The program may change its bytes before they are handed over.
      this.blobs.push(Uint8Array.prototype.slice.call(value));
      this.characters += value.length;
    } else {
      const kind = typeof value === "object" ? (value.constructor?.name ?? "object") : typeof value;
      throw new NoForm(`a value of ${kind} has no form in SQLite`);
    }
  }

  /** Returns the arrays for the native part. */
  packed() {
    return {
      width: this.width,
      kinds: this.kinds.subarray(0, this.at),
      numbers: this.numbers.subarray(0, this.at),
      texts: this.encoded(),
      blobs: Buffer.concat(this.blobs),
    };
  }

  /** Returns the texts in UTF-8. Their lengths are those in characters so far, which is right for ASCII. */
  encoded() {
    const joined = this.texts.join("");
    const bytes = Buffer.from(joined, "utf8");
    if (bytes.length === joined.length) {
      return bytes;
    }
    let text = 0;
    let total = 0;
    for (let at = 0; at < this.at; at++) {
      if (this.kinds[at] === TEXT) {
        this.numbers[at] = Buffer.byteLength(this.texts[text++], "utf8");
        total += this.numbers[at];
      }
    }
    // Halves of a surrogate pair in two texts are whole in the joined one, and shorter.
    this.isBroken = total !== bytes.length || !joined.isWellFormed();
    return bytes;
  }

  /** Returns row and column of the first text with half of a surrogate pair. */
  brokenText() {
    const broken = this.texts.findIndex((text) => !text.isWellFormed());
    let texts = -1;
    const at = this.kinds.findIndex((kind) => kind === TEXT && ++texts === broken);
    return { row: Math.floor(at / this.width), column: at % this.width, text: this.texts[broken] };
  }
}

/** Returns a moment as text in UTC, with six digits behind the second if it is not whole. */
function moment(date) {
  if (Number.isNaN(date.getTime())) {
    throw new NoForm("the date is invalid");
  }
  const text = date.toISOString();
  if (text.length !== 24) {
    throw new NoForm("the year of the date is not 0 to 9999");
  }
  const seconds = `${text.slice(0, 10)} ${text.slice(11, 19)}`;
  return text.slice(20, 23) === "000" ? seconds : `${seconds}.${text.slice(20, 23)}000`;
}

/** Returns the error of a value of a row. */
function refused(table, column, record, value, why) {
  let shown = typeof value === "bigint" ? String(value) : JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? String(inner) : inner));
  shown = String(shown).slice(0, 60);
  return new LitepressError({
    kind: "data",
    table,
    column,
    record,
    value: shown,
    message: `table ${table}: record ${record}, column ${column}: ${why} (value ${shown})`,
    advice: "convert it, for example with JSON.stringify()",
  });
}

module.exports = { Batch, NoForm, refused };
