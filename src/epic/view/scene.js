"use strict";
// What a step of an edit path looks like: plain shapes that picture.js paints. The data is what epic.view.frames makes.
// A shape is a path ({ d, fill, stroke, width, dash }) or a text ({ text, size, fill }). Groups of shapes have a layer, a
// key that stays the same from step to step, and a place.
const alive = (item, k) => item[item.length - 2] <= k && k < item[item.length - 1];
const nodesAt = (data, k) => data.nodes.filter((n) => alive(n, k));
const edgesAt = (data, k) => data.edges.filter((e) => alive(e, k));
const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");
const nodeName = (index, ofTarget) => index + (ofTarget ? "\u2032" : "");
const between = (low, value, high) => Math.max(low, Math.min(high, value));
const circle = (r, x = 0, y = 0) => `M${x + r} ${y}A${r} ${r} 0 1 0 ${x - r} ${y}A${r} ${r} 0 1 0 ${x + r} ${y}Z`;
const line = (a, b) => `M${a[0].toFixed(1)} ${a[1].toFixed(1)}L${b[0].toFixed(1)} ${b[1].toFixed(1)}`;
const luminance = (c) => 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2];
const channels = (fill) => [1, 3, 5].map((i) => parseInt(fill.slice(i, i + 2), 16));
const inkOn = (fill) => (luminance(channels(fill)) > 115 ? "#111111" : "#FFFFFF");
const DETAILED = 150;  // pictures of more places have no bands, badges and fine outlines
const ELEMENTS = 60;  // pictures of more places are painted on a canvas

// The colour of an element's letters, dark enough for a light page and light enough for a dark one.
function lettering(fill, dark) {
  let c = channels(fill);
  for (let i = 0; i < 20 && (dark ? luminance(c) < 135 : luminance(c) > 105); i++) c = c.map((v) => (dark ? v + 0.12 * (255 - v) : 0.9 * v));
  return "#" + c.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("");
}

class Scene {
  // `end` is undefined for the way between, 0 for the source and 1 for the target.
  constructor(data, style, end) {
    Object.assign(this, { data, style, end, still: end !== undefined });
    const places = data.drawings[0].length / 2;
    Object.assign(this, { detailed: places <= DETAILED, simple: places <= ELEMENTS });
    const first = new Map(), tags = (tag) => (tag < 0 ? "" : data.tags[tag][0] + data.tags[tag][4]);
    this.changed = new Set();
    for (const [place, tag, , , born] of data.nodes) {
      if (born === 0) first.set(place, tags(tag));
      else if (first.has(place) && first.get(place) !== tags(tag)) this.changed.add(place);
    }
    this.stepOf = new Map(data.operations.map((operation, i) => [operation[4], i + 1]));
  }

  // Numbers at step k, which need not be whole, of what is known for each drawing.
  mixed(known, k) {
    const way = (k / Math.max(1, this.data.steps)) * (known.length - 1);
    const low = Math.min(Math.floor(way), known.length - 2), share = way - low;
    return known[low].map((v, i) => v + share * (known[low + 1][i] - v));
  }

  // What must fit on the picture at each drawing, with room for letters: left, top, right, bottom.
  boxes() {
    const { data, end } = this, last = data.drawings.length - 1, room = data.molecule ? 65 : 45;
    return data.drawings.map((drawing, j) => {
      const low = ((j - 1) / last) * data.steps, high = ((j + 1) / last) * data.steps, box = [1e9, 1e9, -1e9, -1e9];
      for (const n of data.nodes) {
        if (this.still ? !alive(n, end * data.steps) : n[4] > high || n[5] <= low) continue;
        const x = drawing[2 * n[0]], y = drawing[2 * n[0] + 1];
        box[0] = Math.min(box[0], x - room); box[1] = Math.min(box[1], y - room);
        box[2] = Math.max(box[2], x + room); box[3] = Math.max(box[3], y + room);
      }
      return box[0] > box[2] ? [-100, -100, 100, 100] : box;
    });
  }

  // Where the drawing of step `when` goes on a picture of this size; it changes as smoothly as the drawing.
  fitted(when, wide, high) {
    if (!this.all) this.all = this.boxes();
    const [x0, y0, x1, y1] = this.mixed(this.all, this.still ? this.end * this.data.steps : when), most = 0.9;  // pixels for a hundredth of an edge
    const scale = Math.min(most, (wide - 8) / (x1 - x0), (high - 8) / (y1 - y0));
    return { scale, x: wide / 2 - (scale * (x0 + x1)) / 2, y: high / 2 - (scale * (y0 + y1)) / 2 };
  }

