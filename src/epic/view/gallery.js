"use strict";
// Many small paths: a slider for each, and one for all.
(() => {
  const { paths, style } = pageData(), all = document.getElementById("all"), play = document.getElementById("play");
  const farthest = Math.max(1e-12, ...paths.map((p) => p.distance));
  let timer = null;

  const cards = paths.map((data, i) => {
    const card = html("article", { class: "card small" }, document.getElementById(data.kind));
    const name = data.graphs[0] + " \u2192 " + data.graphs[1];
    html("h3", {}, card, name);
    const kinds = data.classes[0] === data.classes[1] ? data.classes[0] : data.classes.join(" \u2192 ");
    html("p", { class: "about" }, card, kinds);
    const far = html("div", { class: "far" }, card);
    html("span", {}, far, "distance");
    html("span", {}, html("span", { class: "bar", "aria-hidden": "true" }, far)).style.width = (100 * data.distance) / farthest + "%";
    html("b", {}, far, number(data.distance));
    const picture = new Picture(html("div", { class: "picture" }, card), data, style, name);
    const slider = html("input", { type: "range", min: 0, max: data.steps, step: 1, "aria-label": "Step of " + name }, card);
    const label = new LabelBar(html("div", {}, card), data, style);
    const says = html("p", { class: "about" }, card);
    const show = (k) => {
      slider.value = k;
      picture.mark(k ? data.operations[k - 1][4] : null, k);
      label.draw(k);
      const reason = data.faults && data.faults[0][data.faults[1][k]];
      says.textContent = "step " + k + " of " + data.steps + ", " + plural(nodesAt(data, k).length, "node");
      if (data.faults) html("span", { class: reason ? "bad" : "good" }, says, reason ? " \u2717 not valid" : " \u2713 valid");
    };
    html("p", { class: "about" }, card, data.counts + validity(data));
    slider.addEventListener("input", () => show(Number(slider.value)));
    show(0);
    return { show, data };
  });

  function validity(data) {
    if (!data.faults) return "";
    const fine = data.faults[1].filter((f) => !data.faults[0][f]).length;
    return "; " + fine + " of " + (data.steps + 1) + " valid molecules";
  }

  function showAll(percent) {
    const way = Math.max(0, Math.min(100, percent));
    all.value = way;
    document.getElementById("way").textContent = way + "% of the way";
    cards.forEach(({ show, data }) => show(Math.round((way / 100) * data.steps)));
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "\u25b6 Play";
  }

  play.addEventListener("click", () => {
    if (timer) return stop();
    if (Number(all.value) === 100) showAll(0);
    play.textContent = "\u275a\u275a Pause";
    timer = setInterval(() => (Number(all.value) < 100 ? showAll(Number(all.value) + 2) : stop()), 150);
  });
  all.addEventListener("input", () => (stop(), showAll(Number(all.value))));
  document.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 5, ArrowLeft: -5 }[event.key];
    const own = event.target.matches("input") && event.target !== all;
    if (!by || own || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    stop();
    showAll(Number(all.value) + by);
  });
  drawLegend(document.getElementById("legend"), paths, style);
})();
