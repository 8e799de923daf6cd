const pagesOf = (tree) => tree.interior_pages + tree.leaf_pages + tree.overflow_pages;
const bytesOf = (tree) => pagesOf(tree) * data.page_size;
const fillOf = (tree) => pagesOf(tree) ? 1 - tree.free_bytes / bytesOf(tree) : 0;

/** Returns the bytes of a column of zlib data in base64. */
async function inflated(text) {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

// Colours ---------------------------------------------------------------------------------------------------------------------

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const treeColour = (tree) => `hsl(${(tree * 137.5 + 205) % 360} ${style("--tree-colour")} ${style("--tree-light")})`;
const USES = ["above leaves", "leaf", "overflow", "free", "pointer map", "lock byte"];
const SEVERAL = 64, NO_BTREE = 0xffff, NO_PAGES = 0xffff;

function useColours() {
  const dark = document.documentElement.dataset.scheme === "dark";
  return dark ? ["#e0a33e", "#4d8fd1", "#9a6fc9", "#5d666d", "#3fa58c", "#c05a52"]
    : ["#d18400", "#6aa5dd", "#a884d6", "#c3c9cd", "#4db49b", "#c9635b"];
}
/** Returns the colour of a share: from red, nothing, to green, all. Light and dark alike; the legend gives the numbers. */
const shareColour = (share) => `hsl(${Math.round(10 + 140 * share)} ${style("--tree-colour")} ${style("--tree-light")})`;

// The map of pages -------------------------------------------------------------------------------------------------------------

class PageMap {
  constructor(packed, columns) {
    [this.btrees, this.uses, this.levels, this.free, this.jumps, this.entries, this.parents] = columns;
    this.perCell = packed.pages_per_cell;
    this.cells = packed.cells;
    this.canvas = element("map");
    this.view = { x: 0, y: 0, zoom: 1 };
    this.selected = 0;
    this.lay("rows");
  }

  /** Sets the order of cells: positions by cell, and cells by position. */
  lay(order) {
    this.order = order;
    const { width, height } = this.canvas.getBoundingClientRect();
    if (order === "curve") {
      let side = 1;
      while (side * side < this.cells) side *= 2;
      this.columns = side;
      this.rows = side;
    } else {
      this.columns = Math.max(1, Math.ceil(Math.sqrt(this.cells * width / Math.max(1, height))));
      this.rows = Math.ceil(this.cells / this.columns);
    }
    this.paint();
  }

  place(cell) {
    return this.order === "curve" ? hilbert(this.columns, cell) : [cell % this.columns, Math.floor(cell / this.columns)];
  }

  at(x, y) {
    if (x < 0 || y < 0 || x >= this.columns || y >= this.rows) return null;
    const cell = this.order === "curve" ? hilbertIndex(this.columns, x, y) : y * this.columns + x;
    return cell < this.cells ? cell : null;
  }

  /** Returns the main use of a cell: that of leaves before others. */
  use(cell) {
    const uses = this.uses[cell] & 63;
    if (!uses) return null;
    return uses & 2 ? 1 : Math.log2(uses & -uses);
  }

  fill(cell) {
    const free = this.free[cell];
    return free === NO_PAGES ? null : 1 - free / data.page_size;
  }

  colour(cell, by) {
    const use = this.use(cell);
    if (use === null) return null;
    if (by === "use") return this.palette.uses[use];
    if (by === "fill") {
      const fill = this.fill(cell);
      return fill === null ? this.palette.uses[3] : this.palette.shares[Math.round(20 * Math.max(0, fill))];
    }
    if (by === "order") return use === 1 ? this.palette.shares[20 - Math.round(this.jumps[cell] / 255 * 20)] : this.palette.uses[3];
    if (by === "level") {
      const level = this.levels[cell];
      if (level) return this.palette.shares[Math.max(0, 20 - 4 * (level - 1))];
      return use === 1 ? this.palette.uses[1] : this.palette.uses[use];
    }
    const tree = this.btrees[cell];
    return tree === NO_BTREE ? this.palette.uses[use] : this.palette.trees[tree];
  }

  /** Paints every cell into a picture of one pixel a cell. */
  paint() {
    this.palette = {
      uses: useColours(),
      trees: data.trees.map((_, tree) => treeColour(tree)),
      shares: Array.from({ length: 21 }, (_, step) => shareColour(step / 20)),
    };
    const by = element("colour").value;
    const picture = document.createElement("canvas");
    picture.width = this.columns;
    picture.height = this.rows;
    const context = picture.getContext("2d", { willReadFrequently: true });
    const pixels = context.createImageData(this.columns, this.rows);
    const known = new Map();
    for (let cell = 0; cell < this.cells; cell += 1) {
      const colour = this.colour(cell, by);
      if (colour === null) continue;
      if (!known.has(colour)) {
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        known.set(colour, context.getImageData(0, 0, 1, 1).data);
      }
      const [x, y] = this.place(cell);
      pixels.data.set(known.get(colour), 4 * (y * this.columns + x));
    }
    context.putImageData(pixels, 0, 0);
    this.picture = picture;
    this.legend(by);
    this.draw();
  }

  /** Returns the scale and the offset of the picture on the canvas, in pixels of the canvas. */
  frame() {
    const { width, height } = this.canvas;
    const scale = Math.min(width / this.columns, height / this.rows) * this.view.zoom;
    const room = [width - scale * this.columns, height - scale * this.rows];
    const offset = (size, at) => size > 0 ? size / 2 : Math.min(0, Math.max(size, at));
    this.view.x = offset(room[0], this.view.x);
    this.view.y = offset(room[1], this.view.y);
    return { scale, x: this.view.x, y: this.view.y };
  }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    const box = this.canvas.getBoundingClientRect();
    this.canvas.width = Math.max(1, Math.round(box.width * ratio));
    this.canvas.height = Math.max(1, Math.round(box.height * ratio));
    const context = this.canvas.getContext("2d");
    const { scale, x, y } = this.frame();
    context.imageSmoothingEnabled = scale < 1;
    context.drawImage(this.picture, x, y, scale * this.columns, scale * this.rows);
    if (scale > 8 * ratio) this.grid(context, scale, x, y);
    const [column, row] = this.place(this.selected);
    context.strokeStyle = style("--text");
    context.lineWidth = 2 * ratio;
    const side = Math.max(scale, 6 * ratio);
    context.strokeRect(x + column * scale - (side - scale) / 2, y + row * scale - (side - scale) / 2, side, side);
  }

  grid(context, scale, x, y) {
    context.strokeStyle = style("--card");
    context.lineWidth = 1;
    context.beginPath();
    for (let column = 0; column <= this.columns; column += 1) { context.moveTo(x + column * scale, y); context.lineTo(x + column * scale, y + this.rows * scale); }
    for (let row = 0; row <= this.rows; row += 1) { context.moveTo(x, y + row * scale); context.lineTo(x + this.columns * scale, y + row * scale); }
    context.stroke();
  }

  legend(by) {
    const entry = (colour, text) => {
      const swatch = make("i");
      swatch.style.background = colour;
      return make("span", {}, swatch, text);
    };
    const used = new Set(this.uses.map((uses) => uses & 63));
    const uses = USES.flatMap((name, use) => [...used].some((bits) => bits & (1 << use)) ? [entry(this.palette.uses[use], name)] : []);
    const shown = { use: uses, fill: [0, 0.25, 0.5, 0.75, 1].map((share) => entry(shareColour(share), `${percent(share)} full`)) };
    shown.order = [entry(shareColour(1), "leaf behind the leaf before it in key order"), entry(shareColour(0), "leaf elsewhere: a jump"), entry(this.palette.uses[3], "no leaf")];
    shown.level = [1, 2, 3, 4].map((level) => entry(this.palette.shares[20 - 4 * (level - 1)], level === 1 ? "root" : `level ${level}`));
    shown.level.push(entry(this.palette.uses[1], "leaf"));
    const trees = data.trees.map((tree, index) => [bytesOf(tree), entry(this.palette.trees[index], tree.kind === "index" ? `index ${tree.name} of ${tree.table}` : `${tree.kind} ${tree.name}`)]);
    shown.tree = trees.sort((left, right) => right[0] - left[0]).slice(0, 60).map(([, made]) => made);
    if (data.freelist_pages) shown.tree.push(entry(this.palette.uses[3], "free"));
    element("legend").replaceChildren(...shown[by]);
  }

  describe(cell) {
    const first = cell * this.perCell + 1, last = Math.min(data.pages, first + this.perCell - 1);
    const tree = this.btrees[cell] === NO_BTREE ? null : data.trees[this.btrees[cell]];
    const bits = this.uses[cell] & 63;
    const uses = bits ? USES.filter((_, use) => bits & (1 << use)).join(", ") : "nothing points to it";
    const lines = [first === last ? `Page ${count(first)}` : `Pages ${count(first)} to ${count(last)}`, uses];
    if (tree) lines.push(`${tree.kind} ${tree.name}${this.uses[cell] & SEVERAL ? " and others" : ""}`);
    if (this.levels[cell]) lines.push(`level ${this.levels[cell]} of ${tree ? tree.depth : "?"}`);
    if (this.fill(cell) !== null) lines.push(`${percent(this.fill(cell))} full, ${counted(this.entries[cell], "cell")}${first === last ? "" : " a page"}`);
    if (this.jumps[cell]) lines.push(first === last ? "not behind the leaf before it in key order" : `${percent(this.jumps[cell] / 255)} of its leaves lie elsewhere than behind the one before`);
    if (this.parents[cell]) lines.push(`page ${count(this.parents[cell])} points to it`);
    return lines;
  }

  select(cell, { follow = true } = {}) {
    this.selected = Math.max(0, Math.min(this.cells - 1, cell));
    element("at").textContent = this.describe(this.selected).join("; ");
    if (follow) this.reveal();
    this.draw();
  }

  reveal() {
    const { scale, x, y } = this.frame();
    const [column, row] = this.place(this.selected);
    const within = (at, offset, size) => {
      const here = offset + at * scale;
      return here < 0 || here + scale > size ? size / 2 - at * scale : offset;
    };
    this.view.x = within(column, x, this.canvas.width);
    this.view.y = within(row, y, this.canvas.height);
  }

  zoom(factor, point) {
    const before = this.frame();
    const [px, py] = point || [this.canvas.width / 2, this.canvas.height / 2];
    this.view.zoom = Math.max(1, Math.min(Math.max(this.columns, this.rows), this.view.zoom * factor));
    const scale = Math.min(this.canvas.width / this.columns, this.canvas.height / this.rows) * this.view.zoom;
    this.view.x = px - (px - before.x) * scale / before.scale;
    this.view.y = py - (py - before.y) * scale / before.scale;
    this.draw();
  }

  /** Returns the cell below a pointer. */
  below(event) {
    const box = this.canvas.getBoundingClientRect(), ratio = this.canvas.width / box.width;
    const { scale, x, y } = this.frame();
    const point = [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
    return { point, cell: this.at(Math.floor((point[0] - x) / scale), Math.floor((point[1] - y) / scale)) };
  }
}

function hilbert(side, index) {
  let x = 0, y = 0;
  for (let step = 1; step < side; step *= 2) {
    const right = 1 & (index / 2), up = 1 & (index ^ right);
    if (!up) {
      if (right) { x = step - 1 - x; y = step - 1 - y; }
      [x, y] = [y, x];
    }
    x += step * right;
    y += step * up;
    index = Math.floor(index / 4);
  }
  return [x, y];
}

function hilbertIndex(side, x, y) {
  let index = 0;
  for (let step = side / 2; step >= 1; step /= 2) {
    const right = x & step ? 1 : 0, up = y & step ? 1 : 0;
    index += step * step * ((3 * right) ^ up);
    if (!up) {
      if (right) { x = side - 1 - x; y = side - 1 - y; }
      [x, y] = [y, x];
    }
  }
  return index;
}

function explain(map, samples, cell) {
  const first = cell * map.perCell + 1, last = Math.min(data.pages, first + map.perCell - 1);
  const page = Object.keys(samples).map(Number).filter((number) => number >= first && number <= last).sort((a, b) => a - b)[0];
  element("bytes").open = true;
  element("bytes-caption").textContent = page === undefined
    ? `This file holds the bytes of ${counted(Object.keys(samples).length, "page")} only; for this one: litepress inspect ${data.name} ${first}`
    : `Page ${count(page)}`;
  element("bytes-text").textContent = page === undefined ? "" : samples[page];
}

function listen(map, samples) {
  const canvas = map.canvas, hover = element("hover");
  const pointers = new Map();
  let dragged = false;
  canvas.addEventListener("pointermove", (event) => {
    const { cell } = map.below(event);
    const before = pointers.get(event.pointerId);
    if (before) {
      const ratio = canvas.width / canvas.getBoundingClientRect().width;
      const others = [...pointers.entries()].filter(([id]) => id !== event.pointerId).map(([, other]) => other);
      if (others.length) {
        const apart = (at) => Math.hypot(at.clientX - others[0].clientX, at.clientY - others[0].clientY) || 1;
        map.zoom(apart(event) / apart(before), map.below(event).point);
      } else {
        map.view.x += (event.clientX - before.clientX) * ratio;
        map.view.y += (event.clientY - before.clientY) * ratio;
        map.draw();
      }
      dragged ||= Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY) > 2;
      pointers.set(event.pointerId, event);
    }
    hover.hidden = cell === null;
    if (cell === null) return;
    hover.textContent = map.describe(cell).join("\n");
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    hover.style.left = `${Math.max(0, x + 14 + hover.offsetWidth > box.width ? x - 14 - hover.offsetWidth : x + 14)}px`;
    hover.style.top = `${Math.max(0, y + 14 + hover.offsetHeight > box.height ? y - 14 - hover.offsetHeight : y + 14)}px`;
  });
  canvas.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, event); dragged = false; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", (event) => {
    pointers.delete(event.pointerId);
    const { cell } = map.below(event);
    if (dragged || cell === null) return;
    map.select(cell, { follow: false });
    explain(map, samples, cell);
  });
  canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => { hover.hidden = true; });
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); map.zoom(Math.exp(-event.deltaY / 300), map.below(event).point); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const [x, y] = map.place(map.selected);
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (moves[event.key]) {
      const cell = map.at(x + moves[event.key][0], y + moves[event.key][1]);
      if (cell !== null) map.select(cell);
    } else if (event.key === "+" || event.key === "=") map.zoom(1.5);
    else if (event.key === "-") map.zoom(1 / 1.5);
    else if (event.key === "Home") map.select(0);
    else if (event.key === "End") map.select(map.cells - 1);
    else if (event.key === "Enter") explain(map, samples, map.selected);
    else return;
    event.preventDefault();
  });
  element("closer").addEventListener("click", () => map.zoom(1.5));
  element("farther").addEventListener("click", () => map.zoom(1 / 1.5));
  element("whole").addEventListener("click", () => map.zoom(1e-9));
  element("colour").addEventListener("change", () => map.paint());
  element("order").addEventListener("change", (event) => { map.view.zoom = 1; map.lay(event.target.value); });
  element("go").addEventListener("submit", (event) => {
    event.preventDefault();
    const page = Number(element("page").value.replace(/[^0-9]/g, ""));
    if (page < 1 || page > data.pages) { element("at").textContent = `The file has pages 1 to ${count(data.pages)}.`; return; }
    const cell = Math.floor((page - 1) / map.perCell);
    map.select(cell);
    explain(map, samples, cell);
  });
  window.addEventListener("resize", () => map.lay(map.order));
}

