"use strict";
// One path: three pictures, a slider, the operations, the soft label. An entry holds names and SMILES of both ends, and
// up to three ways from one to the other.
class PathView {
  constructor(style, moved) {
    Object.assign(this, { style, moved, step: 0, timer: null, way: 0, entry: null, pinned: null });
    this.find = (id) => document.getElementById(id);
    const { find } = this;
    find("slider").addEventListener("input", () => (this.stop(), this.show(Number(find("slider").value))));
    find("play").addEventListener("click", () => this.toggle());
    find("back").addEventListener("click", () => (this.stop(), this.show(this.step - 1, true)));
    find("forward").addEventListener("click", () => (this.stop(), this.show(this.step + 1, true)));
    for (const [id, factor] of [["nearer", 1.5], ["farther", 1 / 1.5], ["whole", 0]]) {
      find(id).addEventListener("click", () => this.between.zoom(factor));
    }
    for (const kind of ["svg", "png"]) find(kind).addEventListener("click", () => this.between.save(kind, "step-" + this.step));
    document.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("theme", () => this.entry && drawLegend(find("legend"), this.entry.ways, this.style));
  }

  // Show an entry from its first step, or from the step and way that are given.
  open(entry, way = 0, step = 0) {
    const { find, style } = this;
    Object.assign(this, { entry, way: between(0, way, entry.ways.length - 1), pinned: null });
    const data = (this.data = entry.ways[this.way]);
    const make = (id, name, end) => {
      if (!this[id]) this[id] = new Picture(find(id), data, style, { name, end, watch: (...what) => this.watch(find(id), ...what) });
      else Object.assign(this[id], { name }).show(data);
      this[id].zoom(0);
    };
    make("source", "Source: " + entry.names[0], 0);
    make("target", "Target: " + entry.names[1], 1);
    make("between", "From " + entry.names[0] + " to " + entry.names[1]);
    entry.names.forEach((name, i) => (find(["from", "to"][i]).textContent = name));
    entry.smiles.forEach((text, i) => (find(["smiles0", "smiles1"][i]).textContent = text));
    find("about").textContent = entry.ways[this.way].about;
    this.label = new LabelBar(find("label"), data, style);
    find("slider").max = data.steps;
    this.list();
    this.choices();
    this.validity();
    drawLegend(find("legend"), entry.ways, style);
    this.show(between(0, step, data.steps));
  }

  // The list of operations, dearest with the longest bar.
  list() {
    const { data } = this, host = this.find("operations"), dearest = Math.max(1e-12, ...data.operations.map((o) => o[3]));
    host.replaceChildren();
    this.rows = data.operations.map((operation, i) => {
      const kind = KINDS[operation[0]], row = html("button", { type: "button", class: "operation " + kind }, html("li", {}, host));
      html("span", { class: "at" }, row, i + 1);
      html("span", { class: "sign", "aria-hidden": "true" }, row, SIGNS[operation[0]]);
      const what = html("span", { class: "what" }, row);
      html("span", { class: "kind" }, what, kind + " ");
      what.append(operationText(data, operation));
      const bar = html("span", { class: "bar", "aria-hidden": "true" }, row);
      html("span", {}, bar).style.width = (100 * operation[3]) / dearest + "%";
      html("span", { class: "cost" }, row, number(operation[3]));
      row.addEventListener("click", () => (this.stop(), this.show(i + 1)));
      for (const event of ["mouseenter", "focus"]) row.addEventListener(event, () => this.mark(operation[4]));
      for (const event of ["mouseleave", "blur"]) row.addEventListener(event, () => this.mark(this.current()));
      return row;
    });
  }

  // Buttons for the ways, if there are several.
  choices() {
    const host = this.find("ways"), { ways } = this.entry;
    host.hidden = ways.length < 2;
    host.replaceChildren();
    if (host.hidden) return;
    ways.forEach((way, i) => {
      const button = html("button", { type: "button", "aria-pressed": i === this.way }, host, way.title);
      button.addEventListener("click", () => this.open(this.entry, i, Math.round((this.step / Math.max(1, this.data.steps)) * way.steps)));
    });
  }

  current() {
    return this.pinned !== null ? this.pinned : this.step === 0 ? null : this.data.operations[this.step - 1][4];
  }

  mark(place) {
    for (const id of ["source", "between", "target"]) this[id].mark(place);
  }

