"use strict";
// The page of one path.
(() => {
  const { entry, style } = pageData();
  const view = new PathView(style, (way, step) => tell(way ? way + 1 : 0, step));
  const start = () => view.open(entry, Math.max(0, asked().path - 1), asked().step);
  addEventListener("hashchange", start);
  start();
})();
