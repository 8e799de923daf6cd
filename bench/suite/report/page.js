"use strict";
// Draws the ranking and the curves from the data in the page. The tables have the same figures.

const data = JSON.parse(document.getElementById("data").textContent);
const form = document.getElementById("filters");
const card = document.getElementById("card");
const PLACES = {disk: "On disk", memory: "In memory", none: "Loops that write nothing"};
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function html(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

const colour = language => "c" + data.languages[language];
const corrupts = benchmark => benchmark.place === "disk" && !benchmark.safe;
const title = benchmark => `${benchmark.language}: ${benchmark.method}`;

function short(value) {
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= size) return Number((value / size).toPrecision(3)) + " " + unit;
  }
  return String(Number(value.toPrecision(3)));
}

// Returns a logarithmic scale to pixels with its ticks, as many as there is room for: also at 2 and 5 if there are few decades.
// Bars begin at a whole decade below all values.
function scale(values, from, to, bars = false) {
  const least = Math.log10(Math.min(...values)), most = Math.log10(Math.max(...values));
  const room = Math.max(0.05 * (most - least), 0.03);
  const low = bars ? Math.floor(least - 0.02) : least - room, high = most + room;
  const at = value => from + (to - from) * (Math.log10(value) - low) / (high - low);
  const decade = Math.abs(to - from) / (high - low);
  const steps = decade > 500 ? [1, 1.5, 2, 3, 4, 5, 7] : decade > 130 ? [1, 2, 5] : [1];
  const every = Math.ceil(44 / decade);
  const ticks = [];
  for (let power = Math.floor(low); power <= high; power++) {
    if (power % every === 0) ticks.push(...steps.map(step => step * 10 ** power));
  }
  return {at, ticks: ticks.filter(tick => Math.log10(tick) >= low - 1e-9 && Math.log10(tick) <= high)};
}

function fit(text, whole, width) {
  text.textContent = whole;
  for (let length = whole.length; length > 4 && text.getComputedTextLength() > width; length--) {
    text.textContent = whole.slice(0, length - 1).trimEnd() + "…";
  }
}

// --- the ranking

function chosen() {
  const fields = new FormData(form);
  return {
    case: fields.get("case"), languages: fields.getAll("language"), places: fields.getAll("place"), safe: fields.has("safe"),
  };
}

const byName = new Map(data.benchmarks.map(benchmark => [benchmark.name, benchmark]));

function shown(benchmark, filter) {
  return benchmark.case === filter.case && passes(benchmark, filter);
}

function passes(benchmark, filter) {
  return filter.languages.includes(benchmark.language) && filter.places.includes(benchmark.place)
    && (benchmark.safe || !filter.safe);
}

function layout(width) {
  const wide = width > 720;
  const label = Math.min(400, 0.36 * width);
  return wide ? {label, left: label + 12, right: width - 66, pitch: 26, bar: 6, thick: 14, text: 17}
    : {label: width - 4, left: 2, right: width - 60, pitch: 40, bar: 21, thick: 11, text: 14};
}

function drawRanking() {
  const filter = chosen();
  const benchmarks = data.benchmarks.filter(benchmark => shown(benchmark, filter));
  const holder = document.getElementById("ranking-drawing");
  const all = data.benchmarks.filter(benchmark => benchmark.case === filter.case).length;
  document.getElementById("ranking-case").textContent = form.elements.case.selectedOptions[0].textContent;
  document.getElementById("ranking-count").textContent = `${benchmarks.length} of ${all} benchmarks, rows a second, logarithmic`;
  holder.replaceChildren(benchmarks.length ? ranking(benchmarks, holder.clientWidth) : html("p", {textContent: "No benchmark passes these filters."}));
  hide();
  for (const [text, whole, width] of labels.splice(0)) fit(text, whole, width);
}

const labels = [];  // texts that are cut to fit once they are in the page