// Sizes ------------------------------------------------------------------------------------------------------------------------

/** Lays areas in a rectangle, each row as square as it gets: the squarified treemap of Bruls, Huizing and van Wijk. */
function squarified(areas, box) {
  const placed = [];
  let rest = areas.filter((area) => area.size > 0).sort((left, right) => right.size - left.size);
  let { x, y, width, height } = box;
  let total = rest.reduce((sum, area) => sum + area.size, 0);
  while (rest.length) {
    const short = Math.min(width, height), scale = width * height / total;
    const worst = (row) => {
      const sum = row.reduce((all, area) => all + area.size, 0) * scale, side = sum / short;
      return Math.max(...row.map((area) => Math.max(area.size * scale / side / side, side * side / area.size / scale)));
    };
    let row = [rest[0]];
    while (row.length < rest.length && worst([...row, rest[row.length]]) <= worst(row)) row = [...row, rest[row.length]];
    const sum = row.reduce((all, area) => all + area.size, 0), side = sum * scale / short;
    let at = 0;
    for (const area of row) {
      const length = area.size / sum * short;
      placed.push({ ...area, ...(width >= height ? { x, y: y + at, width: side, height: length } : { x: x + at, y, width: length, height: side }) });
      at += length;
    }
    if (width >= height) { x += side; width -= side; } else { y += side; height -= side; }
    total -= sum;
    rest = rest.slice(row.length);
  }
  return placed;
}

