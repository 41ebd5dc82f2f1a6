"use strict";
// One path: three pictures, a slider, the operations, the soft label.
(() => {
  const { path: data, style, names } = pageData(), last = data.steps;
  const find = (id) => document.getElementById(id);
  const source = new Picture(find("source"), data, style, "Source: " + names[0], 0);
  const target = new Picture(find("target"), data, style, "Target: " + names[1], 1);
  const between = new Picture(find("between"), data, style, "From " + names[0] + " to " + names[1]);
  const label = new LabelBar(find("label"), data, style);
  const slider = find("slider"), play = find("play"), list = find("operations");
  slider.max = last;
  let step = 0, timer = null;

  // The list of operations, dearest with the longest bar.
  const dearest = Math.max(1e-12, ...data.operations.map((o) => o[3]));
  const rows = data.operations.map((operation, i) => {
    const kind = ["substitute", "delete", "insert"][operation[0]], item = html("li", {}, list);
    const row = html("button", { type: "button", class: "operation " + kind }, item);
    html("span", { class: "at" }, row, i + 1);
    html("span", { class: "sign", "aria-hidden": "true" }, row, ["\u21c4", "\u2212", "+"][operation[0]]);
    const what = html("span", { class: "what" }, row);
    html("span", { class: "kind" }, what, kind + " ");
    what.append(operationText(data, operation));
    const bar = html("span", { class: "bar", "aria-hidden": "true" }, row);
    html("span", {}, bar).style.width = (100 * operation[3]) / dearest + "%";
    html("span", { class: "cost" }, row, number(operation[3]));
    row.addEventListener("click", () => show(i + 1));
    for (const event of ["mouseenter", "focus"]) row.addEventListener(event, () => mark(operation[4]));
    for (const event of ["mouseleave", "blur"]) row.addEventListener(event, () => mark(current()));
    return row;
  });

  const current = () => (step === 0 ? null : data.operations[step - 1][4]);
  const mark = (place) => [source, between, target].forEach((picture) => picture.mark(place));

  function show(k) {
    step = Math.max(0, Math.min(last, k));
    slider.value = step;
    between.step = step;
    mark(current());
    label.draw(step);
    const operation = step && data.operations[step - 1], kinds = ["substitute", "delete", "insert"];
    const said = operation ? kinds[operation[0]] + " " + operationText(data, operation) + ", cost " + number(operation[3]) : "the source graph";
    find("step").textContent = "Step " + step + " of " + last;
    find("spent").textContent = share(data.spent[step]) + " of cost";
    find("said").textContent = step === last && last ? said + ": the target is reached" : said;
    find("size").textContent = plural(nodesAt(data, step).length, "node") + ", " + plural(edgesAt(data, step).length, "edge");
    slider.setAttribute("aria-valuetext", "step " + step + " of " + last + ": " + said);
    showFault();
    rows.forEach((row, i) => {
      row.classList.toggle("done", i < step - 1);
      row.classList.toggle("now", i === step - 1);
      if (i === step - 1) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
    // Scroll the list alone, never the page.
    const row = rows[Math.max(0, step - 1)];
    if (row) list.scrollTop = row.offsetTop - list.offsetTop - list.clientHeight / 2 + row.offsetHeight / 2;
  }

  function showFault() {
    if (!data.faults) return;
    const reason = data.faults[0][data.faults[1][step]], mark = find("valid");
    mark.textContent = reason ? "\u2717 not a valid molecule: " + reason : "\u2713 valid molecule";
    mark.className = "badge " + (reason ? "bad" : "good");
  }

  function drawValidity() {
    if (!data.faults) return;
    const host = find("validity"), count = last + 1, fine = data.faults[1].filter((f) => !data.faults[0][f]).length;
    host.hidden = false;
    const strip = svg("svg", { viewBox: "0 0 " + count + " 10", preserveAspectRatio: "none", role: "img" }, host);
    strip.setAttribute("aria-label", fine + " of " + count + " graphs on the path are valid molecules");
    data.faults[1].forEach((f, k) => {
      const bad = Boolean(data.faults[0][f]);
      svg("rect", { x: k + 0.08, width: 0.84, y: bad ? 7.5 : 0, height: bad ? 2.5 : 10, class: bad ? "bad" : "good" }, strip);
    });
    html("p", {}, host, fine + " of " + count + " graphs are valid molecules (tall marks); separate pieces and missing hydrogens are allowed");
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "\u25b6 Play";
  }

  function toggle() {
    if (timer) return stop();
    if (step === last) show(0);
    play.textContent = "\u275a\u275a Pause";
    timer = setInterval(() => (step < last ? show(step + 1) : stop()), Math.max(120, Math.min(700, 14000 / Math.max(1, last))));
  }

  slider.addEventListener("input", () => (stop(), show(Number(slider.value))));
  play.addEventListener("click", toggle);
  find("back").addEventListener("click", () => (stop(), show(step - 1)));
  find("forward").addEventListener("click", () => (stop(), show(step + 1)));
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const jump = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: last }[event.key];
    if (jump !== undefined) {
      event.preventDefault();
      stop();
      show(jump);
    } else if (event.key === " " && !event.target.closest("button")) {
      event.preventDefault();
      toggle();
    }
  });
  drawLegend(find("legend"), [data], style);
  drawValidity();
  show(0);
})();
