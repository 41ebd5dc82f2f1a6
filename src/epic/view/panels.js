"use strict";
// What stands around the pictures: operations in words, the soft label, the legend.
const share = (v) => Math.round(100 * v) + "%";
const number = (v) => (v === 0 ? "0" : Math.abs(v) < 1e4 ? v.toFixed(2) : v.toPrecision(3));
const KINDS = ["substitute", "delete", "insert"];
const SIGNS = ["\u21c4", "\u2212", "+"];

// What the data of a page says, out of its script element.
const pageData = () => JSON.parse(document.getElementById("data").textContent);

// What an operation does, in words: "3 (C) -> 5 (N)".
function operationText(data, operation) {
  const [kind, source, target] = operation;
  const tag = (index, last) => {
    const node = data.nodes.find((n) => n[3] === index && (last ? n[5] > data.steps : n[4] === 0));
    return node && node[1] >= 0 ? index + " (" + data.tags[node[1]][0] + ")" : nodeName(index, last);
  };
  if (kind === 0) return tag(source, false) + " \u2192 " + tag(target, true);
  return kind === 1 ? tag(source, false) : tag(target, true);
}

// The soft label: one stacked bar for classes, a row of its own for each task or value.
class LabelBar {
  constructor(host, data, style) {
    Object.assign(this, { host, data, style });
    host.replaceChildren();
    if (!data.label) return;
    const { kind, names } = data.label;
    html("p", { class: "caption" }, host, "Soft label");
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
  const used = new Set(paths.flatMap((p) => p.nodes.map((n) => n[2]))), drawn = new Set(paths.flatMap((p) => p.edges.map((e) => e[6])));
  const theme = palette(), detailed = paths.some((p) => p.drawings[0].length / 2 <= DETAILED), molecule = paths.every((p) => p.molecule);
  host.replaceChildren();
  const entry = (text) => {
    const item = html("li", {}, host);
    const sign = svg("svg", { viewBox: "0 0 26 20", width: 26, height: 20, "aria-hidden": "true" }, item);
    html("span", {}, item, text);
    return sign;
  };
  const middle = { "text-anchor": "middle", "dominant-baseline": "central", "font-weight": 600 };
  const tags = new Map(paths.flatMap((p) => p.tags).map((tag) => [tag[2], tag]));
  for (const [text, fill, name] of [...tags.values()].sort((a, b) => a[2].localeCompare(b[2], undefined, { numeric: true }))) {
    if (molecule && name === "C") continue;  // a corner
    const sign = entry(name);
    if (!molecule) svg("circle", { cx: 13, cy: 10, r: 9, fill, stroke: theme.edge }, sign);
    svg("text", { x: 13, y: 10, "font-size": molecule ? 14 : 10, fill: molecule ? lettering(fill, theme.dark) : inkOn(fill), ...middle }, sign, text);
  }
  if (!tags.size) html("li", {}, host, "3: node 3 of the source; 3\u2032: of the target");
  style.fates.forEach((f, i) => {
    if (!used.has(i) || (molecule && i === 0)) return;
    const sign = entry(style.told[f] + (molecule && i === 1 ? " by another atom" : ""));
    const line = { stroke: theme.ink, "stroke-dasharray": style.dash[f], fill: "none" };
    svg("circle", { cx: 13, cy: 10, r: 6.5, "stroke-width": style.width[f], ...line }, sign);
    if (f === "inserted") svg("circle", { cx: 13, cy: 10, r: 9.3, "stroke-width": 0.9, ...line }, sign);
    const text = i === 0 || (i === 1 && !molecule) ? "" : SIGNS[i - 1];
    svg("text", { x: 13, y: 10, "font-size": 11, fill: theme.ink, ...middle }, sign, text);
  });
  ["kept", "dying", "newborn"].forEach((f, i) => {
    if (!drawn.has(i)) return;
    const width = i === 2 && !molecule ? 2.6 : 1.6, sign = entry(style.edges[f]);
    if (i === 0 && detailed) svg("line", { x1: 4, x2: 22, y1: 10, y2: 10, stroke: theme.band, "stroke-width": 12 }, sign);
    svg("line", { x1: 2, x2: 24, y1: 10, y2: 10, stroke: theme.ink, "stroke-width": width, "stroke-dasharray": i === 1 ? "5 3" : "none" }, sign);
  });
  const change = entry("this step");
  svg("circle", { cx: 13, cy: 10, r: 8, fill: theme.mark, stroke: theme.marked, "stroke-width": 1.5 }, change);
  if (!paths.some((p) => p.tags.some((tag) => tag[5]))) return;
  const broken = { fill: "none", stroke: theme.bad, "stroke-width": 1.6, "stroke-dasharray": "1.5 2.5" };
  svg("circle", { cx: 13, cy: 10, r: 8, ...broken }, entry("has too many bonds"));
}