/** Returns the trees of each table, largest first. */
function families() {
  const found = new Map();
  data.trees.forEach((tree, number) => {
    if (!found.has(tree.table)) found.set(tree.table, []);
    found.get(tree.table).push({ ...tree, number, size: bytesOf(tree) });
  });
  const all = [...found].map(([name, trees]) => ({ name, trees, size: trees.reduce((sum, tree) => sum + tree.size, 0) }));
  return all.filter((family) => family.size > 0).sort((left, right) => right.size - left.size);
}

const fits = (text, width) => text.length * 7 + 8 < width ? text : width > 40 ? `${text.slice(0, Math.floor((width - 16) / 7))}…` : "";

function drawTreemap() {
  const width = 1000, height = 420;
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Areas of the b-trees by size; the table below has the numbers" });
  for (const family of squarified(families(), { x: 0, y: 0, width, height })) {
    for (const tree of squarified(family.trees, family)) {
      const rect = make("rect", { x: tree.x + 0.5, y: tree.y + 0.5, width: Math.max(0, tree.width - 1), height: Math.max(0, tree.height - 1), fill: treeColour(tree.number) });
      const group = make("g", { class: "in" }, make("title", {}, `${tree.kind} ${tree.name}: ${size(tree.size)}`), rect);
      if (tree.height > 18) group.append(make("text", { x: tree.x + 5, y: tree.y + 15 }, fits(tree.name, tree.width)));
      if (tree.height > 34) group.append(make("text", { x: tree.x + 5, y: tree.y + 30 }, fits(size(tree.size), tree.width)));
      svg.append(group);
    }
    svg.append(make("rect", { x: family.x, y: family.y, width: family.width, height: family.height, fill: "none", stroke: style("--back"), "stroke-width": 3 }));
  }
  element("treemap").replaceChildren(svg);
}

