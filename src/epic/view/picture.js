"use strict";
// Paints the shapes of scene.js: as SVG, in which only what changed is touched, or on a canvas where there is much to
// paint. Text only ever becomes text nodes.
const SVG = "http://www.w3.org/2000/svg";
const LAYERS = ["band", "mark", "ghost", "edge", "node"];
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

function element(made, attributes, parent, text) {
  for (const key in attributes) if (attributes[key] !== undefined) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}
const svg = (name, attributes, parent, text) => element(document.createElementNS(SVG, name), attributes, parent, text);
const html = (name, attributes, parent, text) => element(document.createElement(name), attributes, parent, text);

// The colours of the theme as the page has them now; asked once for each theme.
let colours = null;
function palette() {
  if (colours) return colours;
  const probe = html("span", {}, document.body), found = {};
  for (const name of ["ink", "soft", "card", "band", "mark", "marked", "edge", "bad"]) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  found.dark = luminance(found.card.match(/[\d.]+/g).map(Number)) < 128;
  return (colours = found);
}
for (const asked of [document.getElementById("theme"), matchMedia("(prefers-color-scheme: dark)")]) {
  asked.addEventListener("change", () => {
    colours = null;
    document.dispatchEvent(new Event("theme"));
  });
}

class SvgPainter {
  constructor(host) {
    this.root = svg("svg", { role: "img", focusable: "false", "font-family": FONT, "font-weight": 600 }, host);
    this.title = svg("title", { id: SvgPainter.id() }, this.root);
    this.desc = svg("desc", { id: SvgPainter.id() }, this.root);
    this.root.setAttribute("aria-labelledby", this.title.id + " " + this.desc.id);
    this.zoomed = svg("g", {}, this.root);
    this.layers = Object.fromEntries(LAYERS.map((name) => [name, svg("g", {}, this.zoomed)]));
    this.made = new Map();
  }

  static id() {
    SvgPainter.count = (SvgPainter.count || 0) + 1;
    return "picture" + SvgPainter.count;
  }

  resize(wide, high) {
    this.root.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  }

  describe(name, text) {
    this.title.textContent = name;
    this.desc.textContent = text;
  }

