const isPair = data.names.length === 2;
const MEASURES = {
  "numbers": "Numbers", "places of unique numbers": "Places between the least and the largest", "times": "Dates and times",
  "shares of values": "Values", "lengths": "Lengths", "rows that refer to a row": "Parents by rows that refer to them",
  "nothing to compare": "No values",
};
const FARTHEST = 12;
const exact = (share) => `${(100 * share).toFixed(1)} %`;
const list = (value) => (Array.isArray(value) ? value : [value]);

const columns = data.tables.flatMap((table, place) => table.columns.map((column, index) => ({
  table, column, name: `${table.name}.${column.name}`, id: `column-${place}-${index}`,
})));

/** Returns the shares of NULL: a profile has their number, a comparison their shares. */
function nulls(table, column) {
  if (isPair) return column.nulls;
  return [table.rows ? column.nulls / table.rows : 0];
}

function facts(table, column) {
  const about = list(column.distinct_is_exact);
  const distinct = list(column.distinct).map((number, side) => `${about[side] ? "" : "about "}${count(number)}`);
  const found = [`${distinct.join(" | ")} different`];
  const missing = nulls(table, column);
  if (missing.some((share) => share > 0)) found.push(`NULL ${missing.map(exact).join(" | ")}`);
  if (column.range && column.measure !== "lengths") found.push(`${range(column)}`);
  if (column.refers_to) found.push(`refers to ${column.refers_to}`);
  return found.join("; ");
}

/** Texts have a range of lengths, numbers one of values. */
function range({ range: [least, largest], measure, type }) {
  const show = (number) => (Number.isInteger(number) ? count(number) : String(Number(number.toPrecision(6))));
  const lengths = measure === "times" || (measure === "shares of values" && /CHAR|CLOB|TEXT|^$/i.test(type));
  return `${lengths ? "lengths " : ""}${show(least)} to ${show(largest)}`;
}

function bars(column) {
  const rows = column.buckets.map(({ values, share, shares }) => ({ values, shares: shares || [share] }));
  // The rest of many values would dwarf them.
  const isRest = (row) => /^\d+ others$/.test(row.values);
  const most = Math.max(...rows.filter((row) => !isRest(row)).flatMap((row) => row.shares), 1e-9);
  const body = rows.map((row) => make("tr", {},
    make("th", { scope: "row" }, row.values),
    make("td", {}, ...(isRest(row) ? [] : row.shares).map((share) => make("div", { class: "bar", style: `width: ${(100 * share / most).toFixed(2)}%` }))),
    make("td", { class: "n" }, ...row.shares.map((share, side) => make("div", {},
      ...(isPair ? [make("span", { class: "unseen" }, `${data.names[side]}: `)] : []), exact(share))))));
  return make("table", { class: "bars" }, make("caption", {}, MEASURES[column.measure]), make("tbody", {}, ...body));
}

function card({ table, column, id }) {
  const parts = [make("h3", {}, column.name, make("small", {}, ` ${column.type}`)), make("p", {}, facts(table, column))];
  if (isPair) parts.push(make("p", {}, `Distance ${column.distance.toFixed(3)}`));
  parts.push(column.buckets.length ? bars(column) : make("p", {}, MEASURES["nothing to compare"]));
  if (column.generator) {
    parts.push(make("details", {}, make("summary", {}, `Generator: ${column.because}`), make("code", {}, column.generator)));
  }
  return make("article", { class: "column", id }, ...parts);
}

/** Returns the relations of a table in both databases. */
function pairs({ relations }) {
  if (!isPair || !relations.length) return [];
  const shown = (value) => (Math.abs(value) > 1 ? count(value) : `about ${value.toFixed(2)}`);
  const rows = relations.map(({ relation, values, distance }) => make("li", {},
    `${relation}: ${values.map(shown).join(" | ")}; distance ${distance.toFixed(3)}`));
  return [make("details", {}, make("summary", {}, counted(rows.length, "relation")), make("ul", {}, ...rows))];
}

function drawTables() {
  const sections = data.tables.map((table, place) => {
    const rows = list(table.rows).map((number) => counted(number, "row")).join(" | ");
    const own = columns.filter((entry) => entry.table === table);
    const title = `table-${place}`;
    return make("section", { "aria-labelledby": title }, make("h2", { id: title }, table.name), make("p", {}, rows), ...pairs(table),
      make("div", { class: "columns" }, ...own.map(card)));
  });
  element("tables").replaceChildren(...sections);
}

function fill(id, heads, rows) {
  const head = make("tr", {}, ...heads.map(([text, kind]) => make("th", { scope: "col", class: kind }, text)));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell, index) => make("td", { class: heads[index][1] }, cell))));
  element(id).replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
  element(`${id}-section`).hidden = rows.length === 0;
}

const link = ({ id, name }) => make("a", { href: `#${id}` }, name);

function drawFarthest() {
  const sorted = [...columns].sort((one, other) => other.column.distance - one.column.distance).slice(0, FARTHEST);
  fill("farthest", [["column", ""], ["distance", "n"], ["what differs", ""]],
    sorted.map((entry) => [link(entry), entry.column.distance.toFixed(3), MEASURES[entry.column.measure]]));
}

function drawRelations() {
  const keys = columns.filter(({ column }) => column.refers_to);
  fill("relations", [["child", ""], ["parent", ""], ["rows", "n"], ["without parent", "n"]],
    keys.map((entry) => [link(entry), entry.column.refers_to, count(entry.table.rows), exact(nulls(entry.table, entry.column)[0])]));
}

/** Shows the columns whose names have the wanted text, and hides tables without such. */
function filter(text) {
  const wanted = text.trim().toLowerCase();
  let shown = 0;
  for (const { id, name } of columns) {
    const isShown = name.toLowerCase().includes(wanted);
    element(id).hidden = !isShown;
    shown += Number(isShown);
  }
  for (const section of element("tables").children) {
    section.hidden = wanted !== "" && !section.querySelector(".column:not([hidden])");
  }
  element("found").textContent = wanted ? `${count(shown)} of ${counted(columns.length, "column")}` : "";
}

function start() {
  const prefers = window.matchMedia("(prefers-color-scheme: dark)");
  setScheme(prefers.matches);
  prefers.addEventListener("change", (event) => setScheme(event.matches));
  element("scheme").addEventListener("click", () => setScheme(document.documentElement.dataset.scheme !== "dark"));
  element("wanted").addEventListener("input", (event) => filter(event.target.value));
  element("name").textContent = data.names.join(" and ");
  const left = data.left_out ? `; ${counted(data.left_out, "more column")} not shown` : "";
  const score = isPair ? `; score ${data.score.toFixed(3)} (1 is alike)` : "";
  const alone = data.only_in_other?.length ? `; only in ${data.names[1]}, and not compared: ${data.only_in_other.join(", ")}` : "";
  element("summary").textContent = `${counted(data.tables.length, "table")} with ${counted(columns.length, "column")}${left}${score}${alone}`;
  if (isPair) {
    element("sides").replaceChildren(...data.names.map((name, side) => make("span", {}, make("i", { class: side ? "other" : "one" }), name)));
    element("sides").hidden = false;
    drawFarthest();
  } else drawRelations();
  drawTables();
  document.body.dataset.ready = "true";
}
start();