  // The pointer is on a place of a picture (or on none): say what becomes of it, and show it in the list.
  watch(host, place, tapped, event) {
    const tip = this.find("tip"), at = place === null ? undefined : this.between.scene.stepOf.get(place);
    if (tapped) this.pinned = place;
    this.rows.forEach((row, i) => row.classList.toggle("seen", i + 1 === at));
    if (tapped && at) this.scroll(at);
    this.mark(place === null ? this.current() : place);
    tip.hidden = at === undefined;
    if (tip.hidden) return;
    const operation = this.data.operations[at - 1];
    tip.textContent = "step " + at + ": " + KINDS[operation[0]] + " " + operationText(this.data, operation) + ", cost " + number(operation[3]);
    const left = between(4, event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    Object.assign(tip.style, { left: left + "px", top: event.clientY + (event.clientY > 60 ? -38 : 20) + "px" });
  }

  show(k, glide = false) {
    const { data, find } = this, last = data.steps, step = (this.step = between(0, k, last));
    this.pinned = null;
    find("slider").value = step;
    this.between.go(step, this.current(), glide);
    for (const id of ["source", "target"]) this[id].mark(this.current());
    this.label.draw(step);
    const operation = step && data.operations[step - 1];
    const said = operation ? KINDS[operation[0]] + " " + operationText(data, operation) + ", cost " + number(operation[3]) : "the source graph";
    find("step").textContent = "Step " + step + " of " + last;
    find("spent").textContent = share(data.spent[step]) + " of cost";
    find("said").textContent = step === last && last ? said + ": the target is reached" : said;
    find("size").textContent = plural(this.between.scene.nodes.length, "node") + ", " + plural(this.between.scene.edges.length, "edge");
    find("slider").setAttribute("aria-valuetext", "step " + step + " of " + last + ": " + said);
    if (data.faults) {
      const reason = data.faults[0][data.faults[1][step]], mark = find("valid");
      mark.textContent = reason ? "\u2717 not a valid molecule: " + reason : "\u2713 valid molecule";
      mark.className = "badge " + (reason ? "bad" : "good");
    }
    this.rows.forEach((row, i) => {
      const state = i < step - 1 ? "done" : i === step - 1 ? "now" : "";
      if (row.dataset.state === state) return;
      row.dataset.state = state;
      if (state === "now") row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
    this.scroll(step);
    this.moved(this.way, step);
  }

  // Scroll the list alone, never the page.
  scroll(step) {
    const list = this.find("operations"), row = this.rows[Math.max(0, step - 1)];
    if (row) list.scrollTop = row.offsetTop - list.clientHeight / 2 + row.offsetHeight / 2;
  }

  validity() {
    const { faults, steps } = this.data, host = this.find("validity");
    host.hidden = this.find("valid").hidden = !faults;
    host.replaceChildren();
    if (!faults) return;
    const count = steps + 1, fine = faults[1].filter((f) => !faults[0][f]).length;
    const strip = svg("svg", { viewBox: "0 0 " + count + " 10", preserveAspectRatio: "none", role: "img" }, host);
    strip.setAttribute("aria-label", fine + " of " + count + " graphs on the path are valid molecules");
    faults[1].forEach((f, k) => {
      const bad = Boolean(faults[0][f]);
      svg("rect", { x: k + 0.08, width: 0.84, y: bad ? 7.5 : 0, height: bad ? 2.5 : 10, class: bad ? "bad" : "good" }, strip);
    });
    html("p", {}, host, fine + " of " + count + " graphs are valid molecules (tall marks); separate pieces and missing hydrogens are allowed");
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.find("play").textContent = "\u25b6 Play";
  }

  toggle() {
    if (this.timer) return this.stop();
    const last = this.data.steps;
    if (this.step === last) this.show(0);
    this.find("play").textContent = "\u275a\u275a Pause";
    this.timer = setInterval(() => (this.step < last ? this.show(this.step + 1, true) : this.stop()), between(120, 14000 / Math.max(1, last), 700));
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !this.entry) return;
    const step = { ArrowRight: this.step + 1, ArrowLeft: this.step - 1, Home: 0, End: this.data.steps }[event.key];
    const zoom = { "+": 1.5, "-": 1 / 1.5, 0: 0 }[event.key];
    if (step === undefined && zoom === undefined && (event.key !== " " || event.target.closest("button"))) return;
    event.preventDefault();
    if (zoom !== undefined) return this.between.zoom(zoom);
    if (step === undefined) return this.toggle();
    this.stop();
    this.show(step, true);
  }
}

// What the address says behind its hash, "#path=2&step=12", counted from 1 and from 0.
function asked() {
  const said = new URLSearchParams(location.hash.slice(1)), whole = (key, other) => Math.max(0, parseInt(said.get(key), 10) || other);
  return { path: whole("path", 0), step: whole("step", 0) };
}

function tell(path, step) {
  if (location.protocol === "about:") return;  // in a notebook's frame
  const said = [path ? "path=" + path : "", step ? "step=" + step : ""].filter(Boolean).join("&");
  history.replaceState(null, "", said ? "#" + said : location.pathname + location.search);
}
