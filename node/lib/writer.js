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
  #native;
  #tables = new Map();
  #onProgress;
  #signal;
  #watched = 0;
  #raised;

  constructor([path, schema, exists], options) {
    this.#onProgress = options.onProgress;
    this.#signal = options.signal;
    this.#signal?.throwIfAborted();
    const pairs = Object.entries(options).filter(([name, value]) => !OWN.has(name) && value !== undefined && value !== null);
    const named = pairs.map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), String(value)]);
    this.#native = call(() => new native.NativeWriter(String(path), schema, exists, named));
  }

  table(name, columns) {
    const key = JSON.stringify([name, columns]);
    if (!this.#tables.has(key)) {
      this.#tables.set(key, new Table(this, name, columns));
    }
    return this.#tables.get(key);
  }

  async finish() {
    this.refuseUnusable();
    for (const table of this.#tables.values()) {
      table.flush();
    }
    const finishing = this.#native;
    this.#native = undefined;
    const timer = setInterval(() => this.#look(finishing), WATCH_TIME);
    try {
      return await settled(finishing.finish());
    } catch (error) {
      throw this.#cause(error);
    } finally {
      clearInterval(timer);
    }
  }

  abort() {
    this.#native?.abort();
    this.#native = undefined;
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    this.abort();
  }

  /** Returns the native writer. */
  native() {
    this.refuseUnusable();
    return this.#native;
  }

  isDone() {
    return this.#native === undefined;
  }

  refuseUnusable() {
    if (!this.#native) {
      throw new LitepressError({ kind: "usage", message: "the database is finished or was discarded" });
    }
    if (this.#signal?.aborted) {
      this.abort();
      this.#signal.throwIfAborted();
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

module.exports = { Writer };