function drawIcicle() {
  const shown = families().slice(0, 40), width = 1000, levels = [20, 20, 14];
  const total = shown.reduce((sum, family) => sum + family.size, 0);
  if (!total) return;
  const svg = make("svg", { viewBox: `0 0 ${width} ${levels[0] + levels[1] + levels[2] + 6}`, role: "img", "aria-label": "Tables, their b-trees, and the kinds of their pages, by size" });
  const bar = (x, y, wide, high, fill, title, text) => {
    const group = make("g", { class: "in" }, make("title", {}, title), make("rect", { x, y, width: Math.max(0, wide - 1), height: high, fill }));
    if (text) group.append(make("text", { x: x + 4, y: y + high - 6 }, fits(text, wide)));
    svg.append(group);
  };
  const uses = useColours();
  let at = 0;
  for (const family of shown) {
    bar(at, 0, family.size / total * width, levels[0], treeColour(family.trees[0].number), `${family.name}: ${size(family.size)}`, family.name);
    for (const tree of family.trees) {
      const wide = tree.size / total * width;
      bar(at, 22, wide, levels[1], treeColour(tree.number), `${tree.kind} ${tree.name}: ${size(tree.size)}`, tree.name);
      const pages = data.page_size / total * width, free = tree.free_bytes / total * width;
      const parts = [["above leaves", tree.interior_pages * pages, uses[0]], ["leaves", tree.leaf_pages * pages - free, uses[1]],
        ["overflow", tree.overflow_pages * pages, uses[2]], ["unused bytes", free, uses[3]]];
      let inner = at;
      for (const [name, part, colour] of parts) {
        if (part > 0) bar(inner, 44, part + 1, levels[2], colour, `${tree.name}, ${name}: ${size(part / width * total)}`);
        inner += Math.max(0, part);
      }
      at += wide;
    }
  }
  element("icicle").replaceChildren(svg);
}

