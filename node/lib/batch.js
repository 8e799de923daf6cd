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

/** Rows that wait, one after another. They have values for the same columns. */
class Batch {
  constructor() {
    this.width = 0;
    this.renew();
  }

  /** Begins rows with this number of values. REQUIRES: no rows wait. */
  begin(width) {
    this.width = width;
    // Rows with other keys may come by turns: the arrays stay.
    if (this.kinds.length < ROWS * width) {
      this.renew();
    }
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
  }

  isFull() {
    return this.rows === ROWS || this.characters >= CHARACTERS;
  }

  /**
   * Adds a row: all of its values, or none if one of them is refused. `column` is its position then. The program has given the values in
   * a new array: a getter that inserts rows of its own would break a row that is not whole.
   */
  addRow(values) {
    const texts = this.texts.length;
    const blobs = this.blobs.length;
    const characters = this.characters;
    try {
      for (let column = 0; column < values.length; column++) {
        this.add(values[column]);
      }
    } catch (error) {
      this.column = this.at - this.rows * this.width;
      this.texts.length = texts;
      this.blobs.length = blobs;
      this.characters = characters;
      this.at = this.rows * this.width;
      throw error;
    }
    this.rows++;
  }

  add(value) {
    const at = this.at;
    switch (typeof value) {
      case "number":
        this.kinds[at] = Number.isSafeInteger(value) ? INTEGER : REAL;
        this.numbers[at] = value;
        break;
      case "string":
        this.addText(value, at);
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

  addText(text, at) {
    if (!text.isWellFormed()) {
      throw new NoForm("the text has half of a surrogate pair");
    }
    this.kinds[at] = TEXT;
    this.numbers[at] = text.length;
    this.texts.push(text);
    this.characters += text.length;
  }

  addObject(value, at) {
    if (value === null) {
      this.kinds[at] = NULL;
    } else if (value instanceof Date) {
      this.addText(moment(value), at);
    } else if (value instanceof Uint8Array) {
      // The program may change its bytes before they are handed over.
      const copy = new Uint8Array(value);
      this.kinds[at] = BLOB;
      this.numbers[at] = copy.length;
      this.blobs.push(copy);
      this.characters += copy.length;
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
    if (bytes.length !== joined.length) {
      let text = 0;
      for (let at = 0; at < this.at; at++) {
        if (this.kinds[at] === TEXT) {
          this.numbers[at] = Buffer.byteLength(this.texts[text++], "utf8");
        }
      }
    }
    return bytes;
  }
}

/** Returns a moment as text in UTC, with six digits behind the second if it is not whole. */
function moment(date) {
  if (Number.isNaN(Date.prototype.getTime.call(date))) {
    throw new NoForm("the date is invalid");
  }
  const text = Date.prototype.toISOString.call(date);
  if (text.length !== 24) {
    throw new NoForm("the year of the date is not 0 to 9999");
  }
  const seconds = `${text.slice(0, 10)} ${text.slice(11, 19)}`;
  return text.slice(20, 23) === "000" ? seconds : `${seconds}.${text.slice(20, 23)}000`;
}

/** Returns the error of a value of a row. */
function refused(table, column, record, value, error) {
  const isOwn = error instanceof NoForm;
  const [shown, cause] = shownValue(value);
  const why = isOwn ? error.message : `the value cannot be read: ${String(error?.message ?? error)}`;
  return new LitepressError({
    kind: "data",
    table,
    column,
    record,
    value: shown,
    message: `table ${table}: record ${record}, column ${column}: ${why} (value ${shown})`,
    advice: "convert it, for example with JSON.stringify()",
    cause: isOwn ? cause : error,
  });
}

/** Returns a value for an error, and the exception if the value cannot be shown: an object with itself in it, a toJSON that throws. */
function shownValue(value) {
  try {
    const text = (_, inner) => (typeof inner === "bigint" ? String(inner) : inner);
    const shown = typeof value === "bigint" ? String(value) : (JSON.stringify(value, text) ?? String(value));
    return [shown.slice(0, 60), undefined];
  } catch (error) {
    return [typeof value, error];
  }
}

module.exports = { Batch, refused };
