// Writes SQLite databases by building b-tree pages bottom-up on all cores, instead of inserting row by row.
//
// index.d.ts is the documentation. The native part is litepress.node, made by `npm run build`; LITEPRESS_NODE names another file.
"use strict";

const { LitepressError } = require("./lib/error.js");
const { native } = require("./lib/native.js");
const { Writer } = require("./lib/writer.js");

function create(path, schema, options, fill) {
  return begin([path, schema, false], options, fill);
}

function open(path, options, fill) {
  return begin([path, options?.schema, true], options, fill);
}

function begin(target, options, fill) {
  if (typeof options === "function") {
    [options, fill] = [{}, options];
  }
  return fill ? filled(target, options ?? {}, fill) : new Writer(target, options ?? {});
}

/** Finishes a writer when a function has filled it, or discards it if that fails. */
async function filled(target, options, fill) {
  const writer = new Writer(target, options);
  try {
    await fill(writer);
    return await writer.finish();
  } finally {
    writer.abort();
  }
}

module.exports = { create, open, LitepressError, version: native.version() };