function drawTrees() {
  const heads = ["tree", "columns", "rows", "size", "beside its table", "fill", "in order", "depth", "mean record", "overflow", "different keys"];
  const numeric = (index) => index > 1 ? "n" : "";
  const rows = families().flatMap((family) => family.trees.map((tree) => [family, tree]));
  const cells = ([family, tree]) => {
    const table = family.trees.find((other) => other.kind === "table");
    const order = tree.leaf_pages ? tree.sequential_leaves / tree.leaf_pages : 1;
    const unique = tree.unique ? "UNIQUE " : "", partial = tree.partial ? " (partial)" : "";
    const low = tree.leaf_pages >= 32;
    return [
      [`${tree.kind} ${tree.name}`], [tree.columns ? unique + tree.columns.join(", ") + partial : ""], [count(tree.rows)], [size(tree.size)],
      [tree.kind === "index" && table && table.size ? percent(tree.size / table.size) : ""],
      [percent(fillOf(tree)), low && fillOf(tree) < 0.6], [percent(order), low && order < 0.5],
      [String(tree.depth)], [tree.rows ? size(tree.payload_bytes / tree.rows) : ""],
      [tree.overflow_pages ? counted(tree.overflow_pages, "page") : ""], [tree.distinct === null ? "" : count(tree.distinct)],
    ];
  };
  const head = make("tr", {}, ...heads.map((text, index) => make("th", { scope: "col", class: numeric(index) }, text)));
  const body = rows.map((row) => make("tr", {}, ...cells(row).map(([text, low], index) =>
    make(index ? "td" : "th", { ...(index ? {} : { scope: "row" }), class: `${numeric(index)}${low ? " low" : ""}` }, text))));
  element("trees").replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
}