  // Everything to paint at step k, with coordinates of step `when` (an animation is on its way there).
  groups(k, when, fit, palette) {
    const { data, still } = this, raw = this.mixed(data.drawings, still ? this.end * data.steps : when);
    const point = (place) => [fit.x + fit.scale * raw[2 * place], fit.y + fit.scale * raw[2 * place + 1]];
    const nodes = nodesAt(data, k), edges = edgesAt(data, k), unit = 100 * fit.scale;
    const round = (v) => Math.round(4 * v) / 4;  // so that little changes from step to step
    const radius = round(data.molecule ? between(4, 0.27 * unit, 13) : between(2, 0.36 * fit.scale * data.room, 13));
    Object.assign(this, { fit, palette, point, unit, radius, letters: round(between(7, 0.36 * unit, 15)), nodes, edges });
    this.joined = new Map(nodes.map((n) => [n[0], []]));
    for (const e of edges) if (e[0] !== e[1]) this.joined.get(e[0]).push(e[1]), this.joined.get(e[1]).push(e[0]);
    this.tagOf = new Map(nodes.map((n) => [n[0], n[1]]));
    const made = [], key = (e) => e[0] + "-" + e[1];
    if (this.detailed) this.bands(made);
    const before = new Set(still || k === 0 ? [] : edgesAt(data, k - 1).map(key)), here = new Set(edges.map(key));
    const wedges = new Map(data.wedges.filter((w) => alive(w, k)).map((w) => [Math.min(w[0], w[1]) + "-" + Math.max(w[0], w[1]), w]));
    const plain = new Map();  // in large graphs, all edges of a fate are one shape
    for (const e of edges) {
      const shapes = this.edge(e, !still && k > 0 && !before.has(key(e)), wedges.get(key(e)));
      if (this.detailed || data.directed) made.push({ layer: "edge", key: "e" + key(e), x: 0, y: 0, shapes });
      else {
        for (const s of shapes) {
          const look = s.stroke + s.width + s.dash;
          if (!plain.has(look)) plain.set(look, { ...s, d: [] });
          plain.get(look).d.push(s.d);
        }
      }
    }
    for (const [look, s] of plain) made.push({ layer: "edge", key: look, x: 0, y: 0, shapes: [{ ...s, d: s.d.join("") }] });
    if (!still && k > 0) {
      for (const e of data.edges) {
        if (e[8] !== k || here.has(key(e))) continue;
        const shapes = [{ d: line(point(e[0]), point(e[1])), stroke: palette.soft, width: 1, dash: "2 3" }];
        made.push({ layer: "ghost", key: "g" + key(e), x: 0, y: 0, shapes });
      }
      for (const n of data.nodes) if (n[5] === k && n[2] === 2 && !this.tagOf.has(n[0])) made.push(this.group("ghost", n[0], this.gone()));
    }
    for (const n of nodes) made.push(this.group("node", n[0], data.molecule ? this.atom(n) : this.node(n), this.style.fates[n[2]]));
    return made;
  }

  group(layer, place, shapes, fate) {
    const [x, y] = this.point(place);
    return { layer, key: layer + place, x, y, shapes, fate };
  }

  // The ring around a place, if something is drawn there: its middle and radius.
  ring(place, k) {
    const here = this.tagOf.has(place) || (!this.still && k > 0 && this.data.operations[k - 1][4] === place);
    return here ? [...this.point(place), this.radius + (this.detailed ? 8 : 5)] : null;
  }

  // A band under the part that both graphs share.
  bands(made) {
    const { palette, point } = this, width = between(8, 0.42 * this.unit, 26), stroke = palette.band;
    const kept = this.edges.filter((e) => e[6] === 0 && e[0] !== e[1]).map((e) => line(point(e[0]), point(e[1])));
    const dots = this.nodes.filter((n) => n[2] < 2).map((n) => circle(width / 2, ...point(n[0]).map((v) => +v.toFixed(1))));
    if (kept.length) made.push({ layer: "band", key: "kept", x: 0, y: 0, shapes: [{ d: kept.join(""), stroke, width, round: true }] });
    if (dots.length) made.push({ layer: "band", key: "dots", x: 0, y: 0, shapes: [{ d: dots.join(""), fill: stroke }] });
  }

  // The outline that shows what becomes of a node: one line, a thick one, dashes, or two lines.
  outline(fate, radius) {
    const { style, palette } = this, name = style.fates[fate], width = Math.min(style.width[name], 0.3 * radius + 0.5);
    const look = { stroke: palette.ink, width, dash: style.dash[name] };
    const found = [{ d: circle(radius), ...look }];
    if (name === "inserted" && this.detailed) found.push({ d: circle(radius + 3.2), ...look, width: 1 });
    return found;
  }

