"use strict";
// Draws one step of an edit path as SVG. The data is what epic.view.frames makes; text only ever becomes text nodes.
const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function html(name, attributes, parent, text) {
  const made = document.createElement(name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

const alive = (item, k) => item[item.length - 2] <= k && k < item[item.length - 1];
const nodesAt = (data, k) => data.nodes.filter((n) => alive(n, k));
const edgesAt = (data, k) => data.edges.filter((e) => alive(e, k));
const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");
const share = (v) => Math.round(100 * v) + "%";
const nodeName = (index, ofTarget) => index + (ofTarget ? "\u2032" : "");
const number = (v) => (v === 0 ? "0" : Math.abs(v) < 1e4 ? v.toFixed(2) : v.toPrecision(3));

function inkOn(fill) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(fill.slice(i, i + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b > 115 ? "#111111" : "#FFFFFF";
}

// What an operation does, in words: "substitute 3 (C) -> 5 (N)".
function operationText(data, operation) {
  const [kind, source, target] = operation;
  const tag = (index, last) => {
    const node = data.nodes.find((n) => n[3] === index && (last ? n[5] > data.steps : n[4] === 0));
    return node && node[1] >= 0 ? index + " (" + data.tags[node[1]][0] + ")" : nodeName(index, last);
  };
  if (kind === 0) return tag(source, false) + " \u2192 " + tag(target, true);
  return kind === 1 ? tag(source, false) : tag(target, true);
}

class Picture {
  // `end` is undefined for the way between, 0 for the source and 1 for the target, which may have places of their own.
  constructor(host, data, style, name, end) {
    Object.assign(this, { host, data, style, name, end, step: end === 1 ? data.steps : 0, marked: null });
    this.svg = svg("svg", { role: "img", focusable: "false" }, host);
    this.title = svg("title", { id: Picture.id() }, this.svg);
    this.desc = svg("desc", { id: Picture.id() }, this.svg);
    this.svg.setAttribute("aria-labelledby", this.title.id + " " + this.desc.id);
    this.layer = svg("g", {}, this.svg);
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  static id() {
    Picture.count = (Picture.count || 0) + 1;
    return "picture" + Picture.count;
  }

  resize() {
    const wide = Math.max(120, this.host.clientWidth), high = Math.max(110, this.host.clientHeight);
    if (wide === this.wide && high === this.high) return;
    Object.assign(this, { wide, high });
    this.svg.setAttribute("viewBox", "0 0 " + wide + " " + high);
    this.locate();
    this.draw(this.step);
  }

  // Pixels of every place, and a radius that leaves room between neighbours.
  locate() {
    const { data, wide, high, end } = this, own = end === undefined ? null : data.ends[end];
    const raw = new Map();
    const shown = end === undefined ? data.nodes : nodesAt(data, end === 0 ? 0 : data.steps);
    for (const n of shown) raw.set(n[0], own ? own[n[3]] : data.at[n[0]]);
    const range = (axis) => [...raw.values()].reduce(([a, b], p) => [Math.min(a, p[axis]), Math.max(b, p[axis])], [1e9, 0]);
    if (own && (wide - high) * (range(0)[1] - range(1)[1]) < 0) raw.forEach((p, place) => raw.set(place, [p[1], 1000 - p[0]]));
    const room = Math.sqrt((wide * high) / Math.max(1, raw.size));
    const pad = raw.size < 5 ? 0.2 * Math.min(wide, high) : Math.min(22, 8 + 0.25 * room);
    const [[x0, x1], [y0, y1]] = own ? [range(0), range(1)] : [[0, 1000], [0, 1000]];
    let sx = (wide - 2 * pad) / Math.max(1, x1 - x0), sy = (high - 2 * pad) / Math.max(1, y1 - y0);
    if (own) {  // molecules keep their shape, other graphs may be stretched a little
      const most = data.molecule ? 1 : 1.7;
      [sx, sy] = [Math.min(sx, most * sy), Math.min(sy, most * sx)];
    }
    this.xy = new Map();
    for (const [place, p] of raw) {
      this.xy.set(place, [wide / 2 + sx * (p[0] - (x0 + x1) / 2), high / 2 + sy * (p[1] - (y0 + y1) / 2)]);
    }
    const dots = [...this.xy.values()];
    const gaps = dots.map((p) => Math.min(99, ...dots.filter((q) => q !== p).map((q) => Math.hypot(p[0] - q[0], p[1] - q[1]))));
    gaps.sort((a, b) => a - b);
    const tight = gaps.length ? gaps[Math.floor(gaps.length / 16)] : 99;
    this.radius = Math.max(3.2, Math.min(12, (data.molecule ? 0.3 : 0.36) * tight, 0.32 * room));
  }

  // Draw step k (or the same again) with a ring around one place.
  mark(place, k) {
    this.marked = place;
    this.draw(k === undefined ? this.step : k);
  }

  draw(k) {
    this.step = k;
    const { data, style } = this, layer = svg("g", {});
    const nodes = nodesAt(data, k), edges = edgesAt(data, k), still = this.end !== undefined;
    const middle = this.marked === null ? undefined : this.xy.get(this.marked);
    const halo = middle && { cx: middle[0], cy: middle[1], r: this.radius + 8 };
    if (halo) svg("circle", { ...halo, class: "halo" }, layer);
    const lines = svg("g", {}, layer);
    if (!still && k > 0) {
      const here = new Set(edges.map((e) => e[0] + "-" + e[1]));
      for (const e of data.edges) if (e[7] === k && !here.has(e[0] + "-" + e[1])) this.edge(lines, e, "ghost");
    }
    const before = new Set(still || k === 0 ? [] : edgesAt(data, k - 1).map((e) => e[0] + "-" + e[1]));
    for (const e of edges) this.edge(lines, e, !still && k > 0 && !before.has(e[0] + "-" + e[1]) ? "new" : "");
    if (!still && k > 0) {
      for (const n of data.nodes) if (n[5] === k && n[2] === 2) this.ghost(layer, n);
    }
    for (const n of nodes) this.node(layer, n);
    if (halo) svg("circle", { ...halo, class: "ring" }, layer);
    this.layer.replaceWith(layer);
    this.layer = layer;
    this.title.textContent = this.name;
    const counts = style.fates.map((f, i) => [nodes.filter((n) => n[2] === i).length, f]).filter((c) => c[0]);
    const text = plural(nodes.length, "node") + " (" + counts.map((c) => c[0] + " " + c[1]).join(", ") + "), " + plural(edges.length, "edge");
    this.desc.textContent = (still ? "" : "After " + k + " of " + plural(data.steps, "operation") + ": ") + text + ".";
    this.svg.dataset.nodes = nodes.length;
    this.svg.dataset.edges = edges.length;
  }

  node(layer, [place, tag, fate, index]) {
    const { data, style, radius } = this, [cx, cy] = this.xy.get(place), name = style.fates[fate];
    const fill = tag < 0 ? style.blank : data.tags[tag][1], text = tag < 0 ? nodeName(index, fate === 1 || fate === 3) : data.tags[tag][0];
    const group = svg("g", { class: "node " + name }, layer);
    const width = Math.min(style.width[name], 0.35 * radius + 0.4);
    const line = { stroke: style.outline[name], "stroke-width": width, "stroke-dasharray": style.dash[name] };
    svg("circle", { cx, cy, r: radius + 1.2 + width / 2, fill: "#FFFFFF", ...line }, group);
    if (name === "inserted" && radius > 5) svg("circle", { cx, cy, r: radius + 5, fill: "none", ...line, "stroke-width": 0.9 }, group);
    svg("circle", { cx, cy, r: radius, fill }, group);
    const size = Math.min(12, (text.length > 2 ? 0.95 : text.length > 1 ? 1.15 : 1.4) * radius);
    svg("text", { x: cx, y: cy, "font-size": size, fill: inkOn(fill) }, group, text);
    const where = fate === 0 || fate === 2 ? "source" : "target";
    svg("title", {}, group, "node " + index + " of the " + where + (tag < 0 ? "" : ", " + data.tags[tag][2]) + ": " + style.told[name]);
  }

  ghost(layer, [place]) {
    const [cx, cy] = this.xy.get(place), r = this.radius, stroke = this.style.outline.deleted;
    const group = svg("g", { class: "ghost", stroke, fill: "none", "stroke-width": 1.4 }, layer);
    svg("circle", { cx, cy, r: r + 1, "stroke-dasharray": "3 2" }, group);
    svg("path", { d: `M${cx - r / 2} ${cy - r / 2}l${r} ${r}m0 ${-r}l${-r} ${r}` }, group);
  }

  edge(layer, [a, b, ways, back, bond, fate], state) {
    const { style, radius } = this, p = this.xy.get(a), q = this.xy.get(b), kind = ["kept", "dying", "newborn"][fate];
    const wide = Math.max(0.8, Math.min(1.6, radius / 6)) * (state === "new" ? 2 : kind === "kept" ? 1 : 1.25);
    const group = svg("g", { class: "edge " + kind + " " + state, stroke: style.edge[kind], "stroke-width": wide, fill: "none" }, layer);
    if (kind === "dying") group.setAttribute("stroke-dasharray", "5 3");
    if (a === b) {
      svg("circle", { cx: p[0] + radius, cy: p[1] - radius, r: radius }, group);
      return;
    }
    const far = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1, ux = (q[0] - p[0]) / far, uy = (q[1] - p[1]) / far;
    const off = Math.max(1.3, 0.22 * radius);
    const sides = { double: [-off, off], triple: [-1.6 * off, 0, 1.6 * off], aromatic: [-off, off] }[bond] || [0];
    sides.forEach((s, i) => {
      const line = svg("line", { x1: p[0] - uy * s, y1: p[1] + ux * s, x2: q[0] - uy * s, y2: q[1] + ux * s }, group);
      if (bond === "aromatic" && i === 1) line.setAttribute("stroke-dasharray", "2 2.5");
    });
    if (!this.data.directed) return;
    for (const [there, tip, x, y] of [[ways, q, ux, uy], [back, p, -ux, -uy]]) {
      if (!there) continue;
      const tx = tip[0] - x * (radius + 4), ty = tip[1] - y * (radius + 4);
      const d = `M${tx} ${ty}L${tx - 7 * x - 3 * y} ${ty - 7 * y + 3 * x}L${tx - 7 * x + 3 * y} ${ty - 7 * y - 3 * x}Z`;
      svg("path", { d, fill: style.edge[kind], "stroke-dasharray": "none", "stroke-width": 0.5 }, group);
    }
  }
}

// The soft label: one stacked bar for classes, a row of its own for each task or value.
class LabelBar {
  constructor(host, data, style) {
    Object.assign(this, { host, data, style });
    if (!data.label) {
      host.remove();
      return;
    }
    const { kind, names } = data.label;
    this.bar = html("div", { class: kind === "classes" ? "stack" : "rows", role: "img" }, host);
    this.parts = names.map((name, i) => {
      const part = html("div", { class: "part" }, this.bar);
      const colour = style.classes[names.length < 2 ? 0 : Math.round((i * (style.classes.length - 1)) / (names.length - 1))];
      if (kind !== "classes") html("span", { class: "what" }, part, name);
      const fill = html("div", { class: "fill" }, part);
      fill.style.background = colour;
      fill.style.color = inkOn(colour);
      return { part, fill, name, says: html("span", { class: "says" }, kind === "classes" ? fill : part) };
    });
  }

  values(k) {
    const { source, target } = this.data.label, w = this.data.spent[k];
    return source.map((s, i) => (w === 0 ? s : w === 1 ? target[i] : s === null || target[i] === null ? null : (1 - w) * s + w * target[i]));
  }

  draw(k) {
    if (!this.data.label) return;
    const values = this.values(k), classes = this.data.label.kind === "classes", words = [];
    this.parts.forEach(({ part, fill, name, says }, i) => {
      const v = values[i], shown = v === null ? "missing" : classes ? share(v) : number(v);
      words.push(name + " " + shown);
      if (classes) {
        part.style.width = 100 * v + "%";
        part.title = name + " " + shown;
        says.textContent = v > 0.16 ? name + " " + shown : "";
      } else {
        fill.style.width = this.data.label.kind === "tasks" && v !== null ? 0.5 * 100 * v + "%" : "0";
        says.textContent = shown;
      }
    });
    this.bar.setAttribute("aria-label", "Soft label: " + words.join(", "));
  }
}

// Signs that the given paths use: labels, fates of nodes, fates of edges.
function drawLegend(host, paths, style) {
  const used = new Set(paths.flatMap((p) => p.nodes.map((n) => n[2]))), drawn = new Set(paths.flatMap((p) => p.edges.map((e) => e[5])));
  const entry = (text) => {
    const item = html("li", {}, host);
    const sign = svg("svg", { viewBox: "0 0 26 20", width: 26, height: 20, "aria-hidden": "true" }, item);
    html("span", {}, item, text);
    return sign;
  };
  const tags = new Map(paths.flatMap((p) => p.tags).map((tag) => [tag[2], tag]));
  for (const [text, fill, name] of [...tags.values()].sort((a, b) => a[2].localeCompare(b[2], undefined, { numeric: true }))) {
    const sign = entry(name);
    svg("circle", { cx: 13, cy: 10, r: 9, fill, stroke: "#999999" }, sign);
    svg("text", { x: 13, y: 10, "font-size": 10, fill: inkOn(fill) }, sign, text);
  }
  if (!tags.size) html("li", {}, host, "3: node 3 of the source; 3\u2032: of the target");
  style.fates.forEach((f, i) => {
    if (!used.has(i)) return;
    const sign = entry(style.told[f]), line = { stroke: style.outline[f], "stroke-dasharray": style.dash[f], fill: "none" };
    svg("circle", { cx: 13, cy: 10, r: 6.5, "stroke-width": style.width[f], ...line }, sign);
    if (f === "inserted") svg("circle", { cx: 13, cy: 10, r: 9.3, "stroke-width": 0.9, ...line }, sign);
  });
  ["kept", "dying", "newborn"].forEach((f, i) => {
    if (!drawn.has(i)) return;
    const dash = f === "dying" ? "5 3" : "none";
    svg("line", { x1: 2, x2: 24, y1: 10, y2: 10, stroke: style.edge[f], "stroke-width": 2, "stroke-dasharray": dash }, entry(style.edges[f]));
  });
}

// What the data of a page says, out of its script element.
const pageData = () => JSON.parse(document.getElementById("data").textContent);