  paint(groups, view) {
    this.zoomed.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.zoom})`);
    const seen = new Set();
    for (const group of groups) {
      const look = JSON.stringify(group.shapes);
      let made = this.made.get(group.key);
      if (!made) this.made.set(group.key, (made = { g: svg("g", {}, this.layers[group.layer]) }));
      if (made.look !== look) made.g.replaceChildren(...group.shapes.map((s) => this.shape(s)));
      const at = group.x || group.y ? `translate(${group.x.toFixed(2)} ${group.y.toFixed(2)})` : "";
      const name = group.layer + (group.fate ? " " + group.fate : "");
      if (made.at !== at) made.g.setAttribute("transform", at);
      if (made.name !== name) made.g.setAttribute("class", name);
      Object.assign(made, { look, at, name });
      seen.add(group.key);
    }
    for (const [key, { g }] of this.made) if (!seen.has(key)) g.remove(), this.made.delete(key);
  }

  shape({ d, fill, stroke, width, dash, round, text, x, y, size }) {
    const middle = { "text-anchor": "middle", "dominant-baseline": "central" };
    if (d === undefined) return svg("text", { x, y, "font-size": size, fill, ...middle }, null, text);
    const line = { "stroke-dasharray": dash || undefined, "stroke-linecap": round ? "round" : undefined };
    return svg("path", { d, fill: fill || "none", stroke, "stroke-width": width, ...line });
  }
}

class CanvasPainter {
  constructor(host) {
    this.root = html("canvas", { role: "img" }, host);
    this.paths = new Map();
  }

  resize(wide, high, sharp = window.devicePixelRatio || 1) {
    Object.assign(this, { sharp });
    this.root.width = wide * sharp;
    this.root.height = high * sharp;
  }

  describe(name, text) {
    this.root.setAttribute("aria-label", name + ". " + text);
  }

  paint(groups, view, ground) {
    const context = this.root.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.root.width, this.root.height);
    if (ground) (context.fillStyle = ground), context.fillRect(0, 0, this.root.width, this.root.height);
    context.textAlign = "center";
    context.textBaseline = "middle";
    const scale = this.sharp * view.zoom;
    for (const layer of LAYERS) {
      for (const group of groups) {
        if (group.layer !== layer) continue;
        context.setTransform(scale, 0, 0, scale, this.sharp * view.x + scale * group.x, this.sharp * view.y + scale * group.y);
        for (const s of group.shapes) this.shape(context, s, layer === "node" || layer === "ghost");
      }
    }
  }

  shape(context, { d, fill, stroke, width, dash, round, text, x, y, size }, again) {
    if (d === undefined) {
      context.font = `600 ${size}px ${FONT}`;
      context.fillStyle = fill;
      context.fillText(text, x, y);
      return;
    }
    let path = this.paths.get(d);
    if (!path) path = new Path2D(d);
    if (again) this.paths.set(d, path);  // the circles of nodes come again and again
    if (fill) (context.fillStyle = fill), context.fill(path);
    if (!stroke) return;
    Object.assign(context, { strokeStyle: stroke, lineWidth: width, lineCap: round ? "round" : "butt" });
    context.setLineDash(dash ? dash.split(" ").map(Number) : []);
    context.stroke(path);
  }
}

class Picture {
  // `end`: see Scene. `watch` is told which place the pointer is on (null: none), and which was tapped.
  constructor(host, data, style, { name, end, zoom = true, watch }) {
    Object.assign(this, { host, style, name, end, watch, marked: null, moving: 0, view: { zoom: 1, x: 0, y: 0 } });
    this.spot = html("div", { class: "spot" }, host);
    this.show(data);
    new ResizeObserver(() => this.resize()).observe(host);
    document.addEventListener("theme", () => this.draw());
    if (watch) this.listen(zoom);
  }

  show(data) {
    this.data = data;
    this.scene = new Scene(data, this.style, this.end);
    const wanted = this.scene.simple ? SvgPainter : CanvasPainter;
    if (!(this.painter instanceof wanted)) {
      if (this.painter) this.painter.root.remove();
      this.painter = new wanted(this.host);
    }
    this.step = this.when = this.end === 1 ? data.steps : 0;
    this.wide = 0;
    this.resize();
  }

  resize() {
    const wide = Math.max(120, this.host.clientWidth), high = Math.max(110, this.host.clientHeight);
    if (wide === this.wide && high === this.high) return;
    Object.assign(this, { wide, high });
    this.painter.resize(wide, high);
    this.draw();
  }

  // Go to step k with a ring around one place; nodes glide if it is near and nobody asked for less motion.
  go(k, marked = null, glide = false) {
    const from = this.when, calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    Object.assign(this, { step: k, marked });
    cancelAnimationFrame(this.moving);
    if (!glide || calm || from === k || !this.scene.detailed) {
      this.when = k;
      return this.draw();
    }
    const start = performance.now(), move = (now) => {
      const share = between(0, (now - start) / 220, 1);
      this.when = from + (k - from) * share * (2 - share);
      this.draw();
      if (share < 1) this.moving = requestAnimationFrame(move);
    };
    move(start);
  }

  mark(place) {
    if (place === this.marked) return;
    this.marked = place;
    this.ring();
  }

  // Move the ring, which lies over the picture, to what is marked: nothing is drawn again.
  ring() {
    const at = this.marked === null ? null : this.scene.ring(this.marked, this.step), { zoom, x, y } = this.view;
    this.spot.hidden = !at;
    if (at) this.spot.style.transform = `translate(${x + zoom * at[0]}px, ${y + zoom * at[1]}px) scale(${(zoom * at[2]) / 20})`;
  }

  groups() {
    return this.scene.groups(this.step, this.when, { ...this.scene.fitted(this.when, this.wide, this.high), zoom: this.view.zoom }, palette());
  }

  draw() {
    this.painter.paint(this.groups(), this.view);
    this.ring();
    const { nodes, edges } = this.scene, { fates } = this.style;
    const counts = fates.map((f, i) => [nodes.filter((n) => n[2] === i).length, f]).filter((c) => c[0]);
    const after = this.end === undefined ? "After " + this.step + " of " + plural(this.data.steps, "operation") + ": " : "";
    const text = plural(nodes.length, "node") + " (" + counts.map((c) => c.join(" ")).join(", ") + "), " + plural(edges.length, "edge");
    this.painter.describe(this.name, after + text + ".");
    Object.assign(this.host.dataset, { nodes: nodes.length, edges: edges.length });
  }

  // The place under the pointer, or null.
  place(event) {
    const box = this.host.getBoundingClientRect(), { zoom, x, y } = this.view;
    const at = [(event.clientX - box.left - x) / zoom, (event.clientY - box.top - y) / zoom];
    let best = Math.max(this.scene.radius + 3, 9 / zoom), found = null;
    for (const [place] of this.scene.nodes) {
      const p = this.scene.point(place), far = Math.hypot(p[0] - at[0], p[1] - at[1]);
      if (far < best) [best, found] = [far, place];
    }
    return found;
  }

  // Zoom by a factor around a point of the host, or fit everything with no factor.
  zoom(factor, cx = this.wide / 2, cy = this.high / 2) {
    const old = this.view.zoom, zoom = factor ? between(1, old * factor, 12) : 1, by = zoom / old;
    this.view = { zoom, x: cx - by * (cx - this.view.x), y: cy - by * (cy - this.view.y) };
    this.pan(0, 0);
  }

  pan(dx, dy) {
    const { zoom, x, y } = this.view;
    this.view = { zoom, x: between(this.wide * (1 - zoom), x + dx, 0), y: between(this.high * (1 - zoom), y + dy, 0) };
    this.host.style.touchAction = zoom > 1 ? "none" : "pan-y";
    this.host.style.cursor = zoom > 1 ? "grab" : "";
    this.draw();
  }

  listen(zoom) {
    const { host } = this, down = new Map();
    let moved = 0;
    const local = (event) => [event.clientX - host.getBoundingClientRect().left, event.clientY - host.getBoundingClientRect().top];
    host.addEventListener("pointerdown", (event) => {
      down.set(event.pointerId, local(event));
      moved = 0;
    });
    host.addEventListener("pointermove", (event) => {
      const before = down.get(event.pointerId), now = local(event);
      if (!before) return this.watch(this.place(event), false, event);
      const others = [...down].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      down.set(event.pointerId, now);
      if (!zoom) return;
      if (others.length) {
        const [o] = others, far = (p) => Math.hypot(p[0] - o[0], p[1] - o[1]) || 1;
        this.zoom(far(now) / far(before), (now[0] + o[0]) / 2, (now[1] + o[1]) / 2);
      } else if (this.view.zoom > 1) {
        if (moved > 4 && !host.hasPointerCapture(event.pointerId)) host.setPointerCapture(event.pointerId);
        this.pan(now[0] - before[0], now[1] - before[1]);
      }
    });
    host.addEventListener("pointerup", (event) => {
      down.delete(event.pointerId);
      if (moved < 6) this.watch(this.place(event), true, event);
    });
    host.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
    host.addEventListener("pointerleave", (event) => {
      down.delete(event.pointerId);
      if (event.pointerType !== "touch") this.watch(null, false, event);  // a finger leaves after each tap
    });
    if (!zoom) return;
    host.addEventListener("wheel", (event) => {
      if (this.view.zoom === 1 && event.deltaY > 0) return;  // the page scrolls on
      event.preventDefault();
      this.zoom(Math.exp(-0.0022 * between(-200, event.deltaY, 200)), ...local(event));
    }, { passive: false });
  }

  // The picture as it stands, as a file: "svg" or "png".
  save(kind, name) {
    const ground = palette().card, { wide, high } = this;
    const send = (blob) => {
      const link = html("a", { href: URL.createObjectURL(blob), download: name + "." + kind }, document.body);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    };
    const painter = kind === "svg" ? new SvgPainter(null) : new CanvasPainter(null);
    painter.resize(wide, high, 3);
    const groups = this.groups(), at = this.marked === null ? null : this.scene.ring(this.marked, this.step);
    const { mark: fill, marked: stroke } = palette();
    if (at) groups.push({ layer: "mark", key: "mark", x: at[0], y: at[1], shapes: [{ d: circle(at[2]), fill, stroke, width: 1.5 }] });
    painter.paint(groups, this.view, ground);
    if (kind === "png") return painter.root.toBlob(send);
    element(painter.root, { width: wide, height: high, xmlns: SVG });
    painter.describe(this.name, "");
    painter.zoomed.before(svg("rect", { width: "100%", height: "100%", fill: ground }));
    send(new Blob([new XMLSerializer().serializeToString(painter.root)], { type: "image/svg+xml" }));
  }
}
