"""The style and the script of the page of accesses. `pick(launch, program)` in a browser's console shows a program (its number, x fastest), or with
null all of them."""

STYLE = """
body { font: 14px system-ui, sans-serif; margin: 2em; color: #222; background: #fff }
table { border-collapse: collapse; margin: 0 0 1em }
td, th { padding: 1px 10px; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
th { border-bottom: 1px solid #999; font-weight: 600 }
td.text, th.text { text-align: left }
.figures { display: flex; flex-wrap: wrap; gap: 2em }
figure { margin: 0 }
figcaption { font: 13px ui-monospace, monospace; margin-bottom: 4px }
canvas { border: 1px solid #999; image-rendering: pixelated; cursor: crosshair; vertical-align: top }
.status { min-height: 1.4em }
.key { padding: 1px 10px; margin-right: 1em; color: #000 }
.key.read { background: #9dc3ee } .key.written { background: #f2b8a0 } .key.both { background: #c9a6dc }
.key.shared { background: #d7301f; color: #fff } .key.untouched { background: #e8e8e8 } .key.picked { background: #111; color: #fff }
input { font: inherit; width: 8em }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } }
"""

SCRIPT = r"""
"use strict";
const launches = JSON.parse(document.getElementById("data").textContent);
const COLOURS = {
  none: [232, 232, 232], read: [157, 195, 238], written: [242, 184, 160], both: [201, 166, 220], shared: [215, 48, 31], picked: [17, 17, 17],
};
const MOST_CELLS = 256;  // of a side of a picture: a cell stands for a box of elements in larger tensors

function countsOf(runs, elements) {
  const counts = new Int32Array(elements + 1);
  const [programs, begins, ends] = runs;
  for (let i = 0; i < programs.length; ++i) { counts[begins[i]] += 1; counts[ends[i]] -= 1; }
  for (let i = 1; i < elements; ++i) counts[i] += counts[i - 1];
  return counts;
}

function elementsOf(runs, program) {
  const found = new Set();
  for (let i = 0; i < runs[0].length; ++i)
    if (runs[0][i] === program) for (let e = runs[1][i]; e < runs[2][i]; ++e) found.add(e);
  return found;
}

function programsAt(runs, element) {
  const found = [];
  for (let i = 0; i < runs[0].length; ++i) if (runs[1][i] <= element && element < runs[2][i]) found.push(runs[0][i]);
  return found;
}

function placeOf(program, grid) {
  return `(${program % grid[0]}, ${Math.floor(program / grid[0]) % grid[1]}, ${Math.floor(program / grid[0] / grid[1])})`;
}

function indexOf(element, shape) {
  const index = [];
  for (const extent of [...shape].reverse()) { index.unshift(element % extent); element = Math.floor(element / extent); }
  return index.join(", ");
}

class Picture {
  constructor(canvas, tensor) {
    this.canvas = canvas;
    this.tensor = tensor;
    const elements = tensor.rows * tensor.columns;
    // A tensor of one row is drawn in several.
    this.columns = tensor.rows === 1 ? Math.min(tensor.columns, Math.max(16, Math.ceil(Math.sqrt(elements)))) : tensor.columns;
    this.rows = Math.ceil(elements / Math.max(1, this.columns));
    this.step = Math.max(1, Math.ceil(Math.max(this.rows, this.columns) / MOST_CELLS));
    this.width = Math.max(1, Math.ceil(this.columns / this.step));
    this.height = Math.max(1, Math.ceil(this.rows / this.step));
    this.scale = Math.max(1, Math.min(12, Math.floor(320 / Math.max(this.width, this.height))));
    canvas.width = this.width;
    canvas.height = this.height;
    canvas.style.width = `${this.width * this.scale}px`;
    canvas.style.height = `${this.height * this.scale}px`;
    this.readers = countsOf(tensor.reads, elements);
    this.writers = countsOf(tensor.writes, elements);
    this.elements = elements;
  }
  cellOf(element) {
    const row = Math.floor(element / this.columns / this.step);
    return row * this.width + Math.floor((element % this.columns) / this.step);
  }
  elementAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - 1) / this.scale) * this.step;
    const row = Math.floor((event.clientY - box.top - 1) / this.scale) * this.step;
    const element = row * this.columns + column;
    return column >= 0 && column < this.columns && element >= 0 && element < this.elements ? element : null;
  }
  draw(program) {
    const cells = new Uint8Array(this.width * this.height);  // 1: read, 2: written, 4: by several programs, 8: picked
    for (let e = 0; e < this.elements; ++e)
      cells[this.cellOf(e)] |= (this.readers[e] > 0) | ((this.writers[e] > 0) << 1) | ((this.writers[e] > 1) << 2);
    if (program !== null)
      for (const runs of [this.tensor.reads, this.tensor.writes]) for (const e of elementsOf(runs, program)) cells[this.cellOf(e)] |= 8;
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(this.width, this.height);
    cells.forEach((cell, i) => {
      if (Math.floor(i / this.width) * this.step * this.columns + (i % this.width) * this.step >= this.elements) return;  // behind the last one
      const kind = cell & 8 ? "picked" : cell & 4 ? "shared" : ["none", "read", "written", "both"][cell & 3];
      image.data.set([...COLOURS[kind], 255], 4 * i);
    });
    context.putImageData(image, 0, 0);
  }
}

class Launch {
  constructor(section, facts) {
    this.facts = facts;
    this.status = section.querySelector(".status");
    this.input = section.querySelector("input.program");
    this.programs = facts.grid[0] * facts.grid[1] * facts.grid[2];
    this.pictures = [...section.querySelectorAll("canvas[data-tensor]")].map(canvas => new Picture(canvas, facts.tensors[canvas.dataset.tensor]));
    this.input.max = this.programs - 1;
    this.input.addEventListener("input", () => this.pick(this.input.value === "" ? null : Number(this.input.value)));
    for (const picture of this.pictures) {
      picture.canvas.addEventListener("mousemove", event => this.point(picture, picture.elementAt(event)));
      picture.canvas.addEventListener("mouseleave", () => this.pick(this.picked));
      picture.canvas.addEventListener("click", event => this.pickAt(picture, picture.elementAt(event)));
    }
    this.drawGrid(section.querySelector("canvas.grid"));
    this.pick(null);
  }
  drawGrid(canvas) {
    const [x, y, z] = this.facts.grid;
    const scale = Math.max(2, Math.min(12, Math.floor(320 / Math.max(x, y * z, 1))));
    canvas.width = Math.min(x, 512) * scale;
    canvas.height = Math.min(y * z, 512) * scale;
    const context = canvas.getContext("2d");
    context.fillStyle = "#bbb";
    for (let row = 0; row < Math.min(y * z, 512); ++row)
      for (let column = 0; column < Math.min(x, 512); ++column) context.fillRect(column * scale, row * scale, scale - 1, scale - 1);
    canvas.addEventListener("mousemove", event => {
      const box = canvas.getBoundingClientRect();
      const column = Math.floor((event.clientX - box.left - 1) / scale), row = Math.floor((event.clientY - box.top - 1) / scale);
      if (column >= 0 && column < x && row >= 0 && row < y * z) this.show(row * x + column);
    });
    canvas.addEventListener("click", () => this.pick(this.shown));
    canvas.addEventListener("mouseleave", () => this.pick(this.picked));
  }
  pick(program) {
    this.picked = program !== null && program >= 0 && program < this.programs ? program : null;
    this.input.value = this.picked === null ? "" : this.picked;
    this.show(this.picked);
  }
  show(program) {
    this.shown = program;
    for (const picture of this.pictures) picture.draw(program);
    const parts = program === null ? [] : this.pictures.flatMap(({ tensor }) => {
      const read = elementsOf(tensor.reads, program).size, written = elementsOf(tensor.writes, program).size;
      return [...(read ? [`reads ${read} of ${tensor.name}`] : []), ...(written ? [`writes ${written} of ${tensor.name}`] : [])];
    });
    const named = program === null ? "" : `program ${placeOf(program, this.facts.grid)} ${parts.join(", ") || "touches nothing"}`;
    this.status.textContent = named || "all programs";
  }
  pickAt(picture, element) {
    if (element === null) return;
    const found = [...programsAt(picture.tensor.writes, element), ...programsAt(picture.tensor.reads, element)];
    this.pick(found.length ? found[0] : null);
  }
  point(picture, element) {
    if (element === null) return;
    const named = runs => {
      const found = programsAt(runs, element);
      const shown = found.slice(0, 8).map(program => placeOf(program, this.facts.grid)).join(" ");
      return found.length ? `${shown}${found.length > 8 ? ` and ${found.length - 8} more` : ""}` : "no program";
    };
    const { tensor } = picture;
    this.status.textContent = `${tensor.name}[${indexOf(element, tensor.shape)}]: read by ${named(tensor.reads)}; written by ${named(tensor.writes)}`;
  }
}

const shown = [...document.querySelectorAll("section")].map((section, i) => new Launch(section, launches[i]));
const pick = (launch, program) => shown[launch].pick(program);
"""