  // A sign at the upper right: minus for what goes, plus for what came, arrows for what was replaced.
  badge(fate, radius) {
    const { palette } = this, s = 3, at = 0.8 * radius + 3, sign = ["", "s", "d", "i"][fate];
    const arrows = `M${at - s} ${-at - 1.2}h${2 * s}l-2 -1.8M${at + s} ${-at + 1.4}h${-2 * s}l2 1.8`;
    const d = { d: `M${at - s} ${-at}h${2 * s}`, i: `M${at - s} ${-at}h${2 * s}M${at} ${-at - s}v${2 * s}`, s: arrows }[sign];
    return [{ d: circle(5.2, at, -at), fill: palette.card, stroke: palette.ink, width: 0.9 }, { d, stroke: palette.ink, width: 1.3 }];
  }

  node([, tag, fate, index]) {
    const { data, style, palette, radius } = this;
    const fill = tag < 0 ? style.blank : data.tags[tag][1], text = tag < 0 ? nodeName(index, fate === 1 || fate === 3) : data.tags[tag][0];
    const [edge] = this.outline(fate, radius);
    const ground = { d: circle(radius + 1.5), fill: palette.card };
    const shapes = this.detailed ? [ground, ...this.outline(fate, radius + 1.5), { d: circle(radius), fill }] : [{ ...edge, fill }];
    const size = Math.min(12, (text.length > 2 ? 0.95 : text.length > 1 ? 1.15 : 1.4) * radius);
    if (size * this.fit.zoom > 5) shapes.push({ text, x: 0, y: 0, size, fill: inkOn(fill) });
    if (fate > 1 && this.detailed && radius > 6) shapes.push(...this.badge(fate, radius));
    return shapes;
  }

  gone() {
    const { palette } = this, r = this.radius, h = 0.5 * r, stroke = palette.soft;
    return [{ d: circle(r + 1), stroke, width: 1.2, dash: "3 2" }, { d: `M${-h} ${-h}L${h} ${h}M${h} ${-h}L${-h} ${h}`, stroke, width: 1.4 }];
  }

  // Atoms as chemists write them: carbon without a letter, others with their hydrogens and charge.
  labelled(place) {
    const tag = this.tagOf.get(place);
    if (tag === undefined || tag < 0) return false;
    const [text, , , , charge, flawed] = this.data.tags[tag];
    return text !== "C" || charge !== 0 || flawed || !this.joined.get(place).length;
  }

  atom([place, tag, fate]) {
    const { data, palette, letters, radius } = this, [text, colour, , hydrogens, charge, flawed] = data.tags[tag];
    const shapes = [], fill = lettering(colour, palette.dark);
    const shown = fate > 1 || (fate === 1 && this.changed.has(place));
    if (shown) shapes.push(...this.outline(fate, radius + 2));
    if (flawed) shapes.push({ d: circle(radius + 6), stroke: palette.bad, width: 1.6, dash: "1.5 2.5" });
    if (this.labelled(place)) shapes.push(...this.spelled(place, text, hydrogens, charge, fill, letters));
    if (shown && radius > 6) shapes.push(...this.badge(fate, radius + 1));
    if (!shapes.length) shapes.push({ d: circle(0.9), fill: palette.ink });
    return shapes;
  }

  spelled(place, text, hydrogens, charge, fill, size) {
    const [x] = this.point(place), lean = this.joined.get(place).reduce((sum, other) => sum + this.point(other)[0] - x, 0);
    const shapes = [{ text, x: 0, y: 0, size, fill }], half = (text.length > 1 ? 0.6 : 0.38) * size;
    let right = half;
    const behind = (what, scale, dy) => {
      const wide = 0.66 * scale * size * what.length;
      shapes.push({ text: what, x: right + wide / 2, y: dy * size, size: scale * size, fill });
      right += wide;
    };
    if (hydrogens && lean <= 0.5 * this.unit * 0.2) {
      behind("H", 1.08, 0);
      if (hydrogens > 1) behind(String(hydrogens), 0.68, 0.32);
    } else if (hydrogens) {
      let left = -half;
      if (hydrogens > 1) {
        shapes.push({ text: String(hydrogens), x: left - 0.22 * size, y: 0.32 * size, size: 0.68 * size, fill });
        left -= 0.44 * size;
      }
      shapes.push({ text: "H", x: left - 0.35 * size, y: 0, size, fill });
    }
    if (charge) behind((Math.abs(charge) > 1 ? Math.abs(charge) : "") + (charge > 0 ? "+" : "\u2212"), 0.8, -0.38);
    return shapes;
  }

