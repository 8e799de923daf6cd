// Copies the native part, as cargo built it, beside index.js.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const names = { darwin: "liblitepress_node.dylib", win32: "litepress_node.dll" };
const folder = process.env.CARGO_TARGET_DIR ?? path.join(__dirname, "..", "target");
fs.copyFileSync(path.join(folder, "release", names[process.platform] ?? "liblitepress_node.so"), path.join(__dirname, "litepress.node"));
