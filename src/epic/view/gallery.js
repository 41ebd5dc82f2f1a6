"use strict";
// Many small paths: a slider for each, and one for all. The address "#path=3&step=12" shows one of them whole.
(() => {
  const { entries, style } = pageData(), find = (id) => document.getElementById(id);
  const farthest = Math.max(1e-12, ...entries.map((e) => e.ways[0].distance));
  let timer = null, open = 0;

  const cards = entries.map((entry, i) => {
    const [data] = entry.ways, host = find(entry.kind), card = html("article", { class: "card small" }, host);
    const name = entry.names.join(" \u2192 ");
    html("a", { href: "#path=" + (i + 1) }, html("h3", {}, card), name);
    html("p", { class: "about" }, card, entry.classes[0] === entry.classes[1] ? entry.classes[0] : entry.classes.join(" \u2192 "));
    const far = html("div", { class: "far" }, card);
    html("span", {}, far, "distance");
    html("span", {}, html("span", { class: "bar", "aria-hidden": "true" }, far)).style.width = (100 * data.distance) / farthest + "%";
    html("b", {}, far, number(data.distance));
    const picture = new Picture(html("div", { class: "picture" }, card), data, style, { name });
    const slider = html("input", { type: "range", min: 0, max: data.steps, step: 1, "aria-label": "Step of " + name }, card);
    const label = new LabelBar(html("div", {}, card), data, style);
    const says = html("p", { class: "about" }, card);
    const show = (k) => {
      slider.value = k;
      picture.go(k, k ? data.operations[k - 1][4] : null);
      label.draw(k);
      says.textContent = "step " + k + " of " + data.steps + ", " + plural(picture.scene.nodes.length, "node");
      const reason = data.faults && data.faults[0][data.faults[1][k]];
      if (data.faults) html("span", { class: reason ? "bad" : "good" }, says, reason ? " \u2717 not valid" : " \u2713 valid");
    };
    html("p", { class: "about" }, card, entry.counts + validity(data));
    slider.addEventListener("input", () => show(Number(slider.value)));
    return { show, data, card, host };
  });

  function validity(data) {
    if (!data.faults) return "";
    const fine = data.faults[1].filter((f) => !data.faults[0][f]).length;
    return "; " + fine + " of " + (data.steps + 1) + " valid molecules";
  }

  function showAll(percent) {
    const way = between(0, percent, 100);
    find("all").value = way;
    find("way").textContent = way + "% of the way";
    cards.forEach(({ show, data }) => show(Math.round((way / 100) * data.steps)));
  }

  function sort() {
    const sign = { near: 1, far: -1, drawn: 0 }[find("sort").value];
    const order = [...cards].sort((a, b) => sign * (a.data.distance - b.data.distance) || cards.indexOf(a) - cards.indexOf(b));
    for (const { card, host } of order) host.append(card);
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    find("play-all").textContent = "\u25b6 Play";
  }

  const view = new PathView(style, (way, step) => tell(open, step));
  function route() {
    const { path, step } = asked();
    open = path <= entries.length ? path : 0;
    stop();
    view.stop();
    find("overview").hidden = open > 0;
    find("one").hidden = open === 0;
    if (!open) return (view.entry = null);
    find("name").textContent = entries[open - 1].names.join(" \u2192 ");
    view.open(entries[open - 1], 0, step);
    scrollTo(0, 0);
  }

  find("play-all").addEventListener("click", () => {
    if (timer) return stop();
    if (Number(find("all").value) === 100) showAll(0);
    find("play-all").textContent = "\u275a\u275a Pause";
    timer = setInterval(() => (Number(find("all").value) < 100 ? showAll(Number(find("all").value) + 2) : stop()), 150);
  });
  find("all").addEventListener("input", () => (stop(), showAll(Number(find("all").value))));
  find("sort").addEventListener("change", sort);
  document.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 5, ArrowLeft: -5 }[event.key], own = event.target.matches("input, select") && event.target !== find("all");
    if (open || !by || own || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    stop();
    showAll(Number(find("all").value) + by);
  });
  const legend = () => drawLegend(find("legend-all"), entries.map((e) => e.ways[0]), style);
  document.addEventListener("theme", legend);
  addEventListener("hashchange", route);
  legend();
  sort();
  showAll(50);
  route();
})();