function ranking(benchmarks, width) {
  const box = layout(width);
  const {at, ticks} = scale(benchmarks.flatMap(benchmark => [benchmark.low, benchmark.high, benchmark.ceiling ?? benchmark.rate]), box.left, box.right, true);
  const svg = element("svg", {role: "list", "aria-label": "Benchmarks, the fastest first in each place"}, stripes());
  const grid = svg.appendChild(element("g", {"aria-hidden": "true"}));
  let y = 22;
  for (const place of Object.keys(PLACES)) {
    const here = benchmarks.filter(benchmark => benchmark.place === place).sort((one, other) => other.rate - one.rate);
    if (!here.length) continue;
    svg.append(element("text", {class: "place", x: 0, y: y + 18, "aria-hidden": "true"}, PLACES[place]));
    y += 28;
    for (const benchmark of here) {
      svg.append(row(benchmark, y, box, at, width));
      y += box.pitch;
    }
    y += 10;
  }
  const reference = benchmarks.find(benchmark => benchmark.reference);
  if (reference) grid.append(element("path", {class: "reference", d: `M${at(reference.rate)} 18V${y - 10}`}));
  for (const tick of ticks) {
    grid.append(element("path", {class: "grid", d: `M${at(tick)} 18V${y}`}));
    grid.append(element("text", {class: "axis", x: at(tick), y: 12, "text-anchor": "middle"}, short(tick)));
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${y}`);
  svg.querySelector("[role=listitem]").setAttribute("tabindex", "0");
  return svg;
}

function stripes() {
  const pattern = element("pattern", {id: "stripes", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"});
  pattern.append(element("path", {class: "stripes", d: "M1 0V6"}));
  return element("defs", {}, pattern);
}

function row(benchmark, y, box, at, width) {
  const top = y + box.bar, middle = top + box.thick / 2, length = Math.max(1, at(benchmark.rate) - box.left);
  const bar = {x: box.left, y: top, width: length, height: box.thick};
  const words = benchmark.words.map(([name, text]) => `${name}: ${text}`).join("; ");
  const group = element("g", {role: "listitem", tabindex: "-1", "aria-label": `${title(benchmark)}, ${PLACES[benchmark.place]}. ${words}`});
  const label = element("text", {x: box.left < 100 ? 2 : 0, y: y + box.text, class: benchmark.language === "litepress" ? "ours" : ""});
  const whole = title(benchmark) + (benchmark.reference ? " (reference)" : "");
  labels.push([label, whole, box.label]);
  group.append(element("rect", {class: "hit", x: 0, y, width, height: box.pitch, rx: 3}));
  if (benchmark.ceiling) group.append(element("path", {class: "ceiling", d: `M${at(benchmark.ceiling)} ${y}v${box.pitch}`}));
  group.append(label, element("rect", {...bar, class: `bar ${colour(benchmark.language)}`}));
  if (corrupts(benchmark)) group.append(element("rect", {...bar, class: "unsafe"}));
  group.append(
    element("path", {class: "range", d: `M${at(benchmark.low)} ${middle}H${at(benchmark.high)}M${at(benchmark.low)} ${middle - 4}v8M${at(benchmark.high)} ${middle - 4}v8`}),
    element("text", {x: Math.max(at(benchmark.high), at(benchmark.rate)) + 7, y: middle + 4}, short(benchmark.rate)));
  group.addEventListener("mouseenter", () => show(group, title(benchmark), benchmark.words));
  group.addEventListener("mouseleave", hide);
  group.addEventListener("focus", () => show(group, title(benchmark), benchmark.words));
  group.addEventListener("blur", hide);
  group.addEventListener("click", () => { group.focus(); showCode(benchmark); });
  group.addEventListener("keydown", event => {
    if (event.key !== "Enter") return;
    event.preventDefault();  // or the key would press the button of the dialog
    showCode(benchmark);
  });
  return group;
}

function show(near, name, words) {
  const list = html("dl");
  for (const [key, text] of words) list.append(html("dt", {textContent: key}), html("dd", {textContent: text}));
  card.replaceChildren(html("strong", {textContent: name}), list);
  card.hidden = false;
  const at = near.getBoundingClientRect(), inside = card.getBoundingClientRect();
  const below = at.bottom + inside.height + 8 < innerHeight || at.top < inside.height + 8;
  card.style.top = `${scrollY + (below ? at.bottom + 4 : at.top - inside.height - 4)}px`;
  card.style.left = `${Math.max(8, Math.min(at.right + 8, document.documentElement.clientWidth - 8) - inside.width)}px`;
}

function hide() {
  card.hidden = true;
}

function walk(event) {
  const rows = [...document.querySelectorAll("#ranking-drawing [role=listitem]")];
  const here = rows.indexOf(document.activeElement);
  const to = {ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: rows.length - 1}[event.key];
  if (here < 0 || to === undefined || !rows[to]) return;
  event.preventDefault();
  rows[here].setAttribute("tabindex", "-1");
  rows[to].setAttribute("tabindex", "0");
  rows[to].focus();
}

// Applies the filters to the pictures of many cases, and to the tables below the chart of one.
function applyFilters() {
  const filter = chosen();
  for (const mark of document.querySelectorAll("[data-mark]")) mark.classList.toggle("out", !passes(byName.get(mark.dataset.mark), filter));
  for (const details of document.querySelectorAll("details[data-case]")) details.hidden = details.dataset.case !== filter.case;
  for (const line of document.querySelectorAll("tr[data-benchmark]")) line.hidden = !shown(byName.get(line.dataset.benchmark), filter);
}

// --- the pictures of many cases

const cases = new Map(data.cases.map(one => [one.name, one.title]));

for (const mark of document.querySelectorAll("[data-mark]")) {
  const benchmark = byName.get(mark.dataset.mark);
  const words = [["Case", cases.get(benchmark.case)], ["Place", PLACES[benchmark.place]], ...benchmark.words];
  mark.addEventListener("mouseenter", () => show(mark, title(benchmark), words));
  mark.addEventListener("mouseleave", hide);
  mark.addEventListener("click", () => showCode(benchmark));
}

// Shows the figures of a benchmark and the programs that it ran.
function showCode(benchmark) {
  hide();
  document.getElementById("code-title").textContent = title(benchmark);
  const words = benchmark.words.flatMap(([key, text]) => [html("dt", {textContent: key}), html("dd", {textContent: text})]);
  document.getElementById("code-words").replaceChildren(...words);
  const files = benchmark.code.map((path, place) => {
    const text = html("pre", {tabIndex: 0, textContent: data.sources[path]});
    text.setAttribute("aria-label", path);
    return html("details", {open: place === 0}, html("summary", {textContent: path}), text);
  });
  document.getElementById("code-files").replaceChildren(...files);
  document.getElementById("code").showModal();
}

// --- curves

const MARKS = [
  (x, y) => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`,
  (x, y) => `M${x - 4} ${y - 4}h8v8h-8z`,
  (x, y) => `M${x} ${y - 5}l5 9h-10z`,
  (x, y) => `M${x} ${y - 5}l5 5l-5 5l-5 -5z`,
];
const DASHES = ["", "7 4", "2 3", "9 3 2 3"];

function drawCurves(figure) {
  const chart = data.curves[figure.dataset.curves];
  const holder = figure.querySelector(".drawing");
  const width = Math.max(280, holder.clientWidth), height = Math.min(360, 200 + width / 5);
  const points = chart.series.flatMap(series => series.points);
  const x = scale(points.map(point => point[0]), 46, width - 14);
  const y = scale(points.map(point => point[1]), height - 26, 10);
  const svg = element("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${chart.title}: ${chart.y} by ${chart.x}. The table that follows has the figures.`});
  for (const tick of x.ticks) svg.append(element("path", {class: "grid", d: `M${x.at(tick)} 10V${height - 26}`}), element("text", {class: "axis", x: x.at(tick), y: height - 10, "text-anchor": "middle"}, short(tick)));
  for (const tick of y.ticks) svg.append(element("path", {class: "grid", d: `M46 ${y.at(tick)}H${width - 14}`}), element("text", {class: "axis", x: 40, y: y.at(tick) + 4, "text-anchor": "end"}, short(tick)));
  const legend = figure.querySelector(".legend");
  legend.replaceChildren();
  const nth = {};  // counts the series of a language: they share its colour, and differ by marks and dashes
  for (const series of chart.series) {
    const style = (nth[series.language] = (nth[series.language] ?? -1) + 1) % MARKS.length;
    svg.append(curve(series, style, x.at, y.at, chart));
    const key = element("svg", {width: 30, height: 12, "aria-hidden": "true"});
    key.append(line(series, style, "M0 6H30"), element("path", {class: `dot ${colour(series.language)}`, d: MARKS[style](15, 6)}));
    legend.append(html("li", {}, key, series.name));
  }
  holder.replaceChildren(svg);
}

function line(series, style, d) {
  return element("path", {class: `line ${colour(series.language)} ${series.language === "litepress" ? "first" : ""}`, "stroke-dasharray": DASHES[style], d});
}

function curve(series, style, x, y, chart) {
  const group = element("g", {}, line(series, style, "M" + series.points.map(([at, value]) => `${x(at)} ${y(value)}`).join("L")));
  for (const [at, value] of series.points) {
    const dot = element("path", {class: `dot ${colour(series.language)}`, d: MARKS[style](x(at), y(value))});
    dot.addEventListener("mouseenter", () => show(dot, series.name, [[chart.x, at.toLocaleString("en")], [chart.y, short(value)]]));
    dot.addEventListener("mouseleave", hide);
    group.append(dot);
  }
  return group;
}

// --- all of it

function draw() {
  drawRanking();
  document.querySelectorAll("[data-curves]").forEach(drawCurves);
}

if (data.benchmarks.length) {
  form.hidden = false;
  document.getElementById("ranking-figure").hidden = false;
  applyFilters();
  draw();
}
function filtersChanged() {
  applyFilters();
  drawRanking();
}
form.addEventListener("input", filtersChanged);
document.getElementById("case").addEventListener("input", filtersChanged);
form.addEventListener("submit", event => event.preventDefault());
form.addEventListener("click", event => {
  const check = event.target.dataset.check;
  if (!check) return;
  for (const box of form.querySelectorAll("label:not([hidden]) > [name=language]")) box.checked = check === "all";
  form.dispatchEvent(new Event("input"));
});
document.getElementById("ranking-drawing").addEventListener("keydown", walk);
document.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
let drawn = innerWidth;
addEventListener("resize", () => { if (innerWidth !== drawn) { drawn = innerWidth; draw(); } });
