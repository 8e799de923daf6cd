"use strict";
const SVG = new Set(["svg", "g", "rect", "text", "title", "path"]);
const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en");
const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

function size(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) { bytes /= 1000; unit += 1; }
  return `${unit && bytes < 100 ? bytes.toFixed(1) : Math.round(bytes)} ${units[unit]}`;
}

/** Makes an element of HTML, or of SVG, with attributes and children. Texts are never read as HTML. */
function make(name, attributes = {}, ...children) {
  const made = SVG.has(name) ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function setScheme(dark) {
  document.documentElement.dataset.scheme = dark ? "dark" : "light";
  element("scheme").setAttribute("aria-pressed", String(dark));
}
