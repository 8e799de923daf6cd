// Loads the native part.
"use strict";

const path = require("node:path");
const process = require("node:process");

function load() {
  const module = { exports: {} };
  const file = process.env.LITEPRESS_NODE ?? path.join(__dirname, "..", "litepress.node");
  process.dlopen(module, path.resolve(file));
  return module.exports;
}

module.exports = { native: load() };