  // One edge: a line, two or three for bonds, a wedge, arrows.
  edge([a, b, ways, back, bond, ring, fate], fresh, wedge) {
    const { data, palette, radius, detailed } = this, shapes = [];
    let p = this.point(a), q = this.point(b);
    if (a === b) return [{ d: circle(radius, p[0] + radius, p[1] - radius), stroke: palette.edge, width: 1.2 }];
    const far = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1, u = [(q[0] - p[0]) / far, (q[1] - p[1]) / far];
    if (fresh) shapes.push({ d: line(p, q), stroke: palette.mark, width: between(5, 0.3 * this.unit, 12), round: true });
    if (data.molecule) {
      const cut = Math.min(0.66 * this.letters, 0.4 * far);
      if (this.labelled(a)) p = [p[0] + u[0] * cut, p[1] + u[1] * cut];
      if (this.labelled(b)) q = [q[0] - u[0] * cut, q[1] - u[1] * cut];
    }
    const dash = fate === 1 ? "5 3" : "", stroke = data.molecule ? palette.ink : palette.edge;
    const width = data.molecule ? between(1, 0.035 * this.unit, 1.9) : (detailed ? 1.5 : 0.9) * (fate === 2 ? 1.7 : 1);
    if (wedge) return [...shapes, this.wedge(wedge, a, p, q, u, stroke)];
    for (const [s, e, dotted] of this.strokes(a, b, bond, ring, u, far)) {
      const from = [p[0] - u[1] * s + u[0] * e, p[1] + u[0] * s + u[1] * e], to = [q[0] - u[1] * s - u[0] * e, q[1] + u[0] * s - u[1] * e];
      shapes.push({ d: line(from, to), stroke, width, dash: dotted ? "1.5 2.5" : dash });
    }
    if (data.directed) {
      for (const [there, tip, x, y] of [[ways, q, u[0], u[1]], [back, p, -u[0], -u[1]]]) {
        const tx = tip[0] - x * (radius + 4), ty = tip[1] - y * (radius + 4);
        if (there) shapes.push({ d: `M${tx} ${ty}L${tx - 7 * x - 3 * y} ${ty - 7 * y + 3 * x}L${tx - 7 * x + 3 * y} ${ty - 7 * y - 3 * x}Z`, fill: stroke });
      }
    }
    return shapes;
  }

  // Lines of a bond: how far to the side, how much shorter at each end, and whether dotted.
  strokes(a, b, bond, ring, u, far) {
    const off = between(2, 0.11 * this.unit, 5);
    if (bond === "triple") return [[0, 0], [off, 0.1 * far], [-off, 0.1 * far]];
    if (bond !== "double" && bond !== "aromatic") return [[0, 0]];
    const p = this.point(a), side = (places) => Math.sign(places.reduce((sum, i) => {
      const q = this.point(i);
      return sum + u[0] * (q[1] - p[1]) - u[1] * (q[0] - p[0]);
    }, 0)) || 1;
    const others = [...this.joined.get(a), ...this.joined.get(b)].filter((i) => i !== a && i !== b);
    if (ring >= 0) return [[0, 0], [off * 1.25 * side(this.data.rings[ring]), 0.13 * far, bond === "aromatic"]];
    if (bond === "double" && (this.joined.get(a).length < 2 || this.joined.get(b).length < 2)) return [[-off / 1.7, 0], [off / 1.7, 0]];
    return [[0, 0], [off * 1.25 * side(others), 0.1 * far, bond === "aromatic"]];
  }

  wedge([centre, , sign], a, p, q, u, fill) {
    const [tip, end] = centre === a ? [p, q] : [q, p], half = between(2, 0.1 * this.unit, 5), n = [-u[1], u[0]];
    const across = (share) => [tip[0] + share * (end[0] - tip[0]), tip[1] + share * (end[1] - tip[1])];
    if (sign > 0) return { d: `M${tip[0]} ${tip[1]}L${end[0] + half * n[0]} ${end[1] + half * n[1]}L${end[0] - half * n[0]} ${end[1] - half * n[1]}Z`, fill };
    const rungs = [0.12, 0.27, 0.42, 0.57, 0.72, 0.87, 1].map((s) => {
      const [x, y] = across(s), w = half * s + 0.5;
      return line([x - w * n[0], y - w * n[1]], [x + w * n[0], y + w * n[1]]);
    });
    return { d: rungs.join(""), stroke: fill, width: 1.2 };
  }
}
