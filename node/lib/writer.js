"use strict";

const { LitepressError, call, settled } = require("./error.js");
const { native } = require("./native.js");
const { Table } = require("./table.js");

/** Milliseconds between two calls of a progress function. */
const WATCH_TIME = 100;

/** Options of JavaScript that the native part does not know. */
const OWN = new Set(["onProgress", "signal", "schema"]);

/** A database whose rows come while the program runs. */
class Writer {
  /** The native writer until it is finished, discarded or has failed. */
  #native;
  /** The native writer while it is finished. */
  #finishing;
  #isClosing = false;
  /** The error of rows that the library has refused. */
  #failure;
  /** Why the rows were discarded. */
  #reason;
  #tables = new Map();
  #turns = new Map();
  /** Promises of calls of tables that are under way. */
  #running = new Set();
  #hasFailedCall = false;
  /** Functions that end the waits for sources of rows. */
  #waits = new Set();
  #isUpdating;
  #onProgress;
  #signal;
  #onAbort = () => this.#end(this.#signal.reason);
  #watched = 0;
  #raised;

  constructor([path, schema, exists], options) {
    this.#onProgress = options.onProgress;
    this.#signal = options.signal;
    this.#isUpdating = options.onConflict === "update";
    this.#signal?.throwIfAborted();
    refuseSchema(schema, exists);
    const pairs = Object.entries(options).filter(([name, value]) => !OWN.has(name) && value !== undefined && value !== null);
    const named = pairs.map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), String(value)]);
    this.#native = call(() => new native.NativeWriter(String(path), schema ?? undefined, exists, named));
    this.#signal?.addEventListener("abort", this.#onAbort);
  }

  table(name, columns) {
    const own = columns ? [...columns] : undefined;
    const key = JSON.stringify([name, own]);
    if (!this.#tables.has(key)) {
      this.refuseClosing();
      this.#tables.set(key, new Table(this, name, own));
    }
    return this.#tables.get(key);
  }

  async finish() {
    this.refuseClosing();
    this.#isClosing = true;
    try {
      await this.#settle();
      for (const table of this.#tables.values()) {
        table.flush();
      }
      this.#finishing = this.native();
    } catch (error) {
      this.abort();
      throw error;
    }
    this.#native = undefined;
    const timer = setInterval(() => this.#look(this.#finishing), WATCH_TIME);
    try {
      return await settled(this.#finishing.finish());
    } catch (error) {
      throw this.#cause(error);
    } finally {
      clearInterval(timer);
      this.#finishing = undefined;
      this.#signal?.removeEventListener("abort", this.#onAbort);
    }
  }

  /** Waits for calls that the program has not awaited. The database needs all of their rows. */
  async #settle() {
    if (this.#hasFailedCall) {
      // If nobody has caught that error, Node ends the process before the database appears.
      await new Promise(setImmediate);
    }
    while (this.#running.size > 0) {
      await Promise.all(this.#running);
    }
  }

  abort() {
    this.#end(new LitepressError({ kind: "usage", message: "the database is finished or was discarded" }));
  }

  /** Discards the rows. Sources of rows are no longer waited for, and fail with the error. */
  #end(error) {
    if (this.#finishing) {
      this.#raised ??= { error };
      this.#finishing.stop();
    }
    if (this.#native) {
      this.#reason = error;
      this.#native.abort();
      this.#native = undefined;
    }
    this.#signal?.removeEventListener("abort", this.#onAbort);
    // The program knows why these calls fail: it has discarded their rows.
    this.#running.forEach((running) => running.catch(() => undefined));
    this.#waits.forEach((wait) => wait(error));
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    this.abort();
  }

  /** Returns the native writer. */
  native() {
    this.refuseUnusable();
    return this.#native;
  }

  /** Gives a number to columns of a table. */
  layout(name, columns) {
    const native = this.native();
    return call(() => native.table(name, columns));
  }

  /** Hands rows over. After an error some of them may be missing, so the writer ends. */
  giving(function_) {
    const native = this.native();
    try {
      call(() => function_(native));
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Does the same as `giving` on another thread. */
  async givingApart(function_) {
    try {
      await this.apart(function_);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Awaits the native part. */
  async apart(function_) {
    const native = this.native();
    try {
      await settled(function_(native));
    } catch (error) {
      // A call that was under way fails in its own words when the rows are discarded.
      throw this.#native ? error : (this.#reason ?? error);
    }
  }

  #failed(error) {
    if (this.#native) {
      this.#failure = error;
      this.#end(error);
    }
    return error;
  }

  /** Returns what all Tables of a name share. SQLite compares names without case. */
  turn(name) {
    const key = String(name).toLowerCase();
    if (!this.#turns.has(key)) {
      this.#turns.set(key, { table: undefined, updated: undefined });
    }
    return this.#turns.get(key);
  }

  isUpdating() {
    return this.#isUpdating;
  }

  /** Runs a call of a table, which `finish` waits for. */
  track(function_) {
    const run = (async () => {
      this.refuseClosing();
      await function_();
    })();
    const running = run.then(
      () => void this.#running.delete(running),
      (error) => {
        this.#running.delete(running);
        this.#hasFailedCall = true;
        throw error;
      },
    );
    this.#running.add(running);
    return running;
  }

  /** Waits for a promise, or until the writer is discarded; `leave` ends its source then. */
  async orDiscarded(promise, leave) {
    let end;
    const discarded = new Promise((_, reject) => {
      end = (error) => {
        reject(error);
        // The source may answer late or not at all.
        (async () => leave())().catch(() => undefined);
      };
    });
    this.#waits.add(end);
    try {
      await Promise.race([promise, discarded]);
    } finally {
      this.#waits.delete(end);
    }
  }

  isDone() {
    return this.#native === undefined;
  }

  refuseUnusable() {
    if (this.#native) {
      return;
    }
    if (this.#failure) {
      throw new LitepressError({ kind: "usage", message: `the database was given up: ${this.#failure.message}`, cause: this.#failure });
    }
    throw this.#reason ?? new LitepressError({ kind: "usage", message: "the database is finished or was discarded" });
  }

  /** Refuses new rows also while `finish` waits for those that are under way. */
  refuseClosing() {
    this.refuseUnusable();
    if (this.#isClosing) {
      throw new LitepressError({ kind: "usage", message: "the database is being finished" });
    }
  }

  /** Calls the progress function if it is time. */
  watch() {
    const now = Date.now();
    if (this.#native && now - this.#watched >= WATCH_TIME) {
      this.#watched = now;
      this.#look(this.#native);
      if (this.#raised) {
        this.abort();
        throw this.#raised.error;
      }
    }
  }

  /** Asks signal and progress function whether to go on. */
  #look(writer) {
    try {
      this.#signal?.throwIfAborted();
      if (!this.#raised && this.#onProgress?.(writer.progress()) === false) {
        throw new LitepressError({ kind: "interrupted", message: "onProgress asked to stop" });
      }
    } catch (error) {
      this.#raised ??= { error };
      writer.stop();
    }
  }

  /** Returns the reason of a stop rather than that the writer was stopped. */
  #cause(error) {
    return this.#raised && error.kind === "interrupted" ? this.#raised.error : error;
  }
}

/** Refuses a new database without a schema: by mistake it would replace an old one by an empty file. */
function refuseSchema(schema, exists) {
  if (typeof schema === "string" || (exists && (schema === undefined || schema === null))) {
    return;
  }
  const advice = exists ? "leave out the option schema, or give CREATE statements" : "give CREATE statements behind the path";
  throw new LitepressError({ kind: "usage", message: `the schema is a text, and this is ${schema === null ? "null" : typeof schema}`, advice });
}

module.exports = { Writer };