// Schema -----------------------------------------------------------------------------------------------------------------------

/** Draws tables as boxes: those that others refer to on the left, with a line from each foreign key. */
function drawSchema() {
  const SHOWN = 80, COLUMNS = 14, WIDE = 190, LINE = 16, GAP = 60;
  const sizes = new Map(families().map((family) => [family.name, family.size]));
  const tables = [...data.tables].sort((left, right) => (sizes.get(right.name) || 0) - (sizes.get(left.name) || 0)).slice(0, SHOWN);
  if (!tables.length) { element("schema").replaceChildren(make("p", {}, "The schema has no tables.")); return; }
  const named = new Map(tables.map((table) => [table.name.toLowerCase(), table]));
  const depths = new Map();
  const depth = (table, seen) => {
    if (depths.has(table)) return depths.get(table);
    const parents = table.references.map((key) => named.get(key.table.toLowerCase())).filter((parent) => parent && parent !== table && !seen.includes(parent));
    const found = parents.length ? 1 + Math.max(...parents.map((parent) => depth(parent, [...seen, table]))) : 0;
    depths.set(table, found);
    return found;
  };
  const levels = [];
  for (const table of tables) (levels[depth(table, [])] ||= []).push(table);
  const places = new Map();
  let width = 0, height = 0, x = 10;
  for (const level of levels.filter(Boolean)) {
    let y = 10;
    for (const table of level) {
      const high = (Math.min(table.columns.length, COLUMNS + 1) + 1) * LINE + 12;
      if (y > 10 && y + high > 900) { x += WIDE + GAP / 2; y = 10; }
      places.set(table, { x, y, high });
      y += high + 14;
      height = Math.max(height, y);
    }
    x += WIDE + GAP;
    width = x;
  }
  const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Diagram of ${counted(tables.length, "table")} and their foreign keys` });
  const row = (table, name) => {
    const at = table.columns.findIndex((column) => column.name === name);
    return places.get(table).y + LINE * (at < 0 || at >= COLUMNS ? 1 : at + 2) + 1;
  };
  for (const table of tables) {
    for (const key of table.references) {
      const parent = named.get(key.table.toLowerCase());
      if (!parent) continue;
      const from = places.get(table), to = places.get(parent), start = row(table, key.columns[0]), end = to.y + LINE - 3;
      const [left, right] = from.x > to.x ? [from.x, to.x + WIDE] : [from.x + WIDE, to.x + WIDE];
      svg.append(make("path", { d: `M${left} ${start}C${left + (from.x > to.x ? -30 : 30)} ${start} ${right + 30} ${end} ${right} ${end}` }, make("title", {}, `${table.name}(${key.columns.join(", ")}) refers to ${parent.name}`)));
    }
  }
  for (const table of tables) {
    const { x: left, y: top, high } = places.get(table);
    const group = make("g", {}, make("rect", { class: "box", x: left, y: top, width: WIDE, height: high, rx: 5 }));
    const kind = table.virtual ? " (virtual)" : table.without_rowid ? " (without rowid)" : "";
    group.append(make("text", { x: left + 8, y: top + LINE, class: "key" }, fits(table.name + kind, WIDE)));
    table.columns.slice(0, COLUMNS).forEach((column, index) => {
      const text = make("text", { x: left + 8, y: top + LINE * (index + 2) + 3, ...(column.key ? { class: "key" } : {}) }, fits(column.name, WIDE - 64));
      group.append(text, make("text", { x: left + WIDE - 8, y: top + LINE * (index + 2) + 3, class: "soft", "text-anchor": "end" }, fits(column.type, 66)));
    });
    if (table.columns.length > COLUMNS) group.append(make("text", { x: left + 8, y: top + LINE * (COLUMNS + 2) + 3, class: "soft" }, `and ${table.columns.length - COLUMNS} more`));
    svg.append(group);
  }
  element("schema").replaceChildren(svg);
  if (data.tables.length > SHOWN) element("schema").append(make("p", {}, `The largest ${SHOWN} of ${counted(data.tables.length, "table")}.`));
}

// The rest ---------------------------------------------------------------------------------------------------------------------

function writeTexts() {
  element("name").textContent = data.name;
  const rows = data.trees.filter((tree) => tree.kind === "table" && !tree.name.startsWith("sqlite_")).reduce((sum, tree) => sum + tree.rows, 0);
  const objects = (kind) => data.trees.filter((tree) => tree.kind === kind && (kind === "index" || !tree.name.startsWith("sqlite_"))).length;
  element("summary").textContent = `${size(data.bytes)}, ${counted(data.pages, "page")} of ${count(data.page_size)} bytes, ${counted(objects("table"), "table")} with ${counted(rows, "row")}, ${objects("index")} ${objects("index") === 1 ? "index" : "indexes"}`;
  const list = (id, items) => element(id).replaceChildren(...items);
  list("advice", data.advice.map(({ object, text, saved_bytes }) => make("li", {}, ...(object ? [make("b", {}, object), ". "] : []), text, saved_bytes ? ` This saves ${size(saved_bytes)}.` : "")));
  if (!data.advice.length) list("advice", [make("li", {}, "Nothing: pages are full, trees lie in order, no index repeats another.")]);
  element("verdict").textContent = data.faults_total ? counted(data.faults_total, "fault") : "Every page was checked: ok.";
  element("verdict").className = data.faults_total ? "bad" : "";
  list("faults", data.faults.map((fault) => make("li", { class: "bad" }, fault)));
  list("notes", data.notes.map((note) => make("li", {}, note)));
}

function drawAll(map) {
  drawTreemap();
  drawIcicle();
  if (map) map.paint();
}

async function start() {
  const prefers = window.matchMedia("(prefers-color-scheme: dark)");
  setScheme(prefers.matches);
  writeTexts();
  drawTrees();
  drawSchema();
  let map = null;
  const redraw = (dark) => { setScheme(dark); drawAll(map); };
  prefers.addEventListener("change", (event) => redraw(event.matches));
  element("scheme").addEventListener("click", () => redraw(document.documentElement.dataset.scheme !== "dark"));
  if (data.map) {
    const { btrees, uses, levels, free, jumps, entries, parents } = data.map;
    const [trees, used, heights, unused, jumped, cells, above, texts] = await Promise.all([btrees, uses, levels, free, jumps, entries, parents, data.samples].map(inflated));
    map = new PageMap(data.map, [new Uint16Array(trees), new Uint8Array(used), new Uint8Array(heights), new Uint16Array(unused), new Uint8Array(jumped), new Uint16Array(cells), new Uint32Array(above)]);
    element("map-caption").textContent = data.map.pages_per_cell === 1 ? "Each square is a page of the file, in the order of their numbers. A tree whose squares are scattered is fragmented: the colour “order” shows where a leaf does not follow the one before it."
      : `Each square is a run of ${count(data.map.pages_per_cell)} pages of the file. The colour “order” shows where leaves do not follow the ones before them.`;
    listen(map, JSON.parse(new TextDecoder().decode(texts)));
    map.select(0);
  } else element("map-caption").textContent = "The file has no pages.";
  drawAll(map);
  document.body.dataset.ready = "true";
}
start();
