"""How long a page of an edit path takes to make and to redraw, in a headless Chromium.

    python benchmarks/pages.py                  # PROTEINS from EPIC_DATA; appends to results/pages.jsonl

Paths lead between the two graphs whose sizes are nearest to each size asked for. Making a page is process time. Drawing
is over 30 steps of the slider: the mean processor time of the page's thread, and the median times in scripts and until
the next frame, which a busy machine prolongs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.browser import Browser

from epic import edit_path
from epic.data import load
from timing import RESULTS, record

STEPS = """
const slider = document.getElementById("slider"), last = Number(slider.max), times = [], done = arguments[0];
const painted = () => new Promise((next) => requestAnimationFrame(() => setTimeout(next, 0)));
(async () => {
  for (let i = 0; i < 30; i++) {
    slider.value = Math.round((last * (i + 0.5)) / 30);
    const start = performance.now();
    slider.dispatchEvent(new Event("input"));
    const script = performance.now() - start;
    await painted();
    times.push([script, performance.now() - start]);
  }
  done(times);
})();
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="30,120,226,600")
    parser.add_argument("--out", type=Path, default=RESULTS / "pages.jsonl")
    options = parser.parse_args()
    graphs = load("PROTEINS")
    sizes = graphs.graphs.sizes.numpy()
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for size in map(int, options.sizes.split(",")):
            i, j = np.argsort(abs(sizes - size), kind="stable")[:2].tolist()
            path = edit_path(graphs[i], graphs[j], seed=0)
            page = Path(folder) / "path.html"
            begin = time.process_time()
            path.save(page)
            made = time.process_time() - begin
            browser.open(page, 1280, 900)
            browser.busy_seconds()
            browser.run_async(STEPS)
            used = -browser.busy_seconds()
            script, frame = np.median(browser.run_async(STEPS), axis=0)
            used += browser.busy_seconds()
            record(
                options.out,
                benchmark="pages",
                nodes=[int(sizes[i]), int(sizes[j])],
                steps=len(path),
                kilobytes=round(page.stat().st_size / 1000),
                seconds_to_make=round(made, 2),
                thread_ms=round(1e3 * used / 30, 1),
                script_ms=round(float(script), 1),
                frame_ms=round(float(frame), 1),
            )


if __name__ == "__main__":
    main()
